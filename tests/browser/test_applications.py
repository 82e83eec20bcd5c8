"""A recruiter changes the stage of an application and schedules an interview; the applicant reads it."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from applications.models import Stage, Status
from applications.operations import create_application
from applications.tokens import issue
from tests.browser.admin import findings, serve_static_files
from tests.factories import make_brand, make_vacancy


@pytest.fixture
def office(filters: Any, settings: Any) -> str:
    """A recruiter of one brand, and an applicant to two brands. Returns the token of the applicant."""
    serve_static_files(settings)
    Stage.objects.all().delete()
    for position, (name, english, dutch) in enumerate(
        (("Inbox 7", "Received", "Ontvangen"), ("Round 2b", "In interviews", "In gesprek"))
    ):
        status = Status.objects.create(label_en=english, label_nl=dutch)
        Stage.objects.create(name=name, status=status, position=position)
    anna = User.objects.create_user("anna", password="secret-1234", is_staff=True)
    seeing = ("view_application", "change_application", "view_historyentry")
    anna.user_permissions.set(Permission.objects.filter(codename__in=seeing))
    brand = make_brand("Acme")
    anna.brands.add(brand)
    mia = User.objects.create_user("mia", password="secret-1234", first_name="Mia", last_name="Maes")
    now = timezone.now()
    create_application(user=mia, vacancy=make_vacancy(title="Nurse", brand=brand), at=now)
    create_application(user=mia, vacancy=make_vacancy(title="Baker", brand=make_brand("Other")), at=now)
    return issue(user=mia, lifetime=timedelta(days=1))[1]


def test_recruiter_moves_an_application_to_another_stage(
    live_server: Any, browser_page: Any, office: str
) -> None:
    page, site = browser_page, live_server.url
    page.goto(f"{site}/admin/")
    page.fill("#id_username", "anna")
    page.fill("#id_password", "secret-1234")
    page.press("#id_password", "Enter")
    page.get_by_role("link", name="Applications 1 new").click()

    page.get_by_role("link", name="Nurse").wait_for()
    assert page.get_by_text("Baker").count() == 0  # of a brand that is not hers
    page.locator("#result_list input[name=_selected_action]").first.check()
    page.select_option("select[name=action]", label="Move to: Round 2b")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Move 1 application").click()
    page.get_by_text("1 moved to Round 2b.").wait_for()

    page.get_by_role("link", name="Mia Maes").click()
    page.get_by_text("Dutch: In gesprek").wait_for()
    page.wait_for_load_state()  # before that the link has no script yet
    page.get_by_role("link", name="Add interview or task").click()
    page.fill("#id_history-0-name", "First talk")
    page.fill("#id_history-0-planned_at_0", "2031-05-02")
    page.fill("#id_history-0-planned_at_1", "10:00:00")
    page.locator("#id_history-0-is_visible").check(force=True)
    assert findings(page) == []
    page.click("[name=_continue]")
    page.get_by_text("2 May 2031, 10:00: First talk (no result yet)").wait_for()

    page.goto(f"{site}/admin/applications/historyentry/")
    page.get_by_text("Fri 2 May 2031").wait_for()

    headers = {"Authorization": f"Bearer {office}", "Accept-Language": "nl"}
    mine = page.context.browser.new_context().request.get(f"{site}/v1/user/applications", headers=headers)
    statuses = {
        item["title"]: (item["status"], [s["name"] for s in item["history"]]) for item in mine.json()["data"]
    }
    assert statuses == {"Nurse": ("In gesprek", ["First talk"]), "Baker": ("Ontvangen", [])}
    assert "Round 2b" not in mine.text()
