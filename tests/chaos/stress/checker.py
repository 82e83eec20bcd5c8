"""The checks of one response, against what shared memory said before and after the request."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from tests.chaos import oracle
from tests.chaos.stress import state
from tests.chaos.stress.state import WIDTH, Name, Related, Row, Snapshot, get


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Checker:
    """Reports what is wrong with a response to `target`.

    The request lasted from `start` to `end` of the clock and began at `began` of the monotonic
    clock. `report` takes the kind of an error, its details, and by how many seconds the response is
    stale.
    """

    before: Snapshot
    after: Snapshot
    start: float
    end: float
    began: float
    report: Callable[[str, str, float], None]
    target: str

    def wrong(self, kind: str, detail: Any, changed_at: float | None = None) -> None:
        staleness = max(0.0, self.began - changed_at) if changed_at is not None else 0.0
        self.report(kind, f"{self.target}: {detail}", staleness)

    def is_unchanged(self, table: str, place: int) -> bool:
        """Whether no change of that row was under way during the request."""
        sequence = get(getattr(self.before, table), place, Row.SEQUENCE)
        return (
            sequence % 2 == 0 and get(getattr(self.after, table), place, Row.SEQUENCE) == sequence
        )

    def is_shown(self, place: int, path: str | None = None) -> bool | None:
        """Whether the list at `path` (the single vacancy if None) must show the vacancy, or must
        not. None: both are right.
        """
        if not self.is_unchanged("rows", place):
            return None
        facts = self.before.facts(place)
        if path is None:
            return oracle.is_published(facts, self.start, self.end)
        return oracle.is_listed(path, facts, self.start, self.end)

    def changed_at(self, place: int) -> float:
        return get(self.before.rows, place, Row.CHANGED_AT)

    def check_number(
        self, kind: str, text: str, start: str, table: str, place: int, committed: int, begun: int
    ) -> None:
        """Check that `text` is `start` with the number that was committed last, or one of a change
        under way. `committed` and `begun` are the columns with these numbers.
        """
        before, after = getattr(self.before, table), getattr(self.after, table)
        match = re.fullmatch(rf"{re.escape(start)} c(\d+)(?: word\d)?", text)
        low, high = get(before, place, committed), get(after, place, begun)
        changed_at = get(before, place, Row.CHANGED_AT)
        if not match:
            self.wrong(f"{kind} is invalid", f"{text!r} instead of {start} c{low:.0f}", changed_at)
        elif self.is_unchanged(table, place):
            if int(match[1]) != low:
                self.wrong(f"{kind} is stale", f"{text!r} is not c{low:.0f}", changed_at)
        elif not low <= int(match[1]) <= high:
            self.wrong(f"{kind} is stale", f"{text!r} is not c{low:.0f} to c{high:.0f}", changed_at)

    def check_name(
        self, kind: str, text: str, first: int, count: int, expected: int | None
    ) -> None:
        match = re.match(r"[A-Z][a-z]+(\d)", text or "")
        if (
            not match
            or int(match[1]) >= count
            or (expected is not None and int(match[1]) != expected)
        ):
            self.wrong(f"another {kind}", f"{text!r}, not {expected}")
        else:
            place = first + int(match[1])
            self.check_number(
                f"{kind} name",
                text,
                state.first_word(place),
                "names",
                place,
                Name.TITLE,
                Name.BEGUN,
            )

    def check_item(self, item: dict[str, Any], pk: int | None = None) -> None:
        """Check the keys that an item has."""
        place = (pk or item["id"]) - 1
        rows, related = self.before.rows, self.before.related
        row, is_related = self.is_unchanged("rows", place), self.is_unchanged("related", place)
        related_at = get(related, place, Related.CHANGED_AT)
        if "NEVER" in json.dumps(item):
            self.wrong("rolled back", item)
        if "title" in item:
            start = f"V{place + 1}"
            self.check_number("title", item["title"], start, "rows", place, Row.TITLE, Row.BEGUN)
        if "is_hot" in item and row and item["is_hot"] != bool(get(rows, place, Row.IS_HOT)):
            self.wrong("is_hot is stale", item["id"], self.changed_at(place))
        for key, kind, first, count, column in (
            ("brand", "brand", state.BRAND_NAMES, state.BRANDS, Row.BRAND),
            (
                "head_recruiter",
                "recruiter",
                state.RECRUITER_NAMES,
                state.RECRUITERS,
                Row.HEAD_RECRUITER,
            ),
        ):
            if key in item:
                expected = int(get(rows, place, column)) if row else None
                self.check_name(kind, item[key]["name"], first, count, expected)
        for key, first, count, column in (
            ("regions", state.REGION_NAMES, state.REGIONS, Related.REGIONS),
            ("recruiters", state.RECRUITER_NAMES, state.RECRUITERS, Related.RECRUITERS),
        ):
            if key in item:
                texts = [
                    each if isinstance(each, str) else each["name"] for each in item[key] or ()
                ]
                chosen = state.decoded(get(related, place, column))
                if is_related and len(texts) != len(chosen):
                    self.wrong(
                        f"{key} are stale", f"{place + 1}: {texts}, not {chosen}", related_at
                    )
                else:
                    for n, text in enumerate(texts):
                        self.check_name(key, text, first, count, chosen[n] if is_related else None)
        self.check_facts(item, place)
        # A complete v1 item.
        if "head_recruiter" in item and "title_internal" in item and is_related:
            files, number = item.get("attachments", []), get(related, place, Related.ATTACHMENT)
            if len(files) != bool(number):
                self.wrong(
                    "attachments are stale", f"{place + 1}: {files}, not {number}", related_at
                )
            elif files:
                name, columns = files[0]["name"], (Related.ATTACHMENT, Related.BEGUN)
                self.check_number("attachment", name, "A", "related", place, *columns)

    def check_facts(self, item: dict[str, Any], place: int) -> None:
        """Check the facts that an item has: pay, place, address and employment types."""
        for key, kind, table, committed, begun in (
            ("pay", "Pay", "rows", Row.PAY, Row.BEGUN),
            ("places", "City", "related", Related.PLACE, Related.BEGUN),
        ):
            number = get(getattr(self.before, table), place, committed)
            if shown := item.get(key):
                text = shown["note"] if key == "pay" else shown[0]["locality"]
                self.check_number(kind, text, kind, table, place, committed, begun)
            elif key in item and number and self.is_unchanged(table, place):
                self.wrong(f"{kind} is missing", f"{place + 1}: not c{number:.0f}")
        names = self.before.names
        brand = int(get(self.before.rows, place, Row.BRAND))
        name = state.BRAND_NAMES + brand
        if "url" in item and self.is_unchanged("rows", place) and self.is_unchanged("names", name):
            address = state.address(brand, get(names, name, Name.TITLE))
            if item["url"] != (f"{address}{place + 1}" if address else None):
                self.wrong("url is stale", f"{item['url']}, not {address}")
        regions = state.decoded(get(self.before.related, place, Related.REGIONS))
        if "employment_types" in item and self.is_unchanged("related", place):
            types = {
                state.employment_type(get(names, region, Name.TITLE)) for region in regions
            } - {""}
            is_known = all(self.is_unchanged("names", region) for region in regions)
            if is_known and set(item["employment_types"]) != types:
                self.wrong(
                    "employment types are stale",
                    f"{place + 1}: {item['employment_types']}, not {types}",
                )

    def check_single(self, pk: int, response: Response, kind: str = "single") -> None:
        is_shown = self.is_shown(pk - 1)
        if is_shown is not None and response.status != (200 if is_shown else 404):
            wrong = f"{kind} is {'missing' if is_shown else 'shown'}"
            self.wrong(wrong, response.status, self.changed_at(pk - 1))
        if response.status == 200 and kind == "single":
            self.check_item(json.loads(response.body)["data"], pk)

    def check_form(self, pk: int, response: Response) -> None:
        self.check_single(pk, response, "form")
        if response.status == 200 and self.is_unchanged("rows", pk - 1):
            own = int(get(self.before.rows, pk - 1, Row.FORM))
            expected = own or (3 if get(self.before.rows, pk - 1, Row.BRAND) == 1 else 4)
            if f"Form{expected}".encode() not in response.body:
                self.wrong(
                    "another form",
                    f"not {expected}: {response.body[:60]!r}",
                    self.changed_at(pk - 1),
                )

    def check_list(self, path: str, query: dict[str, str], response: Response) -> None:
        if response.status != 200:
            return self.wrong("list failed", (response.status, response.body[:200]))
        page, size = int(query.get("page[number]", 1)), int(query.get("page[size]", 20))
        body = json.loads(response.body)
        items, total = body["data"], body["meta"]["total"]
        count = len(self.before.rows) // WIDTH
        members = {place: self.is_member(place, path, query) for place in range(count)}
        least = sum(each is True for each in members.values())
        most = least + sum(each is None for each in members.values())
        latest = max((self.changed_at(place) for place in members), default=0)
        if not least <= total <= most:
            self.wrong("total", f"{total} is not {least} to {most}", latest)
        if len(items) != len(oracle.places(size, page, total)):
            self.wrong("length", f"{len(items)} items of {total}", latest)
        pks = [item["id"] for item in items] if all("id" in item for item in items) else []
        if len(pks) != len(items):
            return None
        if len(set(pks)) != len(pks):
            self.wrong("duplicate", pks)
        for item in items:
            if members[item["id"] - 1] is False:
                self.wrong(
                    "shown", f"{item['id']} must not be listed", self.changed_at(item["id"] - 1)
                )
            self.check_item(item)
        absent = (
            [place for place, each in members.items() if each and place + 1 not in pks]
            if page == 1
            else []
        )
        self.check_order(query.get("sort", ""), size >= total, [pk - 1 for pk in pks], absent)
        return None

    def is_member(self, place: int, path: str, query: dict[str, str]) -> bool | None:
        """Whether the filtered list must hold the vacancy; None: both are right."""
        region, word = query.get("filter[regions]", "")[-1:], query.get("filter[search]", "")[-1:]
        if word and place % 7 != int(word):
            return False
        is_shown = self.is_shown(place, path)
        if is_shown is False or not region:
            return is_shown
        if not self.is_unchanged("related", place):
            return None
        return (
            is_shown
            if int(region) in state.decoded(get(self.before.related, place, Related.REGIONS))
            else False
        )

    def check_order(self, sort: str, is_whole: bool, places: list[int], absent: list[int]) -> None:
        """Check the order of the vacancies that did not change, and that the page misses none of
        `absent`.
        `is_whole`: a page may have all vacancies."""
        sign = 1 if sort == "published_at" else -1
        unchanged = [place for place in places if self.is_unchanged("rows", place)]

        def key(place: int) -> tuple[float, int]:
            return sign * get(self.before.rows, place, Row.PUBLISH_FROM), sign * place

        last = (inf, 0) if is_whole else key(unchanged[-1]) if unchanged else (-inf, 0)
        if sort.endswith(("title", "closes_at")):  # they change, and titles have the order of text
            last = (inf, 0) if is_whole else (-inf, 0)
        elif unchanged != sorted(unchanged, key=key):
            self.wrong("order", [place + 1 for place in unchanged])
        if missing := [place for place in absent if key(place) < last]:
            self.wrong("missing", [place + 1 for place in missing], self.changed_at(missing[0]))
