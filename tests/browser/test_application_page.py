"""A recruiter reads an application, notes, rates, writes an email,
decides and undoes the decision.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.utils import timezone

from applications.models import Application, HistoryEntry, MailTemplate, Message, Stage, Status
from jobsite.accounts import roles
from tests.applications.makers import make_application, make_file, make_stage, make_submission
from tests.browser.admin import (
    PASSWORD,
    cut_off,
    findings,
    follow,
    log_in,
    serve_static_files,
    sign_in,
    tab,
    visit,
)
from tests.factories import make_brand, make_vacancy

LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 4
MOTIVATION = f"I like to build.\n\n{'It is a long story. ' * 40}\n{LONG}"
SECTIONS = [
    {
        "title": "About you",
        "description": "",
        "fields": [
            {"name": name, "type": kind, "label": label, "required": False, "css": "col-12"}
            for name, kind, label in (
                ("first_name", "text", "First name"),
                ("phone", "tel", "Telephone number"),
                ("motivation", "textarea", "Why do you want to work here, and what do you bring?"),
                ("cv", "file", "Your CV"),
                ("website", "text", "Website"),
            )
        ],
    }
]


@pytest.fixture
def office(filters: Any, settings: Any) -> Application:
    """A recruiter and a colleague of a brand, with three applications:
    the middle one is complete.
    """
    serve_static_files(settings)
    Stage.objects.all().delete()
    Status.objects.all().delete()
    new = make_stage("New", en="Received", nl="Ontvangen")
    rejected = make_stage("Rejected", en="Not selected", embargo_days=2)
    Stage.objects.filter(pk=rejected.pk).update(kind=Stage.Kind.REJECTED, position=200)
    roles.create()
    brand = make_brand("Acme")
    for name, first in (("anna", "Anna"), ("piet", "Piet")):
        user = User.objects.create_user(
            name,
            f"{name}@example.org",
            PASSWORD,
            is_staff=True,
            first_name=first,
            last_name="Peeters",
        )
        user.groups.add(Group.objects.get(name="Recruiter"))
        brand.members.add(user)
    now = timezone.now()
    nurse = make_vacancy(title="Nurse", brand=brand)
    person = {"email": "mia@example.org", "email_folded": "mia@example.org", "given_name": "Mia"}
    person |= {"family_name": "Maes", "phone": "+32 470 12 34 56", "language": "nl"}
    for hours, vacancy, extra in (
        (30, make_vacancy(title=f"Baker {LONG}", brand=brand), person),
        (2, nurse, person | {"is_repeated": True, "reference": "7K3QX9WD"}),
        (
            1,
            nurse,
            {"email": "tom@example.org", "email_folded": "tom@example.org", "given_name": "Tom"},
        ),
    ):
        at = now - timedelta(hours=hours)
        application = make_application(vacancy=vacancy, stage=new, created_at=at, **extra)
        Application.objects.filter(pk=application.pk).update(user=None)
    mia = Application.objects.get(reference="7K3QX9WD")
    values = {
        "first_name": "Mia",
        "phone": "+32 470 12 34 56",
        "motivation": MOTIVATION,
        "cv": "cv.pdf",
    }
    make_file(make_submission(mia, values, SECTIONS), f"cv {LONG}.pdf")
    Message.objects.create(
        kind="receipt",
        application=mia,
        to=mia.email,
        language="nl",
        subject="Received",
        body="secret link",
        state="failed",
        error="The server refused the address.",
    )
    MailTemplate.objects.create(
        name="Invitation", subject_nl="Gesprek", body_nl="Dag {given_name},\n\nKom langs."
    )
    return mia


def address(site: str, application: Application) -> str:
    return f"{site}/admin/applications/application/{application.pk}/change/"


def test_recruiter_processes_an_application(
    live_server: Any, browser_page: Any, office: Application
) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{site}/admin/")
    assert page.get_by_role("link", name="Applications 3 new").count() == 1
    visit(page, address(site, office))
    page.get_by_role("tab", name="Answers").wait_for()
    office.refresh_from_db()
    assert office.read_at is not None

    tab(page, "Notes")
    page.get_by_label("New note").fill("Good. @piet please call.")
    page.get_by_role("button", name="Add note").click()
    page.get_by_text("Mentioned: Piet Peeters").wait_for()

    page.get_by_role("button", name="Rate 4 of 5").click()
    page.locator("[data-unsaved-of]").get_by_text("Mia Maes: rated 4/5.").wait_for()

    page.get_by_role("link", name="Email", exact=True).click()
    page.get_by_label("Template").select_option(label="Invitation")
    preview = page.locator("#preview")
    preview.get_by_text("Dag Mia,").wait_for()
    assert findings(page) == []
    page.get_by_label("Text").press_sequentially(" {brand}")
    preview.get_by_text("Acme").wait_for()
    assert Message.objects.filter(kind="template").count() == 0
    page.get_by_role("button", name="Send").click()
    page.get_by_text("The email is queued.").wait_for()
    assert Message.objects.get(kind="template").author.username == "anna"

    page.get_by_role("button", name="Reject…").click()
    page.get_by_role("heading", name="1 application moves to “Rejected”").wait_for()
    assert findings(page) == []
    assert office.changes.count() == 1
    follow(page, "button", "Move 1 application")
    assert office.changes.count() == 2
    page.get_by_role("button", name="Undo: Rejected").click()
    page.get_by_text("The stage change was undone.").wait_for()
    assert findings(page) == []
    for name in ("Answers", "Notes", "Emails", "Interviews", "Scorecards", "History"):
        tab(page, name)
        assert findings(page) == []


def test_every_field_lies_inside_its_card(
    live_server: Any, browser_page: Any, office: Application
) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, address(site, office))
    found = {}
    for width in (375, 1024, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        for name in ("Notes", "Interviews"):
            tab(page, name)
            found[width, name] = cut_off(page)
    visit(page, address(site, office).replace("change/", "task/"))
    assert found | {"task": cut_off(page)} == {key: [] for key in [*found, "task"]}


def test_pages_fit_a_phone(live_server: Any, browser_page: Any, office: Application) -> None:
    page, site = browser_page, live_server.url
    HistoryEntry.objects.create(application=office, name="Talk", planned_at=timezone.now())
    log_in(page, site)
    page.set_viewport_size({"width": 320, "height": 700})
    url = address(site, office)
    visit(page, url.replace("change/", "interview/"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    visit(page, url.replace("change/", "email/"))
    page.get_by_label("Subject").fill(LONG)
    page.get_by_label("Text").fill("x" * 300)
    page.locator("#preview").get_by_text("x" * 300).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    visit(page, url)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_recruiter_works_by_keyboard(
    live_server: Any, browser_page: Any, office: Application
) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, f"{address(site, office)}?_changelist_filters=")
    page.get_by_role("tab", name="Answers").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_label("New note").focus()
    page.keyboard.type("Typed @piet 3")  # no shortcuts
    page.keyboard.press("Tab")  # colleagues
    page.keyboard.press("Enter")
    page.get_by_text("@piet (Piet Peeters)").wait_for()
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("link", name="Back to the list").focus()
    with page.expect_event("dialog") as asked:
        page.keyboard.press("Enter")  # the note is not saved yet
    assert asked.value.type == "beforeunload"
    page.locator(".application-more summary").press("Enter")
    page.get_by_role("button", name="Mark as unread").focus()
    page.once("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation():
        page.keyboard.press("Enter")
    office.refresh_from_db()
    assert (office.rating, office.read_at) == (None, None)


def test_text_of_a_note_and_an_email_survives_the_end_of_the_session(
    live_server: Any, browser_page: Any, office: Application
) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    visit(page, address(site, office))
    tab(page, "Notes")
    page.get_by_label("New note").fill("First note")
    page.get_by_role("button", name="Add note").click()
    page.locator("#notes").get_by_text("The note was added.").wait_for()
    assert page.locator("#notes article").count() == 1

    for kind in ("note", "email"):
        if kind == "email":
            visit(page, address(site, office).replace("change/", "email/"))
            page.get_by_label("Subject").fill("Talk")
        text = page.get_by_label("New note" if kind == "note" else "Text", exact=True)
        text.fill("A long text")
        Session.objects.all().delete()
        page.get_by_role("button", name="Add note" if kind == "note" else "Send").click()
        page.get_by_text("You are signed out. Your text is kept in this browser.").wait_for()
        assert text.input_value() == "A long text"
        with page.expect_popup() as opened:
            page.get_by_role("link", name="Sign in in a new tab").click()
        sign_in(opened.value)
        opened.value.close()
        other = page.context.new_page()  # as after the window was closed
        visit(other, page.url)
        other.get_by_text("Text that was not sent was restored.").wait_for()
        assert findings(other) == []
        other.close()
        page.get_by_role("button", name="Add note" if kind == "note" else "Send").click()
        if kind == "note":
            page.locator("#notes").get_by_text("A long text").wait_for()
            # The token of this form is older than the new session.
            page.get_by_role("button", name="Rate 4 of 5").click()
            page.locator("[data-unsaved-of]").get_by_text("rated 4/5.").wait_for()
    page.get_by_text("The email is queued.").wait_for()
    assert set(office.notes.values_list("text", flat=True)) == {"First note", "A long text"}
    assert Message.objects.filter(kind="template", body="A long text").count() == 1
    assert (
        page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('unsaved:'))")
        == []
    )
