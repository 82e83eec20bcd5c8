"""GET /v1/user/applications: access, content, order and embargoes."""

import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from applications.models import Application, HistoryEntry, StageChange, Token
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
from tests.factories import make_brand, make_recruiter, make_vacancy
from vacancies.api.v1 import VacancySerializer
from vacancies.models import Attachment

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parent / "golden" / "applications.json"
OWN, FOREIGN = "zyxown", "zyxforeign"
PRIVATE = "private, no-store"
VARY = {"Authorization", "Cookie", "Accept-Language"}
PUBLIC = [
    "/v1/vacancies",
    "/v1/vacancies/hot",
    "/v1/vacancies/internal",
    "/v1/vacancies/hot/internal",
    "/v0.1/vacancies",
    "/v0.1/vacancies/internal",
    "/v1/filters",
    "/v1/vacancies/{pk}",
    "/v1/vacancies/{pk}/form",
    "/v1/vacancies/{pk}/form/schema",
    "/v1/vacancies/4815162342",
]


def items(client, **kwargs):
    answer = client.get(MINE, **kwargs)
    assert answer.status_code == 200
    return answer.json()["data"]


@pytest.fixture
def jane(at):
    return make_user("jane")


# --- Whose -------------------------------------------------------------------------------------

# who asks, and what a GET comes to: a status and the titles in the answer
CREDENTIALS = {
    "none": (401, None),
    "wrong token": (401, None),
    "malformed token": (401, None),
    "expired token": (401, None),
    "revoked token": (401, None),
    "deactivated user's token": (401, None),
    "deactivated user's session": (401, None),
    "unknown session": (401, None),
    "other user's token": (200, [FOREIGN]),
    "other user's session": (200, [FOREIGN]),
    "recruiter's token": (200, []),
    "recruiter's session": (200, []),
    "own token": (200, [OWN]),
    "own session": (200, [OWN]),
}


@pytest.fixture
def asking(jane, time_machine):
    """Return a client for each credential. Each user except the recruiter has one application."""
    for user, title in ((jane, OWN), (make_user("other"), FOREIGN), (make_user("gone"), "zyxgone")):
        make_application(user=user, vacancy=make_vacancy(title=title))
    users = {application.user.username: application.user for application in Application.objects.all()}
    recruiter = make_user("recruiter", is_staff=True, is_superuser=True)
    now = datetime.now(UTC)
    time_machine.move_to(now - timedelta(days=2), tick=False)
    expired = make_token(jane, timedelta(days=1))
    time_machine.move_to(now, tick=False)
    revoked = make_token(jane)
    Token.objects.filter(token_key=revoked[:15]).delete()
    unknown = Client()
    unknown.cookies["sessionid"] = "a" * 32
    clients = {
        "none": Client(),
        "wrong token": Client(headers=bearer("0" * 64)),
        "malformed token": Client(headers=bearer("\x00\xff")),
        "expired token": Client(headers=bearer(expired)),
        "revoked token": Client(headers=bearer(revoked)),
        "deactivated user's token": Client(headers=bearer(make_token(users["gone"]))),
        "deactivated user's session": signed_in(users["gone"]),
        "unknown session": unknown,
        "other user's token": Client(headers=bearer(make_token(users["other"]))),
        "other user's session": signed_in(users["other"]),
        "recruiter's token": Client(headers=bearer(make_token(recruiter))),
        "recruiter's session": signed_in(recruiter),
        "own token": Client(headers=bearer(make_token(jane))),
        "own session": signed_in(jane),
    }
    users["gone"].is_active = False
    users["gone"].save()
    return clients


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
@pytest.mark.parametrize("credential", CREDENTIALS)
def test_user_sees_their_own_applications_only(asking, credential, method):
    status, titles = CREDENTIALS[credential]

    answer = asking[credential].generic(method, MINE)

    assert set(answer["Vary"].split(", ")) >= VARY
    if method == "POST":
        assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS")
    elif status == 401:
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    elif method == "OPTIONS":
        assert (answer.status_code, answer["Allow"]) == (204, "GET, HEAD, OPTIONS")
    else:
        assert (answer.status_code, answer["Cache-Control"]) == (200, PRIVATE)
        assert answer["Content-Language"] == "en"
        assert "ETag" not in answer
    if answer.status_code >= 400:
        assert answer["Content-Type"] == "application/problem+json"
        assert answer["Cache-Control"] == "private, no-store"
    if method == "GET" and titles is not None:
        assert [item["title"] for item in answer.json()["data"]] == titles
    else:
        assert not any(title in answer.text for title in (OWN, FOREIGN, "zyxgone"))
    if method == "HEAD":
        assert answer.content == b""
    assert "public" not in answer.get("Cache-Control", "")


