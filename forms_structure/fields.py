"""The model field for the structure of a form."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from forms_structure import structure
from jobsite.types import JsonObject


class StructureField(models.JSONField):
    """A structure (see `forms_structure.structure`). Every write, including `update()` and bulk
    inserts, validates and sanitises it, or raises StructureError.
    """

    def __init__(self, **kwargs: Any) -> None:
        defaults: JsonObject = {"default": list, "blank": True}
        super().__init__(**defaults | kwargs)

    def clean(self, value: object, model_instance: models.Model | None) -> structure.Structure:
        return structure.clean(value)

    def get_db_prep_save(self, value: object, connection: BaseDatabaseWrapper) -> object:
        return super().get_db_prep_save(structure.clean(value), connection)
