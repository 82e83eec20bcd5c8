"""Compiled translations: a .mo file beside each .po file, which Django reads.

`manage.py compilemessages` replaces Django's command, which needs GNU gettext: servers have only
Python. It reads what `make messages` writes: one entry a paragraph, no fuzzy and no obsolete
entries.
"""

import ast
import re
from array import array
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

MAGIC, HEADER = 0x950412DE, 7  # of the GNU MO format: a number, and how many numbers the header has
_LINE = re.compile(r'(?:(msgctxt|msgid|msgid_plural|msgstr)(?:\[\d+\])? )?(".*")')


def read(path: Path) -> dict[str, str]:
    """Return the translations of a .po file as they are in a .mo file: control characters join
    contexts and plural forms to the text. Raise ValueError for a line that is not of a catalog.
    """
    found = {}
    for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
        texts: dict[str, list[str]] = {"msgctxt": [], "msgid": [], "msgid_plural": [], "msgstr": []}
        current: list[str] = []
        for line in paragraph.splitlines():
            if not line or line.startswith("#"):
                continue
            match = _LINE.fullmatch(line)
            if match is None or not (match[1] or current):
                raise ValueError(f"{path}: {line!r} is not a line of a catalog.")
            if match[1]:
                current = texts[match[1]]
                current.append("")
            current[-1] += ast.literal_eval(match[2])
        message = "\0".join(texts["msgid"] + texts["msgid_plural"])
        found["\4".join([*texts["msgctxt"], message])] = "\0".join(texts["msgstr"])
    return found


def compiled(translations: dict[str, str]) -> bytes:
    """Return the content of a .mo file. Messages without a translation are left out."""
    pairs = sorted(
        (key.encode(), text.encode()) for key, text in translations.items() if text.strip("\0")
    )
    # Offsets of two tables of lengths and offsets.
    keys, texts = 4 * HEADER, 4 * HEADER + 8 * len(pairs)
    start = texts + 8 * len(pairs)
    numbers, content = [MAGIC, 0, len(pairs), keys, texts, 0, start], b""
    for string in (*(key for key, _ in pairs), *(text for _, text in pairs)):
        numbers += [len(string), start + len(content)]
        content += string + b"\0"
    return array("I", numbers).tobytes() + content


def outdated() -> Iterator[tuple[Path, bytes]]:
    """Yield the .mo files that are missing or differ from their .po file, and what they should
    contain.
    """
    for path in Path(settings.BASE_DIR).glob("[a-z]*/locale/*/LC_MESSAGES/*.po"):
        target, content = path.with_suffix(".mo"), compiled(read(path))
        if not target.exists() or target.read_bytes() != content:
            yield target, content


def compile_catalogs() -> int:
    """Write the .mo files that are outdated. Return how many."""
    files = list(outdated())
    for path, content in files:
        part = path.with_suffix(".part")  # a process that starts meanwhile reads a whole file
        part.write_bytes(content)
        part.replace(path)
    return len(files)
