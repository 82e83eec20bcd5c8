"""The files of hostile submissions, downloaded by a recruiter:
no browser may show or execute one.
"""

from collections.abc import Iterator

from tests.hostile.checker import Report
from tests.hostile.client import Connection, Endpoint, Response
from tests.hostile.content import Content
from tests.hostile.corpus.case import MARK, request


def download_files(content: Content, endpoint: Endpoint) -> Report:
    from applications.models import SubmissionFile

    report, connection = Report("files of submissions"), Connection(endpoint)
    for file in SubmissionFile.objects.filter(submission__application__email__startswith=MARK):
        path = f"/admin/applications/application/files/{file.pk}/"
        response = connection.send(request(path, f"Cookie: sessionid={content.sessions['root']}"))
        report.count(
            f"file {file.pk} {file.original_name[:30]!r}", response, _wrong(response, file.size)
        )
    connection.close()
    return report


def _wrong(response: Response, size: int) -> Iterator[str]:
    if (response.status, len(response.body)) != (200, size):
        yield f"{response.status} with {len(response.body)} bytes"
    if not response.get("content-disposition").startswith("attachment"):
        yield f"is served as {response.get('content-disposition')!r}"
    if response.get("x-content-type-options") != "nosniff":
        yield "lacks nosniff"
    if "sandbox" not in response.get("content-security-policy"):
        yield "lacks a sandbox"
    if response.get("content-type").startswith(("text/html", "image/svg", "application/xhtml")):
        yield f"is {response.get('content-type')}"
