from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from applications.importer import ApplicationImporter
from applications.importer.rows import of_export
from jobsite.types import JsonObject
from vacancies.exchange.json_files import SourceError, read_json
from vacancies.exchange.service import Service
from vacancies.management.import_command import ImportCommand


class Command(ImportCommand):
    help = (
        "Import applications with their submissions, files, emails and notes from files of an "
        "applicant tracking system (JSON or NDJSON, also gzip), or from a file of "
        "export_applicant --files. Their vacancies must exist. Missing accounts are created. "
        "Importing the same file again changes nothing."
    )
    has_services = False
    has_html = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="+", type=Path, help="a JSON array of applications")
        super().add_arguments(parser)

    def handle(self, *args: object, **options: Any) -> None:
        self.importer = ApplicationImporter(is_dry_run=options["dry_run"])
        report = self.importer.report
        self.written = lambda: (
            f"{report.created} applications and {report.users} accounts were created, "
            f"{report.updated} applications updated; run the command again to continue."
        )
        self.import_all(options["file"], report, options)
        summary = (
            f"{report.total} applications: {report.created} created, {report.updated} updated, "
            f"{report.unchanged} unchanged, {report.refused} refused. {report.users} accounts "
            "created."
        )
        self.finish_import(summary, report, options)

    def rows(self, source: Service | Path, options: JsonObject) -> Iterator[Any]:
        assert isinstance(source, Path)
        rows = read_json(source)
        rows = of_export(rows) or rows
        if isinstance(rows, dict) and "vacancy_id" in rows:
            rows = [rows]  # NDJSON of one line
        if not isinstance(rows, list):
            raise SourceError(f"{source}: does not contain a list of applications.")
        yield from self.progress(rows, unit="application")

    def import_rows(self, rows: Iterator[Any], source: Service | Path) -> None:
        assert isinstance(source, Path)
        self.importer.import_rows(rows, source=source, zone=self.zone)
