import sys

from django.db import DatabaseError, migrations

from jobsite.ops.online_migrations import without_lock_timeout

INDEX = "vacancies_search"


def make(apps, schema_editor):
    """Create a trigram index for substring search on PostgreSQL, without blocking writes."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        try:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        except DatabaseError as error:  # search works without it, but slower
            sys.stderr.write(f"\n  No index for search, see docs/operations/scale.md: {error}")
            return
    without_lock_timeout(
        schema_editor,
        f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}",  # left invalid by an interrupted run
        f"CREATE INDEX CONCURRENTLY {INDEX} ON vacancies_vacancy USING gin (search_text gin_trgm_ops)",
    )


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        without_lock_timeout(schema_editor, f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("vacancies", "0002_filters")]

    operations = [migrations.RunPython(make, drop, atomic=False)]
