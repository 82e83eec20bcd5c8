-- Triggers that maintain vacancies_listedvacancy and vacancies_dailycount, once per row.
--
-- A blank line ends a statement. vacancies/readmodel/triggers.py replaces {NEW.external} and the like by the
-- condition of that list, and {NEW.day} by the day of publish_from. The states are 0 scheduled, 1 live,
-- 2 expired. The triggers do not read the clock: a row whose dates change returns to state 0, and
-- apply_due_changes() moves it on.
-- The row version of a new row is the next revision, and every change adds 1, as it does to the revision: a
-- vacancy that is deleted from the list and returns never gets an old version.

-- --- Vacancies -> listed vacancies -------------------------------------------------------------------

CREATE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_vacancy WHEN NEW.status = 'published' BEGIN
  INSERT INTO vacancies_listedvacancy
    (vacancy_id, audience, is_hot, publish_from, publish_until, brand_id, form_id, state, row_version)
  VALUES (NEW.id, NEW.audience, NEW.is_hot, NEW.publish_from, NEW.publish_until, NEW.brand_id, NEW.form_id, 0,
    coalesce((SELECT number FROM jobsite_revision WHERE id = 1), 0) + 1)
  ON CONFLICT (vacancy_id) DO UPDATE SET
    state = CASE WHEN publish_from IS excluded.publish_from AND publish_until IS excluded.publish_until
            THEN state ELSE 0 END,
    audience = excluded.audience, is_hot = excluded.is_hot,
    publish_from = excluded.publish_from, publish_until = excluded.publish_until,
    brand_id = excluded.brand_id, form_id = excluded.form_id,
    row_version = max(row_version + 1, excluded.row_version), v1 = NULL, v0_1 = NULL;
END

CREATE TRIGGER listed_vacancy_update AFTER UPDATE ON vacancies_vacancy WHEN NEW.status = 'published' BEGIN
  INSERT INTO vacancies_listedvacancy
    (vacancy_id, audience, is_hot, publish_from, publish_until, brand_id, form_id, state, row_version)
  VALUES (NEW.id, NEW.audience, NEW.is_hot, NEW.publish_from, NEW.publish_until, NEW.brand_id, NEW.form_id, 0,
    coalesce((SELECT number FROM jobsite_revision WHERE id = 1), 0) + 1)
  ON CONFLICT (vacancy_id) DO UPDATE SET
    state = CASE WHEN publish_from IS excluded.publish_from AND publish_until IS excluded.publish_until
            THEN state ELSE 0 END,
    audience = excluded.audience, is_hot = excluded.is_hot,
    publish_from = excluded.publish_from, publish_until = excluded.publish_until,
    brand_id = excluded.brand_id, form_id = excluded.form_id,
    row_version = max(row_version + 1, excluded.row_version), v1 = NULL, v0_1 = NULL;
END

CREATE TRIGGER listed_vacancy_unpublish AFTER UPDATE ON vacancies_vacancy WHEN NEW.status <> 'published' BEGIN
  DELETE FROM vacancies_listedvacancy WHERE vacancy_id = OLD.id;
END

CREATE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_vacancy BEGIN
  DELETE FROM vacancies_listedvacancy WHERE vacancy_id = OLD.id;
END

-- --- Child tables: a change gives the vacancy a new row version and deletes its items -----------------

CREATE TRIGGER vacancyoption_insert_listed AFTER INSERT ON vacancies_vacancyoption BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (NEW.vacancy_id);
END

CREATE TRIGGER vacancyoption_update_listed AFTER UPDATE ON vacancies_vacancyoption BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (OLD.vacancy_id, NEW.vacancy_id);
END

CREATE TRIGGER vacancyoption_delete_listed AFTER DELETE ON vacancies_vacancyoption BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (OLD.vacancy_id);
END

CREATE TRIGGER vacancyrecruiter_insert_listed AFTER INSERT ON vacancies_vacancyrecruiter BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (NEW.vacancy_id);
END

