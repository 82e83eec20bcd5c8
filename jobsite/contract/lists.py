"""Checks of paginated lists:
the envelope with its links and numbers, and the items of all pages.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from jobsite.contract.document import (
    ORDER,
    SchemaDifference,
    additional,
    findings,
    is_id,
    properties,
)
from jobsite.contract.service import (
    CheckedService,
    ContractReport,
    Query,
    Response,
    parse,
    query_string,
)
from jobsite.types import JsonObject

SIZE, NUMBER = "page[size]", "page[number]"
WALK_SIZE = 100  # page size to read a whole list
ITEMS_MAX = 1000  # items that are stored for comparison
BEYOND = 999_999_999


def expect_problem(
    report: ContractReport,
    endpoint: str,
    response: Response,
    status: int,
    cause: str,
    parameter: str = "",
) -> bool:
    """Expect a problem document of `status` that names `parameter`. Return whether it is one."""
    holds = report.expect(
        response.status == status and response.media_type == "application/problem+json",
        endpoint,
        f"{status} application/problem+json for {cause}",
        f"{response.status} {response.media_type}",
    )
    if not holds:
        return False
    body = response.json()
    if not report.expect_none(endpoint, findings("Problem", body, f"the problem for {cause}")):
        return False
    named = [error["parameter"] for error in body.get("errors", ())]
    return report.expect(
        body["status"] == status and (not parameter or parameter in named),
        endpoint,
        f"errors[] to name {parameter} for {cause}"
        if parameter
        else f"status {status} in the problem for {cause}",
        body,
    )


def vacancy_findings(name: str, item: object) -> Iterator[SchemaDifference]:
    """Yield the violations of a vacancy with the schema `name`, including its slug and facts."""
    found = list(findings(name, item, "item"))
    yield from found
    if not found and "closes_at" in properties(name):
        yield from _fact_findings(item)
    if isinstance(item, dict) and is_id(item.get("id")) and isinstance(item.get("slug"), str):
        slug = item["slug"]
        if not slug.endswith(f"({item['id']})"):
            yield SchemaDifference(
                "slug to end with the id in round brackets", {"id": item["id"], "slug": slug}
            )


def _fact_findings(item: Any) -> Iterator[SchemaDifference]:
    """Yield the facts that contradict each other."""
    end, day, pay = item["closes_at"], item["closing_date"], item["pay"]
    days: set[str | None] = {None}
    if end is not None:
        at = datetime.fromisoformat(end)
        days = {str(at.date()), str((at - timedelta(seconds=1)).date())}  # fractions are not shown
        if end <= item["published_at"]:
            yield SchemaDifference("closes_at to be after published_at", end)
    if day not in days:
        yield SchemaDifference(
            "closing_date to be the last day before closes_at",
            {"closes_at": end, "closing_date": day},
        )
    if pay and None not in (pay["min"], pay["max"]) and pay["min"] > pay["max"]:
        yield SchemaDifference("pay.min to be at most pay.max", pay)


def _leads_to(link: object, path: str, others: Mapping[str, object], paging: str) -> bool:
    """Return whether `link` is the URL `path` with the parameters `others`,
    followed by `paging`.
    """
    if not isinstance(link, str) or not link.endswith(paging):
        return False
    before = link.removesuffix(paging)
    address, _, query = before.partition("?")
    wanted = sorted((name, str(value)) for name, value in others.items())
    return address == path and before[-1] in "?&" and sorted(parse_qsl(query)) == wanted


class PagedList:
    """A paginated list of a service, and what was read of it.

    `ids` are those of all pages, in order; `items` the first of them, by id; `is_whole` whether all
    pages were read without a change; `is_closed` whether access is denied.
    """

    def __init__(
        self,
        service: CheckedService,
        path: str,
        schema: str,
        *,
        max_pages: int,
        is_hot: bool = False,
        is_internal: bool = False,
    ) -> None:
        self.service, self.report = service, service.report
        self.path, self.schema, self.max_pages = path, schema, max_pages
        self.is_hot, self.is_internal = is_hot, is_internal
        self.ids: list[Any] = []
        self.items: dict[object, JsonObject] = {}
        self.titles: dict[object, str] = {}
        self.is_whole = self.is_closed = False
        self.size_max = BEYOND  # maximum page size, measured by `walk`

    def expect(self, holds: object, expected: str, received: object) -> bool:
        return self.report.expect(holds, self.path, expected, received)

    def request(self, query: Query) -> Response:
        return self.service.request(self.path, query, with_token=self.is_internal)

    def page(
        self, query: Mapping[str, object], *, size: int, number: int = 1, is_clamped: bool = False
    ) -> JsonObject | None:
        """Request a page and check its envelope. Return None if the response is not a page."""
        return self._page({**query, SIZE: size, NUMBER: number}, query, size, number, is_clamped)

    def total(self, query: Mapping[str, object]) -> int | None:
        body = self.page(query, size=1)
        return body["meta"]["total"] if body else None

    def _page(
        self,
        sent: Mapping[str, object] | str,
        others: Mapping[str, object],
        size: int,
        number: int,
        is_clamped: bool,
    ) -> JsonObject | None:
        response = self.request(sent)
        text = sent if isinstance(sent, str) else query_string(sent)
        if not self.expect(
            response.status == 200 and response.media_type == "application/json",
            "200 application/json for a page",
            f"{response.status} {response.media_type} for ?{text}",
        ):
            return None
        try:
            body = parse(response.body)
        except (ValueError, RecursionError) as error:
            self.expect(False, "JSON in UTF-8", str(error))
            return None
        if not self._is_envelope(body):
            return None
        self._check_numbers(body, others, size, number, is_clamped)
        return body

    def _is_envelope(self, body: Any) -> bool:
        """Return whether `body` is complete enough for further checks."""
        empty = body | {"data": []} if isinstance(body, dict) and "data" in body else body
        found = list(findings(f"{self.schema}Page", empty, "page"))
        self.report.expect_none(self.path, found)
        is_sound = all(each.keyword == ORDER for each in found)
        return is_sound and self.expect(
            isinstance(body["data"], list) and all(isinstance(item, dict) for item in body["data"]),
            "data to be a list of objects",
            body["data"],
        )

    def _check_numbers(
        self,
        body: JsonObject,
        others: Mapping[str, object],
        size: int,
        number: int,
        is_clamped: bool,
    ) -> None:
        meta, links, data = body["meta"], body["links"], body["data"]
        per_page, total = meta["per_page"], meta["total"]
        if is_clamped:
            self.expect(
                per_page < size, f"a page size of {size} to be cut to the maximum", per_page
            )
            self.size_max = per_page
        else:
            size = min(size, self.size_max)
            self.expect(
                per_page == size, "meta.per_page to be the size in effect", f"{per_page} for {size}"
            )
        self.expect(
            meta["current_page"] == number,
            "meta.current_page to be the page asked for",
            f"{meta['current_page']} for {number}",
        )
        last = max(1, -(-total // per_page))
        self.expect(
            meta["last_page"] == last,
            "meta.last_page to be the number of pages",
            f"{meta['last_page']} for {total} items by {per_page}",
        )
        start = (number - 1) * per_page
        count = max(0, min(per_page, total - start))
        self.expect(
            len(data) == count, "as many items as the page has", f"{len(data)} instead of {count}"
        )
        wanted = {"from": start + 1 if count else None, "to": start + count if count else None}
        for key, position in wanted.items():
            self.expect(
                meta[key] == position,
                f"meta.{key} to be a position, null on an empty page",
                f"{meta[key]} instead of {position}",
            )

        address = urlsplit(meta["path"])
        self.expect(
            "?" not in meta["path"] and address.path.endswith(self.path),
            "meta.path to be the address without a query",
            meta["path"],
        )
        if not meta["path"].startswith(self.service.base + "/"):
            self.report.note(
                f"Links lead to {address.scheme}://{address.netloc}; they are followed at the "
                "base URL."
            )
        previous = min(number - 1, last)
        pages = {
            "first": 1,
            "last": last,
            "prev": previous or None,
            "next": number + 1 if number < last else None,
        }
        for name, target in pages.items():
            if target is None:
                self.expect(
                    links[name] is None,
                    f"links.{name} to be null where there is no such page",
                    links[name],
                )
            else:
                paging = query_string({SIZE: per_page, NUMBER: target})
                self.expect(
                    _leads_to(links[name], meta["path"], others, paging),
                    (
                        f"links.{name} to have the parameters in effect, then page size and number, "
                        "encoded"
                    ),
                    f"{links[name]} instead of ...{paging}",
                )

    def walk(self, query: Mapping[str, object] | None = None, *, is_sparse: bool = False) -> None:
        """Read the list from its first to its last page by links.next."""
        query = query or {}
        if self.is_internal:
            status = self.request("").status
            if status in (401, 403):
                self.is_closed = True
                if not self.service.token:
                    self.report.skip(f"{self.path}: answers {status} without --token.")
                elif status == 403:  # for example of an applicant
                    self.report.skip(f"{self.path}: answers 403 to this token.")
                else:
                    self.expect(False, "the token to open it", status)
                return
        self.page(query, size=BEYOND, is_clamped=True)
        number, last, totals, next_query = (
            1,
            1,
            set(),
            query_string({**query, SIZE: WALK_SIZE, NUMBER: 1}),
        )
        seen: set[object] = set()
        while number <= self.max_pages:
            body = self._page(next_query, query, WALK_SIZE, number, False)
            if body is None:
                return
            totals.add(body["meta"]["total"])
            last = body["meta"]["last_page"]
            for item in body["data"]:
                self._check_item(item, seen, is_sparse)
            if body["links"]["next"] is None:
                break
            # Only the query: a link to another host would receive the token.
            next_query = urlsplit(str(body["links"]["next"])).query
            number += 1
        if len(totals) > 1:
            self.report.note(f"{self.path} changed while it was read; counts were not compared.")
        elif number > self.max_pages:
            self.report.note(f"{self.path}: read {self.max_pages} of {last} pages.")
        else:
            self.is_whole = self.expect(
                [len(seen)] == list(totals),
                "as many different items on all pages as meta.total",
                f"{len(seen)} of {totals}",
            )

    def _check_item(self, item: JsonObject, seen: set[object], is_sparse: bool) -> None:
        id_ = item.get("id")
        if not self.expect(is_id(id_), "an id that is a whole number from 1", id_):
            return
        self.expect(id_ not in seen, "no item on two pages", f"id {id_}")
        seen.add(id_)
        self.ids.append(id_)
        if isinstance(item.get("title"), str):
            self.titles[id_] = item["title"]
        if is_sparse:
            return
        self.report.checks += len(properties(self.schema))
        self.report.expect_none(self.path, vacancy_findings(self.schema, item))
        if extra := additional(self.schema, item):
            self.report.note(f"{self.path}: keys beyond the interface: {', '.join(extra)}.")
        if self.is_hot:
            self.expect(
                item.get("is_hot") is True,
                "only hot vacancies",
                {"id": id_, "is_hot": item.get("is_hot")},
            )
        if len(self.items) < ITEMS_MAX:
            self.items[id_] = item

    def edges(self) -> None:
        """Check the edges: defaults, the last pages, pages beyond the last one, unusual sizes."""
        if self.is_closed:
            return
        body = self._page("", {}, 20, 1, False)
        if body is None:
            return
        # From the last page backwards by links.prev.
        number, back = body["meta"]["last_page"], str(body["links"]["last"])
        for _ in range(3):
            page = self._page(urlsplit(back).query, {}, 20, number, False)
            if page is None or page["links"]["prev"] is None:
                break
            number, back = number - 1, str(page["links"]["prev"])
        self.page({}, size=1)
        self.page({}, size=1, number=2)
        self.page({}, size=1, number=max(1, body["meta"]["total"]))
        self.page({}, size=20, number=body["meta"]["last_page"] + 1)
        self.page({}, size=20, number=BEYOND)
        only_size = self._page(query_string({SIZE: 7}), {}, 7, 1, False)
        # Brackets not encoded, another order.
        raw = self._page(f"{NUMBER}=1&{SIZE}=7", {}, 7, 1, False)
        if only_size and raw:
            self.expect(
                only_size["links"] == raw["links"], "the same links for raw brackets", raw["links"]
            )
