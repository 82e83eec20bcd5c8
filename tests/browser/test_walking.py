"""Recruiters go from one application to the next:
by keys, and when the network or the session ends.
"""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from applications.models import AccessLog, Application, Stage
from tests.applications.makers import make_application, make_file, make_stage, make_submission
from tests.applications.pdf import pdf
from tests.browser.accessibility import both_findings
from tests.browser.admin import PASSWORD, follow, log_in, serve_static_files, sign_in, visit
from tests.factories import make_brand, make_vacancy

LIST = "/admin/applications/application/"
NAMES = ("Mia", "Jan", "Zoë")
UNSAVED = "Object.keys(localStorage).filter((name) => name.startsWith('unsaved:'))"


@pytest.fixture
def office(settings: Any) -> SimpleNamespace:
    """Three new applications, the newest first, the first two with a CV."""
    serve_static_files(settings)
    Stage.objects.all().delete()
    User.objects.create_superuser("anna", password=PASSWORD)
    stages = {name: make_stage(name, embargo_days=2) for name in ("New", "Interview", "Rejected")}
    Stage.objects.filter(name="Rejected").update(kind="rejected", position=9)
    vacancy, now = make_vacancy(title="Nurse", brand=make_brand("Acme")), timezone.now()
    pks = []
    for number, name in enumerate(NAMES):
        application = make_application(
            vacancy=vacancy,
            stage=stages["New"],
            given_name=name,
            created_at=now - timedelta(hours=number + 1),
        )
        submission = make_submission(application, {"where": "Here.", "cv": "cv.pdf"})
        if number < 2:
            make_file(submission, "cv.pdf", pdf(f"CV of {name}"))
        pks.append(application.pk)
    return SimpleNamespace(pks=pks, vacancy=vacancy)


def ratings(office: SimpleNamespace) -> list[int | None]:
    return [Application.objects.get(pk=pk).rating for pk in office.pks]


def said(page: Any, text: str) -> None:
    page.locator("[data-unsaved-of]").get_by_text(text).wait_for()


def is_shown(page: Any, text: str) -> None:
    """Wait until the live region says `text`, and the focus is on the name of the applicant."""
    page.locator("p[data-place]", has_text=text).wait_for(state="attached")
    assert page.evaluate("document.activeElement.textContent") == text.partition(": ")[2]


def test_list_is_walked_by_keys(
    live_server: Any, browser_page: Any, office: SimpleNamespace
) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{site}/admin/vacancies/vacancy/{office.vacancy.pk}/change/")
    follow(page, "link", "Read applications")
    page.frame_locator("iframe").get_by_text("CV of Mia").wait_for()
    assert page.get_by_text("Here.").is_visible()  # beside it
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert both_findings(page) == []
    page.get_by_role("button", name="Close").click()  # the line with the keys, which is shown once
    loads = []
    page.on("domcontentloaded", lambda _page: loads.append(page.url))
    for number, (name, after) in enumerate(zip(NAMES, (*NAMES[1:], None), strict=True)):
        page.keyboard.press(str(number + 3))
        said(page, f"{name}: rated {number + 3}/5.")
        if after:
            page.keyboard.press("j")
            is_shown(page, f"{number + 2} of 3: {after}")
    assert page.get_by_role("button", name="Rate 5 of 5").get_attribute("aria-pressed") == "true"
    page.keyboard.press("k")
    is_shown(page, "2 of 3: Jan")
    assert page.title().startswith("Jan")
    page.frame_locator("iframe").get_by_text("CV of Jan").click()
    page.keyboard.press("1")  # in the frame
    said(page, "Jan: rated 1/5.")
    assert ratings(office) == [3, 1, 5]
    assert Application.objects.filter(read_at=None).count() == 0
    viewed = AccessLog.objects.filter(action="view").values_list("application", flat=True)
    assert set(viewed) == set(office.pks)

    # The next stage, and undo. The file that is read stays.
    page.locator("#state summary").click()
    assert both_findings(page) == []
    page.keyboard.press("n")
    said(page, "Jan: moved to Interview.")
    page.get_by_role("button", name="Undo: Interview").wait_for()
    assert page.frame_locator("iframe").get_by_text("CV of Jan").is_visible()
    assert loads == []
    follow(page, "button", "Undo: Interview")
    page.get_by_text("The stage change was undone.").wait_for()
    page.locator("#state summary", has_text="Stage: New").wait_for()
    # Rejecting asks beside the file, and leads to the next one.
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog", name="1 application moves to “Rejected”")
    dialog.get_by_role("link", name="Cancel").click()
    page.frame_locator("iframe").get_by_text("CV of Jan").wait_for()
    page.keyboard.press("r")
    dialog.wait_for()
    assert both_findings(page) == []
    with page.expect_navigation():
        dialog.get_by_role("button", name="Move 1 application").click()
    page.get_by_text("3 of 3").first.wait_for()
    page.get_by_text("Jan moved to Rejected.").wait_for()
    assert page.get_by_role("button", name="Undo", exact=True).is_visible()
    with page.expect_navigation():
        page.keyboard.press("j")
    page.get_by_text("3 applications: 3 rated, 1 rejected.").wait_for()
    assert both_findings(page) == []
    page.go_back()

    # The keys are listed, and can be switched off.
    assert page.locator("[data-keys]").is_hidden()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard shortcuts").get_by_text("next application").wait_for()
    assert both_findings(page) == []
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    page.keyboard.press("k")
    page.wait_for_timeout(200)
    assert ratings(office) == [3, 1, 5]
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert both_findings(page) == []
        bar = page.locator(".application-bar").bounding_box()
        assert round(bar["y"] + bar["height"]) == 700  # at the bottom


def test_what_is_not_saved_is_kept_and_sent_again(
    live_server: Any, browser_page: Any, office: SimpleNamespace
) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{site}{LIST}{office.pks[0]}/change/?_changelist_filters=")
    page.context.set_offline(True)
    page.keyboard.press("4")
    said(page, "Not saved yet: 1. It is kept in this browser and sent again.")
    assert page.get_by_role("button", name="Rate 4 of 5").get_attribute("aria-pressed") == "true"
    assert ratings(office) == [None, None, None]
    page.context.set_offline(False)
    said(page, "Mia: rated 4/5.")
    assert ratings(office) == [4, None, None]

    Session.objects.all().delete()
    page.keyboard.press("2")
    said(page, "You are signed out. Not saved yet: 1.")
    place = page.url
    with page.expect_navigation():
        page.get_by_role("link", name="Sign in", exact=True).click()
    sign_in(page)
    assert page.url == place
    said(page, "Mia: rated 2/5.")
    assert ratings(office) == [2, None, None]
    assert page.evaluate(UNSAVED) == []


def test_list_is_walked_without_scripts(
    live_server: Any, browser_page: Any, office: SimpleNamespace
) -> None:
    log_in(browser_page, live_server.url)
    context = browser_page.context.browser.new_context(java_script_enabled=False)
    context.add_cookies(browser_page.context.cookies())
    page = context.new_page()
    page.goto(f"{live_server.url}{LIST}")
    page.get_by_role("link", name="Mia").click()
    page.get_by_role("button", name="Rate 4 of 5").click()
    page.get_by_role("heading", name="Stage history").wait_for()  # the tabs follow each other
    page.get_by_role("link", name="Next").click()
    page.get_by_role("heading", name="Jan", exact=True).wait_for()
    page.get_by_role("button", name="Next: Interview").click()
    page.get_by_text("Jan moved to Interview.").wait_for()
    assert page.get_by_text("2 of 3").is_visible()
    assert ratings(office) == [4, None, None]
    context.close()
