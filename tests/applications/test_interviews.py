"""Interviews: who gets which email and calendar entry."""

from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Permission
from django.db.models.signals import post_save
from icalendar import Calendar

from applications.mail.delivery import ABANDONED, MailDelivery, as_email
from applications.mail.outbox import Email, queue
from applications.models import Application, BrandMail, Interview, Message, Participant, Stage, Task
from applications.operations import Move, move, withdraw_application
from applications.operations.interviews import (
    InterviewChangedError,
    InterviewPlan,
    cancel_interviews,
    planned_emails,
    reply,
    save_interview,
)
from applications.privacy import erase_application
from tests.applications.admin.conftest import apply, colleague
from tests.applications.makers import make_step, stage_of_kind
from tests.conftest import NOW
from tests.factories import make_brand, make_text, make_vacancy

pytestmark = pytest.mark.django_db
START = NOW + timedelta(days=3)


@pytest.fixture
def office(module_roles, db, at):
    brand = make_brand("Acme")
    own = apply(
        make_vacancy(title="Nurse", brand=brand),
        reference="7K3QX9WD",
        given_name="Mia",
        family_name="Zyxname",
    )
    anna = colleague("anna", "Recruiter", brand, first_name="Anna", last_name="Peeters")
    bram = colleague("bram", "Recruiter", brand, first_name="Bram", last_name="Maes")
    return SimpleNamespace(brand=brand, own=own, anna=anna, bram=bram)


def save(office, *colleagues, entry=None, invites=True, at=NOW, **values):
    entry = entry or Interview(
        application=office.own, uid="a" * 32, zone="Europe/Brussels", name="Talk"
    )
    seen = entry.updated_at if entry.pk else None
    entry.planned_at = entry.planned_at or START
    entry.ends_at = entry.ends_at or START + timedelta(hours=1)
    for name, value in values.items():
        setattr(entry, name, value)
    save_interview(
        InterviewPlan(entry=entry, colleagues=colleagues, invites_applicant=invites, seen=seen),
        author=office.anna,
        at=at,
    )
    return Interview.objects.get(pk=entry.pk)


def send_all():
    Message.objects.filter(state="queued").update(state="sent")


def queued():
    """The queued emails: to whom, the method and sequence of the entry."""
    found = []
    for each in Message.objects.filter(state="queued").order_by("pk"):
        calendar = Calendar.from_ical(each.calendar)
        (event,) = calendar.events
        found.append((each.to, str(calendar["METHOD"]), event["SEQUENCE"]))
    return found


MIA, ANNA, BRAM = "mia@example.org", "anna@example.org", "bram@example.org"


def test_interview_invites_applicant_and_colleagues(office):
    entry = save(office, office.anna, office.bram)
    assert queued() == [(ANNA, "REQUEST", 0), (BRAM, "REQUEST", 0), (MIA, "REQUEST", 0)]
    assert entry.is_visible
    assert entry.author == office.anna
    assert [each.user for each in entry.participants.all()] == [office.anna, office.bram, None]


def test_title_is_in_the_language_of_the_applicant(office, settings):
    settings.TEXT_LANGUAGES = ["fr"]
    make_text(office.own.vacancy, "fr", title="Infirmier")
    Application.objects.filter(pk=office.own.pk).update(language="fr")
    office.own.refresh_from_db()
    save(office, office.anna)
    for each in Message.objects.all():
        own, other = ("Infirmier", "Nurse") if each.to == MIA else ("Nurse", "Infirmier")
        parts = [each.subject, each.body, each.calendar]
        assert [(own in part, other in part) for part in parts] == [(True, False)] * 3, each.to


def test_change_is_sent_only_if_it_matters(office):
    entry = save(office, office.anna)
    send_all()
    entry = save(office, office.anna, entry=entry, name="Other name", result="good")
    assert queued() == []
    for sequence, values in enumerate(
        (
            {"planned_at": START + timedelta(minutes=30)},
            {"zone": "Europe/London"},
            {"place": "Room 2"},
            {"video_url": "https://meet.example/1"},
            {"details": "Bring a pen"},
        ),
        1,
    ):
        entry = save(office, office.anna, entry=entry, **values)
        assert queued() == [(ANNA, "REQUEST", sequence), (MIA, "REQUEST", sequence)], values
        assert (
            Message.objects.filter(state="queued")
            .latest("pk")
            .subject.startswith("Changed: Interview")
        )
        send_all()
    entry = save(office, office.bram, entry=entry)
    assert queued() == [(ANNA, "CANCEL", 6), (BRAM, "REQUEST", 6)]


def test_waiting_email_is_replaced_and_cancelled_without_a_word(office):
    entry = save(office, office.anna)
    entry = save(office, office.anna, entry=entry, place="Room 2")
    assert queued() == [(ANNA, "REQUEST", 1), (MIA, "REQUEST", 1)]
    assert not Message.objects.filter(subject__startswith="Changed").exists()
    cancel_interviews([entry], author=office.anna, at=NOW)
    assert queued() == []


