"""The page of one application: what it shows, who reads it, decisions and undo."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import AccessLog, Application, Stage, Status, Submission
from applications.operations import Move, move
from tests.applications.admin.conftest import FOREIGN, apply, staff
from tests.applications.applicants import stages_of
from tests.applications.makers import (
    make_application,
    make_file,
    make_stage,
    make_step,
    make_submission,
)
from tests.factories import make_vacancy
from tests.messages import messages_of

pytestmark = pytest.mark.django_db

LIST = "/admin/applications/application/"
MOVE = f"{LIST}move/"


def page(application, name="change"):
    return f"{LIST}{application.pk}/{name}/"


def moves(application, **values):
    """Return the data that moves an application, as the page posts them."""
    latest = application.changes.last()
    return {"applications": f"{application.pk}:{latest.pk}", "back": page(application)} | values


# --- what it shows -----------------------------------------------------------------------------


def test_page_shows_answers_files_contact_and_consent(office):
    values = {
        "first_name": "Mia",
        "experience": "yes",
        "where": "Here.",
        "cv": "x.pdf",
        "extra": "kept",
    }
    submission = make_submission(
        office.own, values, consent_text="I do agree.", source="newsletter"
    )
    file = make_file(submission, "Mia's <CV>.pdf")
    Application.objects.filter(pk=office.own.pk).update(
        phone="+32 (470) 12 34", verified_at=timezone.now()
    )

    response = office.anna.get(page(office.own))

    for text in (
        '<a class="text-link" href="mailto:mia@example.org">mia@example.org</a>',
        '<a class="text-link" href="tel:+324701234">+32 (470) 12 34</a>',
        "Confirmed by the applicant on 2 Mar 2026, 09:30",
        "7K3QX9WD",
        "newsletter",
        "Personal data",
        "Yes, I have",
        "Here.",
        "Other values",
        "kept",
        (
            f'<a class="text-link" href="{LIST}files/{file.pk}/" download>Mia&#x27;s '
            "&lt;CV&gt;.pdf</a>"
        ),
        "PDF, 1.2\xa0KB, not scanned: no scanner is configured",
        "Version 3, accepted on",
        "I do agree.",
        "Not filled in",
    ):
        assertContains(response, text)
    assertNotContains(response, "Applied again")
    assert "no-store" in response["Cache-Control"]

    imported = make_application(
        vacancy=office.own.vacancy, stage=office.new, withdrawn_at=timezone.now()
    )
    response = office.anna.get(page(imported))
    for text in (
        "This application did not come through a form of this site.",
        imported.user.username,
        "The applicant withdrew this application on 2 Mar 2026, 09:30.",
    ):
        assertContains(response, text)
    assertNotContains(response, "Not confirmed by the applicant")


def test_consent_of_an_imported_submission_has_no_version(office):
    submission = make_submission(office.own, {}, consent_version=0)
    for text, expected in (
        ("I do agree.", "Accepted on 2 Mar"),
        ("", "It was imported without a consent."),
    ):
        Submission.objects.filter(pk=submission.pk).update(consent_text=text)
        response = office.anna.get(page(office.own))
        assertContains(response, expected)
        assertNotContains(response, "Version 0")


def test_page_links_other_applications_of_the_same_person_in_own_brands(office):
    earlier = apply(make_vacancy(title="Baker", brand=office.brand), stage=office.new)
    apply(make_vacancy(title=f"{FOREIGN} baker", brand=office.other), stage=office.new)
    apply(make_vacancy(title="Somebody else's", brand=office.brand), "Tom", "tom@example.org")
    Application.objects.filter(pk=office.own.pk).update(is_repeated=True)

    response = office.anna.get(page(office.own))

    assert [each.pk for each in response.context["others"]] == [earlier.pk]
    assertContains(response, "Applied again")
    assertNotContains(response, FOREIGN)


def test_page_shows_what_the_applicant_sees(office):
    """Rejected and moved back during the delay: the applicant never sees the rejection."""
    Status.objects.filter(stages=office.new).update(label_nl="Ontvangen")
    make_step(office.own, "Visible talk")
    make_step(office.own, "Secret talk", is_visible=False)

    def shown_after(stage):
        rows = Application.objects.filter(pk=office.own.pk)
        move(rows, Move(stage=stage, author=None, at=timezone.now()))
        html = office.anna.get(page(office.own)).content.decode()
        return html[html.index("What the applicant sees") :]

    shown = shown_after(office.rejected)
    for text in (
        "English: <strong>Received</strong>",
        "Dutch: <strong>Ontvangen</strong>",
        "Visible talk",
    ):
        assert text in shown
    assert "Not selected" in shown[shown.index("From ") :]  # when the embargo ends
    assert "Secret talk" not in shown
    shown = shown_after(make_stage("Interview"))
    assert ("Status of Interview" in shown, "Not selected" in shown) == (True, False)


def test_coming_steps_are_in_the_calendar(office, at):
    for name, days in (("Later", 3), ("Past", -3)):
        make_step(office.own, name, planned_at=at + timedelta(days=days))
    expected = {"": ["Later"], "?when=past": ["Past"], "?when=all": ["Past", "Later"]}
    for query, names in expected.items():
        rows = (
            office.anna.get(f"/admin/applications/historyentry/{query}").context["cl"].result_list
        )
        assert [row.name for row in rows] == names, query


def test_name_is_the_title_and_the_reference_where_there_is_none(office):
    response = office.anna.get(page(office.own))
    assertContains(response, "<title> Mia |", count=1)
    assertContains(response, "data-heading>Mia</h1>")
    assertContains(office.anna.get(page(office.own, "history")), "History of Mia")
    Application.objects.filter(pk=office.own.pk).update(given_name="", email="")
    for name in ("change", "interview", "history"):
        response = office.anna.get(page(office.own, name))
        assertContains(response, "Applicant 7K3QX9WD")
        assertNotContains(response, f"Application {office.own.pk}")


# --- read and unread ---------------------------------------------------------------------------


def test_first_view_by_somebody_who_may_decide_marks_it_as_read(at, office):
    def read_at():
        return Application.objects.get(pk=office.own.pk).read_at

    auditor = staff("auditor", "Auditor")
    office.anna.post(page(office.own, "note"), {"text": "A note."})
    response = auditor.get(page(office.own))
    assertContains(response, "A note.")
    for text in (
        "New note",
        "Write an email",
        "Mark as unread",
        'name="rating"',
        "Delete this note",
    ):
        assertNotContains(response, text)
    office.anna.head(page(office.own))
    assert read_at() is None

    office.anna.get(page(office.own))
    assert read_at() == at
    Application.objects.update(read_at=at - timedelta(days=1))
    office.anna.get(page(office.own))
    assert read_at() == at - timedelta(days=1)

    query = "?_changelist_filters=stage%3D1"
    response = office.anna.post(page(office.own, "unread") + query)
    assert (response.status_code, response["Location"]) == (302, f"{LIST}?stage=1")
    assert read_at() is None


# --- decisions and undo ------------------------------------------------------------------------


def test_rejection_needs_a_confirmation(office):
    data = moves(office.own, stage=office.rejected.pk)
    asked = office.anna.post(MOVE, data)
    for text in ("1 application moves to “Rejected”", "after the delay of 2 days"):
        assertContains(asked, text)
    assert stages_of(office.own) == ["New"]
    assert office.anna.post(MOVE, data | {"confirmed": "1"}).url == page(office.own)
    assert stages_of(office.own) == ["New", "Rejected"]


def test_outdated_page_does_not_move(office):
    outdated, interview = moves(office.own), make_stage("Interview")
    move(
        Application.objects.filter(pk=office.own.pk),
        Move(stage=office.rejected, author=None, at=timezone.now()),
    )
    response = office.anna.post(MOVE, outdated | {"stage": interview.pk})
    assert "somebody else moved it in the meantime" in messages_of(response)[0]
    assert stages_of(office.own) == ["New", "Rejected"]


@pytest.mark.slow("opens many pages")
def test_bar_has_the_next_stage_and_what_the_user_may_do(office):
    """The page is read only: it takes no POST."""
    talk, hired, gone = (make_stage(name) for name in ("Talk", "Hired", "Gone"))
    Stage.objects.filter(pk=hired.pk).update(kind=Stage.Kind.HIRED)
    Stage.objects.filter(pk=gone.pk).update(kind=Stage.Kind.WITHDRAWN)
    Stage.objects.filter(pk=office.rejected.pk).update(position=99)

    def labels(client=office.anna, name="bar"):
        return [each.label for each in client.get(page(office.own)).context[name]]

    for stage, expected in (
        (None, ["Next: Talk", "Reject…", "Invite", "Email"]),
        (talk, ["Next: Hired…", "Reject…", "Invite", "Email"]),
        (hired, ["Reject…", "Invite", "Email"]),
        (office.rejected, ["Invite", "Email"]),
    ):
        if stage:
            rows = Application.objects.filter(pk=office.own.pk)
            move(rows, Move(stage=stage, author=None, at=timezone.now()))
        assert labels() == expected
    assert {"Hire…", "Mark as unread"} <= set(labels(name="menu"))
    Application.objects.filter(pk=office.own.pk).update(email="", is_spontaneous=True)
    assert labels() == ["Invite"]
    assert "Consider for a vacancy…" in labels(name="menu")
    assert labels(staff("auditor", "Auditor")) == []
    administrator = staff("ada", "Administrator")
    assert labels(administrator, "menu")[-2:] == ["Access log", "Erase this person…"]
    assert office.anna.post(page(office.own), moves(office.own)).status_code == 405


def test_decision_can_be_undone_until_the_applicant_sees_it(office, at, time_machine):
    def reject():
        office.anna.post(MOVE, moves(office.own, stage=office.rejected.pk, confirmed="1"))
        return {"change": office.own.changes.last().pk}

    latest = reject()
    assertContains(office.anna.get(page(office.own)), "Undo: Rejected")
    response = office.anna.post(page(office.own, "undo"), latest)
    assert messages_of(response)[-1] == "The stage change was undone. The applicant did not see it."
    response = office.anna.get(page(office.own))
    assertContains(response, "<del>Rejected</del>")
    assertNotContains(response, "Undo:")
    assert stages_of(office.own) == ["New", "Rejected", "New"]

    latest = reject()
    time_machine.move_to(at + timedelta(days=3))
    office.anna.post(page(office.own, "undo"), latest)
    assert office.own.changes.count() == 4


def test_undo_of_no_change_of_this_application_does_nothing(office):
    rows = Application.objects.filter(pk=office.foreign.pk)
    move(rows, Move(stage=office.rejected, author=None, at=timezone.now()))
    for value in ("", "x", "0", "9" * 30, office.foreign.changes.last().pk):
        response = office.anna.post(page(office.own, "undo"), {"change": value})
        assert messages_of(response)[-1].startswith("Not undone"), value
    assert stages_of(office.own) == ["New"]
    assert stages_of(office.foreign) == ["New", "Rejected"]


# --- permissions -------------------------------------------------------------------------------


def test_other_brands_are_not_found_and_forms_are_posted_only(office):
    found = {}
    for name in ("note", "delete-note", "undo", "unread", "email"):
        for object_id in (office.foreign.pk, 0, "x", "9" * 30, "%00"):
            response = office.anna.post(f"{LIST}{object_id}/{name}/", {"text": "x", "note": 1})
            found[name, object_id] = response.status_code, FOREIGN in response.text
        if name not in ("email", "note"):
            found[name, "GET"] = office.anna.get(page(office.own, name)).status_code, False
    assert {case: result for case, result in found.items() if result != (404, False)} == {}


@pytest.mark.slow("opens many pages")
def test_every_part_logs_the_access(office):
    office.anna.get(LIST)
    office.anna.get(page(office.own))
    office.anna.get(page(office.own, "history"))
    office.anna.get(page(office.own, "email"))
    office.anna.get(page(office.own, "note"))
    office.anna.post(page(office.own, "rate"), {"rating": "3"})
    office.anna.post(page(office.own, "note"), {"text": "x"})
    office.anna.post(page(office.own, "email"), {"subject": "a", "body": "b", "step": "send"})
    office.anna.post(page(office.own, "unread"))
    office.anna.get(page(office.foreign))

    entries = AccessLog.objects.order_by("pk").values_list(
        "actor__username", "application", "action"
    )
    assert list(entries) == [
        ("anna", office.own.pk, each) for each in ["view"] * 4 + ["change"] * 4
    ]
