"""A failure at any step of a submission leaves no row without its file, and no file for good."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection

from applications.models import Application, IdempotencyKey, Submission, SubmissionFile
from applications.operations import submitting
from applications.submissions import files as files_module
from tests.applications.submissions.sending import PDF, VALUES, make_open_vacancy, send_files

pytestmark = pytest.mark.django_db(transaction=True)

KEY = {"Idempotency-Key": "a"}


def fail(*args, **kwargs):
    raise OperationalError("the database is gone")


def stored(settings):
    models = (Application, Submission, SubmissionFile, IdempotencyKey)
    files = [path for path in settings.PRIVATE_ROOT.rglob("*") if path.is_file()]
    return [*(model.objects.count() for model in models), len(files)]


@pytest.mark.slow("sends two submissions for each step")
@pytest.mark.each_database
@pytest.mark.parametrize(
    ("owner", "name", "headers"),
    [
        (submitting, "queue_receipt", {}),
        (submitting, "create_application", KEY),
        (submitting.idempotency, "lock_address", {}),
        (submitting.StoredFiles, "add_rows", KEY),
        (submitting.FormSnapshot.objects, "get_or_create", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_failure_before_the_commit_stores_nothing(owner, name, headers, monkeypatch, settings):
    vacancy = make_open_vacancy()
    values = VALUES | {"cv": "cv.pdf"}
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fail)
        response = send_files(vacancy, values, cv=("cv.pdf", PDF), headers=headers)

    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert stored(settings) == [0, 0, 0, 0, 0]
    assert send_files(vacancy, values, cv=("cv.pdf", PDF), headers=headers).status_code == 201
    assert stored(settings) == [1, 1, 1, len(headers), 1]


@pytest.mark.parametrize("headers", [{}, KEY], ids=["no key", "key"])
def test_file_is_kept_if_the_connection_is_lost_during_the_commit(headers, monkeypatch, settings):
    """Nobody knows then whether the row exists. Here it does."""
    vacancy = make_open_vacancy()
    values = VALUES | {"cv": "cv.pdf"}
    commit = connection.commit

    def commit_and_fail():
        # After the commit, it would begin a transaction.
        is_stored = SubmissionFile.objects.exists()
        commit()
        if is_stored:
            fail()

    with monkeypatch.context() as patch:
        patch.setattr(connection, "commit", commit_and_fail)
        assert send_files(vacancy, values, cv=("cv.pdf", PDF), headers=headers).status_code == 503

    with files_module.open_file(SubmissionFile.objects.get()) as opened:
        assert opened.read() == PDF
    assert send_files(vacancy, values, cv=("cv.pdf", PDF), headers=headers).status_code == 201
    assert stored(settings) == [1, 1, 1, len(headers), 1]


def test_file_is_complete_before_the_transaction_and_purge_keeps_it(monkeypatch, settings):
    """Otherwise a crash, or `purge` during the transaction, could leave a
    row without its file.
    """
    vacancy, seen = make_open_vacancy(), []
    lock = submitting.idempotency.lock_address

    def clean_and_lock(*args):
        call_command("purge", stdout=StringIO())
        [file] = settings.PRIVATE_ROOT.iterdir()
        seen.append((SubmissionFile.objects.count(), file.read_bytes()))
        lock(*args)

    monkeypatch.setattr(submitting.idempotency, "lock_address", clean_and_lock)
    send_files(vacancy, VALUES | {"cv": "cv.pdf"}, cv=("cv.pdf", PDF), headers=KEY)

    assert seen == [(0, PDF)]
    with files_module.open_file(SubmissionFile.objects.get()) as opened:
        assert opened.read() == PDF
