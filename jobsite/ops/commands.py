"""What every command shares: one summary, text or JSON, the check that `migrate` has been run, and the exit
codes 0 ok, 1 failure, 2 usage, 130 interrupted."""

import json
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, transaction
from django.utils import translation
from tqdm import tqdm

from jobsite.ops import health

INTERRUPTED = 130  # 128 + SIGINT, as shells report it

logger = logging.getLogger("jobsite.ops.commands")


@contextmanager
def dry_run(is_dry: bool) -> Iterator[None]:
    """Whatever is written inside is taken back at its end, if `is_dry`."""
    if not is_dry:
        yield
        return
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off until the end of the block, so that what it commits is counted too. A second Ctrl-C is
    not put off."""
    if threading.current_thread() is not threading.main_thread():  # no signal gets there
        yield
        return
    received: list[int] = []

    def put_off(number: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    before = signal.signal(signal.SIGINT, put_off)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if received:
        raise KeyboardInterrupt


class Command(BaseCommand):
    """Base of our commands. They speak English: logs and scripts read them. Progress is drawn on a terminal
    only, on stderr.

    A command that writes sets `written`: a function that says, in a sentence, what has been written so far.
    It is called when the command is interrupted.
    """

    needs_migrations = True  # whether the database must be there with every migration applied
    written: Callable[[], str]

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument("--format", choices=("text", "json"), default="text", help="how to report")
        return parser

    def progress(self, iterable: Iterable[Any] | None = None, **kwargs: Any) -> Any:
        bar = tqdm(iterable, disable=None, leave=False, **kwargs)
        self._bars.append(bar)
        return bar

    def watched(self, rows: Iterable[Any], source: Any, *, unit: str) -> Iterator[Any]:
        """Yield `rows`, counting them on a bar; `source` tells its `on_total` how many there will be."""
        with self.progress(unit=unit) as bar:

            def on_total(total: int) -> None:
                bar.total = total

            source.on_total = on_total
            for row in rows:
                yield row
                bar.update()

    def finish(self, summary: str, *, ok: bool = True, lines: Iterable[str] = (), **data: Any) -> None:
        """Report `lines` and `summary`, or `data` as one JSON object, and leave with 1 unless `ok`."""
        if self.json:
            self.stdout.write(json.dumps({"summary": summary, **data}, ensure_ascii=False, default=str))
        else:
            for line in lines:
                self.stderr.write(line)
            self.stdout.write(summary)
        if not ok:
            raise SystemExit(1)

    def execute(self, *args: Any, **options: Any) -> Any:
        self.json = options.get("format") == "json"
        self.written = lambda: "Nothing was written."
        self._bars: list[Any] = []
        began, outcome = perf_counter(), "failed"
        try:
            if self.needs_migrations:
                check_migrations()
            with translation.override("en"):
                result = super().execute(*args, **options)
            outcome = "ok"
            return result
        except KeyboardInterrupt:
            outcome = "interrupted"
            for bar in self._bars:
                bar.close()
            written = "Nothing was written." if options.get("dry_run") else self.written()
            (options.get("stderr") or sys.stderr).write(f"Interrupted. {written}\n")
            raise SystemExit(INTERRUPTED) from None
        finally:  # not what it was called with: that may name somebody
            about: dict[str, Any] = {"command": type(self).__module__.rpartition(".")[2], "outcome": outcome}
            about["duration_ms"] = round(1000 * (perf_counter() - began))
            logger.info("%(command)s %(outcome)s in %(duration_ms)s ms", about, extra=about)


def unapplied() -> int:
    """How many migrations are not applied. Raises a CommandError where the database does not answer."""
    try:
        return health.unapplied()
    except DatabaseError as error:
        reason = str(error).strip().splitlines()[0]
        raise CommandError(f"The database cannot be used: {reason}") from None


def check_migrations() -> None:
    """Raise a CommandError unless the database has every migration of this code."""
    if count := unapplied():
        what = "1 migration is" if count == 1 else f"{count} migrations are"
        raise CommandError(f"{what} not applied to the database: run `manage.py migrate` first.")


class UsageError(CommandError):
    """The words of the call are off: exit 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)
