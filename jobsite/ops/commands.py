"""The base class of our commands.

Each prints one summary, as text or JSON, and refuses to run while migrations are missing. Exit
codes: 0 success, 1 failure, 2 usage error, 3 a copy changed (mirror), 130 interrupted.
"""

import json
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import translation
from tqdm import tqdm

from jobsite.object_store.circuit_breaker import UnavailableError
from jobsite.ops import health

CHANGED = 3  # a copy changed, so that what is made from it has to be made anew
INTERRUPTED = 130  # 128 + SIGINT, the convention of shells

logger = logging.getLogger("jobsite.ops.commands")

Row = TypeVar("Row")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, so that the command counts what the block commits. A
    second Ctrl-C takes effect immediately.
    """
    # Only the main thread gets signals.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def delay(number: int, frame: object) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    before = signal.signal(signal.SIGINT, delay)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if received:
        raise KeyboardInterrupt


class Command(BaseCommand):
    """Base class of our commands. Output is English, for logs and scripts. Progress bars are shown
    on stderr, and only if it is a terminal.

    A command that writes sets `written`: a function that returns a sentence about what it has
    written so far. It is printed if the command is interrupted.
    """

    formats = ("text", "json")
    needs_migrations = True  # whether all migrations have to be applied
    written: Callable[[], str]

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: object) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument(
            "--format", choices=self.formats, default=self.formats[0], help="output format"
        )
        return parser

    def progress(self, iterable: Iterable[object] | None = None, **kwargs: object) -> tqdm:
        bar = tqdm(iterable, disable=None, leave=False, **kwargs)
        self._bars.append(bar)
        return bar

    def with_progress(self, rows: Iterable[Row], source: Any, *, unit: str) -> Iterator[Row]:
        """Yield `rows` and show a progress bar;
        `source` calls its `on_total` with the number of rows.
        """
        with self.progress(unit=unit) as bar:

            def on_total(total: int) -> None:
                bar.total = total

            source.on_total = on_total
            for row in rows:
                yield row
                bar.update()

    def finish(
        self, summary: str, *, ok: bool = True, lines: Iterable[str] = (), **data: object
    ) -> None:
        """Print `lines` and `summary`, or `data` as one JSON object. Exit with 1 unless `ok`."""
        if self.json:
            self.stdout.write(
                json.dumps({"summary": summary, **data}, ensure_ascii=False, default=str)
            )
        else:
            for line in lines:
                self.stderr.write(line)
            self.stdout.write(summary)
        if not ok:
            raise SystemExit(1)

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.json = options.get("format") == "json"
        self.written = lambda: "Nothing was written."
        self._bars: list[tqdm] = []
        started_at, outcome = perf_counter(), "failed"
        try:
            if self.needs_migrations:
                check_migrations()
            with translation.override("en"):
                result = super().execute(*args, **options)
            outcome = "ok"
            return result
        except UnavailableError as error:
            raise CommandError(f"{error} {self.written()}") from None
        except SystemExit as end:
            outcome = "ok" if end.code == CHANGED else outcome
            raise
        except KeyboardInterrupt:
            outcome = "interrupted"
            for bar in self._bars:
                bar.close()
            written = "Nothing was written." if options.get("dry_run") else self.written()
            (options.get("stderr") or sys.stderr).write(f"Interrupted. {written}\n")
            raise SystemExit(INTERRUPTED) from None
        finally:  # log no arguments: they may contain personal data
            name = type(self).__module__.rpartition(".")[2]
            fields: dict[str, object] = {"command": name, "outcome": outcome}
            fields["duration_ms"] = round(1000 * (perf_counter() - started_at))
            logger.info("%(command)s %(outcome)s in %(duration_ms)s ms", fields, extra=fields)


def count_unapplied_migrations() -> int:
    """Return how many migrations are not applied.
    Raises CommandError if the database does not respond.
    """
    try:
        return health.count_unapplied_migrations()
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        raise CommandError(f"The database cannot be used: {reason}") from None


def check_migrations() -> None:
    """Raise CommandError if migrations are not applied."""
    if count := count_unapplied_migrations():
        what = "1 migration is" if count == 1 else f"{count} migrations are"
        raise CommandError(f"{what} not applied to the database: run `manage.py migrate` first.")


class UsageError(CommandError):
    """The arguments are invalid: exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)
