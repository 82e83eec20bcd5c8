"""Recruiters read answers and files in the page of an application; files that attack it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from applications.models import Access, AccessLog, Application
from applications.submissions.files import delete_files
from tests.applications.makers import make_application, make_file, make_stage, make_submission
from tests.applications.pdf import ENCRYPTED, hostile, pdf
from tests.applications.submissions.test_extract import docx
from tests.browser.accessibility import both_findings
from tests.browser.admin import PASSWORD, log_in, serve_static_files, visit
from tests.factories import make_brand, make_vacancy
from tests.vacancies.sample_files import encoded

VIEWER = "/admin/applications/application/viewer/"
IS_DRAWN = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, index) => index % 4 < 3 && value < 100);
}"""
WIDER_THAN = """(width) => new Promise((resolve) => {
  const look = () => {
    if (document.querySelector("section").offsetWidth > width) resolve();
    else requestAnimationFrame(look);
  };
  look();
})"""
LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 3


def fields(*names: str) -> list[dict[str, Any]]:
    common = {"required": False, "css": "col-12"}
    files = [{"name": name, "type": "file", "label": f"Your {name}"} | common for name in names]
    text = {"name": "motivation", "type": "textarea", "label": "Why you?"} | common
    return [{"title": "About you", "description": "", "fields": [text, *files]}]


@pytest.fixture
def apply(settings: Any) -> Callable[..., Application]:
    """Adds applications, each older than the one before, with files by the name of their field."""
    serve_static_files(settings)
    User.objects.create_superuser("anna", password=PASSWORD)
    vacancy, stage = make_vacancy(title="Nurse", brand=make_brand("Acme")), make_stage("To read")
    made: list[Application] = []

    def add(**files: tuple[str, bytes]) -> Application:
        at = timezone.now() - timedelta(hours=len(made) + 1)
        application = make_application(
            vacancy=vacancy, stage=stage, created_at=at, given_name=f"No {len(made)}"
        )
        submission = make_submission(application, {"motivation": "I like it."}, fields(*files))
        for field, (name, content) in files.items():
            kind = name.rpartition(".")[2]
            make_file(submission, name, content, kind=kind, field=field)
        made.append(application)
        return application

    return add


def open_page(page: Any, site: str, application: Application) -> None:
    visit(page, f"{site}/admin/applications/application/{application.pk}/change/")


def tabs(page: Any) -> Any:
    return page.get_by_role("tablist", name="Files").get_by_role("tab")


def tab(page: Any, name: str) -> None:
    tabs(page).get_by_text(name).click()


def frame_of(page: Any) -> Any:
    return page.frame_locator("iframe:visible")


def test_recruiter_reads_files_with_one_click_and_keys(
    live_server: Any, browser_page: Any, apply: Callable[..., Application]
) -> None:
    page, site = browser_page, live_server.url
    document = docx("<w:p><w:r><w:t>&lt;b&gt;Dear Sir</w:t></w:r></w:p>")
    first = apply(
        cv=("cv.pdf", pdf("First page", "Second page")), letter=(f"{LONG}.docx", document)
    )
    second = apply(letter=("letter.txt", b"Hello"), cv=("other.pdf", pdf("Of the second")))
    third = apply(photo=("me.png", encoded("PNG")), cv=("cv.rtf", b"{\\rtf1 x}"))
    log_in(page, site)
    open_page(page, site, first)
    frame_of(page).get_by_text("First page").wait_for()
    assert page.get_by_text("I like it.").is_visible()  # beside it
    assert frame_of(page).locator("canvas").first.evaluate(IS_DRAWN)
    assert both_findings(page) == []
    tab(page, "Your letter")
    page.get_by_text("<b>Dear Sir").wait_for()
    assert both_findings(page) == []
    page.keyboard.press("ArrowLeft")  # back to the tab before
    frame_of(page).get_by_text("First page").click()
    frame = next(each for each in page.frames if each.url.endswith(VIEWER))
    width = "document.querySelector('section').offsetWidth"
    before = frame.evaluate(width)
    page.get_by_role("button", name="Larger").locator("visible=true").click()
    frame.evaluate(WIDER_THAN, before * 1.2)

    # The choice is remembered.
    open_page(page, site, second)
    frame_of(page).get_by_text("Of the second").wait_for()
    open_page(page, site, third)
    page.get_by_text("Files of this type are not shown here.").wait_for()
    tab(page, "Your photo")
    page.get_by_role("img", name="me.png").wait_for()
    open_page(page, site, apply())
    assert page.get_by_text("I like it.").is_visible()
    assert tabs(page).count() == 0
    opened = AccessLog.objects.filter(action=Access.FILE).order_by("pk")
    read = opened.values_list("application", flat=True)
    assert list(read) == [first.pk] * 2 + [second.pk, third.pk]


