"""What a file is, by its content.
Raises ValidationError for documents with macros or too many parts.
"""

import re
from collections.abc import Callable
from functools import partial
from zipfile import BadZipFile, ZipFile

from django.core.exceptions import ValidationError
from django.core.files import File
from django.utils.translation import gettext_lazy as _

INNER_BYTES_MAX = 1024 * 1024  # of the part of a document that says what it is
DIRECTORY_BYTES_MAX = 1024 * 1024  # of the central directory: about 10,000 entries
PARTS_BYTES_MAX = 20 * 1024 * 1024  # compressed, of the parts that are read
# The beginning of an old Office document, and of its macros.
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PASSWORD = _("This file needs a password: save it without one.")
MACROS = "_VBA_PROJECT".encode("utf-16-le")  # a stream of it
TOO_LARGE = _("This document has too many parts: save it again in an office program.")


def content_of(file: File, size: int = -1) -> bytes:
    file.seek(0)
    try:
        return file.read(size)
    finally:
        file.seek(0)


def matches(start: bytes) -> Callable[[File], bool]:
    """Return a check for a file whose first 1,024 bytes match the regular expression `start`."""
    return lambda file: re.match(start, content_of(file, 1024), re.DOTALL) is not None


def has_password(file: File) -> bool:
    """Whether it is a document of Office, an OpenDocument or a ZIP file, that only a password
    opens.
    """
    content = content_of(file)
    is_office = content.startswith(OLE) and "EncryptedPackage".encode("utf-16-le") in content
    is_zip = content.startswith(b"PK\x03\x04") and bool(content[6:7] and content[6] & 1)
    return is_office or is_zip or _is_locked(file)


def _is_locked(file: File) -> bool:
    """Whether it is an OpenDocument with a password (OpenDocument 1.3, part 2, 3.4)."""
    return _has_part(file, "META-INF/manifest.xml", lambda content: b"encryption-data" in content)


def _is_text(file: File) -> bool:
    """Whether it is UTF-8 without control characters. Files are served as UTF-8."""
    content = content_of(file)
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", content)


def _refuse_macros(content: bytes, *marks: bytes) -> None:
    if any(mark in content for mark in marks):
        raise ValidationError(
            _("This document holds macros: save it without them."), code="document_macros"
        )


def _is_old_office(stream: str) -> Callable[[File], bool]:
    """Return a check for an OLE file with the given stream; its directory has names in UTF-16."""

    def check(file: File) -> bool:
        content = content_of(file)
        if not content.startswith(OLE):
            return False
        _refuse_macros(content, MACROS)
        return stream.encode("utf-16-le") in content

    return check


class _Limited:
    """A file of which at most `left` more bytes can be read; reading more raises ValidationError.

    zipfile parses every entry of the central directory, and the number in the end record may be
    forged. Limiting what it can read limits what it parses.
    """

    def __init__(self, file: File, left: int) -> None:
        self.file, self.left = file, left
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(self.left + 1 if size < 0 else min(size, self.left + 1))
        self.left -= len(content)
        if self.left < 0:
            raise ValidationError(TOO_LARGE, code="document_parts")
        return content


def _has_part(file: File, name: str, is_wanted: Callable[[bytes], bool]) -> bool:
    """Return whether a ZIP file has the part `name`, and its beginning is wanted. Of the other
    parts, only the first bytes are decompressed then, and what may be macros, which can have any
    name. Raise ValidationError if the file has too many parts, or macros.
    """
    file.seek(0)
    if file.read(4) != b"PK\x03\x04":
        return False
    limited = _Limited(file, DIRECTORY_BYTES_MAX)
    try:
        with ZipFile(limited) as packed:
            limited.left = PARTS_BYTES_MAX
            names = "\n".join(["", *packed.namelist()]).lower().encode()
            _refuse_macros(names, b"vbaproject.bin", b"\nbasic/", b"\nscripts/")
            with packed.open(name) as part:
                if not is_wanted(part.read(INNER_BYTES_MAX)):
                    return False
            left = PARTS_BYTES_MAX
            for entry in packed.infolist():
                if entry.file_size < len(OLE):
                    continue
                with packed.open(entry) as part:
                    if part.read(len(OLE)) == OLE:
                        content = part.read(left)
                        left -= len(content)
                        if not left:
                            raise ValidationError(TOO_LARGE, code="document_parts")
                        _refuse_macros(content, MACROS)
            return True
    except (BadZipFile, KeyError, OSError, EOFError, NotImplementedError, RuntimeError, ValueError):
        return False  # raised by zipfile for damaged and encrypted files
    except ValidationError:
        raise
    except Exception:  # zlib.error, lzma.LZMAError and similar
        return False


