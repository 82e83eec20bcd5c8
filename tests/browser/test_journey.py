"""The whole journey of an applicant: find a vacancy, apply, open the receipt, create an account,
follow the status and withdraw. With the keyboard alone, on a phone, and without JavaScript. Every
page is checked with axe, every control has a name for screen readers, and no request leaves the
site.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from applications.models import Application, Message, Submission
from applications.operations import Move, move
from forms_structure import operations as forms
from forms_structure.presets import presets
from tests.applications.makers import PASSWORD, make_stage, make_step
from tests.browser.admin import serve_static_files
from tests.browser.conftest import accept_files
from tests.factories import make_vacancy
from vacancies.models import Vacancy

ADDRESS = "zoe@example.com"
PDF = {
    "name": "cv.pdf",
    "mimeType": "application/pdf",
    "buffer": b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n",
}
# The site of a customer: it lists the vacancies of the API and links to the page to apply.
SITE = """<!doctype html><html lang="en"><head><title>Jobs</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">{script}</head>
  <body><main><h1>Jobs</h1><label for="q">Search</label> <input id="q" type="search"><ul>{items}</ul></main>
  </body></html>"""
SCRIPT = """
const list = document.querySelector("ul");
const input = document.querySelector("#q");
async function show() {
  const asked = input.value;
  const search = asked ? `&filter[search]=${encodeURIComponent(asked)}` : "";
  const { data } = await (await fetch(`/v1/vacancies?fields=id,title,apply_url${search}`)).json();
  if (asked !== input.value) return; // answers can arrive out of order
  list.replaceChildren(...data.map(({ id, title, apply_url }) => {
    const href = apply_url ?? `/apply/${id}`;
    const link = Object.assign(document.createElement("a"), { href, textContent: title });
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
}
input.addEventListener("input", show);
await show();
"""


@pytest.fixture(autouse=True)
def _settings(settings: Any, live_server: Any) -> None:
    settings.APPLY_PAGES, settings.APPLY_PROOF = True, "off"
    settings.IS_MAIL_SENT, settings.PUBLIC_BASE_URL = True, live_server.url  # to mail.outbox
    serve_static_files(settings)


@pytest.fixture
def vacancy(filters: Any) -> Vacancy:
    make_stage("Received", en="Received")
    personal, _languages, _question, documents, _pool = (each["section"] for each in presets("en"))
    form = forms.create(name="Form", structure=[personal, documents])
    start = timezone.now() - timedelta(days=1)
    make_vacancy(title="Cook", publish_from=start, apply_url="https://apply.acme.test/cook")
    return make_vacancy(title="Night nurse", form=form, publish_from=start)


class Journey:
    """A browser window, with what is checked on every page."""

    def __init__(self, context: Any, site: str, *, has_scripts: bool = True) -> None:
        self.site, self.has_scripts = site, has_scripts
        self.has_axe = has_scripts
        self.requested: list[str] = []
        context.on("request", lambda request: self.requested.append(request.url))
        self.page = context.new_page()
        accept_files(self.page)
        self.page.set_default_timeout(30_000)
        self.page.route("**/jobs", self._jobs)
        self.page.route(
            "**/jobs.js", lambda route: route.fulfill(body=SCRIPT, content_type="text/javascript")
        )

    def _jobs(self, route: Any) -> None:
        """Without scripts, the customer's server reads the API."""
        script, items = '<script type="module" src="/jobs.js"></script>', ""
        if not self.has_scripts:
            found = Client().get("/v1/vacancies?filter[search]=nurse").json()["data"]
            script = ""
            items = "".join(
                f'<li><a href="/apply/{each["id"]}">{each["title"]}</a></li>' for each in found
            )
        route.fulfill(body=SITE.format(script=script, items=items), content_type="text/html")

    def check(self) -> None:
        """No finding of axe, no control without a name, nothing wider than the window."""
        page = self.page
        unnamed = re.findall(
            r"^\s*- (?:link|button|textbox|checkbox|heading)(?: \[[^]]*\])*:?$",
            page.locator("body").aria_snapshot(),
            re.MULTILINE,
        )
        assert unnamed == [], page.url
        if self.has_axe:
            assert [
                f"{page.url} {each['id']}" for each in Axe().run(page).response["violations"]
            ] == []
            width, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert width <= window, page.url

    def named(self, *lines: str) -> None:
        """Check roles and names, as assistive technology gets them."""
        tree = self.page.locator("body").aria_snapshot()
        for line in lines:
            assert f"- {line}" in tree, f"{line}\n{tree}"

    def stays_on_the_site(self) -> None:
        assert [
            url for url in self.requested if not url.startswith((f"{self.site}/", "data:"))
        ] == []


def receipt_link() -> str:
    """Deliver the queued emails; return the link of the receipt, which is the only email."""
    call_command("deliver", "--once", stdout=None)
    [message] = mail.outbox
    assert message.to == [ADDRESS]
    for text in ("Night nurse", "Zoë", "Peeters", "cv.pdf", Application.objects.get().reference):
        assert text in message.body
    [link] = re.findall(r"http://\S+/account/receipt/\S+", message.body)
    return link


def decide() -> None:
    """A recruiter plans an interview and moves the application."""
    [application] = Application.objects.all()
    make_step(application, "First interview")
    stage = make_stage("Talk", en="In interviews")
    at = timezone.now()
    move(Application.objects.all(), Move(stage=stage, author=None, at=at, is_known=True))


def find_on_site_of_customer(
    journey: Journey, type_in: Callable[[str, str], None], follow: Callable[[str, str], None]
) -> None:
    page = journey.page
    page.goto(f"{journey.site}/jobs")
    if journey.has_scripts:
        page.get_by_role("link", name="Cook").wait_for()
        type_in("Search", "nurse")
        page.get_by_role("link", name="Cook").wait_for(state="detached")
    journey.named('heading "Jobs" [level=1]', 'link "Night nurse"')
    follow("link", "Night nurse")


def find_on_career_site(
    journey: Journey, type_in: Callable[[str, str], None], follow: Callable[[str, str], None]
) -> None:
    journey.page.goto(f"{journey.site}/jobs?source=newsletter")
    journey.check()
    journey.named('heading "Vacancies" [level=1]', 'heading "2 vacancies" [level=2]', 'link "Cook"')
    type_in("Search vacancies", "nurse")
    follow("button", "Search")
    journey.check()
    journey.named('heading "1 vacancy" [level=2]', 'link "Night nurse"')
    follow("link", "Night nurse")
    journey.check()
    journey.named('heading "Night nurse" [level=1]')
    follow("link", "Apply")


def travel(
    journey: Journey,
    *,
    find: Callable[..., None] = find_on_site_of_customer,
    type_in: Callable[[str, str], None],
    choose: Callable[[str], None],
    tick: Callable[[str], None],
    follow: Callable[[str, str], None],
) -> None:
    """Complete the journey by the means of a visitor: `type_in` a text, `choose` a file, `tick` a
    box, `follow` a link or button by its role and name.
    """
    page = journey.page
    find(journey, type_in, follow)

    if journey.has_scripts:
        page.locator(".job-form-status").wait_for()
    journey.check()
    journey.named(
        'heading "Night nurse" [level=1]',
        'heading "Personal data" [level=2]',
        'button "Send application"',
    )
    type_in("First name", "Zoë")
    type_in("Last name", "Peeters")
    type_in("E-mail address", "zoe@example")  # one that cannot receive the receipt
    choose("Your CV")
    tick("I agree")
    follow("button", "Send application")
    page.get_by_role("alert").first.wait_for()
    journey.check()
    assert page.get_by_label("First name").input_value() == "Zoë"
    type_in("E-mail address", ADDRESS)
    if not journey.has_scripts:
        choose("Your CV")  # browsers do not send it again
    follow("button", "Send application")
    page.get_by_role("heading", name="Thank you for your application").wait_for()
    journey.check()
    [application] = Application.objects.all()
    assert page.get_by_text(application.reference).is_visible()
    assert page.context.cookies() == []

    page.goto(receipt_link())
    journey.check()
    follow("button", "Yes, show my application")
    journey.check()
    journey.named('heading "Night nurse" [level=1]', 'heading "What you sent" [level=2]')
    assert page.get_by_text("Received", exact=True).first.is_visible()
    assert page.get_by_text("cv.pdf").is_visible()
    follow("link", "Create an account")
    journey.check()
    type_in("New password:", PASSWORD)
    type_in("New password confirmation:", PASSWORD)
    follow("button", "Create an account")

    journey.check()
    journey.named('heading "Your account" [level=1]', 'heading "Night nurse" [level=3]')
    decide()
    page.reload()
    assert page.get_by_text("In interviews").is_visible()
    follow("link", "Night nurse")
    journey.check()
    assert page.get_by_text("First interview").is_visible()
    follow("link", "Withdraw the application")
    journey.check()
    follow("button", "Withdraw the application")
    journey.check()
    assert page.get_by_text("Withdrawn", exact=True).first.is_visible()
    application.refresh_from_db()
    assert application.withdrawn_at is not None
    assert application.user is not None
    assert set(Message.objects.values_list("kind", "to")) == {
        ("receipt", ADDRESS),
        ("withdrawal", ADDRESS),
    }
    journey.stays_on_the_site()


@pytest.fixture
def window(chromium: Any, live_server: Any, vacancy: Vacancy) -> Iterator[Callable[..., Journey]]:
    contexts = []

    def open_window(**how: Any) -> Journey:
        contexts.append(chromium.new_context(locale="en", **how))
        has_scripts = how.get("java_script_enabled", True)
        return Journey(contexts[-1], live_server.url, has_scripts=has_scripts)

    yield open_window
    for context in contexts:
        context.close()


def by_keyboard(journey: Journey) -> dict[str, Callable[..., None]]:
    """The means of a visitor who has a keyboard alone."""
    page, keys = journey.page, journey.page.keyboard

    def reach(control: Any, name: str) -> None:
        """Press Tab until the control has the focus, which is visible."""
        for _ in range(60):
            if control.evaluate("node => node === document.activeElement"):
                break
            keys.press("Tab")
        else:
            raise AssertionError(f"Tab does not reach {name}")
        styles = control.evaluate(
            """node => [null, "::after"].map((part) => getComputedStyle(node, part))
                 .flatMap((style) => [style.outlineStyle, style.boxShadow])"""
        )
        assert set(styles) != {"none"}, f"{name} shows no focus"

    def type_in(label: str, text: str) -> None:
        reach(page.get_by_label(label).first, label)
        keys.press("Control+a")
        keys.type(text)

    def choose(label: str) -> None:
        reach(page.get_by_label(label), label)
        with page.expect_file_chooser() as chooser:
            keys.press("Space")
        chooser.value.set_files(PDF)

    def tick(label: str) -> None:
        reach(page.get_by_label(label), label)
        keys.press("Space")

    def follow(role: str, name: str) -> None:
        reach(page.get_by_role(role, name=name, exact=True), name)
        if name == "Send application":
            keys.press("Enter")
            return
        with page.expect_navigation():
            keys.press("Enter")

    return {"type_in": type_in, "choose": choose, "tick": tick, "follow": follow}


@pytest.mark.each_django
def test_journey_with_the_keyboard_alone(window: Any) -> None:
    journey = window(viewport={"width": 1200, "height": 900})
    travel(journey, **by_keyboard(journey))


def test_journey_on_the_career_site_by_keyboard_without_scripts(window: Any, settings: Any) -> None:
    settings.CAREER_SITE = True
    journey = window(viewport={"width": 1200, "height": 900})
    journey.page.unroute_all()
    # Axe needs a browser that runs scripts.
    journey.page.route("**/*.js", lambda route: route.abort())
    journey.has_scripts = False
    travel(journey, find=find_on_career_site, **by_keyboard(journey))
    assert Submission.objects.get().source == "newsletter"


PHONE = {
    "viewport": {"width": 320, "height": 640},
    "is_mobile": True,
    "has_touch": True,
    "color_scheme": "dark",
    "device_scale_factor": 2,
}


@pytest.mark.parametrize("has_scripts", [True, False])
def test_journey_on_a_dark_phone(window: Any, has_scripts: bool) -> None:
    journey = window(**PHONE, java_script_enabled=has_scripts)
    page = journey.page

    def type_in(label: str, text: str) -> None:
        page.get_by_label(label).first.fill(text)

    def choose(label: str) -> None:
        page.get_by_label(label).set_input_files(PDF)

    def tick(label: str) -> None:
        page.get_by_label(label).check()

    def follow(role: str, name: str) -> None:
        control = page.get_by_role(role, name=name, exact=True)
        if role == "button" and name == "Send application" and journey.has_scripts:
            control.tap()
            return
        with page.expect_navigation():
            control.tap()

    travel(journey, type_in=type_in, choose=choose, tick=tick, follow=follow)
