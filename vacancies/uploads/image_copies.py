"""Smaller copies of images, for pages: vacancies/<name>.480.webp of vacancies/<name>.jpg. And
JPEGs, also of the icons of brands, for social networks and messengers: vacancies/<name>.1200.jpg.

A copy is made on the first request for it (vacancies/media). It has no row: it belongs to its image.
"""

import logging
import os
import re
from functools import lru_cache
from io import BytesIO
from secrets import token_hex
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image

from vacancies.uploads.validators import IMAGE_ENDINGS, IMAGE_FORMATS

logger = logging.getLogger(__name__)
WIDTHS = (480, 960)  # pixels
SHARED = 1200  # of the JPEG, at most
_COPY = re.compile(r"((?:vacancies|brands)/[^/.\0]{1,100})\.(?:(480|960)\.webp|(1200)\.jpg)")
_IMAGE = re.compile(
    rf"((?:vacancies|brands)/[^/.]{{1,100}})({'|'.join(map(re.escape, IMAGE_ENDINGS))})"
)


class Picture(NamedTuple):
    """The size of an image in pixels, its copies as the attribute `srcset` of HTML, and the URL and
    the size of its JPEG.
    """

    width: int
    height: int
    srcset: str
    shared: str
    shared_size: tuple[int, int]


def originals(name: str) -> tuple[list[str], int]:
    """Return the possible names of the image whose copy has the name `name`, and the width of the
    copy; no names if it is no name of a copy.
    """
    found = _COPY.fullmatch(name)
    return (
        ([found[1] + end for end in IMAGE_ENDINGS], int(found[2] or found[3])) if found else ([], 0)
    )


def make_copy(original: str, copy: str, width: int) -> bool:
    """Store the `copy` of the image `original`. False if it is not readable, or for a page not
    wider than `width`.

    Several requests may do so at the same time: each replaces the file by an equal one.
    """
    try:
        with (
            default_storage.open(original) as file,
            Image.open(file, formats=IMAGE_FORMATS) as image,
        ):
            is_shared = copy.endswith(".jpg")
            if image.width <= width and not is_shared:
                return False
            picture: Image.Image = _on_white(image) if is_shared else image
            if picture.mode not in ("L", "RGB", "RGBA"):
                picture = image.convert("RGBA" if image.has_transparency_data else "RGB")
            picture.thumbnail((width, image.height))
            made = BytesIO()
            picture.save(made, "JPEG" if is_shared else "WEBP", quality=80)
        _store(copy, made)
    # Pillow raises many types for malformed images, and the disk may be full.
    except Exception as error:
        logger.warning("No smaller copy of %s: %s.", original, type(error).__name__)
        return False
    return True


def _on_white(image: Image.Image) -> Image.Image:
    """Return `image` without transparency, which JPEG does not know, in its size for SHARED."""
    clear = image.convert("RGBA").resize(_shared_size(*image.size))
    white = Image.new("RGBA", clear.size, "white")
    return Image.alpha_composite(white, clear).convert("RGB")


def _shared_size(width: int, height: int) -> tuple[int, int]:
    return min(width, SHARED), max(1, round(height * min(1, SHARED / width)))


def _store(name: str, content: BytesIO) -> None:
    storage: Any = default_storage
    if settings.FILES_IN_BUCKET:
        storage.put(name, content)
        return
    temporary = storage.save(f"vacancies/{token_hex(16)}.part", ContentFile(content.getvalue()))
    os.replace(storage.path(temporary), storage.path(name))


def picture(url: str) -> Picture | None:
    """Return the size and the copies of the uploaded image at `url`;
    None for another, or a broken one.
    """
    base, media, name = url.rpartition(settings.MEDIA_URL)
    if not (media and (found := _IMAGE.fullmatch(name))):
        return None
    try:
        size = _size(name)
    except Exception:
        return None  # Pillow raises many types for malformed images
    copies = [
        f"{base}{media}{found[1]}.{width}.webp {width}w" for width in WIDTHS if width < size[0]
    ]
    srcset = ", ".join([*copies, f"{url} {size[0]}w"]) if copies else ""
    return Picture(*size, srcset, f"{base}{media}{found[1]}.{SHARED}.jpg", _shared_size(*size))


@lru_cache(maxsize=10_000)  # a name has one content for ever
def _size(name: str) -> tuple[int, int]:
    with default_storage.open(name) as file, Image.open(file, formats=IMAGE_FORMATS) as image:
        return image.size
