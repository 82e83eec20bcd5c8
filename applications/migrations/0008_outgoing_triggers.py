"""The triggers on PostgreSQL that note which applications changed. Those on SQLite are in
applications/manage/triggers.py.

A reader gets the rows of transactions below the oldest one that runs. A row that two transactions change has the mark
of the second, which waited for the first. The vacancy is locked for a new application, because a move of the vacancy
to another brand would not see it.
"""

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn

FUNCTIONS = """
CREATE OR REPLACE FUNCTION outgoing_note(app bigint, of_brand bigint, gone boolean) RETURNS void LANGUAGE sql AS $$
  INSERT INTO applications_outgoing (application, brand, mark, is_gone, at)
  VALUES (app, coalesce(of_brand, 0), pg_current_xact_id()::text::bigint, gone, clock_timestamp())
  ON CONFLICT (application, brand) DO UPDATE
    SET mark = excluded.mark, is_gone = excluded.is_gone, at = excluded.at
$$;

CREATE OR REPLACE FUNCTION outgoing_application() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  old_brand bigint;
  new_brand bigint;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    SELECT brand_id INTO old_brand FROM vacancies_vacancy WHERE id = OLD.vacancy_id;
  END IF;
  IF TG_OP = 'DELETE' THEN
    PERFORM outgoing_note(OLD.id, old_brand, true);
    RETURN NULL;
  END IF;
  IF TG_OP = 'INSERT' OR OLD.vacancy_id <> NEW.vacancy_id THEN
    SELECT brand_id INTO new_brand FROM vacancies_vacancy WHERE id = NEW.vacancy_id FOR SHARE;
    IF TG_OP = 'UPDATE' AND old_brand IS DISTINCT FROM new_brand THEN
      PERFORM outgoing_note(OLD.id, old_brand, true);
    END IF;
  ELSE
    new_brand := old_brand;
  END IF;
  PERFORM outgoing_note(NEW.id, new_brand, false);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION outgoing_part() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  app bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN app := OLD.application_id; ELSE app := NEW.application_id; END IF;
  PERFORM outgoing_note(application.id, vacancy.brand_id, false)
    FROM applications_application AS application JOIN vacancies_vacancy AS vacancy ON vacancy.id = application.vacancy_id
    WHERE application.id = app;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION outgoing_vacancy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM outgoing_note(id, OLD.brand_id, true), outgoing_note(id, NEW.brand_id, false)
    FROM applications_application WHERE vacancy_id = NEW.id ORDER BY id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER outgoing_application AFTER INSERT OR UPDATE OR DELETE ON applications_application
  FOR EACH ROW EXECUTE FUNCTION outgoing_application();
CREATE OR REPLACE TRIGGER outgoing_step AFTER INSERT OR UPDATE OR DELETE ON applications_historyentry
  FOR EACH ROW EXECUTE FUNCTION outgoing_part();
CREATE OR REPLACE TRIGGER outgoing_consent AFTER INSERT OR UPDATE OR DELETE ON applications_consentrequest
  FOR EACH ROW EXECUTE FUNCTION outgoing_part();
CREATE OR REPLACE TRIGGER outgoing_vacancy AFTER UPDATE OF brand_id ON vacancies_vacancy
  FOR EACH ROW WHEN (OLD.brand_id IS DISTINCT FROM NEW.brand_id) EXECUTE FUNCTION outgoing_vacancy();
"""


class Migration(migrations.Migration):
    dependencies = [("applications", "0007_outgoing"), ("vacancies", "0004_postgresql")]
    operations = [RunSQLOn("postgresql", [FUNCTIONS])]
