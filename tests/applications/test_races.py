"""Concurrent changes of one application or account by users and commands."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from applications import operations, privacy
from applications.importer import ApplicationImporter
from applications.models import Application, MailTemplate, Message, Scorecard, Stage, Status
from applications.operations.considering import AlreadyThereError, consider
from applications.operations.scorecards import save_card
from applications.privacy import retention
from tests.applications.applicants import stages_of
from tests.applications.makers import make_application, make_stage, make_user
from tests.conftest import NOW
from tests.factories import make_vacancy
from tests.messages import messages_of
from tests.parallel import at_once
from tests.vacancies.test_parallel_writes import elsewhere, step_in
from vacancies.models import Requisition

pytestmark = pytest.mark.django_db(transaction=True)
# Threads do not meet in every run. SQLite lets one write at a time.
REPEATS = range(3 if connection.vendor == "postgresql" else 1)
LIST = "/admin/applications/application/"


@pytest.fixture(autouse=True)
def stages(db: Any) -> dict[str, Stage]:
    Stage.objects.all().delete()
    Status.objects.all().delete()
    return {name: make_stage(name) for name in ("New", "Invited", "Rejected")}


def clients(count: int) -> list[Client]:
    made = []
    for number in range(count):
        client = Client()
        client.force_login(User.objects.create_superuser(f"colleague{number}"))
        made.append(client)
    return made


# --- moving to a stage -------------------------------------------------------------------------


@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_bulk_moves_record_one_change_each(stages: dict[str, Stage], _: int) -> None:
    stages["Invited"].email = MailTemplate.objects.create(
        name="Talk", subject_en="Talk", body_en="Talk."
    )
    users = [make_user(f"mia{number}", email=f"mia{number}@example.org") for number in range(6)]
    applications = [make_application(stage=stages["New"], user=user) for user in users]
    rows, at = Application.objects.all(), timezone.now()
    move = operations.Move(stage=stages["Invited"], author=None, at=at, sends_email=True)

    outcomes = at_once(
        *(
            partial(operations.move, rows.order_by(order), move)
            for order in ("pk", "-pk", "created_at", "-pk")
        )
    )

    assert sorted(len(moved.changes) for moved in outcomes) == [0, 0, 0, 6]
    assert [len(moved.changes) + len(moved.there) for moved in outcomes] == [6] * 4
    assert [stages_of(each) for each in applications] == [["New", "Invited"]] * 6
    assert sorted(Message.objects.values_list("to", flat=True)) == [user.email for user in users]


def test_move_is_not_dated_before_the_previous_change(stages: dict[str, Stage]) -> None:
    """A request that waited, or a node whose clock is behind, moves the application once."""
    application = make_application(stage=stages["New"])
    rows, at = Application.objects.all(), timezone.now()

    def move(stage: str, seconds: int) -> tuple[Sequence[int], Sequence[int]]:
        wanted = operations.Move(
            stage=stages[stage], author=None, at=at + timedelta(seconds=seconds)
        )
        moved = operations.move(rows, wanted)
        return moved.applications, moved.there

    move("Rejected", 5)

    outcomes = [move("Invited", n) for n in (1, 2)]

    assert outcomes == [([application.pk], []), ([], [application.pk])]
    assert stages_of(application) == ["New", "Rejected", "Invited"]
    assert rows.with_stage().values_list("stage_name", flat=True).get() == "Invited"


@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_moves_of_an_application_move_it_once(stages: dict[str, Stage], _: int) -> None:
    application = make_application(stage=stages["New"])
    seen = f"{application.pk}:{application.changes.get().pk}"
    chosen = [
        {"applications": seen, "stage": stages[name].pk, "confirmed": "1"}
        for name in ("Invited", "Rejected")
    ]

    answers = at_once(
        *(
            partial(client.post, f"{LIST}move/", form)
            for client, form in zip(clients(2), chosen, strict=True)
        )
    )

    assert [answer.status_code for answer in answers] == [302, 302]
    texts = sorted(text for answer in answers for text in messages_of(answer))
    assert len(stages_of(application)) == 2
    assert texts[0].startswith("1 was not moved: somebody else moved it in the meantime.")
    assert " moved to " in texts[1]


# --- considering, internal data, scorecards ----------------------------------------------------


def test_two_clicks_consider_an_application_once(stages: dict[str, Stage]) -> None:
    address = "mia@example.org"
    application = make_application(stage=stages["New"], email=address, email_folded=address)
    vacancy, at, author = make_vacancy(), timezone.now(), make_user("recruiter")

    outcomes = at_once(
        *[partial(consider, application=application, vacancy=vacancy, author=author, at=at)] * 3
    )

    copy = Application.objects.get(vacancy=vacancy)
    kinds = sorted(type(outcome).__name__ for outcome in outcomes)
    assert kinds == ["AlreadyThereError", "AlreadyThereError", "Application"]
    assert [each.application for each in outcomes if isinstance(each, AlreadyThereError)] == [
        copy
    ] * 2


@pytest.mark.each_database
@pytest.mark.slow("renders a page of the admin")
def test_of_two_first_saves_of_internal_data_one_is_refused() -> None:
    url = f"/admin/vacancies/vacancy/{make_vacancy().pk}/internal/"
    forms = [
        {"internal-client": name, "internal-positions": 1, "seen": ""} for name in ("An", "Bo")
    ]

    answers = at_once(
        *(partial(client.post, url, form) for client, form in zip(clients(2), forms, strict=True))
    )

    assert sorted(answer.status_code for answer in answers) == [302, 409]
    saved = next(n for n, answer in enumerate(answers) if answer.status_code == 302)
    assert Requisition.objects.get().client == ("An", "Bo")[saved]


def test_two_clicks_send_one_scorecard(stages: dict[str, Stage]) -> None:
    application = make_application(stage=stages["New"])
    author = make_user("bo")

    def send() -> Scorecard:
        card = Scorecard(author=author, application=application, recommendation=3)
        return save_card(card=card, is_sent=True, at=NOW)

    outcomes = at_once(send, send)

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Scorecard", "SentError"]
    assert Scorecard.objects.count() == 1


# --- importing ---------------------------------------------------------------------------------


def imported(rows: list[dict[str, Any]]) -> list[str]:
    importer = ApplicationImporter()
    importer.import_rows(rows, source=Path("file"))
    return importer.report.failed


@pytest.mark.parametrize("has_account", [True, False])
@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_imports_create_each_row_once(has_account: bool, _: int) -> None:
    vacancy = make_vacancy()
    if has_account:
        User.objects.create_user("mia", "mia@example.org")
    rows = [
        {
            "user": {"username": "mia", "email": "mia@example.org"},
            "vacancy_id": vacancy.pk,
            "status": "A status that is new here",
            "history": [{"name": "Talk", "planned_at": f"{NOW:%Y-%m-%d %H:%M:%S}"}],
        }
    ]

    assert at_once(*[partial(imported, rows)] * 3) == [[], [], []]

    application = Application.objects.get()
    assert (application.user.username, application.vacancy_id) == ("mia", vacancy.pk)
    assert application.changes.last().stage.status.label_en == "A status that is new here"
    assert list(application.history.values_list("name", flat=True)) == ["Talk"]
    assert Status.objects.filter(label_en="A status that is new here").count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time")
def test_status_that_another_import_creates_meanwhile_is_used(monkeypatch: Any) -> None:
    vacancy = make_vacancy()

    def create() -> None:
        Stage.objects.create(name="Tested", status=Status.objects.create(label_en="Tested"))

    step_in(monkeypatch, ApplicationImporter, "_note_once", lambda: elsewhere(create))

    assert (
        imported([{"user": {"username": "mia"}, "vacancy_id": vacancy.pk, "status": "Tested"}])
        == []
    )

    assert Status.objects.filter(label_en="Tested").count() == 1
    assert list(Stage.objects.filter(name__startswith="Tested").values_list("name", flat=True)) == [
        "Tested"
    ]


@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_import_and_move_record_one_change(stages: dict[str, Stage], _: int) -> None:
    application = make_application(stage=stages["New"])
    row = {
        "user": {"username": application.user.username},
        "vacancy_id": application.vacancy_id,
        "stage": "Invited",
    }
    rows = Application.objects.all()
    move = operations.Move(stage=stages["Invited"], author=None, at=timezone.now())

    failed, moved = at_once(lambda: imported([row]), lambda: operations.move(rows, move))

    assert (failed, len(moved.changes) + len(moved.there)) == ([], 1)
    assert stages_of(application) == ["New", "Invited"]


# --- erasing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_erasures_erase_once(settings: Any, tmp_path: Any, _: int) -> None:
    settings.ERASURE_LOG = str(tmp_path / "erasures.log")
    user = make_application().user

    outcomes = at_once(*[partial(privacy.erase, user=user)] * 2)

    assert sorted(type(outcome).__name__ for outcome in outcomes) == [
        "Counter",
        "NoSuchAccountError",
    ]
    assert not User.objects.exists()
    assert len((tmp_path / "erasures.log").read_text().splitlines()) == 1


def test_account_that_concurrently_became_staff_is_not_erased() -> None:
    user = make_application().user
    User.objects.filter(pk=user.pk).update(is_staff=True)

    with pytest.raises(privacy.StaffAccountError):
        privacy.erase(user=user)

    assert (User.objects.get().pk, Application.objects.get().user_id) == (user.pk, user.pk)


@pytest.mark.parametrize("change", [{"last_login": NOW}, {"is_staff": True}])
def test_purge_keeps_an_account_that_concurrently_signed_in(
    monkeypatch: Any, change: dict[str, Any]
) -> None:
    long_ago = NOW - timedelta(days=1000)
    back, idle = (User.objects.create_user(name, date_joined=long_ago) for name in ("back", "idle"))
    real = retention._idle_accounts

    def listed(before: Any) -> Any:
        accounts = list(real(before))
        monkeypatch.setattr(retention, "_idle_accounts", real)
        User.objects.filter(pk=back.pk).update(**change)
        return accounts

    monkeypatch.setattr(retention, "_idle_accounts", listed)

    gone = privacy.purge(before=NOW - timedelta(days=365), now=NOW)

    assert (gone["accounts"], list(User.objects.all())) == (1, [back])
    assert not User.objects.filter(pk=idle.pk).exists()
