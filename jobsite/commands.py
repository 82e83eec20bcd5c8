"""The manners that every command shares: one summary, text or JSON, exit 0 ok, 1 failure, 2 usage."""

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import translation
from tqdm import tqdm

logger = logging.getLogger("jobsite.commands")


@contextmanager
def rehearsal(is_dry: bool) -> Iterator[None]:
    """Whatever is written inside is taken back at its end, if `is_dry`."""
    if not is_dry:
        yield
        return
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


class Command(BaseCommand):
    """Base of our commands. They speak English: logs and scripts read them. Progress is drawn on a terminal
    only, on stderr."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument("--format", choices=("text", "json"), default="text", help="how to report")
        return parser

    def progress(self, iterable: Iterable[Any] | None = None, **kwargs: Any) -> Any:
        return tqdm(iterable, disable=None, leave=False, **kwargs)

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
        began, outcome = perf_counter(), "failed"
        try:
            with translation.override("en"):
                result = super().execute(*args, **options)
            outcome = "ok"
            return result
        finally:  # not what it was called with: that may name somebody
            about: dict[str, Any] = {"command": type(self).__module__.rpartition(".")[2], "outcome": outcome}
            about["duration_ms"] = round(1000 * (perf_counter() - began))
            logger.info("%(command)s %(outcome)s in %(duration_ms)s ms", about, extra=about)


class UsageError(CommandError):
    """The words of the call are off: exit 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)