def test_new_password_ends_tokens_and_sessions(jane):
    clients = signed_in(jane), Client(headers=bearer(make_token(jane)))
    assert [client.get(MINE).status_code for client in clients] == [200, 200]

    jane.set_password("another")
    jane.save()

    assert [client.get(MINE).status_code for client in clients] == [401, 401]
    assert Client(headers=bearer(make_token(jane))).get(MINE).status_code == 200


def test_deactivation_ends_tokens_and_sessions(jane):
    clients = signed_in(jane), Client(headers=bearer(make_token(jane)))
    assert [client.get(MINE).status_code for client in clients] == [200, 200]

    jane.is_active = False
    jane.save()

    assert [client.get(MINE).status_code for client in clients] == [401, 401]


@pytest.mark.parametrize("path", PUBLIC)
@pytest.mark.parametrize(
    "credential",
    [
        "wrong token",
        "malformed token",
        "expired token",
        "revoked token",
        "deactivated user's token",
        "deactivated user's session",
        "unknown session",
        "own token",
        "own session",
    ],
)
def test_credentials_do_not_change_public_responses(asking, filters, credential, path):
    path = path.format(pk=make_vacancy(audience="both", is_hot=True).pk)

    def ask(client):
        answer = client.get(path)
        return answer.status_code, answer.content, dict(answer.headers), list(answer.cookies)

    assert ask(asking[credential]) == ask(Client())


@pytest.mark.parametrize(
    "header",
    ["Bearer", "bearer", "Bearer  ", "Bearer a b", "Bearer é", "Bearer \x00", "Bearer " + "x" * 7000,
     "Bearer 0x", "Token abc", "Basic ADox", "Basic", "Digest x", "\xff", ",", "Bearer,"],
)  # fmt: skip
def test_malformed_header_is_a_401(client, header):
    answer = client.get(MINE, HTTP_AUTHORIZATION=header)

    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer["Content-Type"] == "application/problem+json"


def test_session_is_used_with_another_authorization_scheme(jane):
    make_application(user=jane)

    assert len(items(signed_in(jane), headers={"Authorization": "Basic ADox"})) == 1


def test_wrong_token_is_refused_despite_a_session(jane):
    assert signed_in(jane).get(MINE, headers=bearer("0" * 64)).status_code == 401


@pytest.mark.parametrize("query", ["user=1", "filter[user]=1", "page[size]=1", "fields=id", "id=1"])
def test_no_parameter_gives_access_to_more(jane, query):
    make_application(vacancy=make_vacancy(title=FOREIGN))

    answer = signed_in(jane).get(f"{MINE}?{query}")

    assert FOREIGN not in answer.text
    assert answer.status_code == (200 if query.endswith("=1") and "[" not in query else 400)


# --- What --------------------------------------------------------------------------------------


@pytest.fixture
def full(at):
    """Return a vacancy with a value for every key."""
    vacancy = make_vacancy(
        audience="both",
        is_hot=True,
        recruiters=("Sam", "Kim"),
        options={"regions": ["Antwerp", "Ghent"], "types": ["Nurse"], "functiongroup": ["Care"]},
        location="Antwerp",
        offer="<p>Offer</p>",
        image_url="https://images.example.com/1.jpg",
    )
    Attachment.objects.create(vacancy=vacancy, name="Profile", url="https://files.example.com/p.pdf")
    return vacancy


def own_keys(item):
    return {key: item.pop(key) for key in ("status", "is_spontaneous", "history") if key in item}


