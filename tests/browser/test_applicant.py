"""The personal link of an applicant."""

from typing import Any

from applications.submissions.links import receipt_path
from tests.applications.applicants import make_anonymous
from tests.browser.admin import serve_static_files


def test_link_is_not_sent_to_other_pages(
    live_server: Any, browser_page: Any, settings: Any
) -> None:
    """The Referer of what the page requests has no path."""
    serve_static_files(settings)
    page, referers = browser_page, []
    page.on("request", lambda request: referers.append(request.all_headers().get("referer", "")))
    page.goto(live_server.url + receipt_path(make_anonymous()))
    with page.expect_navigation(wait_until="commit"):
        page.get_by_role("link", name="I have an account with another address").click()
    # Page, styles, next page.
    assert referers[:3] == ["", f"{live_server.url}/", f"{live_server.url}/"]
