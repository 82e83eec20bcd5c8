"""Installs the triggers that maintain `ListedVacancy` and `DailyCount` in the transaction of each writer."""

from hashlib import md5
from pathlib import Path
from typing import Any

from django.db import connections
from django.db.models import F

from jobsite.models import Revision
from vacancies.querysets import VacancyList
from vacancies.readmodel.changes import ROW_VERSION, apply_all_due_changes, insert_missing, rebuild

# Days since 1970. SQLite's integer division rounds towards zero, so the offset makes days before 1970 right;
# without substr, strftime would round the fraction of a second.
_SQLITE_DAY = (
    "((CAST(strftime('%s', substr({row}.publish_from, 1, 19)) AS INTEGER) + 8640000000) / 86400 - 100000)"
)


def _statements(vendor: str) -> tuple[str, ...]:
    """The statements of the .sql file for the database `vendor`. A blank line ends a statement."""
    sql = Path(__file__).with_name(f"triggers.{vendor}.sql").read_text()
    for each in VacancyList:
        sql = sql.replace(f"{{{each.column}}}", each.sql())
        for row in ("OLD", "NEW"):
            sql = sql.replace(f"{{{row}.{each.column}}}", each.sql(f"{row}."))
    for row in ("OLD", "NEW"):
        sql = sql.replace(f"{{{row}.day}}", _SQLITE_DAY.format(row=row))
    return tuple(part for part in sql.strip().split("\n\n") if _is_statement(part))


def _is_statement(part: str) -> bool:
    return not all(line.startswith("--") for line in part.splitlines())


SQLITE = _statements("sqlite")
POSTGRESQL = _statements("postgresql")


def install_triggers(sender: Any, using: str, **kwargs: Any) -> None:
    """post_migrate receiver: install the triggers and insert the vacancies that the read model lacks."""
    connection = connections[using]
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        if not tables.issuperset(("vacancies_listedvacancy", "vacancies_dailycount", "jobsite_revision")):
            return  # migrating backwards
        if connection.vendor == "sqlite":
            _install_on_sqlite(cursor, using)
        else:
            _install_on_postgresql(cursor, using)


def _install_on_sqlite(cursor: Any, using: str) -> None:
    cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'listed_vacancy_insert'")
    was_installed = cursor.fetchone()
    for statement in SQLITE:
        name = statement.partition("CREATE TRIGGER ")[2].split()[0]
        cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        cursor.execute(statement)
    if not was_installed:  # migrations may have written rows
        rebuild(using)


def _install_on_postgresql(cursor: Any, using: str) -> None:
    """The comment on the table is the fingerprint of the installed triggers: installing them again would lock
    the tables for nothing."""
    fingerprint = md5("".join(POSTGRESQL).encode(), usedforsecurity=False).hexdigest()
    cursor.execute("SELECT obj_description('vacancies_listedvacancy'::regclass)")
    if cursor.fetchone()[0] == fingerprint:
        return
    for statement in POSTGRESQL:
        cursor.execute(statement)
    insert_missing(cursor, ROW_VERSION, "FOR SHARE")
    # Invalidate what was cached before the read model was complete.
    Revision.objects.using(using).filter(pk=1).update(number=F("number") + 1, watermark=0)
    apply_all_due_changes()
    cursor.execute(f"COMMENT ON TABLE vacancies_listedvacancy IS '{fingerprint}'")
