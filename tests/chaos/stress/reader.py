"""A process that sends requests and reports wrong responses."""

import gzip
import http.client
import random
import re
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

from tests.chaos import oracle
from tests.chaos.stress.checker import Checker, Response
from tests.chaos.stress.clock import Clock
from tests.chaos.stress.state import REGIONS, SharedState

PAUSE = 0.03  # seconds between two requests of a reader, on average
STORED = 400  # responses that each reader revalidates


class Node(NamedTuple):
    """Processes of the site, and their clock."""

    port: int
    clock_path: Path


def request(port: int, target: str, method: str = "GET", **headers: str) -> Response:
    """Send a request on a connection of its own; `headers` with _ for -."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(
            method, target, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Response(response.status, found, response.read())


def decompressed(response: Response) -> Response:
    if response.headers.get("content-encoding") == "gzip":
        return response._replace(body=gzip.decompress(response.body))
    return response


def address(path: str, query: dict[str, str]) -> str:
    return path + (
        "?" + "&".join(f"{k}={quote(v, safe=',')}" for k, v in query.items()) if query else ""
    )


def random_target(chance: random.Random, count: int) -> str:
    kind = chance.random()
    if kind < 0.2:
        return f"/v1/vacancies/{chance.randint(1, count)}"
    if kind < 0.27:
        return f"/v1/vacancies/{chance.randint(1, count)}/form"
    path = chance.choice(list(oracle.LISTS))
    query: dict[str, str] = {"page[size]": chance.choice(["100", "100", "20", "7"])}
    if chance.random() < 0.3:
        query["page[number]"] = chance.choice(["1", "2", "3", "99"])
    if path.startswith("/v1/"):
        if chance.random() < 0.25:
            query["filter[regions]"] = f"region{chance.randrange(REGIONS)}"
        if chance.random() < 0.15:
            query["filter[search]"] = f"word{chance.randrange(7)}"
        if chance.random() < 0.2:
            query["sort"] = chance.choice(
                ["title", "-title", "published_at", "-published_at", "-closes_at"]
            )
        if chance.random() < 0.25:
            query["fields"] = chance.choice(
                ["id,title,regions", "id,is_hot", "brand,id,head_recruiter"]
            )
    return address(path, query)


def read(shared: SharedState, number: int, nodes: list[Node]) -> None:
    """Send requests to `nodes` and report errors, until the end."""
    chance, clocks = (
        random.Random(1_000 + number),
        {node.port: Clock(node.clock_path) for node in nodes},
    )
    stored: dict[str, tuple[str, bytes]] = {}  # ETag and body by target

    def report(kind: str, detail: str, staleness: float) -> None:
        shared.errors.put((kind, detail, staleness))

    shared.going.wait()
    while not shared.ended.is_set():
        target = random_target(chance, shared.count)
        again = [each for each in stored if chance.random() < 0.02]
        if again and chance.random() < 0.5:
            target = chance.choice(again)
        headers = {"Accept_Encoding": "gzip"} if chance.random() < 0.3 else {}
        own = stored.get(target) if chance.random() < 0.5 else None
        if own:
            headers["If_None_Match"] = own[0]
        method = "HEAD" if chance.random() < 0.03 else "GET"
        port, clock = chance.choice(list(clocks.items()))
        before, began, start, offset = (
            shared.snapshot(),
            time.monotonic(),
            time.time(),
            clock.offset,
        )
        try:
            response = request(port, target, method, **headers)
        except OSError as error:
            report("no response", f"{target}: {error!r}", 0)
            continue
        end, offsets = time.time(), (offset, clock.offset)  # one of both was that of the site
        start, end = start + min(offsets), end + max(offsets)
        where = f"{target} with a clock at {clock.offset:+.0f}" if clock.offset else target
        checker = Checker(before, shared.snapshot(), start, end, began, report, where)
        shared.responses[number] += 1
        if response.status >= 500:
            checker.wrong("failure", response.status)
            continue
        if method == "HEAD":
            if response.body:
                checker.wrong("HEAD with a body", len(response.body))
            if response.status == 200:
                continue
        response = decompressed(response)
        if own and response.status == 200 and response.body == own[1]:
            checker.wrong("no 304 for the same body", (own[0], response.headers.get("etag")))
        if response.status == 304:  # then the stored body has to be right
            assert own
            shared.unchanged[number] += 1
            checker.target += " (304)"
            response = Response(200, response.headers, own[1])
        elif response.status == 200 and "etag" in response.headers:
            if target not in stored and len(stored) >= STORED:
                stored.pop(next(iter(stored)))
            stored[target] = (response.headers["etag"], response.body)
        path, _, query = target.partition("?")
        single = re.fullmatch(r"/v1/vacancies/(\d+)(/form)?", path)
        if single and single[2]:
            checker.check_form(int(single[1]), response)
        elif single:
            checker.check_single(int(single[1]), response)
        else:
            checker.check_list(path, dict(parse_qsl(query)), response)
        time.sleep(chance.expovariate(1 / PAUSE))
