"""The response cache: never stale, the same for all clients, and bounded."""

import gzip
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from jobsite.serving.response_cache import CacheEntry, Flight, ResponseCache
from jobsite.serving.revision import RevisionState, read_state
from jobsite.wsgi import _bare
from tests.factories import make_vacancy
from tests.parallel import at_once
from tests.servers import until
from tests.wsgi import ask
from vacancies.models import Vacancy

LIST, V0_1, FILTERS = "/v1/vacancies", "/v0.1/vacancies", "/v1/filters"


class Service:
    """A server process that counts the requests that reach Django."""

    def __init__(self, application: Any, read_state: Any) -> None:
        self.upstream_requests = 0

        def counted(environ: Any, start_response: Any) -> Any:
            self.upstream_requests += 1
            return application(environ, start_response)

        self.cache = ResponseCache(counted, read_state)

    def ask(
        self, path: str, method: str = "GET", **headers: str
    ) -> tuple[str, dict[str, str], bytes]:
        return ask(self.cache, path, method, **headers)


@pytest.fixture
def service(wsgi, settings, transactional_db, filters):
    """A server process. There is no transaction around the test:
    its changes would have no revision.
    """
    settings.RESPONSE_CACHE_MB = 1
    return Service(_bare, read_state)


def test_later_requests_are_answered_from_the_cache(service):
    make_vacancy(title="Nurse")

    first = status, headers, body = service.ask(LIST)

    assert b"Nurse" in body
    assert service.ask(LIST) == first
    assert service.ask(LIST, method="HEAD") == (status, headers, b"")
    assert headers["Content-Length"] == str(len(body))
    for condition in (headers["ETag"], f'"x", {headers["ETag"]}', "*"):
        status, unchanged, body = service.ask(LIST, HTTP_IF_NONE_MATCH=condition)
        assert (status, body, unchanged["ETag"]) == ("304 Not Modified", b"", headers["ETag"])
    assert service.ask(LIST, HTTP_IF_NONE_MATCH='W/"x"')[0] == "200 OK"
    assert service.upstream_requests == 1

    service.cache.read_state = Mock(side_effect=DatabaseError)
    assert service.ask(LIST)[0] == "200 OK"  # Django's own connection works in this test
    assert service.upstream_requests == 2


def test_cached_response_equals_the_response_of_django(service, settings):
    """With the same headers, for every encoding."""
    for number in range(30):
        make_vacancy(title=f"Nurse {number}", options={"regions": ["Ghent", "Antwerp", "Leuven"]})
    single = f"{LIST}/{Vacancy.objects.first().pk}"
    for path in (LIST, f"{LIST}?page[size]=7&page[number]=2", V0_1, FILTERS, single):
        settings.RESPONSE_CACHE_MB = 0
        _, plain, content = service.ask(path)
        settings.RESPONSE_CACHE_MB = 1
        for _ in range(2):
            assert service.ask(path) == ("200 OK", plain, content)
            _, headers, body = service.ask(path, HTTP_ACCEPT_ENCODING="gzip, br")
            assert gzip.decompress(body) == content
            assert headers == plain | {"Content-Encoding": "gzip", "Content-Length": str(len(body))}


def test_rolled_back_change_does_not_raise_the_revision(service):
    make_vacancy(title="Nurse")
    service.ask(LIST)
    revision = read_state().number

    with transaction.atomic():
        Vacancy.objects.update(title="Never")
        transaction.set_rollback(True)

    assert read_state().number == revision
    assert b"Nurse" in service.ask(LIST)[2]
    assert service.upstream_requests == 1

    with transaction.atomic():
        for number in range(5):
            make_vacancy(title=f"Nurse {number}")
    raised = read_state().number - revision
    assert raised == 1 if connection.vendor == "postgresql" else raised >= 5


def test_change_of_private_data_does_not_raise_the_revision(service, django_user_model):
    revision = read_state()
    django_user_model.objects.create_user("anna")
    assert read_state() == revision


def test_entry_ends_when_a_vacancy_goes_live_or_expires(service, time_machine):
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    make_vacancy(title="Soon", publish_from=now + timedelta(seconds=90))
    make_vacancy(title="Gone", publish_until=now + timedelta(seconds=200))
    _, headers, body = service.ask(LIST)
    assert b"Soon" not in body
    assert headers["Cache-Control"] == "public, max-age=60"

    time_machine.move_to(now + timedelta(seconds=75), tick=False)
    assert service.ask(LIST)[1]["Cache-Control"] == "public, max-age=15"
    assert service.upstream_requests == 1
    time_machine.move_to(now + timedelta(seconds=90), tick=False)
    assert b"Soon" in service.ask(LIST)[2]
    time_machine.move_to(now + timedelta(seconds=200), tick=False)
    assert b"Gone" not in service.ask(LIST)[2]


