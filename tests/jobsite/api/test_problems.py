"""Responses while the database is unavailable."""

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client, RequestFactory
from django.utils import translation

from jobsite.api.problems import ProblemMiddleware

ERRORS = [OperationalError("at 10.0.0.1"), InterfaceError("the connection to 10.0.0.1 is closed")]


@pytest.mark.parametrize("error", ERRORS)
def test_api_returns_503_with_retry_after(db, monkeypatch, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("vacancies.api.v1.VacancyViewSet.list", fail)

    answer = Client().get("/v1/vacancies")

    assert answer.status_code == 503
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["Retry-After"] == "2"
    assert answer["Cache-Control"] == "no-store"
    assert answer.json()["detail"] == "The database cannot be reached just now."


@pytest.mark.parametrize("error", ERRORS)
def test_admin_returns_a_503_page_in_the_readers_language(error):
    request, middleware = RequestFactory().get("/admin/"), ProblemMiddleware(lambda request: None)

    with translation.override("nl"):
        answer = middleware.process_exception(request, error)

    assert answer.status_code == 503
    assert answer["Retry-After"] == "2"
    assert "Een ogenblik" in answer.content.decode()
    assert b"10.0.0.1" not in answer.content


@pytest.mark.parametrize(
    ("error", "status"), [*((error, 503) for error in ERRORS), (ValueError("at 10.0.0.1"), 500)]
)
def test_failure_of_a_middleware_is_a_503_too(db, monkeypatch, error, status):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("jobsite.accounts.lockout.release", fail)
    client = Client(raise_request_exception=False)

    for path, kind in (("/v1/auth/token", "application/problem+json"), ("/account/login", "text/html")):
        answer = client.post(path, {})
        found = answer.status_code, answer["Content-Type"].partition(";")[0], answer.get("Retry-After")
        assert found == (status, kind, "2" if status == 503 else None), path
        assert b"10.0.0.1" not in answer.content


def test_other_database_errors_are_not_503():
    assert (
        ProblemMiddleware(lambda request: None).process_exception(RequestFactory().get("/"), ValueError())
        is None
    )
