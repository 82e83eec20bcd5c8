"""Where vacancies and their forms come from: files and running services that speak the interface."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit
from zoneinfo import ZoneInfo, available_timezones

import urllib3

from jobsite.http_client import Network, OriginClient, RequestRefusedError, reason
from vacancies.exchange.fields import shown

GZIP = b"\x1f\x8b"
PAGE_SIZE = 100
# The first that a service has, if any: older services have the second one only, and v0.1 will end.
INTERNAL_LISTS = ("/v1/vacancies/internal", "/v0.1/vacancies/internal")
MAX_WALKS = 3  # of a list that changes while it is read


class SourceError(Exception):
    """A source that cannot be read, with the reason in words."""


@dataclass
class Row:
    """One item as the source has it: `name` says where it stands, for reports; `zone` is the time zone of
    its times, the site's if None. An item of a service says all about its audience; one of a file may be in
    another file too."""

    name: str
    item: Any
    is_internal: bool = False
    is_external: bool = True
    zone: tzinfo | None = None
    is_from_service: bool = False


@dataclass
class FormRow:
    """The form of the vacancy `pk` as the source has it, an array of sections."""

    name: str
    pk: Any
    data: Any


class _RepeatedKeys(dict[str, Any]):
    """A JSON object with a key that occurs more than once, so that it is unclear what was meant."""

    key: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) == len(pairs):
        return content
    repeated = _RepeatedKeys(content)
    keys = [key for key, _ in pairs]
    repeated.key = next(key for key in keys if keys.count(key) > 1)
    return repeated


def repeated_key(value: Any) -> Any:
    """Return a key that occurs more than once in an object somewhere in `value`, or None."""
    rest = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, _RepeatedKeys):
            return value.key
        if isinstance(value, (dict, list)):
            rest += value.values() if isinstance(value, dict) else value
    return None


def parse_json(content: str | bytes) -> Any:
    """Return what `content` holds; objects with a repeated key are recognised by `repeated_key`."""
    return json.loads(content, object_pairs_hook=_object)


@dataclass(frozen=True)
class InvalidLine:
    """A line of a file that is not JSON."""

    reason: str


def read_json(path: Path) -> Any:
    """Return what the file at `path` holds: JSON, or a list of the lines of NDJSON; both may be compressed
    with gzip. A line that is not JSON is a `InvalidLine`. Raises SourceError."""
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path}: is no complete gzip file ({error}).") from error
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}.") from error
    try:
        return parse_json(content)
    except (ValueError, RecursionError) as error:
        lines = _lines(content)
        if len(lines) < 2 or isinstance(lines[0], InvalidLine):
            raise SourceError(f"{path}: not JSON ({error}).") from error
        return lines


def _lines(content: bytes) -> list[Any]:
    """Return the values of the lines of NDJSON."""
    try:
        text = content.decode(json.detect_encoding(content))
    except ValueError:
        return []
    values: list[Any] = []
    for line in filter(str.strip, text.split("\n")):
        try:
            values.append(parse_json(line))
        except (ValueError, RecursionError) as error:
            values.append(InvalidLine(f"not JSON ({error})"))
            if len(values) == 1:
                break
    return values


def read_file(path: Path, *, internal: bool, zone: tzinfo | None = None) -> list[Row]:
    """Return the rows of a file: `{"data": [...]}`, `{"data": {...}}`, a bare array, or NDJSON with an item
    on each line. `zone` is that of its times; the site's if it is None.

    Raises SourceError when there is no such file or it holds something else.
    """
    content = read_json(path)
    if isinstance(content, _RepeatedKeys) and "data" in content:
        raise SourceError(f"{path}: the key {content.key!r} occurs more than once.")
    data = content.get("data", content if "id" in content else None) if isinstance(content, dict) else content
    if isinstance(data, dict):
        data = [data]
    if not isinstance(data, list):
        raise SourceError(f'{path}: holds no list of vacancies; wanted {{"data": [...]}}.')
    return [
        Row(f"{path.name} row {number}", item, is_internal=internal, is_external=not internal, zone=zone)
        for number, item in enumerate(data, 1)
    ]


def read_forms(path: Path) -> list[FormRow]:
    """Return the forms of a JSON file: `{"<vacancy id>": {"data": [sections]}}`, or NDJSON of such objects.

    Raises SourceError when there is no such file or it holds something else.
    """
    content = read_json(path)
    rows = []
    for part in content if isinstance(content, list) and content else [content]:
        if isinstance(part, InvalidLine):
            raise SourceError(f"{path}: a line is {part.reason}.")
        if not isinstance(part, dict):
            raise SourceError(f'{path}: holds no forms; wanted {{"<vacancy id>": {{"data": [...]}}}}.')
        if isinstance(part, _RepeatedKeys):
            raise SourceError(f"{path}: the vacancy {part.key} occurs more than once.")
        rows += [
            FormRow(f"{path.name} {pk}", pk, form.get("data") if isinstance(form, dict) else form)
            for pk, form in part.items()
        ]
    return rows


def time_zone(name: str) -> tzinfo | None:
    """Return the time zone of that name of the IANA database, or None if there is none."""
    return ZoneInfo(name) if name in available_timezones() else None


def base_url(text: str) -> str:
    """Return the base URL of a service that `text` is; raises ValueError with the reason if it is none."""
    parts = urlsplit(text)
    if parts.scheme.lower() not in ("http", "https"):
        raise ValueError(f"{parts.scheme}: is not read; pass a file, or an http or https address.")
    try:
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        raise ValueError("is no complete address; pass for instance https://jobs.example.com")
    if parts.username is not None:
        raise ValueError("holds a user name; pass a bearer token with --token instead.")
    root, found, _ = parts.path.partition("/v1")
    if not found:
        root, found, _ = parts.path.partition("/v0.1")
    if found or parts.query or parts.fragment:
        wanted = urlunsplit((parts.scheme, parts.netloc, root.rstrip("/"), "", ""))
        raise ValueError(f"is no base URL of a service; pass {wanted}")
    return text.rstrip("/")


@dataclass
class Service:
    """A running service at `base_url`, read over HTTP; `token` is sent as a bearer token.

    `rows()` gives every vacancy it shows: the v1 list, then, one by one, those that only the
    internal list names. `orders` then holds the ids of each list in the service's order.
    `forms()` gives the form of each of them.

    `zone` is the time zone of its times, from its responses' Time-Zone header. `named_zone` is what the
    operator says; `allowed` are private networks that it may be in.
    """

    base_url: str
    token: str = ""
    named_zone: tzinfo | None = None
    allowed: tuple[Network, ...] = ()
    on_total: Callable[[int], None] = lambda total: None
    orders: list[list[int]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    zone: tzinfo | None = None

    def __post_init__(self) -> None:
        self.base_url = self.base_url.rstrip("/")
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        self._http = OriginClient(self.base_url, headers=headers, allowed=self.allowed)
        self._stated_zone: str | None = None

    def rows(self) -> Iterator[Row]:
        internal_order: list[int] = []
        external_order: list[int] = []
        internal = {_id(item) for _, item in self._internal_items(internal_order)}
        external = set()
        for number, item in self._walk("/v1/vacancies", external_order):
            external.add(pk := _id(item))
            is_internal = pk is not None and pk in internal
            yield Row(f"/v1/vacancies item {number}", item, is_internal, zone=self.zone, is_from_service=True)
        for pk in [pk for pk in internal_order if pk not in external]:
            path = f"/v1/vacancies/{pk}"
            status, content = self._get(path)
            if status == 404:
                self.problems.append(f"{path}: gone between the internal list and now.")
            elif status != 200:
                self.problems.append(f"{path}: answered {status}.")
            else:
                item = content.get("data")
                yield Row(path, item, True, is_external=False, zone=self.zone, is_from_service=True)
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
        for path in INTERNAL_LISTS:
            status, _ = self._get(path, {"page[size]": 1})
            if status in (401, 403):
                self.problems.append(
                    f"{path}: answered {status}; internal vacancies were left out. Pass --token to read them."
                )
                return
            if status != 404:
                yield from self._walk(path, order)
                return

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
        if status == 404 and page == 1:
            raise SourceError(
                f"{self.base_url}{path}: answered 404; {self.base_url} is no base URL of a service with this "
                "interface."
            )
        raise SourceError(f"{self.base_url}{path}: page {page} is no page of a list (status {status}).")

    def _get(self, path: str, query: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        target = f"{path}?{urlencode(query)}" if query else path
        url = f"{self.base_url}{target}"
        try:
            response = self._http.get(target)
        except RequestRefusedError as error:
            raise SourceError(f"{self.base_url}: {error}.") from error
        except urllib3.exceptions.HTTPError as error:
            raise SourceError(f"{self.base_url}: {reason(error)}.") from error
        if response.status != 200:
            return response.status, {}
        self._read_zone(response.headers.get("Time-Zone"))
        try:
            content = parse_json(response.data)
        except (ValueError, RecursionError) as error:
            kind = response.headers.get("Content-Type", "no content type")
            raise SourceError(f"{url}: answered with {kind}, which is not JSON ({error}).") from error
        if not isinstance(content, dict):
            raise SourceError(f"{url}: answered with something else than an object.")
        if isinstance(content, _RepeatedKeys):
            raise SourceError(f"{url}: the key {content.key!r} occurs more than once.")
        return response.status, content

    def _read_zone(self, name: str | None) -> None:
        """Take the time zone that a response states, or refuse it."""
        if name is None or name == self._stated_zone:
            self.zone = self.zone or self.named_zone
            return
        if self._stated_zone is not None:
            raise SourceError(
                f"{self.base_url}: states the time zone {name}, and {self._stated_zone} before."
            )
        self.zone = time_zone(name)
        if self.zone is None:
            raise SourceError(f"{self.base_url}: states the time zone {shown(name)}, which is unknown here.")
        if self.named_zone and str(self.named_zone) != name:
            raise SourceError(
                f"{self.base_url}: states the time zone {name}; --source-time-zone says {self.named_zone}."
            )
        self._stated_zone = name


def _id(item: Any) -> int | None:
    """Return the id of `item` if it has one that is a number."""
    pk = item.get("id") if isinstance(item, dict) else None
    return pk if isinstance(pk, int) else None
