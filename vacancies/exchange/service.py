"""A running service with the same API, as the source of an import."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any
from urllib.parse import urlencode

import urllib3

from jobsite.http_client import Network, OriginClient, RequestRefusedError, reason
from jobsite.languages import text_languages
from jobsite.types import JsonObject
from vacancies.exchange.fields import format_value
from vacancies.exchange.json_files import RepeatedKeys, SourceError, parse_json
from vacancies.exchange.sources import FormRow, SourceRow, time_zone
from vacancies.models import TRANSLATED

PAGE_SIZE = 100
# The first one that a service has is read. Older services have only the second one, which is
# deprecated.
INTERNAL_LISTS = ("/v1/vacancies/internal", "/v0.1/vacancies/internal")
MAX_WALKS = 3  # of a list that changes while it is read


@dataclass
class Service:
    """A running service at `base_url`, read over HTTP. `token` is sent as a bearer token.

    `rows()` yields every vacancy that it shows: the v1 list, then the vacancies that only the
    internal list has, one request each. `forms()` yields the form of each vacancy.

    `zone` is the service's time zone, from the Time-Zone header. `named_zone` is that of
    --source-time-zone. `allowed` are private networks that the service may be in.
    """

    base_url: str
    token: str = ""
    named_zone: tzinfo | None = None
    allowed: tuple[Network, ...] = ()
    on_total: Callable[[int], None] = lambda total: None
    problems: list[str] = field(default_factory=list)
    zone: tzinfo | None = None
    texts: dict[str, list[int]] = field(default_factory=dict)  # ids by other language
    _internal: dict[int | None, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.base_url = self.base_url.rstrip("/")
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        self._http = OriginClient(self.base_url, headers=headers, allowed=self.allowed)
        self._stated_zone: str | None = None

    def rows(self) -> Iterator[SourceRow]:
        internal = dict.fromkeys(_id(item) for _, item in self._internal_items())
        external: set[int | None] = {None}  # an item without an id cannot be read
        self.texts = {code: [] for code in text_languages()}
        self._internal = internal
        for number, item in self._walk("/v1/vacancies"):
            external.add(pk := _id(item))
            self._note_languages(item)
            is_internal = pk is not None and pk in internal
            yield SourceRow(
                f"/v1/vacancies item {number}",
                item,
                is_internal,
                zone=self.zone,
                is_from_service=True,
            )
        for pk in [pk for pk in internal if pk not in external]:
            path = f"/v1/vacancies/{pk}"
            status, content = self._get(path)
            if status == 404:
                self.problems.append(f"{path}: was removed while the source was read.")
            elif status != 200:
                self.problems.append(f"{path}: returned {status}.")
            else:
                item = content.get("data")
                self._note_languages(item)
                yield SourceRow(
                    path, item, True, is_external=False, zone=self.zone, is_from_service=True
                )

    def _note_languages(self, item: object) -> None:
        """Note in which other languages `item` can be read, of those that this site has."""
        languages = item.get("languages") if isinstance(item, dict) else None
        for code in languages[1:] if isinstance(languages, list) else ():
            if code in self.texts and (pk := _id(item)) is not None:
                self.texts[code].append(pk)

    def translations(self) -> Iterator[SourceRow]:
        """Yield the translations of the items of `rows()`, which was read before: an item with the
        id and a text in one language, each list once more for each language.
        """
        for language, pks in self.texts.items():
            missing, query = set(pks), {"language": language}
            for number, item in self._walk("/v1/vacancies", query) if missing else ():
                if (pk := _id(item)) in missing:
                    missing.discard(pk)
                    name = f"/v1/vacancies item {number} in {language}"
                    yield from self._translation(name, item, language, is_external=True)
            for pk in sorted(missing):
                path = f"/v1/vacancies/{pk}"
                content = self._get(path, query)[1]
                name, item = f"{path} in {language}", content.get("data")
                yield from self._translation(name, item, language, is_external=False)

    def _translation(
        self, name: str, item: Any, language: str, *, is_external: bool
    ) -> Iterator[SourceRow]:
        pk = _id(item)
        if pk is None or item.get("language") != language:
            self.problems.append(f"{name}: was removed while the source was read.")
            return
        texts = {key: item.get(key) for key in TRANSLATED}
        if texts["title_internal"] == texts["title"]:  # what the API shows without one
            texts["title_internal"] = ""
        part = {"id": pk, "translations": {language: {**texts, "ready": True}}}
        yield SourceRow(
            name,
            part,
            pk in self._internal,
            is_external=is_external,
            zone=self.zone,
            is_from_service=True,
            is_part=True,
        )

    def forms(self) -> Iterator[FormRow]:
        """Yield the form of each vacancy, with its translations into the languages of both sites."""
        languages = list(text_languages())
        listed = [item for _, item in self._walk("/v1/vacancies")]
        listed += [item for _, item in self._internal_items()]
        pks = list(dict.fromkeys(pk for item in listed if (pk := _id(item)) is not None))
        self.on_total(len(pks))
        for pk in pks:
            path = f"/v1/vacancies/{pk}/form"
            status, content = self._get(path)
            if status == 200:
                found = content.get("data")
                yield FormRow(path, pk, found, self._form_texts(path, found, languages))
            else:
                self.problems.append(f"{path}: returned {status}.")

    def _form_texts(self, path: str, original: object, languages: list[str]) -> JsonObject | None:
        """Return the form at `path` by language. In a language that it does not have, the service
        returns the original. Remove from `languages` what the service refuses.
        """
        found = {}
        for code in [*languages]:
            status, content = self._get(path, {"language": code})
            if status == 400:
                languages.remove(code)
            elif status == 200 and content.get("data") != original:
                found[code] = content.get("data")
        return found or None

    def _internal_items(self) -> Iterator[tuple[int, object]]:
        for path in INTERNAL_LISTS:
            status, _ = self._get(path, {"page[size]": 1})
            if status in (401, 403):
                self.problems.append(
                    f"{path}: returned {status}; internal vacancies were skipped. Pass --token "
                    "to read them."
                )
                return
            if status != 404:
                yield from self._walk(path)
                return

    def _walk(self, path: str, query: JsonObject | None = None) -> Iterator[tuple[int, object]]:
        """Yield (position, item) of every item of a list once. A list that changes while it is read
        is read again, up to MAX_WALKS times, for items that were missed.
        """
        seen: set[int] = set()
        for _ in range(MAX_WALKS):
            page, position, totals, nameless = 1, 0, set(), 0
            while True:
                items, total, last_page = self._page(path, page, query or {})
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
                if page >= last_page or not items:
                    break
                page += 1
            if nameless or totals == {len(seen)}:
                return
        self.problems.append(f"{path}: changed while it was read; run the import again later.")

    def _page(self, path: str, page: int, query: JsonObject) -> tuple[list[object], int, int]:
        """Return (items, total, last page) of one page of a list."""
        status, content = self._get(path, {**query, "page[size]": PAGE_SIZE, "page[number]": page})
        try:
            if status == 200 and isinstance(content["data"], list):
                return (
                    content["data"],
                    int(content["meta"]["total"]),
                    int(content["meta"]["last_page"]),
                )
        except (KeyError, TypeError, ValueError):
            pass
        if status == 404 and page == 1:
            raise SourceError(
                f"{self.base_url}{path}: returned 404; {self.base_url} is not the base URL of a "
                "service with this API."
            )
        raise SourceError(
            f"{self.base_url}{path}: page {page} is not a list page (status {status})."
        )

    def _get(self, path: str, query: JsonObject | None = None) -> tuple[int, JsonObject]:
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
            raise SourceError(f"{url}: returned {kind}, not JSON ({error}).") from error
        if not isinstance(content, dict):
            raise SourceError(f"{url}: did not return a JSON object.")
        if isinstance(content, RepeatedKeys):
            raise SourceError(f"{url}: the key {content.key!r} occurs more than once.")
        return response.status, content

    def _read_zone(self, name: str | None) -> None:
        """Set `zone` from the Time-Zone header.
        Raise SourceError if it is unknown or contradictory.
        """
        if name is None or name == self._stated_zone:
            self.zone = self.zone or self.named_zone
            return
        if self._stated_zone is not None:
            raise SourceError(
                f"{self.base_url}: states the time zone {name}, but stated {self._stated_zone} "
                "before."
            )
        self.zone = time_zone(name)
        if self.zone is None:
            raise SourceError(
                f"{self.base_url}: states the unknown time zone {format_value(name)}."
            )
        if self.named_zone and str(self.named_zone) != name:
            raise SourceError(
                f"{self.base_url}: states the time zone {name}, but --source-time-zone is "
                f"{self.named_zone}."
            )
        self._stated_zone = name


def _id(item: object) -> int | None:
    """Return the id of `item` if it is an integer."""
    pk = item.get("id") if isinstance(item, dict) else None
    return pk if isinstance(pk, int) else None
