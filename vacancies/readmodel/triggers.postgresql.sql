-- Triggers that maintain vacancies_listedvacancy and vacancies_dailycount, once per statement.
--
-- A blank line ends a statement. vacancies/readmodel/triggers.py replaces {external}, {hot}, {internal} and
-- {hot_internal} by the condition of that list. The states are 0 scheduled, 1 live, 2 expired. The triggers do
-- not read the clock: a row whose dates change returns to state 0, and apply_due_changes() moves it on.
-- The row version is the id of the writing transaction.

-- --- Vacancies -> listed vacancies -------------------------------------------------------------------

CREATE OR REPLACE FUNCTION listed_vacancy_upsert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM vacancies_listedvacancy USING new_rows WHERE vacancy_id = id AND status <> 'published';
  END IF;
  INSERT INTO vacancies_listedvacancy AS l
    (vacancy_id, audience, is_hot, publish_from, publish_until, brand_id, form_id, state, row_version)
  SELECT id, audience, is_hot, publish_from, publish_until, brand_id, form_id, 0,
    pg_current_xact_id()::text::bigint
  FROM new_rows WHERE status = 'published'
  ON CONFLICT (vacancy_id) DO UPDATE SET
    state = CASE WHEN (l.publish_from, l.publish_until)
            IS NOT DISTINCT FROM (excluded.publish_from, excluded.publish_until)
            THEN l.state ELSE 0 END,
    audience = excluded.audience, is_hot = excluded.is_hot,
    publish_from = excluded.publish_from, publish_until = excluded.publish_until,
    brand_id = excluded.brand_id, form_id = excluded.form_id,
    row_version = excluded.row_version, v1 = NULL, v0_1 = NULL;
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_vacancy
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_upsert()

CREATE OR REPLACE TRIGGER listed_vacancy_update AFTER UPDATE ON vacancies_vacancy
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_upsert()

CREATE OR REPLACE FUNCTION listed_vacancy_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_listedvacancy USING old_rows WHERE vacancy_id = id;
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_vacancy
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_delete()

CREATE OR REPLACE FUNCTION listed_vacancy_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_listedvacancy;
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER listed_vacancy_truncate AFTER TRUNCATE ON vacancies_vacancy
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_truncate()

-- --- Child tables: a change gives the vacancy a new row version and deletes its items -----------------
-- The vacancies are locked first: another transaction may be publishing one, and its listed row is not visible
-- yet. A vacancy that this transaction already changed is skipped.

CREATE OR REPLACE FUNCTION listed_vacancy_child_insert() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  version bigint := pg_current_xact_id()::text::bigint;
BEGIN
  PERFORM 1 FROM vacancies_vacancy WHERE id IN (SELECT vacancy_id FROM new_rows)
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy SET row_version = version, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (SELECT vacancy_id FROM new_rows)
    AND (row_version <> version OR v1 IS NOT NULL OR v0_1 IS NOT NULL);
  RETURN NULL;
END $$

CREATE OR REPLACE FUNCTION listed_vacancy_child_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  version bigint := pg_current_xact_id()::text::bigint;
BEGIN
  PERFORM 1 FROM vacancies_vacancy
    WHERE id IN (SELECT vacancy_id FROM old_rows UNION SELECT vacancy_id FROM new_rows)
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy SET row_version = version, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (SELECT vacancy_id FROM old_rows UNION SELECT vacancy_id FROM new_rows)
    AND (row_version <> version OR v1 IS NOT NULL OR v0_1 IS NOT NULL);
  RETURN NULL;
END $$

CREATE OR REPLACE FUNCTION listed_vacancy_child_delete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  version bigint := pg_current_xact_id()::text::bigint;
BEGIN
  PERFORM 1 FROM vacancies_vacancy WHERE id IN (SELECT vacancy_id FROM old_rows)
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy SET row_version = version, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (SELECT vacancy_id FROM old_rows)
    AND (row_version <> version OR v1 IS NOT NULL OR v0_1 IS NOT NULL);
  RETURN NULL;
END $$

CREATE OR REPLACE FUNCTION listed_vacancy_child_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE vacancies_listedvacancy
    SET row_version = pg_current_xact_id()::text::bigint, v1 = NULL, v0_1 = NULL;
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_vacancyoption
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_insert()

CREATE OR REPLACE TRIGGER listed_vacancy_update AFTER UPDATE ON vacancies_vacancyoption
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_update()

CREATE OR REPLACE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_vacancyoption
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_delete()

CREATE OR REPLACE TRIGGER listed_vacancy_truncate AFTER TRUNCATE ON vacancies_vacancyoption
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_truncate()

CREATE OR REPLACE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_vacancyrecruiter
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_insert()

CREATE OR REPLACE TRIGGER listed_vacancy_update AFTER UPDATE ON vacancies_vacancyrecruiter
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_update()

CREATE OR REPLACE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_vacancyrecruiter
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_delete()

CREATE OR REPLACE TRIGGER listed_vacancy_truncate AFTER TRUNCATE ON vacancies_vacancyrecruiter
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_truncate()

CREATE OR REPLACE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_attachment
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_insert()

