"""What there is to do, on the start page and in the menu."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import (
    Application,
    DailyApplications,
    HistoryEntry,
    Interview,
    Offer,
    Participant,
    SlotSet,
)
from jobsite.models import JobRun
from jobsite.office.start_page import problems
from tests.applications.admin.conftest import FOREIGN, apply, colleague, staff
from tests.conftest import NOW
from tests.factories import make_vacancy
from vacancies.models import Approval, Brand, Requisition, Vacancy

pytestmark = pytest.mark.django_db

BADGE = '<span class="menu-badge">{} <span class="sr-only">new</span></span>'


def to_do(response):
    return {str(part.title): part for part in response.context["to_do"]}


def test_start_page_shows_applications_to_read_of_own_brands(office):
    with CaptureQueriesContext(connection) as queries:
        response = office.anna.get("/admin/")
    counted = [each for each in queries.captured_queries if "LIMIT 100)" in each["sql"]]
    # to read (the menu shares the number), without a decision; interviews are read
    assert len(counted) == 2

    part = to_do(response)["Applications to read"]
    assert (part.count, [(row.text, row.note) for row in part.rows]) == ("1", [("Nurse", "1")])
    assertContains(response, BADGE.format(1), html=True)
    assertNotContains(response, FOREIGN)
    for url in (part.url, part.rows[0].url):
        assert [row.pk for row in office.anna.get(url).context["cl"].result_list] == [office.own.pk]


@pytest.mark.slow("opens many pages")
def test_filled_vacancy_is_visible_and_proposes_to_unpublish(office, at):
    """On the start page, in the list, and in its head."""
    nurse, url = office.own.vacancy, "/admin/vacancies/vacancy/"
    unpublish = f"{url}{nurse.pk}/unpublish/"
    assert "Filled, and still public" not in to_do(office.anna.get("/admin/"))
    for vacancy in (nurse, office.foreign.vacancy):
        Requisition.objects.create(vacancy=vacancy, filled_at=at)
    part = to_do(office.anna.get("/admin/"))["Filled, and still public"]
    assert [(row.text, row.url) for row in part.rows] == [("Nurse", unpublish)]
    shown = office.anna.get(part.url)
    assert [row.pk for row in shown.context["cl"].result_list] == [nurse.pk]
    assert ">Filled</span>" in shown.content.decode()
    head = office.anna.get(f"{url}{nurse.pk}/change/").content.decode()
    assert (">Filled</strong>" in head, f'<a class="text-link" href="{unpublish}"' in head) == (
        True,
        True,
    )
    Vacancy.objects.filter(pk=nurse.pk).update(status="unpublished")
    assert "Filled, and still public" not in to_do(office.anna.get("/admin/"))


def test_start_page_says_that_nothing_is_to_do(office):
    Application.objects.update(read_at=timezone.now())

    response = office.anna.get("/admin/")

    assertContains(response, "Nothing to do.")
    assertNotContains(response, "menu-badge")
    assertNotContains(response, "unread_count")  # the theme shows the name of the function


def test_large_numbers_are_capped(office):
    row = {
        "vacancy": office.own.vacancy,
        "created_at": timezone.now(),
        "updated_at": timezone.now(),
    }
    Application.objects.bulk_create(Application(**row) for _ in range(99))

    response = office.anna.get("/admin/")

    assertContains(response, BADGE.format("99+"), html=True)
    part = to_do(response)["Applications to read"]
    assert (part.count, [row.note for row in part.rows]) == ("99+", ["100"])


def test_start_page_shows_interviews_of_today(office):
    for application, hours in (
        (office.own, 2),
        (office.own, 26),
        (office.own, -48),
        (office.foreign, 2),
    ):
        planned_at = timezone.now() + timedelta(hours=hours)
        HistoryEntry.objects.create(application=application, name="Talk", planned_at=planned_at)

    part = to_do(office.anna.get("/admin/"))["Interviews and tasks today"]

    assert (part.count, [(row.text, row.note) for row in part.rows]) == (
        "1",
        [("Talk: Mia", "11:30")],
    )
    assert len(office.anna.get(part.url).context["cl"].result_list) == 1


def test_start_page_names_declined_interviews_missing_scorecards_and_open_choices(office):
    now, hour = timezone.now(), timedelta(hours=1)

    def interview(application, starts_at, reply):
        entry = Interview.objects.create(
            application=application,
            uid=f"{application.pk} {reply}",
            name="Talk",
            planned_at=starts_at,
            ends_at=starts_at + hour,
        )
        people = ({"user": None, "reply": reply}, {"user": bo})
        Participant.objects.bulk_create(Participant(entry=entry, **each) for each in people)

    bo = colleague("bo", "Recruiter", office.brand, first_name="Bo")
    for application in (office.own, office.foreign):
        interview(application, now + hour, "declined")
        interview(application, now - 3 * hour, "accepted")
        offered = SlotSet.objects.create(
            vacancy=application.vacancy,
            name="Talk",
            minutes=60,
            zone="UTC",
            closes_at=now + timedelta(days=2),
        )
        Offer.objects.create(set=offered, application=application)

    response = office.anna.get("/admin/")

    parts = {
        title: [(row.text, row.note) for row in part.rows]
        for title, part in to_do(response).items()
    }
    assert parts["Interviews that were declined"] == [("Mia: Talk", "Applicant")]
    assert parts["Scorecards that are missing"] == [("Mia: Talk", "Bo")]
    assert parts["Have not chosen a time"] == [("Mia", "until 4 Mar 2026")]
    assert len(parts["Interviews and tasks today"]) == 1  # what is over left
    assertNotContains(response, FOREIGN)

    week = office.anna.get("/admin/applications/historyentry/?when=week")
    assertContains(week, "Applicant: declined<br>Bo: no answer yet")


def test_start_page_shows_what_waits_for_a_decision(office):
    now, week = timezone.now(), timedelta(days=7, hours=1)

    def moved(name, *stages, **columns):
        application = apply(
            office.own.vacancy, name, f"{name}@example.org", created_at=now - week, **columns
        )
        application.changes.all().delete()
        for stage, ago in stages:
            application.changes.create(stage=stage, at=now - ago)
        return application.pk

    waiting = {
        moved("old", (office.new, week)),
        moved("none"),
        moved("again", (office.rejected, 2 * week), (office.new, week)),
    }
    moved("rejected", (office.new, 2 * week), (office.rejected, week))
    moved("recent", (office.new, timedelta(days=6)))
    moved("withdrawn", (office.new, week), withdrawn_at=now)

    part = to_do(office.anna.get("/admin/"))["Without a decision for a week"]

    assert part.count == "3"
    assert {row.pk for row in office.anna.get(part.url).context["cl"].result_list} == waiting


def test_start_page_leads_with_the_work_of_an_approver(office):
    Brand.objects.filter(pk=office.brand.pk).update(requires_approval=True)
    vacancy = make_vacancy(title="Surgeon", brand=office.brand, status="draft")
    Approval.objects.create(vacancy=vacancy, brand=office.brand, submitted_at=NOW)

    parts = staff("ann", "Approver", brands=[office.brand]).get("/admin/").context["to_do"]

    assert [(str(part.title), part.count) for part in parts][:2] == [
        ("Waiting for your approval", "1"),
        ("Applications to read", "1"),
    ]
    assert parts[0].rows[0].text == "Surgeon"
    assert "Waiting for your approval" not in to_do(office.anna.get("/admin/"))


def test_user_who_may_not_view_applications_is_shown_none(office):
    response = staff("filters", "Filter manager", brands=[office.brand]).get("/admin/")

    assertNotContains(response, "Applications to read")
    assertNotContains(response, "Mia")
    assertNotContains(response, "menu-badge")


def test_user_who_may_not_view_vacancies_sees_applications_to_read(office):
    group = User.objects.get(username="anna").groups.get()
    group.permissions.remove(*group.permissions.filter(codename="view_vacancy"))

    response = office.anna.get("/admin/")

    assertContains(response, "Applications to read")
    assertNotContains(response, "Recent changes")


def test_last_months_applications_by_vacancy_and_source_are_one_click_away(office):
    DailyApplications.objects.create(day=NOW.date(), brand=office.brand, source="", received=1)

    url = office.anna.get("/admin/").context["last_month_url"]

    assert url == (
        "/admin/vacancies/vacancy/reports/?since=2026-02-01&until=2026-02-28#report-vacancies-sources"
    )


def test_start_page_tells_administrators_that_deliver_does_not_run_or_fails(office):
    administrator = colleague("admin", "Administrator")

    def told():
        assert problems(User.objects.get(username="anna")) == []
        return problems(administrator)

    [never] = told()
    assert never == "Emails are not being sent: “manage.py deliver” has not run yet."
    client = Client()
    client.force_login(administrator)
    assertContains(client.get("/admin/"), never)
    JobRun.objects.create(
        name="JobAlerts", completed_at=NOW - timedelta(minutes=11), error="ValueError"
    )
    fine = JobRun.objects.create(name="MailDelivery", completed_at=NOW - timedelta(minutes=9))
    assert told() == [
        "A part of “manage.py deliver” fails: JobAlerts, since 2 Mar 2026, 09:19 (ValueError)."
    ]
    JobRun.objects.filter(pk=fine.pk).update(completed_at=NOW - timedelta(minutes=11))
    assert told() == [
        "Emails are not being sent: “manage.py deliver” last ran on 2 Mar 2026, 09:19."
    ]
    JobRun.objects.update(completed_at=NOW)
    assert told() == []