def unpacked_size(file: File) -> int:
    """Return the size of all parts of a ZIP file, in bytes, as its directory says. Raise
    ValidationError if it has too many parts, BadZipFile if it is damaged.
    """
    file.seek(0)
    limited = _Limited(file, DIRECTORY_BYTES_MAX)
    try:
        with ZipFile(limited) as packed:
            return sum(part.file_size for part in packed.infolist())
    finally:
        file.seek(0)


def _is_office(kind: str) -> Callable[[File], bool]:
    wanted = f"application/vnd.openxmlformats-officedocument.{kind}.main+xml".encode()
    return lambda file: _has_part(file, "[Content_Types].xml", lambda content: wanted in content)


def _is_open_document(kind: str) -> Callable[[File], bool]:
    wanted = f"application/vnd.oasis.opendocument.{kind}".encode()
    is_document = partial(
        _has_part, name="mimetype", is_wanted=lambda content: content.strip() == wanted
    )
    return lambda file: is_document(file) and not _is_locked(file)


DOCUMENT_CHECKS: dict[str, Callable[[File], bool]] = {
    # Readers accept what some programs write before it (ISO 32000-1, annex H); not markup, or
    # another format.
    "pdf": lambda file: matches(rb"[^<]*?%PDF-")(file) and format_of(file) in ("", "PDF"),
    "txt": _is_text,
    "rtf": matches(rb"(\xef\xbb\xbf)?\s*\{\\rtf"),
    "doc": _is_old_office("WordDocument"),
    "docx": _is_office("wordprocessingml.document"),
    "odt": _is_open_document("text"),
    "xls": _is_old_office("Workbook"),
    "xlsx": _is_office("spreadsheetml.sheet"),
    "ods": _is_open_document("spreadsheet"),
    "ppt": _is_old_office("PowerPoint Document"),
    "pptx": _is_office("presentationml.presentation"),
}
# The first bytes of other formats, to name them in error messages.
_KINDS = (
    (rb"GIF8", "GIF"),
    (rb"\xff\xd8\xff", "JPEG"),
    (rb"\x89PNG", "PNG"),
    (rb"RIFF....WEBP", "WebP"),
    (rb"....ftyp(hei[cmsx]|hev[cmsx]|mif[12]|msf1)", "HEIC"),
    (rb"....ftypavi[fs]", "AVIF"),
    (rb"....ftyp", "MP4"),
    (rb"BM", "BMP"),
    (rb"II\*\x00|MM\x00\*", "TIFF"),
    (rb"8BPS", "PSD"),
    (rb"%!PS", "PostScript"),
    (rb"%PDF", "PDF"),
    (rb"PK\x03\x04", "ZIP"),
    (rb"\xd0\xcf\x11\xe0", "OLE"),
    (rb"MZ", "EXE"),
    (rb"\{\\rtf", "RTF"),
    (rb"(\xef\xbb\xbf)?\s*(<\?xml[^>]*>)?\s*(<!--.*?-->\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg", "SVG"),
    (rb"(\xef\xbb\xbf)?\s*<(!doctype\s+html|html|head|body|script)", "HTML"),
    (rb"(\xef\xbb\xbf)?\s*<\?xml", "XML"),
)


def format_of(file: File) -> str:
    """Return the format of `file` by its first bytes; empty if unknown."""
    head = content_of(file, 1000)
    return next(
        (kind for start, kind in _KINDS if re.match(start, head, re.DOTALL | re.IGNORECASE)), ""
    )
