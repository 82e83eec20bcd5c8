"""Validators of uploaded files, dates and videos."""

import re
import warnings
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zipfile import BadZipFile, ZipFile

from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _
from PIL import Image

IMAGE_FORMATS = ("JPEG", "PNG", "WEBP")
IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp")
IMAGE_BYTES_MAX = 5 * 1024 * 1024
IMAGE_PIXELS_MAX = 25_000_000
IMAGE_RULE = _("A JPEG, PNG or WebP image of at most 5 MB and 25 megapixels.")
JPEG_SCANS_MAX = 100  # a progressive JPEG has about ten; each scan is decoded over all pixels

PICTURE_SIDE_MIN = 300  # pixels
PICTURE_RATIO_MAX = 3
PICTURE_RULE = _(
    "Sites crop the image. Its shorter side needs at least 300 pixels, its longer side at most three "
    "times as many."
)

DOCUMENT_BYTES_MAX = 20 * 1024 * 1024
DOCUMENT_RULE = _(
    "A PDF, a text, a document of Word, Excel, PowerPoint or LibreOffice without macros, of at most 20 MB, "
    "or an image."
)
INNER_BYTES_MAX = 1024 * 1024  # of the one part of a document that is decompressed
DIRECTORY_BYTES_MAX = 1024 * 1024  # of the central directory: about 10,000 entries

# For every image that this process opens: a larger one is an error before it is decoded.
Image.MAX_IMAGE_PIXELS = IMAGE_PIXELS_MAX
warnings.simplefilter("error", Image.DecompressionBombWarning)

# Sites pass it to a video player: a URL, or the id of a video.
validate_video = RegexValidator(
    r"^(https?://\S+|[^:\s]+)\Z", _("Enter an http or https URL, or the ID of a video.")
)


def validate_datetime(value: datetime) -> None:
    """Refuse datetimes near the limits of `datetime`, which cannot be converted to every time zone."""
    if not 1900 <= value.year <= 2200:
        raise ValidationError(_("Choose a date between the years 1900 and 2200."), code="range")


def is_checked(file: Any) -> bool:
    """Whether `file` was stored earlier, when other rules may have applied, or was just cleaned by
    `vacancies.uploads`."""
    return getattr(file, "_committed", False) or getattr(getattr(file, "file", file), "is_clean", False)


# --- Images ------------------------------------------------------------------------------------


def damaged(file: File) -> ValidationError:
    text = _("“%(name)s” is damaged: open it in another program and save it again, as JPEG for instance.")
    return ValidationError(text, code="image_unreadable", params={"name": file.name})


def validate_image(file: File) -> None:
    """Refuse formats that browsers may not show, and images that are too large to load or to decode.

    Reads the header only. `vacancies.uploads.clean_image` decodes the pixels.
    """
    if is_checked(file):
        return
    if file.size > IMAGE_BYTES_MAX:
        raise ValidationError(
            _("“%(name)s” is %(size).1f MB: an image may have at most 5 MB."),
            code="image_too_large",
            params={"name": file.name, "size": file.size / 1024 / 1024},
        )
    file.seek(0)
    try:
        with Image.open(file, formats=IMAGE_FORMATS) as image:
            pixels, is_jpeg = image.width * image.height, image.format in ("JPEG", "MPO")
            # a JPEG may contain a second picture (MPO), which is dropped
            is_animated = not is_jpeg and getattr(image, "is_animated", False)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        pixels, is_jpeg, is_animated = IMAGE_PIXELS_MAX + 1, False, False
    except Exception as error:  # Pillow raises many types for unsupported and damaged files
        kind = kind_of(file)
        if kind in ("JPEG", "PNG", "WebP"):
            raise damaged(file) from error
        raise ValidationError(
            _("“%(name)s” is %(kind)s. Use a JPEG, PNG or WebP image."),
            code="image_format",
            params={"name": file.name, "kind": kind or _("not a readable image")},
        ) from error
    finally:
        file.seek(0)
    named = {"name": file.name}
    if not str(file.name).lower().endswith(IMAGE_ENDINGS):
        text = _("The name “%(name)s” does not end in .jpg, .png or .webp: rename the file.")
        raise ValidationError(text, code="image_ending", params=named)
    if pixels > IMAGE_PIXELS_MAX:
        text = _("“%(name)s” has more than 25 megapixels: make it smaller.")
        raise ValidationError(text, code="image_pixels", params=named)
    if is_animated:
        text = _("“%(name)s” is animated: use a still image.")
        raise ValidationError(text, code="image_animated", params=named)
    if is_jpeg and _content(file).count(b"\xff\xda") > JPEG_SCANS_MAX:
        text = _(
            "“%(name)s” is a JPEG with more than 100 scans: open it in another program and save it again."
        )
        raise ValidationError(text, code="image_scans", params=named)


