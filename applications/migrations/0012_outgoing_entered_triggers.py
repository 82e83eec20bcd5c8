"""The triggers on PostgreSQL that note since when an application can be read. Those on SQLite are in
applications/manage/triggers.py.
"""

from django.db import migrations

from jobsite.ops.online_migrations import RunSQLOn

FUNCTIONS = """
CREATE OR REPLACE FUNCTION outgoing_enter(app bigint, of_brand bigint) RETURNS void LANGUAGE sql AS $$
  INSERT INTO applications_outgoing (application, brand, mark, is_gone, at, entered)
  SELECT app, coalesce(of_brand, 0), current.mark, false, clock_timestamp(),
      CASE WHEN NOT EXISTS (SELECT 1 FROM applications_consentrequest
        WHERE application_id = app AND purpose = 'application' AND answer = '') THEN current.mark END
    FROM (SELECT pg_current_xact_id()::text::bigint AS mark) AS current
  ON CONFLICT (application, brand) DO UPDATE
    SET mark = excluded.mark, is_gone = excluded.is_gone, at = excluded.at, entered = excluded.entered
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
    IF TG_OP = 'INSERT' OR old_brand IS DISTINCT FROM new_brand THEN
      IF TG_OP = 'UPDATE' THEN
        PERFORM outgoing_note(OLD.id, old_brand, true);
      END IF;
      PERFORM outgoing_enter(NEW.id, new_brand);
      RETURN NULL;
    END IF;
  END IF;
  PERFORM outgoing_note(NEW.id, old_brand, false);
  RETURN NULL;
END $$;

-- After the trigger outgoing_consent. An application whose applicant is asked at once was read by nobody.
CREATE OR REPLACE FUNCTION outgoing_consent_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND NEW.answer = '' THEN
    UPDATE applications_outgoing SET entered = NULL
      WHERE application = NEW.application_id AND entered = pg_current_xact_id()::text::bigint;
  ELSIF TG_OP = 'UPDATE' AND OLD.answer = '' AND NEW.answer <> '' THEN
    UPDATE applications_outgoing SET entered = mark WHERE application = NEW.application_id AND NOT is_gone;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION outgoing_vacancy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM outgoing_note(id, OLD.brand_id, true), outgoing_enter(id, NEW.brand_id)
    FROM applications_application WHERE vacancy_id = NEW.id ORDER BY id;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER outgoing_consent_answer AFTER INSERT OR UPDATE ON applications_consentrequest
  FOR EACH ROW WHEN (NEW.purpose = 'application') EXECUTE FUNCTION outgoing_consent_answer();
"""


class Migration(migrations.Migration):
    dependencies = [("applications", "0011_outgoing_entered")]
    operations = [RunSQLOn("postgresql", [FUNCTIONS])]
