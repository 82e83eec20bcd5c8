"""Migration operations for big tables: on PostgreSQL each keeps readers and writers waiting for no longer
than a change of the catalogue takes. Elsewhere they are Django's own, each in a transaction.

A migration with one of these has `atomic = False`, and may be interrupted: each can be done again.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import migrations, router, transaction


def _is_online(schema_editor: Any) -> bool:
    return schema_editor.connection.vendor == "postgresql"


def patiently(schema_editor: Any, *statements: str) -> None:
    """Run what waits for older transactions and keeps nobody waiting for itself meanwhile."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        (before,) = cursor.fetchone()
    schema_editor.execute("SET lock_timeout = 0", params=None)
    try:
        for statement in statements:
            schema_editor.execute(statement, params=None)
    finally:
        schema_editor.execute(f"SET lock_timeout = '{before}'", params=None)


def _make_index(schema_editor: Any, statement: str) -> None:
    """Make the index that `statement` is about, without its half where an earlier try left one."""
    name = re.match(r'CREATE INDEX "([^"]+)"', statement)[1]  # type: ignore[index]
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(quote_ident(%s))", [name]
        )
        found = cursor.fetchone()
    if found and not found[0]:
        patiently(schema_editor, f'DROP INDEX CONCURRENTLY "{name}"')
    if not (found and found[0]):
        patiently(schema_editor, statement.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY", 1))


@contextmanager
def _whole(schema_editor: Any) -> Iterator[None]:
    """All or nothing, also of what the editor would leave for the end: SQLite makes a table anew, and a run
    that is ended between two steps of that would leave none."""
    with transaction.atomic(using=schema_editor.connection.alias):
        yield
        while schema_editor.deferred_sql:
            schema_editor.execute(schema_editor.deferred_sql.pop(0), params=None)


def _columns(schema_editor: Any, table: str) -> set[str]:
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        return {column.name for column in connection.introspection.get_table_description(cursor, table)}


class AddIndexOnline(migrations.AddIndex):
    """Makes the index while others read and write."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        if not _is_online(schema_editor):
            with schema_editor.connection.cursor() as cursor:
                introspection = schema_editor.connection.introspection
                there = introspection.get_constraints(cursor, model._meta.db_table)
            if self.index.name not in there:
                super().database_forwards(app_label, schema_editor, from_state, to_state)
        elif router.allow_migrate_model(schema_editor.connection.alias, model):
            _make_index(schema_editor, str(self.index.create_sql(model, schema_editor)))

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if not _is_online(schema_editor):
            super().database_backwards(app_label, schema_editor, from_state, to_state)
        else:
            patiently(schema_editor, f'DROP INDEX CONCURRENTLY IF EXISTS "{self.index.name}"')


class AddForeignKeyOnline(migrations.AddField):
    """Adds a column without a value, which is quick, and makes its index while others read and write."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        field = model._meta.get_field(self.name)
        is_missing = field.column not in _columns(schema_editor, model._meta.db_table)
        if not _is_online(schema_editor):
            if is_missing:
                with _whole(schema_editor):
                    super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        if is_missing:
            with schema_editor.connection.schema_editor(atomic=True) as inner:
                super().database_forwards(app_label, inner, from_state, to_state)
                inner.deferred_sql.clear()  # the index
        for statement in schema_editor._field_indexes_sql(model, field):
            _make_index(schema_editor, str(statement))


class ReplaceConstraintOnline(migrations.AddConstraint):
    """Puts a constraint in the place of another one of its name. It holds for what is written from then on;
    what is there already is looked at while others read and write."""

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.remove_constraint(app_label, self.model_name_lower, self.constraint.name)
        super().state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        self._replace(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        self._replace(app_label, schema_editor, from_state, to_state)

    def _replace(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        old, new = (state.apps.get_model(app_label, self.model_name) for state in (from_state, to_state))
        name, table = self.constraint.name, new._meta.db_table
        was, becomes = (next(c for c in m._meta.constraints if c.name == name) for m in (old, new))
        if not _is_online(schema_editor):
            with _whole(schema_editor):
                schema_editor.remove_constraint(old, was)
                schema_editor.add_constraint(new, becomes)
            return
        rule = becomes.constraint_sql(new, schema_editor)
        schema_editor.execute(
            f'ALTER TABLE "{table}" DROP CONSTRAINT IF EXISTS "{name}", ADD {rule} NOT VALID', params=None
        )
        patiently(schema_editor, f'ALTER TABLE "{table}" VALIDATE CONSTRAINT "{name}"')


class DropTriggers(migrations.RunPython):
    """On the way back: drop the functions that name tables which are about to go, and their triggers.
    SQLite's are dropped before every migration."""

    def __init__(self, tables: str) -> None:
        """`tables` is a regular expression."""

        def drop(apps: Any, schema_editor: Any) -> None:
            if not _is_online(schema_editor):
                return
            with schema_editor.connection.cursor() as cursor:
                cursor.execute(
                    "SELECT oid::regprocedure FROM pg_proc WHERE prosrc ~ %s "
                    "AND pronamespace = current_schema()::regnamespace",
                    [rf"\m({tables})\M"],
                )
                for (function,) in cursor.fetchall():
                    cursor.execute(f"DROP FUNCTION {function} CASCADE")

        super().__init__(migrations.RunPython.noop, drop)
        self.tables = tables

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [self.tables], {}
