"""Kept answers: as fresh as the database, the same for everybody, and bounded."""

import gzip
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from forms_structure import operations
from forms_structure.models import Form
from jobsite.models import Revision
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import RevisionState, read_state
from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.wsgi import ask
from vacancies.models import Attachment, Brand, Filter, FilterOption, Recruiter, Vacancy, VacancyOption

LIST, V0_1, FILTERS = "/v1/vacancies", "/v0.1/vacancies", "/v1/filters"


class Service:
    """A server process in front of Django that counts how often Django is asked."""

    def __init__(self, application: Any, read_state: Any) -> None:
        self.asked = 0

        def counted(environ: Any, start_response: Any) -> Any:
            self.asked += 1
            return application(environ, start_response)

        self.cache = ResponseCache(counted, read_state)

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[str, dict[str, str], bytes]:
        return ask(self.cache, path, method, **headers)


def committed() -> RevisionState:
    """The revision as it would be if the transaction that the test runs in were committed."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
            for name in ("jobsite.pending_bump0", "jobsite.pending_bump1"):  # a new transaction adds it again
                cursor.execute("SELECT set_config(%s, '', true)", [name])
    return read_state()


@pytest.fixture
def service(wsgi, settings, filters):
    from jobsite.wsgi import _bare

    settings.BODY_CACHE_MB = 1
    return Service(_bare, committed)


@pytest.fixture
def live(wsgi, settings, transactional_db):
    """Without a transaction around the test."""
    from jobsite.wsgi import _bare

    settings.BODY_CACHE_MB = 1
    return Service(_bare, read_state)


def test_second_question_is_answered_without_django(service):
    make_vacancy(title="Nurse")

    first, second = service.ask(LIST), service.ask(LIST)

    assert service.asked == 1
    assert first == second
    assert b"Nurse" in first[2]


def test_kept_answer_is_the_answer_of_django(service, settings):
    """To the header, whatever the encoding."""
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
    "one is taken offline": lambda: Vacancy.objects.update(status="unpublished"),
    "one is deleted": lambda: Vacancy.objects.all().delete(),
    "an option is renamed": lambda: FilterOption.objects.update(label="Elsewhere"),
    "an option is taken off": lambda: VacancyOption.objects.all().delete(),
    "a brand is renamed": lambda: Brand.objects.update(name="Other"),
    "a recruiter is renamed": lambda: Recruiter.objects.update(name="Somebody"),
    "an attachment is added": lambda: Attachment.objects.create(
        vacancy=Vacancy.objects.get(), name="a", url="https://example.org/a.pdf"
    ),
    "a recruiter is added": lambda: Vacancy.objects.get().recruiters.add(make_recruiter("Second")),
    "plain SQL": lambda: connection.cursor().execute("UPDATE vacancies_vacancy SET title = 'SQL'"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_shows_in_the_next_answer(service, change):
    make_vacancy(title="Nurse", options={"regions": ["Ghent"]}, brand=make_brand("Acme"))
    single = f"{LIST}/{Vacancy.objects.get().pk}"
    before = {path: service.ask(path) for path in (LIST, V0_1, single)}
    asked = service.asked

    CHANGES[change]()

    after = {path: service.ask(path) for path in before}
    assert service.asked == asked + len(before)
    assert after[LIST] != before[LIST]


def test_filter_and_form_show_their_changes(service):
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


def test_uncommitted_change_is_not_kept_under_the_next_revision(live):
    make_vacancy(title="Nurse")
    live.ask(LIST)
    revision = read_state().number

    with transaction.atomic():
        Vacancy.objects.update(title="Never")
        transaction.set_rollback(True)

    assert read_state().number == revision
    assert b"Nurse" in live.ask(LIST)[2]
    assert live.asked == 1


def test_transaction_raises_the_revision_by_statements_on_sqlite_and_by_itself_on_postgresql(live):
    revision = read_state().number

    with transaction.atomic():
        for number in range(5):
            make_vacancy(title=f"Nurse {number}")

    raised = read_state().number - revision
    assert raised == 2 if connection.vendor == "postgresql" else raised >= 5


def test_what_is_nobodys_business_raises_nothing(service, django_user_model):
    revision = read_state().number

    django_user_model.objects.create_user("anna")

    assert read_state().number == revision


def test_nothing_kept_is_handed_out_while_nobody_tells_of_changes(service):
    """A negative number, during migrations, is not that of a replica that is behind."""
    make_vacancy(title="Nurse")
    service.ask(LIST)

    Revision.objects.update(number=-1 - F("number"))
    Vacancy.objects.update(title="Doctor")

    assert b"Doctor" in service.ask(LIST)[2]


def test_clock_ends_an_answer(service, time_machine):
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    make_vacancy(title="Soon", publish_from=now + timedelta(seconds=90))
    make_vacancy(title="Gone", publish_until=now + timedelta(seconds=200))
    _, headers, body = service.ask(LIST)
    assert b"Soon" not in body
    assert headers["Cache-Control"] == "public, max-age=60"

    time_machine.move_to(now + timedelta(seconds=75), tick=False)
    assert service.ask(LIST)[1]["Cache-Control"] == "public, max-age=15"
    assert service.asked == 1
    time_machine.move_to(now + timedelta(seconds=90), tick=False)
    assert b"Soon" in service.ask(LIST)[2]
    time_machine.move_to(now + timedelta(seconds=200), tick=False)
    assert b"Gone" not in service.ask(LIST)[2]


def test_conditional_question_is_answered_from_what_is_kept(service):
    make_vacancy()
    etag = service.ask(LIST)[1]["ETag"]

    for condition in (etag, f'"x", {etag}', "*"):
        status, headers, body = service.ask(LIST, HTTP_IF_NONE_MATCH=condition)
        assert (status, body, headers["ETag"]) == ("304 Not Modified", b"", etag)
    assert service.ask(LIST, HTTP_IF_NONE_MATCH='W/"x"')[0] == "200 OK"
    assert service.asked == 1


def test_head_has_the_headers_and_no_body(service):
    make_vacancy()
    _, headers, body = service.ask(LIST)

    assert service.ask(LIST, method="HEAD") == ("200 OK", headers, b"")
    assert headers["Content-Length"] == str(len(body))
    assert service.asked == 1


def test_what_is_not_for_everybody_is_not_kept(service, settings, django_user_model):
    settings.INTERNAL_ACCESS = "authenticated"
    make_vacancy(audience="internal")
    internal, single = "/v1/vacancies/hot/internal", f"{LIST}/{Vacancy.objects.get().pk}"

    for path in (internal, single, "/v1/user/applications", f"{LIST}?page[size]=x", "/v1/nothing"):
        service.ask(path)
        service.ask(path)

    assert service.asked == 10
    assert service.cache.entries == {}


def test_origins_share_an_answer_unless_it_depends_on_them(service, settings):
    make_vacancy()
    origins = ({}, {"HTTP_ORIGIN": "https://a.test"}, {"HTTP_ORIGIN": "https://b.test"})

    first, *others = [service.ask(LIST, **origin) for origin in origins]
    assert others == [first] * 2
    assert first[1]["access-control-allow-origin"] == "*"
    assert first[1]["Vary"] == "Accept-Encoding"
    assert service.asked == 1

    settings.CORS_ALLOW_ALL_ORIGINS, settings.CORS_ALLOWED_ORIGINS = False, ["https://a.test"]
    service.cache.entries.clear()
    service.cache.header_templates.clear()
    for _ in range(2):
        told = [service.ask(LIST, **origin)[1] for origin in origins]
        assert [headers.get("access-control-allow-origin") for headers in told] == [
            None,
            "https://a.test",
            None,
        ]
        assert [headers["Vary"] for headers in told] == ["Accept-Encoding, origin"] * 3


def test_other_host_gets_answers_of_its_own(service, settings):
    settings.ALLOWED_HOSTS = ["testserver", "other.test"]
    make_vacancy()

    assert b"http://testserver/" in service.ask(LIST)[2]
    assert b"http://other.test/" in service.ask(LIST, HTTP_HOST="other.test")[2]
    assert service.ask(LIST, HTTP_HOST="evil.test")[0] == "400 Bad Request"


def test_kept_answers_count_for_the_rate_limit(service, settings, at):
    settings.RATE_LIMIT = "3/min"
    make_vacancy()

    assert [service.ask(LIST)[0][:3] for _ in range(5)] == ["200", "200", "200", "429", "429"]


def test_memory_is_bounded_and_what_was_asked_last_stays(service):
    for number in range(40):
        make_vacancy(title=f"Nurse {number}", description=f"<p>{'x' * 3000}</p>")
    for page in range(1, 41):
        service.ask(f"{LIST}?page[size]=20&page[number]=1&utm={page}")
        service.ask(LIST)

    assert service.cache.size <= 2**20
    assert service.cache.size == sum(answer.size for answer in service.cache.entries.values())
    asked = service.asked
    service.ask(LIST)
    assert service.asked == asked


def test_long_questions_are_not_kept(service):
    service.ask(f"{LIST}?utm={'x' * 2000}")

    assert service.cache.entries == {}


def test_many_who_ask_at_once_have_it_made_once(live):
    make_vacancy(title="Nurse")
    answers = []

    def ask() -> None:
        answers.append(live.ask(LIST))
        connection.connection.close()  # Django leaves one in memory open

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert live.asked == 1
    assert len({body for _, _, body in answers}) == 1


def test_lost_database_is_for_django_to_tell(service, monkeypatch):
    from django.db import DatabaseError

    def lost() -> int:
        raise DatabaseError

    make_vacancy()
    service.ask(LIST)
    service.cache.read_state = lost

    assert service.ask(LIST)[0] == "200 OK"  # Django's own, whose connection is fine here
    assert service.asked == 2
