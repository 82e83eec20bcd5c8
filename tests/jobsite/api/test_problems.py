"""Responses while the database is unavailable."""

from unittest.mock import Mock

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client, RequestFactory
from django.utils import translation

from jobsite.api.problems import ProblemMiddleware

ERRORS = [OperationalError("at 10.0.0.1"), InterfaceError("the connection to 10.0.0.1 is closed")]


@pytest.mark.parametrize("error", ERRORS)
def test_api_returns_503_with_retry_after(db, monkeypatch, error):
    monkeypatch.setattr("vacancies.api.v1.vacancies.VacancyViewSet.list", Mock(side_effect=error))

    answer = Client().get("/v1/vacancies")

    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert (answer["Retry-After"], answer["Cache-Control"]) == ("2", "no-store")
    assert answer.json()["detail"] == "The database cannot be reached just now."


def test_admin_returns_a_503_page_in_the_readers_language():
    request, middleware = RequestFactory().get("/admin/"), ProblemMiddleware(lambda request: None)
    for error in ERRORS:
        with translation.override("nl"):
            answer = middleware.process_exception(request, error)

        assert (answer.status_code, answer["Retry-After"]) == (503, "2")
        assert "Een ogenblik" in answer.text
        assert "10.0.0.1" not in answer.text
    assert middleware.process_exception(request, ValueError()) is None


@pytest.mark.parametrize(
    ("error", "status"), [*((error, 503) for error in ERRORS), (ValueError("at 10.0.0.1"), 500)]
)
def test_failure_of_a_middleware_is_a_503_too(db, monkeypatch, error, status):
    monkeypatch.setattr("jobsite.accounts.lockout.release", Mock(side_effect=error))
    client = Client(raise_request_exception=False)

    for path, kind in (
        ("/v1/auth/token", "application/problem+json"),
        ("/account/login", "text/html"),
    ):
        answer = client.post(path, {})
        found = (
            answer.status_code,
            answer["Content-Type"].partition(";")[0],
            answer.get("Retry-After"),
        )
        assert found == (status, kind, "2" if status == 503 else None), path
        assert "10.0.0.1" not in answer.text
