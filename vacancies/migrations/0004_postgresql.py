"""The functions, triggers and indexes that only PostgreSQL has.

The triggers run once per statement; `changed` has its old or its new rows. Those of the read model give a vacancy a
new row version: a hash of the id of the writing transaction and of the timeline, because a promoted standby reuses
the ids that it never received. Those of the search insert rows only, so that writers do not wait for each other.

SQLite has no read model. Its other triggers are in jobsite/serving/revision.py and vacancies/search/triggers.py.
"""

from django.db import migrations

from jobsite.ops.online_migrations import AddTrigramIndexOnline, RunSQLOn, revision_trigger

CHILDREN = (
    "vacancyoption",
    "vacancyrecruiter",
    "attachment",
    "place",
)  # their rows are part of the items
TRACKED = ("vacancy", *CHILDREN, "brandlink")
SHARED = ("brand", "recruiter", "filter", "filteroption")  # many vacancies share their rows

# Vacancies -> listed vacancies: every change deletes the row and inserts a new one
LISTED = """
CREATE OR REPLACE FUNCTION listed_vacancy_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_listedvacancy USING changed WHERE vacancy_id = changed.id;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION listed_vacancy_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_listedvacancy
    (vacancy_id, audience, is_hot, publish_from, publish_until, brand_id, form_id, is_expired, row_version)
  SELECT id, audience, is_hot, publish_from, publish_until, brand_id, form_id,
    coalesce(publish_until < statement_timestamp() - interval '5 minutes', false),
    hashtextextended(jobsite_timeline(), pg_current_xact_id()::text::bigint)
  FROM changed WHERE status = 'published';
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_vacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_insert();

-- Triggers of one event run in the order of their names.
CREATE OR REPLACE TRIGGER listed_vacancy_update_1 AFTER UPDATE ON vacancies_vacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_delete();

CREATE OR REPLACE TRIGGER listed_vacancy_update_2 AFTER UPDATE ON vacancies_vacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_insert();

CREATE OR REPLACE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_vacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_delete();

CREATE OR REPLACE FUNCTION listed_vacancy_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_listedvacancy;
  UPDATE vacancies_vacancy SET status = status;  -- writes the rows of the vacancies that are left
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER listed_vacancy_truncate AFTER TRUNCATE ON vacancies_vacancy
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_truncate();
"""
# Vacancies -> counts by block of ids, brand and status, for the admin
COUNTS = """
CREATE OR REPLACE FUNCTION vacancy_count_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_vacancycount (block, brand_id, status, count)
  SELECT id / 10000, brand_id, status, TG_ARGV[0]::int * count(*) FROM changed GROUP BY 1, 2, 3;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION vacancy_count_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_vacancycount (block, brand_id, status, count)
  SELECT block, brand_id, status, sum(number) FROM (
    SELECT id / 10000 AS block, brand_id, status, 1 AS number FROM changed
    UNION ALL SELECT id / 10000, brand_id, status, -1 FROM before
  ) AS both_rows GROUP BY 1, 2, 3 HAVING sum(number) <> 0;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION vacancy_count_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_vacancycount;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER vacancy_count_insert AFTER INSERT ON vacancies_vacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION vacancy_count_change('1');

CREATE OR REPLACE TRIGGER vacancy_count_update AFTER UPDATE ON vacancies_vacancy
  REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION vacancy_count_update();

CREATE OR REPLACE TRIGGER vacancy_count_delete AFTER DELETE ON vacancies_vacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION vacancy_count_change('-1');

CREATE OR REPLACE TRIGGER vacancy_count_truncate AFTER TRUNCATE ON vacancies_vacancy
  FOR EACH STATEMENT EXECUTE FUNCTION vacancy_count_truncate();
"""
# Child tables: a change gives the vacancy a new row version and deletes its items
CHILD_CHANGE = """
-- The vacancies are locked first: another transaction may be publishing one, and its listed row is not visible
-- yet. A vacancy that this transaction already changed is skipped.
CREATE OR REPLACE FUNCTION listed_vacancy_child_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  version bigint := hashtextextended(jobsite_timeline(), pg_current_xact_id()::text::bigint);
BEGIN
  PERFORM 1 FROM vacancies_vacancy WHERE id IN (SELECT vacancy_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy SET row_version = version
    WHERE vacancy_id IN (SELECT vacancy_id FROM changed) AND row_version <> version;
  RETURN NULL;
END $$;
"""
CHILD_TRIGGERS = """
CREATE OR REPLACE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_{child}
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_change();

CREATE OR REPLACE TRIGGER listed_vacancy_update_1 AFTER UPDATE ON vacancies_{child}
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_change();

CREATE OR REPLACE TRIGGER listed_vacancy_update_2 AFTER UPDATE ON vacancies_{child}
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_change();

CREATE OR REPLACE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_{child}
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_change();

CREATE OR REPLACE TRIGGER listed_vacancy_truncate AFTER TRUNCATE ON vacancies_{child}
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_truncate();
"""
# What items contain changes: the key or the employment type of an option, the address of a vacancy of a brand
MOVED = """
-- FOR UPDATE makes transactions wait that give the option to a vacancy. Updating the options of the
-- vacancies then runs the trigger of that child table.
CREATE OR REPLACE FUNCTION listed_vacancy_option_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM vacancies_filteroption WHERE id = NEW.id FOR UPDATE;
  UPDATE vacancies_vacancyoption SET option_id = option_id WHERE option_id = NEW.id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER listed_vacancy_option_moved AFTER UPDATE ON vacancies_filteroption
  FOR EACH ROW WHEN (OLD.filter_id <> NEW.filter_id OR OLD.employment_type <> NEW.employment_type)
  EXECUTE FUNCTION listed_vacancy_option_moved();

CREATE OR REPLACE FUNCTION listed_vacancy_filter_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM vacancies_filter WHERE id = NEW.id FOR UPDATE;
  PERFORM 1 FROM vacancies_filteroption WHERE filter_id = NEW.id ORDER BY id FOR UPDATE;
  UPDATE vacancies_vacancyoption SET option_id = option_id
    WHERE option_id IN (SELECT id FROM vacancies_filteroption WHERE filter_id = NEW.id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER listed_vacancy_filter_moved AFTER UPDATE ON vacancies_filter
  FOR EACH ROW WHEN (OLD.keyword <> NEW.keyword) EXECUTE FUNCTION listed_vacancy_filter_moved();

-- FOR UPDATE makes transactions wait that give the brand to a vacancy. The vacancies are locked before it, because
-- a save locks the vacancy before its brand, and after it, because more may have the brand then.
CREATE OR REPLACE FUNCTION listed_vacancy_brand_address() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  version bigint := hashtextextended(jobsite_timeline(), pg_current_xact_id()::text::bigint);
BEGIN
  PERFORM 1 FROM vacancies_vacancy WHERE brand_id = NEW.id ORDER BY id FOR NO KEY UPDATE;
  PERFORM 1 FROM vacancies_brand WHERE id = NEW.id FOR UPDATE;
  PERFORM 1 FROM vacancies_vacancy WHERE brand_id = NEW.id ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy SET row_version = version WHERE brand_id = NEW.id AND row_version <> version;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER listed_vacancy_brand_address AFTER UPDATE ON vacancies_brand
  FOR EACH ROW WHEN (OLD.vacancy_url <> NEW.vacancy_url OR OLD.host <> NEW.host)
  EXECUTE FUNCTION listed_vacancy_brand_address();
"""
# Listed vacancies -> bucket counts: rows with the sign of the change
BUCKETS = """
-- The lock waits while buckets are divided (vacancies/readmodel/maintenance.py). The next statement sees the new ones.
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
END $$;

CREATE OR REPLACE TRIGGER bucket_count_insert AFTER INSERT ON vacancies_listedvacancy
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bucket_count_change('1');

CREATE OR REPLACE TRIGGER bucket_count_delete AFTER DELETE ON vacancies_listedvacancy
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bucket_count_change('-1');
"""
COMPRESSION = """
DO $$ BEGIN
  ALTER TABLE vacancies_rendereditem ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN OTHERS THEN NULL;  -- PostgreSQL was built without it
END $$
"""