@pytest.mark.parametrize(("error", "is_told"), [(ABANDONED, True), ("550 no such mailbox", False)])
def test_cancellation_follows_an_invitation_that_may_have_been_delivered(office, error, is_told):
    entry = save(office)
    Message.objects.update(state="failed", error=error)
    cancel_interviews([entry], author=office.anna, at=NOW)
    assert queued() == [(MIA, "CANCEL", 1)] * is_told


def test_cancelled_interview_is_not_shown_and_not_changed_any_more(office):
    entry = save(office, office.anna)
    send_all()
    assert cancel_interviews([entry, entry], author=office.anna, at=NOW) == 1
    assert queued() == [(ANNA, "CANCEL", 1), (MIA, "CANCEL", 1)]
    assert "STATUS:CANCELLED" in Message.objects.latest("pk").calendar
    assert not Interview.objects.visible().exists()
    with pytest.raises(InterviewChangedError):
        save(office, office.anna, entry=entry, place="Room 2")


def test_two_saves_of_one_page_are_one_interview(office):
    save(office, office.anna)
    with pytest.raises(InterviewChangedError):
        save(office, office.anna)
    assert Interview.objects.count() == 1
    assert len(queued()) == 2


def test_interviews_and_tasks_are_two_names_over_one_table(office):
    interview, task = save(office, office.anna), make_step(office.own, "Call")
    assert (list(Interview.objects.all()), list(Task.objects.all())) == ([interview], [task])
    names = Permission.objects.filter(content_type__app_label="applications")
    assert not names.filter(content_type__model__in=("interview", "task")).exists()


def test_preview_is_what_is_sent_and_writes_nothing(office):
    entry = Interview(
        application=office.own,
        uid="b" * 32,
        zone="Europe/Brussels",
        name="Talk",
        planned_at=START,
        ends_at=START + timedelta(hours=1),
    )
    emails = planned_emails(
        InterviewPlan(entry=entry, colleagues=[office.anna], invites_applicant=True),
        author=office.anna,
        at=NOW,
    )
    assert [each.to for each in emails] == [ANNA, MIA]
    assert not (Interview.objects.exists())
    assert not (Message.objects.exists())


def test_preview_has_no_email_that_somebody_else_queues_meanwhile(office):
    """A new participant stands for a colleague who writes to the applicant at that moment."""

    def write(**kwargs):
        text = {"subject": "Parking", "body": "Behind the house.", "language": "en"}
        kind = Message.Kind.TEMPLATE
        queue(Email(kind=kind, application=office.own, to=MIA, **text), at=NOW)

    entry = Interview(
        application=office.own,
        uid="b" * 32,
        zone="UTC",
        name="Talk",
        planned_at=START,
        ends_at=START + timedelta(hours=1),
    )
    plan = InterviewPlan(entry=entry, colleagues=[], invites_applicant=True)
    post_save.connect(write, sender=Participant)
    try:
        emails = planned_emails(plan, author=office.anna, at=NOW)
    finally:
        post_save.disconnect(write, sender=Participant)
    assert [each.subject for each in emails] == ["Interview: Nurse, Acme"]


def test_withdrawal_and_chosen_decisions_cancel_the_coming_interviews(office):
    past = save(office, office.anna, planned_at=NOW - timedelta(days=1), ends_at=NOW)
    coming = save(office, office.anna, uid="c" * 32)
    send_all()
    rejected = stage_of_kind(Stage.Kind.REJECTED)
    rows = type(office.own).objects.filter(pk=office.own.pk)
    move(rows, Move(stage=rejected, author=office.anna, at=NOW))
    assert queued() == []
    withdraw_application(application=office.own, at=NOW)
    methods = [
        (each.to, "METHOD:CANCEL" in each.calendar)
        for each in Message.objects.filter(state="queued")
    ]
    # One confirms the withdrawal.
    assert sorted(methods) == [(ANNA, True), (MIA, False), (MIA, True)]
    past.refresh_from_db(), coming.refresh_from_db()
    assert (past.is_cancelled, coming.is_cancelled) == (False, True)


def test_erasure_cancels_at_colleagues_without_the_name(office):
    BrandMail.objects.create(brand=office.brand, has_names_in_invitations=True)
    save(office, office.anna, office.bram, place="Zyxname street")
    Message.objects.exclude(to=BRAM).update(state="sent")
    erase_application(application=office.own)
    (email,) = Message.objects.all()
    assert queued() == [(ANNA, "CANCEL", 1)]
    assert email.application is None
    text = f"{email.subject} {email.body} {email.calendar}"
    assert not any(word in text for word in ("Zyxname", "Mia", MIA, "7K3QX9WD")), text


def test_colleagues_get_the_name_only_if_the_brand_wants(office):
    save(office, office.anna)
    colleagues, applicants = Message.objects.order_by("pk")
    text = f"{colleagues.subject} {colleagues.body} {colleagues.calendar}"
    assert "Zyxname" not in text
    assert MIA not in text
    assert "7K3QX9WD" in colleagues.subject
    assert ANNA not in applicants.calendar + applicants.body
    assert "With: Anna Peeters" in applicants.body
    BrandMail.objects.create(brand=office.brand, has_names_in_invitations=True)
    save(office, office.anna, uid="d" * 32)
    named = Message.objects.filter(to=ANNA).latest("pk")
    assert named.subject == "Interview: Nurse, Mia Zyxname"


