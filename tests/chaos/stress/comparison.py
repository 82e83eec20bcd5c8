"""Comparisons while no writer runs: each response with that of a plain implementation, and the
tables of the read model with the vacancies.
"""

import random
import time
from itertools import pairwise
from typing import Any

import tests.chaos.set_up  # noqa: F401

# isort: split

from jobsite.api.caching import REQUEST_TIME, etag_of
from jobsite.serving.revision import fetch, snapshot
from jobsite.wsgi import _bare
from tests.chaos import oracle
from tests.chaos.stress.checker import Response
from tests.chaos.stress.reader import Node, address, decompressed, random_target, request
from tests.chaos.stress.state import Row, SharedState, datetime_at, get
from tests.vacancies.api import oracle as plain
from tests.wsgi import ask
from vacancies.api import process_cache
from vacancies.models import ListedVacancy, Vacancy
from vacancies.querysets import VacancyList
from vacancies.readmodel.totals import BUCKETS, END, is_maintained


def expected_response(target: str, at: float) -> Response:
    """Return the response of the plain implementation at the time `at`, in seconds.

    That of filters and forms is the one of the view in this process, without a cache.
    """
    if target.endswith(("/form", "/form/schema", "/filters")):
        process_cache.process = process_cache.ProcessCache()
        values: Any = {"HTTP_HOST": "127.0.0.1", REQUEST_TIME: datetime_at(at)}
        status, headers, body = ask(_bare, target, **values)
        return Response(
            int(status[:3]), {name.lower(): value for name, value in headers.items()}, body
        )
    code, body = plain.expected(target, datetime_at(at))
    return Response(code, {"etag": etag_of(body)} if code == 200 else {}, body)


def is_same(one: Response, other: Response) -> bool:
    """Whether status and body are the same; of a 404, the status."""
    return one.status == other.status and (one.status == 404 or one.body == other.body)


def is_time_constant(shared: SharedState, start: float, end: float) -> bool:
    """Whether no vacancy appears or expires from `start` to `end`."""
    return not any(
        start <= get(shared.rows, place, column) <= end
        for place in range(shared.count)
        for column in (Row.PUBLISH_FROM, Row.PUBLISH_UNTIL)
    )


def targets(chance: random.Random, count: int) -> list[str]:
    pks = chance.sample(range(1, count + 1), min(40, count))
    found = [f"/v1/vacancies/{pk}" for pk in pks] + [f"/v1/vacancies/{pk}/form" for pk in pks[:8]]
    found += [f"/v1/vacancies/{pk}/form/schema" for pk in pks[:3]] + ["/v1/filters"]
    for path in oracle.LISTS:
        found += [address(path, {"page[size]": "100", "page[number]": str(n)}) for n in range(1, 5)]
        found += [
            path,
            address(path, {"page[size]": "7", "page[number]": str(chance.randint(1, 30))}),
        ]
    found += [random_target(chance, count) for _ in range(25)]
    return list(dict.fromkeys(found))


def compare_responses(
    shared: SharedState,
    node: Node,
    offset: float,
    chance: random.Random,
    tags: dict[str, tuple[str, bytes]],
) -> int:
    """Report responses that differ from the expected ones; return how many were requested.
    `offset`: of the node's clock. `tags`: ETag and body of earlier rounds by target, to be
    revalidated.
    """
    port = node.port

    def report(kind: str, detail: str) -> None:
        shared.errors.put((kind, detail, 0))

    requests = 0
    for target in targets(chance, shared.count):
        for _ in range(4):
            start = time.time() + offset
            expected = expected_response(target, start)
            found = [request(port, target), request(port, target)]
            found.append(decompressed(request(port, target, Accept_Encoding="gzip")))
            head = request(port, target, "HEAD")
            old = tags.get(target)
            again = request(port, target, If_None_Match=old[0]) if old else None
            requests += 5
            if is_time_constant(shared, start, time.time() + offset):
                break
        else:
            continue
        wrong = [each for each in found if not is_same(each, expected)]
        if wrong:
            more = [request(port, target) for _ in range(8)]
            wrong += [each for each in more if not is_same(each, expected)]
            pairs = enumerate(zip(wrong[0].body, expected.body, strict=False))
            place = next((n for n, (one, other) in pairs if one != other), 0)
            near = slice(max(0, place - 60), place + 60)
            detail = f"{wrong[0].body[near]!r}, not {expected.body[near]!r}"
            report(
                "differs from the plain implementation", f"{target}: {len(wrong)} of 11: {detail}"
            )
        if head.status != expected.status or head.body:
            report("HEAD", f"{target}: {head.status}, not {expected.status}")
        if old and again and (again.status == 304) != (old[1] == expected.body):
            report(
                "304 for another body" if again.status == 304 else "no 304 for the same body",
                target,
            )
        if {each.headers.get("etag") for each in (*found, head)} != {expected.headers.get("etag")}:
            report("another ETag than that of the body", target)
        if found[0].status == 200 and "etag" in found[0].headers:
            tags[target] = (found[0].headers["etag"], found[0].body)
    return requests


def compare_read_model(shared: SharedState) -> int:
    """Report rows of the read model that are not those of the vacancies, and counts that are not
    those of the rows in a bucket. Return the number of buckets.
    """
    if not is_maintained():
        return 0
    columns = ("pk", *oracle.FIELDS[1:], "brand_id", "form_id")
    with snapshot():
        published = set(Vacancy.objects.filter(status="published").values_list(*columns))
        listed = list(ListedVacancy.objects.values_list(*columns, "is_expired", named=True))
        buckets = {row[:2]: row[2:6] for row in fetch(BUCKETS)}
    if odd := sorted(published ^ {tuple(row[:-1]) for row in listed}):
        shared.errors.put(("read model differs from the vacancies", f"{odd[:4]}", 0))
    if early := [
        row.pk for row in listed if row.is_expired and row.publish_until.timestamp() > time.time()
    ]:
        shared.errors.put(("marked as expired too early", f"{early}", 0))
    keys = sorted(buckets)
    for start, end in pairwise([*keys, END]):
        inside = [
            row
            for row in listed
            if start <= (row.publish_from, row.pk) < end and not row.is_expired
        ]
        counts = [
            sum(each.contains(audience=row.audience, is_hot=row.is_hot) for row in inside)
            for each in VacancyList
        ]
        if counts != list(buckets[start]):
            shared.errors.put(("counts of a bucket", f"{start}: {buckets[start]}, not {counts}", 0))
    first = keys[0] if keys else END
    if below := [
        row.pk for row in listed if (row.publish_from, row.pk) < first and not row.is_expired
    ]:
        shared.errors.put(("outside of all buckets", f"{below}", 0))
    return len(buckets)