def validate_picture(file: File) -> None:
    """Refuse images that are too small or too narrow for sites to crop: for the image of a vacancy."""
    if getattr(file, "_committed", False):
        return
    try:
        with Image.open(file, formats=IMAGE_FORMATS) as image:
            width, height = image.size
    except Exception:
        return  # validate_image reports it
    finally:
        file.seek(0)
    short, long = sorted((width, height))
    measured = {"name": file.name, "width": width, "height": height}
    if short < PICTURE_SIDE_MIN:
        text = _("“%(name)s” has %(width)s × %(height)s pixels: its shorter side needs at least 300.")
        raise ValidationError(text, code="picture_small", params=measured)
    if long > PICTURE_RATIO_MAX * short:
        text = _(
            "“%(name)s” has %(width)s × %(height)s pixels: its longer side may have at most three times as "
            "many as its shorter side."
        )
        raise ValidationError(text, code="picture_narrow", params=measured)


# --- Documents ---------------------------------------------------------------------------------


def validate_document(file: File) -> None:
    """Refuse files that a browser would execute from our origin (HTML, SVG, scripts), files whose content
    does not match the extension, and documents with macros. One small part of a ZIP-based document is
    decompressed, so that a ZIP bomb does no harm."""
    if is_checked(file):
        return
    name = str(file.name)
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending not in ENDINGS:
        raise ValidationError(
            _("“%(name)s” cannot be attached. Allowed are %(allowed)s."),
            code="document_ending",
            params={"name": name, "allowed": ", ".join(ENDINGS)},
        )
    if ending in DOCUMENT_IMAGES:
        validate_image(file)
        return
    if file.size > DOCUMENT_BYTES_MAX:
        raise ValidationError(
            _("This file is %(size).1f MB: a document may have at most 20 MB."),
            code="document_too_large",
            params={"size": file.size / 1024 / 1024},
        )
    try:
        is_valid = CONTENT[ending](file)
    finally:
        file.seek(0)
    if not is_valid:
        raise ValidationError(
            _("“%(name)s” is %(kind)s, which does not match the extension .%(ending)s."),
            code="document_content",
            params={"name": name, "ending": ending, "kind": kind_of(file) or _("an unknown type of file")},
        )


def _content(file: File) -> bytes:
    file.seek(0)
    try:
        return file.read()
    finally:
        file.seek(0)


def begins(start: bytes) -> Callable[[File], bool]:
    """Return a check for a file that begins with the bytes `start`."""

    def check(file: File) -> bool:
        file.seek(0)
        try:
            return file.read(len(start)) == start
        finally:
            file.seek(0)

    return check


def _is_text(file: File) -> bool:
    """Whether it is UTF-8 without control characters. Files are served as UTF-8."""
    content = _content(file)
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return not re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", content)


def _refuse_macros(content: bytes, *marks: bytes) -> None:
    if any(mark in content for mark in marks):
        raise ValidationError(_("This document holds macros: save it without them."), code="document_macros")


def _is_old_office(stream: str) -> Callable[[File], bool]:
    """Return a check for an OLE file with the given stream; its directory has names in UTF-16."""

    def check(file: File) -> bool:
        content = _content(file)
        if not content.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
            return False
        _refuse_macros(content, "_VBA_PROJECT".encode("utf-16-le"))
        return stream.encode("utf-16-le") in content

    return check


