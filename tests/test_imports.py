"""Imports are at the top of a module, unless a comment says why one is not."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("jobsite", "forms_structure", "vacancies", "applications", "deploy")
SOURCES = [
    ROOT / "manage.py",
    *(path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))),
]
Import = (ast.Import, ast.ImportFrom)


def unexplained_imports(source: str) -> list[int]:
    """Return the lines of imports inside functions without a comment on the line or above.

    A comment counts for all imports that directly follow each other.
    """
    lines, explained, unexplained = source.splitlines(), set[int](), []
    for number, line in enumerate(lines, 1):
        if not re.match(r"\s+(?:import|from) ", line):
            continue
        above = lines[number - 2].strip()
        if "#" in line.replace("# noqa", "") or above.startswith("#") or number - 1 in explained:
            explained.add(number)
        else:
            unexplained.append(number)
    if not unexplained:  # most files: parsing is slow
        return []
    inside = {
        node.lineno
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
        if isinstance(node, Import)
    }
    return [number for number in unexplained if number in inside]


def test_imports_inside_functions_have_a_reason():
    found = {str(path.relative_to(ROOT)): unexplained_imports(path.read_text()) for path in SOURCES}

    assert len(found) > 200
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_unexplained_imports_are_found():
    source = """
import a
def f():
    import b
    # optional dependency
    import c
    import d
    x = 1
    import e  # slow to import
    import g  # noqa: F401
"""
    assert unexplained_imports(source) == [4]
