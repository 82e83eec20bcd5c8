"""Files of submissions: which are accepted, and how they are stored so that a crash loses none.

`store` writes files before the transaction of the submission, and `StoredFiles.add_rows` adds their
rows in it (jobsite/private_files.py).
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO
from zipfile import BadZipFile, is_zipfile

from django.core.exceptions import ValidationError
from django.core.files import File
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from applications.models import PrivateFile, Submission, SubmissionFile
from applications.submissions import antivirus
from jobsite import private_files
from jobsite.file_types import (
    DOCUMENT_CHECKS,
    PASSWORD,
    format_of,
    has_password,
    matches,
    unpacked_size,
)
from jobsite.object_store.circuit_breaker import UnavailableError

FILE_BYTES_MAX = 10 * 1024 * 1024
# A larger expansion than both limits is a ZIP bomb. Documents with long tables reach a ratio of
# about 15.
UNPACKED_BYTES_MAX = 20 * 1024 * 1024
UNPACKED_RATIO_MAX = 20
NEWEST = 20  # files that are looked for, to find a folder that is not mounted

# The accepted types: a check of the content, and the media type.
TYPES: dict[str, tuple[Callable[[File], bool], str]] = {
    "pdf": (DOCUMENT_CHECKS["pdf"], "application/pdf"),
    "rtf": (DOCUMENT_CHECKS["rtf"], "application/rtf"),
    "jpg": (matches(rb"\xff\xd8\xff"), "image/jpeg"),
    "png": (matches(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    "docx": (
        DOCUMENT_CHECKS["docx"],
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    "odt": (DOCUMENT_CHECKS["odt"], "application/vnd.oasis.opendocument.text"),
    "txt": (DOCUMENT_CHECKS["txt"], "text/plain; charset=utf-8"),
}

IMAGES = ("HEIC", "AVIF", "WebP", "GIF", "BMP", "TIFF", "PSD")
# Why a type is not accepted, for programs, and what helps.
REASONS = {
    "empty": gettext_lazy("This file is empty: choose it again."),
    "password": PASSWORD,
    "encoding": gettext_lazy("This text is not in UTF-8: save it as UTF-8, or as PDF."),
    "old_office": gettext_lazy(
        "This is a document of an old version of Office: save it as DOCX or PDF."
    ),
    "image": gettext_lazy("This is an image in the format %(kind)s: save it as JPEG or PNG."),
    "damaged": gettext_lazy("This document is damaged: open it, and save it again."),
    "size": gettext_lazy("This document is too large when it is unpacked: save it as PDF."),
    "format": gettext_lazy("This is a file in the format %(kind)s: save it as PDF."),
    "type": gettext_lazy(
        "This type of file is not accepted. Use PDF, DOCX, ODT, RTF, TXT, JPEG or PNG."
    ),
}

logger = logging.getLogger(__name__)


class FileError(Exception):
    """A file cannot be stored. `status`: 413 too large, 415 type not allowed, 422 virus, 503 no
    room.
    `reason`: a key of REASONS, a code of file_types.py, or "" if the status says it."""

    def __init__(self, field: str, status: int, detail: str, reason: str = "") -> None:
        super().__init__(detail)
        self.field, self.status, self.detail, self.reason = field, status, detail, reason


@dataclass
class StoredFiles:
    """Files that are written, with their unsaved rows."""

    rows: list[SubmissionFile] = field(default_factory=list)

    def add_rows(self, submission: Submission) -> None:
        """Insert the rows, in the transaction of `submission`."""
        for row in self.rows:
            row.submission = submission
        SubmissionFile.objects.bulk_create(self.rows)

    def discard(self) -> None:
        """Delete the files, which have no rows. What cannot be deleted is left for purge."""
        with suppress(OSError):
            private_files.delete(row.path for row in self.rows)


def sha256_of(files: Mapping[str, File]) -> dict[str, str]:
    """Return the SHA-256 of the content of `files`, by name of the form field."""
    hashes = {}
    for name, file in files.items():
        content = hashlib.sha256()
        for chunk in _chunks(file):
            content.update(chunk)
        hashes[name] = content.hexdigest()
    return hashes


def check(files: Mapping[str, File], hashes: Mapping[str, str]) -> list[SubmissionFile]:
    """Return the unsaved rows of `files`, by name of the form field. Raise FileError."""
    return [_row(name, file, hashes[name]) for name, file in files.items()]


def store(files: Mapping[str, File], hashes: Mapping[str, str] | None = None) -> StoredFiles:
    """Check `files`, by name of the form field, and write them to the disk or bucket. `hashes` are
    those of `sha256_of`, if they are known.

    Raise FileError; then nothing is stored.
    """
    rows = check(files, sha256_of(files) if hashes is None else hashes)
    stored = StoredFiles()
    for row, file in zip(rows, files.values(), strict=True):
        try:
            private_files.write(row.path, _chunks(file))
        except BaseException as error:
            stored.discard()
            if not isinstance(error, OSError):
                raise
            logger.error("A file of an applicant cannot be stored: %s", error)
            detail = _(
                "The server cannot store files at the moment. Nothing was saved. Try again later."
            )
            raise FileError(row.field, 503, detail) from error
        stored.rows.append(row)
    return stored


def open_file(file: PrivateFile) -> BinaryIO:
    """Open `file` for reading. Raise FileNotFoundError, or another OSError."""
    return private_files.open_file(file.path)


def read_file(file: PrivateFile) -> bytes:
    """Return the content, at most 10 MB. Raise FileNotFoundError if it cannot be read, which is
    logged, and UnavailableError.
    """
    try:
        with open_file(file) as opened:
            return opened.read()
    except UnavailableError:
        raise  # a 503
    except (OSError, ValueError) as error:
        logger.error("The file %s of an application cannot be read: %s", file.pk, error)
        raise FileNotFoundError from error


def response_headers(type_: str, *, name: str = "") -> dict[str, str]:
    """Return the headers with which a browser neither shows nor executes a file."""
    return {
        "Content-Disposition": str(content_disposition_header(True, name)),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Type": type_,
        "X-Content-Type-Options": "nosniff",
    }


def delete_files(paths: Iterable[str]) -> None:
    """Delete the files with these values of `PrivateFile.path`, after the commit that deletes
    the rows.
    """
    private_files.delete(paths)


def missing_newest() -> tuple[int, int]:
    """Return how many of the newest files PRIVATE_ROOT lacks, and how many were looked for. It
    lacks all of them if it is another folder, or not mounted.
    """
    paths = list(SubmissionFile.objects.order_by("-pk").values_list("path", flat=True)[:NEWEST])
    return sum(not private_files.exists(path) for path in paths), len(paths)


def media_type(file: PrivateFile) -> str:
    return TYPES[file.kind][1] if file.kind in TYPES else "application/octet-stream"


def kind_of(file: File, name: str) -> str:
    """Return the accepted type of `file`, a key of TYPES; empty if there is none. Raise
    ValidationError for a document with macros, too many parts or an excessive size when unpacked.

    Text has no signature: it is accepted only if `name` ends in .txt, so that a damaged PDF, or a
    script, is not taken for text.
    """
    if not file.size:
        return ""
    kind = next((kind for kind, (is_kind, _type) in TYPES.items() if is_kind(file)), "")
    if kind in ("docx", "odt") and _is_bomb(file):
        return ""
    if kind == "txt" and (_is_markup(file) or not name.lower().endswith(".txt")):
        return ""
    return kind


def download_name(file: PrivateFile) -> str:
    """Return the name under which `file` is downloaded: without control characters and separators,
    of at most 100 characters, with an extension of its type, so that text named run.js is not
    executed.
    """
    name = clean_name(file.original_name)
    extension = f".{file.kind}"
    endings = (".jpg", ".jpeg") if file.kind == "jpg" else (extension,)
    if name.lower().endswith(endings):
        extension = PurePosixPath(name).suffix
        name = name[: -len(extension)]
    return f"{name[:100].rstrip('. ') or getattr(file, 'field', 'file')}{extension}"


def clean_name(text: str) -> str:
    """Return `text` as the name of a file or folder:
    characters that some system refuses become "_".
    """
    name = "".join(c if c.isprintable() and c not in '/\\:*?"<>|' else "_" for c in text)
    return name.strip(". _")


def _row(name: str, file: File, sha256: str) -> SubmissionFile:
    """Return the unsaved row of `file`. Raise FileError."""
    original_name = (file.name or "").replace("\0", "")  # PostgreSQL stores no NUL
    size: int = file.size or 0
    if size > FILE_BYTES_MAX:
        raise FileError(name, 413, _("This file is larger than 10 MB."))
    try:
        kind = kind_of(file, original_name)
    except ValidationError as error:
        raise FileError(name, 415, " ".join(error.messages), str(error.code)) from error
    if not kind:
        reason, found = _refusal(file, original_name)
        raise FileError(name, 415, str(REASONS[reason]) % {"kind": found}, reason)
    try:
        scan_state = antivirus.scan(file)
    except antivirus.VirusFoundError as error:
        logger.warning("A virus was found in a file of a submission: %s", error)
        raise FileError(name, 422, _("This file contains a virus. Nothing was saved.")) from error
    return SubmissionFile(
        field=name,
        original_name=original_name,
        path=private_files.new_name(),
        size=size,
        sha256=sha256,
        kind=kind,
        scan_state=scan_state,
    )


def _refusal(file: File, name: str) -> tuple[str, str]:
    """Return why `kind_of` accepts no type of `file`, a key of REASONS, and its format."""
    kind, ending = format_of(file), PurePosixPath(name).suffix.lower()
    others = [
        each for each in ("xlsx", "pptx", "ods") if kind == "ZIP" and DOCUMENT_CHECKS[each](file)
    ]
    kind = "Pages" if ending == ".pages" else others[0].upper() if others else kind
    tests = {
        "empty": not file.size,
        "password": has_password(file),
        "old_office": kind == "OLE",
        "image": kind in IMAGES,
        "damaged": kind in ("PDF", "JPEG", "PNG", "RTF")
        or (kind == "ZIP" and not is_zipfile(file)),
        "size": kind == "ZIP" and any(DOCUMENT_CHECKS[each](file) for each in ("docx", "odt")),
        "format": bool(kind),
        "encoding": ending == ".txt",
    }
    return next((reason for reason, is_true in tests.items() if is_true), "type"), kind


def _chunks(file: File) -> Iterable[bytes]:
    file.seek(0)
    return file.chunks()


def _is_bomb(file: File) -> bool:
    """Whether a document unpacks to an excessive size."""
    try:
        unpacked = unpacked_size(file)
    except (BadZipFile, OSError, ValueError):
        return True  # the directory was readable a moment ago
    return unpacked > max(UNPACKED_BYTES_MAX, UNPACKED_RATIO_MAX * (file.size or 0))


def _is_markup(file: File) -> bool:
    """Whether text is of a type that browsers execute."""
    return format_of(file) in ("HTML", "SVG", "XML")
