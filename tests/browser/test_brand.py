"""The color of a brand, typed or picked, with a button as visitors will see it."""

from typing import Any

from tests.browser.admin import log_in, make_office, visit
from vacancies.models import Brand

STYLE = "(example) => [getComputedStyle(example).backgroundColor, getComputedStyle(example).color]"
BLACK, WHITE = "rgb(0, 0, 0)", "rgb(255, 255, 255)"


def test_color_is_previewed(
    browser_page: Any, live_server: Any, settings: Any, filters: Any
) -> None:
    settings.CAREER_SITE = True
    make_office(filters, settings)
    page, brand = browser_page, Brand.objects.get()
    log_in(page, live_server.url)
    visit(page, f"{live_server.url}/admin/vacancies/brand/{brand.pk}/change/")
    example, picker = page.get_by_text("Apply", exact=True), page.get_by_label("Choose a color")
    assert not example.is_visible()
    page.fill("#id_accent", "#FFCC00")
    assert (example.evaluate(STYLE), picker.input_value()) == (
        ["rgb(255, 204, 0)", BLACK],
        "#ffcc00",
    )
    picker.fill("#000080")
    assert (example.evaluate(STYLE), page.input_value("#id_accent")) == (
        ["rgb(0, 0, 128)", WHITE],
        "#000080",
    )
    page.fill("#id_accent", "navy")
    assert not example.is_visible()
    page.click("[name=_continue]")
    page.locator(".errorlist, .errornote").first.wait_for()
    page.fill("#id_accent", "000080")
    with page.expect_navigation():
        page.click("[name=_continue]")
    assert Brand.objects.get().accent == "#000080"
