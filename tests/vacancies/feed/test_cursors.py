"""Cursors: any text is refused or harmless, and expires with what it needs."""

import base64
import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client, override_settings
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobsite.models import Commit, CursorGap
from jobsite.ops.backups import restore
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from jobsite.wsgi import _bare
from tests.factories import make_brand, make_vacancy
from tests.hostile.content import HIDDEN, hide
from tests.vacancies.api.test_leaks import MODES, ask
from tests.vacancies.feed.simulation import PATHS, Copy
from tests.wsgi import ask as ask_server
from vacancies.feed import reading
from vacancies.feed.maintenance import OldChanges, delete_old
from vacancies.models import Brand, FeedEntry, Vacancy

pytestmark = pytest.mark.django_db(transaction=True)
CHANGES = "/v1/vacancies/changes"
HOUR = timedelta(hours=1)
NEVER_PUBLIC = ("draft", "unpublished", "scheduled")


def decoded(cursor):
    return json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))


def encoded(values):
    text = json.dumps(values, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def poll(client, path=CHANGES, **query):
    return client.get(path, query)


@pytest.fixture
def shown():
    """Three public vacancies, and what nobody may see."""
    for kind in HIDDEN:
        hide(kind, timezone.now())
    return {make_vacancy().pk for _ in range(3)}


NUMBERS = st.integers(-2, 2**63) | st.sampled_from([0, 1, 2, 2**40, 2**62, 2**63 - 1])
ANYTHING = NUMBERS | st.text(max_size=3) | st.none() | st.floats() | st.lists(st.integers())


@pytest.mark.slow("sends many requests")
@pytest.mark.each_database
def test_no_text_is_an_error_of_the_server_or_shows_what_is_hidden(shown):
    """Arbitrary text, JSON of every form, and real cursors with other numbers."""
    client = Client()
    Vacancy.objects.filter(pk__in=shown).update(title="Other")
    real = [poll(client).json()["meta"]["cursor"]]
    real.append(poll(client, **{"page[size]": 1}).json()["meta"]["cursor"])
    edits = st.dictionaries(st.integers(0, 8), ANYTHING, max_size=4)
    mutated = st.builds(
        lambda cursor, edit: encoded(
            [edit.get(place, value) for place, value in enumerate(decoded(cursor))]
        ),
        st.sampled_from(real),
        edits,
    )
    texts = st.text(max_size=60) | mutated | st.builds(encoded, st.lists(ANYTHING, max_size=10))

    @settings(max_examples=300, suppress_health_check=list(HealthCheck))
    @given(texts)
    def check(text):
        response = poll(client, since=text)
        assert response.status_code in (200, 400, 410), text
        for change in response.json().get("data", ()):
            if change["change"] == "upsert":
                assert change["id"] in shown
            else:
                assert change["id"] not in {HIDDEN[kind] for kind in (*NEVER_PUBLIC, "internal")}

    check()


@pytest.mark.parametrize("at", [0, 4 * 10**15])
def test_forged_cursor_of_another_time_shows_what_is_public_now(client, shown, at):
    """4 * 10**15 microseconds are in the year 2096."""
    values = decoded(poll(client).json()["meta"]["cursor"])
    values[6] = at
    found = poll(client, since=encoded(values)).json()["data"]
    assert {each["id"] for each in found if each["change"] == "upsert"} == (set() if at else shown)


def test_cursor_of_another_list_brand_or_selection_is_refused(client):
    make_vacancy(audience="both")
    make_vacancy(brand=make_brand("Beta", slug="beta"))
    cursor = poll(client).json()["meta"]["cursor"]
    of_beta = poll(client, **{"filter[brand]": "beta"}).json()["meta"]["cursor"]
    assert poll(client, since=cursor).status_code == 200
    for response in (
        poll(client, PATHS["internal"] + "/changes", since=cursor),
        poll(client, since=cursor, fields="id"),
        poll(client, since=cursor, **{"filter[brand]": "beta"}),
        poll(client, since=of_beta),
        poll(client, since=of_beta, **{"filter[brand]": "acme"}),
    ):
        assert response.status_code == 400
        [error] = response.json()["errors"]
        assert error["parameter"] == "since"
        assert "another list" in error["detail"]


def test_slug_of_another_brand_expires_the_cursor(client):
    make_vacancy(brand=make_brand("Beta", slug="beta"))
    cursor = poll(client, **{"filter[brand]": "beta"}).json()["meta"]["cursor"]
    Brand.objects.filter(slug="beta").update(slug="beta-2")
    assert poll(client, since=cursor, **{"filter[brand]": "beta-2"}).status_code == 200
    Brand.objects.filter(slug="acme").update(slug="acme-2")
    make_vacancy(brand=make_brand("New", slug="beta"))

    response = poll(client, since=cursor, **{"filter[brand]": "beta"})
    assert (response.status_code, response.json()["links"]) == (
        410,
        {"restart": f"http://testserver{CHANGES}?filter%5Bbrand%5D=beta"},
    )


def test_brand_without_public_vacancies_is_unknown(client):
    """As one that does not exist: it may be confidential."""
    make_vacancy(brand=make_brand("Beta", slug="beta"), status="draft")
    for slug in ("beta", "\0"):
        assert poll(client, **{"filter[brand]": slug}).status_code == 400
    Vacancy.objects.update(status="published")
    assert poll(client, **{"filter[brand]": "beta"}).status_code == 200
    Vacancy.objects.update(status="draft")
    assert poll(client, **{"filter[brand]": "beta"}).status_code == 200  # recently


# --- Expiry ---------------------------------------------------------------------------------------


def test_deleted_changes_expire_older_cursors_only(client):
    pks = [make_vacancy().pk for _ in range(3)]
    old = poll(client).json()["meta"]["cursor"]
    Vacancy.objects.filter(pk=pks[0]).update(title="Other")
    inside = Copy("external", "", 1, url=f"{CHANGES}?since={old}&page[size]=1")
    Vacancy.objects.update(title="All")  # one commit with three entries
    inside.read(client, timezone.now())
    new = poll(client).json()["meta"]["cursor"]
    OldChanges().run(timezone.now())
    assert poll(client, since=old).status_code == 200  # nothing is old enough

    assert delete_old(timezone.now() + HOUR)
    assert not Commit.objects.exists()
    assert not FeedEntry.objects.exists()
    assert poll(client, since=old).status_code == 410
    assert client.get(inside.url).status_code == 410  # R7
    assert poll(client, since=new).status_code == 200
    assert CursorGap.objects.count() == 1


def restored():
    """Apply what `restore` applies to a database that it has replaced."""
    tables = {"tables": ["jobsite_revision", "jobsite_cursorgap"]}
    with connection.cursor() as cursor:
        for statement in restore._statements(tables):
            cursor.execute(statement)


def test_restored_backup_expires_all_cursors(client):
    make_vacancy()
    cursor = poll(client).json()["meta"]["cursor"]
    restored()
    assert poll(client, since=cursor).status_code == 410
    assert poll(client, since=poll(client).json()["meta"]["cursor"]).status_code == 200


def test_walk_that_read_lost_content_expires(client):
    """R6: its number is before the lost commits, but it read what they wrote."""
    for _ in range(2):
        make_vacancy()
    first = poll(client, **{"page[size]": 1}).json()["meta"]["cursor"]
    before = read_state().number
    make_vacancy()
    seen = poll(client, since=first, **{"page[size]": 1}).json()["meta"]["cursor"]
    number = read_state().number
    CursorGap.objects.create(after=before, before=number + 1)

    assert poll(client, since=first).status_code == 200
    assert poll(client, since=seen).status_code == 410


def test_server_that_is_late_sends_nothing(client, monkeypatch):
    make_vacancy()
    live = poll(client).json()["meta"]["cursor"]
    walk = poll(client, **{"page[size]": 1}).json()["meta"]["cursor"]
    late = read_state()._replace(number=1)
    monkeypatch.setattr("jobsite.serving.revision.read_state", lambda: late)
    monkeypatch.setattr("vacancies.api.v1.changes.read_state", lambda: late)
    for cursor, has_more in ((live, False), (walk, True)):
        body = poll(client, since=cursor).json()
        assert body["data"] == []
        assert body["meta"] == {"cursor": cursor, "more": has_more}


# --- Who may read, and how often it is computed ---------------------------------------------------


@pytest.mark.slow("hides each kind")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", NEVER_PUBLIC)
def test_hidden_vacancy_changes_no_poll(client, settings, kind, mode):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    make_vacancy(audience="both")
    paths = [CHANGES, f"{CHANGES}?fields=id,title"]
    if mode != "authenticated":
        paths.append(f"{PATHS['internal']}/changes")
    links = [ask(client, path)[1] for path in paths]
    links = [json.loads(body)["links"]["next"].removeprefix("http://testserver") for body in links]
    brand = f"{CHANGES}?filter[brand]=zzqq-{kind}-brand"
    before = [ask(client, each) for each in [*links, brand]]
    hide(kind, timezone.now())
    assert [ask(client, each)[:2] for each in [*links, brand]] == [each[:2] for each in before]


@pytest.mark.parametrize(("mode", "status"), [("authenticated", 401), ("network", 403)])
def test_internal_feed_is_for_insiders(client, settings, mode, status):
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["203.0.113.0/24"]
    path = f"{PATHS['internal']}/changes"
    assert client.get(path, REMOTE_ADDR="198.51.100.1").status_code == status
    assert client.get(CHANGES, REMOTE_ADDR="198.51.100.1").status_code == 200
    if mode == "network":
        inside = client.get(path, REMOTE_ADDR="203.0.113.9")
        assert (inside.status_code, inside["Cache-Control"]) == (200, "private, no-store")


def test_idle_poll_is_answered_by_the_cache_until_something_changes(wsgi):
    calls = []

    def counted(environ, start_response):
        calls.append(environ["PATH_INFO"])
        return _bare(environ, start_response)

    with override_settings(RESPONSE_CACHE_MB=1):
        cache = ResponseCache(counted, read_state)
        pk = make_vacancy().pk
        address = json.loads(ask_server(cache, CHANGES)[2])["links"]["next"]
        poll = address.partition("testserver")[2] or address
        status, headers, body = ask_server(cache, poll)
        assert (status, json.loads(body)["data"]) == ("200 OK", [])
        calls.clear()
        assert ask_server(cache, poll)[2] == body
        assert ask_server(cache, poll, HTTP_IF_NONE_MATCH=headers["ETag"])[0].startswith("304")
        assert calls == []

        Vacancy.objects.filter(pk=pk).update(status="draft")
        assert json.loads(ask_server(cache, poll)[2])["data"] == [{"id": pk, "change": "remove"}]
        make_vacancy(status="draft")  # raises the revision, but the response stays the same
        following = json.loads(ask_server(cache, poll)[2])["links"]["next"]
        assert following.startswith("http")


def test_skipped_entries_are_read_once(client, monkeypatch):
    """Entries of vacancies that nobody saw: the position moves on, without data."""
    monkeypatch.setattr(reading, "SCAN", 3)
    make_vacancy()
    cursor = poll(client).json()["meta"]["cursor"]
    for _ in range(4):
        make_vacancy(audience="internal")
    body = poll(client, since=cursor, **{"page[size]": 1}).json()
    assert (body["data"], body["meta"]["more"]) == ([], True)
    body = poll(client, since=body["meta"]["cursor"]).json()
    assert (body["data"], body["meta"]["more"]) == ([], False)
