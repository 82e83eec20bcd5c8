"""Changes of forms and consent texts raise both numbers of the revision, on PostgreSQL."""

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn, revision_trigger

TABLES = ("forms_structure_form", "forms_structure_consenttext")


class Migration(migrations.Migration):
    replaces = [("forms_structure", "0002_revision_triggers")]
    dependencies = [("forms_structure", "0001_tables"), ("jobsite", "0002_postgresql")]
    operations = [RunSQLOn("postgresql", [revision_trigger(table, shared=1) for table in TABLES])]
