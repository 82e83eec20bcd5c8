-- Triggers that maintain vacancies_listedvacancy and vacancies_bucketcount, once per row.
--
-- A blank line ends a statement. vacancies/readmodel/triggers.py replaces {NEW.external} and the like by the
-- condition of that list, and repeats statements with {child} for vacancyoption, vacancyrecruiter and attachment.
-- Row versions are random: they are only compared for equality.

-- --- Vacancies -> listed vacancies: every change deletes the row and inserts a new one ----------------------

CREATE TRIGGER listed_vacancy_insert AFTER INSERT ON vacancies_vacancy BEGIN
  INSERT INTO vacancies_listedvacancy
    (vacancy_id, audience, is_hot, publish_from, publish_until, brand_id, form_id, is_expired, row_version)
  SELECT NEW.id, NEW.audience, NEW.is_hot, NEW.publish_from, NEW.publish_until, NEW.brand_id, NEW.form_id,
    coalesce(NEW.publish_until < strftime('%Y-%m-%d %H:%M:%f', 'now', '-5 minutes'), 0), random()
  WHERE NEW.status = 'published';
END

CREATE TRIGGER listed_vacancy_update AFTER UPDATE ON vacancies_vacancy BEGIN
  DELETE FROM vacancies_listedvacancy WHERE vacancy_id = OLD.id;
  INSERT INTO vacancies_listedvacancy
    (vacancy_id, audience, is_hot, publish_from, publish_until, brand_id, form_id, is_expired, row_version)
  SELECT NEW.id, NEW.audience, NEW.is_hot, NEW.publish_from, NEW.publish_until, NEW.brand_id, NEW.form_id,
    coalesce(NEW.publish_until < strftime('%Y-%m-%d %H:%M:%f', 'now', '-5 minutes'), 0), random()
  WHERE NEW.status = 'published';
END

CREATE TRIGGER listed_vacancy_delete AFTER DELETE ON vacancies_vacancy BEGIN
  DELETE FROM vacancies_listedvacancy WHERE vacancy_id = OLD.id;
END

-- --- Vacancies -> counts by block of ids, brand and status, for the admin ------------------------------------

CREATE TRIGGER vacancy_count_insert AFTER INSERT ON vacancies_vacancy BEGIN
  INSERT INTO vacancies_vacancycount (block, brand_id, status, count)
  VALUES (NEW.id / 10000, NEW.brand_id, NEW.status, 1);
END

CREATE TRIGGER vacancy_count_update AFTER UPDATE ON vacancies_vacancy
WHEN OLD.brand_id IS NOT NEW.brand_id OR OLD.status <> NEW.status OR OLD.id <> NEW.id BEGIN
  INSERT INTO vacancies_vacancycount (block, brand_id, status, count)
  VALUES (OLD.id / 10000, OLD.brand_id, OLD.status, -1), (NEW.id / 10000, NEW.brand_id, NEW.status, 1);
END

CREATE TRIGGER vacancy_count_delete AFTER DELETE ON vacancies_vacancy BEGIN
  INSERT INTO vacancies_vacancycount (block, brand_id, status, count)
  SELECT OLD.id / 10000, OLD.brand_id, OLD.status, -1
  WHERE EXISTS (SELECT 1 FROM vacancies_vacancycount);  -- not if `manage.py flush` has deleted the counts
END

-- --- Child tables: a change gives the vacancy a new row version and deletes its items -----------------------

CREATE TRIGGER {child}_insert_listed AFTER INSERT ON vacancies_{child} BEGIN
  UPDATE vacancies_listedvacancy SET row_version = random(), v1 = NULL, v0_1 = NULL
    WHERE vacancy_id = NEW.vacancy_id;
END

CREATE TRIGGER {child}_update_listed AFTER UPDATE ON vacancies_{child} BEGIN
  UPDATE vacancies_listedvacancy SET row_version = random(), v1 = NULL, v0_1 = NULL
    WHERE vacancy_id IN (OLD.vacancy_id, NEW.vacancy_id);
END

CREATE TRIGGER {child}_delete_listed AFTER DELETE ON vacancies_{child} BEGIN
  UPDATE vacancies_listedvacancy SET row_version = random(), v1 = NULL, v0_1 = NULL
    WHERE vacancy_id = OLD.vacancy_id;
END

-- --- An option moves to another filter, or a filter gets another keyword: items get it under another key ----

CREATE TRIGGER filteroption_moved_listed AFTER UPDATE ON vacancies_filteroption
WHEN OLD.filter_id <> NEW.filter_id BEGIN
  UPDATE vacancies_vacancyoption SET option_id = option_id WHERE option_id = NEW.id;
END

CREATE TRIGGER filter_moved_listed AFTER UPDATE ON vacancies_filter WHEN OLD.keyword <> NEW.keyword BEGIN
  UPDATE vacancies_vacancyoption SET option_id = option_id
    WHERE option_id IN (SELECT id FROM vacancies_filteroption WHERE filter_id = NEW.id);
END

-- --- Listed vacancies -> bucket counts: a row with the sign of the change ------------------------------------

CREATE TRIGGER bucket_count_insert AFTER INSERT ON vacancies_listedvacancy WHEN NOT NEW.is_expired BEGIN
  INSERT INTO vacancies_bucketcount (start_at, start_id, external, hot, internal, hot_internal)
  SELECT coalesce(start_at, '0001-01-01 00:00:00'), coalesce(start_id, 0),
    {NEW.external}, {NEW.hot}, {NEW.internal}, {NEW.hot_internal}
  FROM (SELECT 1) LEFT JOIN (
    SELECT start_at, start_id FROM vacancies_bucketcount
    WHERE (start_at, start_id) <= (NEW.publish_from, NEW.vacancy_id)
    ORDER BY start_at DESC, start_id DESC LIMIT 1
  );
END

CREATE TRIGGER bucket_count_delete AFTER DELETE ON vacancies_listedvacancy WHEN NOT OLD.is_expired BEGIN
  INSERT INTO vacancies_bucketcount (start_at, start_id, external, hot, internal, hot_internal)
  SELECT start_at, start_id, -({OLD.external}), -({OLD.hot}), -({OLD.internal}), -({OLD.hot_internal})
  FROM vacancies_bucketcount WHERE (start_at, start_id) <= (OLD.publish_from, OLD.vacancy_id)
  ORDER BY start_at DESC, start_id DESC LIMIT 1;  -- none if `manage.py flush` has deleted the counts
END
