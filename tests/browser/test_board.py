"""Recruiters process applications on the board: by mouse, by keyboard, without JavaScript and
on a phone."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from applications.models import Application, Stage, Status
from applications.operations import Move, move
from jobsite.accounts import roles
from tests.applications.makers import make_application, make_file, make_stage, make_submission
from tests.browser.admin import (
    PASSWORD,
    findings,
    follow,
    log_in,
    serve_static_files,
    visit,
)
from tests.browser.test_vacancies import tab_to
from tests.factories import make_brand, make_vacancy

LIST = "/admin/applications/application/"
BOARD = f"{LIST}board/"
LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 3
PHONE = {"width": 360, "height": 740}


@pytest.fixture
def office(filters: Any, settings: Any) -> SimpleNamespace:
    """A recruiter of a brand, with five applications in the first of four stages."""
    serve_static_files(settings)
    Stage.objects.all().delete()
    Status.objects.all().delete()
    roles.create()
    kinds = {"New": "open", "Interview": "open", "Offer": "open", "Rejected": "rejected"}
    stages = {name: make_stage(name, embargo_days=2 * (name == "Rejected")) for name in kinds}
    for position, (name, kind) in enumerate(kinds.items()):
        Stage.objects.filter(name=name).update(kind=kind, position=position)
    brand = make_brand("Acme")
    anna = User.objects.create_user(
        "anna", "anna@example.org", PASSWORD, is_staff=True, first_name="Anna"
    )
    anna.groups.add(Group.objects.get(name="Recruiter"))
    brand.members.add(anna)
    vacancies = [make_vacancy(title=title, brand=brand) for title in ("Nurse", f"Baker {LONG}")]
    now = timezone.now()
    people = {}
    for number, name in enumerate(
        ("Mia Maes", "Jan Peeters", "Zoë Dubois", f"Tom {LONG}", "Noor El Amrani")
    ):
        given, _, family = name.partition(" ")
        application = make_application(
            vacancy=vacancies[number % 2],
            stage=stages["New"],
            created_at=now - timedelta(hours=number + 1),
            given_name=given,
            family_name=family,
            email=f"{number}@example.org",
            rating=number or None,
            email_folded=f"{number}@example.org",
            is_repeated=number == 1,
            language=("en", "nl")[number % 2],
            withdrawn_at=now if number == 2 else None,
            read_at=now if number > 2 else None,
        )
        make_file(make_submission(application, {"first_name": given}))
        people[given] = application
    Application.objects.update(user=None)
    return SimpleNamespace(stages=stages, **people)


def column(page: Any, name: str) -> Any:
    return page.get_by_role("region", name=name)


def cards(page: Any, name: str) -> list[str]:
    return column(page, name).locator(".board-name").all_inner_texts()


def stage_of(application: Application) -> str:
    return (
        Application.objects.with_stage().values_list("stage_name", flat=True).get(pk=application.pk)
    )


def test_cards_are_moved_by_form_and_by_dragging(
    live_server: Any, browser_page: Any, office: SimpleNamespace
) -> None:
    page = browser_page
    log_in(page, live_server.url)
    visit(page, live_server.url + BOARD)

    card = column(page, "New").locator(".board-card", has_text="Mia Maes")
    card.get_by_label("Move Mia Maes to").click()
    assert findings(page) == []
    card.get_by_role("button", name="Interview").click()
    page.get_by_role("status").get_by_text("Mia Maes: moved to Interview.").wait_for()
    assert cards(page, "Interview") == ["Mia Maes"]
    assert column(page, "Interview").locator("[data-count]").inner_text() == "1"
    assert column(page, "New").locator("[data-count]").inner_text() == "4"
    assert page.evaluate("document.activeElement.textContent") == "Mia Maes"

    page.locator(".board-card", has_text="Jan Peeters").drag_to(column(page, "Offer"))
    page.get_by_role("status").get_by_text("Jan Peeters: moved to Offer.").wait_for()
    page.locator(".board-card", has_text="Mia Maes").drag_to(column(page, "Offer"))
    page.get_by_role("status").get_by_text("Mia Maes: moved to Offer.").wait_for()
    assert cards(page, "Offer") == ["Mia Maes", "Jan Peeters"]
    assert [stage_of(office.Mia), stage_of(office.Jan)] == ["Offer", "Offer"]
    assert findings(page) == []

    # Somebody else moves a card that this page still shows in the first column.
    rows = Application.objects.filter(pk=office.Noor.pk)
    move(rows, Move(stage=office.stages["Offer"], author=None, at=timezone.now()))
    page.locator(".board-card", has_text="Noor").drag_to(column(page, "Interview"))
    page.get_by_role("status").get_by_text("somebody else moved it in the meantime").wait_for()
    assert stage_of(office.Noor) == "Offer"

    # Rejecting asks first, also by dragging, and can be undone.
    with page.expect_navigation():
        page.locator(".board-card", has_text="Zoë").drag_to(column(page, "Rejected"))
    page.get_by_role("heading", name="1 application moves to “Rejected”").wait_for()
    page.get_by_text("Withdrawn", exact=True).wait_for()
    assert findings(page) == []
    assert stage_of(office.Zoë) == "New"
    follow(page, "button", "Move 1 application")
    assert page.url == live_server.url + BOARD
    assert cards(page, "Rejected") == ["Zoë Dubois"]
    follow(page, "button", "Undo")
    page.get_by_text("The stage change of Zoë Dubois was undone.").wait_for()
    assert page.url == live_server.url + BOARD
    assert stage_of(office.Zoë) == "New"


def test_board_by_keyboard(live_server: Any, browser_page: Any, office: SimpleNamespace) -> None:
    page = browser_page
    log_in(page, live_server.url)
    visit(page, live_server.url + LIST)
    page.get_by_role("link", name="Board").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.wait_for_load_state()
    # Only the columns scroll.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab_to(page, "[aria-label='Move Mia Maes to']")
    page.keyboard.press("Enter")
    tab_to(page, "[open] button:nth-of-type(2)")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("Mia Maes: moved to Interview.").wait_for()
    assert stage_of(office.Mia) == "Interview"

    # By arrows: to another card, and with Shift that card to the next stage.
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "Zoë Dubois"
    page.keyboard.press("Shift+ArrowRight")
    page.get_by_role("status").get_by_text("Zoë Dubois: moved to Interview.").wait_for()
    assert cards(page, "Interview") == ["Zoë Dubois", "Mia Maes"]


def test_list_and_board_on_a_phone_without_scripts(
    live_server: Any, browser_page: Any, office: SimpleNamespace
) -> None:
    log_in(browser_page, live_server.url)
    cookies = browser_page.context.cookies()
    context = browser_page.context.browser.new_context(viewport=PHONE, java_script_enabled=False)
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(live_server.url + BOARD)
    card = page.locator(".board-card", has_text="Mia Maes")
    card.locator("summary").click()
    card.get_by_role("button", name="Interview").click()
    page.get_by_text("moved to Interview.").first.wait_for()
    assert stage_of(office.Mia) == "Interview"

    card = page.locator(".board-card", has_text="Jan Peeters")
    card.locator("summary").click()
    card.get_by_role("button", name="Rejected…").click()
    page.get_by_role("button", name="Move 1 application").wait_for()
    page.get_by_role("button", name="Move 1 application").click()
    page.get_by_text("Jan Peeters moved to Rejected.").wait_for()
    page.goto(live_server.url + LIST)
    page.get_by_text("Mia Maes").first.wait_for()
    context.close()
