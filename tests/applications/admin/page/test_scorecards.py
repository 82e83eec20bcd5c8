"""Scorecards: writing one, who sees which, the email that asks for one, and who never sees any."""

import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from applications.mail.scorecards import ScorecardEmails
from applications.models import (
    AccessLog,
    Application,
    EmailOptOut,
    HistoryEntry,
    Message,
    Participant,
    Scorecard,
)
from applications.privacy import possible_mentions
from applications.privacy.export import export
from tests.applications.admin.conftest import colleague, staff
from tests.applications.admin.page.test_page import page
from tests.applications.makers import bearer, make_step, make_token, make_user, signed_in
from tests.messages import messages_of
from tests.vacancies.admin.test_requisition import box
from tests.vacancies.admin.test_requisition import sent as sent_box
from vacancies.models import Requisition

pytestmark = pytest.mark.django_db
WORD = "zyxcard"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def url(application, entry=None):
    return page(application, "scorecard") + (f"?entry={entry.pk}" if entry else "")


def sent(criteria=(), **values):
    return {"criteria": json.dumps(list(criteria)), "recommendation": 3, "text": "", **values}


def card(application, author, text=WORD, **values):
    values = {"recommendation": 4, "sent_at": timezone.now()} | values
    return Scorecard.objects.create(application=application, author=author, text=text, **values)


@pytest.fixture
def bo(office):
    return colleague("bo", "Recruiter", office.brand)


def test_card_keeps_the_criteria_of_its_time_and_is_final(office):
    entry = make_step(office.own, "Talk")
    internal = Requisition.objects.create(vacancy=office.own.vacancy, criteria=["Dutch", "Care"])
    form = office.anna.get(url(office.own, entry)).content.decode()
    assert [f"<legend>{name}</legend>" in form for name in ("Dutch", "Care")] == [True, True]

    draft = sent(internal.criteria, **{"score-1": 2, "draft": "1", "recommendation": ""})
    assert office.anna.post(url(office.own, entry), draft).status_code == 302
    row = Scorecard.objects.get()
    assert (row.entry, row.sent_at, row.recommendation) == (entry, None, None)
    assert "checked" in office.anna.get(url(office.own, entry)).content.decode()  # the draft
    scores = sent(internal.criteria, **{"score-0": 4, "score-1": 2, "text": "Good."})
    response = office.anna.post(url(office.own, entry), scores)
    assert (response.status_code, response["Location"]) == (302, f"{page(office.own)}#scorecards")
    row.refresh_from_db()
    assert row.scores == [{"name": "Dutch", "score": 4}, {"name": "Care", "score": 2}]
    assert (row.author.username, row.recommendation, row.text) == ("anna", 3, "Good.")
    assert row.sent_at == timezone.now()
    assert set(AccessLog.objects.values_list("action", flat=True)) == {"view", "change"}

    Requisition.objects.update(criteria=["Other"])
    shown = office.anna.get(page(office.own)).content.decode()
    assert ("Dutch: 4/4" in shown, "Care: 2/4" in shown, "Other" in shown) == (True, True, False)
    assert f'href="{url(office.own, entry)}"' not in shown
    assert f'href="{url(office.own)}"' in shown  # one about no interview
    for data in (sent(["Other"], text="New"), sent(["Other"], draft="1")):
        again = office.anna.post(url(office.own, entry), data)
        assert messages_of(again)[-1] == "You sent this scorecard already. It is final."
    row.refresh_from_db()
    assert (row.text, Scorecard.objects.count()) == ("Good.", 1)


@pytest.mark.slow("many cases")
def test_invalid_card_names_the_field_and_stores_nothing(office):
    Requisition.objects.create(vacancy=office.own.vacancy, criteria=["Dutch"])
    for values, field in (
        ({"recommendation": ""}, "recommendation"),
        ({"recommendation": 5}, "recommendation"),
        ({"recommendation": "0"}, "recommendation"),
        ({"score-0": 5}, "score-0"),
        ({"score-0": "x"}, "score-0"),
        ({"text": "x" * 10_001}, "text"),
        ({"text": "\0"}, "text"),
        ({"criteria": '["Old"]'}, "criteria"),  # the criteria changed after the page was shown
    ):
        response = office.anna.post(url(office.own), sent(["Dutch"]) | values)
        found = response.context["form"].errors
        assert (response.status_code, list(found)) == (422, [field]), values
        assert str(found[field][0]) in response.content.decode().replace("&#x27;", "'"), values
    elsewhere = make_step(office.foreign, "Talk")
    for entry in (str(elsewhere.pk), "x", "9" * 30):
        assert (
            office.anna.post(f"{url(office.own)}?entry={entry}", sent(["Dutch"])).status_code == 404
        )
    assert office.anna.post(url(office.foreign), sent()).status_code == 404
    assert staff("auditor", "Auditor").post(url(office.own), sent(["Dutch"])).status_code == 403
    assert not Scorecard.objects.exists()


def test_database_refuses_impossible_cards(office, bo):
    entry = make_step(office.own, "Talk")
    card(office.own, bo, entry=entry)
    for values in (
        {"entry": entry},
        {"recommendation": 5},
        {"recommendation": 0},
        {"recommendation": None},
    ):
        with transaction.atomic(), pytest.raises(IntegrityError):
            card(office.own, bo, **values)


