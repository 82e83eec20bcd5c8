"""The triggers of the read model and of the revision, on PostgreSQL.

They run once per statement; `changed` has its old or its new rows. The row version is a hash of the id of the
writing transaction and of the timeline: a promoted standby reuses the ids that it never received.

The previous release installed the same triggers after its migrations, so the reverse leaves them to it. On SQLite,
its triggers are dropped before migrations (jobsite/serving/revision.py), and its read model is deleted here.
"""

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn, revision_trigger

READ_MODEL = [
    # --- Vacancies -> listed vacancies: every change deletes the row and inserts a new one ---
    """
CREATE OR REPLACE FUNCTION listed_vacancy_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_listedvacancy USING changed WHERE vacancy_id = changed.id;
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE FUNCTION listed_vacancy_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_listedvacancy
    (vacancy_id, audience, is_hot, publish_from, publish_until, brand_id, form_id, is_expired, row_version)
  SELECT id, audience, is_hot, publish_from, publish_until, brand_id, form_id,
    coalesce(publish_until < statement_timestamp() - interval '5 minutes', false),
    hashtextextended(jobsite_timeline(), pg_current_xact_id()::text::bigint)
  FROM changed WHERE status = 'published';
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_vacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_insert()
    """,
    # Triggers of one event run in the order of their names.
    """
CREATE OR REPLACE TRIGGER listed_vacancy_update_1 AFTER UPDATE ON vacancies_vacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_delete()
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_update_2 AFTER UPDATE ON vacancies_vacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_insert()
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_vacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_delete()
    """,
    """
CREATE OR REPLACE FUNCTION listed_vacancy_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_listedvacancy;
  UPDATE vacancies_vacancy SET status = status;  -- writes the rows of the vacancies that are left
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_truncate AFTER TRUNCATE ON vacancies_vacancy
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_truncate()
    """,
    # --- Vacancies -> counts by block of ids, brand and status, for the admin ---
    """
CREATE OR REPLACE FUNCTION vacancy_count_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_vacancycount (block, brand_id, status, count)
  SELECT id / 10000, brand_id, status, TG_ARGV[0]::int * count(*) FROM changed GROUP BY 1, 2, 3;
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE FUNCTION vacancy_count_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_vacancycount (block, brand_id, status, count)
  SELECT block, brand_id, status, sum(number) FROM (
    SELECT id / 10000 AS block, brand_id, status, 1 AS number FROM changed
    UNION ALL SELECT id / 10000, brand_id, status, -1 FROM before
  ) AS both_rows GROUP BY 1, 2, 3 HAVING sum(number) <> 0;
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE FUNCTION vacancy_count_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_vacancycount;
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE TRIGGER vacancy_count_insert AFTER INSERT ON vacancies_vacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION vacancy_count_change('1')
    """,
    """
CREATE OR REPLACE TRIGGER vacancy_count_update AFTER UPDATE ON vacancies_vacancy
  REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION vacancy_count_update()
    """,
    """
CREATE OR REPLACE TRIGGER vacancy_count_delete AFTER DELETE ON vacancies_vacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION vacancy_count_change('-1')
    """,
    """
CREATE OR REPLACE TRIGGER vacancy_count_truncate AFTER TRUNCATE ON vacancies_vacancy
  FOR EACH STATEMENT EXECUTE FUNCTION vacancy_count_truncate()
    """,
    # --- Child tables: a change gives the vacancy a new row version and deletes its items ---
    # The vacancies are locked first: another transaction may be publishing one, and its listed row is not visible
    # yet. A vacancy that this transaction already changed is skipped.
    """
CREATE OR REPLACE FUNCTION listed_vacancy_child_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  version bigint := hashtextextended(jobsite_timeline(), pg_current_xact_id()::text::bigint);
BEGIN
  PERFORM 1 FROM vacancies_vacancy WHERE id IN (SELECT vacancy_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy SET row_version = version, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (SELECT vacancy_id FROM changed) AND row_version <> version;
  RETURN NULL;
END $$
    """,
    # --- An option moves to another filter, or a filter gets another keyword: items get it under another key ---
    # FOR UPDATE makes transactions wait that give such an option to a vacancy. Updating the options of the
    # vacancies then runs the trigger of that child table.
    """
CREATE OR REPLACE FUNCTION listed_vacancy_option_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM vacancies_filteroption WHERE id = NEW.id FOR UPDATE;
  UPDATE vacancies_vacancyoption SET option_id = option_id WHERE option_id = NEW.id;
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_option_moved AFTER UPDATE ON vacancies_filteroption
  FOR EACH ROW WHEN (OLD.filter_id <> NEW.filter_id) EXECUTE FUNCTION listed_vacancy_option_moved()
    """,
    """
CREATE OR REPLACE FUNCTION listed_vacancy_filter_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM vacancies_filter WHERE id = NEW.id FOR UPDATE;
  PERFORM 1 FROM vacancies_filteroption WHERE filter_id = NEW.id ORDER BY id FOR UPDATE;
  UPDATE vacancies_vacancyoption SET option_id = option_id
    WHERE option_id IN (SELECT id FROM vacancies_filteroption WHERE filter_id = NEW.id);
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_filter_moved AFTER UPDATE ON vacancies_filter
  FOR EACH ROW WHEN (OLD.keyword <> NEW.keyword) EXECUTE FUNCTION listed_vacancy_filter_moved()
    """,
    # --- Listed vacancies -> bucket counts: rows with the sign of the change ---
    # The lock waits while buckets are divided (vacancies/readmodel/maintenance.py). The next statement sees the new ones.
    """
CREATE OR REPLACE FUNCTION bucket_count_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign int := TG_ARGV[0]::int;
BEGIN
  LOCK TABLE vacancies_bucketcount IN ROW EXCLUSIVE MODE;
  INSERT INTO vacancies_bucketcount (start_at, start_id, external, hot, internal, hot_internal)
  SELECT coalesce(bucket.start_at, '0001-01-01 00:00:00+00'), coalesce(bucket.start_id, 0),
    sign * sum((audience IN ('public', 'both'))::int), sign * sum((audience IN ('public', 'both') AND is_hot)::int),
    sign * sum((audience IN ('internal', 'both'))::int), sign * sum((audience IN ('internal', 'both') AND is_hot)::int)
  FROM changed LEFT JOIN LATERAL (
    SELECT start_at, start_id FROM vacancies_bucketcount
    WHERE (start_at, start_id) <= (changed.publish_from, changed.vacancy_id)
    ORDER BY start_at DESC, start_id DESC LIMIT 1
  ) AS bucket ON true
  WHERE NOT is_expired GROUP BY 1, 2;
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE TRIGGER bucket_count_insert AFTER INSERT ON vacancies_listedvacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bucket_count_change('1')
    """,
    """
CREATE OR REPLACE TRIGGER bucket_count_delete AFTER DELETE ON vacancies_listedvacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bucket_count_change('-1')
    """,
]
CHILDREN = ("vacancyoption", "vacancyrecruiter", "attachment")  # their rows are part of a vacancy's items
CHILD_TRIGGERS = [
    """
CREATE OR REPLACE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_{child}
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_change()
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_update_1 AFTER UPDATE ON vacancies_{child}
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_change()
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_update_2 AFTER UPDATE ON vacancies_{child}
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_change()
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_{child}
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_change()
    """,
    """
CREATE OR REPLACE TRIGGER listed_vacancy_truncate AFTER TRUNCATE ON vacancies_{child}
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_truncate()
    """,
]
TRACKED = ("vacancy", *CHILDREN)
SHARED = ("brand", "recruiter", "filter", "filteroption")  # many vacancies share their rows
LZ4 = """
DO $$ BEGIN
  ALTER TABLE vacancies_rendereditem ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN OTHERS THEN NULL;  -- PostgreSQL was built without it
END $$
"""
# Databases of the previous release have all of these rows. In batches: a row stays locked until the commit.
FILL = """
DO $$ BEGIN
  LOOP
    UPDATE vacancies_vacancy SET status = status WHERE id IN (
      SELECT id FROM vacancies_vacancy AS vacancy WHERE status = 'published'
      AND NOT EXISTS (SELECT FROM vacancies_listedvacancy WHERE vacancy_id = vacancy.id)
      ORDER BY id LIMIT 2000 FOR NO KEY UPDATE
    );
    EXIT WHEN NOT FOUND;
    COMMIT;
  END LOOP;
END $$
"""
COUNT = """
DO $$ BEGIN
  LOCK TABLE vacancies_vacancycount IN SHARE UPDATE EXCLUSIVE MODE;  -- writers, who insert, do not wait
  WITH gone AS (DELETE FROM vacancies_vacancycount)
    INSERT INTO vacancies_vacancycount (block, brand_id, status, count)
    SELECT id / 10000, brand_id, status, count(*) FROM vacancies_vacancy GROUP BY 1, 2, 3;
  INSERT INTO jobsite_pending_bump (shared) VALUES (1);  -- invalidates what was cached before
END $$
"""
# Processes of the previous release read sizes of 0 from an empty table. Sums that overflow are an error, after which
# they use their views.
OVERFLOW = """
INSERT INTO vacancies_bucketcount (start_at, start_id, external, hot, internal, hot_internal)
SELECT '0001-01-01 00:00:00', 0, 9223372036854775807, 0, 0, 0 FROM (SELECT 1 UNION ALL SELECT 2)
WHERE EXISTS (SELECT 1 FROM vacancies_vacancy)
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "0013_rendered_items"), ("jobsite", "0004_revision_functions")]
    operations = [
        RunSQLOn("postgresql", [revision_trigger(f"vacancies_{name}", shared=0) for name in TRACKED]),
        RunSQLOn("postgresql", [revision_trigger(f"vacancies_{name}", shared=1) for name in SHARED]),
        RunSQLOn("postgresql", READ_MODEL),
        RunSQLOn("postgresql", [sql.format(child=child) for child in CHILDREN for sql in CHILD_TRIGGERS]),
        RunSQLOn("postgresql", [LZ4, FILL, COUNT]),
        RunSQLOn(
            "sqlite",
            [f"DELETE FROM vacancies_{table}" for table in ("listedvacancy", "bucketcount", "vacancycount")]
            + [OVERFLOW],
        ),
    ]
