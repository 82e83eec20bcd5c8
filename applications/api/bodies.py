"""The body of a submission: JSON, or multipart/form-data (RFC 7578) with files.

Django's parsers accept bodies that are cut off, rename files and skip parts. A submission has to be
complete, so another parser is used, in its strict mode.
"""

import json
import logging
import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import Any

from django.core.files import File
from django.http import HttpRequest
from django.utils.http import parse_header_parameters
from multipart import MultipartError, MultipartSegment, PushMultipartParser

from forms_structure.structure import NO_TEXT
from jobsite.types import JsonObject

logger = logging.getLogger(__name__)

BODY_BYTES_MAX = 25 * 1024 * 1024
DOCUMENT = "application"  # the name of the part with the JSON document
# The name of file parts whose file name tells the field: the field with this value. No field has
# this name. Generated clients can send only parts that the OpenAPI document names.
FILES = "files[]"
DEPTH_MAX = 20  # of the JSON document
MEMBERS_MAX = 500_000  # brackets and commas: a body of 25 MB of them would need a GB of memory
PARTS_MAX = 1_001  # a form has at most 1,000 fields
# Of a line of the header of a part; a file name of 4 kB is percent-encoded.
HEADER_BYTES_MAX = 64 * 1024
NAME_SHOWN = 100  # characters of the name of a part that an error repeats
_CHUNK = 64 * 1024
_IN_MEMORY = 1024 * 1024  # bytes of a part; a larger one is a temporary file

_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")  # RFC 2046
_TRANSFER_ENCODINGS = ("", "binary", "7bit", "8bit")


class BodyError(Exception):
    """The body is refused with `status` 400, 413 or 415, or 503 if there is no room for it."""

    def __init__(self, detail: str, status: int = 400) -> None:
        self.detail, self.status = detail, status
        super().__init__(detail)


TOO_LARGE = "The body is larger than 25 MB."
NO_ROOM = "The server cannot store files at the moment. Nothing was saved. Try again later."
COMPRESSED = "Send the body without a Content-Encoding: it must not be compressed."
TRUNCATED = "The body is shorter than Content-Length says, or the connection was lost."
NOT_MULTIPART = "The body is not a complete multipart/form-data (RFC 7578)."


@contextmanager
def reading(
    request: HttpRequest, fields: Collection[str]
) -> Iterator[tuple[JsonObject, dict[str, File]]]:
    """Yield the JSON document of the body, and its files by part name, which are closed afterwards.
    The parts FILES belong to those of `fields` that have their file name as value. Raise BodyError.
    """
    media_type, boundary = _media_type(request)
    body = _Body(request)
    if media_type == "application/json":
        yield _document(b"".join(body.chunks())), {}
        return
    if not _BOUNDARY.fullmatch(boundary):
        raise BodyError("The boundary of the multipart/form-data is missing or invalid.")
    with ExitStack() as opened:
        parts, files = _parts(body, boundary.encode(), opened)
        if DOCUMENT not in parts:
            raise BodyError(f"The part {DOCUMENT!r} with the JSON document is missing.")
        document = _document(parts.pop(DOCUMENT).read())
        # a browser sends an empty part without a file name for a file input that was left empty
        files = [file for file in files if file.size or file.name]
        parts = {name: file for name, file in parts.items() if file.size or file.name}
        yield (
            document,
            parts | _by_field(files, document, [name for name in fields if name not in parts]),
        )


def _media_type(request: HttpRequest) -> tuple[str, str]:
    """Return the media type of the body, and the boundary of its parts."""
    try:
        media_type, parameters = parse_header_parameters(request.META.get("CONTENT_TYPE", ""))
    except ValueError:  # too long
        media_type, parameters = "", {}
    if media_type not in ("application/json", "multipart/form-data"):
        raise BodyError("Send application/json or multipart/form-data.", 415)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise BodyError(COMPRESSED, 415)
    return media_type, parameters.get("boundary", "")


# --- Bytes -------------------------------------------------------------------------------------


class _Body:
    """The bytes of the body of `request`, read once, at most BODY_BYTES_MAX."""

    def __init__(self, request: HttpRequest) -> None:
        length = request.META.get("CONTENT_LENGTH", "")
        self.length = int(length) if length.isascii() and length.isdecimal() else None
        if self.length is not None and self.length > BODY_BYTES_MAX:
            raise BodyError(TOO_LARGE, 413)
        self.source: Any = request
        if self.length is None and request.META.get("wsgi.input_terminated"):
            # Sent in chunks; Django reads such a body as empty.
            self.source = request.META["wsgi.input"]
        self.count = 0

    def read(self) -> bytes:
        """Return the next bytes; b"" at the end. Raise BodyError if it is too early or too late."""
        try:
            chunk: bytes = self.source.read(_CHUNK)
        except (
            Exception
        ) as error:  # the client disconnected (OSError), or invalid chunks: the server's own error
            raise BodyError(TRUNCATED) from error
        self.count += len(chunk)
        if self.count > BODY_BYTES_MAX:
            raise BodyError(TOO_LARGE, 413)
        if not chunk and self.length is not None and self.count < self.length:
            raise BodyError(TRUNCATED)
        return chunk

    def chunks(self) -> Iterator[bytes]:
        while chunk := self.read():
            yield chunk