CREATE OR REPLACE TRIGGER listed_vacancy_update AFTER UPDATE ON vacancies_attachment
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_update()

CREATE OR REPLACE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_attachment
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_delete()

CREATE OR REPLACE TRIGGER listed_vacancy_truncate AFTER TRUNCATE ON vacancies_attachment
  FOR EACH STATEMENT EXECUTE FUNCTION listed_vacancy_child_truncate()

-- --- Reassignments: an option that moves to another filter, a filter that gets another keyword --------
-- Both move options to another key of the items. The locks make transactions wait that give such an option to a
-- vacancy, or that publish a vacancy with such an option.

CREATE OR REPLACE FUNCTION listed_vacancy_option_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM vacancies_filteroption WHERE id = NEW.id FOR UPDATE;
  PERFORM 1 FROM vacancies_vacancy
    WHERE id IN (SELECT vacancy_id FROM vacancies_vacancyoption WHERE option_id = NEW.id)
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy
    SET row_version = pg_current_xact_id()::text::bigint, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (SELECT vacancy_id FROM vacancies_vacancyoption WHERE option_id = NEW.id);
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER listed_vacancy_option_moved AFTER UPDATE ON vacancies_filteroption
  FOR EACH ROW WHEN (OLD.filter_id <> NEW.filter_id) EXECUTE FUNCTION listed_vacancy_option_moved()

CREATE OR REPLACE FUNCTION listed_vacancy_filter_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM 1 FROM vacancies_filter WHERE id = NEW.id FOR UPDATE;
  PERFORM 1 FROM vacancies_filteroption WHERE filter_id = NEW.id ORDER BY id FOR UPDATE;
  PERFORM 1 FROM vacancies_vacancy WHERE id IN (
    SELECT vacancy_id FROM vacancies_vacancyoption
    WHERE option_id IN (SELECT id FROM vacancies_filteroption WHERE filter_id = NEW.id)
  ) ORDER BY id FOR NO KEY UPDATE;
  UPDATE vacancies_listedvacancy
    SET row_version = pg_current_xact_id()::text::bigint, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (
      SELECT vacancy_id FROM vacancies_vacancyoption
      WHERE option_id IN (SELECT id FROM vacancies_filteroption WHERE filter_id = NEW.id)
    );
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER listed_vacancy_filter_moved AFTER UPDATE ON vacancies_filter
  FOR EACH ROW WHEN (OLD.keyword <> NEW.keyword) EXECUTE FUNCTION listed_vacancy_filter_moved()

-- --- Listed vacancies -> daily counts ----------------------------------------------------------------

CREATE OR REPLACE FUNCTION daily_count_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_dailycount (day, external, hot, internal, hot_internal)
  SELECT floor(extract(epoch FROM publish_from) / 86400)::int,
    sum(({external})::int), sum(({hot})::int), sum(({internal})::int), sum(({hot_internal})::int)
  FROM new_rows WHERE state = 1 GROUP BY 1;
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER daily_count_insert AFTER INSERT ON vacancies_listedvacancy
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION daily_count_insert()

CREATE OR REPLACE FUNCTION daily_count_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_dailycount (day, external, hot, internal, hot_internal)
  SELECT * FROM (
    SELECT floor(extract(epoch FROM publish_from) / 86400)::int,
      sum(change * ({external})::int) AS external, sum(change * ({hot})::int) AS hot,
      sum(change * ({internal})::int) AS internal, sum(change * ({hot_internal})::int) AS hot_internal
    FROM (
      SELECT publish_from, audience, is_hot, state, -1 AS change FROM old_rows
      UNION ALL SELECT publish_from, audience, is_hot, state, 1 FROM new_rows
    ) AS changes
    WHERE state = 1 GROUP BY 1
  ) AS sums
  WHERE external <> 0 OR hot <> 0 OR internal <> 0 OR hot_internal <> 0;
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER daily_count_update AFTER UPDATE ON vacancies_listedvacancy
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION daily_count_update()

CREATE OR REPLACE FUNCTION daily_count_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_dailycount (day, external, hot, internal, hot_internal)
  SELECT floor(extract(epoch FROM publish_from) / 86400)::int,
    -sum(({external})::int), -sum(({hot})::int), -sum(({internal})::int), -sum(({hot_internal})::int)
  FROM old_rows WHERE state = 1 GROUP BY 1;
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER daily_count_delete AFTER DELETE ON vacancies_listedvacancy
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION daily_count_delete()

CREATE OR REPLACE FUNCTION daily_count_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_dailycount;
  RETURN NULL;
END $$

CREATE OR REPLACE TRIGGER daily_count_truncate AFTER TRUNCATE ON vacancies_listedvacancy
  FOR EACH STATEMENT EXECUTE FUNCTION daily_count_truncate()

-- --- LZ4 where PostgreSQL was built with it: items are decompressed faster ---------------------------

DO $$ BEGIN
  ALTER TABLE vacancies_listedvacancy
    ALTER COLUMN v1 SET COMPRESSION lz4, ALTER COLUMN v0_1 SET COMPRESSION lz4;
EXCEPTION WHEN OTHERS THEN NULL;
END $$
