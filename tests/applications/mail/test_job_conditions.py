"""Each condition of what the dispatcher does every minute, morning and
Monday, on both sides of it.
"""

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User

from applications.alerts.job import JobAlerts
from applications.mail import daily
from applications.mail import digest as digests
from applications.mail.digest import Digest, queue_digest
from applications.mail.preferences import may_have_calendar, may_still_read, recipients_of
from applications.mail.reminders import InterviewReminders
from applications.mail.stale import StaleEmails, queue_stale
from applications.models import JobAlert, Message, Participant, Stage, StageChange, ToldVacancy
from tests.applications.mail.test_digest import apply, day, make_colleague
from tests.applications.makers import make_application, make_step
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at")]
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


@pytest.fixture
def acme(at):
    return make_brand("Acme")


def make_email(user, kind, at):
    Message.objects.create(
        kind=kind, recipient=user, to=user.email, language="en", subject="", body="", queued_at=at
    )


def waits_for_days(vacancy, days):
    application = make_application(vacancy=vacancy, created_at=NOW - days * DAY)
    stage = application.changes.get().stage
    Stage.objects.filter(pk=stage.pk).update(remind_days=3)
    StageChange.objects.update(at=NOW - days * DAY)


def test_digest_begins_at_the_last_digest_of_the_same_colleague(acme):
    an, bo = (make_colleague(name, acme) for name in ("an", "bo"))
    for hours in (30, 3, 1):
        apply(acme, hours=hours)
    apply(acme, hours=-1)  # after the time of the digest
    make_email(an, "digest", NOW - timedelta(hours=2))
    make_email(an, "mention", NOW)
    make_email(bo, "digest", NOW - timedelta(hours=4))
    assert [queue_digest(user, at=NOW).subject for user in (an, bo)] == [
        "1 new application",
        "2 new applications",
    ]


def test_digest_and_stale_email_are_queued_once_on_a_day(acme):
    """An email of another kind, day or colleague does not count. NOW is a Monday, 10:30."""
    names = ("new", "other kind", "last week", "done")
    users = {name: make_colleague(name.replace(" ", ""), acme) for name in names}
    waits_for_days(make_vacancy(brand=acme), 10)
    apply(acme)
    for kind, job in (("digest", Digest), ("stale", StaleEmails)):
        make_email(users["other kind"], "mention", NOW)
        make_email(users["last week"], kind, NOW - 3 * DAY)
        make_email(users["done"], kind, NOW - timedelta(hours=1))
        Message.objects.filter(kind=kind, recipient=users["done"]).update(queued_at=NOW)
        before = Message.objects.filter(kind=kind).count()
        made = job()
        assert day(NOW, made) == [f"{kind} queued"] * 3, kind
        assert Message.objects.filter(kind=kind).count() == before + 3
        assert day(NOW, job()) == [], kind


def test_colleague_who_left_since_the_morning_gets_nothing(acme):
    for name in ("an", "bo"):
        make_colleague(name, acme)
    apply(acme)
    digest = Digest()
    digest.next_due(NOW)
    User.objects.filter(username="an").update(is_active=False)
    User.objects.filter(username="bo").delete()
    assert day(NOW, digest) == ["digest nothing"] * 2


def test_emails_of_the_day_begin_at_seven(acme, settings):
    settings.TIME_ZONE = "UTC"
    make_colleague("an", acme)
    apply(acme)
    seven = NOW.replace(hour=7, minute=0, second=0, microsecond=0)
    for at, is_due in ((seven - SECOND, False), (seven, True)):
        assert bool(Digest().next_due(at)) == is_due
        JobAlert.objects.all().delete()
        settings.CAREER_SITE = True
        make_alert("a", told_at=NOW - DAY)
        assert bool(JobAlerts().next_due(at)) == is_due


def test_list_of_vacancies_in_an_email_ends_at_the_limit(acme, monkeypatch):
    an = make_colleague("an", acme)
    for number in range(3):
        waits_for_days(make_vacancy(brand=acme, title=f"V{number}"), 5)
    for limit, more in ((2, 1), (3, 0)):
        monkeypatch.setattr(daily, "LINES_MAX", limit)
        bodies = [queue_stale(an, at=NOW).body]
        Message.objects.all().delete()
        monkeypatch.setattr(digests, "FIRST_PERIOD", 7 * DAY)
        bodies.append(queue_digest(an, at=NOW).body)
        Message.objects.all().delete()
        for body in bodies:
            assert body.count("\nV") == limit
            assert ("more vacanc" in body) == bool(more)
            assert body.count(f"And for {more} more vacancy.") == more


def test_no_stage_has_a_limit_so_nobody_is_asked(acme):
    make_colleague("an", acme)
    Stage.objects.update(remind_days=0)
    assert StaleEmails().recipients(NOW) == []
    Stage.objects.filter(pk=Stage.objects.first().pk).update(remind_days=1)
    assert len(StaleEmails().recipients(NOW)) == 1
    assert StaleEmails().recipients(NOW + DAY) == []


# --- reminders ------------------------------------------------------------------------------------


