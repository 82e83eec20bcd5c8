"""Uploaded files as they are stored: images are re-encoded without metadata."""

from io import BytesIO
from typing import Any

from django.core.files.base import ContentFile
from PIL import Image, ImageCms, ImageOps

from vacancies.uploads.validators import (
    DOCUMENT_IMAGES,
    IMAGE_FORMATS,
    damaged,
    is_checked,
    validate_document,
    validate_image,
)

# Encoder settings: about the original size, within seconds for 25 megapixels.
FORMATS: dict[str, tuple[str, dict[str, object]]] = {
    "JPEG": (".jpg", {"quality": 90, "optimize": True}),
    "PNG": (".png", {"compress_level": 6}),
    "WEBP": (".webp", {"quality": 90, "method": 2}),
}


class CleanImage(ContentFile):
    """An image that `clean_image` has encoded."""

    is_clean = True

    def __init__(self, content: bytes, name: str, suffix: str) -> None:
        super().__init__(content, name)
        self.suffix = suffix


def clean_image(file: Any) -> CleanImage:
    """Return the picture in `file`, re-encoded upright in sRGB, without metadata such as location,
    camera, comments, thumbnails or appended files. Raise ValidationError if it is not a valid
    image.
    """
    if isinstance(file, CleanImage):
        return file
    validate_image(file)
    made = BytesIO()
    try:
        with Image.open(file, formats=IMAGE_FORMATS) as image:
            kind = "JPEG" if image.format == "MPO" else str(image.format)
            suffix, how = FORMATS[kind]
            _picture(image, kind).save(made, kind, **how)
    except Exception as error:  # Pillow raises many types for malformed and truncated images
        raise damaged(file) from error
    finally:
        file.seek(0)
    return CleanImage(made.getvalue(), file.name, suffix)


def _picture(image: Image.Image, kind: str) -> Image.Image:
    """Return the pixels of `image` in a mode that the format `kind` supports."""
    profile = image.info.get("icc_profile")
    picture = ImageOps.exif_transpose(image)
    if profile:
        picture = _to_srgb(picture, profile)
    if kind == "JPEG" and picture.mode not in ("L", "RGB"):
        picture = picture.convert("RGB")
    preserved = {"transparency"} if kind == "PNG" else set()
    picture.info = {key: value for key, value in picture.info.items() if key in preserved}
    return picture


def _to_srgb(picture: Image.Image, profile: bytes) -> Image.Image:
    """Return `picture` converted from its colour profile to sRGB, because the
    profile is removed.
    """
    if picture.mode == "P":
        picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
    if picture.mode not in ("RGB", "RGBA", "CMYK"):
        return picture
    try:
        source, target = ImageCms.ImageCmsProfile(BytesIO(profile)), ImageCms.createProfile("sRGB")
        mode = "RGBA" if picture.mode == "RGBA" else "RGB"
        return ImageCms.profileToProfile(picture, source, target, outputMode=mode) or picture
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture  # an invalid profile, or one for another mode


def clean_document(file: Any) -> Any:
    """Return `file` for storage: re-encoded if it is an image, else unchanged. Raise
    ValidationError if it is not a valid document.
    """
    if is_checked(file):
        return file
    validate_document(file)
    return clean_image(file) if file.name.lower().rpartition(".")[2] in DOCUMENT_IMAGES else file
