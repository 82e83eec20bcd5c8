from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from forms_structure.choices import Language
from forms_structure.structure import CONSENT
from vacancies.exchange.form_importer import FormImporter
from vacancies.exchange.service import Service
from vacancies.exchange.sources import FormRow, read_forms
from vacancies.management.import_command import ImportCommand


class Command(ImportCommand):
    help = (
        "Import application forms from files (JSON or NDJSON, also gzip) or from a running "
        "service with this API. Their vacancies must exist. Equal forms become one form. "
        "Importing the same forms again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source",
            nargs="+",
            help='a file, {"<vacancy id>": {"data": [sections]}}, or the base URL of a service',
        )
        parser.add_argument(
            "--consent",
            default=CONSENT,
            metavar="NAME",
            help=f"name of the consent box of the source; ours replaces it (default: {CONSENT})",
        )
        parser.add_argument(
            "--language",
            choices=Language.values,
            help=(
                "language of forms whose language levels do not determine it (default: the site's)"
            ),
        )
        super().add_arguments(parser)

    def handle(self, *args: object, **options: Any) -> None:
        self.importer = FormImporter(
            language=options["language"] or "",
            consent_name=options["consent"],
            unescape=options["unescape_html"],
        )
        report = self.importer.report
        self.written = lambda: (
            f"{report.created} forms were created, {report.assigned} vacancies got another form "
            f"and {report.updated} a changed one; run the command again to continue."
        )
        self.import_all(options["source"], report, options)
        summary = (
            f"{report.total} vacancies: {report.assigned} got another form, {report.updated} a "
            f"changed one, {report.unchanged} unchanged, {report.refused} refused. "
            f"{report.created} forms created."
        )
        self.finish_import(summary, report, options)

    def rows(self, source: Service | Path, options: dict[str, Any]) -> Iterator[FormRow]:
        if isinstance(source, Path):
            yield from self.progress(read_forms(source), unit="form")
        else:
            yield from self.with_progress(source.forms(), source, unit="form")

    def import_rows(self, rows: Iterator[FormRow], source: Service | Path) -> None:
        self.importer.import_rows(rows)
