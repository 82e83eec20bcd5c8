"""Find texts of another brand in responses of the admin."""

from io import BytesIO
from typing import Any
from zipfile import ZipFile

from tests.admin_pages import FOREIGN

WALLED = ("Recruiter", "Handy")
LIST = "/admin/vacancies/vacancy/"
FORMS = "/admin/forms_structure/form/"


def output(response: Any) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    if response.get("Content-Type", "").endswith(("sheet", "zip")):  # XLSX, or files of applicants
        with ZipFile(BytesIO(body)) as book:
            body = b"\n".join(map(book.read, book.namelist()))
    queued = response.wsgi_request._messages._queued_messages  # or in a cookie
    reported = [str(message) for message in queued]
    return f"{[*response.headers.items()]} {reported} {body.decode()}"


def follow(client: Any, response: Any) -> str:
    """Return the texts of a response and of its redirects."""
    texts, been = [output(response)], client.__dict__.setdefault("been", set())
    while response.status_code in (301, 302) and response["Location"] not in been:
        been.add(response["Location"])
        response = client.get(response["Location"])
        texts.append(output(response))
    assert response.status_code < 500
    return "\n".join(texts)


def assert_clean(client: Any, response: Any, where: str) -> str:
    text = follow(client, response)
    at = text.lower().find(FOREIGN)
    assert at < 0, f"{where}: ...{text[max(0, at - 200) : at + 100]}"
    return text
