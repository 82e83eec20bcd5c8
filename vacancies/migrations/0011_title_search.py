import sys

from django.db import migrations

from jobsite.ops.online_migrations import without_lock_timeout

INDEX = "vacancies_title_search"


def make(apps, schema_editor):
    """Create a trigram index for the search of titles on PostgreSQL, without blocking writes."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")  # 0003 created it
        if cursor.fetchone() is None:
            sys.stderr.write("\n  No index for the search of titles, see docs/operations/scale.md")
            return
    without_lock_timeout(
        schema_editor,
        f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}",  # left invalid by an interrupted run
        f"CREATE INDEX CONCURRENTLY {INDEX} ON vacancies_vacancy USING gin (title_folded gin_trgm_ops)",
    )


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        without_lock_timeout(schema_editor, f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("vacancies", "0010_figures")]

    operations = [migrations.RunPython(make, drop, atomic=False)]
