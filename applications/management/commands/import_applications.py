from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from applications.imports import Importer
from jobsite.commands import Command as BaseCommand
from jobsite.commands import rehearsal
from vacancies.sources import SourceError, read_json


class Command(BaseCommand):
    help = (
        "Take applications over from JSON files of a tracking system, for vacancies that are here. Accounts "
        "that are missing are created; the same again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="+", type=Path, help="a JSON array of applications")
        parser.add_argument("--dry-run", action="store_true", help="report what would happen, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        importer = Importer()
        report = importer.report
        with rehearsal(options["dry_run"]):
            for path in options["file"]:
                try:
                    rows = read_json(path)
                    if not isinstance(rows, list):
                        raise SourceError(f"{path}: holds no list of applications.")
                    importer.land(self.progress(rows, unit="application"), source=path.name)
                except SourceError as error:
                    report.failed.append(str(error))
        summary = (
            f"{report.total} applications: {report.created} created, {report.updated} updated, "
            f"{report.unchanged} unchanged, {report.refused} refused. {report.users} accounts created."
        )
        self.finish(
            f"Dry run, nothing was written. {summary}" if options["dry_run"] else summary,
            ok=not report.failed,
            lines=[
                *(f"note: {line}" for line in report.notes),
                *(f"failed: {line}" for line in report.failed),
            ],
            **vars(report),
        )
