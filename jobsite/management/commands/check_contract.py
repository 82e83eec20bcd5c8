from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandParser

from jobsite.contract import manage
from jobsite.contract.checks import steps
from jobsite.contract.service import DOCUMENT, CheckedService, ContractReport, UnreachableError
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError


class Command(BaseCommand):
    help = (
        "Check that a running service conforms to the API: responses, pages, filters and caching. "
        "Only reads. Exit codes: 0 it conforms; 1 breaches, or no service; 2 usage error."
    )
    requires_system_checks: list[str] = []  # it checks another process, not this project
    needs_migrations = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("base_url", help="URL of the service: https://jobs.example.com")
        parser.add_argument("--token", default="", help="bearer token for internal lists")
        parser.add_argument(
            "--manage",
            metavar="BRAND",
            help="check the management interface of this brand with --token; writes are dry runs",
        )
        parser.add_argument("--max-pages", type=int, default=200, help="pages of a list (200)")

    def handle(self, *args: object, **options: Any) -> None:
        base = options["base_url"]
        try:
            parts = urlsplit(base)
            is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_web = False
        if not is_web:
            raise UsageError(
                f"The base URL must start with http:// or https://; received {base!r}."
            )
        if parts.query or parts.fragment:
            raise UsageError("The base URL must have no query and no fragment.")
        if options["max_pages"] < 1:
            raise UsageError("--max-pages must be 1 or more.")

        report = ContractReport()
        service = CheckedService(base, options["token"], report)
        walk = {DOCUMENT: service.load_document, **steps(service, options["max_pages"])}
        if options["manage"]:
            walk = manage.steps(service, options["manage"])
        for name, step in self.progress(walk.items(), unit="step"):
            try:
                step()
            except UnreachableError as error:
                report.expect(False, name, "a response", str(error))
            except Exception as error:
                # A malformed response must not prevent the other checks.
                report.expect(False, name, "responses that can be checked", repr(error))
            if not hasattr(service, "document"):
                break  # the others need it

        lines = [f"note: {note}" for note in report.notes]
        lines += [f"skipped: {text}" for text in report.skipped]
        for breach in report.breaches.values():
            text = "breach: {endpoint}: expected {expected}; received {received}".format(**breach)
            lines.append(f"{text} (and {breach['more']} more)" if breach["more"] else text)
        count = len(report.breaches)
        verdict = f"{count} breach{'es' if count > 1 else ''}" if count else "conforms to the API"
        self.finish(
            f"{service.base}: {verdict} ({report.checks} checks, {report.requests} requests, "
            f"{len(report.skipped)} skipped).",
            ok=not count,
            lines=lines,
            **vars(report) | {"breaches": list(report.breaches.values())},
        )
