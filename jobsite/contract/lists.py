import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from jobsite.contract.service import CheckedService, Query, query_string
from jobsite.types import JsonObject

SIZE, NUMBER = "page[size]", "page[number]"
WALK_SIZE = 100  # page size to read a whole list
BEYOND = 999_999_999
SAMPLE = 3  # vacancies that are compared


class PagedList:
    """A paginated list, and what was read of it: in order, whether each vacancy is hot, by id, and
    the first vacancies. `is_whole` says whether it was read to its end, `is_closed` whether access
    is denied.
    """

    def __init__(self, service: CheckedService, path: str, max_pages: int) -> None:
        self.service, self.path, self.max_pages = service, path, max_pages
        self.hot: dict[int, bool] = {}
        self.sample: list[JsonObject] = []
        self.is_whole = self.is_closed = False

    def expect(self, holds: object, expected: str, received: object) -> bool:
        return self.service.expect(holds, self.path, expected, received)

    def page(
        self, others: Mapping[str, object], size: int, number: int = 1, sent: Query | None = None
    ) -> JsonObject | None:
        """Request a page with the parameters `others`, and check its numbers and links. `sent` is
        the query, if not the usual one. Return None if the response is not a page.
        """
        query = {**others, SIZE: size, NUMBER: number} if sent is None else sent
        if not (body := self.service.get(self.path, query)):
            return None
        meta, links = body["meta"], body["links"]
        size = min(size, meta["per_page"])  # a service has a maximum
        start, last = (number - 1) * size, max(1, -(-meta["total"] // size))
        count = max(0, min(size, meta["total"] - start))
        ends = {"from": start + 1, "to": start + count} if count else {"from": None, "to": None}
        numbers = {"current_page": number, "per_page": size, "last_page": last, **ends}
        for key, value in numbers.items():
            expected = f"meta.{key} to follow from the total and the page"
            self.expect(meta[key] == value, expected, f"{meta[key]} instead of {value}")
        self.expect(len(body["data"]) == count, "as many items as the page has", len(body["data"]))
        following = number + 1 if number < last else None
        pages = {"first": 1, "last": last, "prev": min(number - 1, last), "next": following}
        for name, target in pages.items():
            wanted = target and query_string({**others, SIZE: size, NUMBER: target})
            link = f"{meta['path']}?{wanted}" if wanted else None
            expected = f"links.{name} to have the parameters, encoded; null without such a page"
            # The order of the parameters is free.
            found, sought = (sorted(re.split("[?&]", each or "")) for each in (links[name], link))
            self.expect(found == sought, expected, links[name])
        return body

    def total(self, others: Mapping[str, object]) -> int | None:
        body = self.page(others, size=1)
        return body["meta"]["total"] if body else None

    def walk(self) -> None:
        """Read the list from its first to its last page by links.next."""
        status = self.service.request(self.path).status
        self.is_closed = status in (401, 403)
        if self.is_closed:
            to = "to this token" if self.service.token else "without --token"
            self.service.report.skipped.append(f"{self.path}: answers {status} {to}.")
            return
        query: str | None = query_string({SIZE: WALK_SIZE, NUMBER: 1})
        number, read, totals = 0, [], set()
        while query is not None and number < self.max_pages:
            number += 1
            if not (body := self.page({}, WALK_SIZE, number, query)):
                return
            totals.add(body["meta"]["total"])
            read += [(item.get("id"), item.get("is_hot")) for item in body["data"]]
            self.sample = self.sample or [item for item in body["data"][:SAMPLE] if item]
            # Only the query: a link to another host would receive the token.
            query = body["links"]["next"] and urlsplit(body["links"]["next"]).query
        self.hot = dict(sound := [pair for pair in read if pair[0]])
        if len(totals) > 1:
            self.service.report.notes.append(f"{self.path} changed while it was read.")
            return
        self.expect(len(self.hot) == len(sound), "no item on two pages", f"{len(sound)} items")
        if query is not None:
            self.service.report.notes.append(f"{self.path}: read {number} pages, not the others.")
            return
        self.expect({len(read)} == totals, "meta.total items on all pages", len(read))
        self.is_whole = len(self.hot) == len(read)

    def edges(self) -> None:
        """Check the default page, the last item, and pages beyond the last one."""
        if not self.is_closed and (body := self.page({}, 20, sent="")):
            self.page({}, 1, max(1, body["meta"]["total"]))
            self.page({}, 20, body["meta"]["last_page"] + 1)
            self.page({}, 20, BEYOND)
