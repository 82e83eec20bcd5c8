"""What is answered while the database is away."""

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from vacancies.api.v1 import VacancyViewSet


@pytest.fixture
def away(monkeypatch):
    """Every view meets this error."""

    def raise_(error):
        def fail(*args, **kwargs):
            raise error

        monkeypatch.setattr("vacancies.api.v1.VacancyViewSet.list", fail)
        monkeypatch.setattr("django.contrib.admin.sites.AdminSite.index", fail)
        monkeypatch.setattr("jobsite.api.docs.DocsView.get", fail)

    return raise_


@pytest.mark.parametrize("error", [OperationalError("at 10.0.0.1"), InterfaceError("closed")])
def test_interface_says_when_to_come_back(db, away, error):
    away(error)

    answer = Client().get("/v1/vacancies")

    assert answer.status_code == 503
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["Retry-After"] == "2"
    assert answer["Cache-Control"] == "no-store"
    assert answer.json()["detail"] == "The database cannot be reached just now."
    assert hasattr(VacancyViewSet, "list")


def test_people_get_a_page_in_their_language(db, away, admin_client):
    away(OperationalError("at 10.0.0.1"))

    answer = admin_client.get("/docs", headers={"accept-language": "nl"})

    assert answer.status_code == 503
    assert answer["Retry-After"] == "2"
    assert answer["Content-Type"].startswith("text/html")
    assert b"10.0.0.1" not in answer.content
