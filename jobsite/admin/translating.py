"""A page to translate many texts: each beside its original, those that are missing marked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.http import QueryDict
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from jobsite.db.folding import fold
from jobsite.text.iso_names import language_name
from jobsite.types import JsonObject

UNSEEN = dict.fromkeys([*range(32), *range(127, 160), 0x2028, 0x2029], " ")  # of one line


@dataclass
class TextRow:
    """A text on the page: its `original`, its `text` in the other language, "" if it is missing,
    and what was typed. An outdated one was translated from another original.
    """

    name: str  # of its input
    original: str
    text: str
    longest: int
    is_outdated: bool = False
    is_html: bool = False
    widths: list[tuple[str, str, bool]] = field(default_factory=list)  # value, label, is chosen
    typed: str = ""
    error: str = ""

    def __post_init__(self) -> None:
        self.typed = self.text

    @property
    def is_changed(self) -> bool:
        return self.typed != self.text

    def read(self, data: QueryDict) -> bool:
        """Read what was typed. Return whether it differs from what the page had shown, which is
        what the user changed.
        """
        if self.name not in data:
            return False
        names = (self.name, f"was-{self.name}")
        typed, shown = (str(data.get(name, "")).replace("\r\n", "\n") for name in names)
        if typed == shown:
            return False
        typed = (typed if self.is_html else " ".join(typed.translate(UNSEEN).split())).strip()
        self.typed = typed.encode(errors="ignore").decode().replace("\0", "")
        if len(self.typed) > self.longest:
            text = _("At most %(most)s characters; this text has %(count)s.")
            self.error = text % {"most": self.longest, "count": len(self.typed)}
        elif self.is_changed and self.text != shown.strip():
            text = _("A colleague wrote “%(text)s” in the meantime. Save again to overwrite it.")
            self.error = text % {"text": self.text[:200]}
        return self.is_changed


def refuse_repeated(rows: Iterable[TextRow]) -> None:
    """Mark the rows that were changed to the text of another row."""
    seen: dict[str, list[TextRow]] = {}
    for row in rows:
        seen.setdefault(fold(row.typed or row.original), []).append(row)
    for same in seen.values():
        for row in same if len(same) > 1 else ():
            if row.is_changed and row.typed:
                row.error = row.error or _("Another option of this filter already uses this.")


def tabs(missing: Mapping[str, int], url: str, shown: str) -> list[JsonObject]:
    """Return the tabs of the page at `url`: the languages, with how many texts are `missing`."""
    return [
        {
            "code": code,
            "name": capfirst(language_name(code)),
            "missing": count,
            "url": f"{url}?language={code}",
            "is_open": code == shown,
        }
        for code, count in missing.items()
    ]
