"""Which reads go to the replica, and what happens when one fails there."""

from collections import deque
from contextlib import nullcontext

import pytest
from django.apps import apps
from django.conf import settings
from django.db import InterfaceError, OperationalError, connections, router

from jobsite import wsgi
from jobsite.api.problems import LOCKED
from jobsite.serving import SOURCE, replica
from jobsite.serving.replica import REPLICA
from tests.jobsite.serving.databases import databases
from tests.wsgi import ask

LIST = "/v1/vacancies"
PUBLIC = {"jobsite", "vacancies", "forms_structure"}
OK, UNAVAILABLE, CRASHED = "200 OK", "503 Service Unavailable", "500 Internal Server Error"


def test_router_sends_public_reads_to_the_replica():
    public = {model for model in apps.get_models() if model._meta.app_label in PUBLIC}
    for model in apps.get_models():
        with replica.reading(REPLICA):
            assert router.db_for_read(model) == (REPLICA if model in public else "default"), model
            assert router.db_for_write(model) == "default", model
        for where in (replica.reading("default"), nullcontext()):
            with where:
                assert router.db_for_read(model) == "default", model

    assert {model._meta.label for model in apps.get_models() if model not in public} >= {
        "auth.User",
        "auth.Group",
        "sessions.Session",
        "admin.LogEntry",
        "axes.AccessAttempt",
        "applications.Application",
        "applications.Submission",
        "applications.Token",
        "applications.Message",
    }

    assert router.allow_migrate("default", "vacancies")
    assert not router.allow_migrate(REPLICA, "vacancies")
    vacancy = apps.get_model("vacancies.Vacancy")
    assert router.allow_relation(vacancy(), vacancy())

    with pytest.raises(KeyError), replica.reading(REPLICA):
        raise KeyError
    assert replica.current() == "default"


class Site:
    """In the place of the response cache: answers with `results`, errors or statuses, in turn."""

    def __init__(self, *results):
        self.results, self.aliases = deque(results), []

    def __call__(self, environ, start_response):
        self.aliases.append(replica.current())
        result = self.results.popleft()
        if isinstance(result, Exception):
            raise result
        environ[SOURCE] = f"source {len(self.aliases)}"
        start_response(result, [("X-Number", str(len(self.aliases)))])
        return [b"body %d" % len(self.aliases)]


@pytest.fixture
def site(monkeypatch):
    """Return a function that installs a Site, with a replica that nobody connects to."""
    monkeypatch.setattr(wsgi, "_replica_failed", False)

    def install(*results):
        site = Site(*results)
        monkeypatch.setattr(wsgi, "_django", site)
        return site

    with databases(DATABASE_URL="postgres://a@localhost/x", REPLICA_URL="postgres://a@localhost/x"):
        yield install
        connections[REPLICA].close()
        del connections[REPLICA]


def test_only_public_reads_use_the_replica(site):
    installed = site(OK)
    assert ask(wsgi._site, LIST)[:2] == (OK, {"X-Number": "1"})
    assert installed.aliases == [REPLICA]

    session = {"HTTP_COOKIE": f"a=b; {settings.SESSION_COOKIE_NAME}=0123456789"}  # of a recruiter
    others = (
        "/admin/",
        "/apply/1",
        "/v1/user/applications",
        "/v1/auth/token",
        "/media/x",
        f"{LIST}/1?preview=token",
    )
    for path, method, headers, alias in (
        *((path, "GET", {}, "default") for path in others),
        *((LIST, method, {}, "default") for method in ("POST", "DELETE", "OPTIONS")),
        (LIST, "GET", session, "default"),
        (LIST, "GET", {"HTTP_COOKIE": "consent=yes"}, REPLICA),
    ):
        installed = site(OK)
        ask(wsgi._site, path, method, **headers)
        assert installed.aliases == [alias], (path, method)


def test_failed_read_is_retried_on_the_primary(site, caplog, monkeypatch):
    for failure, name in (
        (OperationalError("lost"), "OperationalError"),
        (InterfaceError("closed"), "InterfaceError"),
        (UNAVAILABLE, UNAVAILABLE),
        (CRASHED, CRASHED),
    ):
        caplog.clear()
        monkeypatch.setattr(wsgi, "_replica_failed", False)
        installed = site(failure, OK)

        assert ask(wsgi._site, LIST)[0::2] == (OK, b"body 2")
        assert installed.aliases == [REPLICA, "default"]
        assert caplog.messages == [f"The replica fails ({name}): the primary answers"]


@pytest.mark.parametrize(
    ("results", "status", "aliases"),
    [
        ((CRASHED, CRASHED), CRASHED, [REPLICA, "default"]),  # an error of the site
        *(
            ((status,), status, [REPLICA])
            for status in ("404 Not Found", "400 Bad Request", "304 Not Modified")
        ),
        # no primary: another replica is tried
        ((OperationalError(), UNAVAILABLE, OK), OK, [REPLICA, "default", REPLICA]),
        (
            (OperationalError(), UNAVAILABLE, OperationalError()),
            UNAVAILABLE,
            [REPLICA, "default", REPLICA],
        ),
        (
            (OperationalError(), UNAVAILABLE, UNAVAILABLE),
            UNAVAILABLE,
            [REPLICA, "default", REPLICA],
        ),
    ],
)
def test_servers_that_are_asked_after_a_failure(site, results, status, aliases):
    installed = site(*results)

    assert (ask(wsgi._site, LIST)[0], installed.aliases) == (status, aliases)


def test_read_that_waited_for_a_lock_is_not_repeated(site, monkeypatch):
    installed = site(UNAVAILABLE)
    answer = installed.__call__

    def locked(environ, start_response):
        environ[LOCKED] = True
        return answer(environ, start_response)

    monkeypatch.setattr(wsgi, "_django", locked)
    assert (ask(wsgi._site, LIST)[0], installed.aliases) == (UNAVAILABLE, [REPLICA])


def test_failure_and_recovery_are_logged_once(site, caplog):
    site(*[OperationalError(), OK] * 3, OK, OK)
    for _ in range(5):
        assert ask(wsgi._site, LIST)[0] == OK

    failed = "The replica fails (OperationalError): the primary answers"
    assert caplog.messages == [failed, "The replica answers again"]


def test_without_a_replica_nothing_is_retried(monkeypatch):
    installed = Site(UNAVAILABLE)
    monkeypatch.setattr(wsgi, "_django", installed)

    assert ask(wsgi._site, LIST)[0] == UNAVAILABLE
    assert installed.aliases == ["default"]
