"""Submissions while what they refer to is deleted, and equal submissions at once."""

from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from applications.models import Application, FormSnapshot, IdempotencyKey, Message, SubmissionFile
from applications.operations import submitting
from applications.privacy.deletion import delete_applications
from applications.privacy.retention import purge_credentials
from applications.submissions import idempotency
from applications.submissions.forms import submission_form
from tests.applications.makers import bearer, make_token, make_user
from tests.applications.submissions.sending import PDF, VALUES, make_open_vacancy, send, send_files
from tests.parallel import at_once
from tests.vacancies.test_parallel_writes import elsewhere, step_in
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db(transaction=True)

KEY = {"Idempotency-Key": "a"}
HEADERS = pytest.mark.parametrize("headers", [{}, KEY], ids=["no key", "key"])
CV = {"values": VALUES | {"cv": "cv.pdf"}, "cv": ("cv.pdf", PDF)}
concurrent_writers = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite lets one write at a time"
)


def private_files(settings):
    return [path for path in settings.PRIVATE_ROOT.rglob("*") if path.is_file()]


@HEADERS
@concurrent_writers
def test_snapshot_that_a_purge_deletes_meanwhile_is_stored_again(headers, monkeypatch, settings):
    vacancy = make_open_vacancy()
    form = submission_form(Vacancy.objects.with_form().get())
    FormSnapshot.objects.create(digest=form.version, sections=form.sections)
    gone = []
    purge = partial(purge_credentials, now=timezone.now())
    step_in(
        monkeypatch, submitting, "queue_receipt", lambda: elsewhere(lambda: gone.append(purge()))
    )

    assert (send_files(vacancy, headers=headers, **CV).status_code, gone[0]["form_snapshots"]) == (
        201,
        1,
    )
    assert Application.objects.get().submission.snapshot.sections == form.sections
    assert (
        Message.objects.count()
        == SubmissionFile.objects.count()
        == len(private_files(settings))
        == 1
    )


@HEADERS
@pytest.mark.parametrize("_", range(3))
def test_purge_of_snapshots_keeps_those_of_concurrent_submissions(headers, _):
    vacancy = make_open_vacancy()
    form = submission_form(Vacancy.objects.with_form().get())
    FormSnapshot.objects.create(digest=form.version, sections=form.sections)

    answers = at_once(
        *(
            partial(send, vacancy, VALUES | {"email": f"{n}@example.org"}, headers=headers)
            for n in range(3)
        ),
        partial(purge_credentials, now=timezone.now()),
    )

    statuses = [answer.status_code for answer in answers[:3]]
    assert not isinstance(answers[3], Exception)
    assert set(statuses) <= ({201, 409, 422} if headers else {201})
    assert Application.objects.exclude(submission__snapshot=None).count() == statuses.count(201)


@HEADERS
def test_vacancy_that_is_deleted_meanwhile_is_a_404(headers, monkeypatch, settings):
    vacancy = make_open_vacancy()
    step_in(
        monkeypatch, submitting, "_store", lambda: elsewhere(lambda: Vacancy.objects.all().delete())
    )

    response = send_files(vacancy, headers=headers, **CV)

    assert (response.status_code, response.json()["status"]) == (404, 404)
    assert (Application.objects.count(), Message.objects.count(), private_files(settings)) == (
        0,
        0,
        [],
    )


@HEADERS
def test_submission_of_an_account_that_is_deleted_meanwhile_is_anonymous(headers, monkeypatch):
    vacancy = make_open_vacancy()
    client = Client(headers=bearer(make_token(make_user("mia"))))
    step_in(
        monkeypatch, submitting, "_store", lambda: elsewhere(lambda: User.objects.all().delete())
    )

    response = send(vacancy, client=client, headers=headers)

    assert (response.status_code, Application.objects.get().user) == (201, None)


@concurrent_writers
def test_equal_application_that_is_erased_meanwhile_is_stored_again(monkeypatch):
    vacancy = make_open_vacancy()
    first = send(vacancy)

    def erase():
        delete_applications(Application.objects.values_list("pk", flat=True))

    step_in(monkeypatch, submitting, "_equal", lambda: elsewhere(erase))
    second = send(vacancy)

    assert (first.status_code, second.status_code) == (201, 201)
    assert Application.objects.get().reference == second.json()["data"]["reference"]


@pytest.mark.parametrize("_", range(3))
def test_equal_submissions_at_once_are_one_application(_, settings):
    answers = at_once(*[partial(send_files, make_open_vacancy(), **CV)] * 5)

    assert [answer.status_code for answer in answers] == [201] * 5
    assert len({answer.json()["data"]["reference"] for answer in answers}) == 1
    assert [model.objects.count() for model in (Application, Message, SubmissionFile)] == [1, 1, 1]
    assert len(private_files(settings)) == 1


@pytest.mark.parametrize("_", range(3))
def test_one_key_at_once_is_one_application(_, settings):
    answers = at_once(*[partial(send_files, make_open_vacancy(), headers=KEY, **CV)] * 5)

    references = [
        answer.json()["data"]["reference"] for answer in answers if answer.status_code == 201
    ]
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert references == [Application.objects.get().reference] * len(references)
    assert (Message.objects.count(), len(private_files(settings))) == (1, 1)


@pytest.mark.parametrize("_", range(3))
def test_old_key_that_a_purge_deletes_at_once_is_a_new_key(_):
    vacancy = make_open_vacancy()
    send(vacancy, headers=KEY)
    now = timezone.now()
    IdempotencyKey.objects.update(created_at=now - idempotency.KEY_AGE)
    Application.objects.update(created_at=now - timedelta(days=2))

    answer, gone = at_once(partial(send, vacancy, headers=KEY), partial(purge_credentials, now=now))

    assert (answer.status_code, isinstance(gone, Exception)) == (201, False)
    assert (Application.objects.count(), IdempotencyKey.objects.count()) == (2, 1)
