"""Revisions after a failover: a standby that lags is promoted, and begins a new epoch."""

import json
from types import SimpleNamespace

import pytest
from django.conf import settings

from jobsite.serving import response_cache
from tests import servers
from tests.factories import make_brand, make_vacancy
from tests.jobsite.serving.conftest import wait_for_replay

pytestmark = pytest.mark.slow("starts two PostgreSQL servers")
LIST = "/v1/vacancies"
COOKIE = {"HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}=0123456789"}  # reads from the primary
EPOCH = 2**40  # the least distance between two epochs


def detach(replica):
    """Let the replica receive nothing more, as one whose network is too slow."""
    replica.sql("ALTER SYSTEM SET primary_conninfo = ''")
    replica.sql("SELECT pg_reload_conf()")
    servers.until(lambda: replica.sql("SELECT count(*) FROM pg_stat_wal_receiver") == 0)


def state(server):
    names = ("number", "shared", "timeline")
    return SimpleNamespace(**{n: server.sql(f"SELECT {n} FROM jobsite_revision") for n in names})


def write(server, name):
    """Two transactions: one changes the vacancy, the other its brand, which many vacancies may share."""
    server.sql(f"UPDATE vacancies_vacancy SET title = '{name}'")
    server.sql(f"UPDATE vacancies_brand SET name = '{name}'")


def shown(answer):
    status, _, body = answer
    assert status == "200 OK"
    [item] = json.loads(body)["data"]
    assert item["title"] == item["brand"]["name"]
    return item["title"]


@pytest.fixture
def published(site):
    """The site with a vacancy and a brand, which both servers have."""
    site.run(lambda: make_vacancy(title="one", brand=make_brand("one")))
    wait_for_replay(site)
    assert shown(site.ask(LIST, **COOKIE)) == "one"
    return site


def fail_over(site):
    site.primary.crash()
    site.replica.promote()


def test_promoted_standby_that_lags_reuses_no_revision(published):
    before = state(published.primary)
    detach(published.replica)
    write(published.primary, "lost")
    lost = published.ask(LIST, **COOKIE)
    assert shown(lost) == "lost"
    lost_state = state(published.primary)
    lost_version = published.primary.sql("SELECT row_version FROM vacancies_listedvacancy")
    assert (lost_state.number, lost_state.shared) == (before.number + 2, before.shared + 1)

    fail_over(published)
    assert vars(state(published.replica)) == vars(before)
    # As many transactions as were lost: without epochs, the numbers would be equal.
    write(published.replica, "kept")
    after = state(published.replica)
    assert after.timeline == before.timeline.replace("/00000001", "/00000002")
    assert EPOCH < after.number - before.number <= 2 * EPOCH + 2
    assert EPOCH < after.shared - before.shared <= 2 * EPOCH + 2

    for headers in (COOKIE, {}):
        assert shown(published.ask(LIST, **headers)) == "kept"
    conditional = published.ask(LIST, HTTP_IF_NONE_MATCH=lost[1]["ETag"])
    assert shown(conditional) == "kept"
    # Transaction ids are reused, usually for this vacancy. A late reader must not store its lost item there.
    assert published.replica.sql("SELECT row_version FROM vacancies_listedvacancy") != lost_version

    write(published.replica, "next")  # in the same epoch
    assert (state(published.replica).number, state(published.replica).shared) == (
        after.number + 2,
        after.shared + 1,
    )
    assert shown(published.ask(LIST)) == "next"


def test_promoted_standby_serves_its_own_content_before_the_first_write(published, monkeypatch):
    detach(published.replica)
    write(published.primary, "lost")
    assert shown(published.ask(LIST, **COOKIE)) == "lost"
    fail_over(published)

    monkeypatch.setattr(response_cache, "MAX_AHEAD", 0)  # until then, a newer response of this process counts
    assert shown(published.ask(LIST, **COOKIE)) == "one"


def test_replica_that_follows_the_new_primary_has_its_revision(published, tmp_path):
    detach(published.replica)
    write(published.primary, "lost")
    fail_over(published)
    write(published.replica, "kept")

    published.primary.copy(published.replica)
    published.primary.start()
    assert vars(state(published.primary)) == vars(state(published.replica))


def test_two_standbys_that_are_promoted_independently_give_out_different_revisions(published):
    folder = published.replica.folder.parent
    with servers.Postgres(folder / "second", published.primary) as second:
        detach(published.replica)
        detach(second)
        fail_over(published)
        second.promote()
        write(published.replica, "one server")
        write(second, "another server")
        assert state(second).timeline == state(published.replica).timeline
        assert state(second).number != state(published.replica).number
        assert state(second).shared != state(published.replica).shared


def test_restart_begins_no_epoch(published):
    before = state(published.primary)
    published.primary.crash()
    published.primary.start()
    write(published.primary, "two")

    assert state(published.primary).number == before.number + 2
    assert shown(published.ask(LIST, **COOKIE)) == "two"


ROLE = """CREATE ROLE site;
GRANT ALL ON ALL TABLES IN SCHEMA public TO site; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO site"""


def save_as_site(server, title):
    """Save as a role without privileges of its own."""
    server.sql(f"SET ROLE site; UPDATE vacancies_vacancy SET title = '{title}'")


def test_timeline_needs_no_privileges(published):
    before = state(published.primary)
    published.primary.sql(ROLE)
    save_as_site(published.primary, "two")
    after = state(published.primary)

    assert (after.timeline, after.number) == (before.timeline, before.number + 1)


def test_save_succeeds_without_the_functions_of_the_timeline(published):
    """As on a managed service that does not offer them."""
    published.primary.sql(f"{ROLE}; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    save_as_site(published.primary, "two")
    before = state(published.primary)
    save_as_site(published.primary, "three")
    after = state(published.primary)

    assert (before.timeline, after.timeline, after.number) == ("", "", before.number + 1)
