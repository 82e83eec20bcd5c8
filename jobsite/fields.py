"""Model fields that several apps use."""

from typing import Any

from django.core.validators import URLValidator
from django.db import models
from django.forms import Field


class WebURLField(models.URLField):
    """An http or https URL. Other schemes can run scripts or reveal data."""

    default_validators = [URLValidator(schemes=["http", "https"])]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        defaults: dict[str, Any] = {"blank": True, "default": "", "max_length": 1000}
        super().__init__(*args, **defaults | kwargs)

    def formfield(self, **kwargs: Any) -> Field | None:
        return super().formfield(**{"assume_scheme": "https"} | kwargs)
