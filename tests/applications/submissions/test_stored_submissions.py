"""Submissions with files, from the request to the download: crash points, full disks, hostile files."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from applications.api import bodies
from applications.models import Application, Message, SubmissionFile
from applications.submissions.files import StoredFiles, open_file
from tests.applications.submissions.sending import PDF, VALUES, make_open_vacancy, send_files

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


def test_crash_between_commit_and_rename_loses_nothing(vacancy, settings, monkeypatch) -> None:
    """The repeated request completes the rename, as readers and clean_media do."""
    with monkeypatch.context() as patch:
        patch.setattr(StoredFiles, "finish", killed)
        with pytest.raises(Killed):
            send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", PDF))
    file = SubmissionFile.objects.get()
    assert stored(settings) == [f".{file.path}.part"]

    for headers in (KEY, {}, {"Idempotency-Key": "two"}):
        again = send_files(vacancy, WITH_CV, headers=headers, cv=("cv.pdf", PDF))
        assert again.json()["data"]["reference"] == file.submission.application.reference
    assert (counts(), content()) == ((1, 1, 1), PDF)
    assert stored(settings) == [file.path]


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
