"""What the programs of tests/chaos and tests/benchmarks share: command lines and tables."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def parser(doc: str | None, *options: str) -> argparse.ArgumentParser:
    """Return a parser with the docstring of the program and these of its options; SIGTERM then
    stops what the program has started.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if "logs" in options:
        made.add_argument(
            "--logs", type=Path, metavar="FOLDER", help="keep the logs of the servers here"
        )
    if "database" in options:
        made.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    if "only" in options:
        made.add_argument("--only", nargs="*", metavar="KEY", default=[])
    return made


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown, as in the documentation."""
    lines = [head, ["---", *("--:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
