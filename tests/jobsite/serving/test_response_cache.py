"""The response cache: never stale, the same for all clients, and bounded."""

import gzip
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from forms_structure import operations
from forms_structure.models import Form
from jobsite.models import Revision
from jobsite.serving.response_cache import CacheEntry, ResponseCache
from jobsite.serving.revision import RevisionState, read_state
from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.wsgi import ask
from vacancies.models import Attachment, Brand, Filter, FilterOption, Recruiter, Vacancy, VacancyOption

LIST, V0_1, FILTERS = "/v1/vacancies", "/v0.1/vacancies", "/v1/filters"


class Service:
    """A server process that counts the requests that reach Django."""

    def __init__(self, application: Any, read_state: Any) -> None:
        self.upstream_requests = 0

        def counted(environ: Any, start_response: Any) -> Any:
            self.upstream_requests += 1
            return application(environ, start_response)

        self.cache = ResponseCache(counted, read_state)

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[str, dict[str, str], bytes]:
        return ask(self.cache, path, method, **headers)


def committed() -> RevisionState:
    """Return the revision as if the transaction of the test were committed."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
            for name in ("jobsite.pending_bump0", "jobsite.pending_bump1"):  # as in a new transaction
                cursor.execute("SELECT set_config(%s, '', true)", [name])
    return read_state()


@pytest.fixture
def service(wsgi, settings, filters):
    from jobsite.wsgi import _bare

    settings.BODY_CACHE_MB = 1
    return Service(_bare, committed)


@pytest.fixture
def live(wsgi, settings, transactional_db):
    """A service without a transaction around the test."""
    from jobsite.wsgi import _bare

    settings.BODY_CACHE_MB = 1
    return Service(_bare, read_state)


def test_second_request_is_answered_from_the_cache(service):
    make_vacancy(title="Nurse")

    first, second = service.ask(LIST), service.ask(LIST)

    assert service.upstream_requests == 1
    assert first == second
    assert b"Nurse" in first[2]


def test_cached_response_equals_the_response_of_django(service, settings):
    """With the same headers, for every encoding."""
    for number in range(30):
        make_vacancy(title=f"Nurse {number}", options={"regions": ["Ghent", "Antwerp", "Leuven"]})
    single = f"{LIST}/{Vacancy.objects.first().pk}"
    for path in (LIST, f"{LIST}?page[size]=7&page[number]=2", V0_1, FILTERS, single):
        settings.BODY_CACHE_MB = 0
        _, plain, content = service.ask(path)
        settings.BODY_CACHE_MB = 1
        for _ in range(2):
            assert service.ask(path) == ("200 OK", plain, content)
            _, headers, body = service.ask(path, HTTP_ACCEPT_ENCODING="gzip, br")
            assert gzip.decompress(body) == content
            zipped = {"Content-Encoding": "gzip", "Content-Length": str(len(body))}
            assert headers == plain | zipped


CHANGES = {
    "a vacancy is created": lambda: make_vacancy(title="Cook"),
    "one is renamed in bulk": lambda: Vacancy.objects.update(title="Baker"),
    "one is unpublished": lambda: Vacancy.objects.update(status="unpublished"),
    "one is deleted": lambda: Vacancy.objects.all().delete(),
    "an option is renamed": lambda: FilterOption.objects.update(label="Elsewhere"),
    "an option is removed": lambda: VacancyOption.objects.all().delete(),
    "a brand is renamed": lambda: Brand.objects.update(name="Other"),
    "a recruiter is renamed": lambda: Recruiter.objects.update(name="Somebody"),
    "an attachment is added": lambda: Attachment.objects.create(
        vacancy=Vacancy.objects.get(), name="a", url="https://example.org/a.pdf"
    ),
    "a recruiter is added": lambda: Vacancy.objects.get().recruiters.add(make_recruiter("Second")),
    "plain SQL": lambda: connection.cursor().execute("UPDATE vacancies_vacancy SET title = 'SQL'"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_shows_in_the_next_response(service, change):
    make_vacancy(title="Nurse", options={"regions": ["Ghent"]}, brand=make_brand("Acme"))
    single = f"{LIST}/{Vacancy.objects.get().pk}"
    before = {path: service.ask(path) for path in (LIST, V0_1, single)}
    count = service.upstream_requests

    CHANGES[change]()

    after = {path: service.ask(path) for path in before}
    assert service.upstream_requests == count + len(before)
    assert after[LIST] != before[LIST]


def test_change_of_filter_or_form_shows_in_the_next_response(service):
    vacancy = make_vacancy(options={"regions": ["Ghent"]})
    form = f"{LIST}/{vacancy.pk}/form"
    before = service.ask(FILTERS), service.ask(form)

    Filter.objects.filter(keyword="regions").update(label="Places")
    made = operations.create(name="Standard", structure=[])
    Vacancy.objects.update(form=made)
    section = {"title": "You", "description": "", "fields": []}
    operations.save(form=Form.objects.get(), structure=[section], revision=1, name="Standard", language="en")

    after = service.ask(FILTERS), service.ask(form)
    assert b"Places" in after[0][2]
    assert b"You" in after[1][2]
    assert before[0] != after[0]


def test_rolled_back_change_does_not_raise_the_revision(live):
    make_vacancy(title="Nurse")
    live.ask(LIST)
    revision = read_state().number

    with transaction.atomic():
        Vacancy.objects.update(title="Never")
        transaction.set_rollback(True)

    assert read_state().number == revision
    assert b"Nurse" in live.ask(LIST)[2]
    assert live.upstream_requests == 1


def test_transaction_raises_the_revision_once_on_postgresql(live):
    revision = read_state().number

    with transaction.atomic():
        for number in range(5):
            make_vacancy(title=f"Nurse {number}")

    raised = read_state().number - revision
    assert raised == 2 if connection.vendor == "postgresql" else raised >= 5


def test_private_change_does_not_raise_the_revision(service, django_user_model):
    revision = read_state().number

    django_user_model.objects.create_user("anna")

    assert read_state().number == revision


def test_cache_is_not_used_while_the_triggers_are_dropped(service):
    """The number is negative during migrations. It is not the number of a lagging replica."""
    make_vacancy(title="Nurse")
    service.ask(LIST)

    Revision.objects.update(number=-1 - F("number"))
    Vacancy.objects.update(title="Doctor")

    assert b"Doctor" in service.ask(LIST)[2]


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


def test_conditional_request_is_answered_from_the_cache(service):
    make_vacancy()
    etag = service.ask(LIST)[1]["ETag"]

    for condition in (etag, f'"x", {etag}', "*"):
        status, headers, body = service.ask(LIST, HTTP_IF_NONE_MATCH=condition)
        assert (status, body, headers["ETag"]) == ("304 Not Modified", b"", etag)
    assert service.ask(LIST, HTTP_IF_NONE_MATCH='W/"x"')[0] == "200 OK"
    assert service.upstream_requests == 1


def test_head_has_the_headers_and_no_body(service):
    make_vacancy()
    _, headers, body = service.ask(LIST)

    assert service.ask(LIST, method="HEAD") == ("200 OK", headers, b"")
    assert headers["Content-Length"] == str(len(body))
    assert service.upstream_requests == 1


def test_private_response_is_not_cached(service, settings, django_user_model):
    settings.INTERNAL_ACCESS = "authenticated"
    make_vacancy(audience="internal")
    internal, single = "/v1/vacancies/hot/internal", f"{LIST}/{Vacancy.objects.get().pk}"

    for path in (internal, single, "/v1/user/applications", f"{LIST}?page[size]=x", "/v1/nothing"):
        service.ask(path)
        service.ask(path)

    assert service.upstream_requests == 10
    assert service.cache.entries == {}


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
    service.cache.header_templates.clear()
    for _ in range(2):
        received = [service.ask(LIST, **origin)[1] for origin in origins]
        assert [headers.get("access-control-allow-origin") for headers in received] == [
            None,
            "https://a.test",
            None,
        ]
        assert [headers["Vary"] for headers in received] == ["Accept-Encoding, origin"] * 3


def test_hosts_do_not_share_entries(service, settings):
    settings.ALLOWED_HOSTS = ["testserver", "other.test"]
    make_vacancy()

    assert b"http://testserver/" in service.ask(LIST)[2]
    assert b"http://other.test/" in service.ask(LIST, HTTP_HOST="other.test")[2]
    assert service.ask(LIST, HTTP_HOST="evil.test")[0] == "400 Bad Request"


def test_cached_responses_count_for_the_rate_limit(service, settings, at):
    settings.RATE_LIMIT = "3/min"
    make_vacancy()

    assert [service.ask(LIST)[0][:3] for _ in range(5)] == ["200", "200", "200", "429", "429"]


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


def test_response_to_a_long_url_is_not_cached(service):
    service.ask(f"{LIST}?utm={'x' * 2000}")

    assert service.cache.entries == {}


def test_concurrent_requests_make_the_response_once(live):
    make_vacancy(title="Nurse")
    responses = []

    def ask() -> None:
        responses.append(live.ask(LIST))
        connection.connection.close()  # Django does not close in-memory databases

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert live.upstream_requests == 1
    assert len({body for _, _, body in responses}) == 1


def test_django_handles_a_lost_database(service, monkeypatch):
    from django.db import DatabaseError

    def lost() -> int:
        raise DatabaseError

    make_vacancy()
    service.ask(LIST)
    service.cache.read_state = lost

    assert service.ask(LIST)[0] == "200 OK"  # Django's own connection works in this test
    assert service.upstream_requests == 2


def test_response_made_by_another_thread_keeps_its_end(time_machine, settings):
    """A request that waited for another thread gets the seconds that are left then."""
    settings.BODY_CACHE_MB = 1
    start = datetime(2026, 3, 2, tzinfo=UTC)
    time_machine.move_to(start, tick=False)

    class Waiting(ResponseCache):
        @contextmanager
        def single_flight(self, key: Any) -> Any:
            headers = [("Content-Type", "application/json")]
            self.entries[key] = CacheEntry(
                1, start.timestamp(), start.timestamp() + 10, headers, 'W/"x"', b"{}"
            )
            time_machine.move_to(start + timedelta(seconds=4), tick=False)
            yield True

    waiting = Waiting(lambda environ, respond: [], lambda: RevisionState(1, 0))
    assert ask(waiting, LIST)[1]["Cache-Control"] == "public, max-age=6"
