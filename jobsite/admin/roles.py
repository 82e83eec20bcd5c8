"""The roles: groups that `manage.py create_roles` creates, with their permissions (docs/decisions.md #58).
The members of a brand are set on the brand."""

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

ALL = "view add change delete"
VACANCY_PARTS = {  # edited and deleted with the vacancy
    "vacancies.vacancyoption": ALL,
    "vacancies.vacancyrecruiter": ALL,
    "vacancies.attachment": ALL,
}
RECRUITER = {
    "vacancies.vacancy": ALL,
    **VACANCY_PARTS,
    "vacancies.vacancytemplate": ALL,
    "vacancies.brand": "view",
    "vacancies.recruiter": "view add change",
    "vacancies.filter": "view",
    "vacancies.filteroption": "view",
    "forms_structure.form": ALL,
    "forms_structure.snapshot": ALL,
    "forms_structure.consenttext": "view",
    "applications.application": "view change",
    "applications.historyentry": ALL,
    "applications.note": "view add",
    "applications.message": "view add",
    "applications.mailtemplate": "view",
    "applications.stage": "view",
    "applications.status": "view",
}
EVERY_BRAND = {"vacancies": "work_for_every_brand"}
APPROVE = {"vacancies": "approve_vacancy"}
OURS = ("vacancies", "forms_structure", "applications")

# By role: the verbs per model, and further permissions per app.
ROLES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "Recruiter": (RECRUITER, {}),
    "Approver": (RECRUITER, APPROVE),  # a recruiter who also approves vacancies of colleagues
    "Editor": (
        RECRUITER
        | {
            "vacancies.brand": "view add change",
            "vacancies.recruiter": ALL,
            "vacancies.filteroption": "view add",
            "applications.mailtemplate": ALL,
        },
        EVERY_BRAND,
    ),
    "Filter manager": (
        {"vacancies.filter": "view change", "vacancies.filteroption": ALL},
        {},
    ),
}
AUDITOR = "Auditor"  # views everything, changes nothing
ADMINISTRATOR = "Administrator"  # everything except what only superusers may do
NAMES = (*ROLES, AUDITOR, ADMINISTRATOR)


def permissions(role: str) -> set[Permission]:
    """Return the permissions of `role`."""
    rows = Permission.objects.select_related("content_type")
    of_ours = Q(content_type__app_label__in=OURS)
    accounts = Q(content_type__app_label="auth", content_type__model__in=("user", "group"))
    if role == ADMINISTRATOR:
        return set(rows.filter(of_ours | accounts))
    if role == AUDITOR:
        seen = (of_ours | accounts) & Q(codename__startswith="view_")
        return set(rows.filter(seen | Q(codename__in=EVERY_BRAND.values())))
    models, own = ROLES[role]
    wanted = {
        (app, f"{verb}_{model}")
        for name, verbs in models.items()
        for app, model in [name.split(".")]
        for verb in verbs.split()
    } | set(own.items())
    found = {(row.content_type.app_label, row.codename): row for row in rows}
    return {found[key] for key in wanted}


@transaction.atomic
def create() -> list[str]:
    """Create the roles and set their permissions. Return the names of the roles that changed. Other groups do
    not change."""
    changed = []
    for name in NAMES:
        group, is_new = Group.objects.get_or_create(name=name)
        wanted = permissions(name)
        if is_new or set(group.permissions.all()) != wanted:
            group.permissions.set(wanted)
            changed.append(name)
    return changed
