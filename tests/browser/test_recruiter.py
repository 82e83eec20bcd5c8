"""A recruiter's day: from the login to a vacancy that the public interface shows."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.factories import make_option
from vacancies.models import Brand, Recruiter, Vacancy

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def office(filters: Any, settings: Any) -> None:
    """What stands ready: a recruiter's account, a brand, a head and three regions."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    User.objects.create_superuser("anna", password="secret-1234")
    Brand.objects.create(name="Acme")
    Recruiter.objects.create(name="Jan Peeters")
    for position, label in enumerate(("Antwerp", "Ghent", "Leuven")):
        make_option("regions", label, position=position)


def log_in(page: Any, site: str) -> None:
    page.goto(f"{site}/admin/")
    page.fill("#id_username", "anna")
    page.fill("#id_password", "secret-1234")
    page.press("#id_password", "Enter")
    page.wait_for_selector("#nav-sidebar", state="attached")


def pick(page: Any, field: str, words: str) -> None:
    """Choose an option in the way of the keyboard: type, Enter."""
    page.locator(f"#id_{field} + .select2 .select2-selection").click()
    page.locator(".select2-container--open input.select2-search__field").last.press_sequentially(words)
    page.locator(".select2-results__option--highlighted", has_text=words).wait_for()
    page.keyboard.press("Enter")


def test_recruiter_publishes_a_vacancy(live_server: Any, browser_page: Any, office: None) -> None:
    page, site = browser_page, live_server.url
    log_in(page, site)
    page.goto(f"{site}/admin/vacancies/vacancy/add/")

    page.fill("#id_title", "Nurse")
    page.get_by_role("textbox", name="Description", exact=True).click()
    page.keyboard.type("We care, ")
    page.keyboard.press("Control+b")
    page.keyboard.type("always")
    page.keyboard.press("Tab")

    page.get_by_role("tab", name="Texts").press("ArrowRight")
    pick(page, "brand", "Acme")
    for region in ("Leuven", "Antwerp", "Ghent"):
        pick(page, "regions", region)
    page.get_by_role("tab", name="Publication").click()
    page.select_option("#id_status", "published")
    page.click("[name=_continue]")

    page.get_by_role("tab", name="People 1 error", selected=True).wait_for()
    page.get_by_text("A vacancy needs a head recruiter to be published.").wait_for()
    pick(page, "head_recruiter", "Jan")
    page.click("[name=_continue]")
    page.wait_for_url("**/change/")

    [item] = page.request.get(f"{site}/v1/vacancies").json()["data"]
    assert item["title"] == "Nurse"
    assert item["description"] == "<p>We care, <strong>always</strong></p>"
    assert item["regions"] == ["Leuven", "Antwerp", "Ghent"]

    # Opening and saving without a change is no change, whatever the editor makes of the text.
    before = Vacancy.objects.get().updated_at
    page.click("[name=_continue]")
    page.wait_for_load_state("load")
    assert Vacancy.objects.get().updated_at == before

    page.get_by_role("link", name="Take offline").click()
    page.get_by_role("button", name="Take offline").click()
    page.get_by_text("1 vacancy was taken offline.").wait_for()
    assert page.request.get(f"{site}/v1/vacancies").json()["data"] == []
