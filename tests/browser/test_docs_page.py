"""The page /docs sends submissions, with a file and without one."""

import json
from typing import Any

from applications.models import SubmissionFile
from tests.applications.submissions.sending import PDF, VALUES, document, make_open_vacancy
from tests.browser.admin import serve_static_files


def test_docs_page_submits_with_and_without_a_file(
    browser_page: Any, live_server: Any, settings: Any
) -> None:
    serve_static_files(settings)
    page, vacancy = browser_page, make_open_vacancy()
    page.goto(f"{live_server.url}/docs")
    operation = page.locator("#operations-Applications-submitApplication")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_placeholder("id", exact=True).fill(str(vacancy.pk))
    for values in (VALUES, VALUES | {"cv": "cv.pdf"}):
        operation.locator("textarea").fill(json.dumps(document(vacancy, values)))
        if "cv" in values:
            operation.get_by_role("button", name="Add string item").click()
            file = {"name": "cv.pdf", "mimeType": "application/pdf", "buffer": PDF}
            operation.locator("input[type=file]").set_input_files(file)
        with page.expect_response("**/applications") as response:
            operation.locator(".execute").click()
        assert response.value.status == 201, response.value.text()
    assert SubmissionFile.objects.values_list("field", "original_name").get() == ("cv", "cv.pdf")