class _Limited:
    """A file of which at most `left` more bytes can be read; reading more raises ValidationError.

    zipfile parses every entry of the central directory, and the number in the end record may be forged.
    Limiting what it can read limits what it parses.
    """

    def __init__(self, file: File, left: int) -> None:
        self.file, self.left = file, left
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(self.left + 1 if size < 0 else min(size, self.left + 1))
        self.left -= len(content)
        if self.left < 0:
            raise ValidationError(
                _("This document has too many parts: save it again in an office program."),
                code="document_parts",
            )
        return content


def _part(file: File, name: str) -> bytes:
    """Return the beginning of one part of a ZIP file; empty if there is none. Nothing else is decompressed.
    Raise ValidationError if the file has too many parts, or macros."""
    file.seek(0)
    if file.read(4) != b"PK\x03\x04":
        return b""
    limited: Any = _Limited(file, DIRECTORY_BYTES_MAX)
    try:
        with ZipFile(limited) as packed:
            limited.left = DOCUMENT_BYTES_MAX
            _refuse_macros("\n".join(packed.namelist()).encode(), b"vbaProject.bin", b"Basic/script-lc.xml")
            with packed.open(name) as part:
                return part.read(INNER_BYTES_MAX)
    except (BadZipFile, KeyError, OSError, EOFError, NotImplementedError, RuntimeError, ValueError):
        return b""  # raised by zipfile for damaged and encrypted files
    except ValidationError:
        raise
    except Exception:  # zlib.error, lzma.LZMAError and similar
        return b""


def unpacked_size(file: File) -> int:
    """Return the size of all parts of a ZIP file, in bytes, as its directory says. Raise ValidationError if
    it has too many parts, BadZipFile if it is damaged."""
    file.seek(0)
    limited: Any = _Limited(file, DIRECTORY_BYTES_MAX)
    try:
        with ZipFile(limited) as packed:
            return sum(part.file_size for part in packed.infolist())
    finally:
        file.seek(0)


def _is_office(kind: str) -> Callable[[File], bool]:
    wanted = f"application/vnd.openxmlformats-officedocument.{kind}.main+xml".encode()
    return lambda file: wanted in _part(file, "[Content_Types].xml")


def _is_open_document(kind: str) -> Callable[[File], bool]:
    wanted = f"application/vnd.oasis.opendocument.{kind}".encode()
    return lambda file: _part(file, "mimetype").strip() == wanted


CONTENT: dict[str, Callable[[File], bool]] = {
    "pdf": begins(b"%PDF-"),
    "txt": _is_text,
    "rtf": begins(rb"{\rtf"),
    "doc": _is_old_office("WordDocument"),
    "docx": _is_office("wordprocessingml.document"),
    "odt": _is_open_document("text"),
    "xls": _is_old_office("Workbook"),
    "xlsx": _is_office("spreadsheetml.sheet"),
    "ods": _is_open_document("spreadsheet"),
    "ppt": _is_old_office("PowerPoint Document"),
    "pptx": _is_office("presentationml.presentation"),
}
DOCUMENT_IMAGES = ("jpg", "jpeg", "png")
ENDINGS = (*CONTENT, *DOCUMENT_IMAGES)

# The first bytes of other formats, to name them in error messages.
_KINDS = (
    (rb"GIF8", "GIF"),
    (rb"\xff\xd8\xff", "JPEG"),
    (rb"\x89PNG", "PNG"),
    (rb"RIFF....WEBP", "WebP"),
    (rb"....ftyp(heic|heix|mif1|msf1|hevc)", "HEIC"),
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


def kind_of(file: File) -> str:
    """Return the format of `file` by its first bytes; empty if unknown."""
    head = _content(file)[:1000]
    return next((kind for start, kind in _KINDS if re.match(start, head, re.DOTALL | re.IGNORECASE)), "")
