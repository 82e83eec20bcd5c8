"""The words of the pages: terms that were replaced do not come back, in English or in a
translation.
"""

import re
from pathlib import Path

CATALOGS = sorted(Path(__file__).parents[1].glob("*/locale/*/LC_MESSAGES/django*.po"))
REPLACED = {
    "en": r"left alone|planned|take offline|wants attention|last day\b|bring back|elsewhere|head "
    r"recruiter|"
    r"function group|classification|statuses for applicants|tell after|spontaneous|may "
    r"look|extends|"
    r"take me back|add another|\bstate\b",
    "nl": r"toestand|ingepland|terugzetten",
    "fr": r"^état$",
    "de": r"geschichte|zustand",
}


def texts(path: Path, keyword: str) -> list[str]:
    """Return the texts of the entries of a catalog: its `msgid`s or `msgstr`s."""
    found = re.findall(rf'^{keyword}\S* ((?:".*"\n?)+)', path.read_text(), re.MULTILINE)
    return ["".join(re.findall('"(.*)"', text)) for text in found]


def test_replaced_terms_are_not_used() -> None:
    found = [
        ("-".join(path.parts[-4:]), text)
        for path in CATALOGS
        for keyword, language in (("msgid", "en"), ("msgstr", path.parts[-3]))
        for text in texts(path, keyword)
        if re.search(REPLACED[language], text, re.IGNORECASE)
    ]
    assert found == []
