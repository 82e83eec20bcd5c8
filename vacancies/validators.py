"""What an uploaded file must be before it is kept."""

import warnings
from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.validators import FileExtensionValidator, RegexValidator
from django.utils.translation import gettext_lazy as _
from PIL import Image

IMAGE_FORMATS = ("JPEG", "PNG", "WEBP")
IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp")
IMAGE_BYTES_MAX = 5 * 1024 * 1024
IMAGE_PIXELS_MAX = 25_000_000
IMAGE_RULE = _("A JPEG, PNG or WebP image of at most 5 MB and 25 megapixels.")

PICTURE_SIDE_MIN = 300  # pixels
PICTURE_RATIO_MAX = 3
PICTURE_RULE = _(
    "Sites crop it: at least 300 pixels on its shorter side, at most three times as long as that."
)

# What a browser would run from our own address (HTML, SVG, scripts) is not among them.
validate_document = FileExtensionValidator(
    ["pdf", "txt", "rtf", "doc", "docx", "odt", "xls", "xlsx", "ods", "ppt", "pptx", "jpg", "jpeg", "png"],
)

# Sites put it into a player: an address of the web, or the bare id of a video.
validate_video = RegexValidator(
    r"^(https?://\S+|[^:\s]+)\Z", _("Enter an http or https address, or the id of a video.")
)


def validate_moment(moment: datetime) -> None:
    """Refuse moments so far off that another time zone has no date for them."""
    if not 1900 <= moment.year <= 2200:
        raise ValidationError(_("Choose a moment between the years 1900 and 2200."), code="range")


def validate_image(file: File) -> None:
    """Refuse what browsers may not show, what is slow to load, and what is made to exhaust memory.

    Reads the header only. A file that was stored earlier is left alone, so that a rule that came
    later does not keep its owner from being saved.
    """
    if getattr(file, "_committed", False):
        return
    if file.size > IMAGE_BYTES_MAX:
        raise ValidationError(
            _("This file is %(size).1f MB: an image may have at most 5 MB."),
            code="image_too_large",
            params={"size": file.size / 1024 / 1024},
        )
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            width, height = Image.open(file, formats=IMAGE_FORMATS).size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        width = height = IMAGE_PIXELS_MAX
    except (OSError, ValueError, SyntaxError) as error:  # what Pillow raises for other and broken files
        raise ValidationError(_("Use a JPEG, PNG or WebP image."), code="image_format") from error
    finally:
        file.seek(0)
    if not str(file.name).lower().endswith(IMAGE_ENDINGS):
        raise ValidationError(_("The file name must end in .jpg, .png or .webp."), code="image_ending")
    if width * height > IMAGE_PIXELS_MAX:
        raise ValidationError(
            _("This image has more than 25 megapixels: make it smaller."), code="image_pixels"
        )


def validate_picture(file: File) -> None:
    """Refuse what nothing is left of when a site crops it to its own shape: the image of a vacancy."""
    if getattr(file, "_committed", False):
        return
    try:
        short, long = sorted(Image.open(file, formats=IMAGE_FORMATS).size)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return  # which validate_image says better
    finally:
        file.seek(0)
    if short < PICTURE_SIDE_MIN or long > PICTURE_RATIO_MAX * short:
        raise ValidationError(PICTURE_RULE, code="picture_shape")
