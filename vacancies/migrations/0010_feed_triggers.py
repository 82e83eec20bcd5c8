"""The triggers on PostgreSQL that write the tables of the feed. Those on SQLite are in
vacancies/feed/triggers.py.

`mark` is that of the transaction. A flag says that clients may have read the old row: it was published in that list
no later than five minutes from now, which covers clocks that differ and late replicas. A second change in one
transaction sets no flag, because nobody read what the first one wrote.
"""

from importlib import import_module

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn

BEFORE = import_module("vacancies.migrations.0004_postgresql").CHILD_CHANGE
INTO = """INSERT INTO vacancies_feedentry AS entry
    (vacancy_id, mark, was_external, was_internal, has_moved)"""
ADD = """ON CONFLICT (vacancy_id) DO UPDATE SET
    mark = excluded.mark,
    was_external = entry.was_external OR (excluded.was_external AND entry.mark <> excluded.mark),
    was_internal = entry.was_internal OR (excluded.was_internal AND entry.mark <> excluded.mark),
    has_moved = entry.has_moved OR excluded.has_moved;
  IF FOUND THEN PERFORM jobsite_note_change(); END IF;"""


def was(row: str, audience: str) -> str:
    return (
        f"coalesce({row}.status = 'published' AND {row}.audience IN ('{audience}', 'both') "
        f"AND {row}.publish_from <= statement_timestamp() + interval '5 minutes', false)"
    )


ENTRIES = f"""
CREATE OR REPLACE FUNCTION feed_vacancy_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  {INTO} SELECT id, jobsite_mark(), false, false, false FROM changed WHERE status = 'published' ORDER BY id
  {ADD}
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION feed_vacancy_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  {INTO}
  SELECT coalesce(before.id, changed.id), jobsite_mark(), {was("before", "public")}, {was("before", "internal")},
    coalesce(before.status = 'published', false)
      AND NOT coalesce(changed.status = 'published' AND changed.brand_id IS NOT DISTINCT FROM before.brand_id, false)
  FROM before FULL JOIN changed ON before.id = changed.id
  WHERE before.status = 'published' OR changed.status = 'published' ORDER BY 1
  {ADD}
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION feed_vacancy_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  {INTO} SELECT id, jobsite_mark(), {was("changed", "public")}, {was("changed", "internal")}, true
    FROM changed WHERE status = 'published' ORDER BY id
  {ADD}
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION feed_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  {INTO} SELECT vacancy_id, jobsite_mark(), audience IN ('public', 'both'), audience IN ('internal', 'both'), true
    FROM vacancies_listedvacancy ORDER BY vacancy_id
  {ADD}
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER feed_vacancy_insert AFTER INSERT ON vacancies_vacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION feed_vacancy_insert();

CREATE OR REPLACE TRIGGER feed_vacancy_update AFTER UPDATE ON vacancies_vacancy
  REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION feed_vacancy_update();

CREATE OR REPLACE TRIGGER feed_vacancy_delete AFTER DELETE ON vacancies_vacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION feed_vacancy_delete();
"""
# Its name is before those of the triggers that empty the listed vacancies: triggers run in the order of their names.
TRUNCATE = """
CREATE OR REPLACE TRIGGER feed_truncate AFTER TRUNCATE ON vacancies_{table}
  FOR EACH STATEMENT EXECUTE FUNCTION feed_truncate()
"""
TRUNCATED = ("vacancy", "vacancyoption", "vacancyrecruiter", "attachment", "place")
# As in migration 0004, and the entries.
CHILD_CHANGE = f"""
CREATE OR REPLACE FUNCTION listed_vacancy_child_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  version bigint := hashtextextended(jobsite_timeline(), pg_current_xact_id()::text::bigint);
BEGIN
  PERFORM 1 FROM vacancies_vacancy WHERE id IN (SELECT vacancy_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy SET row_version = version
    WHERE vacancy_id IN (SELECT vacancy_id FROM changed) AND row_version <> version;
  {INTO} SELECT id, version, {was("vacancy", "public")}, {was("vacancy", "internal")}, false
    FROM vacancies_vacancy AS vacancy
    WHERE id IN (SELECT vacancy_id FROM changed) AND status = 'published' ORDER BY id
  {ADD}
  RETURN NULL;
END $$;
"""
TOUCH = """
CREATE OR REPLACE FUNCTION feed_touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_feedtouch (mark, kind, object_id) VALUES (jobsite_mark(), TG_ARGV[0], NEW.id);
  PERFORM jobsite_note_change();
  RETURN NULL;
END $$;
"""
TOUCH_TRIGGER = """
CREATE OR REPLACE TRIGGER feed_touch AFTER UPDATE ON vacancies_{table} FOR EACH ROW WHEN ({condition})
  EXECUTE FUNCTION feed_touch('{kind}')
"""
# The columns that items show, by table: those of an option that move it rewrite its vacancies.
SHOWN = {
    "filteroption": ("option", "label"),
    "brand": (
        "brand",
        "name slug description url vacancy_url host icon_small icon_small_url icon_large icon_large_url",
    ),
    "recruiter": (
        "recruiter",
        "name function email is_email_public phone is_phone_public image image_url",
    ),
}


def touch_trigger(table: str) -> str:
    kind, columns = SHOWN[table]
    condition = " OR ".join(f"OLD.{name} IS DISTINCT FROM NEW.{name}" for name in columns.split())
    return TOUCH_TRIGGER.format(table=table, kind=kind, condition=condition)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "0009_webhooks"), ("jobsite", "0004_commit_functions")]
    operations = [
        RunSQLOn("postgresql", [ENTRIES, TOUCH]),
        RunSQLOn("postgresql", [CHILD_CHANGE], [BEFORE]),
        RunSQLOn("postgresql", [TRUNCATE.format(table=table) for table in TRUNCATED]),
        RunSQLOn("postgresql", [touch_trigger(table) for table in SHOWN]),
    ]
