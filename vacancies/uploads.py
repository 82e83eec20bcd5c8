"""How uploaded files are kept: images encoded anew, so that nothing but the picture stays of them, all under
names that nobody guesses. It happens in the fields, so on every way in; what the files must be is said in
`validators`."""

import shutil
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from django.db import models
from django.db.models.fields.files import FieldFile, ImageFieldFile
from django.utils.translation import gettext_lazy as _
from PIL import Image, ImageCms, ImageOps

from vacancies.validators import (
    DOCUMENT_IMAGES,
    DOCUMENT_RULE,
    IMAGE_FORMATS,
    UNREADABLE,
    is_checked,
    validate_document,
    validate_image,
)

# How each format is written: about as large as it came, in some seconds at 25 megapixels.
FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "JPEG": (".jpg", {"quality": 90, "optimize": True}),
    "PNG": (".png", {"compress_level": 6}),
    "WEBP": (".webp", {"quality": 90, "method": 2}),
}
NO_ROOM = _(
    "The file storage is full. Nothing was saved. You can save without the file. Contact the site "
    "administrator."
)


class NotStoredError(Exception):
    """The storage did not take a file: it is full, or nobody may write there."""


class CleanImage(ContentFile):
    """An image as it was encoded here."""

    is_clean = True

    def __init__(self, content: bytes, name: str, suffix: str) -> None:
        super().__init__(content, name)
        self.suffix = suffix


def clean_image(file: Any) -> CleanImage:
    """Return the picture in `file` and nothing else that it may hold: no place, camera, comment, thumbnail
    or other file behind it. It stands upright, in sRGB. Raises a ValidationError for what is no image."""
    if isinstance(file, CleanImage):
        return file
    validate_image(file)
    made = BytesIO()
    try:
        with Image.open(file, formats=IMAGE_FORMATS) as image:
            kind = "JPEG" if image.format == "MPO" else str(image.format)
            suffix, how = FORMATS[kind]
            _picture(image, kind).save(made, kind, **how)
    except Exception as error:  # Pillow raises many kinds for what was made to be strange, or cut off
        raise ValidationError(UNREADABLE, code="image_unreadable") from error
    finally:
        file.seek(0)
    return CleanImage(made.getvalue(), file.name, suffix)


def _picture(image: Image.Image, kind: str) -> Image.Image:
    """The pixels of `image`, as `kind` can hold them."""
    profile = image.info.get("icc_profile")
    picture = ImageOps.exif_transpose(image)
    if profile:
        picture = _to_srgb(picture, profile)
    if kind == "JPEG" and picture.mode not in ("L", "RGB"):
        picture = picture.convert("RGB")
    seen = {"transparency"} if kind == "PNG" else set()
    picture.info = {key: value for key, value in picture.info.items() if key in seen}
    return picture


def _to_srgb(picture: Image.Image, profile: bytes) -> Image.Image:
    """`picture` in the colours that it has for those who look at its profile, which does not stay."""
    if picture.mode == "P":
        picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
    if picture.mode not in ("RGB", "RGBA", "CMYK"):
        return picture
    try:
        given, wanted = ImageCms.ImageCmsProfile(BytesIO(profile)), ImageCms.createProfile("sRGB")
        mode = "RGBA" if picture.mode == "RGBA" else "RGB"
        return ImageCms.profileToProfile(picture, given, wanted, outputMode=mode) or picture
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture  # a profile that is none, or of another kind of image


def clean_document(file: Any) -> Any:
    """Return `file` as it may be kept: an image encoded anew, anything else as it is. Raises a
    ValidationError for what is neither."""
    if is_checked(file):
        return file
    validate_document(file)
    return clean_image(file) if file.name.lower().rpartition(".")[2] in DOCUMENT_IMAGES else file


def has_room(storage: Storage, size: int) -> bool:
    """Whether `size` more bytes fit; a storage that is no folder will say so itself."""
    try:
        root = Path(storage.path("")).resolve()
    except NotImplementedError:
        return True
    folder = next(folder for folder in (root, *root.parents) if folder.exists())
    return shutil.disk_usage(folder).free >= size


# --- Fields ------------------------------------------------------------------------------------


class _CleanOnUpload:
    """A field of a form whose value may be kept as it is, or is told of as an error of this field."""

    storage: Storage

    def to_python(self, data: Any) -> Any:
        file: Any = forms.FileField.to_python(self, data)  # type: ignore[arg-type]
        if file is None:
            return None
        file = self.cleaned(file)  # type: ignore[attr-defined]
        if not has_room(self.storage, file.size):
            raise ValidationError(NO_ROOM, code="no_room")
        return file


class ImageFormField(_CleanOnUpload, forms.ImageField):
    """Django's own would let Pillow try every format that it knows."""

    default_validators = []
    cleaned = staticmethod(clean_image)


class DocumentFormField(_CleanOnUpload, forms.FileField):
    cleaned = staticmethod(clean_document)


class _CleanFile(FieldFile):
    """A file that is checked and named when it is stored."""

    def save(self, name: str, content: File, save: bool = True) -> None:
        content.name = content.name or name
        content = self.field.cleaned(content)  # type: ignore[attr-defined]
        suffix = getattr(content, "suffix", "") or f".{name.lower().rpartition('.')[2]}"
        kept = f"{token_hex(16)}{suffix}"
        try:
            super().save(kept, content, save=False)
        except OSError as error:
            # what was written of it, under a name that is nobody else's
            self.storage.delete(self.field.generate_filename(self.instance, kept))
            raise NotStoredError from error
        if save:
            self.instance.save()


class _CleanImageFile(_CleanFile, ImageFieldFile):
    pass


class ImageField(models.ImageField):
    """An image that was encoded here."""

    attr_class = _CleanImageFile
    cleaned = staticmethod(clean_image)

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.ImageField", args, kwargs

    def formfield(self, **kwargs: Any) -> Any:
        field: Any = super().formfield(**{"form_class": ImageFormField} | kwargs)
        field.storage = self.storage
        return field


class DocumentField(models.FileField):
    """A document that is what its name says."""

    attr_class = _CleanFile
    cleaned = staticmethod(clean_document)

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.FileField", args, kwargs

    def formfield(self, **kwargs: Any) -> Any:
        ours: dict[str, Any] = {"form_class": DocumentFormField, "help_text": DOCUMENT_RULE}
        field: Any = super().formfield(**ours | kwargs)
        field.storage = self.storage
        return field
