"""The functions that raise the revision on PostgreSQL, once per transaction, just before its commit.

An update of the one row would lock it until the commit, and serialize all writers. So the first change of a
transaction inserts one marker row, and a deferred trigger on it raises the numbers.
"""

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn

MARKER = """
CREATE TABLE IF NOT EXISTS jobsite_pending_bump (id bigserial PRIMARY KEY, shared int NOT NULL DEFAULT 0);

CREATE OR REPLACE FUNCTION jobsite_add_pending_bump() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  shared int := TG_ARGV[0]::int;
  added_in text := 'jobsite.pending_bump' || shared;
BEGIN
  IF current_setting(added_in, true) IS DISTINCT FROM pg_current_xact_id()::text THEN
    PERFORM set_config(added_in, pg_current_xact_id()::text, true);
    INSERT INTO jobsite_pending_bump (shared) VALUES (shared);
  END IF;
  RETURN NULL;
END $$;
"""
# The history that this server writes: PostgreSQL begins a new timeline with each promotion and each recovery to
# a point in time. pg_control_checkpoint() would show the old timeline until the checkpoint after a promotion.
TIMELINE = """
CREATE OR REPLACE FUNCTION jobsite_timeline() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
  RETURN (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
EXCEPTION WHEN OTHERS THEN  -- a managed service may not offer these functions; a save must not fail
  RETURN '';
END $$
"""
# On a new timeline, the numbers jump by 2^40 at least. The server that wrote the old one may have given out numbers
# that this one never received: less than 2^40. The jump is random, because two standbys that are promoted
# independently can begin timelines with the same number.
BUMP = """
CREATE OR REPLACE FUNCTION jobsite_bump_revision() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  this_timeline text := jobsite_timeline();
  jump bigint := 1099511627776 * (1 + random());
BEGIN
  INSERT INTO jobsite_revision AS r (id, number, shared, timeline) VALUES (1, 1, NEW.shared, this_timeline)
  ON CONFLICT (id) DO UPDATE SET
    number = r.number + 1 + CASE WHEN r.timeline = this_timeline THEN 0 ELSE jump END,
    shared = r.shared + NEW.shared + CASE WHEN r.timeline = this_timeline THEN 0 ELSE jump END,
    timeline = this_timeline;
  DELETE FROM jobsite_pending_bump WHERE id = NEW.id;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS jobsite_bump_revision ON jobsite_pending_bump;
CREATE CONSTRAINT TRIGGER jobsite_bump_revision AFTER INSERT ON jobsite_pending_bump
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION jobsite_bump_revision();
"""


class Migration(migrations.Migration):
    replaces = [("jobsite", "0004_revision_functions")]
    dependencies = [("jobsite", "0001_tables")]
    operations = [RunSQLOn("postgresql", [MARKER, TIMELINE, BUMP])]