def test_item_is_the_vacancy_and_the_status(client, jane, full):
    application = make_application(user=jane, vacancy=full, stage=make_stage(en="Under review"))
    make_step(application, "First interview", result="passed")
    (item,) = items(signed_in(jane))

    assert list(item) == [*VacancySerializer.Meta.fields, "status", "is_spontaneous", "history"]
    assert own_keys(item) == {
        "status": "Under review",
        "is_spontaneous": False,
        "history": [
            {
                "name": "First interview",
                "result": "passed",
                "planned_at": "2026-03-02 08:30:15.000",
                "updated_at": "2026-03-02 08:30:15",
                "created_at": "2026-03-02 08:30:15",
            }
        ],
    }
    assert item == client.get(f"/v1/vacancies/{full.pk}").json()["data"]


@pytest.mark.parametrize("mode", ["public", "authenticated", "network"])
@pytest.mark.parametrize(
    "change",
    [
        {"status": "unpublished"},
        {"status": "draft"},
        {"publish_until": datetime(2026, 3, 2, 9, 30, 15, tzinfo=UTC)},
        {"publish_from": datetime(2030, 1, 1, tzinfo=UTC)},
        {"audience": "internal"},
    ],
)
def test_item_is_complete_in_every_state_of_the_vacancy(client, settings, jane, full, change, mode):
    make_application(user=jane, vacancy=full)
    published = client.get(f"/v1/vacancies/{full.pk}").json()["data"]
    settings.INTERNAL_ACCESS, settings.INTERNAL_NETWORKS = mode, ["10.0.0.0/8"]

    type(full).objects.filter(pk=full.pk).update(**change)

    (item,) = items(signed_in(jane), REMOTE_ADDR="203.0.113.9")
    own_keys(item)
    assert item == published
    still = mode == "public" and "audience" in change
    assert client.get(f"/v1/vacancies/{full.pk}").status_code == (200 if still else 404)


def test_item_follows_changes_of_the_vacancy(jane, full):
    make_application(user=jane, vacancy=full)
    type(full).objects.filter(pk=full.pk).update(title="Renamed", location="Ghent")

    (item,) = items(signed_in(jane))

    assert (item["title"], item["location"]) == ("Renamed", "Ghent")


def test_vacancy_with_applications_cannot_be_deleted(jane, full):
    from django.db.models import ProtectedError

    make_application(user=jane, vacancy=full)
    with pytest.raises(ProtectedError):
        full.delete()


def test_order_is_newest_first_then_by_number(jane, at):
    for title, days in (("a", 3), ("b", 1), ("c", 2), ("d", 1)):
        make_application(user=jane, vacancy=make_vacancy(title=title), created_at=at - timedelta(days=days))

    assert [item["title"] for item in items(signed_in(jane))] == ["d", "b", "c", "a"]


def test_two_applications_to_one_vacancy_are_two_items(jane, full, at):
    for days, spontaneous in ((1, True), (400, False)):
        make_application(
            user=jane, vacancy=full, created_at=at - timedelta(days=days), is_spontaneous=spontaneous
        )

    assert [(item["id"], item["is_spontaneous"]) for item in items(signed_in(jane))] == [
        (full.pk, True),
        (full.pk, False),
    ]


def test_no_applications_is_an_empty_list(jane):
    assert signed_in(jane).get(MINE).json() == {"data": []}


def test_application_without_any_stage_has_an_empty_status(jane):
    StageChange.objects.filter(application=make_application(user=jane)).delete()

    assert items(signed_in(jane))[0]["status"] == ""


def test_history_is_in_order_and_empty_without_steps(jane, at):
    make_application(user=jane, created_at=at - timedelta(days=9))
    application = make_application(user=jane)
    for name, planned, created in (("c", 2, 1), ("a", 1, 3), ("b", 2, 0)):
        make_step(
            application,
            name,
            planned_at=at + timedelta(days=planned),
            created_at=at + timedelta(seconds=created),
        )

    histories = [item["history"] for item in items(signed_in(jane))]

    assert [[step["name"] for step in history] for history in histories] == [["a", "b", "c"], []]


