-- Functions that raise the revision once per transaction, just before its commit.
--
-- An update of the one row would lock it until the commit, and serialize all writers. So the first change of a
-- transaction inserts one marker row, and a deferred trigger on it raises the numbers. jobsite/serving/revision.py
-- adds the triggers of the tables.

CREATE TABLE IF NOT EXISTS jobsite_pending_bump (id bigserial PRIMARY KEY, shared int NOT NULL DEFAULT 0)

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
END $$

CREATE OR REPLACE FUNCTION jobsite_bump_revision() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO jobsite_revision AS r (id, number, shared) VALUES (1, 1, NEW.shared)
  ON CONFLICT (id) DO UPDATE SET number = r.number + 1, shared = r.shared + NEW.shared;
  DELETE FROM jobsite_pending_bump WHERE id = NEW.id;
  RETURN NULL;
END $$

DROP TRIGGER IF EXISTS jobsite_bump_revision ON jobsite_pending_bump

CREATE CONSTRAINT TRIGGER jobsite_bump_revision AFTER INSERT ON jobsite_pending_bump
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION jobsite_bump_revision()
