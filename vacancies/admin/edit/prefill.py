"""A form of a vacancy that is filled with a stored content:
of a template, or of a request for approval.
"""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from jobsite.types import UserRequest
from vacancies.access.brands import brands_of, forms_for
from vacancies.admin.edit.forms import Start
from vacancies.admin.edit.texts import texts_in
from vacancies.choices import Keyword
from vacancies.history.versions import PUBLICATION, Content
from vacancies.models import Approval, FilterOption, Recruiter, Vacancy
from vacancies.querysets import own_brand


def initial_values(content: Content, user: User) -> tuple[dict[str, object], list[str]]:
    """Return the initial values of the form for `content`, without the publication, and the names
    of related rows that no longer exist or that `user` cannot choose.
    """
    rows: dict[str, QuerySet] = {
        "brand": brands_of(user),
        "form": forms_for(user),
        "head_recruiter": Recruiter.objects.all(),
    } | {
        keyword.value: FilterOption.objects.filter(filter__keyword=keyword, is_active=True)
        for keyword in Keyword
    }
    initial: dict[str, object] = {}
    missing: list[str] = []
    columns = {column.name for column in Vacancy._meta.concrete_fields} | set(Keyword.values)
    for name, value in content.items():
        if name == "remote_countries":
            initial[name] = [code for code, _name in value]
        if name not in columns or name in PUBLICATION:
            continue
        if name not in rows:
            initial[name] = value
            continue
        pairs = value if name in Keyword.values else [value] if value else []
        pks = _existing(rows[name], pairs, missing)
        if name in Keyword.values and not Keyword(name).is_single:
            initial[name] = pks
        else:
            initial[name] = pks[0] if pks else None
    return initial, missing


def recruiter_rows(content: Content) -> tuple[list[dict[str, object]], list[str]]:
    """Return the initial rows of the other recruiters, and the names of those
    who no longer exist.
    """
    missing: list[str] = []
    pks = _existing(Recruiter.objects.all(), content.get("recruiters") or [], missing)
    return [{"recruiter": pk} for pk in pks], missing


def link_rows(content: Content) -> list[dict[str, object]]:
    """Return the initial rows of the attachments that are links."""
    return [
        {"name": each["name"], "url": each["url"]}
        for each in content.get("attachments") or []
        if each["url"]
    ]


def files_of(content: Content) -> list[dict[str, str]]:
    """Return the attachments that are files."""
    return [each for each in content.get("attachments") or [] if each["file"]]


def _existing(rows: QuerySet, pairs: Iterable[list], missing: list[str]) -> list[int]:
    found = set(rows.filter(pk__in=[pk for pk, _name in pairs]).values_list("pk", flat=True))
    missing += [name for pk, name in pairs if pk not in found]
    return [pk for pk, _name in pairs if pk in found]


def start_of_request(request: UserRequest, vacancy: Vacancy) -> Start:
    """Return what the form starts with: the changes of the request in the URL, if there is one."""
    if "changes" not in request.GET:
        return Start()
    rows = Approval.objects.filter(own_brand(request.user), vacancy=vacancy.pk)
    approval = rows.filter(pk__in=[as_id(request.GET["changes"])]).first()
    if approval is None:
        return Start()
    initial, missing = initial_values(approval.changes, request.user)
    lists = {
        "places": _("Places"),
        "recruiters": _("Other recruiters"),
        "attachments": _("Attachments"),
    }
    missing += [label for name, label in lists.items() if name in approval.changes]
    return Start(initial, texts=texts_in(approval.changes), not_filled_in=missing)
