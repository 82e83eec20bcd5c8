"""POST /v1/vacancies/{id}/applications: what is stored, and the response."""

import json
from datetime import timedelta

import pytest
from django.test import Client

from applications.models import (
    Application,
    FormSnapshot,
    Message,
    Stage,
    Submission,
    SubmissionFile,
)
from applications.operations import submitting
from forms_structure.models import ConsentText
from jobsite.serving.revision import read_state
from tests.applications.makers import bearer, make_stage, make_token, make_user
from tests.applications.submissions.sending import (
    CONSENT_TEXT,
    PDF,
    VALUES,
    document,
    make_field,
    make_form,
    make_open_vacancy,
    path_of,
    send,
    send_files,
    version_of,
)
from tests.factories import make_insider

pytestmark = pytest.mark.django_db


@pytest.fixture
def vacancy(at):
    return make_open_vacancy()


def test_submission_is_stored_completely(vacancy, at, mailoutbox):
    stage = Stage.objects.first() or make_stage()
    values = VALUES | {
        "phone": "+32 2 123 45 67",
        "permit": "no",
        "permit_from": "2026-05-01",
        "skills": ["python", "sql"],
        "language": "Frisian",
        "level": "3",
    }
    before = read_state()

    response = send(vacancy, values, source="newsletter")

    application = Application.objects.get()
    assert response.status_code == 201
    assert response.json() == {
        "data": {
            "reference": application.reference,
            "received_at": "2026-03-02 09:30:15",
            "version": version_of(vacancy),
        }
    }
    assert response["Cache-Control"] == "no-store"
    assert response["Content-Type"] == "application/json"
    assert (application.user, application.vacancy, application.created_at) == (None, vacancy, at)
    assert (application.given_name, application.family_name) == ("Mia", "Maes")
    assert (application.email, application.email_folded) == ("Mia@Example.org", "mia@example.org")
    assert (application.phone, application.language) == ("+32 2 123 45 67", "en")
    assert (application.is_repeated, application.verified_at, application.read_at) == (
        False,
        None,
        None,
    )
    assert [change.stage for change in application.changes.all()] == [stage]
    submission = application.submission
    consent = ConsentText.objects.get()
    assert submission.values == values
    assert submission.source == "newsletter"
    assert (submission.consent_text, submission.consent_version) == (CONSENT_TEXT, consent.version)
    assert submission.consented_at == at
    assert submission.snapshot.digest == version_of(vacancy)
    [first, *_] = submission.snapshot.sections
    assert [field["name"] for field in first["fields"]][:3] == ["first_name", "last_name", "email"]
    message = Message.objects.get()
    assert (message.kind, message.state, message.to) == ("receipt", "queued", "Mia@Example.org")
    assert (mailoutbox, read_state()) == ([], before)


def test_line_break_before_the_first_boundary_is_accepted(vacancy):
    """RFC 2046: the boundary begins with a line break."""
    content = json.dumps(document(vacancy))
    body = f'\r\n--B\r\nContent-Disposition: form-data; name="application"\r\n\r\n{content}\r\n'
    # what a browser sends for a file input that was left empty
    body += (
        '--B\r\nContent-Disposition: form-data; name="files[]"; filename=""\r\n\r\n\r\n--B--\r\n'
    )
    answer = Client().post(path_of(vacancy), body.encode(), "multipart/form-data; boundary=B")
    assert answer.status_code == 201, answer.content


def test_files_are_stored(vacancy, settings):
    values = VALUES | {"cv": "cv.pdf", "letter": "letter.pdf"}

    response = send_files(
        vacancy, values, cv=("my cv.pdf", PDF), letter=("letter.pdf", PDF + b"%2\n")
    )

    assert response.status_code == 201, response.content
    files = list(SubmissionFile.objects.order_by("field"))
    assert [(file.field, file.original_name, file.size) for file in files] == [
        ("cv", "my cv.pdf", len(PDF)),
        ("letter", "letter.pdf", len(PDF) + 3),
    ]
    assert [(settings.PRIVATE_ROOT / file.path).read_bytes() for file in files] == [
        PDF,
        PDF + b"%2\n",
    ]
    assert Submission.objects.get().values == values


def test_empty_honeypot_is_accepted(vacancy):
    assert send(vacancy, VALUES | {"contact_me_by_fax": ""}).status_code == 201
    assert Submission.objects.get().values == VALUES


# --- Accounts ---


def test_invalid_token_is_ignored(vacancy):
    for number, header in enumerate(("Bearer 0", "Bearer", "Bearer a b", "Basic eDp5")):
        values = VALUES | {"email": f"mia{number}@example.org"}
        assert send(vacancy, values, headers={"Authorization": header}).status_code == 201, header
    assert [application.user for application in Application.objects.all()] == [None] * 4


