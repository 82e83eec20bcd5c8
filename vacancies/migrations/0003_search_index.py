import sys

from django.db import DatabaseError, migrations

from jobsite.ops.online_migrations import without_lock_timeout

INDEX = "vacancies_search"


def make(apps, schema_editor):
    """An index for what search asks, parts of words, on PostgreSQL; made beside the traffic."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        try:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        except DatabaseError as error:  # search works without it, and takes its time
            sys.stderr.write(f"\n  No index for search, see docs/operations/scale.md: {error}")
            return
    without_lock_timeout(
        schema_editor,
        f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}",  # half made by a run that was ended
        f"CREATE INDEX CONCURRENTLY {INDEX} ON vacancies_vacancy USING gin (search_text gin_trgm_ops)",
    )


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        without_lock_timeout(schema_editor, f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("vacancies", "0002_filters")]

    operations = [migrations.RunPython(make, drop, atomic=False)]
