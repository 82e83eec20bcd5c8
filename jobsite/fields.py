"""Fields of models and forms that several apps use."""

from typing import Any

from django import forms
from django.core.validators import URLValidator
from django.db import models

from jobsite.types import JsonObject
from jobsite.unseen import visible


def web_url(text: str) -> str:
    """Return `text` if it is an http or https URL, else ""."""
    return text if text.lower().startswith(("https://", "http://")) else ""


class _Pasted:
    """A form field that checks what people see of the text."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(visible(value) if isinstance(value, str) else value)  # type: ignore[misc]


class PastedEmailField(_Pasted, forms.EmailField):
    """An e-mail address, as it is copied from elsewhere."""


class PastedURLField(_Pasted, forms.URLField):
    """A URL, as it is copied from elsewhere."""


class WebURLField(models.URLField):
    """An http or https URL. Other schemes can run scripts or reveal data: they are not read either,
    because raw SQL may have written them.
    """

    default_validators = [URLValidator(schemes=["http", "https"])]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        defaults: JsonObject = {"blank": True, "default": "", "max_length": 1000}
        super().__init__(*args, **defaults | kwargs)

    def from_db_value(self, value: str | None, *_context: object) -> str | None:
        return web_url(value) if value else value

    def formfield(self, **kwargs: Any) -> forms.Field | None:
        defaults: JsonObject = {"assume_scheme": "https", "form_class": PastedURLField}
        return super().formfield(**defaults | kwargs)
