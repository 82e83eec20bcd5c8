"""Submissions under gunicorn: bodies in chunks, and clients that disconnect."""

import http.client
import json
import socket
from contextlib import closing

import pytest

from tests.applications.submissions.sending import PDF, VALUES
from tests.servers import Instance
from tests.servers.web import Gunicorn

pytestmark = pytest.mark.slow("starts gunicorn")

MAKE = "from tests.applications.submissions.sending import *; make_open_vacancy()"
COUNT = (
    "from applications.models import *; print(Application.objects.count(), SubmissionFile.objects.count())"
)
PATH = "/v1/vacancies/1/applications"


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    folders = {f"{name}_ROOT": str(folder / name.lower()) for name in ("STATIC", "MEDIA", "PRIVATE")}
    instance = Instance(folder, **folders, WEB_CONCURRENCY="2", APPLY_PROOF="off")
    instance.manage("shell", "-v0", "-c", MAKE)
    return instance


@pytest.fixture(scope="module")
def server(instance):
    with Gunicorn(instance.folder / "gunicorn", instance.env) as server:
        yield server


def stored(instance):
    """Return the number of applications and of files."""
    return [int(number) for number in instance.manage("shell", "-v0", "-c", COUNT).stdout.split()]


def version(server):
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as link:
        link.request("GET", "/v1/vacancies/1/form", headers={"Host": "127.0.0.1"})
        return link.getresponse().headers["Form-Version"]


def post(server, body, content_type="application/json", **headers):
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as link:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers |= {"Host": "127.0.0.1", "Content-Type": content_type}
        link.request("POST", PATH, body, headers)
        response = link.getresponse()
        return response.status, json.loads(response.read())


def document(server, **values):
    return json.dumps({"version": version(server), "values": VALUES | values}).encode()


def multipart(server, content, **values):
    parts = [('name="application"', document(server, cv="cv.pdf", **values))]
    parts.append(('name="cv"; filename="cv.pdf"', content))
    lines = [
        b"--B\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n" % (name.encode(), each)
        for name, each in parts
    ]
    return b"".join(lines) + b"--B--\r\n"


def test_body_in_chunks_is_read(instance, server):
    body = multipart(server, PDF * 50_000, email="chunks@example.org")
    before = stored(instance)
    pieces = (body[start : start + 50_000] for start in range(0, len(body), 50_000))
    status, answer = post(server, pieces, "multipart/form-data; boundary=B")

    assert (status, list(answer)) == (201, ["data"])
    assert stored(instance) == [before[0] + 1, before[1] + 1]


def test_client_that_disconnects_early_stores_nothing(instance, server):
    before = stored(instance)
    body = multipart(server, PDF * 20_000, email="gone@example.org")
    head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=B\r\n"
    for part in (0.2, 0.9, 1):
        sent = body[: int(len(body) * part) - 1]
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as link:
            link.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + sent)
            link.shutdown(socket.SHUT_WR)  # the server reads the end, as after a disconnection
            assert link.recv(1000).startswith(b"HTTP/1.1 400"), part

    assert stored(instance) == before
    assert not [path for path in (instance.folder / "private").rglob("*.part*") if path.is_file()]
