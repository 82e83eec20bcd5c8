"""Changes of links raise the revision, on PostgreSQL. They change no row of a list."""

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn, revision_trigger


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "0027_brand_links"), ("jobsite", "0004_revision_functions")]
    operations = [RunSQLOn("postgresql", [revision_trigger("vacancies_brandlink", shared=0)])]
