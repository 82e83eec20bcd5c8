"""Uploaded files: which of them somebody may see at a moment, how they are handed out, which nobody names.

The image and the attachments of a vacancy are seen by whoever sees that: everybody what the public interface
shows now, insiders what is internal, the holder of a preview what it opens, colleagues what they work on.
What is hidden is absent: it answers as a name that never was.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import get_resolver
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe
from rest_framework.request import Request
from rest_framework.views import APIView
from whitenoise.middleware import WhiteNoiseFileResponse
from whitenoise.responders import StaticFile

from jobsite.api import caching
from jobsite.api.permissions import is_insider, is_protected, lacks_factor
from vacancies.models import Attachment, Brand, Recruiter, Vacancy, Version
from vacancies.previews import opened_by
from vacancies.querysets import VacancyQuerySet

IMAGES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}
# Never what somebody says of a file, nor what it may look like.
TYPES = IMAGES | {
    ".pdf": "application/pdf",
    ".txt": "text/plain; charset=utf-8",
    ".rtf": "application/rtf",
    ".doc": "application/msword",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".xls": "application/vnd.ms-excel",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
# Where files are, and the columns that name them.
COLUMNS = {
    "vacancies": ((Vacancy, "image"),),
    "attachments": ((Attachment, "file"),),
    "recruiters": ((Recruiter, "image"),),
    "brands": ((Brand, "icon_small"), (Brand, "icon_large")),
}
_NAME = re.compile(rf"({'|'.join(COLUMNS)})/[^/\0]{{1,200}}")
KEPT_UNNAMED = timedelta(days=1)  # a form that is being saved names its files at its end
STEP = 500  # names


class Shown(NamedTuple):
    """A file that somebody sees: what it is called, and until when time alone lets it be seen."""

    title: str = ""
    until: datetime | None = None


# --- Who sees it -------------------------------------------------------------------------------


def shown_by(vacancies: VacancyQuerySet, name: str) -> Shown | None:
    """What one of `vacancies` shows by the file `name`, None where none does. One query.

    Faces of employers and of people who answer for vacancies are no secret, as long as they are theirs:
    whether any vacancy shows one would be asked of all that a person ever had.
    """
    folder = name.partition("/")[0]
    if folder == "brands":
        return Shown() if Brand.objects.filter(Q(icon_small=name) | Q(icon_large=name)).exists() else None
    if folder == "recruiters":
        return Shown() if Recruiter.objects.filter(image=name).exists() else None
    if folder == "attachments":
        found = vacancies.filter(attachments__file=name).values_list("attachments__name", "publish_until")
    else:
        found = vacancies.filter(image=name).values_list("image", "publish_until")
    rows = list(found[:STEP])  # copies of a vacancy share its files
    if not rows:
        return None
    ends = [until for _title, until in rows]
    return Shown(rows[0][0] if folder == "attachments" else "", None if None in ends else max(ends))


def seen_by(request: HttpRequest, name: str, *, at: datetime) -> tuple[Shown, bool] | None:
    """What the client of `request` sees under `name` at the moment `at`, and whether everybody does."""
    published = Vacancy.objects.published(at=at)
    if found := shown_by(published.external() if is_protected() else published, name):
        return found, True
    for vacancies in _beyond(request, published):
        if found := shown_by(vacancies, name):
            return found, False
    return None


def _beyond(request: HttpRequest, published: VacancyQuerySet) -> Iterator[VacancyQuerySet]:
    """What the client of `request` sees and not everybody does."""
    if is_protected() and is_insider(Request(request, authenticators=APIView().get_authenticators())):
        yield published.internal()
    if token := request.GET.get("preview"):
        yield Vacancy.objects.filter(pk__in=[opened_by(token)])
    if _is_colleague(request.user) and not lacks_factor(request):
        yield Vacancy.objects.workable_by(request.user)


def _is_colleague(user: Any) -> bool:
    """Whether `user` sees the pages of vacancies in the workplace."""
    rights = ("vacancies.view_vacancy", "vacancies.change_vacancy")
    return user.is_active and user.is_staff and any(map(user.has_perm, rights))


# --- Handing out -------------------------------------------------------------------------------


@require_safe
def media(request: HttpRequest, name: str) -> Any:
    """The file `name` for who may see it. Behind nginx (X_ACCEL_PREFIX) it sends the bytes."""
    now = timezone.now()
    found = seen_by(request, name, at=now) if _NAME.fullmatch(name) else None
    if found is None or not default_storage.exists(name):
        return _absent(request)
    shown, is_public = found
    # They are compressed already, and parts of them are asked for by their place in the file.
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    headers = _headers(name, shown.title)
    file = StaticFile(default_storage.path(name), list(headers.items()))
    response: Any
    if settings.X_ACCEL_PREFIX:
        response = HttpResponse(headers=headers)
        response["ETag"] = file.etag  # made as nginx makes it
        response["X-Accel-Redirect"] = quote(f"{settings.X_ACCEL_PREFIX}{name}")
    else:
        caching.compare_weakly(request.META, file.etag)
        answer = file.get_response(request.method, request.META)
        response = WhiteNoiseFileResponse(answer.file or (), status=int(answer.status))
        del response["Content-Type"]
        for header, value in answer.headers:
            response[header] = value
    if is_public:
        caching.public(response, now=now, until=shown.until)
    else:
        caching.private(response)
        response["X-Robots-Tag"] = "noindex"
    return response


def _absent(request: HttpRequest) -> Any:
    handler: Any = get_resolver().resolve_error_handler(404)
    response = handler(request, exception=Http404())
    response["Cache-Control"] = "no-store"  # it may be there in a moment
    return response


def _headers(name: str, title: str) -> dict[str, str]:
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    title = "".join(c if c.isprintable() and c not in '/\\"' else "_" for c in title).strip(". ")
    if title and not title.lower().endswith(ending):
        title += ending
    disposition = content_disposition_header(ending not in IMAGES, title)
    return {
        "Content-Type": TYPES.get(ending, "application/octet-stream"),
        "Content-Disposition": disposition or "inline",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }


# --- Which nobody names ------------------------------------------------------------------------


def orphans(*, at: datetime) -> Iterator[tuple[str, int]]:
    """Yield name and size in bytes of each file that no row and no version names, older than a day at the
    moment `at`."""
    old = {
        name: default_storage.size(name)
        for folder in COLUMNS
        for name in _files(folder)
        if default_storage.get_modified_time(name) < at - KEPT_UNNAMED
    }
    names = sorted(old)
    for start in range(0, len(names), STEP):
        step = names[start : start + STEP]
        for model, column in (pair for pairs in COLUMNS.values() for pair in pairs):
            found = model._default_manager.filter(**{f"{column}__in": step}).values_list(column, flat=True)
            for name in found:
                old.pop(name, None)
    if old:  # what an older version says can be brought back
        for name in _named_by_versions():
            old.pop(name, None)
    yield from sorted(old.items())


def _files(folder: str) -> Iterable[str]:
    try:
        _folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return ()
    return (f"{folder}/{file}" for file in files)


def _named_by_versions() -> Iterator[str]:
    told = Version.objects.filter(Q(content__has_key="image") | Q(content__has_key="attachments"))
    rows = told.order_by("pk").values_list("content__image", "content__attachments")
    for image, attachments in rows.iterator(chunk_size=2000):
        yield image or ""
        yield from (each["file"] for each in attachments or ())
