"""Short forms for the migrations that create the first tables."""

from collections.abc import Sequence

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

EMPTY = {"blank": True, "default": ""}
EMPTY_IN_SQL = {**EMPTY, "db_default": ""}
NULL = {"null": True, "blank": True}


def fields(**columns: models.Field) -> list[tuple[str, models.Field]]:
    """Return the fields of a table, after an `id` unless one of them is the primary key."""
    if any(field.primary_key for field in columns.values()):
        return [*columns.items()]
    key = models.BigAutoField("ID", primary_key=True, auto_created=True, serialize=False)
    return [("id", key), *columns.items()]


class CreateModels(Operation):
    """Creates many tables. One operation each would render all models again that the table refers
    to.
    """

    def __init__(self, tables: Sequence[migrations.CreateModel]) -> None:
        self.tables = tables

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        state.__dict__.pop("apps", None)  # the rendered models
        for table in self.tables:
            table.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for table in self.tables:
            table.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for table in reversed(self.tables):
            table.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create {len(self.tables)} tables"