def test_history_is_omitted_by_setting(settings, jane):
    settings.APPLICATION_HISTORY = False
    make_step(make_application(user=jane), "zyxstep")

    answer = signed_in(jane).get(MINE)

    assert list(answer.json()["data"][0])[-2:] == ["status", "is_spontaneous"]
    assert "zyxstep" not in answer.text


@pytest.mark.parametrize(
    ("microsecond", "text"),
    [(0, "000"), (999, "000"), (1000, "001"), (999_999, "999"), (123_999, "123"), (50_000, "050")],
)
def test_milliseconds_are_truncated(settings, jane, microsecond, text):
    settings.TIME_ZONE = "Europe/Brussels"
    planned = datetime(2026, 7, 31, 21, 59, 59, microsecond, tzinfo=UTC)
    make_step(make_application(user=jane), planned_at=planned)

    (item,) = items(signed_in(jane))

    assert item["history"][0]["planned_at"] == f"2026-07-31 23:59:59.{text}"


@pytest.mark.parametrize("language", ["en", "nl", "fr", "de", "xx", ""])
def test_response_has_no_internal_data(jane, at, language):
    stages = [make_stage(f"zyxstage{n}", en="Status", embargo_days=n) for n in range(3)]
    application = make_application(user=jane, stage=stages[0])
    recruiter = make_user("zyxauthor", first_name="zyxfirst", last_name="zyxlast")
    for stage in stages[1:]:
        StageChange.objects.create(application=application, stage=stage, author=recruiter, at=at)
    make_step(application, "zyxhidden", result="zyxresult", is_visible=False)
    make_step(application, "Seen")

    for method in ("get", "head", "options", "post"):
        answer = getattr(signed_in(jane), method)(MINE, headers={"Accept-Language": language})
        assert "zyx" not in answer.text.lower() + str(answer.headers).lower()
    assert [step["name"] for step in items(signed_in(jane))[0]["history"]] == ["Seen"]


# --- When --------------------------------------------------------------------------------------


def test_status_is_shown_after_its_embargo(jane, at, time_machine):
    told = make_stage(en="Under review")
    application = make_application(user=jane, stage=told)
    rejected = make_stage(en="Not selected", embargo_days=2)
    StageChange.objects.create(application=application, stage=rejected, at=at)
    seen = {}

    for offset in (0, 2 * 86_400 - 1, 2 * 86_400):
        time_machine.move_to(at + timedelta(seconds=offset), tick=False)
        seen[offset] = items(signed_in(jane))[0]["status"]

    assert seen == {0: "Under review", 172_799: "Under review", 172_800: "Not selected"}


def test_first_status_is_shown_during_its_embargo(jane):
    make_application(user=jane, stage=make_stage(en="Received", embargo_days=9))

    assert items(signed_in(jane))[0]["status"] == "Received"


def test_embargo_does_not_delay_later_statuses(jane, at):
    application = make_application(user=jane, stage=make_stage(en="Received"))
    for stage in (make_stage(en="Not selected", embargo_days=2), make_stage(en="In interviews")):
        StageChange.objects.create(application=application, stage=stage, at=at)

    assert items(signed_in(jane))[0]["status"] == "In interviews"


def test_superseded_status_is_not_shown_after_its_embargo(jane, at, time_machine):
    """A reverted rejection is not shown when its embargo ends."""
    application = make_application(user=jane, stage=make_stage(en="Received"))
    for stage in (make_stage(en="Not selected", embargo_days=2), make_stage(en="In interviews")):
        StageChange.objects.create(application=application, stage=stage, at=at)
    time_machine.move_to(at + timedelta(days=3), tick=False)

    assert items(signed_in(jane))[0]["status"] == "In interviews"


# --- Cost --------------------------------------------------------------------------------------

BY_TOKEN = {
    "applications_token": 2,  # the token with its user, the user's other tokens (knox ends expired ones)
    "applications_application": 1,
    "applications_stagechange": 1,
    "applications_historyentry": 1,
    "vacancies_vacancy": 1,
    "vacancies_vacancyoption": 1,
    "vacancies_vacancyrecruiter": 1,
    "vacancies_attachment": 1,
}
BY_SESSION = {table: n for table, n in BY_TOKEN.items() if table != "applications_token"} | {
    "django_session": 1,
    "auth_user": 1,
}


