"""Base of the import commands: sources, options and report."""

import argparse
import ipaddress
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import tzinfo
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from jobsite.db.transactions import dry_run
from jobsite.http_client import Network
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError
from vacancies.exchange.json_files import SourceError
from vacancies.exchange.reports import ImportReport
from vacancies.exchange.service import Service
from vacancies.exchange.sources import base_url, time_zone

SHOWN_OF_A_KIND = 20


class ImportCommand(BaseCommand):
    """Base class of the import commands. Subclasses implement `rows` and `import_rows`."""

    has_services = True
    has_html = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="report what would change, but change nothing"
        )
        parser.add_argument(
            "--limit", type=_positive, metavar="N", help="import only the first N rows"
        )
        parser.add_argument(
            "--report",
            type=Path,
            metavar="FILE",
            help=(
                "write every refusal and change to FILE as JSON lines (row, id, field, code, "
                "message)"
            ),
        )
        parser.add_argument(
            "--source-time-zone",
            metavar="ZONE",
            help=(
                "time zone of the source if it states none, such as Europe/Brussels (default: "
                "the site's)"
            ),
        )
        if self.has_html:
            parser.add_argument(
                "--unescape-html",
                action="store_true",
                help=(
                    "convert texts whose HTML is escaped (&lt;p&gt;); without this, such rows "
                    "are refused"
                ),
            )
        if self.has_services:
            parser.add_argument(
                "--token",
                default="",
                help="bearer token, to read the internal vacancies of the service",
            )
            parser.add_argument(
                "--allow-address",
                action="append",
                default=[],
                type=_network,
                metavar="ADDRESS",
                help="private address or network that the service may have; may be repeated",
            )

    def import_all(
        self, names: Iterable[Any], report: ImportReport, options: dict[str, Any]
    ) -> None:
        """Import each of the sources `names`."""
        self.zone = self._zone(options["source_time_zone"])
        sources = [self._source(str(name), options) for name in names]
        left = options["limit"]
        with self._sink(options["report"], sources, report):
            for source in sources:
                total_before = report.total
                try:
                    rows = self.rows(source, options)
                    if left is not None:
                        rows = islice(rows, left)
                    if options["dry_run"]:
                        # Read first: do not hold a transaction during requests.
                        rows = iter(list(rows))
                    with dry_run(options["dry_run"]):
                        self.import_rows(rows, source)
                except SourceError as error:
                    report.fail(str(error))
                if isinstance(source, Service):
                    for problem in source.problems:
                        report.fail(problem)
                if left is not None:
                    left -= report.total - total_before
            with dry_run(options["dry_run"]):
                self.end_import()
            report.flush()

    def rows(self, source: Service | Path, options: dict[str, Any]) -> Iterator[object]:
        """Yield the rows of `source`. Raise SourceError if it cannot be read."""
        raise NotImplementedError

    def import_rows(self, rows: Iterator[object], source: Service | Path) -> None:
        """Import `rows` of `source`."""
        raise NotImplementedError

    def end_import(self) -> None:
        """Write what follows from the rows of all sources."""

    def finish_import(self, summary: str, report: ImportReport, options: dict[str, object]) -> None:
        self.finish(
            f"Dry run, nothing was written. {summary}" if options["dry_run"] else summary,
            ok=not report.failed,
            lines=_shortened(report),
            **report.data(),
        )

    def _source(self, name: str, options: dict[str, Any]) -> Service | Path:
        if not self.has_services or "://" not in name:
            return Path(name)
        try:
            url = base_url(name)
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from error
        allowed = tuple(options["allow_address"])
        return Service(url, token=options["token"], named_zone=self.zone, allowed=allowed)

    def _zone(self, name: str | None) -> tzinfo | None:
        zone = time_zone(name) if name else None
        if name and zone is None:
            raise UsageError(
                f"--source-time-zone {name}: unknown time zone; expected for example "
                "Europe/Brussels."
            )
        return zone

    @contextmanager
    def _sink(
        self, path: Path | None, sources: list[Service | Path], report: ImportReport
    ) -> Iterator[None]:
        """Open the file of --report before the import starts, and write the records of `report` to
        it.
        """
        if path is None:
            yield
            return
        if any(isinstance(source, Path) and _is_same(source, path) for source in sources):
            raise UsageError(f"--report {path}: is also a source; pass another file.")
        try:
            file = path.open("w", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--report {path}: cannot write ({error.strerror}).") from error
        with file:
            report.sink = lambda record: print(
                json.dumps(record, ensure_ascii=False), file=file, flush=True
            )
            yield


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _shortened(report: ImportReport) -> Iterator[str]:
    """Yield the lines of the report: all failures, and the first notes and drafts of each code."""
    for kind in ("note", "draft", "failed"):
        counts: dict[str, int] = {}
        for entry in report.entries:
            if entry.kind != kind:
                continue
            code = entry.remarks[0].code
            counts[code] = counts.get(code, 0) + 1
            if kind == "failed" or counts[code] <= SHOWN_OF_A_KIND:
                yield f"{kind}: {entry}"
        for code, count in counts.items():
            if kind != "failed" and count > SHOWN_OF_A_KIND:
                yield (
                    f"{kind}: and {count - SHOWN_OF_A_KIND} more like this ({code}); --report "
                    "lists all"
                )


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an IP address or network ({error})"
        ) from error
