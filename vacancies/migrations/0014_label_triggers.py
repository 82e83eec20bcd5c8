"""A change of the translations of an option is one of the items that show it (on PostgreSQL)."""

from importlib import import_module

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn

FEED = import_module("vacancies.migrations.0010_feed_triggers")
TRIGGER = FEED.TOUCH_TRIGGER.format(
    table="filteroption",
    kind="option",
    condition="OLD.label <> NEW.label OR OLD.translations <> NEW.translations",
)


class Migration(migrations.Migration):
    dependencies = [("vacancies", "0013_label_translations")]
    operations = [RunSQLOn("postgresql", [TRIGGER], [FEED.touch_trigger("filteroption")])]
