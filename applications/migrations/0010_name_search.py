import sys

from django.db import migrations

from jobsite.ops.online_migrations import without_lock_timeout

INDEX = "applications_name_search"
# As in jobsite/office/search.py.
NAMES = "upper(given_name || ' ' || family_name || ' ' || email_folded)"


def make(apps, schema_editor):
    """Create a trigram index for the search of applicants on PostgreSQL, without blocking writes."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")  # vacancies.0003 created it
        if cursor.fetchone() is None:
            sys.stderr.write("\n  No index for the search of names, see docs/operations/scale.md")
            return
    without_lock_timeout(
        schema_editor,
        f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}",  # left invalid by an interrupted run
        f"CREATE INDEX CONCURRENTLY {INDEX} ON applications_application USING gin (({NAMES}) gin_trgm_ops)",
    )


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        without_lock_timeout(schema_editor, f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("applications", "0009_invitations"), ("vacancies", "0011_title_search")]

    operations = [migrations.RunPython(make, drop, atomic=False)]