def invited(planned_at: datetime, name: str, **values) -> Participant:
    step = make_step(make_application(), planned_at=planned_at, uid=name, ends_at=planned_at + DAY)
    user = make_colleague(name)
    return Participant.objects.create(entry=step, user=user, address=user.email, **values)


def test_reminder_is_for_those_who_come_within_a_day_and_were_not_told(acme):
    soon = DAY - SECOND
    cases = {
        "soon": (soon, {}),
        "later": (DAY, {}),
        "begun": (timedelta(0), {}),
        "declined": (soon, {"reply": "declined"}),
        "reminded": (soon, {"reminded_for": NOW + soon}),
        "moved": (soon, {"reminded_for": NOW}),
        "just-told": (soon, {}),
        "told": (soon, {}),
    }
    people = {name: invited(NOW + after, name, **values) for name, (after, values) in cases.items()}
    for name, age in (("just-told", -SECOND), ("told", SECOND)):
        Message.objects.create(
            kind="interview",
            participant=people[name],
            to="a@example.org",
            language="en",
            subject="",
            body="",
            queued_at=NOW - timedelta(hours=12) - age,
        )
    job, found = InterviewReminders(), {}
    while item := job.next_due(NOW):
        assert len(found) < 5
        found[Participant.objects.get(pk=item[0]).user.username] = job.run(item)
    queued = "reminder queued"
    assert found == {
        "soon": queued,
        "moved": queued,
        "told": queued,
        "just-told": "reminder unneeded",
    }
    invited(NOW + timedelta(hours=2), "new")
    assert job.next_due(NOW + 59 * SECOND) is None  # one search in a minute
    assert job.next_due(NOW + 60 * SECOND)
    assert InterviewReminders().next_due(NOW - SECOND)


# --- job alerts -----------------------------------------------------------------------------------


def make_alert(name, **values):
    address = f"{name}@example.org"
    given = {
        "frequency": "daily",
        "language": "en",
        "confirmed_at": NOW - DAY,
        "ends_at": NOW + 99 * DAY,
    }
    return JobAlert.objects.create(address=address, address_folded=address, **given | values)


def test_alerts_are_looked_at_when_they_are_due(settings):
    """NOW is a Monday after 7:00 in Brussels. Only these get what `told_at` says."""
    settings.CAREER_SITE = True
    today, monday = NOW - timedelta(hours=1), NOW - 6 * DAY
    cases = {
        "daily": ("daily", NOW - DAY, NOW),
        "daily-done": ("daily", today, today),
        "weekly": ("weekly", monday, NOW),
        "weekly-done": ("weekly", today, today),
    }
    for name, (frequency, told_at, _expected) in cases.items():
        make_alert(name, frequency=frequency, told_at=told_at)
    make_alert("unconfirmed", told_at=NOW - DAY, confirmed_at=None)
    job = JobAlerts()
    while item := job.next_due(NOW):
        job.run(item)
    found = {each.address.split("@")[0]: each.told_at for each in JobAlert.objects.all()}
    assert found == {name: case[2] for name, case in cases.items()} | {"unconfirmed": NOW - DAY}
    assert JobAlerts().next_due(NOW) is None


def test_alert_tells_what_began_since_a_week_before_and_nothing_twice(settings):
    """What one alert told does not count for another. One that ends meanwhile is left out."""
    settings.CAREER_SITE = True
    first, second, ended = (make_alert(name, told_at=NOW - DAY) for name in ("a", "b", "c"))
    weekly = make_alert("d", told_at=NOW - 8 * DAY, frequency="weekly")
    old = make_vacancy(title="Old", publish_from=NOW - 8 * DAY)
    known = make_vacancy(title="Known", publish_from=NOW - 2 * DAY)
    new = make_vacancy(title="New", publish_from=NOW - 8 * DAY + SECOND)
    ToldVacancy.objects.create(alert=first, vacancy=known)
    job = JobAlerts()
    item = job.next_due(NOW)
    ended.delete()
    job.run(item)
    told = {
        address: set(
            ToldVacancy.objects.filter(alert__address=address).values_list("vacancy", flat=True)
        )
        for address in Message.objects.values_list("to", flat=True)
    }
    assert told == {
        first.address: {known.pk, new.pk},
        second.address: {known.pk, new.pk},
        weekly.address: {old.pk, known.pk, new.pk},
    }
    assert "Known" not in Message.objects.get(alert=first).body


# --- who receives them ----------------------------------------------------------------------------


def test_emails_are_for_active_staff_with_an_address_and_the_permission(acme):
    make_colleague("an", acme)
    for name, change in {
        "left": {"is_active": False},
        "applicant": {"is_staff": False},
        "unreachable": {"email": ""},
    }.items():
        User.objects.filter(pk=make_colleague(name, acme).pk).update(**change)
    make_colleague("unpermitted", acme).user_permissions.clear()
    people = {user.username: user for user in User.objects.all()}
    message = Message(kind="digest", vacancies=[])

    def read(user):
        message.recipient = user
        return may_still_read(message)

    assert {user.username for user in recipients_of("digest")} == {"an", "unpermitted"}
    assert {name for name, user in people.items() if read(user)} == {"an", "unreachable"}
    assert {name for name, user in people.items() if may_have_calendar(user)} == {
        "an",
        "unreachable",
    }
