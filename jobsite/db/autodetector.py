"""How `makemigrations` and `migrate` find out what changed."""

from typing import Any

from django.db import models
from django.db.migrations.autodetector import MigrationAutodetector

TEXTS = {"verbose_name", "help_text", "choices"}


class Autodetector(MigrationAutodetector):
    """Ignores the texts of fields, which the database does not have:
    a new wording needs no migration.
    """

    def deep_deconstruct(self, obj: object) -> Any:
        found = super().deep_deconstruct(obj)
        if not isinstance(obj, models.Field):
            return found
        path, arguments, options = found
        return (
            path,
            arguments,
            {name: value for name, value in options.items() if name not in TEXTS},
        )
