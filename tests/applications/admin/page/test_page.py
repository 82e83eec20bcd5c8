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
STEPS = {"history-TOTAL_FORMS": 0, "history-INITIAL_FORMS": 0}


def page(application, name="change"):
    return f"{LIST}{application.pk}/{name}/"


def change(application, **values):
    """Return the data that the form of an application posts."""
    latest = application.changes.last()
    shown = {"initial-rating": application.rating or ""}
    return {"stage": latest.stage_id, "seen": latest.pk, "_continue": ""} | shown | STEPS | values


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
        return html[html.index("What the applicant sees") : html.index('id="stages"')]

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


def test_interview_is_scheduled_on_the_page_and_in_the_calendar(office, at):
    for name, days in (("Later", 3), ("Past", -3)):
        make_step(office.own, name, planned_at=at + timedelta(days=days))
    new = {
        "history-TOTAL_FORMS": 1,
        "history-0-name": "Talk",
        "history-0-planned_at_0": "2026-03-03",
        "history-0-planned_at_1": "10:00:00",
        "history-0-result": "",
        "history-0-is_visible": "on",
        "history-0-application": office.own.pk,
    }

    assert office.anna.post(page(office.own), change(office.own, **new)).status_code == 302

    talk = office.own.history.get(name="Talk")
    assert (talk.is_visible, talk.updated_at) == (True, at)
    expected = {
        "": ["Talk", "Later"],
        "?when=past": ["Past"],
        "?when=all": ["Past", "Talk", "Later"],
    }
    for query, names in expected.items():
        rows = (
            office.anna.get(f"/admin/applications/historyentry/{query}").context["cl"].result_list
        )
        assert [row.name for row in rows] == names, query


@pytest.mark.slow("opens several pages of the admin")
def test_page_links_the_newer_and_the_older_application_of_the_list(office, at):
    vacancy = make_vacancy(title="Baker", brand=office.brand)
    rows = [
        apply(
            vacancy,
            stage=office.new,
            created_at=at - timedelta(days=days),
            is_spontaneous=days == 2,
        )
        for days in (4, 3, 2, 1)
    ]

    def links(application, query=""):
        context = office.anna.get(page(application) + query).context
        return context["newer"], context["older"]

    filtered = f"?_changelist_filters=vacancy__id__exact%3D{vacancy.pk}"
    assert links(rows[1]) == (rows[2].pk, rows[0].pk)
    assert links(rows[3]) == (office.own.pk, rows[2].pk)
    assert links(rows[3], filtered) == (None, rows[2].pk)
    assert links(rows[3], "?_changelist_filters=mark%3Dspontaneous") == (None, rows[2].pk)
    assert links(rows[0]) == (rows[1].pk, None)  # not the one of the other brand
    for invalid in ("vacancy__x%3D1", "%00", "p%3D9"):
        assert links(rows[1], f"?_changelist_filters={invalid}") == (rows[2].pk, rows[0].pk), (
            invalid
        )


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
        'name="_continue"',
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


# --- rating ------------------------------------------------------------------------------------


def test_rating_is_set_and_cleared_without_a_stage_change(office):
    for sent, stored in (("4", 4), ("", None)):
        office.own.refresh_from_db()
        office.anna.post(page(office.own), change(office.own, rating=sent))
        office.own.refresh_from_db()
        assert office.own.rating == stored
    assert stages_of(office.own) == ["New"]


@pytest.mark.slow("opens several pages of the admin")
def test_invalid_rating_is_refused(office):
    for sent in ("0", "6", "x", "4.5", "-1", "9" * 50):
        response = office.anna.post(page(office.own), change(office.own, rating=sent))
        assert response.status_code == 200, sent
        assert "rating" in response.context["adminform"].form.errors, sent
    office.own.refresh_from_db()
    assert office.own.rating is None


def test_outdated_page_undoes_neither_a_rating_nor_a_stage_change(office):
    outdated, interview = change(office.own, rating=""), make_stage("Interview")
    own = Application.objects.filter(pk=office.own.pk)
    own.update(rating=5)
    move(own, Move(stage=office.rejected, author=None, at=timezone.now()))

    office.anna.post(page(office.own), outdated)
    office.own.refresh_from_db()
    assert (office.own.rating, stages_of(office.own)) == (5, ["New", "Rejected"])

    refused = office.anna.post(page(office.own), outdated | {"stage": interview.pk})
    assertContains(refused, "Moved to Rejected since you opened this page.")
    assert stages_of(office.own) == ["New", "Rejected"]
    # So that saving again is meant.
    assertContains(refused, f'value="{office.own.changes.last().pk}"')
    office.anna.post(page(office.own), change(office.own, stage=interview.pk))
    assert stages_of(office.own) == ["New", "Rejected", "Interview"]


# --- decisions and undo ------------------------------------------------------------------------


def test_rejection_needs_a_confirmation(office):
    data = change(office.own, stage=office.rejected.pk, rating="2")

    asked = office.anna.post(page(office.own), data)
    assert (asked.status_code, "no-store" in asked["Cache-Control"]) == (200, True)
    assertContains(asked, "Move Mia to Rejected?")
    assertContains(asked, "The applicant sees the status “Not selected” after 2 days.")
    assert stages_of(office.own) == ["New"]
    office.own.refresh_from_db()
    assert office.own.rating is None

    repeated = dict(asked.context["repeated"])
    assert repeated == {name: str(value) for name, value in data.items()} | {
        "confirmed": office.rejected.pk
    }
    assert office.anna.post(page(office.own), repeated)["Location"] == page(office.own)
    assert stages_of(office.own) == ["New", "Rejected"]
    office.own.refresh_from_db()
    assert office.own.rating == 2


def test_confirmation_of_another_stage_or_of_an_invalid_form_does_not_count(office):
    hired = make_stage("Hired")
    Stage.objects.filter(pk=hired.pk).update(kind=Stage.Kind.HIRED)
    data = change(office.own, stage=hired.pk, confirmed=office.rejected.pk)
    asked = office.anna.post(page(office.own), data)
    for text in ("Move Mia to Hired?", "immediately. This cannot be undone."):
        assertContains(asked, text)

    invalid = office.anna.post(
        page(office.own), change(office.own, stage=office.rejected.pk, rating="9")
    )
    assertNotContains(invalid, "Move Mia to Rejected?")
    assert set(invalid.context["adminform"].form.errors) == {"rating", "stage"}
    assert stages_of(office.own) == ["New"]


def test_other_stages_need_no_confirmation_and_record_author_and_time(office, at):
    office.anna.post(page(office.own), change(office.own, stage=make_stage("Talk").pk))

    recorded = office.own.changes.values_list("stage__name", "author__username", "at")
    assert list(recorded) == [("New", None, office.own.created_at), ("Talk", "anna", at)]
    office.own.refresh_from_db()
    assert office.own.updated_at == at


def test_decision_can_be_undone_until_the_applicant_sees_it(office, at, time_machine):
    def reject():
        data = change(office.own, stage=office.rejected.pk, confirmed=office.rejected.pk)
        office.anna.post(page(office.own), data)
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


def test_every_part_logs_the_access(office):
    office.anna.get(LIST)
    office.anna.get(page(office.own))
    office.anna.get(page(office.own, "history"))
    office.anna.get(page(office.own, "email"))
    office.anna.get(page(office.own, "note"))
    office.anna.post(page(office.own), change(office.own))
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
