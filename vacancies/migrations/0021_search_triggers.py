"""The triggers on PostgreSQL that record which vacancies changed, for the index of the search.

They run once per statement, and insert rows only, so that writers do not wait for each other. Every existing vacancy
counts as changed: `migrate` merges them at its end (vacancies/search/triggers.py).
"""

from django.db import migrations

from jobsite.ops.online_migrations import DropTriggers, RunSQLOn

COLUMNS = (
    "title, title_internal, reference, location, search_text, language, work_place, brand_id, audience, is_hot, status, "
    "publish_from, publish_until"
)
CHILDREN = ("vacancyoption", "place")
EVERY = "INSERT INTO vacancies_searchchange (vacancy_id) SELECT id FROM vacancies_vacancy"
FUNCTIONS = [
    """
CREATE OR REPLACE FUNCTION search_vacancy_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_searchchange (vacancy_id) SELECT id FROM changed;
  RETURN NULL;
END $$
    """,
    f"""
CREATE OR REPLACE FUNCTION search_vacancy_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_searchchange (vacancy_id) SELECT coalesce(before.id, changed.id)
    FROM before FULL JOIN changed ON before.id = changed.id
    WHERE (SELECT ROW(before.{COLUMNS.replace(", ", ", before.")}))
      IS DISTINCT FROM (SELECT ROW(changed.{COLUMNS.replace(", ", ", changed.")}));
  RETURN NULL;
END $$
    """,
    """
CREATE OR REPLACE FUNCTION search_child_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO vacancies_searchchange (vacancy_id) SELECT DISTINCT vacancy_id FROM changed;
  RETURN NULL;
END $$
    """,
    f"""
CREATE OR REPLACE FUNCTION search_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM vacancies_searchterm;
  DELETE FROM vacancies_searchchange;
  {EVERY};
  RETURN NULL;
END $$
    """,
]
TRIGGERS = [
    """
CREATE OR REPLACE TRIGGER search_{name}_insert AFTER INSERT ON vacancies_{name}
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_{kind}_change()
    """,
    """
CREATE OR REPLACE TRIGGER search_{name}_delete AFTER DELETE ON vacancies_{name}
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_{kind}_change()
    """,
    """
CREATE OR REPLACE TRIGGER search_{name}_truncate AFTER TRUNCATE ON vacancies_{name}
  FOR EACH STATEMENT EXECUTE FUNCTION search_truncate()
    """,
]
UPDATES = [
    """
CREATE OR REPLACE TRIGGER search_vacancy_update AFTER UPDATE ON vacancies_vacancy
  REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_vacancy_update()
    """,
    *(
        f"""
CREATE OR REPLACE TRIGGER search_{name}_update_{age.lower()} AFTER UPDATE ON vacancies_{name}
  REFERENCING {age} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION search_child_change()
        """
        for name in CHILDREN
        for age in ("OLD", "NEW")
    ),
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("vacancies", "0020_search_index")]
    operations = [
        DropTriggers("vacancies_searchchange"),
        RunSQLOn("postgresql", FUNCTIONS),
        RunSQLOn("postgresql", [sql.format(name="vacancy", kind="vacancy") for sql in TRIGGERS] + UPDATES),
        RunSQLOn(
            "postgresql",
            [sql.format(name=name, kind="child") for name in CHILDREN for sql in TRIGGERS] + [EVERY],
        ),
    ]
