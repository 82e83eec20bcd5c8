"""The roles: groups that `manage.py create_roles` creates, with their permissions
(docs/decisions.md #58), and who may give them (#205). The members of a brand are set on the brand
and on the user.
"""

from collections.abc import Iterable

from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from jobsite.models import GivenPermissions

ALL = "view add change delete"
VACANCY_PARTS = {  # edited and deleted with the vacancy
    "vacancies.vacancyoption": ALL,
    "vacancies.vacancyrecruiter": ALL,
    "vacancies.attachment": ALL,
}
RECRUITER = {
    "vacancies.vacancy": ALL,
    **VACANCY_PARTS,
    "vacancies.requisition": "view change",
    "vacancies.vacancytemplate": ALL,
    "vacancies.brand": "view",
    "vacancies.recruiter": "view add change",
    "vacancies.filter": "view",
    "vacancies.filteroption": "view",
    "forms_structure.form": ALL,
    "forms_structure.snapshot": ALL,
    "forms_structure.consenttext": "view",
    "applications.application": "view add change export",
    "applications.historyentry": ALL,
    "applications.note": "view add",
    "applications.scorecard": "view add",
    "applications.message": "view add",
    "applications.mailtemplate": "view",
    "applications.stage": "view",
    "applications.reason": "view",
    "applications.status": "view",
}
TEAM = {  # of a vacancy: TeamMember says of which
    "applications.application": "view",
    "applications.historyentry": "view",
    "applications.note": "view add",
    "applications.scorecard": "view add",
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
            "vacancies.brandlink": ALL,
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
    "Brand administrator": (
        RECRUITER
        | {
            "vacancies.brand": "view change",
            "vacancies.brandlink": ALL,
            "applications.mailtemplate": ALL,
            "applications.accesslog": "view",
            "auth.user": "view add change",
        },
        {},
    ),
    "Hiring manager": (TEAM, {}),
    "Client": (TEAM, {}),
}
TEAM_ROLES = ("Hiring manager", "Client")  # that a recruiter may give with a vacancy
AUDITOR = "Auditor"  # views everything, changes nothing
ADMINISTRATOR = "Administrator"  # everything except what only superusers may do
NAMES = (*ROLES, AUDITOR, ADMINISTRATOR)
DESCRIPTIONS = {
    gettext_noop("Recruiter"): gettext_noop("vacancies, forms and applications of own brands"),
    gettext_noop("Editor"): gettext_noop(
        "vacancies, forms and applications of every brand, also brands"
    ),
    gettext_noop("Approver"): gettext_noop("a recruiter who also approves vacancies of colleagues"),
    gettext_noop("Filter manager"): gettext_noop("filters and options"),
    gettext_noop("Brand administrator"): gettext_noop(
        "a recruiter who also manages own brands and their users"
    ),
    gettext_noop("Hiring manager"): gettext_noop(
        "reads and judges the applications to vacancies whose team they are in"
    ),
    gettext_noop("Client"): gettext_noop(
        "the same, for somebody outside of the company: only applications that are presented"
    ),
    gettext_noop("Auditor"): gettext_noop("view only, for everything"),
    gettext_noop("Administrator"): gettext_noop("everything, including users"),
}


def permissions(role: str) -> set[Permission]:
    """Return the permissions of `role` in this release, without those that `migrate` has not
    created yet.
    """
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
    return {found[key] for key in wanted & found.keys()}


@transaction.atomic
def create() -> dict[str, list[str]]:
    """Create the roles. Add the permissions that are new in this release, and remove those that an
    earlier release gave and this one does not: what a site added or removed itself stays
    (docs/decisions.md #293). Return what was added and removed by role, such as
    "+vacancies.add_brand". Other groups do not change.
    """
    changes = {}
    for name in NAMES:
        group, is_new = Group.objects.get_or_create(name=name)
        if is_new:
            GivenPermissions.objects.filter(role=name).delete()  # of a group that was deleted
        wanted = permissions(name)
        added, removed = _difference(group, wanted)
        group.permissions.add(*added)
        group.permissions.remove(*removed)
        GivenPermissions.objects.update_or_create(role=name, defaults={"names": _names(wanted)})
        if is_new or added or removed:
            changes[name] = [f"+{each}" for each in _names(added)]
            changes[name] += [f"-{each}" for each in _names(removed)]
    return changes


def lacking() -> dict[str, list[str]]:
    """Return the permissions that `create` would add, by role. A role without a group is left out:
    the site does not use it.
    """
    groups = Group.objects.filter(name__in=NAMES).order_by("name")
    found = {group.name: _names(_difference(group, permissions(group.name))[0]) for group in groups}
    return {role: names for role, names in found.items() if names}


def _difference(group: Group, wanted: set[Permission]) -> tuple[set[Permission], set[Permission]]:
    """Return what `create` adds to the role `group` and removes from it."""
    own = set(group.permissions.select_related("content_type"))
    given = {name for row in GivenPermissions.objects.filter(role=group.name) for name in row.names}
    added = {each for each in wanted - own if _name(each) not in given}
    return added, {each for each in own - wanted if _name(each) in given}


def _names(rows: Iterable[Permission]) -> list[str]:
    return sorted(map(_name, rows))  # such as vacancies.add_vacancy


def _name(permission: Permission) -> str:
    return f"{permission.content_type.app_label}.{permission.codename}"


def label(group: Group) -> str:
    """Return the name of `group` in the active language if it is a role, else as it is."""
    return gettext(group.name) if group.name in DESCRIPTIONS else group.name


def summary_of(group: Group) -> str:
    """Return the label of `group` and what it is for."""
    text = DESCRIPTIONS.get(group.name)
    return f"{label(group)}: {gettext(text)}" if text else group.name


# --- Who may give which role ----------------------------------------------------------------------


def held_by(user: User) -> QuerySet[Permission]:
    """Return the permissions of `user`."""
    if user.is_superuser and user.is_active:
        return Permission.objects.all()
    own = Permission.objects.filter(Q(user=user.pk) | Q(group__user=user.pk))
    return own.distinct() if user.is_active else own.none()


def grantable_by(user: User) -> QuerySet[Group]:
    """Return the groups that `user` may give to others:
    those without a permission that `user` lacks.
    """
    return Group.objects.exclude(permissions__in=_lacking(user)).order_by("name")


def not_above(user: User, users: QuerySet) -> QuerySet:
    """Return those of `users` who have no permission that `user` lacks."""
    if user.is_superuser and user.is_active:
        return users
    lacking = _lacking(user)
    known = users.exclude(groups__permissions__in=lacking).exclude(user_permissions__in=lacking)
    return known.filter(is_superuser=False)


def _lacking(user: User) -> QuerySet[Permission]:
    return Permission.objects.exclude(pk__in=held_by(user).values("pk"))
