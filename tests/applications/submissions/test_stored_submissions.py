"""Submissions with files, from the request to the disk: bodies in pieces, and full disks."""

import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from applications.api import bodies
from applications.models import Application, Message, SubmissionFile
from applications.submissions.files import open_file
from tests.applications.submissions.sending import (
    PDF,
    VALUES,
    document,
    make_open_vacancy,
    path_of,
    send_files,
)

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


# --- Pieces ------------------------------------------------------------------------------------


class Pieces(BytesIO):
    """A body of which a read returns at most `size` bytes."""

    size = 0

    def read(self, size: int = -1) -> bytes:
        return super().read(min(size, self.size) if size >= 0 else self.size)


def test_body_is_read_in_pieces_of_any_size(vacancy) -> None:
    """Also if a line break after the last boundary, or what follows it, arrives later."""
    parts = {
        "application": json.dumps(document(vacancy, WITH_CV)),
        "cv": SimpleUploadedFile("cv.pdf", PDF),
    }
    body = encode_multipart(BOUNDARY, parts)
    statuses = {}
    for end in (b"", b"an epilogue"):
        whole = body + end
        for size in (1, 5, len(body) - 3, len(body) - 2, len(body) - 1, len(body), len(whole)):
            pieces = Pieces(whole)
            pieces.size = size
            environ = {"wsgi.input": pieces, "wsgi.input_terminated": True}
            response = Client().generic(
                "POST", path_of(vacancy), CONTENT_TYPE=MULTIPART_CONTENT, **environ
            )
            statuses[end, size] = response.status_code
    assert statuses == dict.fromkeys(statuses, 201)
    assert (counts(), content()) == ((1, 1, 1), PDF)


# --- Full disks --------------------------------------------------------------------------------


def test_full_disk_is_a_503_and_the_client_can_repeat_the_request(
    vacancy, settings, monkeypatch
) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    # tests/applications/submissions/test_files.py fills the disk of PRIVATE_ROOT.
    file = bodies._new_file()
    with monkeypatch.context() as patch:
        patch.setattr(file, "write", full)
        patch.setattr(bodies, "_new_file", lambda: file)
        response = send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", PDF))
    assert (response.status_code, response["Content-Type"]) == (503, "application/problem+json")
    assert (counts(), stored(settings)) == ((0, 0, 0), [])
    assert send_files(vacancy, WITH_CV, headers=KEY, cv=("cv.pdf", PDF)).status_code == 201