CREATE TRIGGER vacancyrecruiter_update_listed AFTER UPDATE ON vacancies_vacancyrecruiter BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (OLD.vacancy_id, NEW.vacancy_id);
END

CREATE TRIGGER vacancyrecruiter_delete_listed AFTER DELETE ON vacancies_vacancyrecruiter BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (OLD.vacancy_id);
END

CREATE TRIGGER attachment_insert_listed AFTER INSERT ON vacancies_attachment BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (NEW.vacancy_id);
END

CREATE TRIGGER attachment_update_listed AFTER UPDATE ON vacancies_attachment BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (OLD.vacancy_id, NEW.vacancy_id);
END

CREATE TRIGGER attachment_delete_listed AFTER DELETE ON vacancies_attachment BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (OLD.vacancy_id);
END

-- --- Reassignments: an option that moves to another filter, a filter that gets another keyword --------
-- Both move options to another key of the items.

CREATE TRIGGER filteroption_moved_listed AFTER UPDATE OF filter_id ON vacancies_filteroption
WHEN OLD.filter_id <> NEW.filter_id BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (SELECT vacancy_id FROM vacancies_vacancyoption WHERE option_id = NEW.id);
END

CREATE TRIGGER filter_moved_listed AFTER UPDATE OF keyword ON vacancies_filter
WHEN OLD.keyword <> NEW.keyword BEGIN
  UPDATE vacancies_listedvacancy SET row_version = row_version + 1, v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (
      SELECT vacancy_id FROM vacancies_vacancyoption
      WHERE option_id IN (SELECT id FROM vacancies_filteroption WHERE filter_id = NEW.id)
    );
END

-- --- Listed vacancies -> daily counts ----------------------------------------------------------------

CREATE TRIGGER daily_count_insert AFTER INSERT ON vacancies_listedvacancy BEGIN
  INSERT INTO vacancies_dailycount (day, external, hot, internal, hot_internal)
    SELECT {NEW.day}, 0, 0, 0, 0
    WHERE NEW.state = 1 AND NOT EXISTS (SELECT 1 FROM vacancies_dailycount WHERE day = {NEW.day});
  UPDATE vacancies_dailycount SET
    external = external + ({NEW.external}), hot = hot + ({NEW.hot}),
    internal = internal + ({NEW.internal}), hot_internal = hot_internal + ({NEW.hot_internal})
    WHERE day = {NEW.day} AND NEW.state = 1;
END

CREATE TRIGGER daily_count_update AFTER UPDATE OF state, audience, is_hot, publish_from ON vacancies_listedvacancy
BEGIN
  UPDATE vacancies_dailycount SET
    external = external - ({OLD.external}), hot = hot - ({OLD.hot}),
    internal = internal - ({OLD.internal}), hot_internal = hot_internal - ({OLD.hot_internal})
    WHERE day = {OLD.day} AND OLD.state = 1;
  INSERT INTO vacancies_dailycount (day, external, hot, internal, hot_internal)
    SELECT {NEW.day}, 0, 0, 0, 0
    WHERE NEW.state = 1 AND NOT EXISTS (SELECT 1 FROM vacancies_dailycount WHERE day = {NEW.day});
  UPDATE vacancies_dailycount SET
    external = external + ({NEW.external}), hot = hot + ({NEW.hot}),
    internal = internal + ({NEW.internal}), hot_internal = hot_internal + ({NEW.hot_internal})
    WHERE day = {NEW.day} AND NEW.state = 1;
END

CREATE TRIGGER daily_count_delete AFTER DELETE ON vacancies_listedvacancy BEGIN
  UPDATE vacancies_dailycount SET
    external = external - ({OLD.external}), hot = hot - ({OLD.hot}),
    internal = internal - ({OLD.internal}), hot_internal = hot_internal - ({OLD.hot_internal})
    WHERE day = {OLD.day} AND OLD.state = 1;
END
