"""The form builder on a page, and forms for it."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from forms_structure import operations
from forms_structure.models import Form
from tests.browser.admin import serve_static_files


def field(name: str, label: str = "", **values: Any) -> dict[str, Any]:
    label = label or name.replace("_", " ").capitalize()
    return {
        "name": name,
        "type": "text",
        "label": label,
        "required": False,
        "css": "col-12",
    } | values


def section(title: str, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "description": "", "fields": list(fields)}


def options(*labels: str) -> list[dict[str, str]]:
    return [{"value": label.lower(), "label": label} for label in labels]


def licence() -> dict[str, Any]:
    """A field with two options and a condition on the first."""
    which = field("which_one") | {"on_value": "yes"}
    return field("licence", type="radio-group") | {
        "options": options("Yes", "No"),
        "conditional": [which],
    }


def two_sections() -> list[dict[str, Any]]:
    return [
        section("Personal data", field("first_name"), field("last_name")),
        section("Experience", field("years"), licence()),
    ]


def make_form(name: str = "General", structure: Any = None, **values: Any) -> Form:
    structure = two_sections() if structure is None else structure
    return operations.create(name=name, structure=structure, **values)


def stored(form: Form) -> list[dict[str, Any]]:
    return Form.objects.get(pk=form.pk).structure


def names(fields: list[dict[str, Any]]) -> list[str]:
    return [each["name"] for each in fields]


# The rows have made room: what was moved is rendered, and no animation runs.
MOVED = """async () => {
  for (const frame of "12") await new Promise(requestAnimationFrame);
  const all = document.getAnimations().filter((each) => each.effect.getTiming().iterations < 9);
  await Promise.all(all.map((each) => each.finished.catch(() => {})));
}"""


class Desk:
    """The builder on a `page`, with helpers to find its parts."""

    def __init__(self, page: Any, site: str) -> None:
        self.page, self.site = page, site
        self.preview = page.frame_locator(".builder-frame")

    def open(self, form: Form, query: str = "") -> None:
        self.page.goto(f"{self.site}/admin/forms_structure/form/{form.pk}/change/{query}")
        self.ready()

    def ready(self) -> None:
        """Wait until the page has no pending request. With SQLite in memory, server and test share
        one connection.
        """
        self.preview.locator("form").wait_for()
        self.page.locator("#builder:not([data-checking])").wait_for()

    def sign_in(self, user: User) -> None:
        client = Client()
        client.force_login(user)
        cookie = client.cookies["sessionid"]
        self.page.context.add_cookies(
            [{"name": "sessionid", "value": cookie.value, "url": self.site}]
        )

    def button(self, name: str, **how: Any) -> Any:
        return self.page.get_by_role("button", name=name, **how)

    def row(self, label: str) -> Any:
        """Return the row with this name."""
        return self.page.locator("[data-part=row]", has_text=label).first

    def node(self, label: str) -> Any:
        return self.row(label).locator("xpath=ancestor::li[1]")

    def rows(self) -> list[str]:
        """Return the texts of the tree, in order."""
        found = self.page.locator("[data-part=row] > .builder-name").all_inner_texts()
        return [text.removesuffix("required").replace("*", "").strip() for text in found]

    def drag(self, source: Any, target: Any, *, below: bool = False) -> None:
        """Drag by the handle, in small steps."""
        # Far from edges that scroll.
        source.evaluate("handle => handle.scrollIntoView({block: 'center'})")
        start = source.bounding_box()
        end = target.bounding_box()
        x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
        to_y = end["y"] + end["height"] * (0.8 if below else 0.2)
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + 5, y + 5, steps=3)
        mouse.move(end["x"] + 60, to_y, steps=15)
        for n in range(4):  # rows make room while the hand still moves a little
            self.page.evaluate(MOVED)
            mouse.move(end["x"] + 60 + n, to_y)
        mouse.up()
        self.page.evaluate(MOVED)

    def save(self, version: int) -> None:
        self.button("Save").click()
        self.saved(version)

    def saved(self, version: int) -> None:
        self.page.locator(".builder-state", has_text=f"Saved, version {version}").wait_for()
        self.ready()

    def announced(self, text: str) -> None:
        self.page.locator(".builder > [role=status]", has_text=text).wait_for(state="attached")


def make_anna(settings: Any, filters: Any) -> User:
    serve_static_files(settings)
    return User.objects.create_superuser("anna", first_name="Anna", last_name="Peeters")


def open_desk(live_server: Any, browser_page: Any, anna: User) -> Desk:
    browser_page.set_default_timeout(5_000)
    desk = Desk(browser_page, live_server.url)
    desk.sign_in(anna)
    return desk
