"""Migration operations for large tables.

On PostgreSQL they block readers and writers no longer than a change of the catalogue takes. On
other databases they are Django's operations, each in a transaction. A migration that uses them has
`atomic = False` and can be interrupted: every operation can be repeated.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from django.db import DatabaseError, migrations, models, router, transaction
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


@contextmanager
def _atomic(schema_editor: BaseDatabaseSchemaEditor) -> Iterator[None]:
    """Run the block and the deferred SQL in one transaction.

    SQLite rebuilds a table in several steps: if it were interrupted between two, the table would be
    missing.
    """
    with transaction.atomic(using=schema_editor.connection.alias):
        yield
        while schema_editor.deferred_sql:
            schema_editor.execute(schema_editor.deferred_sql.pop(0), params=None)


def _columns(schema_editor: BaseDatabaseSchemaEditor, table: str) -> set[str]:
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        return {
            column.name for column in connection.introspection.get_table_description(cursor, table)
        }


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


class AddForeignKeyOnline(migrations.AddField):
    """Adds a nullable column, which is fast, and creates its index concurrently."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        field = model._meta.get_field(self.name)
        is_missing = field.column not in _columns(schema_editor, model._meta.db_table)
        if not _is_online(schema_editor):
            if is_missing:
                with _atomic(schema_editor):
                    super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        if is_missing:
            with schema_editor.connection.schema_editor(atomic=True) as inner:
                super().database_forwards(app_label, inner, from_state, to_state)
                inner.deferred_sql.clear()  # it creates the index
        editor: Any = schema_editor  # the stubs leave out the method
        for statement in editor._field_indexes_sql(model, field):
            _create_index(schema_editor, str(statement))

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        with nullcontext() if _is_online(schema_editor) else _atomic(schema_editor):
            super().database_backwards(app_label, schema_editor, from_state, to_state)


def _replace_offline(
    schema_editor: BaseDatabaseSchemaEditor,
    model: type[models.Model],
    before: models.BaseConstraint | None,
    after: models.BaseConstraint | None,
) -> None:
    """Replace the constraint `before` by `after`, unless an interrupted attempt did so."""
    with schema_editor.connection.cursor() as cursor:
        introspection = schema_editor.connection.introspection
        existing = introspection.get_constraints(cursor, model._meta.db_table)
    with _atomic(schema_editor):
        if before and before.name in existing:
            schema_editor.remove_constraint(model, before)  # remakes the table of this model
            existing.pop(before.name)
        if after and after.name not in existing:
            schema_editor.add_constraint(model, after)


class AddConstraintOnline(migrations.AddConstraint):
    """Adds a constraint, or replaces the one of the same name. It applies to new rows immediately;
    existing rows are validated while others read and write. A conditional unique constraint is an
    index, which is created concurrently.
    """

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        state.remove_constraint(app_label, self.model_name_lower, self.constraint.name)
        super().state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        self._replace(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        self._replace(app_label, schema_editor, from_state, to_state)

    def _replace(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        old, new = (
            state.apps.get_model(app_label, self.model_name) for state in (from_state, to_state)
        )
        name, table = self.constraint.name, new._meta.db_table
        before, after = (
            next((c for c in m._meta.constraints if c.name == name), None) for m in (old, new)
        )
        if not _is_online(schema_editor):
            _replace_offline(schema_editor, new, before, after)
        elif isinstance(self.constraint, models.UniqueConstraint):
            if after:
                _create_index(schema_editor, str(after.create_sql(new, schema_editor)))
            else:
                without_lock_timeout(schema_editor, f'DROP INDEX CONCURRENTLY IF EXISTS "{name}"')
        else:
            add = f", ADD {after.constraint_sql(new, schema_editor)} NOT VALID" if after else ""
            schema_editor.execute(
                f'ALTER TABLE "{table}" DROP CONSTRAINT IF EXISTS "{name}"{add}', params=None
            )
            if after:
                statement = f'ALTER TABLE "{table}" VALIDATE CONSTRAINT "{name}"'
                without_lock_timeout(schema_editor, statement)


class RunSQLOn(migrations.RunSQL):
    """Runs statements on one kind of database. The reverse does nothing."""

    def __init__(self, vendor: str, sql: list[str]) -> None:
        super().__init__([*sql], migrations.RunSQL.noop)
        self.vendor = vendor

    def deconstruct(self) -> tuple[str, list[object], dict[str, object]]:
        return type(self).__name__, [self.vendor, self.sql], {}

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
        "CREATE OR REPLACE TRIGGER bump_revision "
        f"AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION jobsite_add_pending_bump({shared})"
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
                "SELECT oid::regprocedure FROM pg_proc WHERE prosrc ~ %s "
                "AND pronamespace = current_schema()::regnamespace",
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
