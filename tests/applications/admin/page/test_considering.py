"""Open applications, considering an applicant for a vacancy, and moving an application to one."""

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from applications.models import AccessLog, Application, Message, Origin, SubmissionFile
from applications.operations import Move, move
from applications.operations.considering import AlreadyThereError, consider
from applications.privacy.deletion import delete_applications
from jobsite import private_files
from tests.applications.admin.conftest import apply, staff
from tests.applications.admin.page.test_page import page
from tests.applications.makers import make_file, make_submission, make_user
from tests.applications.submissions.sending import VALUES, make_open_vacancy, send
from tests.factories import make_vacancy
from tests.messages import messages_of
from vacancies.models import Requisition

pytestmark = pytest.mark.django_db


@pytest.fixture
def opened(office):
    """An open application with a submission and a file."""
    Application.objects.filter(pk=office.own.pk).update(
        is_spontaneous=True, phone="123", verified_at=None
    )
    submission = make_submission(office.own, {"first_name": "Mia"}, source="fair")
    make_file(submission, "Mia.pdf", b"%PDF-1.7 zyx", scan_state="clean")
    office.own.refresh_from_db()
    return office.own


@pytest.fixture
def cook(office):
    return make_vacancy(title="Cook", brand=office.brand, status="draft")


def test_only_applications_to_a_vacancy_for_open_ones_are_open(at):
    for is_open in (True, False):
        vacancy = make_open_vacancy()
        Requisition.objects.create(vacancy=vacancy, is_for_open_applications=is_open)
        assert send(vacancy, VALUES).status_code == 201
        assert Application.objects.get(vacancy=vacancy).is_spontaneous == is_open


def test_open_application_is_marked_and_can_be_considered(office, opened):
    shown = office.anna.get(page(opened)).content.decode()
    assert ">Open application</span>" in shown
    assert page(opened, "consider") in shown
    assert 'name="is_spontaneous"' not in shown


def test_applicant_who_did_not_ask_is_considered_and_told(office, opened, cook):
    """Also after a rejection."""
    Application.objects.update(is_spontaneous=False)
    rows = Application.objects.filter(pk=opened.pk)
    move(rows, Move(stage=office.rejected, author=None, at=timezone.now()))
    assert page(opened, "consider") in office.anna.get(page(opened)).content.decode()
    response = office.anna.post(page(opened, "consider"), {"vacancy": cook.pk})
    copy = Application.objects.get(vacancy=cook)
    assert messages_of(response) == [
        "The application was created. The applicant gets a notice by email."
    ]
    assert (copy.origin.channel, copy.origin.basis) == ("earlier", "interest")
    assert (copy.submission.source, copy.origin.informed_at) == ("earlier", timezone.now())
    (notice,) = Message.objects.all()
    assert (notice.kind, notice.application) == ("notice", copy)
    assert "We would like to consider you for this vacancy" in notice.body
    assert "Source: Earlier application" in notice.body


def change(application):
    return application.vacancy_changes.last()


def test_application_is_moved_to_the_right_vacancy_and_back(office, opened, cook, at):
    nurse = opened.vacancy
    url = page(opened, "vacancy")
    assert cook in office.anna.get(url).context["vacancies"]
    response = office.anna.post(url, {"vacancy": cook.pk})
    assert f"{url}#undo" in messages_of(response)[0]
    opened.refresh_from_db()
    assert (opened.vacancy, opened.is_spontaneous, opened.submission.source) == (
        cook,
        False,
        "fair",
    )
    assert not Message.objects.exists()  # nobody was told of the nurse
    assert LogEntry.objects.get().change_message == "Moved from “Nurse” to “Cook”."
    assert "It was on “Nurse”" in office.anna.get(url).content.decode()

    undo = page(opened, "undo-vacancy")
    office.anna.post(undo, {"change": change(opened).pk})
    opened.refresh_from_db()
    assert opened.vacancy == nurse
    for sent in (change(opened).pk, "x", ""):
        refused = messages_of(office.anna.post(undo, {"change": sent}))
        assert refused[-1].startswith("Not undone"), sent
    assert office.anna.get(undo).status_code == 404
    foreign = {"vacancy": office.foreign.vacancy_id}
    assert office.anna.post(url, foreign).status_code == 422
    there = apply(cook, address=opened.email_folded)
    assert page(there) in office.anna.post(url, {"vacancy": cook.pk}).content.decode()
    assert staff("auditor", "Auditor").get(url).status_code == 403


def test_whoever_was_told_of_the_wrong_vacancy_gets_one_correction(office, opened, cook, at):
    def told(**values):
        Message.objects.all().delete()
        row = {"kind": "receipt", "to": "mia@example.org", "language": "en", "state": "sent"}
        Message.objects.create(application=opened, subject="Nurse", body="", **row | values)

    def moved():
        return office.anna.post(page(opened, "vacancy"), {"vacancy": cook.pk})

    def undone():
        opened.refresh_from_db()
        office.anna.post(page(opened, "undo-vacancy"), {"change": change(opened).pk})
        opened.refresh_from_db()

    told()
    assert "The applicant gets a corrected notice on 2 Mar 2026, 09:40." in messages_of(moved())
    correction = Message.objects.last()
    assert (correction.kind, correction.subject) == (
        "notice",
        "Corrected: your application for Cook",
    )
    assert "an application for “Nurse”. That was the wrong vacancy." in correction.body
    assert "Vacancy: Cook" in correction.body
    undone()
    assert Message.objects.count() == 1  # it waited, and was deleted
    moved()
    Message.objects.filter(kind="notice").update(state="sent")
    undone()
    assert Message.objects.last().subject == "Corrected: your application for Nurse"

    # a notice that waits is replaced
    Origin.objects.create(application=opened, channel="email", basis="request")
    told(kind="notice", state="queued")
    moved()
    assert Message.objects.get().subject == "What we store about you: Cook"
    undone()
    assert Message.objects.get().subject == "What we store about you: Nurse"


