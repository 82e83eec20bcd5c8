"""Which reads go to the replica, and what happens when one fails there."""

from collections import deque

import pytest
from django.apps import apps
from django.conf import settings
from django.db import InterfaceError, OperationalError, connections, router
from django.db.models import Model

from jobsite import wsgi
from jobsite.serving import SOURCE, replica
from jobsite.serving.replica import REPLICA
from tests.jobsite.serving.databases import databases
from tests.wsgi import ask

LIST = "/v1/vacancies"
PUBLIC = {"jobsite", "vacancies", "forms_structure"}
OK, UNAVAILABLE, CRASHED = "200 OK", "503 Service Unavailable", "500 Internal Server Error"


# --- Router ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", apps.get_models(), ids=lambda model: model._meta.label)
def test_router_sends_public_reads_to_the_replica(model: type[Model]):
    is_public = model._meta.app_label in PUBLIC

    assert router.db_for_read(model) == "default"
    with replica.reading(REPLICA):
        assert router.db_for_read(model) == (REPLICA if is_public else "default")
        assert router.db_for_write(model) == "default"
    with replica.reading("default"):
        assert router.db_for_read(model) == "default"


def test_models_of_persons_are_not_public():
    labels = {model._meta.label for model in apps.get_models() if model._meta.app_label not in PUBLIC}

    assert labels >= {
        "auth.User", "auth.Group", "sessions.Session", "admin.LogEntry", "axes.AccessAttempt",
        "applications.Application", "applications.Submission", "applications.Token", "applications.Message",
    }  # fmt: skip


def test_replica_is_not_migrated():
    assert router.allow_migrate("default", "vacancies")
    assert not router.allow_migrate(REPLICA, "vacancies")


def test_rows_of_both_databases_can_be_related():
    vacancy = apps.get_model("vacancies.Vacancy")
    assert router.allow_relation(vacancy(), vacancy())


def test_reading_ends_with_its_block():
    with pytest.raises(KeyError), replica.reading(REPLICA):
        raise KeyError
    assert replica.current() == "default"


# --- Requests ----------------------------------------------------------------------------------


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


def test_public_read_uses_the_replica(site):
    installed = site(OK)

    assert ask(wsgi._site, LIST)[:2] == (OK, {"X-Number": "1"})
    assert installed.aliases == [REPLICA]


@pytest.mark.parametrize(
    "path", ["/admin/", "/apply/1", "/v1/user/applications", "/v1/auth/token", "/media/x"]
)
def test_other_reads_use_the_primary(site, path):
    installed = site(OK)
    ask(wsgi._site, path)

    assert installed.aliases == ["default"]


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS"])
def test_other_methods_use_the_primary(site, method):
    installed = site(OK)
    ask(wsgi._site, LIST, method)

    assert installed.aliases == ["default"]


def test_recruiter_reads_from_the_primary(site):
    installed = site(OK, OK, OK)
    ask(wsgi._site, LIST, HTTP_COOKIE=f"a=b; {settings.SESSION_COOKIE_NAME}=0123456789")
    ask(wsgi._site, f"{LIST}/1?preview=token")
    ask(wsgi._site, LIST, HTTP_COOKIE="consent=yes")

    assert installed.aliases == ["default", "default", REPLICA]


@pytest.mark.parametrize(
    "failure", [OperationalError("lost"), InterfaceError("closed"), UNAVAILABLE, CRASHED], ids=str
)
def test_failed_read_is_retried_on_the_primary(site, failure, caplog):
    installed = site(failure, OK)
    environ = {}

    assert ask(wsgi._site, LIST, **environ)[0::2] == (OK, b"body 2")
    assert installed.aliases == [REPLICA, "default"]
    name = failure if isinstance(failure, str) else type(failure).__name__
    assert [record.getMessage() for record in caplog.records] == [
        f"The replica fails ({name}): the primary answers"
    ]


def test_error_of_the_site_is_retried_once(site):
    installed = site(CRASHED, CRASHED)

    assert ask(wsgi._site, LIST)[0] == CRASHED
    assert installed.aliases == [REPLICA, "default"]


@pytest.mark.parametrize("status", ["404 Not Found", "400 Bad Request", "304 Not Modified"])
def test_other_statuses_are_not_retried(site, status):
    installed = site(status)

    assert ask(wsgi._site, LIST)[0] == status
    assert installed.aliases == [REPLICA]


def test_read_is_tried_on_another_replica_while_there_is_no_primary(site):
    installed = site(OperationalError(), UNAVAILABLE, OK)

    assert ask(wsgi._site, LIST)[0::2] == (OK, b"body 3")
    assert installed.aliases == [REPLICA, "default", REPLICA]


@pytest.mark.parametrize("last", [OperationalError(), UNAVAILABLE], ids=str)
def test_read_is_unavailable_without_any_server(site, last):
    installed = site(OperationalError(), UNAVAILABLE, last)

    assert ask(wsgi._site, LIST)[0] == UNAVAILABLE
    assert len(installed.aliases) == 3


def test_failure_and_recovery_are_logged_once(site, caplog):
    site(*[OperationalError(), OK] * 3, OK, OK)
    for _ in range(5):
        assert ask(wsgi._site, LIST)[0] == OK

    assert [record.getMessage() for record in caplog.records] == [
        "The replica fails (OperationalError): the primary answers",
        "The replica answers again",
    ]


def test_without_a_replica_nothing_is_retried(monkeypatch):
    installed = Site(UNAVAILABLE)
    monkeypatch.setattr(wsgi, "_django", installed)

    assert ask(wsgi._site, LIST)[0] == UNAVAILABLE
    assert installed.aliases == ["default"]
