"""The words of the pages: terms that were replaced do not come back, in English or in a translation."""

import re
from pathlib import Path

import pytest

CATALOGS = sorted(Path(__file__).parents[1].glob("*/locale/*/LC_MESSAGES/django*.po"))
REPLACED = {
    "en": r"left alone|planned|take offline|wants attention|last day\b|bring back|elsewhere|head recruiter|"
    r"function group|classification|statuses for applicants|tell after|spontaneous|may look|extends|"
    r"take me back|add another|\bstate\b",
    "nl": r"toestand|ingepland|terugzetten",
    "fr": r"^état$",
    "de": r"geschichte|zustand",
}


def texts(path: Path, keyword: str) -> list[str]:
    """Return the texts of the entries of a catalog: its `msgid`s or `msgstr`s."""
    found = re.findall(rf'^{keyword}\S* ((?:".*"\n?)+)', path.read_text(), re.MULTILINE)
    return ["".join(re.findall('"(.*)"', text)) for text in found]


@pytest.mark.parametrize("path", CATALOGS, ids=lambda path: "-".join(path.parts[-4:]))
def test_replaced_terms_are_not_used(path: Path) -> None:
    language = path.parts[-3]
    for keyword, code in (("msgid", "en"), ("msgstr", language)):
        assert [text for text in texts(path, keyword) if re.search(REPLACED[code], text, re.IGNORECASE)] == []
