"""The page /apply/<id> in a browser: names, states, a slow connection, a proof of work.

test_journey.py applies by keyboard and without JavaScript. tests/applications/test_apply_page.py:
the view.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from applications.models import Application
from forms_structure import operations as forms
from forms_structure.presets import presets
from tests.browser.accessibility import all_findings
from tests.browser.form_renderer import assert_accessible
from tests.factories import make_vacancy
from tests.forms_structure.strategies import section, text_field
from vacancies.models import Vacancy

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n"
YES_NO = [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}]


@pytest.fixture(autouse=True)
def _settings(settings: Any) -> None:
    settings.APPLY_PAGES, settings.APPLY_PROOF = True, "off"


def make_open(language: str = "en", **values: Any) -> Vacancy:
    """A published vacancy with the form of the presets, and a condition."""
    parts = [each["section"] for each in presets(language)]
    when = text_field(
        "when", type="date", on_value="no", required=True, label="When do you expect one?"
    )
    permit = text_field(
        "permit", type="radio-group", label="Do you have a work permit?", options=YES_NO
    )
    structure = [parts[0], section(permit | {"conditional": [when]}, title="Permit"), parts[3]]
    form = forms.create(name=f"Apply {language}", language=language, structure=structure)
    start = timezone.now() - timedelta(days=1)
    return make_vacancy(
        **{"form": form, "title": "Night nurse", "location": "Ghent", "publish_from": start}
        | values
    )


@pytest.fixture
def vacancy(filters: Any) -> Vacancy:
    return make_open()


@pytest.fixture
def page(browser_page: Any, live_server: Any, vacancy: Vacancy) -> Any:
    """The page, after form.js has taken over its form."""
    open_page(browser_page, live_server, vacancy)
    return browser_page


def open_page(page: Any, live_server: Any, vacancy: Vacancy) -> None:
    page.goto(f"{live_server.url}/apply/{vacancy.pk}")
    page.locator(".job-form-status").wait_for()


@pytest.fixture
def plain_page(chromium: Any, live_server: Any, vacancy: Vacancy) -> Iterator[Any]:
    """The page in a browser without JavaScript."""
    context = chromium.new_context(
        java_script_enabled=False, viewport={"width": 1000, "height": 1200}
    )
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.goto(f"{live_server.url}/apply/{vacancy.pk}")
    yield page
    context.close()


def fill_in(page: Any, cv: bytes | None = PDF) -> None:
    page.get_by_label("First name").fill("Zoë")
    page.get_by_label("Last name").fill("Peeters")
    page.get_by_label("E-mail address").fill("zoe@example.com")
    page.get_by_role("radio", name="No", exact=True).check()
    page.get_by_label("When do you expect one?").fill("2027-01-31")
    if cv is not None:
        choose(page, cv)
    page.get_by_label("I agree").check()


def choose(page: Any, content: bytes) -> None:
    page.get_by_label("Your CV").set_input_files(
        {"name": "cv.pdf", "mimeType": "application/pdf", "buffer": content}
    )


def send(page: Any) -> None:
    page.get_by_role("button", name="Send application").click()


def thanked(page: Any) -> Application:
    """Return the application, once its reference is displayed."""
    page.get_by_role("heading", name="Thank you for your application").wait_for()
    application = Application.objects.get()
    assert page.get_by_text(f"Your reference: {application.reference}").is_visible()
    return application


VALUES = {
    "first_name": "Zoë",
    "last_name": "Peeters",
    "email": "zoe@example.com",
    "permit": "no",
    "when": "2027-01-31",
    "cv": "cv.pdf",
    "privacy_consent": "1",
}


def test_browsers_can_fill_in_the_form(page: Any) -> None:
    tokens = page.evaluate(
        """Object.fromEntries(Array.from(document.querySelectorAll("[autocomplete]"),
             ({ name, autocomplete }) => [name, autocomplete]))"""
    )
    assert tokens == {
        "first_name": "given-name",
        "last_name": "family-name",
        "email": "email",
        "phone": "tel",
        "contact_me_by_fax": "off",
    }


def test_page_is_accessible_in_every_state(page: Any) -> None:
    found = all_findings(page, "empty")
    send(page)
    page.get_by_role("alert").wait_for()
    found += all_findings(page, "errors")
    fill_in(page)
    page.route("**/applications", lambda route: route.abort())
    send(page)
    page.get_by_role("button", name="Try again").wait_for()
    found += all_findings(page, "failed")
    page.unroute("**/applications")
    page.get_by_role("button", name="Try again").click()
    thanked(page)
    assert found + all_findings(page, "thanks") == []


def test_reload_shows_the_thanks_again(page: Any, vacancy: Vacancy) -> None:
    fill_in(page)
    send(page)
    application = thanked(page)
    shown = [page.title(), page.url]
    assert page.title() == "Thank you for your application"
    page.reload()
    assert thanked(page) == application
    assert [page.title(), page.url] == shown
    assert page.locator("form").count() == 0


def test_form_that_was_edited_meanwhile(page: Any, vacancy: Vacancy) -> None:
    fill_in(page)
    structure = vacancy.form.structure
    structure[0]["fields"].append(text_field("city", required=True, label="City of residence"))
    forms.save(vacancy.form, forms.FormEdit(structure))
    send(page)
    page.get_by_text("The form has changed since you opened it.").wait_for()
    page.locator(".job-form-notice").get_by_role("link", name="City of residence").click()
    page.keyboard.type("Ghent")
    send(page)
    assert thanked(page).submission.values == VALUES | {"city": "Ghent"}


def test_proof_of_work(page: Any, settings: Any) -> None:
    settings.APPLY_PROOF = "always"
    fill_in(page)
    send(page)
    assert thanked(page).submission.values == VALUES


def test_progress_of_a_slow_upload(page: Any, vacancy: Vacancy) -> None:
    fill_in(page, PDF + bytes(400_000))
    page.evaluate(
        """() => {
          window.seen = [];
          const bar = document.querySelector("progress");
          new MutationObserver(() => bar.hidden || seen.push(bar.value)).observe(bar, { attributes: true });
        }"""
    )
    network = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 200_000}
    network.send("Network.emulateNetworkConditions", slow)
    send(page)
    page.get_by_text("Your application is being sent.").wait_for()
    page.get_by_role("progressbar").wait_for()
    assert_accessible(page)
    thanked(page)
    seen = page.evaluate("seen")
    assert seen == sorted(seen)
    assert len({value for value in seen if 0 < value < 1}) > 2


def test_script_keeps_what_was_typed_before_it_arrived(
    browser_page: Any, live_server: Any, vacancy: Vacancy
) -> None:
    page = browser_page
    waiting: list[Any] = []
    page.route("**/form/schema", lambda route: waiting.append(route))
    with page.expect_request("**/form/schema"):
        page.goto(f"{live_server.url}/apply/{vacancy.pk}")
        fill_in(page)
    waiting[0].continue_()
    page.locator(".job-form-status").wait_for()
    send(page)
    assert thanked(page).submission.values == VALUES


def test_script_leaves_somebody_alone_who_is_typing(
    browser_page: Any, live_server: Any, vacancy: Vacancy
) -> None:
    """The form appears 400 ms before its script, and the script 400 ms before what it loads."""
    page = browser_page
    network = page.context.new_cdp_session(page)
    network.send("Network.clearBrowserCache")
    slow = {"offline": False, "latency": 400, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", slow)
    page.goto(f"{live_server.url}/apply/{vacancy.pk}", wait_until="commit")
    page.get_by_label("When do you expect one?").focus()  # open, because no script has hidden it
    page.get_by_label("First name").focus()
    page.keyboard.type("<>")
    page.keyboard.press("ArrowLeft")
    typed, is_attached = "", page.locator(".job-form-status")
    assert not is_attached.is_visible()
    while not is_attached.is_visible():
        page.keyboard.type("Zoë ")
        typed += "Zoë "
    page.keyboard.type("Peeters")
    assert page.get_by_label("First name").input_value() == f"<{typed}Peeters>"
    assert page.evaluate("document.activeElement.name") == "first_name"
    assert page.get_by_label("When do you expect one?").is_hidden()

    loaded = """performance.getEntriesByType("resource").map(({ name }) => name)
      .filter((name) => /form(\\/\\w+)?\\.js$/.test(name)).sort()"""
    preloaded = """Array.from(document.querySelectorAll("[rel=modulepreload]"), ({ href }) => href).sort()"""
    assert page.evaluate(loaded) == page.evaluate(preloaded), (
        "each module once, without a chain of imports"
    )


def test_script_keeps_a_condition_open_in_which_somebody_is_typing(
    browser_page: Any, live_server: Any, vacancy: Vacancy
) -> None:
    page = browser_page
    waiting: list[Any] = []
    page.route("**/form/schema", lambda route: waiting.append(route))
    with page.expect_request("**/form/schema"):
        page.goto(f"{live_server.url}/apply/{vacancy.pk}")
    page.get_by_label("When do you expect one?").focus()
    waiting[0].continue_()
    page.locator(".job-form-status").wait_for()
    assert page.evaluate("document.activeElement.name") == "when"
    page.get_by_label("First name").fill("Zoë")
    page.keyboard.press("Tab")
    assert page.get_by_label("When do you expect one?").is_hidden()


def test_script_keeps_the_errors_of_the_server(
    browser_page: Any, live_server: Any, vacancy: Vacancy
) -> None:
    """An optional file that must be chosen again would otherwise be missing silently."""
    page = browser_page
    page.route("**/form", lambda route: route.fulfill(status=500))
    page.goto(f"{live_server.url}/apply/{vacancy.pk}")
    fill_in(page)
    page.get_by_label("E-mail address").fill("zoe")
    page.unroute("**/form")
    send(page)
    page.locator(".job-form-status").wait_for()
    summary = page.get_by_role("alert")
    assert summary.get_by_role("listitem").all_inner_texts() == [
        "E-mail address – Enter a valid email address.",
        "Your CV – Choose this file again. Everything else is still filled in.",
    ]
    assert page.evaluate("document.activeElement.className") == "job-form-summary"
    choose(page, PDF)
    assert summary.get_by_role("listitem").count() == 1
    page.get_by_label("E-mail address").fill("zoe@example.com")
    send(page)
    assert thanked(page).submission.values == VALUES


def test_page_without_scripts_if_the_api_fails(
    browser_page: Any, live_server: Any, vacancy: Vacancy
) -> None:
    page = browser_page
    page.route("**/form", lambda route: route.fulfill(status=500))
    page.goto(f"{live_server.url}/apply/{vacancy.pk}")
    fill_in(page)
    send(page)
    assert thanked(page).submission.values == VALUES
    assert "/apply/thanks/" in page.url


def test_applying_from_the_site_of_a_customer(
    browser_page: Any, live_server: Any, settings: Any, vacancy: Vacancy
) -> None:
    """The page of docs/api.md is on another origin, and no request goes anywhere else."""
    page, api = browser_page, live_server.url.replace("localhost", "127.0.0.1")
    assert api != live_server.url
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    address = f"{api}/v1/vacancies/{vacancy.pk}/form"
    policy = f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src {api}"
    html = """<!doctype html><html lang="en"><title>Jobs</title>
      <link rel="stylesheet" href="/static/forms_structure/form.css">
      <main><h1>Jobs</h1><div id="form"></div></main><script type="module" src="/start.js"></script></html>"""
    script = f"""import {{ apply }} from "/static/forms_structure/form.js";
      await apply(document.querySelector("#form"), "{address}", {{ source: "careers" }});"""
    headers = {"Content-Security-Policy": policy, "Content-Type": "text/html"}
    # Chromium takes a page that a route answers for one of the internet, which may not call this
    # machine.
    page.context.grant_permissions(["local-network-access"])
    page.route("**/jobs", lambda route: route.fulfill(body=html, headers=headers))
    page.route(
        "**/start.js", lambda route: route.fulfill(body=script, content_type="text/javascript")
    )
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(f"{live_server.url}/jobs")
    fill_in(page)
    send(page)
    application = thanked(page)
    assert application.submission.values == VALUES
    assert application.submission.source == "careers"
    assert {url for url in requested if not url.startswith((api, live_server.url))} == set()


# --- without JavaScript ---


def test_preview_has_the_same_form_without_javascript(
    plain_page: Any, live_server: Any, vacancy: Vacancy
) -> None:
    from vacancies.access.previews import token_for

    ours = plain_page.locator("#form form").inner_text()
    plain_page.goto(f"{live_server.url}/preview/{token_for(vacancy.pk)}")
    assert plain_page.locator("#form form").inner_text() == ours
    assert plain_page.get_by_role("button", name="Send application").is_disabled()
