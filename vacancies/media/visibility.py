"""Who may see an uploaded file.

Whoever may see a vacancy may see its image and attachments: the public, insiders for internal
vacancies, the holder of a preview link, and recruiters for the vacancies of their brands. A file
that the client may not see gives the same 404 as one that does not exist.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple, TypeGuard

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.views import APIView

from jobsite.api.permissions import is_insider, is_protected, lacks_factor
from vacancies.access.previews import opened_by
from vacancies.models import (
    Approval,
    Attachment,
    Brand,
    Recruiter,
    Vacancy,
    VacancyTemplate,
)
from vacancies.querysets import VacancyQuerySet

# The directories of files, and the columns that reference them.
COLUMNS = {
    "vacancies": ((Vacancy, "image"),),
    "attachments": ((Attachment, "file"),),
    "recruiters": ((Recruiter, "image"),),
    "brands": ((Brand, "icon_small"), (Brand, "icon_large")),
}
STEP = 500  # names


class VisibleFile(NamedTuple):
    """A file that a client may see: its title, and when it stops being visible."""

    title: str = ""
    until: datetime | None = None


def shown_by(vacancies: VacancyQuerySet, name: str) -> VisibleFile | None:
    """Return the file `name` if one of `vacancies` shows it, else None. One query.

    Brand icons and pictures of recruiters are public as long as they are in use. Checking whether a
    visible vacancy shows them would query all vacancies of the brand or recruiter.
    """
    folder = name.partition("/")[0]
    if folder == "brands":
        return (
            VisibleFile()
            if Brand.objects.filter(Q(icon_small=name) | Q(icon_large=name)).exists()
            else None
        )
    if folder == "recruiters":
        return VisibleFile() if Recruiter.objects.filter(image=name).exists() else None
    if folder == "attachments":
        found = vacancies.filter(attachments__file=name).values_list(
            "attachments__name", "publish_until"
        )
    else:
        found = vacancies.filter(image=name).values_list("image", "publish_until")
    rows = list(found[:STEP])  # copies of a vacancy share its files
    if not rows:
        return None
    ends = [until for _title, until in rows]
    return VisibleFile(
        rows[0][0] if folder == "attachments" else "", None if None in ends else max(ends)
    )


def seen_by(request: HttpRequest, name: str, *, at: datetime) -> tuple[VisibleFile, bool] | None:
    """Return the file `name` if the client of `request` may see it, and whether it is public."""
    published = Vacancy.objects.published(at=at)
    if found := shown_by(published.external() if is_protected() else published, name):
        return found, True
    for vacancies in _restricted(request, published):
        if found := shown_by(vacancies, name):
            return found, False
    if (
        _is_recruiter(request.user)
        and not lacks_factor(request)
        and _is_pending(request.user, name)
    ):
        return VisibleFile(), False
    return None


def _is_pending(user: User, name: str) -> bool:
    """Whether a waiting request for approval, or a template, of the brands of `user` has the file
    `name`.
    """
    waiting = Approval.objects.waiting().filter(
        vacancy__in=Vacancy.objects.editable_by(user).values("pk")
    )
    templates = VacancyTemplate.objects.usable_by(user)
    found = (
        names_in(rows.values_list(f"{column}__image", f"{column}__attachments"))
        for rows, column in ((waiting, "changes"), (templates, "content"))
    )
    return any(name in names for names in found)


def _restricted(request: HttpRequest, published: VacancyQuerySet) -> Iterator[VacancyQuerySet]:
    """Yield the vacancies that the client of `request` may see and the public may not."""
    if is_protected() and is_insider(
        Request(request, authenticators=APIView().get_authenticators())
    ):
        yield published.internal()
    if token := request.GET.get("preview"):
        yield Vacancy.objects.filter(pk__in=[opened_by(token)])
    if _is_recruiter(request.user) and not lacks_factor(request):
        yield Vacancy.objects.editable_by(request.user)


def _is_recruiter(user: User | AnonymousUser) -> TypeGuard[User]:
    """Whether `user` may view vacancies in the admin."""
    rights = ("vacancies.view_vacancy", "vacancies.change_vacancy")
    return user.is_active and user.is_staff and any(map(user.has_perm, rights))


def names_in(rows: QuerySet) -> Iterator[str]:
    """Yield the names of the files in `rows` of (image, attachments)."""
    for image, attachments in rows.iterator(chunk_size=2000):
        yield image or ""
        yield from (each["file"] for each in attachments or ())
