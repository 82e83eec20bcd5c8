"""Raises the revision with every change of what the public sees, by triggers: bulk updates, imports and
SQL from elsewhere count too, and a number is visible exactly when its change is."""

from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError, connection, connections

READ = "SELECT number FROM jobsite_revision WHERE id = 1"
VERBS = ("INSERT", "UPDATE", "DELETE")

# Every writer would lock the one row until it commits. So a transaction leaves a note once, and a
# deferred trigger on the note raises the number as the last thing before the commit.
POSTGRESQL = (
    "CREATE TABLE IF NOT EXISTS jobsite_note (id bigserial PRIMARY KEY)",
    """
    CREATE OR REPLACE FUNCTION jobsite_note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('jobsite.noted', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        PERFORM set_config('jobsite.noted', pg_current_xact_id()::text, true);
        INSERT INTO jobsite_note DEFAULT VALUES;
      END IF;
      RETURN NULL;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION jobsite_raise() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO jobsite_revision (id, number) VALUES (1, 1)
      ON CONFLICT (id) DO UPDATE SET number = jobsite_revision.number + 1;
      DELETE FROM jobsite_note WHERE id = NEW.id;
      RETURN NULL;
    END $$
    """,
    """
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'jobsite_raise') THEN
        CREATE CONSTRAINT TRIGGER jobsite_raise AFTER INSERT ON jobsite_note
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION jobsite_raise();
      END IF;
    END $$
    """,
)
SQLITE_RAISE = """
    INSERT INTO jobsite_revision (id, number) VALUES (1, 1)
    ON CONFLICT (id) DO UPDATE SET number = number + 1
"""


def current() -> int:
    """Return the revision of the database, by the cheapest way to ask for it: it is asked for on every
    request. Raises a DatabaseError without one."""
    connection.ensure_connection()
    raw: Any = connection.connection
    try:
        if connection.vendor == "postgresql":  # past Django's cursor, which prepares nothing
            row = raw.execute(READ, prepare=True).fetchone()
        else:
            row = raw.execute(READ).fetchone()
    except Exception as error:
        connection.errors_occurred = True  # so that the next request looks whether it is still usable
        raise DatabaseError(str(error)) from error
    return row[0] if row else 0


def watch(sender: Any, using: str, **kwargs: Any) -> None:
    """After every migration: let the tables of `sender.shown`, models by name, raise the revision. SQLite
    loses triggers when Django makes a table anew."""
    names = getattr(sender, "shown", ())
    if not names:
        return
    database = connections[using]
    tables = set(database.introspection.table_names())
    watched = [model._meta.db_table for model in map(sender.get_model, names)]
    if "jobsite_revision" not in tables or not tables.issuperset(watched):
        return  # on the way to an older migration
    with database.cursor() as cursor:
        for statement in _statements(database.vendor, watched):
            cursor.execute(statement)


def _statements(vendor: str, tables: list[str]) -> Iterator[str]:
    if vendor == "sqlite":
        for table in tables:
            for verb in VERBS:
                yield (
                    f"CREATE TRIGGER IF NOT EXISTS {table}_{verb.lower()}_raises AFTER {verb} ON {table} "
                    f"BEGIN {SQLITE_RAISE}; END"
                )
    elif vendor == "postgresql":
        yield from POSTGRESQL
        for table in tables:
            yield f"""
                DO $$ BEGIN
                  IF NOT EXISTS (
                    SELECT FROM pg_trigger WHERE tgname = 'raises' AND tgrelid = '{table}'::regclass
                  ) THEN
                    CREATE TRIGGER raises AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}
                    FOR EACH STATEMENT EXECUTE FUNCTION jobsite_note();
                  END IF;
                END $$
            """
