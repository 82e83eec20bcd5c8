"""The view of uploaded files."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import get_resolver
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe
from whitenoise.middleware import WhiteNoiseFileResponse
from whitenoise.responders import StaticFile

from jobsite.api import caching
from vacancies.media.visibility import COLUMNS, seen_by
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
_NAME = re.compile(rf"({'|'.join(COLUMNS)})/[^/\0]{{1,200}}")


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
