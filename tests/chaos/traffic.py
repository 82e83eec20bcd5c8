"""Traffic to the site: readers whose responses are checked, and a writer."""

import contextlib
import gzip
import http.client
import json
import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from tests import servers
from tests.chaos import versions
from tests.chaos.site import System
from tests.chaos.versions import Version, VersionedOracle

READERS = 4
RATE = 10  # writes a second
pause = 0.0  # seconds between two requests of a reader
MOST_PUBLISHED = 25  # vacancies of the pool


def is_unavailable(status: int, headers: Any) -> bool:
    """Whether a response says properly that the client should retry: 503 with Retry-After."""
    is_readable = headers.get("Content-Type", "").startswith(
        ("application/problem+json", "text/html")
    )
    return status == 503 and "Retry-After" in headers and is_readable


class Writer(threading.Thread):
    """Publishes, unpublishes and renames, and waits after each commit until the public sees it.

    `visible_after`: seconds from each commit to the first response that shows it.
    """

    def __init__(
        self, oracle: VersionedOracle, port: int, numbers: Iterator[int], paused: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self.oracle, self.port, self.numbers, self.paused = oracle, port, numbers, paused
        self.ended = threading.Event()
        self.failed = 0
        self.visible_after: list[float] = []
        self.wrong: list[str] = []

    def run(self) -> None:
        due = time.monotonic()
        while not self.ended.wait(max(0, due - time.monotonic())):
            # Writes that are long overdue are dropped.
            due = max(due + 1 / RATE, time.monotonic() - 1)
            if not self.paused.is_set():
                self.write(next(self.numbers))
        self.disconnect()

    @staticmethod
    def disconnect() -> None:
        from django.db import connection

        connection.close()

    def write(self, number: int) -> None:
        from django.db import DatabaseError
        from django.utils import timezone

        from vacancies.models import Vacancy
        from vacancies.operations import publication

        last, now = self.oracle.versions[-1], timezone.now()
        published, titles = last.published, last.titles
        version = None
        try:
            if number % 2:
                one = Vacancy.objects.get(pk=random.choice(self.oracle.renamed))
                one.title, one.updated_at = f"{one.title.partition(' #')[0]} #{number}", now
                version = self.begin(published, titles | {one.pk: one.title})
                one.save()
                path, sign = f"/v1/vacancies/{one.pk}", json.dumps(one.title, ensure_ascii=False)
                is_shown = True
            else:
                is_shown = not published or (
                    len(published) < MOST_PUBLISHED and random.random() < 0.7
                )
                offline = [pk for pk in self.oracle.pool if pk not in published]
                pk = random.choice(offline if is_shown else published)
                rows = Vacancy.objects.filter(pk__in=self.oracle.pool)
                dates = dict(rows.values_list("pk", "publish_from"))
                dates[pk] = dates[pk] or now.replace(microsecond=0)  # the first date stays
                after = {*published, pk} if is_shown else {*published} - {pk}
                order = sorted(after, key=lambda each: (dates[each], each), reverse=True)
                version = self.begin(tuple(order), titles)
                act = publication.publish if is_shown else publication.unpublish
                act(vacancies=rows.filter(pk=pk), at=now)
                path, sign = (
                    f"/v1/vacancies?page[size]={2 * MOST_PUBLISHED}&fields=id",
                    f'{{"id":{pk}}}',
                )
        except DatabaseError:
            self.failed += 1
            self.disconnect()
            while version and not self.resolve() and not self.ended.wait(0.2):
                pass
            return
        version.committed = time.monotonic()
        self.wait_until_visible(path, sign, is_shown, version.committed)

    def begin(self, published: tuple[int, ...], titles: dict[int, str]) -> Version:
        self.oracle.versions.append(Version(published, titles, time.monotonic(), None))
        return self.oracle.versions[-1]

    def resolve(self) -> bool:
        """Find out whether a write that failed was committed. Return whether that is known.

        Locks the rows: a commit that still waits for a standby is invisible, but holds them.
        """
        from django.db import DatabaseError, transaction

        from vacancies.models import Vacancy

        version = self.oracle.versions[-1]
        if version.committed is not None:
            return True
        try:
            written = (
                Vacancy.objects.filter(pk__in=list(version.titles))
                .order_by("pk")
                .select_for_update()
            )
            with transaction.atomic():
                rows = list(written.values_list("pk", "title", "status"))
        except DatabaseError:
            self.disconnect()
            return False
        published = {
            pk for pk, _, status in rows if pk in self.oracle.pool and status == "published"
        }
        if (
            published == set(version.published)
            and {pk: title for pk, title, _ in rows} == version.titles
        ):
            version.committed = time.monotonic()
        else:
            self.oracle.versions.pop()
        return True

    def wait_until_visible(self, path: str, sign: str, is_shown: bool, committed: float) -> None:
        while not self.ended.is_set():
            start = time.monotonic()
            with contextlib.suppress(OSError, http.client.HTTPException):  # the readers count these
                status, _, body = servers.get(self.port, path)
                if status == 200 and (sign.encode() in body) == is_shown:
                    self.visible_after.append(time.monotonic() - committed)
                    return
                if status == 200 and start > committed + versions.max_staleness:
                    self.wrong.append(
                        f"{path}: a change was not visible after {start - committed:.1f} s"
                    )
                    return
            self.ended.wait(0.01)


class Reader(threading.Thread):
    """A client that requests various targets, some compressed, some conditional.

    `is_brief`: uses each connection for one request.
    """

    def __init__(
        self,
        oracle: VersionedOracle,
        system: System,
        port: int,
        ended: threading.Event,
        is_brief: bool,
    ) -> None:
        super().__init__(daemon=True)
        self.oracle, self.port, self.ended, self.is_brief = oracle, port, ended, is_brief
        self.paused, self.credentials = system.paused, {"Authorization": f"Bearer {system.token}"}
        self.random = random.Random(random.randrange(2**32))
        self.took: list[float] = []  # seconds
        self.took_public: list[float] = []  # without /v1/user/, which only the primary answers
        self.staleness: list[float] = []  # seconds
        self.unavailable: list[tuple[float, str]] = []  # when, and which path
        self.failed: list[tuple[float, str]] = []
        self.wrong: list[str] = []
        self.paths: deque[str] = deque(maxlen=60)
        self.stored: dict[str, tuple[str, bytes]] = {}  # ETag and body by path
        self.connection: http.client.HTTPConnection | None = None

    def run(self) -> None:
        while not self.ended.is_set():
            time.sleep(pause)
            if self.paused.is_set():
                time.sleep(0.01)
                continue
            path, *target = self.choose()
            start = time.monotonic()
            try:
                status, headers, body = self.get(path)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                status, headers, body = 0, {}, repr(error).encode()
            end = time.monotonic()
            self.took.append(end - start)
            if not path.startswith("/v1/user/"):
                self.took_public.append(end - start)
            if self.is_brief:
                self.close()
            if status == 200:
                try:
                    self.staleness.append(self.oracle.check(tuple(target), body, start, end))
                    if target[0] != "applications":
                        self.paths.append(path)
                except Exception as error:  # an unreadable response is wrong too
                    self.wrong.append(f"{path}: {type(error).__name__} {error}")
            elif is_unavailable(status, headers):
                self.unavailable.append((end, path))
                time.sleep(0.05)  # less than Retry-After, to find more
            else:
                self.failed.append((end, f"{path}: {status} {body[:200].decode(errors='replace')}"))
                time.sleep(0.05)
        self.close()

    def choose(self) -> tuple:
        """Return a path and its target, as `VersionedOracle.check` takes it."""
        die, pick = self.random.random(), self.random.choice
        if die < 0.62:
            each, size = pick(self.oracle.lists), pick((20, 20, 20, 5, 100))
            last = max(1, -(-each.total(self.oracle.versions[-1]) // size))
            number = pick([1, 1, last, last // 2 + 1, last + 1, self.random.randint(1, last)])
            return each.address(size, number), "page", each, size, number
        if die > 0.97:
            return "/v1/filters", "filters"
        if die > 0.94:
            return "/v1/user/applications", "applications"
        pk = pick(self.oracle.renamed if self.random.random() < 0.3 else self.oracle.singles)
        path = f"/v1/vacancies/{pk}"
        if die < 0.82:
            return path, "single", pk
        path += pick(["/form", "/form/schema"])
        return path, "form", path

    def get(self, path: str) -> tuple[int, Any, bytes]:
        """Return status, headers and body; for a 304, the stored body with status 200. A request on
        a connection that was closed while idle is repeated, as every client does.
        """
        headers = {"Accept-Encoding": "gzip"} if self.random.random() < 0.3 else {}
        if path.startswith("/v1/user/"):
            headers |= self.credentials
        elif path in self.stored and self.random.random() < 0.6:
            headers["If-None-Match"] = self.stored[path][0]
        is_kept = self.connection is not None
        try:
            response = self.request(path, headers)
        except ConnectionError:
            if not is_kept:
                raise
            self.close()
            response = self.request(path, headers)
        body = response.read()
        if response.status == 304 and "If-None-Match" in headers:
            return 200, response.headers, self.stored[path][1]
        if response.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if response.status == 200 and "ETag" in response.headers:
            if len(self.stored) > 100:
                self.stored.clear()
            self.stored[path] = (response.headers["ETag"], body)
        return response.status, response.headers, body

    def request(self, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        self.connection = self.connection or http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=60
        )
        self.connection.request("GET", path, headers=headers)
        return self.connection.getresponse()

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None
