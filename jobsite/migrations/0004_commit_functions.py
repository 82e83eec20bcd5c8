"""The functions on PostgreSQL that store the revision of each transaction that changed what a feed shows."""

from importlib import import_module

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn

BEFORE = import_module("jobsite.migrations.0002_postgresql").BUMP
# Triggers call it after they wrote rows with the mark of the transaction.
NOTE = """
CREATE OR REPLACE FUNCTION jobsite_mark() RETURNS bigint LANGUAGE sql AS $$
  SELECT hashtextextended(jobsite_timeline(), pg_current_xact_id()::text::bigint)
$$;

CREATE OR REPLACE FUNCTION jobsite_note_change() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
  PERFORM set_config('jobsite.noted', pg_current_xact_id()::text, true);
END $$;
"""
# As in migration 0002, and: it stores the number of a noted transaction, and what a new timeline skips. A transaction
# that raises the number twice has the second one.
BUMP = """
CREATE OR REPLACE FUNCTION jobsite_bump_revision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  this_timeline text := jobsite_timeline();
  jump bigint := 1099511627776 * (1 + random());
  old jobsite_revision%ROWTYPE;
  raised bigint;
BEGIN
  SELECT * INTO old FROM jobsite_revision WHERE id = 1 FOR UPDATE;
  INSERT INTO jobsite_revision AS r (id, number, shared, timeline) VALUES (1, 1, NEW.shared, this_timeline)
  ON CONFLICT (id) DO UPDATE SET
    number = r.number + 1 + CASE WHEN r.timeline = this_timeline THEN 0 ELSE jump END,
    shared = r.shared + NEW.shared + CASE WHEN r.timeline = this_timeline THEN 0 ELSE jump END,
    timeline = this_timeline
  RETURNING r.number INTO raised;
  IF old.timeline <> this_timeline THEN
    INSERT INTO jobsite_cursorgap (after, before) VALUES (old.number, raised);
  END IF;
  IF current_setting('jobsite.noted', true) = pg_current_xact_id()::text THEN
    INSERT INTO jobsite_commit (number, mark, at) VALUES (raised, jobsite_mark(), clock_timestamp())
    ON CONFLICT (mark) DO UPDATE SET number = excluded.number;
  END IF;
  DELETE FROM jobsite_pending_bump WHERE id = NEW.id;
  RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("jobsite", "0003_commits")]
    operations = [RunSQLOn("postgresql", [NOTE, BUMP], [BEFORE])]
