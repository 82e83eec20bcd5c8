"""Storage of uploaded files. Images are re-encoded without metadata, and all files get random
names.

The model fields do this, so it applies to every upload. `validators` has the rules for files.
"""

import shutil
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.core.files.uploadedfile import UploadedFile
from django.db import models
from django.db.models.fields.files import FieldFile, ImageFieldFile
from django.utils.translation import gettext_lazy as _
from PIL import Image, ImageCms, ImageOps

from jobsite.object_store.circuit_breaker import UnavailableError
from vacancies.validators import (
    DOCUMENT_IMAGES,
    DOCUMENT_RULE,
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
NO_ROOM = _(
    "The file storage is full. Nothing was saved. You can save without the file. Contact the site "
    "administrator."
)


class NotStoredError(Exception):
    """The storage refused a file: it is full or not writable."""


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


def has_room(storage: Storage, size: int) -> bool:
    """Whether `size` more bytes fit. A storage that is not a directory is assumed to have room."""
    try:
        root = Path(storage.path("")).resolve()
    except NotImplementedError:
        return True
    folder = next(folder for folder in (root, *root.parents) if folder.exists())
    return shutil.disk_usage(folder).free >= size


# --- Fields ------------------------------------------------------------------------------------


class _CleanOnUpload:
    """A form field that cleans the uploaded file and reports errors at the field."""

    storage: Storage

    def to_python(self, data: object) -> UploadedFile | None:
        file: Any = forms.FileField.to_python(self, data)  # type: ignore[arg-type]
        if file is None:
            return None
        file = self.cleaned(file)  # type: ignore[attr-defined]
        if not has_room(self.storage, file.size):
            raise ValidationError(NO_ROOM, code="no_room")
        return file


class ImageFormField(_CleanOnUpload, forms.ImageField):
    """An image, without Django's check: that lets Pillow try every format it knows."""

    default_validators = []
    cleaned = staticmethod(clean_image)


class DocumentFormField(_CleanOnUpload, forms.FileField):
    cleaned = staticmethod(clean_document)


class _CleanFile(FieldFile):
    """A file that is cleaned and given a random name when it is stored."""

    def save(self, name: str, content: File, save: bool = True) -> None:
        content.name = content.name or name
        content = self.field.cleaned(content)  # type: ignore[attr-defined]
        suffix = getattr(content, "suffix", "") or f".{name.lower().rpartition('.')[2]}"
        stored_name = f"{token_hex(16)}{suffix}"
        try:
            super().save(stored_name, content, save=False)
        except UnavailableError:
            raise  # a 503; clean_media deletes what the store has received
        except OSError as error:
            # remove what was written; the random name belongs to no other file
            self.storage.delete(self.field.generate_filename(self.instance, stored_name))
            raise NotStoredError from error
        if save:
            self.instance.save()


class _CleanImageFile(_CleanFile, ImageFieldFile):
    pass


class ImageField(models.ImageField):
    """An image, re-encoded by `clean_image`."""

    attr_class = _CleanImageFile
    cleaned = staticmethod(clean_image)

    def deconstruct(self) -> tuple:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.ImageField", args, kwargs

    def formfield(self, **kwargs: Any) -> forms.Field:
        field: Any = super().formfield(**{"form_class": ImageFormField} | kwargs)
        field.storage = self.storage
        return field


class DocumentField(models.FileField):
    """A document, checked by `clean_document`."""

    attr_class = _CleanFile
    cleaned = staticmethod(clean_document)

    def deconstruct(self) -> tuple:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.FileField", args, kwargs

    def formfield(self, **kwargs: Any) -> forms.Field:
        ours: dict[str, Any] = {"form_class": DocumentFormField, "help_text": DOCUMENT_RULE}
        field: Any = super().formfield(**ours | kwargs)
        field.storage = self.storage
        return field