# --- JSON --------------------------------------------------------------------------------------


def _document(body: bytes) -> JsonObject:
    if sum(map(body.count, (b"[", b"{", b","))) > MEMBERS_MAX:
        raise BodyError("The JSON has too many members.", 413)
    try:
        document = json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_refuse)
        _check_values(document)
    # Of another encoding, no JSON, or nested too deeply.
    except (ValueError, RecursionError) as error:
        detail = str(error) if isinstance(error, _JsonError) else "The JSON is invalid."
        raise BodyError(detail) from error
    if not isinstance(document, dict):
        raise BodyError("The JSON must be an object.")
    return document


class _JsonError(ValueError):
    """JSON that this service refuses, with a message that repeats no values."""


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _JsonError("The JSON has a member twice.")
    return members


def _refuse(constant: str) -> None:
    raise _JsonError("NaN and Infinity are not valid JSON.")


def _check_values(document: object) -> None:
    """Raise _JsonError for what cannot be stored: NUL, halves of surrogate pairs, deep nesting."""
    level, depth = [document], 0
    while level:
        depth += 1
        below: list[object] = []
        for value in level:
            if isinstance(value, str) and NO_TEXT.search(value):
                raise _JsonError("A text has a NUL, or a character that UTF-8 cannot represent.")
            if isinstance(value, dict):
                below += [*value, *value.values()]
            elif isinstance(value, list):
                below += value
        if depth > DEPTH_MAX:
            raise _JsonError("The JSON is nested too deeply.")
        level = below


# --- Multipart ---------------------------------------------------------------------------------


def _by_field(files: list[File], document: JsonObject, fields: list[str]) -> dict[str, File]:
    """Return `files` by the field that has their name as value, equal names in the order of the
    values.
    """
    values = document.get("values")
    members = values.items() if isinstance(values, dict) else ()
    named = [(name, value) for name, value in members if name in fields]
    found: dict[str, File] = {}
    for file in files:
        name = next(
            (name for name, value in named if value == file.name and name not in found), None
        )
        if name is None:
            raise BodyError(
                f"The file name {shown(file.name or '')} of a part {FILES} is the value of no "
                "file field."
            )
        found[name] = file
    return found


def _parts(body: _Body, boundary: bytes, opened: ExitStack) -> tuple[dict[str, File], list[File]]:
    """Return the content of the parts by name, and of the parts FILES. The name of a content is the
    file name, or "". `opened` closes the files.
    """
    parser = PushMultipartParser(
        boundary, max_header_size=HEADER_BYTES_MAX, max_segment_count=PARTS_MAX, strict=True
    )
    parts: dict[str, File] = {}
    files: list[File] = []
    start, end = b"--" + boundary, b"\r\n--" + boundary + b"--"
    first = b""
    while len(first) < len(start) + 2 and (chunk := body.read()):
        first += chunk
    first = first.removeprefix(b"\r\n")  # RFC 2046: the boundary begins with a line break
    if not first.startswith(start):  # the parser accepts text before it
        raise BodyError(NOT_MULTIPART)
    seen = b""
    try:
        with parser:
            for chunk in chain([first], body.chunks()):
                # RFC 2046: what follows is ignored. The parser refuses it, also a line break.
                if end in seen:
                    continue
                seen = seen[-len(end) :] + chunk
                for event in parser.parse(chunk):
                    if isinstance(event, MultipartSegment):
                        name, file_name = _named(event)
                        if name in parts:
                            raise BodyError(f"The part {shown(name)} of the body is repeated.")
                        content = opened.enter_context(_new_file())
                        part = File(content, name=file_name)
                        if name == FILES:
                            files.append(part)
                        else:
                            parts[name] = part
                    elif event is not None:
                        content.write(event)
                    else:
                        part.size = content.tell()  # Django would ask the file system
                        content.seek(0)
    except MultipartError as error:
        raise BodyError(NOT_MULTIPART) from error
    except OSError as error:  # a large part is a temporary file
        logger.error("A part of a submission cannot be stored: %s", error)
        raise BodyError(NO_ROOM, 503) from error
    return parts, files


def _named(part: MultipartSegment) -> tuple[str, str]:
    """Return the name of a part and its file name, or ""."""
    name, file_name = part.name or "", part.filename or ""
    if not name:
        raise BodyError("A part has no name.")
    if NO_TEXT.search(name + file_name):
        raise BodyError("The name of a part or of a file has a NUL.")
    if part.header("Content-Transfer-Encoding", "").strip().lower() not in _TRANSFER_ENCODINGS:
        raise BodyError(f"Send the part {shown(name)} without a Content-Transfer-Encoding.")
    return name, file_name


def shown(name: str) -> str:
    """Return the name of a part or file for an error, in quotes."""
    return json.dumps(name[:NAME_SHOWN], ensure_ascii=False)


def _new_file() -> Any:
    return SpooledTemporaryFile(_IN_MEMORY)