def test_session_links_the_account_only_with_a_csrf_token(vacancy):
    jane = make_user()
    client = Client(enforce_csrf_checks=True)
    client.force_login(jane)
    client.get("/account/")
    token = client.get("/account/password").cookies["csrftoken"].value

    without = send(vacancy, client=client)
    linked = send(
        vacancy, VALUES | {"first_name": "B"}, client=client, headers={"X-CSRFToken": token}
    )

    assert (without.status_code, linked.status_code) == (201, 201)
    assert list(Application.objects.order_by("pk").values_list("user", flat=True)) == [
        None,
        jane.pk,
    ]


def test_bearer_token_links_the_account_which_may_apply_twice_in_the_same_moment(vacancy):
    jane = make_user()
    headers = bearer(make_token(jane))
    for name in ("A", "B"):
        assert send(vacancy, VALUES | {"first_name": name}, headers=headers).status_code == 201

    assert jane.applications.count() == Submission.objects.count() == 2
    assert FormSnapshot.objects.count() == 1


# --- Repeated submissions ---


def test_equal_submission_within_a_day_is_stored_once(vacancy, time_machine, at):
    def repeated():
        return list(Application.objects.order_by("pk").values_list("is_repeated", flat=True))

    first = send(vacancy)
    time_machine.move_to(at + timedelta(hours=23, minutes=59), tick=False)
    assert send(vacancy, VALUES | {"email": VALUES["email"]}).json() == first.json()
    assert (repeated(), Message.objects.count()) == ([False], 1)
    send(make_open_vacancy(form=vacancy.form))
    assert repeated() == [False, True]  # another vacancy of the brand
    send(vacancy, VALUES | {"email": "mia@EXAMPLE.org", "first_name": "Maria"})  # other content
    assert repeated() == [False, True, True]
    Application.objects.update(withdrawn_at=at)
    send(vacancy)
    assert repeated() == [False, True, True, True]
    time_machine.move_to(at + timedelta(hours=47, minutes=59), tick=False)  # a day later
    send(vacancy)
    assert repeated() == [False, True, True, True, True]


def test_equal_submission_with_another_file_is_another_application(vacancy, settings):
    values = VALUES | {"cv": "cv.pdf"}
    same = [send_files(vacancy, values, cv=("cv.pdf", PDF)).json() for _ in range(2)]
    other = send_files(vacancy, values, cv=("cv.pdf", PDF + b"%\n")).json()

    assert same[0] == same[1] != other
    assert SubmissionFile.objects.count() == 2
    assert len([path for path in settings.PRIVATE_ROOT.rglob("*") if path.is_file()]) == 2


# --- Vacancies without applications ---


def test_vacancies_that_take_no_applications_look_unknown(client, vacancy, at):
    closed = {
        "draft": make_open_vacancy(vacancy.form, status="draft"),
        "scheduled": make_open_vacancy(vacancy.form, publish_from=at + timedelta(seconds=1)),
        "expired": make_open_vacancy(vacancy.form, publish_until=at),
        "apply_url": make_open_vacancy(vacancy.form, apply_url="https://example.org/apply"),
        "unknown": 987654,
        "no id": "abc",
    }
    answers = {
        kind: client.post(path_of(each), {"version": "0", "values": VALUES}, "application/json")
        for kind, each in closed.items()
    }

    details = {
        kind: (answer.status_code, answer.json()["detail"]) for kind, answer in answers.items()
    }
    assert details == dict.fromkeys(closed, (404, "No published vacancy has this id."))
    assert Application.objects.count() == 0


def test_form_without_a_required_address_takes_no_applications(at):
    for field in (
        make_field("email", "email", required=True),
        make_field("email", "email", role="email"),
    ):
        vacancy = make_open_vacancy(
            make_form([{"title": "", "description": "", "fields": [field]}])
        )
        assert (
            send(vacancy, {"email": "mia@example.org", "privacy_consent": "1"}).status_code == 404
        )


# --- Internal vacancies ---


def test_internal_vacancies_take_applications_from_those_who_see_them(at, settings):
    vacancy = make_open_vacancy(audience="internal")
    body = json.dumps({"version": version_of(vacancy), "values": VALUES})
    settings.INTERNAL_ACCESS = "authenticated"
    insider, outsider = make_insider(), make_user()

    def status(headers, client=None):
        client = client or Client()
        return client.post(path_of(vacancy), body, "application/json", headers=headers).status_code

    assert status({}) == 404
    assert status(bearer("0")) == 404
    assert status(bearer(make_token(outsider))) == 404
    session = Client(enforce_csrf_checks=True)
    session.force_login(insider)
    assert status({}, session) == 404  # without a CSRF token there are no credentials
    assert status(bearer(make_token(insider))) == 201
    assert Application.objects.get().user == insider


def test_reference_is_drawn_again_if_it_is_taken(vacancy, monkeypatch):
    drawn = iter(["AAAAAAAA", "AAAAAAAA", "BBBBBBBB"])
    monkeypatch.setattr(submitting, "new_reference", lambda: next(drawn))
    references = [
        send(vacancy, VALUES | {"first_name": name}).json()["data"]["reference"]
        for name in ("A", "B")
    ]

    assert references == ["AAAAAAAA", "BBBBBBBB"]