# The search: which vacancies changed since the last merge of its index
SEARCHED = (
    "title title_internal reference location search_text language work_place brand_id audience "
    "is_hot status publish_from publish_until"
).split()
SEARCHED_CHILDREN = ("vacancyoption", "place")
SEARCH = f"""
CREATE OR REPLACE FUNCTION search_vacancy_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_searchchange (vacancy_id) SELECT id FROM changed;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION search_vacancy_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_searchchange (vacancy_id) SELECT coalesce(before.id, changed.id)
    FROM before FULL JOIN changed ON before.id = changed.id
    WHERE (SELECT ROW({", ".join(f"before.{name}" for name in SEARCHED)}))
      IS DISTINCT FROM (SELECT ROW({", ".join(f"changed.{name}" for name in SEARCHED)}));
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION search_child_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_searchchange (vacancy_id) SELECT DISTINCT vacancy_id FROM changed;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION search_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_searchterm;
  DELETE FROM vacancies_searchchange;
  INSERT INTO vacancies_searchchange (vacancy_id) SELECT id FROM vacancies_vacancy;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER search_vacancy_update AFTER UPDATE ON vacancies_vacancy
  REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_vacancy_update();
"""
SEARCH_TRIGGERS = """
CREATE OR REPLACE TRIGGER search_{name}_insert AFTER INSERT ON vacancies_{name}
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_{kind}_change();

CREATE OR REPLACE TRIGGER search_{name}_delete AFTER DELETE ON vacancies_{name}
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_{kind}_change();

CREATE OR REPLACE TRIGGER search_{name}_truncate AFTER TRUNCATE ON vacancies_{name}
  FOR EACH STATEMENT EXECUTE FUNCTION search_truncate();
"""
SEARCH_CHILD_UPDATES = """
CREATE OR REPLACE TRIGGER search_{name}_update_old AFTER UPDATE ON vacancies_{name}
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_child_change();

CREATE OR REPLACE TRIGGER search_{name}_update_new AFTER UPDATE ON vacancies_{name}
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_child_change();
"""
# The searches of the admin
INDEXES = [
    AddTrigramIndexOnline("vacancies_search", "vacancies_vacancy", "search_text"),
    AddTrigramIndexOnline("vacancies_title_search", "vacancies_vacancy", "title_folded"),
]


