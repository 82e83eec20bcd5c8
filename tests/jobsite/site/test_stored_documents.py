"""Documents of the whole site:
made once, served from a file, and never with what is not public any more.
"""

import gzip
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from jobsite.db.locks import FileLock
from jobsite.serving import stored_documents
from jobsite.serving.stored_documents import Document, folder
from tests.factories import make_brand, make_vacancy

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow("commits: a transaction has no revision"),
]
FEED, PART = "/feeds/indeed.xml", "/sitemap-0.xml"
HOST = "jobs.harbour.example.com"
GHENT: dict[str, Any] = {"locality": "Ghent", "country": "BE"}


@pytest.fixture(autouse=True)
def _site(settings: Any, monkeypatch: Any) -> None:
    settings.CAREER_SITE = True
    settings.ALLOWED_HOSTS = ["testserver", HOST]
    monkeypatch.setattr(stored_documents, "LARGE", 100)


@pytest.fixture
def made(monkeypatch: Any) -> list[str]:
    """The kinds of documents that were made."""
    kinds: list[str] = []
    store = Document.store
    monkeypatch.setattr(
        Document, "store", lambda document: (kinds.append(document.kind), store(document))[1]
    )
    return kinds


def body(answer: Any) -> bytes:
    assert answer.status_code == 200
    content: bytes = answer.getvalue()
    answer.close()
    return content


def test_a_document_is_made_once_for_a_revision(client, made):
    make_vacancy(title="Nurse", places=(GHENT,), brand=make_brand("Harbour", host=HOST))
    for path in (FEED, PART, "/sitemap.xml"):
        plain = client.get(path)
        content = body(plain)
        zipped = client.get(path, headers={"accept-encoding": "gzip"})
        assert gzip.decompress(body(zipped)) == content
        assert len(content) == int(plain["Content-Length"]) != int(zipped["Content-Length"])
        head = client.head(path)
        assert (head.content, head["Content-Length"], head["ETag"]) == (
            b"",
            plain["Content-Length"],
            plain["ETag"],
        )
        for tag in (
            plain["ETag"],
            plain["ETag"].removeprefix("W/"),
            f'"other", {plain["ETag"]}',
            "*",
        ):
            same = client.get(path, headers={"if-none-match": tag})
            assert (same.status_code, same["ETag"]) == (304, plain["ETag"]), tag
        assert plain["Vary"] == zipped["Vary"] == "Accept-Encoding"
    assert made == ["indeed", "sitemap", "sitemap"]
    assert b"Nurse" in body(client.get(f"{FEED}?brand=harbour"))
    assert b"https" in body(client.get(PART, headers={"host": HOST}))
    assert b"https" not in body(client.get(PART))
    assert len(made) == 5  # another brand, and another host
    assert len([path for path in folder().iterdir() if path.suffix != ".lock"]) == 5 * 2


def test_what_is_not_public_any_more_is_in_no_later_answer(client, time_machine, made):
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    ends = make_vacancy(title="Ends", places=(GHENT,), publish_until=now + timedelta(seconds=30))
    hidden = make_vacancy(title="Hidden", places=(GHENT,))
    seen = client.get(FEED)
    assert seen["Cache-Control"] == "public, max-age=30"
    content = body(seen)
    assert b"Ends" in content
    assert b"Hidden" in content

    hidden.status = "unpublished"
    hidden.save()
    content = body(client.get(FEED))
    assert (b"Ends" in content, b"Hidden" in content) == (True, False)
    assert len(list(folder().glob("*.xml"))) == 1  # the earlier one is removed

    time_machine.move_to(ends.publish_until, tick=False)
    assert b"<job>" not in body(client.get(FEED, headers={"if-none-match": seen["ETag"]}))
    assert len(made) == 3


def test_others_wait_while_one_makes_the_document(client, monkeypatch):
    make_vacancy(places=(GHENT,))
    monkeypatch.setattr(stored_documents, "WAIT", 0.1)
    lock = FileLock(folder() / "indeed.lock")  # as of another process
    assert lock.acquire()
    late = client.get(FEED)
    assert (late.status_code, late["Retry-After"]) == (503, stored_documents.RETRY_AFTER)
    assert b"<loc>" in body(client.get("/sitemap.xml"))  # of another kind
    lock.release()
    monkeypatch.setattr(stored_documents, "WAIT", 20)
    slots = threading.BoundedSemaphore(1)
    monkeypatch.setattr(stored_documents, "_slots", slots)
    with slots:
        assert client.get(FEED).status_code == 503  # enough threads wait
    slow = client.get(FEED)
    assert slow.status_code == 200
    assert client.get(FEED).status_code == 503  # enough threads send it
    assert client.head(FEED).status_code == 200
    slow.close()
    assert body(client.get(FEED))


def test_requests_at_once_make_it_once(monkeypatch, made):
    make_vacancy(places=(GHENT,))
    both, make = threading.Barrier(2), Document.make
    monkeypatch.setattr(
        Document, "make", lambda document, revision: (both.wait(20), make(document, revision))[1]
    )

    def ask(_number: int) -> bytes:
        try:
            return body(Client().get(FEED))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, range(2))
    assert (made, first) == (["indeed"], second)


def test_a_document_that_cannot_be_stored_is_a_503(client, monkeypatch, tmp_path, caplog):
    make_vacancy(places=(GHENT,))
    folder().chmod(0o755)
    assert client.get(FEED).status_code == 503
    assert "has to be a folder of this user alone" in caplog.text
    folder_path = tmp_path / next(path.name for path in tmp_path.glob("jobsite-*"))
    folder_path.chmod(0o700)

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(stored_documents.gzip.GzipFile, "write", full)
        assert client.get(FEED).status_code == 503
    assert "No space left on device" in caplog.text
    assert [path.name for path in folder().iterdir()] == ["indeed.lock"]  # nothing half-written
    assert b"Ghent" in body(client.get(FEED))
    for suffix in ("gz", "xml"):
        next(folder().glob(f"*.{suffix}")).unlink()  # by a program that cleans /tmp
        assert b"Ghent" in body(client.get(FEED)), suffix


def test_spellings_of_the_host_make_no_further_documents(client, made, settings):
    settings.ALLOWED_HOSTS = [".example.org", "example.org"]
    for host in ("example.org", "example.org:80"):  # the second with the port of the server
        body(client.get("/sitemap.xml", HTTP_HOST=host))
    for host in ("Example.org", "example.org.", "example.org:1", "a.example.org"):
        assert client.get("/sitemap.xml", HTTP_HOST=host).status_code == 503, host
    assert len(made) == 2


def test_client_that_refuses_gzip_gets_the_stored_file(client, made):
    answer = client.get(FEED, headers={"accept-encoding": "gzip;q=0"})
    assert (answer.get("Content-Encoding"), answer["Vary"]) == (None, "Accept-Encoding")
    assert len(body(answer)) == int(answer["Content-Length"])


def test_type_of_a_document_is_the_same_in_each_answer(client):
    for method in (client.get, client.head):
        for encoding in ("", "gzip"):
            answer = method(FEED, headers={"accept-encoding": encoding})
            assert answer["Content-Type"] == "application/xml; charset=utf-8", (method, encoding)
            answer.close()
