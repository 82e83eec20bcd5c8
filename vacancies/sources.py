"""Where vacancies and their forms come from: files and running services that speak the interface."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

PAGE_SIZE = 100
MAX_WALKS = 3  # of a list that changes while it is read


class SourceError(Exception):
    """A source that cannot be read, with the reason in words."""


@dataclass
class Row:
    """One item as the source has it: `name` says where it stands, for reports."""

    name: str
    item: Any
    is_internal: bool = False
    is_external: bool = True


@dataclass
class FormRow:
    """The form of the vacancy `pk` as the source has it, an array of sections."""

    name: str
    pk: Any
    data: Any


def read_file(path: Path, *, internal: bool) -> list[Row]:
    """Return the rows of a JSON file: `{"data": [...]}`, `{"data": {...}}` or a bare array.

    Raises SourceError when there is no such file or it holds something else.
    """
    content = read_json(path)
    data = content.get("data") if isinstance(content, dict) else content
    if isinstance(data, dict):
        data = [data]
    if not isinstance(data, list):
        raise SourceError(f'{path}: holds no list of vacancies; wanted {{"data": [...]}}.')
    return [
        Row(f"{path.name} row {number}", item, is_internal=internal, is_external=not internal)
        for number, item in enumerate(data, 1)
    ]


def read_forms(path: Path) -> list[FormRow]:
    """Return the forms of a JSON file: `{"<vacancy id>": {"data": [sections]}}`.

    Raises SourceError when there is no such file or it holds something else.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise SourceError(f'{path}: holds no forms; wanted {{"<vacancy id>": {{"data": [...]}}}}.')
    return [
        FormRow(f"{path.name} {pk}", pk, form.get("data") if isinstance(form, dict) else form)
        for pk, form in content.items()
    ]


def read_json(path: Path) -> Any:
    """Return what the file at `path` holds; raises SourceError."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}: not JSON ({error}).") from error


@dataclass
class Service:
    """A running service at `base_url`, read over HTTP; `token` is sent as a bearer token.

    `rows()` gives every vacancy it shows: the v1 list, then, one by one, those that only the
    internal list of v0.1 names. `orders` then holds the ids of each list in the service's order.
    `forms()` gives the form of each of them.
    """

    base_url: str
    token: str = ""
    on_total: Callable[[int], None] = lambda total: None
    orders: list[list[int]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.base_url = self.base_url.rstrip("/")
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        retry = urllib3.Retry(
            total=5, connect=2, backoff_factor=0.2, status_forcelist=(429, 502, 503, 504), redirect=3
        )
        self._http = urllib3.PoolManager(
            headers=headers, retries=retry, timeout=urllib3.Timeout(connect=5, read=60)
        )

    def rows(self) -> Iterator[Row]:
        internal_order: list[int] = []
        external_order: list[int] = []
        internal = {_id(item) for _, item in self._internal_items(internal_order)}
        external = set()
        for number, item in self._walk("/v1/vacancies", external_order):
            external.add(pk := _id(item))
            yield Row(f"/v1/vacancies item {number}", item, is_internal=pk is not None and pk in internal)
        for pk in [pk for pk in internal_order if pk not in external]:
            path = f"/v1/vacancies/{pk}"
            status, content = self._get(path)
            if status == 404:
                self.problems.append(f"{path}: gone between the internal list and now.")
            elif status != 200:
                self.problems.append(f"{path}: answered {status}.")
            else:
                yield Row(path, content.get("data"), is_internal=True, is_external=False)
        self.orders = [external_order, internal_order]

    def forms(self) -> Iterator[FormRow]:
        listed = [item for _, item in self._walk("/v1/vacancies", [])]
        listed += [item for _, item in self._internal_items([])]
        pks = list(dict.fromkeys(pk for item in listed if (pk := _id(item)) is not None))
        self.on_total(len(pks))
        for pk in pks:
            path = f"/v1/vacancies/{pk}/form"
            status, content = self._get(path)
            if status == 200:
                yield FormRow(path, pk, content.get("data"))
            else:
                self.problems.append(f"{path}: answered {status}.")

    def _internal_items(self, order: list[int]) -> Iterator[tuple[int, Any]]:
        path = "/v0.1/vacancies/internal"
        status, _ = self._get(path, {"page[size]": 1})
        if status in (401, 403):
            self.problems.append(
                f"{path}: answered {status}; internal vacancies were left out. Pass --token to read them."
            )
        elif status != 404:  # a service may lack the list altogether
            yield from self._walk(path, order)

    def _walk(self, path: str, order: list[int]) -> Iterator[tuple[int, Any]]:
        """Every item of a list once, with its position, from the first page to the last. A list that
        changed on the way is walked again for what it kept back. `order` gets the ids as they stand."""
        seen: set[int] = set()
        for _ in range(MAX_WALKS):
            order.clear()
            page, position, totals, nameless = 1, 0, set(), 0
            while True:
                items, total, last_page = self._page(path, page)
                totals.add(total)
                self.on_total(max(totals))
                for item in items:
                    position += 1
                    pk = _id(item)
                    if pk not in seen:
                        yield position, item
                    if pk is None:
                        nameless += 1
                    else:
                        seen.add(pk)
                        order.append(pk)
                if page >= last_page or not items:
                    break
                page += 1
            if nameless or totals == {len(seen)}:
                return
        self.problems.append(f"{path}: kept changing while it was read; import it again later.")

    def _page(self, path: str, page: int) -> tuple[list[Any], int, int]:
        """Return (items, total, last page) of one page of a list."""
        status, content = self._get(path, {"page[size]": PAGE_SIZE, "page[number]": page})
        try:
            if status == 200 and isinstance(content["data"], list):
                return content["data"], int(content["meta"]["total"]), int(content["meta"]["last_page"])
        except (KeyError, TypeError, ValueError):
            pass
        raise SourceError(f"{self.base_url}{path}: page {page} is no page of a list (status {status}).")

    def _get(self, path: str, query: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        url = f"{self.base_url}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            response = self._http.request("GET", url)
            content = response.json() if response.status == 200 else {}
        except (urllib3.exceptions.HTTPError, ValueError, RecursionError) as error:
            raise SourceError(f"{url}: {error}.") from error
        if not isinstance(content, dict):
            raise SourceError(f"{url}: answered with something else than an object.")
        return response.status, content


def _id(item: Any) -> int | None:
    """Return the id of `item` if it has one that is a number."""
    pk = item.get("id") if isinstance(item, dict) else None
    return pk if isinstance(pk, int) else None
