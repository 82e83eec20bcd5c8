from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from forms_structure.choices import Language
from forms_structure.structure import CONSENT
from vacancies.exchange.form_importer import FormImporter
from vacancies.exchange.sources import FormRow, Service, read_forms
from vacancies.management.import_command import ImportCommand


class Command(ImportCommand):
    help = (
        "Take application forms over from files (JSON or NDJSON, gzip too) or from a running service that "
        "speaks this interface, for vacancies that are here. Equal forms become one; the same again changes "
        "nothing."
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
            help=f"name of the source's consent box, which ours replaces ({CONSENT})",
        )
        parser.add_argument(
            "--language",
            choices=Language.values,
            help="of forms whose language levels do not show it (the site's)",
        )
        super().add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        self.importer = FormImporter(
            language=options["language"] or "",
            consent_name=options["consent"],
            unescape=options["unescape_html"],
        )
        report = self.importer.report
        self.written = lambda: (
            f"{report.created} forms were created, {report.assigned} vacancies got another form and "
            f"{report.updated} a changed one; the same command again does the rest."
        )
        self.import_all(options["source"], report, options)
        summary = (
            f"{report.total} vacancies: {report.assigned} got another form, {report.updated} a changed one, "
            f"{report.unchanged} unchanged, {report.refused} refused. {report.created} forms created."
        )
        self.finish_import(summary, report, options)

    def rows(self, source: Service | Path, options: dict[str, Any]) -> Iterator[FormRow]:
        if isinstance(source, Path):
            yield from self.progress(read_forms(source), unit="form")
        else:
            yield from self.with_progress(source.forms(), source, unit="form")

    def import_rows(self, rows: Iterator[FormRow], source: Service | Path) -> None:
        self.importer.import_rows(rows)