def test_page_says_why_a_file_is_not_shown(
    live_server: Any, browser_page: Any, apply: Callable[..., Application]
) -> None:
    page, site = browser_page, live_server.url
    application = apply(
        encrypted=("a.pdf", pdf("Secret", trailer=ENCRYPTED)),
        damaged=("b.pdf", b"%PDF-1.7\nnothing"),
        empty=("c.pdf", b""),
        no_page=("d.pdf", pdf()),
        broken=("e.docx", b"PK"),
        blank=("f.docx", docx("")),
        cut=("g.png", encoded("PNG")[:40]),
        gone=("g.pdf", pdf("Gone")),
        long=("h.pdf", pdf(*map(str, range(60)))),
        last=("i.pdf", pdf("Last")),
    )
    log_in(page, site)
    open_page(page, site, application)
    delete_files([application.submission.files.get(field="gone").path])
    for name, text in (
        ("encrypted", "This PDF is protected by a password."),
        ("damaged", "This PDF is damaged."),
        ("empty", "This PDF is damaged."),
        ("no_page", "This PDF is damaged."),
        ("broken", "This document is damaged or encrypted."),
        ("blank", "This document has no text."),
        ("cut", "This image is damaged."),
        ("gone", "This file no longer exists."),
        ("long", "The first 50 of 60 pages are shown."),
    ):
        tab(page, f"Your {name}")
        page.get_by_text(text).locator("visible=true").wait_for()
        assert page.locator("iframe:visible").count() == (name == "long"), name
        assert page.get_by_role("link", name="Download").locator("visible=true").count() == 1
    assert frame_of(page).locator("section").count() == 50
    Session.objects.all().delete()
    tab(page, "Your last")
    page.get_by_text("You are signed out. Load this page again.").wait_for()


REACHED = """async () => {
  const tried = {
    parent: () => parent.document.title,
    cookie: () => document.cookie,
    storage: () => localStorage.length,
    site: () => fetch("/admin/"),
    other: () => fetch("http://evil.example/"),
    code: () => new Promise((resolve, reject) => {
      setTimeout(() => { // code of the test itself may do so
        try {
          resolve(eval("1"));
        } catch (error) {
          reject(error);
        }
      });
    }),
    image: () => new Promise((onload, onerror) => {
      Object.assign(new Image(), { onload, onerror, src: "/favicon.ico" });
    }),
  };
  const reached = [];
  for (const [name, act] of Object.entries(tried)) {
    try {
      await act();
      reached.push(name);
    } catch {}
  }
  return reached;
}"""


@pytest.fixture
def watched(chromium: Any) -> Iterator[tuple[Any, list[Any]]]:
    """A page, and the requests of its window. Its policies may stop what the test tries."""
    context = chromium.new_context()
    page, requests = context.new_page(), []
    context.on("request", lambda request: requests.append(request))
    yield page, requests
    context.close()


def test_hostile_pdf_reaches_static_files_only(
    live_server: Any, watched: tuple[Any, list[Any]], apply: Callable[..., Application]
) -> None:
    (page, requests), site = watched, live_server.url
    application = apply(cv=("cv\u202efdp.exe.pdf", hostile()))
    log_in(page, site)
    opened: list[Any] = []
    page.on("dialog", lambda dialog: opened.append(dialog))
    page.on("popup", lambda popup: opened.append(popup))
    open_page(page, site, application)
    # Read in its real order.
    assert page.get_by_text("cvfdp.exe.pdf").locator("visible=true").count() == 2
    frame_of(page).get_by_text("Hostile").click()  # its links cover the page
    frame = next(each for each in page.frames if each.url.endswith(VIEWER))
    assert frame.evaluate(REACHED) == []
    assert frame.locator("a, form, input, iframe, script:not([src])").count() == 0
    assert page.url.endswith(f"/{application.pk}/change/")
    assert opened == []
    own = [each for each in requests if each.frame == frame and not each.failure]
    assert own
    for request in own:
        is_page = (
            request.is_navigation_request()
            and request.url == f"{site}/admin/applications/application/viewer/"
        )
        assert is_page or request.url.startswith((f"{site}/static/applications/", "blob:null/")), (
            request.url
        )
        assert is_page or "cookie" not in request.all_headers(), request.url


def test_page_trusts_no_message_of_other_windows_and_few_of_the_frame(
    live_server: Any, watched: tuple[Any, list[Any]], apply: Callable[..., Application]
) -> None:
    (page, _requests), site = watched, live_server.url
    application = apply(cv=("cv.pdf", pdf("Mine")))
    apply()
    log_in(page, site)
    open_page(page, site, application)
    frame_of(page).get_by_text("Mine").wait_for()
    page.evaluate("postMessage({key: 'j'}, '*')")
    frame = next(each for each in page.frames if each.url.endswith(VIEWER))
    for message in (
        "null",
        "'j'",
        "{key: 'Enter'}",
        "{state: 'loading'}",
        "{state: 'shown', pages: '<b>x', limit: 1}",
    ):
        frame.evaluate(f"parent.postMessage({message}, '*')")
    assert page.evaluate("1") == 1
    assert page.url.endswith(f"/{application.pk}/change/")
    assert page.locator("#answers b", has_text="x").count() == 0
