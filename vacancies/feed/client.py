"""A client of the feed of a running service."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

import urllib3

from jobsite.http_client import OriginClient, RequestRefusedError, reason
from jobsite.types import JsonObject

PAGE_SIZE, LIST_SIZE = 1_000, 100


class FeedError(Exception):
    """The service did not answer as a feed does."""


@dataclass(frozen=True)
class RemoteFeed:
    """The feed of a list of `http`, perhaps of one brand, by its slug."""

    http: OriginClient
    list_path: str
    brand: str = ""

    @property
    def start(self) -> str:
        return self._target(f"{self.list_path}/changes", {"page[size]": PAGE_SIZE})

    @property
    def address(self) -> str:
        """What it is a feed of."""
        return self.http.base_url + self._target(self.list_path, {})

    def follow(self, target: str, restart: Callable[[], None]) -> Iterator[tuple[JsonObject, str]]:
        """Yield each page of changes until there are no more, and the target of the next one. Call
        `restart` if all has to be read anew. Raises FeedError.
        """
        more = True
        while more:
            status, body = self._get(target)
            if status == 410 and target != self.start:
                restart()
                target = self.start
                continue
            refused = [error.get("parameter") for error in body.get("errors", ())]
            if status == 400 and target == self.start and refused == ["filter[brand]"]:
                # A brand without vacancies.
                yield {"data": []}, self.start
                return
            try:
                # Only the query: a link to another host would receive the token.
                query = urlsplit(body["links"]["next"]).query
                more = body["meta"]["more"]
                _check(body["data"])
            except (KeyError, TypeError, ValueError) as error:
                text = f"{self.http.base_url}{target}: returned {status}, not a page of changes"
                raise FeedError(f"{text}. {body.get('detail', '')}".rstrip()) from error
            target = f"{self.list_path}/changes?{query}"
            yield body, target

    def items(self) -> dict[int, JsonObject]:
        """Return the list. Raises FeedError."""
        found: dict[int, JsonObject] = {}
        target: str | None = self._target(self.list_path, {"page[size]": LIST_SIZE})
        while target:
            status, body = self._get(target)
            if status != 200:
                raise FeedError(f"{self.address}: returned {status}.")
            found |= {item["id"]: item for item in body["data"]}
            following = body["links"]["next"]
            target = following and f"{self.list_path}?{urlsplit(following).query}"
        return found

    def _target(self, path: str, query: dict[str, int]) -> str:
        of_brand = {"filter[brand]": self.brand} if self.brand else {}
        return f"{path}?{urlencode(query | of_brand)}".rstrip("?")

    def _get(self, target: str) -> tuple[int, JsonObject]:
        try:
            response = self.http.get(target)
            body = json.loads(response.data)
        except (RequestRefusedError, urllib3.exceptions.HTTPError) as error:
            raise FeedError(f"{self.http.base_url}: {reason(error)}.") from error
        except (ValueError, RecursionError):
            body = {}
        return response.status, body if isinstance(body, dict) else {}


def _check(changes: list[JsonObject]) -> None:
    """Raise an error unless `changes` are those of a feed. An id may become the name of a file."""
    for change in changes:
        known = change["change"] == "remove" or change["vacancy"]["id"] == change["id"]
        if not known or type(change["id"]) is not int or change["id"] < 1:
            raise ValueError(change["id"])
