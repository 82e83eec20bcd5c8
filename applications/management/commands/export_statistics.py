import csv
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

from django.core.management.base import CommandParser
from django.db import models

from applications.models import DailyApplications, DailyHiring, MonthlyStages
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError
from vacancies.models import DailyVacancies, DailyVisits

TABLES: dict[str, type[models.Model]] = {
    "vacancies": DailyVacancies,
    "visits": DailyVisits,
    "applications": DailyApplications,
    "hiring": DailyHiring,
    "stages": MonthlyStages,
}
COLUMNS = ("table", "day", "brand", "vacancy", "stage", "reason", "source", "figure", "value")
KEYS = {  # columns of the tables that say what is counted; the others are figures
    "day": "day",
    "month": "day",
    "brand_id": "brand",
    "vacancy_number": "vacancy",
    "vacancy_id": "vacancy",
    "step": "stage",
    "reason": "reason",
    "source": "source",
}


class Command(BaseCommand):
    help = (
        "Print the figures of the reports for other programs: a row for each figure of a day, or "
        "of a month (stages). Numbers stand for brands, vacancies, stages (0: received, -1: "
        "answered) and reasons."
    )
    formats = ("csv", "json")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--since", metavar="DATE", help="leave out what is older")

    def handle(self, *args: object, **options: Any) -> None:
        try:
            since = date.fromisoformat(options["since"] or "0001-01-01")
        except ValueError:
            raise UsageError(
                f"--since {options['since']} is not a date such as 2026-01-31."
            ) from None
        rows = (row for name, model in TABLES.items() for row in self.rows(name, model, since))
        if options["format"] == "csv":
            writer = csv.DictWriter(self.stdout, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            return
        separator = "[\n"
        for row in rows:
            self.stdout.write(separator + json.dumps(row, default=str), ending="")
            separator = ",\n"
        self.stdout.write("\n]" if separator.startswith(",") else "[]")

    def rows(
        self, table: str, model: type[models.Model], since: date
    ) -> Iterator[dict[str, object]]:
        names = [field.attname for field in model._meta.concrete_fields if field.attname != "id"]
        period = "month" if "month" in names else "day"
        stored = model._default_manager.filter(**{f"{period}__gte": since}).order_by(period, "pk")
        for values in stored.values(*names).iterator():
            key = {KEYS[name]: value for name, value in values.items() if name in KEYS}
            for name, value in values.items():
                if name not in KEYS and value:
                    yield {"table": table, **key, "figure": name, "value": value}
