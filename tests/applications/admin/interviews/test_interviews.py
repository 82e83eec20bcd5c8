"""The page that schedules an interview, and the interviews on the page of an application."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from applications.models import (
    Application,
    HistoryEntry,
    Interview,
    Message,
    Participant,
    Stage,
)
from applications.operations import Move, move, undo_moves
from applications.operations.delayed_cancellations import DelayedCancellations
from jobsite.admin.datetime_fields import ZonedDateTimeField
from tests.applications.admin.conftest import colleague
from tests.applications.makers import make_step, stage_of_kind
from tests.messages import messages_of

pytestmark = pytest.mark.django_db
FIELDS = {
    "uid": "a" * 32,
    "seen": "",
    "name": "Talk",
    "starts_at_0": "2026-10-20",
    "starts_at_1": "10:00",
    "minutes": "45",
    "zone": "Europe/Brussels",
    "place": "Room 1",
    "video_url": "",
    "details": "",
    "invites": "on",
}


def url(office, name="interview", entry=None):
    path = reverse(f"admin:applications_application_{name.replace('-', '_')}", args=[office.own.pk])
    return f"{path}?entry={entry.pk}" if entry else path


def send(office, entry=None, **values):
    return office.anna.post(url(office, entry=entry), FIELDS | {"step": "send"} | values)


def scheduled(office, **values):
    assert send(office, **values).status_code == 302
    return HistoryEntry.objects.latest("pk")


@pytest.mark.slow("opens several pages of the admin")
def test_recruiter_schedules_after_a_preview_of_both_emails(office):
    anna = User.objects.get(username="anna")
    page = office.anna.get(url(office)).content.decode()
    assert 'name="invites" class="' in page
    assert "Zyxforeign" not in page
    preview = office.anna.post(url(office), FIELDS | {"step": "preview", "colleagues": [anna.pk]})
    html = preview.content.decode()
    assert "Interview with Mia" in html
    assert [each["email"].to for each in preview.context["previews"]] == [
        office.own.email,
        anna.email,
    ]
    assert "Tuesday 20 Oct 2026, 10:00–10:45 (Europe/Brussels, UTC+2)" in html
    assert not HistoryEntry.objects.exists()
    assert (
        'value="2026-10-20"'
        in office.anna.post(url(office), FIELDS | {"step": "edit"}).content.decode()
    )
    response = send(office, colleagues=[anna.pk])
    assert messages_of(response) == [
        "Interview: Tuesday 20 Oct 2026, 10:00–10:45 (Europe/Brussels, UTC+2)."
    ]
    entry = HistoryEntry.objects.get()
    assert entry.planned_at == datetime(2026, 10, 20, 8, tzinfo=UTC)
    assert Message.objects.count() == 2
    again = send(office, colleagues=[anna.pk])  # a second click
    assert messages_of(again)[1:] == [
        "A colleague scheduled, changed or cancelled it in the meantime."
    ]
    assert Message.objects.count() == 2


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("starts_at_1", "02:30", "is ambiguous in the time zone Europe/Brussels"),
        ("starts_at_0", "2026-01-01", "This time has passed. Choose a later one."),
        ("minutes", "0", "Ensure this value is greater than or equal to 1."),
        (
            "zone",
            "Europe/Nowhere",
            "Europe/Nowhere is not one of the available choices.",
        ),
        ("video_url", "http://meet.example/1", "Enter an address that begins with https://."),
        ("uid", "no", "Enter a valid value."),
        (
            "colleagues",
            "99999999",
            "Select a valid choice. 99999999 is not one of the available choices.",
        ),
        ("invites", "", "Choose at least one colleague, or invite the applicant."),
    ],
)
def test_wrong_input_is_an_error_of_its_field(office, field, value, error):
    values = {field: value} | ({"starts_at_0": "2026-10-25"} if field == "starts_at_1" else {})
    response = send(office, **values)
    errors = response.context["form"].errors
    assert (response.status_code, list(errors)) == (
        422,
        [
            {"starts_at_0": "starts_at", "starts_at_1": "starts_at", "invites": "colleagues"}.get(
                field, field
            )
        ],
    )
    assert error in str(errors)
    assert not HistoryEntry.objects.exists()


def test_skipped_hour_is_refused_and_repeated_hour_is_asked_for(office):
    skipped = send(office, starts_at_0="2027-03-28", starts_at_1="02:30")
    assert "does not exist in the time zone Europe/Brussels" in str(skipped.context["form"].errors)
    second = scheduled(office, starts_at_0="2026-10-25", starts_at_1="02:30", starts_at_2="1")
    assert second.planned_at == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    page = office.anna.get(url(office, entry=second)).content.decode()
    assert 'value="02:30:00"' in page
    kept = send(
        office,
        second,
        seen=second.updated_at.isoformat(),
        name="Other",
        minutes="45",
        starts_at_0="2026-10-25",
        starts_at_1="02:30:00",
        starts_at_2="1",
    )
    assert kept.status_code == 302
    assert HistoryEntry.objects.get().planned_at == second.planned_at


def test_every_hour_of_a_clock_change_is_the_right_instant():
    """The local hours of both days, in zones on both sides of UTC and with half hours."""
    days = {
        "Europe/Brussels": ("2026-10-25", "2027-03-28"),
        "Europe/London": ("2026-10-25", "2027-03-28"),
        "America/New_York": ("2026-11-01", "2027-03-14"),
        "Australia/Sydney": ("2026-10-04", "2027-04-04"),
        "America/St_Johns": ("2026-11-01", "2027-03-14"),
        "Australia/Lord_Howe": ("2026-10-04", "2027-04-04"),
    }
    for zone, both in days.items():
        for day in both:
            instant = (
                datetime.fromisoformat(f"{day}T00:00")
                .replace(tzinfo=ZoneInfo(zone))
                .astimezone(UTC)
            )
            for half_hours in range(48):
                at = instant + timedelta(minutes=30 * half_hours)
                local = at.astimezone(ZoneInfo(zone))
                with timezone.override(zone):
                    parts = f"{local:%Y-%m-%d}", f"{local:%H:%M}", str(local.fold)
                    read = ZonedDateTimeField().clean(parts)
                assert read == at, (zone, local)
                entry = HistoryEntry(planned_at=at, ends_at=at + timedelta(minutes=1), zone=zone)
                assert f"{local:%H:%M}–" in entry.when


def test_overlaps_are_told_without_other_names(office):
    anna = User.objects.get(username="anna")
    entry = scheduled(office, colleagues=[anna.pk])
    other = make_step(
        office.foreign,
        "Secret",
        uid="f" * 32,
        planned_at=entry.planned_at,
        zone="UTC",
        ends_at=entry.ends_at,
    )
    Participant.objects.create(entry=other, user=anna, address=anna.email)
    preview = office.anna.post(
        url(office, entry=entry),
        FIELDS
        | {
            "step": "preview",
            "colleagues": [anna.pk],
            "seen": entry.updated_at.isoformat(),
        },
    )
    (text,) = preview.context["overlaps"]
    assert text == "anna has another interview: Tuesday 20 Oct 2026, 08:00–08:45 (UTC)."
    assert "Zyxforeign" not in preview.content.decode()


def test_old_page_does_not_overwrite_a_change(office):
    entry = scheduled(office)
    send(office, entry, seen=entry.updated_at.isoformat(), place="Room 2")
    entry.refresh_from_db()
    office_time = entry.updated_at - timedelta(seconds=1)
    stale = send(office, entry, seen=office_time.isoformat(), place="Room 3")
    assert messages_of(stale)[2:] == [
        "A colleague scheduled, changed or cancelled it in the meantime."
    ]
    entry.refresh_from_db()
    assert entry.place == "Room 2"


@pytest.mark.slow("opens many pages")
def test_colleague_answers_and_recruiter_cancels(office):
    anna = User.objects.get(username="anna")
    entry = scheduled(office, colleagues=[anna.pk])
    page = reverse("admin:applications_application_change", args=[office.own.pk])
    assert 'value="accepted"' in office.anna.get(page).content.decode()
    office.anna.post(url(office, "reply-interview"), {"entry": entry.pk, "reply": "accepted"})
    assert entry.participants.get(user=anna).reply == "accepted"
    assert (
        office.anna.post(
            url(office, "reply-interview"), {"entry": entry.pk, "reply": "x"}
        ).status_code
        == 404
    )
    assert "anna, Mia" in office.anna.get(url(office, "cancel-interview", entry)).content.decode()
    assert messages_of(office.anna.post(url(office, "cancel-interview", entry)))[-1:] == [
        "The interview was cancelled."
    ]
    assert office.anna.get(url(office, entry=entry)).status_code == 404
    html = office.anna.get(page).content.decode()
    assert '<span class="panel-state is-expired">cancelled</span>' in html


def test_tasks_are_listed_with_interviews_and_have_a_page(office, at):
    entry = scheduled(office)
    page = url(office, "task")
    new = {"name": "Task", "planned_at_0": "2026-03-03", "planned_at_1": "10:00", "result": ""}
    refused = office.anna.post(page, new | {"planned_at_0": ""})
    assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["planned_at"])
    for posted, result in ((page, ""), (f"{page}?entry=", "Done")):
        task = office.own.history.filter(uid="").first()
        address = f"{posted}{task.pk}" if posted.endswith("=") else posted
        data = new | {"result": result, "is_visible": "on"}
        assert office.anna.post(address, data).url.endswith("/change/#interviews")
        task = office.own.history.get(uid="")
        assert (task.name, task.result, task.is_visible, task.updated_at) == (
            "Task",
            result,
            True,
            at,
        )
    shown = office.anna.get(reverse("admin:applications_application_change", args=[office.own.pk]))
    assert {each["entry"] for each in shown.context["interviews"]} == {entry, task}
    other = make_step(office.foreign, "Zyxtask")
    for pk in (other.pk, entry.pk, "x", ""):
        assert office.anna.post(f"{page}?entry={pk}", {"delete": "1"}).status_code == 404, pk
    assert office.anna.post(f"{page}?entry={task.pk}", {"delete": "1"}).status_code == 302
    assert list(office.own.history.values_list("pk", flat=True)) == [entry.pk]


def test_rejection_offers_to_cancel_the_interview(office):
    entry = scheduled(office)
    page = reverse("admin:applications_application_change", args=[office.own.pk])
    opened = office.anna.get(page).context["opened"]
    data = {"applications": str(opened.move_fields["applications"]), "stage": office.rejected.pk}
    url_of_move = reverse("admin:applications_application_move")
    assert "Cancel the coming interviews" in office.anna.post(url_of_move, data).content.decode()
    Stage.objects.filter(pk=office.rejected.pk).update(embargo_days=0)
    office.anna.post(url_of_move, data | {"confirmed": "1", "cancels_interviews": "on"})
    entry.refresh_from_db()
    assert entry.is_cancelled
    assert stage_of_kind("rejected") == office.own.changes.last().stage


def test_cancellation_waits_until_the_applicant_sees_the_rejection(office, at):
    """Not that of an interview before, which would take place. Undo keeps the interview."""
    entry, soon = scheduled(office), scheduled(office, uid="b" * 32)
    day = timedelta(days=1)
    for each, days in ((entry, 9), (soon, 1)):
        start = at + days * day
        Interview.objects.filter(pk=each.pk).update(planned_at=start, ends_at=start + day / 24)
    Message.objects.update(state="sent")
    own = Application.objects.filter(pk=office.own.pk)
    reject = Move(stage=office.rejected, author=None, at=at, cancels_interviews=True)

    def run(days):
        job, outcomes = DelayedCancellations(), []
        while item := job.next_due(at + days * day):
            outcomes.append(job.run(item))
        return outcomes

    def cancelled():
        return [Interview.objects.get(pk=each.pk).is_cancelled for each in (soon, entry)]

    move(own, reject)
    page = reverse("admin:applications_application_change", args=[office.own.pk])
    assert "are cancelled when the applicant sees" in office.anna.get(page).content.decode()
    assert (run(1), cancelled()) == ([], [True, False])
    undo_moves([office.own.changes.last().pk], author=None, at=at)
    assert (run(3), cancelled()) == (["cancellation unneeded"], [True, False])
    move(own, reject)
    sent = Message.objects.count()
    assert (run(3), cancelled(), run(3)) == (["interviews cancelled"], [True, True], [])
    assert Message.objects.count() > sent


def test_interview_without_an_address_is_shown_and_not_sent(office):
    type(office.own).objects.filter(pk=office.own.pk).update(email="", email_folded="")
    assert "Show it to the applicant" in office.anna.get(url(office)).content.decode()
    entry = scheduled(office)
    assert (entry.is_visible, Message.objects.count(), entry.participants.count()) == (True, 0, 0)


def test_colleague_of_another_brand_is_not_offered(office):
    other = colleague("zoe", "Recruiter", office.other)
    save = send(office, colleagues=[other.pk])
    assert list(save.context["form"].errors) == ["colleagues"]
