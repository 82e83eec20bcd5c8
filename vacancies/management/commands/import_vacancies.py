from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from jobsite.ops.commands import UsageError
from vacancies.exchange.fields import Remark
from vacancies.exchange.importer import VacancyImporter
from vacancies.exchange.reports import VacancyReport
from vacancies.exchange.service import Service
from vacancies.exchange.sources import SourceRow, read_file
from vacancies.management.import_command import ImportCommand
from vacancies.models import Recruiter


class Command(ImportCommand):
    help = (
        "Import vacancies from files (JSON or NDJSON, also gzip) or from a running service with "
        "this API. Ids and timestamps are kept. Importing the same vacancies again changes "
        "nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source", nargs="+", help="a file of v1 items, or the base URL of a service"
        )
        parser.add_argument(
            "--internal", action="store_true", help="the items of the files are internal"
        )
        parser.add_argument(
            "--recruiter", help="id or name of the head recruiter of vacancies that have none"
        )
        super().add_arguments(parser)

    def handle(self, *args: object, **options: Any) -> None:
        if options["internal"] and any("://" in source for source in options["source"]):
            raise UsageError(
                "--internal applies to files only: a service states which vacancies are internal."
            )
        self.importer = VacancyImporter(
            recruiter=self._recruiter(options["recruiter"]), unescape=options["unescape_html"]
        )
        report = self.importer.report
        self.written = lambda: (
            f"{report.created} vacancies were created and {report.updated} updated; run the "
            "command again to continue."
        )
        self.import_all(options["source"], report, options)
        self.finish_import(_summary(report), report, options)

    def rows(self, source: Service | Path, options: dict[str, Any]) -> Iterator[SourceRow]:
        if isinstance(source, Path):
            rows = read_file(source, internal=options["internal"], zone=self.zone)
            yield from self.progress(rows, unit="vacancy")
            return
        is_zone_known = True
        for row in self.with_progress(source.rows(), source, unit="vacancy"):
            if row.zone is None and is_zone_known:
                is_zone_known = False
                text = (
                    "states no time zone; its times were read as "
                    f"{timezone.get_current_timezone_name()}. Pass another one with "
                    "--source-time-zone"
                )
                self.importer.report.add("note", source.base_url, Remark("", "time_zone", text))
            yield row

    def import_rows(self, rows: Iterator[SourceRow], source: Service | Path) -> None:
        self.importer.import_rows(rows)
        if isinstance(source, Service):
            self.importer.import_rows(source.translations())

    def end_import(self) -> None:
        self.importer.set_employment_types()

    def _recruiter(self, named: str | None) -> Recruiter | None:
        if named is None:
            return None
        lookup = {"pk": named} if named.isdecimal() else {"name": named}
        found = list(Recruiter.objects.filter(**lookup)[:2])
        if len(found) != 1:
            raise UsageError(
                f"--recruiter {named}: matches {'no' if not found else 'more than one'} recruiter."
            )
        return found[0]


def _summary(report: VacancyReport) -> str:
    if not (report.has_changed or report.failed):
        return f"Nothing changed: {report.unchanged} vacancies are the same as in the source."
    text = (
        f"{report.total} vacancies: {report.created} created, {report.updated} updated, "
        f"{report.unchanged} unchanged, {report.refused} refused, {len(report.drafts)} left as "
        "drafts."
    )
    if report.expired:
        text += f" {report.expired} of the created vacancies are expired."
    if report.not_public:
        text += f" {report.not_public} of them are drafts, scheduled or closed in the source."
    if report.related:
        text += f" {report.related} brands and recruiters created or updated."
    if report.typed:
        text += f" {report.typed} options received their employment type."
    if report.languages:
        found = (
            f"{code or 'not recognised'} {count}" for code, count in report.languages.most_common()
        )
        text += f" Languages guessed from the texts: {', '.join(found)}."
    return text
