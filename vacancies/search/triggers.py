"""The triggers on SQLite that record which vacancies changed.
On PostgreSQL, migration 0004 creates them.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from vacancies.search.merge import merge_if_due

# The columns that decide the terms of a vacancy.
COLUMNS = (
    "title",
    "title_internal",
    "reference",
    "location",
    "search_text",
    "language",
    "work_place",
    "brand_id",
    "audience",
    "is_hot",
    "status",
    "publish_from",
    "publish_until",
)
CHILDREN = ("vacancies_vacancyoption", "vacancies_place", "vacancies_vacancytext")
EVERY = "INSERT INTO vacancies_searchchange (vacancy_id) SELECT id FROM vacancies_vacancy"

_SQLITE = """CREATE TRIGGER IF NOT EXISTS {table}_{verb}_{row}_search AFTER {verb} ON {table} {condition}
BEGIN
  INSERT INTO vacancies_searchchange (vacancy_id) VALUES ({row}.{column});
END"""


def after_migrations(using: str, plan: object = None, **kwargs: object) -> None:
    """post_migrate receiver: create the triggers on SQLite, and merge what
    the migrations changed.
    """
    connection = connections[using]
    if "vacancies_searchchange" not in connection.introspection.table_names():
        return
    if connection.vendor == "sqlite":
        _create_triggers(connection)
        if plan:  # migrations write without triggers
            with connection.cursor() as cursor:
                cursor.execute(EVERY)
    if plan is not None and using == DEFAULT_DB_ALIAS:  # `migrate`, also without a migration to run
        merge_if_due()


def _create_triggers(connection: Any) -> None:
    differs = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in COLUMNS)
    existing = connection.introspection.table_names()  # fewer after migrating backwards
    with connection.cursor() as cursor:
        for table in {"vacancies_vacancy", *CHILDREN}.intersection(existing):
            column = "vacancy_id" if table in CHILDREN else "id"
            moved = f"OLD.{column} IS NOT NEW.{column}"
            changed = "" if table in CHILDREN else f"WHEN {moved} OR {differs}"
            for verb, row, condition in (
                ("INSERT", "NEW", ""),
                ("UPDATE", "OLD", f"WHEN {moved}"),
                ("UPDATE", "NEW", changed),
                ("DELETE", "OLD", ""),
            ):
                cursor.execute(
                    _SQLITE.format(
                        table=table, verb=verb, row=row, condition=condition, column=column
                    )
                )
