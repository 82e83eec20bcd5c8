"""The calendar that colleagues subscribe to, and reminders."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from icalendar import Calendar

from applications.mail.calendars import FeedEvent, feed
from applications.mail.reminders import InterviewReminders
from applications.models import CalendarFeed, EmailOptOut, Interview, Message, Participant
from applications.operations.interviews import cancel_interviews
from tests.applications.admin.conftest import apply, colleague
from tests.applications.makers import make_step, make_user, signed_in
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna(module_roles, db, at):
    brand = make_brand("Acme")
    own = apply(
        make_vacancy(title="Nurse", brand=brand), "Mia", reference="7K3QX9WD", family_name="Zyxname"
    )
    anna = colleague("anna", "Recruiter", brand)
    anna.own = own
    return anna


def interview(user, days, name="Talk", application=None, **values):
    start = NOW + timedelta(days=days)
    step = make_step(
        application or user.own,
        name,
        uid=f"{name:0>32}",
        planned_at=start,
        zone="Europe/Brussels",
        ends_at=start + timedelta(hours=1),
        **values,
    )
    Participant.objects.create(entry=step, user=user, address=user.email)
    return step


def new_address(user):
    page = signed_in(user).post(reverse("account-calendar"))
    return page.context["address"].removeprefix("http://testserver")


def shown(address):
    response = Client().get(address)
    assert (response.status_code, response["Cache-Control"]) == (200, "private, no-store")
    return [str(event["SUMMARY"]) for event in Calendar.from_ical(response.content).events]


def test_feed_has_own_interviews_of_own_brands_as_they_are_now(anna):
    foreign = apply(make_vacancy(title="Foreign", brand=make_brand("Other")))
    soon = interview(anna, 2, "Soon")
    interview(anna, 181, "Late")
    interview(anna, -31, "Old")
    interview(anna, 3, "Foreign", application=foreign)
    other = colleague("bram", "Recruiter", *anna.brands.all())
    other.own = anna.own
    interview(other, 2, "Theirs")
    address = new_address(anna)
    assert shown(address) == ["Interview: Nurse, Mia Zyxname"]
    cancel_interviews([soon], author=anna, at=NOW)
    assert shown(address) == []


def test_feed_ends_with_the_address_the_account_and_the_permission(anna):
    interview(anna, 2)
    first = new_address(anna)
    second = new_address(anna)
    assert (Client().get(first).status_code, len(shown(second))) == (404, 1)
    assert second.split("/")[-1].removesuffix(".ics") not in str(CalendarFeed.objects.values())
    anna.groups.clear()
    assert Client().get(second).status_code == 404
    anna.groups.add(Group.objects.get(name="Recruiter"))
    type(anna).objects.filter(pk=anna.pk).update(is_active=False)
    assert Client().get(second).status_code == 404
    type(anna).objects.filter(pk=anna.pk).update(is_active=True)
    signed_in(anna).post(reverse("account-calendar"), {"end": "1"})
    assert (Client().get(second).status_code, CalendarFeed.objects.count()) == (404, 0)


def test_only_who_reads_applications_is_offered_a_calendar(anna):
    link = f'href="{reverse("account-calendar")}"'
    for path in (reverse("account"), reverse("admin:my_emails")):
        assert link in signed_in(anna).get(path).content.decode()
    applicant = signed_in(make_user("mia"))
    assert link not in applicant.get(reverse("account")).content.decode()
    assert applicant.get(reverse("account-calendar")).status_code == 403


def test_number_of_queries_is_fixed(anna, django_assert_max_num_queries):
    address = new_address(anna)

    def count():
        with django_assert_max_num_queries(9) as queries:
            shown(address)
        return len(queries)

    interview(anna, 1, "One")
    shown(address)
    one = count()
    for days in (2, 3):
        interview(anna, days, f"Day {days}")
    assert count() == one


def test_feed_is_read_as_it_was_written():
    text = "😀" * 40 + ";,\\n\n" + "é" * 30
    event = FeedEvent("0" * 32, 3, NOW, NOW + timedelta(hours=1), f"A {text[:60]}", text, "Room; 1")
    written = feed([event], at=NOW)
    assert max(len(line) for line in written.encode().split(b"\r\n")) <= 75
    (read,) = Calendar.from_ical(written).events
    assert (str(read["LOCATION"]), read["SEQUENCE"], read.start) == ("Room; 1", 3, NOW)
    assert str(read["DESCRIPTION"]) == text


# --- Reminders ------------------------------------------------------------------------------------


def remind(at):
    job, outcomes = InterviewReminders(), []
    while item := job.next_due(at):
        outcomes.append(job.run(item))
    return outcomes


def test_reminder_is_sent_once_for_each_time(anna):
    step = interview(anna, 2)
    Participant.objects.create(entry=step, address="mia@example.org")
    assert remind(NOW + timedelta(days=1, seconds=-1)) == []
    day_before = NOW + timedelta(days=1)
    assert remind(day_before) == []  # 24 hours are not over
    assert remind(day_before + timedelta(seconds=1)) == ["reminder queued"] * 2
    to_anna = Message.objects.get(recipient=anna)
    to_mia = Message.objects.get(recipient=None)
    assert to_anna.subject == "Reminder: Interview: Nurse, 7K3QX9WD"
    assert to_mia.subject == "Reminder: Interview: Nurse, Acme"
    assert "Zyxname" not in to_anna.body
    assert remind(day_before + timedelta(hours=1)) == []
    Message.objects.all().delete()
    Interview.objects.update(planned_at=step.planned_at + timedelta(minutes=5))
    assert remind(day_before + timedelta(hours=2)) == ["reminder queued"] * 2


def test_no_reminder_after_a_recent_invitation_a_decline_or_an_opt_out(anna):
    step = interview(anna, 1)
    mia = Participant.objects.create(entry=step, address="mia@example.org")
    values = {"kind": "interview", "to": mia.address, "language": "en", "subject": "x", "body": "x"}
    Message.objects.create(
        participant=mia, application=anna.own, queued_at=NOW - timedelta(hours=11), **values
    )
    EmailOptOut.objects.create(user=anna, kind="reminder")
    at = NOW + timedelta(seconds=1)
    assert sorted(remind(at)) == ["reminder queued", "reminder unneeded"]
    assert Message.objects.filter(kind="reminder").count() == 0
    Participant.objects.update(reminded_for=None, reply="declined")
    Message.objects.all().delete()
    assert remind(at) == []
