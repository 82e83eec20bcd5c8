"""A recruiter changes vacancies through an export and an import."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.browser.admin import ADMIN, findings, follow, log_in, make_office, visit
from tests.factories import make_vacancy
from vacancies.models import Vacancy

office = pytest.fixture(make_office)


def upload(page: Any, name: str, content: bytes) -> None:
    page.set_input_files(
        "#file", {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )
    follow(page, "button", "Show the changes")


def test_an_export_is_changed_and_imported_again(
    live_server: Any, browser_page: Any, office: User
) -> None:
    page, site = browser_page, live_server.url
    nurse = make_vacancy(title="Nurse", location="Ghent", description="<p>We care for people.</p>")
    make_vacancy(title="Baker")
    log_in(page, site)
    visit(page, f"{site}{ADMIN}?q=nurse")
    with page.expect_download() as download:
        page.locator("summary", has_text="More").click()
        page.get_by_role("link", name="Export as CSV").click()
    heading, row = csv.reader(StringIO(Path(download.value.path()).read_text("utf-8-sig")))
    row[heading.index("Closing date")] = "2199-05-31"
    row[heading.index("Description")] = "<p>We care for <b>all</b> people.</p>"
    row[heading.index("Location")] = "Leuven"
    wrong = [*row]
    wrong[heading.index("ID")], wrong[heading.index("Regions")] = "", "Paris"

    def as_csv(*rows: list[str]) -> bytes:
        text = StringIO()
        csv.writer(text, delimiter=";").writerows(rows)
        return text.getvalue().encode("utf-8-sig")

    visit(page, f"{site}{ADMIN}import/")
    upload(page, "vacancies.csv", as_csv(heading, row, wrong))
    page.get_by_text(
        "Row 3, Regions, “Paris”: “Paris” is not one of: Antwerp, Ghent, Leuven, Namur."
    ).wait_for()
    assert findings(page) == []
    upload(page, "vacancies.csv", as_csv(heading, row))
    page.get_by_role("heading", name="Row 2: Nurse").wait_for()
    assert findings(page) == []
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert Vacancy.objects.get(pk=nurse.pk).location == "Ghent"

    follow(page, "button", "Import 1 vacancy")

    page.get_by_text("1 vacancy was changed.").wait_for()
    nurse.refresh_from_db()
    assert (nurse.location, str(nurse.publish_until.date())) == ("Leuven", "2199-06-01")