def tables(captured):
    return Counter(query["sql"].split(' FROM "')[1].split('"')[0] for query in captured.captured_queries)


@pytest.mark.parametrize("count", [1, 50])
def test_list_of_fifty_takes_the_queries_of_one(jane, at, count):
    stages = [make_stage(), make_stage(embargo_days=1)]
    for n in range(count):
        vacancy = make_vacancy(recruiters=(f"R{n}", "Sam"), options={"regions": [f"Region {n}"]})
        Attachment.objects.create(vacancy=vacancy, name="P", url="https://files.example.com/p.pdf")
        application = make_application(user=jane, vacancy=vacancy, stage=stages[0])
        StageChange.objects.create(application=application, stage=stages[1], at=at)
        make_step(application)
    clients = Client(headers=bearer(make_token(jane))), signed_in(jane)

    for client, expected in zip(clients, (BY_TOKEN, BY_SESSION), strict=True):
        with CaptureQueriesContext(connection) as captured:
            assert len(items(client)) == count
        assert tables(captured) == expected


def test_thousand_applications_are_served(jane, at):
    vacancies = [make_vacancy(options={"regions": [f"Region {n}"]}) for n in range(10)]
    moments = [at - timedelta(hours=n) for n in range(100)]
    applications = Application.objects.bulk_create(
        Application(user=jane, vacancy=vacancy, created_at=moment, updated_at=moment)
        for vacancy in vacancies
        for moment in moments
    )
    stage = make_stage()
    StageChange.objects.bulk_create(
        StageChange(application=application, stage=stage, at=application.created_at)
        for application in applications
    )
    HistoryEntry.objects.bulk_create(
        HistoryEntry(application=application, name="Talk", planned_at=at, is_visible=True)
        for application in applications
        for _ in range(3)
    )

    data = items(signed_in(jane))

    assert len(data) == 1000
    assert sum(len(item["history"]) for item in data) == 3000


# --- The contract ------------------------------------------------------------------------------


@pytest.fixture
def site(at, settings):
    settings.TIME_ZONE = "Europe/Brussels"
    settings.PUBLIC_BASE_URL = "https://jobs.example.com"
    jane = make_user("jane")
    brand = make_brand("Ziekenhuis Sint-Elisabeth", id=11, url="https://www.example.com/elisabeth")
    head = make_recruiter("Noor Peeters", id=21, email="noor@example.com", is_email_public=True)
    shared = {"brand": brand, "head_recruiter": head, "created_at": at - timedelta(days=9)}
    nurse = make_vacancy(
        pk=101, title="Infirmier·ère « nuit »", audience="internal", status="unpublished",
        options={"regions": ["Liège"], "types": ["Nurse"]}, description="<p>Soins &amp; accueil</p>",
        updated_at=at - timedelta(days=2), **shared,
    )  # fmt: skip
    planner = make_vacancy(
        pk=102, title="Planner", description="", updated_at=at - timedelta(days=3), **shared
    )
    received = make_stage("Intake", en="Received", nl="Ontvangen")
    rejected = make_stage("No fit", en="Not selected", nl="Niet weerhouden", embargo_days=2)
    talking = make_stage("Round 1", en="In interviews", nl="In gesprek")
    first = make_application(
        user=jane, vacancy=planner, stage=received, created_at=at - timedelta(days=8), is_spontaneous=True
    )
    StageChange.objects.create(application=first, stage=rejected, at=at - timedelta(days=1))
    second = make_application(user=jane, vacancy=nurse, stage=received, created_at=at - timedelta(days=1))
    StageChange.objects.create(application=second, stage=talking, at=at - timedelta(hours=2))
    make_step(second, "Gesprek", planned_at=at + timedelta(days=1, microseconds=999_999))
    make_step(second, "Telefoon", result="OK", planned_at=at - timedelta(hours=3))
    make_step(second, "Hidden", is_visible=False)
    return signed_in(jane)


def test_response_matches_the_golden_file(site):
    """After an intended change, run with UPDATE_GOLDEN=1 and review the diff."""
    body = site.get(MINE, headers={"Accept-Language": "nl"}).json()
    text = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text)

    assert text == GOLDEN.read_text()
