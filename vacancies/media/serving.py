"""Uploaded files: who may see them, how they are served, and which are orphans.

Whoever may see a vacancy may see its image and attachments: the public, insiders for internal
vacancies, the holder of a preview link, and recruiters for the vacancies of their brands. A file
that the client may not see gives the same 404 as one that does not exist.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.files.storage import default_storage
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
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
from vacancies.access.previews import opened_by
from vacancies.models import (
    Approval,
    Attachment,
    Brand,
    Recruiter,
    Vacancy,
    VacancyTemplate,
    Version,
)
from vacancies.querysets import VacancyQuerySet
from vacancies.uploads.image_copies import make_copy, originals

IMAGES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}
# By extension; never guessed from the content or taken from the uploader.
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
# The directories of files, and the columns that reference them.
COLUMNS = {
    "vacancies": ((Vacancy, "image"),),
    "attachments": ((Attachment, "file"),),
    "recruiters": ((Recruiter, "image"),),
    "brands": ((Brand, "icon_small"), (Brand, "icon_large")),
}
_NAME = re.compile(rf"({'|'.join(COLUMNS)})/[^/\0]{{1,200}}")
ORPHAN_AGE = timedelta(days=1)  # a save stores its files before it references them
STEP = 500  # names


class VisibleFile(NamedTuple):
    """A file that a client may see: its title, and when it stops being visible."""

    title: str = ""
    until: datetime | None = None


# --- Access ------------------------------------------------------------------------------------


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


# --- Serving -----------------------------------------------------------------------------------


@require_safe
def media(request: HttpRequest, name: str) -> HttpResponseBase:
    """Serve the file `name`, or the copy of an image, to clients that may see it or the image. With
    X_ACCEL_PREFIX, nginx sends the content."""
    now = timezone.now()
    images, width = originals(name)
    for original in images or [name]:
        if _NAME.fullmatch(original) and (seen := seen_by(request, original, at=now)):
            shown, is_public = seen
            break
    else:
        return _not_found(request)
    # Files are compressed already, and byte ranges refer to the uncompressed file.
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    headers = _headers(name, shown.title)
    try:
        if width:
            response = _response_of_copy(request, name, headers, original, width)
        else:
            response = _response(request, name, headers)
    except FileNotFoundError:
        return _not_found(request)
    if is_public:
        caching.public(response, now=now, until=shown.until)
    else:
        caching.private(response)
        response["X-Robots-Tag"] = "noindex"
    return response


def _response(request: HttpRequest, name: str, headers: dict[str, str]) -> HttpResponse:
    """Raise FileNotFoundError or UnavailableError."""
    if not settings.FILES_IN_BUCKET:
        path = Path(default_storage.path(name))
        path.stat()
        return _send(request, name, path, headers)
    # A name has one content for ever: a client that has it needs no answer of the store.
    headers["ETag"] = f'"{sha256(name.encode()).hexdigest()[:32]}"'
    if caching.is_unchanged(request.META, headers["ETag"]):
        return HttpResponse(status=304, headers={"ETag": headers["ETag"]})
    storage: Any = default_storage
    with storage.copy(name) as path:
        return _send(request, name, path, headers)


def _response_of_copy(
    request: HttpRequest, name: str, headers: dict[str, str], original: str, width: int
) -> HttpResponse:
    """Make the copy if there is none.
    If none can be made, lead to the original, so that pages show it.
    """
    try:
        return _response(request, name, headers)
    except FileNotFoundError:
        if make_copy(original, name, width):
            return _response(request, name, headers)
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(default_storage.url(original) + (f"?{query}" if query else ""))


def _send(request: HttpRequest, name: str, path: Path, headers: dict[str, str]) -> HttpResponse:
    file = StaticFile(path, list(headers.items()))
    if settings.X_ACCEL_PREFIX:
        response = HttpResponse(headers=headers)
        response["ETag"] = file.etag  # in nginx's format
        response["X-Accel-Redirect"] = quote(f"{settings.X_ACCEL_PREFIX}{name}")
        return response
    caching.compare_weakly(request.META, file.etag)
    served = file.get_response(request.method, request.META)
    sent: HttpResponse = WhiteNoiseFileResponse(served.file or (), status=int(served.status))
    del sent["Content-Type"]
    for header, value in served.headers:
        sent[header] = value
    return sent


def _not_found(request: HttpRequest) -> HttpResponseBase:
    handler: Any = get_resolver().resolve_error_handler(404)
    response = handler(request, exception=Http404())
    response["Cache-Control"] = "no-store"  # it may become visible
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


# --- Orphans -----------------------------------------------------------------------------------


def orphans(*, at: datetime) -> Iterator[tuple[str, int]]:
    """Yield (name, size in bytes) of each file older than ORPHAN_AGE that nothing references, and
    of the copies of such images.
    """
    files = {
        name: size
        for folder in COLUMNS
        for name, size, modified_at in _files(folder)
        if modified_at < at - ORPHAN_AGE
    }
    copies = {name for name in files if originals(name)[1]}
    old = {name: size for name, size in files.items() if name not in copies}
    names = sorted(old)
    for start in range(0, len(names), STEP):
        step = names[start : start + STEP]
        for model, column in (pair for pairs in COLUMNS.values() for pair in pairs):
            found = model._default_manager.filter(**{f"{column}__in": step}).values_list(
                column, flat=True
            )
            for name in found:
                old.pop(name, None)
    if old:  # a version can be restored, a request approved, a template used
        for name in _referenced_by_contents():
            old.pop(name, None)
    kept = files.keys() - copies - old.keys()
    old |= {name: files[name] for name in copies if kept.isdisjoint(originals(name)[0])}
    yield from sorted(old.items())


def _files(folder: str) -> Iterator[tuple[str, int, datetime]]:
    """Yield name, size and time of modification of each file."""
    storage: Any = default_storage
    if settings.FILES_IN_BUCKET:
        yield from storage.entries(f"{folder}/")
        return
    with suppress(FileNotFoundError):
        for file in default_storage.listdir(folder)[1]:
            name = f"{folder}/{file}"
            yield name, default_storage.size(name), default_storage.get_modified_time(name)


# The models with contents of vacancies as JSON, and their columns.
CONTENTS: tuple[tuple[Any, str], ...] = (
    (Version, "content"),
    (Approval, "changes"),
    (VacancyTemplate, "content"),
)


def _referenced_by_contents() -> Iterator[str]:
    for model, column in CONTENTS:
        with_files = Q(**{f"{column}__has_key": "image"}) | Q(
            **{f"{column}__has_key": "attachments"}
        )
        rows = model.objects.filter(with_files).order_by("pk")
        yield from names_in(rows.values_list(f"{column}__image", f"{column}__attachments"))


def names_in(rows: QuerySet) -> Iterator[str]:
    """Yield the names of the files in `rows` of (image, attachments)."""
    for image, attachments in rows.iterator(chunk_size=2000):
        yield image or ""
        yield from (each["file"] for each in attachments or ())
