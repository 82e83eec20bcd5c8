"""The text of a token is nowhere but in the response that shows it."""

import io
import logging

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.test import Client

from applications.models import AccessLog
from jobsite.ops.logs import JsonFormatter, TextFormatter
from tests.factories import make_brand
from tests.vacancies.admin.forms import staff
from tests.vacancies.manage.client import Api, make_integration
from vacancies.manage import views

pytestmark = pytest.mark.django_db
ADMIN = "/admin/vacancies/integration/"


@pytest.fixture
def log():
    """What the site logs in both formats, and more of it than in production."""
    stream, loggers = io.StringIO(), [logging.getLogger(name) for name in (None, "django")]
    levels, handlers = [each.level for each in loggers], []
    for formatter in (JsonFormatter(), TextFormatter()):
        handlers.append(logging.StreamHandler(stream))
        handlers[-1].setFormatter(formatter)
        loggers[0].addHandler(handlers[-1])
    for each in loggers:
        each.setLevel(logging.DEBUG)
    yield stream
    for handler in handlers:
        loggers[0].removeHandler(handler)
    for each, level in zip(loggers, levels, strict=True):
        each.setLevel(level)


@pytest.fixture
def api() -> Api:
    make_brand("Acme", slug="acme")
    return Api(make_integration())


def secrets_of(api: Api) -> set[str]:
    """The parts of the token that nobody may repeat; its first eight characters are shown."""
    return {api.token[8:], api.token[8:30]}


@pytest.mark.parametrize("debug", [False, True])
def test_responses_and_logs_have_no_token(api, log, settings, monkeypatch, debug):
    settings.DEBUG = debug
    client = Client(raise_request_exception=False)
    headers = {"Authorization": f"Bearer {api.token}"}
    bodies = []

    def get(path: str, status: int, sent: dict[str, str] = headers) -> None:
        response = client.get(f"/v1/manage/{path}", headers=sent)
        assert response.status_code == status, response.content
        bodies.append(response.content.decode())

    get("acme/vacancies", 200)
    get("acme/vacancies/none", 404)
    get("acme/vacancies?after=x", 400)
    get("other/vacancies", 404)
    get("acme/vacancies", 401, {"Authorization": f"Bearer {api.token}x"})
    get("acme/vacancies", 401, {"Authorization": f"Basic {api.token}"})
    refused = api.put("V-1", {"title": ""})
    assert refused.status_code == 422

    def fail(*args: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(views.items, "items_of", fail)
    get("acme/vacancies", 500)
    assert log.getvalue()
    for text in (*bodies, refused.content.decode(), log.getvalue()):
        assert not [each for each in secrets_of(api) if each in text]


def test_dumps_and_the_log_of_the_admin_have_no_token(api, tmp_path):
    ada = staff("ada", "view_integration", "change_integration", "work_for_every_brand")
    ada.get(f"{ADMIN}{api.integration.pk}/change/")
    assert api.get("vacancies").status_code == 200
    call_command("dumpdata", output=str(tmp_path / "all.json"))
    dumped = (tmp_path / "all.json").read_text()
    entries = str([*LogEntry.objects.values(), *AccessLog.objects.values()])
    assert api.integration.name in dumped
    assert not [each for each in secrets_of(api) if each in dumped + entries]
