"""The page of one application: what it shows, who reads it, decisions and undo."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import AccessLog, Application, Stage
from applications.operations import move
from tests.applications.admin.conftest import FOREIGN, apply, staff
from tests.applications.applicants import stages_of
from tests.applications.makers import make_application, make_file, make_stage, make_submission
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
    shown = {"initial-rating": application.rating or "", "initial-is_spontaneous": "False"}
    return {"stage": latest.stage_id, "seen": latest.pk, "_continue": ""} | shown | STEPS | values


# --- what it shows -----------------------------------------------------------------------------


def test_page_shows_answers_files_contact_and_consent(office):
    values = {"first_name": "Mia", "experience": "yes", "where": "Here.", "cv": "x.pdf", "extra": "kept"}
    submission = make_submission(office.own, values, consent_text="I do agree.", source="newsletter")
    file = make_file(submission, "Mia's <CV>.pdf")
    Application.objects.filter(pk=office.own.pk).update(phone="+32 (470) 12 34", verified_at=timezone.now())

    response = office.anna.get(page(office.own))

    for text in (
        '<a class="text-link" href="mailto:mia@example.org">mia@example.org</a>',
        '<a class="text-link" href="tel:+324701234">+32 (470) 12 34</a>',
        "Confirmed by the applicant on 2 Mar 2026, 09:30",
        "7K3QX9WD", "newsletter", "Personal data", "Yes, I have", "Here.", "Other values", "kept",
        f'<a class="text-link" href="{LIST}files/{file.pk}/" download>Mia&#x27;s &lt;CV&gt;.pdf</a>',
        "PDF, 1.2\xa0KB, not scanned: no scanner is configured",
        "Version 3, accepted on", "I do agree.", "Not filled in",
    ):  # fmt: skip
        assertContains(response, text)
    assertNotContains(response, "Applied again")
    assert "no-store" in response["Cache-Control"]


def test_imported_application_has_no_answers(office):
    imported = make_application(vacancy=office.own.vacancy, stage=office.new)

    response = office.anna.get(page(imported))

    assertContains(response, "This application did not come through a form of this site.")
    assertContains(response, imported.user.username)
    assertNotContains(response, "Not confirmed by the applicant")


def test_page_links_other_applications_of_the_same_person_in_own_brands(office):
    earlier = apply(make_vacancy(title="Baker", brand=office.brand), stage=office.new)
    apply(make_vacancy(title=f"{FOREIGN} baker", brand=office.other), stage=office.new)
    apply(make_vacancy(title="Somebody else's", brand=office.brand), "Tom", "tom@example.org")
    Application.objects.filter(pk=office.own.pk).update(is_repeated=True)

    response = office.anna.get(page(office.own))

    assert [each.pk for each in response.context["others"]] == [earlier.pk]
    assertContains(response, "Applied again")
    assertNotContains(response, FOREIGN)


def test_withdrawn_application_says_when(office):
    Application.objects.filter(pk=office.own.pk).update(withdrawn_at=timezone.now())

    text = "The applicant withdrew this application on 2 Mar 2026, 09:30."
    assertContains(office.anna.get(page(office.own)), text)


def test_page_links_the_newer_and_the_older_application_of_the_list(office, at):
    vacancy = make_vacancy(title="Baker", brand=office.brand)
    rows = [
        apply(vacancy, stage=office.new, created_at=at - timedelta(days=days), is_spontaneous=days == 2)
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
    for invalid in (
        "?_changelist_filters=vacancy__x%3D1",
        "?_changelist_filters=%00",
        "?_changelist_filters=p%3D9",
    ):
        assert links(rows[1], invalid) == (rows[2].pk, rows[0].pk), invalid


def test_page_query_count_does_not_depend_on_the_rows(office, django_assert_max_num_queries):
    office.anna.get(page(office.own))
    make_file(make_submission(office.own, {"cv": "x"}))
    office.anna.post(page(office.own, "note"), {"text": "Note"})
    # session, user, its permissions, those of its groups; the application, its vacancy; stage changes, twice;
    # interviews, twice; submission, files; other applications; newer, older; notes, who they mention,
    # colleagues; emails; the access log; the number of new ones; the stages to choose
    with django_assert_max_num_queries(25) as queries:
        office.anna.get(page(office.own))
    few = len(queries)  # before the next request resets them
    for number in range(2):
        office.anna.post(page(office.own, "note"), {"text": f"Note {number}"})
        apply(office.own.vacancy, stage=office.new)
        move(applications=Application.objects.filter(pk=office.own.pk), author=None, at=timezone.now(),
             stage=make_stage())  # fmt: skip
    with django_assert_max_num_queries(few):
        office.anna.get(page(office.own))


# --- read and unread ---------------------------------------------------------------------------


def test_first_view_by_somebody_who_may_decide_marks_it_as_read(at, office):
    staff("auditor", "Auditor").get(page(office.own))
    office.anna.head(page(office.own))
    office.anna.post(page(office.own, "note"), {"text": "x"})
    office.own.refresh_from_db()
    assert office.own.read_at is None

    office.anna.get(page(office.own))
    office.own.refresh_from_db()
    assert office.own.read_at == at

    earlier = at - timedelta(days=1)
    Application.objects.update(read_at=earlier)
    office.anna.get(page(office.own))
    office.own.refresh_from_db()
    assert office.own.read_at == earlier


def test_page_of_another_brand_is_not_read(office):
    office.anna.get(page(office.foreign))

    office.foreign.refresh_from_db()
    assert office.foreign.read_at is None


def test_mark_as_unread_returns_to_the_list_with_its_filters(office):
    office.anna.get(page(office.own))
    query = "?_changelist_filters=stage%3D1"

    response = office.anna.post(page(office.own, "unread") + query)

    assert (response.status_code, response["Location"]) == (302, f"{LIST}?stage=1")
    office.own.refresh_from_db()
    assert office.own.read_at is None


# --- rating ------------------------------------------------------------------------------------


def test_rating_is_set_and_cleared(office):
    for sent, stored in (("4", 4), ("", None)):
        office.own.refresh_from_db()
        office.anna.post(page(office.own), change(office.own, rating=sent))
        office.own.refresh_from_db()
        assert office.own.rating == stored


def test_invalid_rating_is_refused(office):
    for sent in ("0", "6", "x", "4.5", "-1", "9" * 50):
        response = office.anna.post(page(office.own), change(office.own, rating=sent))
        assert response.status_code == 200, sent
        assert "rating" in response.context["adminform"].form.errors, sent
    office.own.refresh_from_db()
    assert office.own.rating is None


def test_outdated_page_does_not_undo_a_rating(office):
    outdated = change(office.own, rating="", stage=office.new.pk)
    Application.objects.filter(pk=office.own.pk).update(rating=5)

    office.anna.post(page(office.own), outdated)

    office.own.refresh_from_db()
    assert office.own.rating == 5


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
    assert repeated == {name: str(value) for name, value in data.items()} | {"confirmed": office.rejected.pk}
    assert office.anna.post(page(office.own), repeated)["Location"] == page(office.own)
    assert stages_of(office.own) == ["New", "Rejected"]
    office.own.refresh_from_db()
    assert office.own.rating == 2


def test_confirmation_of_another_stage_does_not_count(office):
    hired = make_stage("Hired")
    Stage.objects.filter(pk=hired.pk).update(kind=Stage.Kind.HIRED)

    data = change(office.own, stage=hired.pk, confirmed=office.rejected.pk)
    assertContains(office.anna.post(page(office.own), data), "Move Mia to Hired?")
    assertContains(office.anna.post(page(office.own), data), "immediately. This cannot be undone.")

    assert stages_of(office.own) == ["New"]


def test_invalid_form_is_corrected_before_the_confirmation(office):
    data = change(office.own, stage=office.rejected.pk, rating="9")

    response = office.anna.post(page(office.own), data)

    assertNotContains(response, "Move Mia to Rejected?")
    assert set(response.context["adminform"].form.errors) == {"rating", "stage"}


def test_other_stages_need_no_confirmation(office):
    office.anna.post(page(office.own), change(office.own, stage=make_stage("Talk").pk))

    assert stages_of(office.own) == ["New", "Talk"]


def test_decision_can_be_undone_until_the_applicant_sees_it(office, at, time_machine):
    confirmed = {"confirmed": office.rejected.pk}
    office.anna.post(page(office.own), change(office.own, stage=office.rejected.pk, **confirmed))
    latest = office.own.changes.last()
    assertContains(office.anna.get(page(office.own)), "Undo: Rejected")

    response = office.anna.post(page(office.own, "undo"), {"change": latest.pk})

    assert messages_of(response)[-1] == "The stage change was undone. The applicant did not see it."
    response = office.anna.get(page(office.own))
    assertContains(response, "<del>Rejected</del>")
    assertNotContains(response, "Undo:")
    assert stages_of(office.own) == ["New", "Rejected", "New"]

    office.anna.post(
        page(office.own), change(office.own, stage=office.rejected.pk, confirmed=office.rejected.pk)
    )
    time_machine.move_to(at + timedelta(days=3))
    latest = office.own.changes.last()
    office.anna.post(page(office.own, "undo"), {"change": latest.pk})
    assert office.own.changes.count() == 4


def test_undo_of_no_change_of_this_application_does_nothing(office):
    rows = Application.objects.filter(pk=office.foreign.pk)
    move(applications=rows, stage=office.rejected, author=None, at=timezone.now())
    for value in ("", "x", "0", "9" * 30, office.foreign.changes.last().pk):
        response = office.anna.post(page(office.own, "undo"), {"change": value})
        assert messages_of(response)[-1].startswith("Not undone"), value
    assert stages_of(office.own) == ["New"]
    assert stages_of(office.foreign) == ["New", "Rejected"]


# --- permissions -------------------------------------------------------------------------------


def test_auditor_reads_and_changes_nothing(office):
    auditor = staff("auditor", "Auditor")
    office.anna.post(page(office.own, "note"), {"text": "A note."})

    response = auditor.get(page(office.own))

    assertContains(response, "A note.")
    for text in ("New note", "Write an email", "Mark as unread", 'name="_continue"', "Delete this note"):
        assertNotContains(response, text)
    for name in ("note", "delete-note", "undo", "unread", "email"):
        assert auditor.post(page(office.own, name), {"text": "x"}).status_code == 403, name


def test_other_brands_are_not_found_and_forms_are_posted_only(office):
    found = {}
    for name in ("note", "delete-note", "undo", "unread", "email"):
        for object_id in (office.foreign.pk, 0, "x", "9" * 30, "%00"):
            response = office.anna.post(f"{LIST}{object_id}/{name}/", {"text": "x", "note": 1})
            found[name, object_id] = response.status_code, FOREIGN in response.text
        if name != "email":
            found[name, "GET"] = office.anna.get(page(office.own, name)).status_code, False
    assert {case: result for case, result in found.items() if result != (404, False)} == {}


def test_every_part_logs_the_access(office):
    office.anna.get(page(office.own))
    office.anna.get(page(office.own, "email"))
    office.anna.post(page(office.own, "note"), {"text": "x"})
    office.anna.post(page(office.own, "email"), {"subject": "a", "body": "b", "step": "send"})
    office.anna.post(page(office.own, "unread"))
    office.anna.get(page(office.foreign))

    entries = AccessLog.objects.order_by("pk").values_list("application", "action")
    assert list(entries) == [(office.own.pk, each) for each in ("view", "view", "change", "change", "change")]
