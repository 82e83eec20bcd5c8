from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from forms_structure.structure import CONSENT
from forms_structure.vocabulary import Language
from jobsite.commands import Command as BaseCommand
from jobsite.commands import rehearsal
from vacancies.form_imports import FormImporter
from vacancies.sources import FormRow, Service, SourceError, read_forms


class Command(BaseCommand):
    help = (
        "Take application forms over from JSON files or from a running service that speaks this interface, "
        "for vacancies that are here. Equal forms become one; the same again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source",
            nargs="+",
            help='a file, {"<vacancy id>": {"data": [sections]}}, or the base URL of a service',
        )
        parser.add_argument("--token", default="", help="bearer token for the service's internal vacancies")
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
        parser.add_argument("--dry-run", action="store_true", help="report what would happen, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        importer = FormImporter(language=options["language"] or "", consent_name=options["consent"])
        report = importer.report
        for source in options["source"]:
            is_service = source.startswith(("http://", "https://"))
            service = Service(source, token=options["token"]) if is_service else None
            try:
                rows: Any = self._rows(service or Path(source))
                if options["dry_run"]:
                    rows = list(rows)  # read first: a transaction must not wait for a network
                with rehearsal(options["dry_run"]):
                    importer.land(rows)
            except SourceError as error:
                report.failed.append(str(error))
            if service:
                report.failed += service.problems
        summary = (
            f"{report.total} vacancies: {report.assigned} got another form, {report.updated} a changed one, "
            f"{report.unchanged} unchanged, {report.refused} refused. {report.created} forms created."
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

    def _rows(self, source: Service | Path) -> Iterator[FormRow]:
        if isinstance(source, Path):
            yield from self.progress(read_forms(source), unit="form")
            return
        yield from self.watched(source.forms(), source, unit="form")
