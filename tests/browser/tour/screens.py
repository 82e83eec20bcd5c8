"""What the first screen of a page shows, without a click."""

from typing import Any

from playwright.sync_api import Browser

LAPTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
ROWS = """() => Array.from(document.querySelectorAll("#result_list tbody tr"))
  .filter((row) => row.offsetHeight && row.getBoundingClientRect().bottom <= innerHeight).length"""
WORK = """() => Math.round(
  document.querySelector("#start-to-do, #start-applications").getBoundingClientRect().top)"""
SCREENS = (
    ("Rows of the list of vacancies on a laptop", LAPTOP, "vacancies/vacancy/", ROWS),
    ("Applicants on a phone", PHONE, "applications/application/", ROWS),
    ("Where the work of today begins on a laptop (pixels)", LAPTOP, "", WORK),
    ("Where the work of today begins on a phone (pixels)", PHONE, "", WORK),
)


def screens(browser: Browser, site: str, sign_in: Any) -> dict[str, int]:
    found = {}
    for title, size, address, script in SCREENS:
        context = browser.new_context(viewport=size, locale="en")  # type: ignore[arg-type]
        page = context.new_page()
        sign_in(page, site, "recruiter")
        page.goto(f"{site}/admin/{address}", wait_until="networkidle")
        found[title] = page.evaluate(script)
        context.close()
    return found
