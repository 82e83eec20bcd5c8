"""The triggers of the texts in other languages on PostgreSQL: those of each table whose rows are
part of the items and of the search.
"""

from importlib import import_module

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn, revision_trigger

POSTGRESQL = import_module("vacancies.migrations.0004_postgresql")
FEED = import_module("vacancies.migrations.0010_feed_triggers")
TEXT = "vacancytext"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "0011_vacancy_texts")]
    operations = [
        RunSQLOn(
            "postgresql",
            [
                revision_trigger(f"vacancies_{TEXT}", shared=0),
                POSTGRESQL.CHILD_TRIGGERS.format(child=TEXT),
                POSTGRESQL.SEARCH_TRIGGERS.format(name=TEXT, kind="child"),
                POSTGRESQL.SEARCH_CHILD_UPDATES.format(name=TEXT),
                FEED.TRUNCATE.format(table=TEXT),
            ],
        )
    ]
