"""Installs the triggers that maintain `ListedVacancy` and `BucketCount` in the transaction of each writer."""

from pathlib import Path
from typing import Any

from django.db import connections

from jobsite.serving.revision import bump
from jobsite.serving.triggers import install, read_statements
from vacancies.querysets import VacancyList
from vacancies.readmodel.maintenance import add_missing, balance, rebuild
from vacancies.readmodel.vacancy_counts import recount

CHILD_TABLES = ("vacancyoption", "vacancyrecruiter", "attachment")  # their rows are part of a vacancy's items
TABLES = (
    "vacancies_listedvacancy",
    "vacancies_bucketcount",
    "vacancies_vacancycount",
    "jobsite_revision",
)


def statements(vendor: str) -> list[str]:
    """Return the statements of the .sql file for the database `vendor`, with the conditions of the lists."""
    sql = []
    for statement in read_statements(Path(__file__).with_name(f"triggers.{vendor}.sql")):
        for each in VacancyList:
            for row in ("", "OLD.", "NEW."):
                statement = statement.replace(f"{{{row}{each.column}}}", each.sql(row))
        children = CHILD_TABLES if "{child}" in statement else [""]
        sql += [statement.replace("{child}", child) for child in children]
    return sql


def install_triggers(sender: Any, using: str, **kwargs: Any) -> None:
    """post_migrate receiver: install the triggers and add the vacancies that the read model lacks."""
    connection = connections[using]
    if not set(connection.introspection.table_names()).issuperset(TABLES):
        return  # migrating backwards
    install(using, TABLES[0], statements(connection.vendor), fill)


def fill(using: str) -> None:
    """Fill the read model after the triggers were installed."""
    if connections[using].vendor == "sqlite":  # migrations may have written rows without triggers
        rebuild(using)
        return
    add_missing(using)
    balance()
    recount(using)
    bump(using)  # invalidates what was cached before the read model was complete
