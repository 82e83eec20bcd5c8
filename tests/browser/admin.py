"""What recruiters do on the pages of the admin, by mouse."""

from typing import Any

from django.contrib.auth.models import User

from tests.admin_pages import session_of
from tests.browser.accessibility import findings  # noqa: F401 - for tests of pages
from tests.factories import make_brand, make_option, make_recruiter
from tests.vacancies.sample_files import encoded

PASSWORD = "secret-1234"
ADMIN = "/admin/vacancies/vacancy/"
QUESTION = {
    "type": "text",
    "name": "motivation",
    "label": "Why you?",
    "required": False,
    "css": "col-12",
}
QUESTIONS = [{"title": "About you", "description": "", "fields": [QUESTION]}]


def serve_static_files(settings: Any) -> None:
    """Serve static files from their sources, without collectstatic."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }


def make_office(filters: Any, settings: Any) -> User:
    """A superuser, a brand, a lead recruiter and four regions."""
    serve_static_files(settings)
    make_brand("Acme")
    make_recruiter("Jan Peeters")
    for position, label in enumerate(("Antwerp", "Ghent", "Leuven", "Namur")):
        make_option("regions", label, position=position)
    return User.objects.create_superuser("anna", password=PASSWORD)


def log_in(page: Any, site: str, name: str = "anna") -> None:
    """Give the window a session, without the form for signing in."""
    session = session_of(User.objects.get(username=name))
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": site}])


def sign_in(page: Any) -> None:
    """Use the form for signing in, which the page shows."""
    page.fill("#id_username", "anna")
    page.fill("#id_password", PASSWORD)
    with page.expect_navigation():
        page.press("#id_password", "Enter")


def visit(page: Any, address: str) -> Any:
    """Open the page and wait for its scripts."""
    return page.goto(address, wait_until="load")


def follow(page: Any, role: str, name: str, **which: Any) -> None:
    """Click a link or button and wait for the next page."""
    with page.expect_navigation():
        page.get_by_role(role, name=name, exact=True, **which).click()


def follow_in_menu(page: Any, name: str) -> None:
    """Open the menu of a vacancy and click a link in it."""
    page.locator(".vacancy-head summary").click()
    follow(page, "link", name)


def save(page: Any, button: str = "_continue") -> None:
    with page.expect_navigation():
        page.click(f"[name={button}]")


def tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def choose(page: Any, field: str, words: str) -> None:
    """Choose an option in a Select2: type, Enter."""
    page.locator(f"#id_{field} + .select2 .select2-selection").click()
    search(page, words)


def search(page: Any, words: str) -> None:
    page.locator(".select2-container--open input.select2-search__field").last.press_sequentially(
        words
    )
    page.locator(".select2-results__option--highlighted", has_text=words).wait_for()
    page.keyboard.press("Enter")


def run_action(page: Any, label: str) -> None:
    page.select_option("select[name=action]", label=label)
    with page.expect_navigation():
        page.get_by_role("button", name="Run").click()


def served(page: Any, site: str) -> list[dict[str, Any]]:
    """Return the currently public vacancies."""
    return page.request.get(f"{site}/v1/vacancies").json()["data"]


def picture() -> dict[str, Any]:
    return {"name": "a.png", "mimeType": "image/png", "buffer": encoded("PNG")}


def cut_off(page: Any) -> list[str]:
    """Return the visible fields and buttons of forms that an ancestor cuts off, or that leave the
    window.
    """
    found: list[str] = page.evaluate("""() => {
      const isCut = (field) => {
        const box = field.getBoundingClientRect();
        let card = field.parentElement;
        const cuts = (element) => getComputedStyle(element).overflowX !== "visible";
        while (card !== document.body && !cuts(card)) card = card.parentElement;
        const around = card.getBoundingClientRect();
        return box.left < around.left - 1 || box.right > around.right + 1;
      };
      const fields = document.querySelectorAll("main form :is(input, select, textarea, button, .select2)");
      const isShown = (field) => field.checkVisibility() && !field.matches("[type=hidden], .sr-only");
      return Array.from(fields)
        .filter((field) => isShown(field) && isCut(field))
        .map((field) => field.id || field.name || field.textContent.trim());
    }""")
    return found
