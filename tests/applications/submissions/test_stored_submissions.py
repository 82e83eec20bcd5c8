"""Submissions with files, from the request to the download: crash points, full disks, hostile files."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from applications.api import bodies
from applications.models import Application, Message, SubmissionFile
from applications.submissions.files import StoredFiles, open_file
from tests.applications.submissions.sending import PDF, VALUES, make_open_vacancy, send_files
from tests.vacancies.sample_files import SVG

pytestmark = pytest.mark.django_db(transaction=True)

WITH_CV = VALUES | {"cv": "cv.pdf"}
KEY = {"Idempotency-Key": "one"}


@pytest.fixture
def vacancy() -> Any:
    return make_open_vacancy()


def stored(settings: Any) -> list[str]:
    folder = Path(settings.PRIVATE_ROOT)
    return sorted(os.listdir(folder)) if folder.exists() else []


def counts() -> tuple[int, int, int]:
    return Application.objects.count(), SubmissionFile.objects.count(), Message.objects.count()


def content() -> bytes:
    with open_file(SubmissionFile.objects.get()) as file:
        return file.read()


class Killed(BaseException):
    """The process is killed here."""


def killed(*args: Any, **kwargs: Any) -> None:
    raise Killed


# --- Crash points ------------------------------------------------------------------------------


@pytest.mark.parametrize("is_discarded", [True, False])
def test_crash_before_the_commit_stores_nothing(vacancy, settings, monkeypatch, is_discarded) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("applications.operations.submitting.queue_receipt", killed)
        if not is_discarded:  # SIGKILL runs no handler
            patch.setattr(StoredFiles, "discard", lambda self: None)
        with pytest.raises(Killed):
            send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", PDF))
    assert counts() == (0, 0, 0)
    assert [name[-5:] for name in stored(settings)] == ([] if is_discarded else [".part"])

    assert send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", PDF)).status_code == 201
    assert (counts(), content()) == ((1, 1, 1), PDF)


@pytest.mark.parametrize("repair", ["reader", "clean_media", "repeated request"])
def test_crash_between_commit_and_rename_loses_nothing(vacancy, settings, monkeypatch, repair) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(StoredFiles, "finish", killed)
        with pytest.raises(Killed):
            send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", PDF))
    file = SubmissionFile.objects.get()
    assert stored(settings) == [f".{file.path}.part"]

    if repair == "clean_media":
        call_command("clean_media", verbosity=0)
        assert stored(settings) == [file.path]
    if repair == "repeated request":
        again = send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", PDF))
        assert (again.status_code, again.json()["data"]["reference"]) == (
            201, Application.objects.get().reference,
        )  # fmt: skip
    assert (counts(), content()) == ((1, 1, 1), PDF)
    assert stored(settings) == [file.path]


def test_repeated_submission_stores_its_files_once(vacancy, settings) -> None:
    for headers in (KEY, KEY, {}, {"Idempotency-Key": "two"}):
        assert send_files(vacancy, WITH_CV, headers=headers, cv=("cv.pdf", PDF)).status_code == 201
    assert (counts(), stored(settings)) == ((1, 1, 1), [SubmissionFile.objects.get().path])


def test_refused_submission_stores_no_file(vacancy, settings) -> None:
    values = WITH_CV | {"letter": "letter.svg"}
    response = send_files(vacancy, values, cv=("cv.pdf", PDF), letter=("letter.svg", SVG))
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (415, "/values/letter")
    assert (counts(), stored(settings)) == ((0, 0, 0), [])


# --- Full disks --------------------------------------------------------------------------------


@pytest.fixture
def small_disk(settings) -> Iterator[Path]:
    folder = Path(settings.PRIVATE_ROOT)
    folder.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", str(folder)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a file system is not permitted")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_is_a_503_and_the_client_can_repeat_the_request(vacancy, small_disk) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(bytes(2**21 - 100_000))
    large = PDF + bytes(200_000)

    response = send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", large))

    assert (response.status_code, response["Content-Type"]) == (503, "application/problem+json")
    assert response.json()["errors"][0]["pointer"] == "/values/cv"
    assert (counts(), os.listdir(small_disk)) == ((0, 0, 0), ["filler"])
    filler.unlink()
    assert send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", large)).status_code == 201
    assert content() == large


def test_full_temporary_folder_is_a_503(vacancy, settings, monkeypatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    file = bodies._new_file()
    monkeypatch.setattr(file, "write", full)
    monkeypatch.setattr(bodies, "_new_file", lambda: file)
    response = send_files(vacancy, WITH_CV, cv=("cv.pdf", PDF))
    assert (response.status_code, response["Content-Type"]) == (503, "application/problem+json")
    assert (counts(), stored(settings)) == ((0, 0, 0), [])


# --- Hostile files -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "downloaded"),
    [
        ("cv.html", PDF + b"<html><script>alert(1)</script>", 'attachment; filename="cv.html.pdf"'),
        ("../../../etc/cron.d/x.pdf", PDF, 'attachment; filename="x.pdf"'),
        ("=HYPERLINK(1).pdf", PDF, 'attachment; filename="=HYPERLINK(1).pdf"'),
    ],
)
def test_hostile_file_is_stored_and_only_downloaded(vacancy, settings, name, data, downloaded) -> None:
    response = send_files(vacancy, WITH_CV, cv=(name, data))
    assert response.status_code == 201, response.content
    file = SubmissionFile.objects.get()
    assert (stored(settings), content()) == ([file.path], data)
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    sent = client.get(f"/admin/applications/application/files/{file.pk}/")
    assert sent.content == data
    assert sent["Content-Type"] == "application/pdf"
    assert sent["Content-Disposition"] == downloaded
    assert (sent["Content-Security-Policy"], sent["X-Content-Type-Options"]) == (
        "default-src 'none'; sandbox", "nosniff",
    )  # fmt: skip
