"""The test oracle: which vacancies each list of the interface holds, in which order, on which page.

Written from the specification (docs/decisions.md #1, #2, #15 and #19) in plain Python. It imports
nothing of the product, so that it cannot repeat a mistake of the product. The tests of the lists,
the chaos harness, the stress test and the hostile requests use it.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote, urlencode


class Vacancy(Protocol):
    """What the oracle needs to know of a vacancy: a model instance or a named tuple of FIELDS. The
    two times may be datetimes or seconds; `publish_until` is None for no end.
    """

    status: Any
    audience: Any
    is_hot: Any
    publish_from: Any
    publish_until: Any


FIELDS = ("status", "audience", "is_hot", "publish_from", "publish_until")


@dataclass(frozen=True)
class ListRule:
    """A list holds the published vacancies for one audience, or only the hot ones of these."""

    audience: str
    is_hot: bool = False

    def admits(self, vacancy: Vacancy) -> bool:
        """Whether the list holds `vacancy` while it is published."""
        return vacancy.audience in (self.audience, "both") and bool(
            vacancy.is_hot or not self.is_hot
        )


LISTS = {
    "/v1/vacancies": ListRule("public"),
    "/v1/vacancies/hot": ListRule("public", is_hot=True),
    "/v1/vacancies/internal": ListRule("internal"),
    "/v1/vacancies/hot/internal": ListRule("internal", is_hot=True),
    "/v0.1/vacancies": ListRule("public"),
    "/v0.1/vacancies/internal": ListRule("internal"),
}
PUBLIC_LISTS = tuple(path for path, rule in LISTS.items() if rule.audience == "public")
INTERNAL_LISTS = tuple(path for path, rule in LISTS.items() if rule.audience == "internal")


# --- Membership ---


def is_published(vacancy: Vacancy, start: Any, end: Any = None) -> bool | None:
    """Whether `vacancy` is published from `start` to `end` (at the time `start` if None). Returns
    None if that changes in between: then a response of that time may show it or not.
    """
    end = start if end is None else end
    if vacancy.status != "published" or vacancy.publish_from is None or vacancy.publish_from > end:
        return False
    until = vacancy.publish_until
    if until is not None and until <= start:
        return False
    return True if vacancy.publish_from <= start and (until is None or end < until) else None


def is_listed(path: str, vacancy: Vacancy, start: Any, end: Any = None) -> bool | None:
    """Whether the list at `path` holds `vacancy` from `start` to `end`;
    None as in `is_published`.
    """
    return LISTS[path].admits(vacancy) and is_published(vacancy, start, end)


def matches(texts: Iterable[str | None], search: str) -> bool:
    """Whether every word of `search` occurs in the visible part of `texts`, ignoring case and
    accents.
    """
    visible = _folded(
        "\n".join(html.unescape(re.sub(r"<[^>]*>", " ", text or "")) for text in texts)
    )
    return all(word in visible for word in _folded(search).split())


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


# --- Pages ---


def newest_first(vacancies: Iterable[Any]) -> list[int]:
    """The ids of `vacancies` in the order of the lists."""
    ordered = sorted(vacancies, key=lambda each: (each.publish_from, each.pk), reverse=True)
    return [each.pk for each in ordered]


def places(size: int, number: int, total: int) -> range:
    """The places of the items of page `number`, from 0 on."""
    return range((number - 1) * size, min(number * size, total))


def address(path: str, query: Mapping[str, str], size: int, number: int) -> str:
    """The path and query of a page, as links spell it."""
    query = {**query, "page[size]": str(size), "page[number]": str(number)}
    return f"{path}?{urlencode(query, quote_via=quote, safe='')}"


def links_and_meta(
    base: str, path: str, query: Mapping[str, str], size: int, number: int, total: int
) -> tuple[dict[str, str | None], dict[str, Any]]:
    """The `links` and `meta` of a page of a list with `total` items, on the site at `base`."""
    items, last = places(size, number, total), max(1, -(-total // size))
    numbers = {
        "first": 1,
        "last": last,
        "prev": min(number - 1, last) or None,
        "next": number + 1 if number < last else None,
    }
    links = {
        name: base + address(path, query, size, each) if each else None
        for name, each in numbers.items()
    }
    meta = {
        "current_page": number,
        "from": items[0] + 1 if items else None,
        "last_page": last,
        "path": base + path,
        "per_page": size,
        "to": items[-1] + 1 if items else None,
        "total": total,
    }
    return links, meta