def test_considering_copies_what_was_sent(office, opened, cook):
    response = office.anna.post(page(opened, "consider"), {"vacancy": cook.pk})
    copy = Application.objects.get(vacancy=cook)
    assert (response.status_code, response["Location"]) == (302, page(copy))
    assert messages_of(response) == ["The application was created. No email was sent."]
    names = ("given_name", "email", "email_folded", "phone", "language", "user", "verified_at")
    assert [getattr(copy, name) for name in names] == [getattr(opened, name) for name in names]
    assert (copy.created_at, copy.read_at, copy.is_spontaneous, copy.is_repeated) == (
        timezone.now(),
        timezone.now(),
        False,
        False,
    )
    assert copy.reference not in ("", None, opened.reference)
    assert [change.stage for change in copy.changes.all()] == [office.new]
    submitted = (
        "values",
        "snapshot",
        "consent_text",
        "consent_version",
        "consented_at",
        "fingerprint",
    )
    source = opened.submission
    assert [getattr(copy.submission, n) for n in submitted] == [
        getattr(source, n) for n in submitted
    ]
    assert (source.source, copy.submission.source) == ("fair", "open")
    first, second = SubmissionFile.objects.order_by("pk")
    same = ("field", "original_name", "size", "sha256", "kind", "scan_state")
    assert [getattr(first, name) for name in same] == [getattr(second, name) for name in same]
    assert first.path != second.path
    assert not Message.objects.exists()
    logged = AccessLog.objects.filter(action="change").values_list("application", flat=True)
    assert set(logged) == {opened.pk, copy.pk}
    assert set(LogEntry.objects.values_list("change_message", flat=True)) == {
        "Considered for “Cook”."
    }

    with private_files.open_file(second.path) as content:
        assert content.read() == b"%PDF-1.7 zyx"
    delete_applications([opened.pk])  # the copy has its own file
    assert private_files.exists(second.path)


def test_same_person_is_not_considered_twice(office, opened, cook):
    """Nor if the applicant applied there, with the same address or account."""
    there = apply(cook, address=opened.email_folded)
    response = office.anna.post(page(opened, "consider"), {"vacancy": cook.pk})
    assert response.status_code == 422
    assert f'href="{page(there)}"' in response.content.decode()
    user = make_user("mia")
    Application.objects.filter(pk__in=[opened.pk, there.pk]).update(
        user=user, email="", email_folded=""
    )
    opened.refresh_from_db()
    with pytest.raises(AlreadyThereError):
        consider(application=opened, vacancy=cook, author=user, at=timezone.now())
    assert (Application.objects.filter(vacancy=cook).count(), SubmissionFile.objects.count()) == (
        1,
        1,
    )
    assert len(list(private_files.stored())) == 1  # the file of a refused copy is deleted


def test_missing_file_is_an_error_and_nothing_is_created(office, opened, cook):
    private_files.delete(SubmissionFile.objects.values_list("path", flat=True))
    response = office.anna.post(page(opened, "consider"), {"vacancy": cook.pk})
    assert (response.status_code, "cannot be copied" in response.content.decode()) == (422, True)
    assert not Application.objects.filter(vacancy=cook).exists()


def test_vacancies_of_the_brand_are_offered_and_no_others(office, opened, cook):
    archived = make_vacancy(title="Cook archived", brand=office.brand, status="archived")
    other_pool = make_vacancy(title="Cook pool", brand=office.brand)
    Requisition.objects.create(vacancy=other_pool, is_for_open_applications=True)
    offered = office.anna.get(page(opened, "consider"), {"q": "cOOk"})
    assert list(offered.context["vacancies"]) == [cook]
    assert list(office.anna.get(page(opened, "consider"), {"q": "zyx"}).context["vacancies"]) == []
    assert office.anna.get(page(opened, "consider"), {"q": "a " * 500}).status_code == 200
    for pk in (
        archived.pk,
        other_pool.pk,
        office.foreign.vacancy_id,
        opened.vacancy_id,
        "x",
        "",
        "9" * 30,
    ):
        response = office.anna.post(page(opened, "consider"), {"vacancy": pk})
        assert (response.status_code, list(response.context["form"].errors)) == (
            422,
            ["vacancy"],
        ), pk
    assert Application.objects.count() == 2
    assert staff("auditor", "Auditor").get(page(opened, "consider")).status_code == 403
    assert office.anna.get(page(office.foreign, "consider")).status_code == 404


def test_vacancies_whose_titles_fit_are_offered_first(office, opened, at):
    """Where a vacancy is chosen by typing: here and in "Add application"."""
    fits = make_vacancy(title="Warehouse clerk", brand=office.brand)
    part = make_vacancy(title="Clerk of the warehouse", brand=office.brand)
    text = make_vacancy(title="Nurse", brand=office.brand, description="<p>Beside a warehouse.</p>")
    shown = office.anna.get(page(opened, "consider"), {"q": "wareh"}).content.decode()
    place = {each.pk: shown.find(f'value="{each.pk}"') for each in (fits, part, text)}
    assert -1 < place[part.pk] < place[fits.pk] < place[text.pk]

    where = {"app_label": "applications", "model_name": "application", "field_name": "vacancy"}
    for term, wanted in (("wareh", [part.pk, fits.pk, text.pk]), (str(text.pk), [text.pk])):
        got = office.anna.get("/admin/autocomplete/", where | {"term": term}).json()["results"]
        assert [int(row["id"]) for row in got][: len(wanted)] == wanted
