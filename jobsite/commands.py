"""The manners that every command shares: one summary, text or JSON, exit 0 ok, 1 failure, 2 usage."""

import json
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm


class Command(BaseCommand):
    """Base of our commands. Progress is drawn on a terminal only, on stderr."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument("--format", choices=("text", "json"), default="text", help="how to report")
        return parser

    def progress(self, iterable: Iterable[Any] | None = None, **kwargs: Any) -> Any:
        return tqdm(iterable, disable=None, leave=False, **kwargs)

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
        return super().execute(*args, **options)


class UsageError(CommandError):
    """The words of the call are off: exit 2."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)
