"""Model fields that several apps use."""

from typing import Any

from django.core.validators import URLValidator
from django.db import models
from django.forms import Field


def web_url(text: str) -> str:
    """Return `text` if it is an http or https URL, else ""."""
    return text if text.lower().startswith(("https://", "http://")) else ""


class WebURLField(models.URLField):
    """An http or https URL. Other schemes can run scripts or reveal data: they are not read either, because
    raw SQL, and earlier releases, may have written them."""

    default_validators = [URLValidator(schemes=["http", "https"])]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        defaults: dict[str, Any] = {"blank": True, "default": "", "max_length": 1000}
        super().__init__(*args, **defaults | kwargs)

    def from_db_value(self, value: str | None, *_context: object) -> str | None:
        return web_url(value) if value else value

    def formfield(self, **kwargs: Any) -> Field | None:
        return super().formfield(**{"assume_scheme": "https"} | kwargs)