def test_decline_is_mailed_to_the_author_and_moves_nothing(office):
    entry = save(office, office.bram)
    send_all()
    applicant = entry.participants.get(user=None)
    stages = office.own.changes.count()
    assert reply(participant=applicant, reply=Participant.Reply.DECLINED, at=NOW)
    assert not reply(participant=applicant, reply=Participant.Reply.DECLINED, at=NOW)
    (email,) = Message.objects.filter(state="queued")
    assert (email.to, email.subject) == (ANNA, "Declined: Interview: Nurse, 7K3QX9WD")
    assert "Zyxname" not in email.body
    assert office.own.changes.count() == stages
    save(office, office.bram, entry=entry, planned_at=START + timedelta(minutes=5))
    assert entry.participants.get(user=None).reply == "", "a new time needs a new answer"


def test_email_has_the_entry_beside_the_text_and_as_a_file(office, settings):
    settings.SENDER_DOMAINS = ["acme.example"]
    BrandMail.objects.create(
        brand=office.brand, sender_name="Acme “jobs”", sender_address="jobs@acme.example"
    )
    save(office, place="Rue de l'Été; 2e", details="😀" * 60)
    mail = message_from_bytes(
        as_email(Message.objects.get()).message().as_bytes(), policy=policy.default
    )
    alternative, attachment = mail.iter_parts()
    text, html, calendar = alternative.iter_parts()
    parts = (mail, alternative, text, html, calendar, attachment)
    kinds = [part.get_content_type() for part in parts]
    assert kinds == [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "text/html",
        "text/calendar",
        "application/ics",
    ]
    assert dict(calendar["Content-Type"].params) == {"method": "REQUEST", "charset": "utf-8"}
    assert attachment.get_filename() == "invite.ics"
    assert calendar.get_payload(decode=True) == attachment.get_payload(decode=True)
    assert mail["From"] == "Acme “jobs” <jobs@acme.example>"
    (event,) = Calendar.from_ical(calendar.get_payload(decode=True)).events
    assert event["ORGANIZER"] == "mailto:jobs@acme.example"
    assert event["ATTENDEE"] == f"mailto:{MIA}"
    assert event["LOCATION"] == "Rue de l'Été; 2e"
    assert (event.start, event.end) == (START, START + timedelta(hours=1))
    assert "VTIMEZONE" not in Message.objects.get().calendar
    assert "TZID" not in Message.objects.get().calendar


def test_organizer_gets_no_entry_of_an_own_invitation(office, settings):
    settings.DEFAULT_FROM_EMAIL = ANNA
    save(office, office.anna)
    mine, applicants = Message.objects.order_by("pk")
    assert (mine.calendar, bool(applicants.calendar)) == ("", True)


@pytest.mark.parametrize(
    ("zone", "month", "hour", "text"),
    [
        ("Europe/Brussels", 3, 9, "Tuesday 10 Mar 2026, 10:00–11:00 (Europe/Brussels, UTC+1)"),
        (
            "Europe/Brussels",
            10,
            0,
            "Sunday 25 Oct 2026, 02:00–02:00 (Europe/Brussels, UTC+2–UTC+1)",
        ),
        ("Asia/Kolkata", 3, 9, "Tuesday 10 Mar 2026, 14:30–15:30 (Asia/Kolkata, UTC+5:30)"),
        (
            "America/New_York",
            3,
            3,
            "Monday 9 Mar 2026, 23:00–10 Mar 2026, 00:00 (America/New_York, UTC-4)",
        ),
    ],
)
def test_time_is_shown_with_its_zone(zone, month, hour, text):
    at = datetime(2026, month, {3: 10, 10: 25}[month], hour, tzinfo=UTC)
    entry = Interview(planned_at=at, ends_at=at + timedelta(hours=1), zone=zone)
    assert entry.when == text


def test_old_invitation_is_not_sent_again(office, settings):
    """The server refused it for now while a change was made, or a recruiter sends a failed one
    again.
    """
    entry = save(office, office.anna, office.bram, invites=False)
    old = list(Message.objects.order_by("pk"))
    Message.objects.update(state="sending", attempts=1)
    entry = save(office, office.anna, entry=entry, place="Room 2", invites=False)
    new = list(Message.objects.filter(state="queued"))
    Message.objects.filter(pk__in=[each.pk for each in old]).update(state="queued")
    settings.IS_MAIL_SENT = True
    delivery = MailDelivery(now=lambda: NOW)
    outcomes = [delivery.run(delivery.next_due(NOW)) for _ in range(4)]
    assert outcomes == ["gone", "gone", "sent", "sent"]
    assert list(Message.objects.order_by("pk")) == new
    Message.objects.filter(to=ANNA).update(state="failed")
    cancel_interviews([entry], author=office.anna, at=NOW)
    Message.objects.filter(to=ANNA).update(state="queued")
    assert delivery.run(delivery.next_due(NOW)) == "gone"
