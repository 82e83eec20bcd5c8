"""The rules for uploaded images and documents."""

import warnings

from django.core.exceptions import ValidationError
from django.core.files import File
from django.utils.translation import gettext_lazy as _
from PIL import Image

from jobsite.file_types import DOCUMENT_CHECKS, PASSWORD, content_of, format_of, has_password

IMAGE_FORMATS = ("JPEG", "PNG", "WEBP")
IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp")
IMAGE_BYTES_MAX = 5 * 1024 * 1024
IMAGE_PIXELS_MAX = 25_000_000
IMAGE_RULE = _("A JPEG, PNG or WebP image of at most 5 MB and 25 megapixels.")
JPEG_SCANS_MAX = 100  # a progressive JPEG has about ten; each scan is decoded over all pixels
PICTURE_SIDE_MIN = 300  # pixels
PICTURE_RATIO_MAX = 3
PICTURE_RULE = _(
    "Sites crop the image. Its shorter side needs at least 300 pixels, its longer side at most "
    "three times as many."
)
DOCUMENT_BYTES_MAX = 20 * 1024 * 1024
DOCUMENT_RULE = _(
    "A PDF, a text, a document of Word, Excel, PowerPoint or LibreOffice without macros, of at "
    "most 20 MB, or an image."
)
DOCUMENT_IMAGES = ("jpg", "jpeg", "png")
ENDINGS = (*DOCUMENT_CHECKS, *DOCUMENT_IMAGES)
# For every image that this process opens: a larger one is an error before it is decoded.
Image.MAX_IMAGE_PIXELS = IMAGE_PIXELS_MAX
warnings.simplefilter("error", Image.DecompressionBombWarning)


def is_checked(file: object) -> bool:
    """Whether `file` was stored earlier, when other rules may have applied, or was just cleaned by
    `vacancies.uploads`."""
    return getattr(file, "_committed", False) or getattr(
        getattr(file, "file", file), "is_clean", False
    )


def damaged(file: File) -> ValidationError:
    text = _(
        "“%(name)s” is damaged: open it in another program and save it again, as JPEG for instance."
    )
    return ValidationError(text, code="image_unreadable", params={"name": file.name})


def validate_image(file: File) -> None:
    """Refuse formats that browsers may not show, and images that are too large to load or to
    decode.

    Reads the header only. `vacancies.uploads.cleaning.clean_image` decodes the pixels.
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
        kind = format_of(file)
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
    if is_jpeg and content_of(file).count(b"\xff\xda") > JPEG_SCANS_MAX:
        text = _(
            "“%(name)s” is a JPEG with more than 100 scans: open it in another program and save "
            "it again."
        )
        raise ValidationError(text, code="image_scans", params=named)


def validate_picture(file: File) -> None:
    """Refuse images that are too small or too narrow for sites to crop:
    for the image of a vacancy.
    """
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
        text = _(
            "“%(name)s” has %(width)s × %(height)s pixels: its shorter side needs at least 300."
        )
        raise ValidationError(text, code="picture_small", params=measured)
    if long > PICTURE_RATIO_MAX * short:
        text = _(
            "“%(name)s” has %(width)s × %(height)s pixels: its longer side may have at most three "
            "times as many as its shorter side."
        )
        raise ValidationError(text, code="picture_narrow", params=measured)


def validate_document(file: File) -> None:
    """Refuse files that a browser would execute from our origin (HTML, SVG, scripts), files whose
    content does not match the extension, and documents with macros. One small part of a ZIP-based
    document is decompressed, so that a ZIP bomb does no harm.
    """
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
        is_valid = DOCUMENT_CHECKS[ending](file)
    finally:
        file.seek(0)
    if not is_valid:
        if has_password(file):
            raise ValidationError(PASSWORD, code="document_password")
        raise ValidationError(
            _("“%(name)s” is %(kind)s, which does not match the extension .%(ending)s."),
            code="document_content",
            params={
                "name": name,
                "ending": ending,
                "kind": format_of(file) or _("an unknown type of file"),
            },
        )
