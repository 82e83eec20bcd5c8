"""Revisions after a failover: a standby that lags is promoted, and begins a new epoch."""

import json
from types import SimpleNamespace

import pytest
from django.conf import settings

from jobsite.serving import response_cache
from tests import servers
from tests.jobsite.serving.conftest import publish, wait_for_replay

pytestmark = pytest.mark.slow("starts two PostgreSQL servers")
LIST = "/v1/vacancies"
COOKIE = {"HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}=0123456789"}  # reads from the primary
VERSION = "SELECT row_version FROM vacancies_listedvacancy"
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
    """Two transactions: one changes the vacancy, the other its brand, which many vacancies may
    share.
    """
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
    write(site.primary, "one")
    publish(site, title="one")
    assert shown(site.ask(LIST, **COOKIE)) == "one"
    return site


def test_restart_begins_no_epoch_and_the_role_needs_no_privileges(published):
    before = state(published.primary)
    published.primary.crash()
    published.primary.start()
    write(published.primary, "two")

    assert state(published.primary).number == before.number + 2
    assert shown(published.ask(LIST, **COOKIE)) == "two"

    # Without the functions of the timeline, as on a managed service, saves succeed too.
    def save(title):
        published.primary.sql(f"SET ROLE site; UPDATE vacancies_vacancy SET title = '{title}'")
        return state(published.primary)

    before = state(published.primary)
    granted = ("TABLES", "SEQUENCES")
    grants = "; ".join(f"GRANT ALL ON ALL {kind} IN SCHEMA public TO site" for kind in granted)
    published.primary.sql(f"CREATE ROLE site; {grants}")
    after = save("two")
    assert (after.timeline, after.number) == (before.timeline, before.number + 1)

    published.primary.sql("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    before, after = save("three"), save("four")
    assert (before.timeline, after.timeline, after.number) == ("", "", before.number + 1)
    published.primary.sql("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")


def test_promoted_standby_that_lags_reuses_no_revision(published, monkeypatch):
    """The last test of this file: it promotes the replica, and a second one."""
    primary, replica = published.primary, published.replica
    write(primary, "one")  # sets the timeline
    wait_for_replay(published)
    before = state(primary)
    with servers.Postgres(replica.folder.parent / "second", primary) as second:
        detach(replica)
        detach(second)
        write(primary, "lost")
        lost = published.ask(LIST, **COOKIE)
        assert shown(lost) == "lost"
        lost_state, lost_version = state(primary), primary.sql(VERSION)
        assert (lost_state.number, lost_state.shared) == (before.number + 2, before.shared + 1)

        primary.crash()
        replica.promote()
        assert vars(state(replica)) == vars(before)
        with monkeypatch.context() as patch:
            # Else a newer response of this process counts.
            patch.setattr(response_cache, "MAX_AHEAD", 0)
            assert shown(published.ask(LIST, **COOKIE)) == "one"
        # As many transactions as were lost: without epochs, the numbers would be equal.
        write(replica, "kept")
        after = state(replica)
        assert after.timeline == before.timeline.replace("/00000001", "/00000002")
        assert EPOCH < after.number - before.number <= 2 * EPOCH + 2
        assert EPOCH < after.shared - before.shared <= 2 * EPOCH + 2

        second.promote()
        write(second, "another server")
        other = state(second)
        assert other.timeline == after.timeline
        assert other.number != after.number
        assert other.shared != after.shared

    for headers in (COOKIE, {}, {"HTTP_IF_NONE_MATCH": lost[1]["ETag"]}):
        assert shown(published.ask(LIST, **headers)) == "kept"
    # Transaction ids are reused, usually for this vacancy. A late reader must not store its lost
    # item there.
    assert replica.sql(VERSION) != lost_version

    write(replica, "next")  # in the same epoch
    later = state(replica)
    assert (later.number, later.shared) == (after.number + 2, after.shared + 1)
    assert shown(published.ask(LIST)) == "next"

    primary.copy(replica)  # follows the new primary
    primary.start()
    assert vars(state(primary)) == vars(later)
