"""Run a management command, and return what it prints."""

from io import StringIO
from typing import Any

from django.core.management import call_command


def run(command: str, *words: Any, **options: Any) -> tuple[Any, str, list[str]]:
    """Return (exit code, standard output, lines of standard error)."""
    code, out, err = 0, StringIO(), StringIO()
    try:
        call_command(command, *map(str, words), stdout=out, stderr=err, **options)
    except SystemExit as stop:
        code = stop.code
    return code, out.getvalue().strip(), err.getvalue().splitlines()
