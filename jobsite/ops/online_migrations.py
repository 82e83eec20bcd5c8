"""Migration operations for large tables.

On PostgreSQL they block readers and writers no longer than a change of the catalogue takes. On
SQLite they are Django's operations. A migration that uses them has `atomic = False` and can be
interrupted: every operation can be repeated.
"""

import sys
from collections.abc import Sequence

from django.db import DatabaseError, migrations, router
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


def _is_online(schema_editor: BaseDatabaseSchemaEditor) -> bool:
    return schema_editor.connection.vendor == "postgresql"


def without_lock_timeout(schema_editor: BaseDatabaseSchemaEditor, *statements: str) -> None:
    """Run statements that wait for older transactions, but block nobody while they wait."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        (before,) = cursor.fetchone()
    schema_editor.execute("SET lock_timeout = 0", params=None)
    try:
        for statement in statements:
            schema_editor.execute(statement, params=None)
    finally:
        schema_editor.execute(f"SET lock_timeout = '{before}'", params=None)


def _create_index(schema_editor: BaseDatabaseSchemaEditor, statement: str) -> None:
    """Create the index of `statement`; drop the invalid index of an interrupted attempt first."""
    name = statement.partition('INDEX "')[2].partition('"')[0]
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(quote_ident(%s))",
            [name],
        )
        found = cursor.fetchone()
    if found and not found[0]:
        without_lock_timeout(schema_editor, f'DROP INDEX CONCURRENTLY "{name}"')
    if not (found and found[0]):
        without_lock_timeout(schema_editor, statement.replace(" INDEX", " INDEX CONCURRENTLY", 1))


class AddIndexOnline(migrations.AddIndex):
    """Creates the index concurrently."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        if not _is_online(schema_editor):
            with schema_editor.connection.cursor() as cursor:
                introspection = schema_editor.connection.introspection
                existing = introspection.get_constraints(cursor, model._meta.db_table)
            if self.index.name not in existing:
                super().database_forwards(app_label, schema_editor, from_state, to_state)
        elif router.allow_migrate_model(schema_editor.connection.alias, model):
            _create_index(schema_editor, str(self.index.create_sql(model, schema_editor)))

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if not _is_online(schema_editor):
            super().database_backwards(app_label, schema_editor, from_state, to_state)
        else:
            without_lock_timeout(
                schema_editor, f'DROP INDEX CONCURRENTLY IF EXISTS "{self.index.name}"'
            )


class RunSQLOn(migrations.RunSQL):
    """Runs statements on one kind of database. Backwards, it runs those of `reverse`."""

    def __init__(self, vendor: str, sql: list[str], reverse: Sequence[str] = ()) -> None:
        super().__init__([*sql], [*reverse])
        self.vendor = vendor

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        return type(self).__name__, [self.vendor, self.sql, self.reverse_sql], {}

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if schema_editor.connection.vendor == self.vendor:
            super().database_backwards(app_label, schema_editor, from_state, to_state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if schema_editor.connection.vendor == self.vendor:
            super().database_forwards(app_label, schema_editor, from_state, to_state)


def revision_trigger(table: str, *, shared: int) -> str:
    """Return the statement for PostgreSQL that lets changes of `table` raise the revision.

    With `shared` 1, they raise both of its numbers.
    """
    return (
        "CREATE OR REPLACE TRIGGER bump_revision AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON "
        f"{table} FOR EACH STATEMENT EXECUTE FUNCTION jobsite_add_pending_bump({shared})"
    )


class DropTriggers(Operation):
    """Backwards: drops the trigger functions that use tables which are about to be dropped.

    SQLite's triggers are dropped before every migration (jobsite/serving/revision.py).
    """

    def __init__(self, tables: str) -> None:
        """`tables` is a regular expression."""
        self.tables = tables

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change nothing."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Change nothing."""

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if not _is_online(schema_editor):
            return
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                "SELECT oid::regprocedure FROM pg_proc WHERE prosrc ~ %s AND pronamespace = "
                "current_schema()::regnamespace",
                [rf"\m({self.tables})\M"],
            )
            for (function,) in cursor.fetchall():
                cursor.execute(f"DROP FUNCTION {function} CASCADE")


class AddTrigramIndexOnline(Operation):
    """Creates an index for searches within a text, on PostgreSQL with the extension pg_trgm."""

    def __init__(self, name: str, table: str, text: str) -> None:
        """`text` is a column, or an expression in parentheses."""
        self.name, self.table, self.text = name, table, text

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change nothing."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if _is_online(schema_editor):
            self.create(schema_editor)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if _is_online(schema_editor):
            without_lock_timeout(schema_editor, f'DROP INDEX CONCURRENTLY IF EXISTS "{self.name}"')

    def create(self, schema_editor: BaseDatabaseSchemaEditor) -> None:
        try:
            schema_editor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        except DatabaseError as error:  # search works without it, but slower
            sys.stderr.write(f"\n  No index {self.name}, see docs/operations/scale.md: {error}")
        else:
            columns = f"USING gin ({self.text} gin_trgm_ops)"
            _create_index(schema_editor, f'CREATE INDEX "{self.name}" ON {self.table} {columns}')
