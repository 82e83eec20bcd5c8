"""The defects of defects.toml, and the calls of the recorder at their places."""

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CALL = "__import__('tests.mutation.plugin', fromlist=['hit']).hit({})\n"


@dataclass
class Defect:
    number: int
    path: str
    old: str
    new: str
    breaks: str
    commit: str = ""
    reached: str = ""
    tests: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    is_migrated: bool = False

    @property
    def is_recorded(self) -> bool:
        return not self.tests

    def line(self, root: Path = ROOT) -> int:
        text = (root / self.path).read_text()
        return text[: _only(text, self.old)].count("\n") + 1

    def apply(self, text: str) -> str:
        """Return the content of the file with the defect. Raises ValueError."""
        place = _only(text, self.old)
        return text[:place] + self.new + text[place + len(self.old) :]

    def watched_line(self, text: str) -> int:
        """Return the line, from 0, before which the recorder is called: that of the innermost
        statement of a function at the place. Raises ValueError.
        """
        place = _only(text, self.reached or self.old)
        place += len(text[place:]) - len(text[place:].lstrip())
        line = text[:place].count("\n") + 1
        lines = text.splitlines()
        functions = [
            node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)
        ]
        starts = [
            node.lineno
            for function in functions
            for node in ast.walk(function)
            if node is not function
            and isinstance(node, ast.stmt)
            and node.lineno <= line <= (node.end_lineno or 0)
            and not lines[node.lineno - 1].lstrip().startswith(("elif ", "@"))
            and not lines[node.lineno - 1][: node.col_offset].strip()
        ]
        if not starts:
            raise ValueError(
                f"defect {self.number}: {self.path}:{line} is not in a function: name `tests`"
            )
        return max(starts) - 1


def read() -> list[Defect]:
    rows: dict[str, Any] = tomllib.loads((Path(__file__).with_name("defects.toml")).read_text())
    return [Defect(int(number), **row) for number, row in rows.items()]


def with_recorder(text: str, defects: list[Defect]) -> str:
    """Return the content of a Python file with a call of the recorder at the
    places of `defects`.
    """
    lines = text.splitlines(keepends=True)
    places = [(each.watched_line(text), each) for each in defects]
    for at, defect in sorted(places, key=lambda pair: -pair[0]):
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        lines.insert(at, indent + CALL.format(defect.number))
    return "".join(lines)


def _only(text: str, part: str) -> int:
    if (count := text.count(part)) != 1:
        raise ValueError(f"occurs {count} times, not once: {part!r}")
    return text.index(part)
