from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from jobsite.commands import Command as BaseCommand
from jobsite.commands import UsageError
from vacancies import imports
from vacancies.models import Recruiter
from vacancies.sources import Service, SourceError, read_file


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
        sources = [s for s in options["source"] if s.startswith(("http://", "https://"))]
        if sources and options["internal"]:
            raise UsageError("--internal is for files: a service tells by itself what is internal.")
        importer = imports.Importer(recruiter=self._recruiter(options["recruiter"]))
        report = importer.report
        with ExitStack() as stack:
            if options["dry_run"]:
                stack.enter_context(transaction.atomic())
            imports.switch_on_unused_filters()
            try:
                for source in options["source"]:
                    if source in sources:
                        self._from_service(importer, source, options["token"])
                    else:
                        rows = read_file(Path(source), internal=options["internal"])
                        importer.land(self.progress(rows, unit="vacancy"))
            except SourceError as error:
                raise CommandError(f"{error} {_counts(report)}") from error
            if options["dry_run"]:
                transaction.set_rollback(True)

        summary = _counts(report)
        if not (report.created or report.updated or report.failed):
            summary = f"Nothing changed: {report.unchanged} vacancies are here as their source has them."
        if options["dry_run"]:
            summary = f"Dry run, nothing was written. {summary}"
        self.finish(
            summary,
            ok=not report.failed,
            lines=[
                *(f"note: {line}" for line in report.notes),
                *(f"draft: {line}" for line in report.drafts),
                *(f"failed: {line}" for line in report.failed),
            ],
            **vars(report),
        )

    def _from_service(self, importer: imports.Importer, url: str, token: str) -> None:
        with self.progress(unit="vacancy") as bar:

            def on_total(total: int) -> None:
                bar.total = total

            service = Service(url, token=token, on_total=on_total)
            importer.land(bar.update() or row for row in service.rows())
        importer.keep_order(service.orders)
        importer.report.failed += service.problems

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


def _counts(report: imports.Report) -> str:
    return (
        f"{report.total} vacancies: {report.created} created, {report.updated} updated, "
        f"{report.unchanged} unchanged, {len(report.failed)} failed, {len(report.drafts)} left as drafts."
    )
