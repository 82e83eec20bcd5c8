"""Model and form fields of uploaded files, which are cleaned and get random names.

The model fields do this, so it applies to every upload.
"""

import shutil
from pathlib import Path
from secrets import token_hex
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.base import File
from django.core.files.storage import Storage
from django.core.files.uploadedfile import UploadedFile
from django.db import models
from django.db.models.fields.files import FieldFile, ImageFieldFile
from django.utils.translation import gettext_lazy as _

from jobsite.object_store.circuit_breaker import UnavailableError
from vacancies.uploads.cleaning import clean_document, clean_image
from vacancies.uploads.validators import DOCUMENT_RULE

NO_ROOM = _(
    "The file storage is full. Nothing was saved. You can save without the file. Contact the site "
    "administrator."
)


class NotStoredError(Exception):
    """The storage refused a file: it is full or not writable."""


def has_room(storage: Storage, size: int) -> bool:
    """Whether `size` more bytes fit. A storage that is not a directory is assumed to have room."""
    try:
        root = Path(storage.path("")).resolve()
    except NotImplementedError:
        return True
    folder = next(folder for folder in (root, *root.parents) if folder.exists())
    return shutil.disk_usage(folder).free >= size


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
            raise  # a 503; purge deletes what the store has received
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
