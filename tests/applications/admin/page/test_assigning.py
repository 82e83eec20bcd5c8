"""Owner, tags, likely duplicates and reminders of applications."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from applications.mail.stale import StaleEmails, queue_stale
from applications.models import (
    AccessLog,
    Application,
    ApplicationTag,
    EmailOptOut,
    Message,
    Stage,
    Tag,
)
from applications.operations import Move, create_application, move
from applications.operations.assigning import add_tag, readers_of_all, remove_tag
from applications.querysets import phone_digits
from tests.applications.admin.conftest import FOREIGN, apply, colleague, staff
from tests.applications.makers import make_file, make_submission
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"
DAY = timedelta(days=1)


def shown(client: Any, query: str) -> list[int]:
    return sorted(each.pk for each in client.get(f"{LIST}?{query}").context["cl"].result_list)


def page_of(application: Application) -> str:
    return f"{LIST}{application.pk}/"


def act(client: Any, action: str, *pks: int, **values: Any) -> Any:
    return client.post(LIST, {"action": action, "_selected_action": pks, **values})


# --- owner ---


def test_application_is_assigned_on_its_page(office):
    ben = colleague("ben", "Recruiter", office.brand)
    foreign = colleague("chris", "Recruiter", office.other)
    html = office.anna.get(f"{page_of(office.own)}change/").content.decode()
    assert f'value="{ben.pk}">ben' in html
    assert "chris" not in html
    office.anna.post(f"{page_of(office.own)}owner/", {"owner": ben.pk})
    office.own.refresh_from_db()
    assert office.own.owner == ben
    assert AccessLog.objects.filter(application=office.own.pk, action="change").count() == 1

    page = office.anna.post(f"{page_of(office.own)}owner/", {"owner": foreign.pk}, follow=True)
    assert "This colleague may not see all of the applications." in page.content.decode()
    office.anna.post(f"{page_of(office.own)}owner/", {"owner": ""})
    office.own.refresh_from_db()
    assert office.own.owner is None


def test_selected_applications_are_assigned(office):
    ben = colleague("ben", "Recruiter", office.brand)
    second = apply(office.own.vacancy, stage=office.new)
    pks = (office.own.pk, second.pk, office.foreign.pk)
    asked = act(office.anna, "assign_selected", *pks)
    assert "Mia – Nurse" in asked.content.decode()
    assert FOREIGN not in asked.content.decode()
    wrong = act(office.anna, "assign_selected", *pks, confirmed=1, owner="999")
    assert (wrong.status_code, Application.objects.exclude(owner=None).count()) == (422, 0)
    act(office.anna, "assign_selected", *pks, confirmed=1, owner=ben.pk)
    assert set(Application.objects.filter(owner=ben)) == {office.own, second}


def test_owner_of_several_brands_has_to_see_all(office):
    colleague("ben", "Recruiter", office.brand)
    both = colleague("both", "Recruiter", office.brand, office.other)
    assert readers_of_all([office.own.pk, office.foreign.pk]) == [both]
    assert readers_of_all([]) == []


def test_filters_show_own_applications_and_those_of_nobody(office):
    anna = User.objects.get(username="anna")
    left = colleague("left", "Recruiter", office.brand, is_active=False)
    mine, lost = (apply(office.own.vacancy, stage=office.new, owner=each) for each in (anna, left))
    assert shown(office.anna, "owner=me") == [mine.pk]
    assert shown(office.anna, "owner=nobody") == sorted([office.own.pk, lost.pk])
    assert shown(office.anna, "owner=wrong") == sorted([office.own.pk, mine.pk, lost.pk])
    assert (
        "left may not see this application any more"
        in office.anna.get(f"{page_of(lost)}change/").content.decode()
    )


# --- tags ---


def test_tag_is_added_and_removed_on_the_page(office):
    tag = f"{page_of(office.own)}tag/"
    for name in ("  Night   shift ", "night SHIFT"):
        office.anna.post(tag, {"name": name, "step": "add"})
    assert [(each.brand, each.name, each.folded) for each in Tag.objects.all()] == [
        (office.brand, "Night shift", "night shift")
    ]
    assert ApplicationTag.objects.get().application == office.own
    assert (
        "Remove the tag Night shift"
        in office.anna.get(f"{page_of(office.own)}change/").content.decode()
    )
    for wrong in ({"name": "x" * 41, "step": "add"}, {"name": " ", "step": "add"}, {"name": "x"}):
        assert office.anna.post(tag, wrong, follow=True).context["messages"]
    assert Tag.objects.count() == 1
    office.anna.post(tag, {"name": "Night shift", "step": "remove"})
    assert not Tag.objects.exists()


def test_selection_is_tagged_and_filtered_by_brand(office):
    """Each brand has its own tag of a name."""
    add_tag(applications=[office.foreign.pk], name=f"{FOREIGN} tag")
    add_tag(applications=[office.foreign.pk], name="urgent")
    assert "form" in act(office.anna, "tag_selected", office.own.pk).context
    act(
        office.anna,
        "tag_selected",
        office.own.pk,
        office.foreign.pk,
        confirmed=1,
        name="Urgent",
        step="add",
    )
    assert Tag.objects.filter(folded="urgent").count() == 2
    assert shown(office.anna, "tag=urgent") == [office.own.pk]
    assert FOREIGN not in office.anna.get(LIST).content.decode()
    assert FOREIGN not in office.anna.get(f"{page_of(office.own)}change/").content.decode()
    assert remove_tag(applications=[office.own.pk], name="urgent") == 1
    assert Tag.objects.filter(folded="urgent").count() == 1


def test_only_whoever_may_change_applications_assigns_and_tags(office):
    auditor = staff("audit", "Auditor")
    for part, values in {"owner": {"owner": ""}, "tag": {"name": "x", "step": "add"}}.items():
        assert auditor.post(f"{page_of(office.own)}{part}/", values).status_code == 403
        assert office.anna.post(f"{page_of(office.foreign)}{part}/", values).status_code == 404
    assert not Tag.objects.exists()


# --- likely the same person ---


@pytest.mark.parametrize(
    ("phone", "digits"),
    [
        ("+32 (0)470/12.34.56", "470123456"),
        ("0470 12 34 56", "470123456"),
        ("12 34 56 7", ""),
        ("", ""),
        ("12345678", "12345678"),
        ("٠١٢٣٤٥٦٧٨", ""),
    ],
)
def test_telephone_numbers_are_compared_by_their_last_digits(phone, digits):
    assert phone_digits(phone) == digits


def test_page_shows_who_is_likely_the_same_person(office, at):
    other = create_application(
        user=None,
        vacancy=make_vacancy(title="Cook", brand=office.brand),
        at=at,
        given_name="M",
        phone="+32 470 12 34 56",
        email="m@example.org",
        email_folded="m@example.org",
    )
    again = create_application(
        user=None, vacancy=office.own.vacancy, at=at, given_name="Mia", phone="0470/123456"
    )
    same_address = apply(
        office.own.vacancy, stage=office.new, phone="0470123456", phone_digits="470123456"
    )
    foreign = create_application(
        user=None, vacancy=office.foreign.vacancy, at=at, phone="0470123456"
    )
    for each in (other, again):
        make_file(make_submission(each, {"cv": "x"}), sha256="a" * 64)
    Application.objects.filter(pk=again.pk).update(email_folded="mia@example.org")

    page = office.anna.get(f"{page_of(again)}change/")
    assert [(each.application, each.signs) for each in page.context["likely"]] == [
        (other, ["same file", "same telephone number"])
    ]
    assert same_address in page.context["others"]
    assert "same file, same telephone number" in page.content.decode()
    assert foreign.pk not in {each.application.pk for each in page.context["likely"]}


# --- reminders ---


@pytest.fixture
def late(office, at, time_machine):
    """Four days later; `office.new` allows three."""
    Stage.objects.filter(pk=office.new.pk).update(remind_days=3)
    time_machine.move_to(at + 4 * DAY, tick=False)
    return at + 4 * DAY


def test_application_waits_too_long_until_it_moves(office, late):
    own = Application.objects.filter(pk=office.own.pk)
    waiting = Application.objects.waiting_too_long
    assert office.own in waiting(at=late)
    assert office.own not in waiting(at=late - 2 * DAY)
    move(own, Move(stage=office.rejected, author=None, at=late))
    assert office.own not in waiting(at=late + 9 * DAY)
    move(own, Move(stage=office.new, author=None, at=late))
    assert office.own not in waiting(at=late + DAY)
    assert office.own in waiting(at=late + 4 * DAY)
    own.update(withdrawn_at=late)
    assert office.own not in waiting(at=late + 4 * DAY)


def test_start_page_and_list_show_who_waits(office, late):
    anna = staff("ann2", brands=[office.brand])
    [part] = [each for each in anna.get("/admin/").context["to_do"] if "waiting" in each.url]
    assert (part.count, part.url) == ("1", f"{LIST}?waiting=long")
    assert shown(anna, "waiting=long") == [office.own.pk]
    Stage.objects.update(remind_days=0)
    assert "waiting=long" not in anna.get("/admin/").content.decode()


def test_monday_email_has_numbers_of_own_applications_and_of_those_of_nobody(office, late):
    anna, ben = User.objects.get(username="anna"), colleague("ben", "Recruiter", office.brand)
    apply(office.own.vacancy, stage=office.new, owner=ben, created_at=late - 9 * DAY)
    text = queue_stale(anna, at=late).body
    assert "Nurse: 1\n" in text
    assert "Mia" not in text
    assert queue_stale(ben, at=late).subject == "2 applications wait for a decision"
    EmailOptOut.objects.create(user=ben, kind="digest")
    assert queue_stale(ben, at=late).subject == "1 application waits for a decision"
    EmailOptOut.objects.create(user=anna, kind="digest")
    assert queue_stale(anna, at=late) is None


def test_email_is_sent_on_mondays_once(office, at, time_machine):
    Stage.objects.filter(pk=office.new.pk).update(remind_days=3)
    monday = at.replace(hour=8) + 7 * DAY  # NOW is a Monday
    assert StaleEmails().next_due(monday - DAY) is None
    assert StaleEmails().next_due(monday.replace(hour=5)) is None
    job = StaleEmails("https://jobs.test")
    outcomes = []
    while item := job.next_due(monday):
        outcomes.append(job.run(item))
    assert "stale queued" in outcomes
    assert {each.recipient.username for each in Message.objects.filter(kind="stale")} == {"anna"}
    assert StaleEmails().next_due(monday) is None or "anna" not in str(
        StaleEmails().recipients(monday)
    )
