from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from jobsite.commands import Command as BaseCommand
from jobsite.commands import UsageError, rehearsal
from vacancies import imports
from vacancies.models import Recruiter
from vacancies.sources import Row, Service, SourceError, read_file


class Command(BaseCommand):
    help = (
        "Take vacancies over from JSON files or from a running service that speaks this interface. "
        "Ids and timestamps stay; the same again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", nargs="+", help="a file of v1 items, or the base URL of a service")
        parser.add_argument("--internal", action="store_true", help="the items of the files are internal")
        parser.add_argument("--recruiter", help="id or name of who heads vacancies that come without a head")
        parser.add_argument("--token", default="", help="bearer token for the service's internal vacancies")
        parser.add_argument("--dry-run", action="store_true", help="report what would happen, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        services = [s for s in options["source"] if s.startswith(("http://", "https://"))]
        if services and options["internal"]:
            raise UsageError("--internal is for files: a service tells by itself what is internal.")
        importer = imports.Importer(recruiter=self._recruiter(options["recruiter"]))
        report = importer.report
        for source in options["source"]:
            service = Service(source, token=options["token"]) if source in services else None
            try:
                rows = self._rows(service or Path(source), internal=options["internal"])
                if options["dry_run"]:
                    rows = iter(list(rows))  # read first: a transaction must not wait for a network
                with rehearsal(options["dry_run"]):
                    importer.land(rows)
                    if service:
                        importer.keep_order(service.orders)
            except SourceError as error:
                report.failed.append(str(error))
            if service:
                report.failed += service.problems
        self.finish(
            _summary(report, is_dry=options["dry_run"]),
            ok=not report.failed,
            lines=[
                *(f"note: {line}" for line in report.notes),
                *(f"draft: {line}" for line in report.drafts),
                *(f"failed: {line}" for line in report.failed),
            ],
            **vars(report),
        )

    def _rows(self, source: Service | Path, *, internal: bool) -> Iterator[Row]:
        """Yield the rows of a source, counting them on a bar."""
        if isinstance(source, Path):
            yield from self.progress(read_file(source, internal=internal), unit="vacancy")
            return
        yield from self.watched(source.rows(), source, unit="vacancy")

    def _recruiter(self, named: str | None) -> Recruiter | None:
        if named is None:
            return None
        lookup = {"pk": named} if named.isdecimal() else {"name": named}
        found = list(Recruiter.objects.filter(**lookup)[:2])
        if len(found) != 1:
            raise UsageError(
                f"--recruiter {named}: {'no' if not found else 'more than one'} recruiter is called so."
            )
        return found[0]


def _summary(report: imports.Report, *, is_dry: bool) -> str:
    text = (
        f"{report.total} vacancies: {report.created} created, {report.updated} updated, "
        f"{report.unchanged} unchanged, {report.refused} refused, {len(report.drafts)} left as drafts."
    )
    if report.moved:
        text += f" {report.moved} moved to keep the order of the source."
    if report.related:
        text += f" {report.related} brands and recruiters created or updated."
    if not (report.has_changed or report.failed):
        text = f"Nothing changed: {report.unchanged} vacancies are here as their source has them."
    return f"Dry run, nothing was written. {text}" if is_dry else text