class Migration(migrations.Migration):
    atomic = False
    replaces = [
        ("vacancies", "0003_search_index"),
        ("vacancies", "0011_title_search"),
        ("vacancies", "0014_read_model_triggers"),
        ("vacancies", "0021_search_triggers"),
        ("vacancies", "0028_brand_link_trigger"),
    ]
    dependencies = [("vacancies", "0003_filters"), ("jobsite", "0002_postgresql")]
    operations = [
        RunSQLOn(
            "postgresql", [revision_trigger(f"vacancies_{name}", shared=0) for name in TRACKED]
        ),
        RunSQLOn(
            "postgresql", [revision_trigger(f"vacancies_{name}", shared=1) for name in SHARED]
        ),
        RunSQLOn("postgresql", [LISTED, COUNTS, CHILD_CHANGE, MOVED, BUCKETS, COMPRESSION]),
        RunSQLOn("postgresql", [CHILD_TRIGGERS.format(child=child) for child in CHILDREN]),
        RunSQLOn("postgresql", [SEARCH, SEARCH_TRIGGERS.format(name="vacancy", kind="vacancy")]),
        RunSQLOn(
            "postgresql",
            [SEARCH_TRIGGERS.format(name=name, kind="child") for name in SEARCHED_CHILDREN],
        ),
        RunSQLOn(
            "postgresql", [SEARCH_CHILD_UPDATES.format(name=name) for name in SEARCHED_CHILDREN]
        ),
        *INDEXES,
    ]
