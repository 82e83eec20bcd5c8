"""GET /v1/user/applications: content, order, embargoes and queries."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from applications.models import StageChange
from tests.applications.makers import (
    MINE,
    bearer,
    make_application,
    make_stage,
    make_step,
    make_token,
    make_user,
    signed_in,
)
from tests.factories import make_vacancy
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.models import Attachment

pytestmark = pytest.mark.django_db


def items(client, **kwargs):
    response = client.get(MINE, **kwargs)
    assert response.status_code == 200
    return response.json()["data"]


# --- Content -----------------------------------------------------------------------------------


@pytest.fixture
def full_vacancy(at):
    """Return a vacancy with a value for every key."""
    vacancy = make_vacancy(
        audience="both",
        is_hot=True,
        recruiters=("Sam", "Kim"),
        location="Antwerp",
        offer="<p>Offer</p>",
        options={"regions": ["Antwerp", "Ghent"], "types": ["Nurse"], "functiongroup": ["Care"]},
        image_url="https://images.example.com/1.jpg",
    )
    Attachment.objects.create(
        vacancy=vacancy, name="Profile", url="https://files.example.com/p.pdf"
    )
    return vacancy


def own_keys(item):
    return {key: item.pop(key) for key in ("status", "is_spontaneous", "history") if key in item}


def test_item_is_the_vacancy_and_the_status(client, jane, full_vacancy):
    application = make_application(
        user=jane, vacancy=full_vacancy, stage=make_stage(en="Under review")
    )
    make_step(application, "First interview", result="passed")
    (item,) = items(signed_in(jane))

    assert list(item) == [*VacancySerializer.Meta.fields, "status", "is_spontaneous", "history"]
    at = "2026-03-02 08:30:15"
    step = {"name": "First interview", "result": "passed", "planned_at": f"{at}.000"}
    history = [step | {"updated_at": at, "created_at": at}]
    assert own_keys(item) == {"status": "Under review", "is_spontaneous": False, "history": history}
    assert item == client.get(f"/v1/vacancies/{full_vacancy.pk}").json()["data"]


def test_item_is_complete_in_every_state_of_the_vacancy(client, settings, jane, full_vacancy, at):
    make_application(user=jane, vacancy=full_vacancy)
    path, applicant = f"/v1/vacancies/{full_vacancy.pk}", signed_in(jane)
    published = client.get(path).json()["data"]
    settings.INTERNAL_NETWORKS = ["10.0.0.0/8"]

    for mode, column, value in (
        ("public", "status", "unpublished"),
        ("authenticated", "status", "draft"),
        ("network", "publish_until", at),
        ("public", "publish_from", at + timedelta(days=999)),
        ("public", "audience", "internal"),
        ("authenticated", "audience", "internal"),
        ("network", "audience", "internal"),
    ):
        settings.INTERNAL_ACCESS = mode
        row = type(full_vacancy).objects.filter(pk=full_vacancy.pk)
        row.update(**{column: value})
        (item,) = items(applicant, REMOTE_ADDR="203.0.113.9")
        own_keys(item)
        dates = (
            {"published_at", "closes_at", "closing_date"}
            if column.startswith("publish_")
            else set()
        )
        changed = {key for key in published if item[key] != published[key]}
        assert (list(item), changed - dates) == (list(published), set()), (mode, column)
        is_public = (mode, column) == ("public", "audience")
        assert client.get(path).status_code == (200 if is_public else 404), (mode, column)
        row.update(**{column: getattr(full_vacancy, column)})


def test_order_is_newest_first_then_by_number(jane, at):
    assert signed_in(jane).get(MINE).json() == {"data": []}
    for title, days in (("a", 3), ("b", 1), ("c", 2), ("d", 1)):
        vacancy = make_vacancy(title=title)
        make_application(user=jane, vacancy=vacancy, created_at=at - timedelta(days=days))
    old = {"created_at": at - timedelta(days=400), "is_spontaneous": True}
    again = make_application(user=jane, vacancy=vacancy, **old)  # to the same vacancy
    StageChange.objects.filter(application=again).delete()

    found = items(signed_in(jane))
    assert [item["title"] for item in found] == ["d", "b", "c", "a", "d"]
    assert [item["is_spontaneous"] for item in found] == [False] * 4 + [True]
    assert found[-1]["status"] == ""


def test_history_is_in_order_and_omitted_by_setting(jane, at, settings):
    make_application(user=jane, created_at=at - timedelta(days=9))
    application = make_application(user=jane)
    for name, planned, created in (("c", 2, 1), ("a", 1, 3), ("b", 2, 0)):
        times = {
            "planned_at": at + timedelta(days=planned),
            "created_at": at + timedelta(seconds=created),
        }
        make_step(application, name, **times)

    histories = [item["history"] for item in items(signed_in(jane))]
    assert [[step["name"] for step in history] for history in histories] == [["a", "b", "c"], []]
    settings.APPLICATION_HISTORY = False
    assert list(items(signed_in(jane))[0])[-2:] == ["status", "is_spontaneous"]


def test_milliseconds_are_truncated(settings, jane):
    settings.TIME_ZONE = "Europe/Brussels"
    expected = {0: "000", 999: "000", 1000: "001", 50_000: "050", 123_999: "123", 999_999: "999"}
    application = make_application(user=jane)
    for microsecond in expected:
        make_step(
            application, planned_at=datetime(2026, 7, 31, 21, 59, 59, microsecond, tzinfo=UTC)
        )

    (item,) = items(signed_in(jane))

    planned = [step["planned_at"] for step in item["history"]]
    assert planned == [f"2026-07-31 23:59:59.{text}" for text in expected.values()]


def test_response_has_no_internal_data(jane, at):
    stages = [make_stage(f"zyxstage{n}", en="Status", embargo_days=n) for n in range(3)]
    application = make_application(user=jane, stage=stages[0])
    recruiter = make_user("zyxauthor", first_name="zyxfirst", last_name="zyxlast")
    for stage in stages[1:]:
        StageChange.objects.create(application=application, stage=stage, author=recruiter, at=at)
    make_step(application, "zyxhidden", result="zyxresult", is_visible=False)
    make_step(application, "Visible")

    client = signed_in(jane)
    requests = [("get", language) for language in ("en", "nl", "xx", "")]
    for method, language in (*requests, ("head", "fr"), ("options", "de"), ("post", "nl")):
        response = getattr(client, method)(MINE, headers={"Accept-Language": language})
        assert "zyx" not in response.text.lower() + str(response.headers).lower(), (
            method,
            language,
        )
    assert [step["name"] for step in items(signed_in(jane))[0]["history"]] == ["Visible"]


# --- Embargo -----------------------------------------------------------------------------------


def test_superseded_status_is_not_shown_after_its_embargo(jane, at, time_machine):
    """A reverted rejection is not shown when its embargo ends. It delays no later status."""
    application = make_application(user=jane, stage=make_stage(en="Received", embargo_days=9))
    assert items(signed_in(jane))[0]["status"] == "Received"  # the first status is shown at once
    for stage in (make_stage(en="Not selected", embargo_days=2), make_stage(en="In interviews")):
        StageChange.objects.create(application=application, stage=stage, at=at)
    assert items(signed_in(jane))[0]["status"] == "In interviews"
    time_machine.move_to(at + timedelta(days=3), tick=False)

    assert items(signed_in(jane))[0]["status"] == "In interviews"


# --- Queries -----------------------------------------------------------------------------------

ROWS = dict.fromkeys(
    (
        "applications_application",
        "applications_stagechange",
        "applications_historyentry",
        "vacancies_vacancy",
        "vacancies_vacancyoption",
        "vacancies_vacancyrecruiter",
        "vacancies_attachment",
        "vacancies_place",
    ),
    1,
)
# The token with its user, the user's other ones: see knox.
BY_TOKEN = ROWS | {"applications_token": 2}
BY_SESSION = ROWS | {"django_session": 1, "auth_user": 1}


def tables(queries):
    return Counter(
        query["sql"].split(' FROM "')[1].split('"')[0] for query in queries.captured_queries
    )


@pytest.mark.parametrize("count", [1, 3])
def test_list_of_three_takes_the_queries_of_one(jane, at, count):
    stages = [make_stage(), make_stage(embargo_days=1)]
    for n in range(count):
        vacancy = make_vacancy(recruiters=(f"R{n}", "Sam"), options={"regions": [f"Region {n}"]})
        Attachment.objects.create(vacancy=vacancy, name="P", url="https://files.example.com/p.pdf")
        application = make_application(user=jane, vacancy=vacancy, stage=stages[0])
        StageChange.objects.create(application=application, stage=stages[1], at=at)
        make_step(application)
    clients = Client(headers=bearer(make_token(jane))), signed_in(jane)

    for client, expected in zip(clients, (BY_TOKEN, BY_SESSION), strict=True):
        with CaptureQueriesContext(connection) as queries:
            assert len(items(client)) == count
        assert tables(queries) == expected