def test_private_responses_are_not_cached_and_hosts_share_no_entries(service, settings, at):
    settings.INTERNAL_ACCESS = "authenticated"
    make_vacancy(audience="internal")
    single, long = f"{LIST}/{Vacancy.objects.get().pk}", f"{LIST}?utm={'x' * 2000}"
    private = ("/v1/vacancies/hot/internal", single, "/v1/user/applications")

    for path in (*private, f"{LIST}?page[size]=x", "/v1/nothing", long):
        service.ask(path)
        service.ask(path)

    assert service.upstream_requests == 12
    assert service.cache.entries == {}

    settings.ALLOWED_HOSTS = ["testserver", "other.test"]
    make_vacancy()

    assert b"http://testserver/" in service.ask(LIST)[2]
    assert b"http://other.test/" in service.ask(LIST, HTTP_HOST="other.test")[2]
    assert service.ask(LIST, HTTP_HOST="evil.test")[0] == "400 Bad Request"

    settings.RATE_LIMIT = "3/min"  # counts cached responses too
    assert [service.ask(LIST)[0][:3] for _ in range(5)] == ["200", "200", "200", "429", "429"]


def test_origins_share_an_entry_unless_cors_is_limited(service, settings):
    make_vacancy()
    origins = ({}, {"HTTP_ORIGIN": "https://a.test"}, {"HTTP_ORIGIN": "https://b.test"})

    first, *others = [service.ask(LIST, **origin) for origin in origins]
    assert others == [first] * 2
    assert first[1]["access-control-allow-origin"] == "*"
    assert first[1]["Vary"] == "Accept-Encoding"
    assert service.upstream_requests == 1

    settings.CORS_ALLOW_ALL_ORIGINS, settings.CORS_ALLOWED_ORIGINS = False, ["https://a.test"]
    service.cache.entries.clear()
    allowed = [None, "https://a.test", None]
    for _ in range(2):
        received = [service.ask(LIST, **origin)[1] for origin in origins]
        assert [headers.get("access-control-allow-origin") for headers in received] == allowed
        assert [headers["Vary"] for headers in received] == ["Accept-Encoding, origin"] * 3


def test_accept_header_gives_the_same_status_with_and_without_the_cache(service):
    taken = ["", "*/*", "application/*", "Application/JSON; indent=4", "text/html, */*;q=0.1"]
    taken += ["*/*;q=0, application/json"]
    refused = [
        "text/html",
        "text/*",
        "*",
        "application/jsonp",
        "application/ld+json",
        "application/json;q=0, */*",
        "*/*; q=0.0",
    ]
    refused += ["x" * 7000]
    for path in (LIST, V0_1, FILTERS):
        service.ask(path)

        for accept in taken + refused:
            cached = service.ask(path, HTTP_ACCEPT=accept)[0][:3]
            made = ask(_bare, path, HTTP_ACCEPT=accept)[0][:3]
            expected = "200" if accept in taken else "406"
            assert (cached, made) == (expected, expected), (path, accept[:40])


@pytest.mark.slow("many requests")
def test_cache_is_bounded_and_evicts_the_least_recently_used(service):
    for number in range(40):
        make_vacancy(title=f"Nurse {number}", description=f"<p>{'x' * 3000}</p>")
    for page in range(1, 41):
        service.ask(f"{LIST}?page[size]=20&page[number]=1&utm={page}")
        service.ask(LIST)

    assert service.cache.size <= 2**20
    assert service.cache.size == sum(entry.size for entry in service.cache.entries.values())
    count = service.upstream_requests
    service.ask(LIST)
    assert service.upstream_requests == count


def test_concurrent_requests_make_the_response_once(service):
    make_vacancy(title="Nurse")

    responses = at_once(*[lambda: service.ask(LIST)] * 8)

    assert service.upstream_requests == 1
    assert len({body for _, _, body in responses}) == 1


def test_concurrent_requests_share_a_503(settings, transactional_db):
    """Otherwise they would wait for the lock of a table one after another, each for two seconds."""
    settings.RESPONSE_CACHE_MB, calls = 16, []

    def locked(environ: Any, respond: Any) -> list[bytes]:
        calls.append(environ["PATH_INFO"])
        until(lambda: len(calls) > 1 or [flight.users for flight in shared.flights.values()] == [4])
        respond("503 Service Unavailable", [("Retry-After", "2")])
        return [b"one moment"]

    shared = ResponseCache(locked, lambda: RevisionState(1, 0))
    answers = at_once(*[lambda: ask(shared, LIST)] * 4)

    assert answers == [("503 Service Unavailable", {"Retry-After": "2"}, b"one moment")] * 4
    assert (calls, shared.flights) == ([LIST], {})
    ask(shared, LIST)
    assert len(calls) == 2  # a later request tries again


def test_response_made_by_another_thread_keeps_its_end(time_machine, settings):
    """A request that waited for another thread gets the seconds that are left then."""
    settings.RESPONSE_CACHE_MB = 1
    start = datetime(2026, 3, 2, tzinfo=UTC)
    time_machine.move_to(start, tick=False)
    begin, headers = start.timestamp(), [("Content-Type", "application/json")]

    class Waiting(ResponseCache):
        @contextmanager
        def single_flight(self, key: Any) -> Any:
            self.entries[key] = CacheEntry(1, begin, begin + 10, headers, 'W/"x"', b"{}")
            time_machine.move_to(start + timedelta(seconds=4), tick=False)
            yield Flight(has_waited=True)

    waiting = Waiting(lambda environ, respond: [], lambda: RevisionState(1, 0))
    assert ask(waiting, LIST)[1]["Cache-Control"] == "public, max-age=6"
