"""A database that takes no writes, such as a primary that loses its role:
reads go on, writes are a 503.
"""

import json

import pytest
from django.db import connection, transaction
from django.test import Client

from jobsite.ops import health
from jobsite.wsgi import application
from tests.applications.makers import PASSWORD, bearer, make_token, make_user, signed_in
from tests.applications.submissions.sending import VALUES, make_open_vacancy, send
from tests.applications.test_apply_page import post
from tests.wsgi import ask

ON = {
    "postgresql": "SET CONSTRAINTS ALL IMMEDIATE; SET TRANSACTION READ ONLY",
    "sqlite": "PRAGMA query_only = 1",
}


@pytest.fixture
def read_only(db):
    """A function that makes the database of the test read-only."""
    yield lambda: connection.connection.execute(ON[connection.vendor])
    if connection.vendor == "sqlite":
        connection.connection.execute("PRAGMA query_only = 0")


@pytest.mark.each_database
@pytest.mark.slow("hashes passwords, and tries each kind of writes")
def test_read_only_database_is_a_503_for_writes_only(read_only, settings):
    settings.CAREER_SITE = settings.APPLY_PAGES = True
    settings.APPLY_PROOF = "off"
    client = Client(raise_request_exception=False)
    user = make_user("Ada", email="ada@example.org", is_staff=True, is_superuser=True)
    vacancy, token, staff = make_open_vacancy(), bearer(make_token(user)), signed_in(user)
    staff.raise_request_exception = False
    credentials = {"username": "Ada", "password": PASSWORD}
    read_only()
    for path in (
        "/v1/vacancies",
        f"/v1/vacancies/{vacancy.pk}",
        f"/apply/{vacancy.pk}",
        "/jobs",
        "/alerts",
    ):
        assert client.get(path).status_code == 200, path
    writes = {
        "token": lambda: client.post("/v1/auth/token", credentials, "application/json"),
        "sign out": lambda: client.delete("/v1/auth/token", headers=token),
        "submission": lambda: send(vacancy, client=client),
        "apply page": lambda: post(client, vacancy, VALUES),
        "alert": lambda: client.post("/alerts", {"address": "a@example.org", "frequency": "daily"}),
        "sign in": lambda: client.post("/admin/login/", credentials),
        "admin": lambda: staff.post("/admin/vacancies/brand/add/", {"name": "New", "slug": "new"}),
    }
    for name, write in writes.items():
        with transaction.atomic():  # what fails would end the transaction of the test
            answer = write()
            transaction.set_rollback(True)
        assert (answer.status_code, answer.get("Retry-After")) == (503, "2"), (name, answer.content)
        is_problem = answer["Content-Type"] == "application/problem+json"
        assert is_problem == (name in ("token", "sign out", "submission")), name


def test_probe_of_a_read_only_database(monkeypatch):
    found = {"database": "read-only", "migrations": "ok", "cache": "not shared"}
    monkeypatch.setattr(health, "cached_report", lambda: found)
    monkeypatch.setattr(health, "_was_ready", True)
    for query, status, text in (("", "503", "not ready"), ("for=reads", "200", "ready")):
        line, _headers, body = ask(application, f"/readyz?{query}")
        assert (line[:3], json.loads(body)) == (status, {"status": text, **found})
    found["migrations"] = "1 not applied"
    assert ask(application, "/readyz?for=reads")[0].startswith("503")


@pytest.mark.each_database
@pytest.mark.slow("CI also runs it on PostgreSQL")
def test_database_that_takes_no_writes_is_read_only(transactional_db):
    probe = health.CachedProbe(health.report, 0)
    assert probe()["database"] == "ok"
    options, settings = connection.settings_dict["OPTIONS"], connection.settings_dict
    with pytest.MonkeyPatch.context() as patch:  # until the rows are restored
        if connection.vendor == "postgresql":
            patch.setitem(options, "options", "-c default_transaction_read_only=on")
        else:
            patch.setitem(settings, "NAME", f"file:{settings['NAME']}?mode=ro")
            patch.setitem(options, "uri", True)
        assert probe()["database"] == "read-only"