@pytest.mark.slow("opens several pages of the admin")
def test_who_takes_part_sees_other_cards_only_after_an_own_one(office, bo):
    card(office.own, colleague("cy", "Recruiter", office.brand))
    client = signed_in(bo)
    assert WORD in client.get(page(office.own)).content.decode()  # takes no part
    own = card(office.own, bo, text="Mine", sent_at=None)
    assert WORD not in client.get(page(office.own)).content.decode()  # began one
    own.delete()
    interview(office.own, bo, at=timezone.now() + DAY)
    shown = client.get(page(office.own)).content.decode()
    assert WORD not in shown
    own = card(office.own, bo, text="Mine", sent_at=None)
    assert "You see 1 scorecard of a colleague after you have sent yours." in shown
    assert "Mine" not in office.anna.get(page(office.own)).content.decode()  # a draft of another
    Scorecard.objects.filter(pk=own.pk).update(sent_at=timezone.now())
    assert WORD in client.get(page(office.own)).content.decode()
    auditor = staff("auditor", "Auditor").get(page(office.own)).content.decode()
    assert (WORD in auditor, "Write a scorecard" in auditor) == (True, False)
    foreign = staff("other", brands=[office.other]).get(page(office.own))
    assert foreign.status_code == 302


def test_criteria_are_names_one_per_line(office):
    vacancy = office.own.vacancy
    names = "\r\n".join(f" Name {n} \r\n" for n in range(12))
    assert office.anna.post(box(vacancy), sent_box(criteria=names)).status_code == 302
    row = Requisition.objects.get()
    assert row.criteria == [f"Name {n}" for n in range(12)]
    seen = row.updated_at.isoformat()
    for text, error in (
        (names + "\r\nMore", "at most 12 criteria; there are 13"),
        ("A\r\nB\r\nA", "“A” is there twice."),
        ("x" * 101, "is longer than 100 characters."),
    ):
        response = office.anna.post(box(vacancy), sent_box(seen, criteria=text))
        [problem] = response.context["requisition_form"].errors["criteria"]
        assert (response.status_code, error in problem) == (422, True), problem


def interview(application, *colleagues, at, name="Talk"):
    """An interview of an hour at `at`."""
    uid = f"{HistoryEntry.objects.count():032}"
    step = make_step(application, name, planned_at=at, ends_at=at + HOUR, zone="UTC", uid=uid)
    for user in colleagues:
        Participant.objects.create(entry=step, user=user, address="colleague@example.org")
    return step


def due(at):
    work, outcomes = ScorecardEmails("https://jobs.example.org"), []
    while item := work.next_due(at):
        outcomes.append(work.run(item))
        assert len(outcomes) < 9
    return outcomes


def test_card_is_asked_for_once_after_the_interview(office, bo, at):
    entry = interview(office.own, bo, at=at, name=f"Talk with {WORD}")
    assert due(at + HOUR - timedelta(seconds=1)) == []
    assert due(at + HOUR) == ["scorecard queued"]
    assert due(at + HOUR) == due(at + DAY) == []
    message = Message.objects.get()
    assert (message.kind, message.recipient, message.application) == ("scorecard", bo, office.own)
    assert message.subject == "Your scorecard: Nurse"
    assert message.body == (
        "An interview for “Nurse” on 2 Mar 2026, 09:30 is over. What do you think?\n\n"
        f"https://jobs.example.org{url(office.own, entry)}\n\n"
        "Choose the emails that you receive:\nhttps://jobs.example.org/admin/applications/message/mine/"
    )
    Scorecard.objects.update(asked_at=None, sent_at=at, recommendation=3)
    assert due(at + HOUR) == []  # sent
    interview(office.own, bo, at=at - 9 * DAY)
    HistoryEntry.objects.filter(pk=interview(office.own, bo, at=at - DAY).pk).update(
        is_cancelled=True
    )
    assert due(at) == []


def test_card_is_not_asked_from_who_may_not_write_it_or_opted_out(office, bo, at):
    people = [
        bo,
        colleague("gone", "Recruiter", office.brand, is_active=False),
        colleague("moved", "Recruiter", office.other),
        colleague("auditor", "Auditor"),
    ]
    EmailOptOut.objects.create(user=bo, kind="scorecard")
    interview(office.own, *people, at=at - DAY)
    assert due(at) == ["scorecard nothing"] * 4
    assert not Message.objects.exists()


def test_applicants_never_see_a_card_but_get_it_on_request(office, bo, at):
    user = make_user("mia")
    Application.objects.filter(pk=office.own.pk).update(user=user)
    entry = make_step(office.own, "Talk", planned_at=at - DAY)
    row = card(office.own, bo, entry=entry, scores=[{"name": f"{WORD} criterion", "score": 1}])
    full, own = (
        json.dumps(export(user=user, now=at, is_own=is_own), default=str)
        for is_own in (False, True)
    )
    assert (full.count(WORD), WORD in own) == (2, False)
    client, headers = signed_in(user), bearer(make_token(user))
    paths = (
        f"/account/applications/{office.own.pk}",
        "/account/",
        "/account/export",
        "/v1/user/applications",
    )
    shown = [client.get(path, headers=headers if "v1" in path else {}) for path in paths]
    assert [(each.status_code, WORD in each.content.decode()) for each in shown] == [
        (200, False)
    ] * 4
    assert possible_mentions({WORD}) == {"scorecards": [row.pk]}
    HistoryEntry.objects.all().delete()  # the card stays
    row.refresh_from_db()
    assert row.entry is None
