from urllib.parse import urlsplit

from django.core.management.base import CommandParser

from jobsite.contract.checks import Step, steps
from jobsite.contract.service import CheckedService, ContractReport, UnreachableError
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError


def check_address(url: str) -> None:
    """Raise UsageError unless `url` can be the base URL of a service."""
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_web = False
    if not is_web:
        raise UsageError(f"The base URL must start with http:// or https://; received {url!r}.")
    if parts.query or parts.fragment:
        raise UsageError("The base URL must have no query and no fragment.")


class Command(BaseCommand):
    help = (
        "Check that a running service conforms to the API: endpoints, items, pagination, "
        "filters, errors and "
        "caching. Only reads. Exit codes: 0 it conforms; 1 breaches, or no service; 2 usage error."
    )
    requires_system_checks: list[str] = []  # it checks another process, not this project
    needs_migrations = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "base_url", help="base URL of the service, such as https://jobs.example.com"
        )
        parser.add_argument("--token", default="", help="bearer token for internal lists")
        parser.add_argument(
            "--max-pages",
            type=int,
            default=200,
            help="maximum number of pages to read of a list (200)",
        )

    def handle(self, *, base_url: str, token: str, max_pages: int, **options: object) -> None:
        check_address(base_url)
        if max_pages < 1:
            raise UsageError("--max-pages must be 1 or more.")
        report = ContractReport()
        service = CheckedService(base_url, token=token, report=report)
        self._run(steps(service, max_pages=max_pages), report)
        self._show(service.base, report)

    def _run(self, walk: list[Step], report: ContractReport) -> None:
        with self.progress(total=len(walk), unit="step") as bar:
            for name, step in walk:
                bar.set_description(name)
                try:
                    step()
                except UnreachableError as error:
                    report.expect(False, name, "a response", str(error))
                    if report.requests == 1:
                        break
                except Exception as error:
                    # A malformed response must not prevent the other checks.
                    report.expect(False, name, "responses that can be checked", repr(error))
                bar.update()

    def _show(self, base: str, report: ContractReport) -> None:
        breaches = report.breaches
        verdict = (
            f"{len(breaches)} breach{'' if len(breaches) == 1 else 'es'}"
            if breaches
            else "conforms to the API"
        )
        self.finish(
            f"{base}: {verdict} ({report.checks} checks, {report.requests} requests, "
            f"{len(report.skipped)} skipped).",
            ok=not breaches,
            lines=[
                *(f"note: {note}" for note in report.notes),
                *(f"skipped: {text}" for text in report.skipped),
                *(f"breach: {breach}" for breach in breaches),
            ],
            breaches=[vars(breach) for breach in breaches],
            notes=report.notes,
            skipped=report.skipped,
            checks=report.checks,
            requests=report.requests,
        )
