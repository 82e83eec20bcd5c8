"""Moving several applications: confirmation, conflicts, undo."""

from datetime import timedelta
from html import unescape
from urllib.parse import urlencode

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.asserts import assertContains, assertNotContains

from applications.admin.application import ApplicationAdmin
from applications.admin.selection import ApplicationSelection
from applications.models import AccessLog, Application, MailTemplate, Message, Stage
from applications.operations import Move, move
from jobsite.admin.confirmation import with_undo
from tests.applications.admin.conftest import FOREIGN, apply, staff
from tests.applications.applicants import stages_of
from tests.applications.makers import make_stage
from tests.factories import make_vacancy
from tests.messages import messages_of

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"
MOVE, UNDO = f"{LIST}move/", f"{LIST}undo-moves/"


def sent(*applications):
    """Return what a page sends along for `applications`."""
    return str(
        ApplicationSelection.of(
            Application.objects.filter(pk__in=[each.pk for each in applications])
        )
    )


@pytest.fixture
def jan(office):
    return apply(office.own.vacancy, "Jan", "jan@example.org", stage=office.new)


def test_rejection_asks_first_and_names_everybody(office, jan, at):
    Application.objects.filter(pk=jan.pk).update(withdrawn_at=at)
    chosen = {
        "action": f"move_to_{office.rejected.pk}",
        "_selected_action": [office.own.pk, jan.pk],
    }

    page = office.anna.post(LIST + "?read=no", chosen)

    assert [each.display_name for each in page.context["people"]] == ["Jan", "Mia"]
    for text in (
        "2 applications move to “Rejected”",
        '<span class="panel-state is-withdrawn">Withdrawn</span>',
        "The new status from 4 Mar 2026, 09:30, after the delay of 2 days.",
        "English: <strong>Not selected</strong>",
        "No email is sent.",
        "Move 2 applications",
        f'name="back" value="{LIST}?read=no"',
    ):
        assertContains(page, text)
    assertNotContains(page, FOREIGN)
    assert stages_of(office.own) == stages_of(jan) == ["New"]
    assert not Message.objects.exists()


def test_confirmed_rejection_moves_those_who_were_named(office, jan, at):
    applications = sent(office.own, office.foreign)
    data = {"applications": applications, "stage": office.rejected.pk, "back": f"{LIST}?read=no"}
    assert office.anna.post(MOVE, data).status_code == 200  # asks

    answer = office.anna.post(MOVE, data | {"confirmed": "1"})

    assert answer["Location"] == f"{LIST}?read=no"
    assert stages_of(office.own) == ["New", "Rejected"]
    assert stages_of(jan) == stages_of(office.foreign) == ["New"]
    assert list(AccessLog.objects.values_list("application", "action")) == [
        (office.own.pk, "change")
    ]
    assert [each.change_message for each in LogEntry.objects.all()] == ["Moved to Rejected."]
    undo = f"{UNDO}?{urlencode({'at': at.isoformat()})}"
    (message,) = messages_of(answer)
    assert message == with_undo("Mia moved to Rejected.", undo, f"{LIST}?read=no")
    answer = office.anna.post(undo, {"back": f"{LIST}?read=no"})
    assert answer["Location"] == f"{LIST}?read=no"
    assert messages_of(answer)[-1] == "The stage change of Mia was undone."


def test_all_pages_are_selected(office, monkeypatch):
    monkeypatch.setattr(ApplicationAdmin, "list_per_page", 2)
    for number in range(3):
        apply(office.own.vacancy, f"Mia {number}", f"mia{number}@example.org", stage=office.new)
    chosen = {
        "action": f"move_to_{office.rejected.pk}",
        "_selected_action": [office.own.pk],
        "select_across": "1",
    }

    page = office.anna.post(LIST, chosen)

    assertContains(page, "4 applications move to “Rejected”")
    assertContains(page, "<b>Mia 2</b>")
    later = apply(office.own.vacancy, "Later", stage=office.new)  # arrives while the user reads
    data = {
        "applications": str(page.context["selection"]),
        "stage": office.rejected.pk,
        "confirmed": "1",
    }
    office.anna.post(MOVE, data)
    assert Application.objects.with_stage().filter(stage_name="Rejected").count() == 4
    assert stages_of(later) == ["New"]


def test_those_who_are_there_are_named_apart(office, jan, at):
    move(Application.objects.filter(pk=jan.pk), Move(stage=office.rejected, author=None, at=at))
    data = {"applications": sent(office.own, jan), "stage": office.rejected.pk}

    context = office.anna.post(MOVE, data).context
    answer = office.anna.post(MOVE, data | {"confirmed": "1"})

    assert [[each.display_name for each in context[name]] for name in ("people", "there")] == [
        ["Mia"],
        ["Jan"],
    ]
    assert messages_of(answer)[1] == "1 was already in Rejected."
    assert [entry.object_id for entry in LogEntry.objects.all()] == [str(office.own.pk)]
    assert stages_of(office.own) == stages_of(jan) == ["New", "Rejected"]


def test_action_asks_for_an_open_stage_too_and_a_card_does_not(office, jan):
    interview = make_stage("Interview")
    chosen = {"action": f"move_to_{interview.pk}", "_selected_action": [office.own.pk, jan.pk]}
    assertContains(office.anna.post(LIST, chosen), "2 applications move to “Interview”")
    assert stages_of(jan) == ["New"]

    data = {"applications": sent(office.own, jan), "stage": interview.pk}
    assert messages_of(office.anna.post(MOVE, data)) == ["2 moved to Interview."]
    assert stages_of(jan) == ["New", "Interview"]


def test_application_that_somebody_else_moved_is_not_moved(office, jan, at):
    interview = make_stage("Interview")
    data = {"applications": sent(office.own, jan), "stage": office.rejected.pk, "confirmed": "1"}
    move(Application.objects.filter(pk=jan.pk), Move(stage=interview, author=None, at=at))

    answer = office.anna.post(MOVE, data)

    assert stages_of(jan) == ["New", "Interview"]
    assert stages_of(office.own) == ["New", "Rejected"]
    text = messages_of(answer)[1]
    assert text.startswith("1 was not moved: somebody else moved it in the meantime. <a")
    assert ">Jan</a>" in text


def test_script_gets_json(office):
    interview = make_stage("Interview", embargo_days=1)
    data = {"applications": sent(office.own), "stage": interview.pk}
    accept = {"Accept": "application/json"}

    moved = office.anna.post(MOVE, data, headers=accept)
    again = office.anna.post(MOVE, data | {"stage": make_stage("Offer").pk}, headers=accept)
    asks = office.anna.post(MOVE, data | {"stage": office.rejected.pk}, headers=accept)

    assert moved.status_code == 200
    assert moved.json()["applications"] == sent(office.own)
    assert moved.json()["undo"].startswith(UNDO)
    assert (again.status_code, again.json()["applications"]) == (409, sent(office.own))
    assert asks["Content-Type"].startswith("text/html")
    assert stages_of(office.own) == ["New", "Interview"]


def test_bad_input_is_an_error_and_moves_nothing(office):
    valid = {"applications": sent(office.own), "stage": make_stage("Interview").pk}
    selections = ("", "1", "x:1", ",", "9" * 30 + ":1", "1:1\0")
    cases = [(MOVE, valid | {"applications": each}) for each in selections]
    cases += [(MOVE, valid | {"stage": each}) for each in ("x", "9" * 30, "")]
    accepted = [case for case in cases if office.anna.post(*case).status_code != 400]
    times = ("x", "2026-03-02", "2026-03-02T09:30:15", "9999999999", "\0", "2026-13-01T00:00Z")
    accepted += [at for at in times if office.anna.get(UNDO, {"at": at}).status_code != 400]
    assert (accepted, stages_of(office.own)) == ([], ["New"])

    addresses = ("https://evil.example/", "//evil.example", "/admin/x")  # not to return to
    found = {back: office.anna.post(MOVE, valid | {"back": back})["Location"] for back in addresses}
    assert found == dict.fromkeys(addresses, LIST)


def test_hiring_asks(office):
    hired = make_stage("Hired")
    Stage.objects.filter(pk=hired.pk).update(kind=Stage.Kind.HIRED)

    page = office.anna.post(MOVE, {"applications": sent(office.own), "stage": hired.pk})

    assertContains(page, "The new status, immediately. You cannot undo the move.")


# --- undo --------------------------------------------------------------------------------------


def rejected_by(office, *applications):
    """Reject `applications` as Anna. Return the address of the page that undoes it."""
    data = {"applications": sent(*applications), "stage": office.rejected.pk, "confirmed": "1"}
    return (
        unescape(messages_of(office.anna.post(MOVE, data))[-1])
        .split('formaction="')[1]
        .split('"')[0]
    )


def later(office, time_machine, at):
    """Stop the clock at `at`, with a new session: sessions end after 12 hours."""
    time_machine.move_to(at, tick=False)
    office.anna.force_login(User.objects.get(username="anna"))


def test_undo_asks_and_moves_back(office, jan, time_machine, at):
    url = rejected_by(office, office.own, jan)
    later(office, time_machine, at + timedelta(days=1))

    page = office.anna.get(url)
    assertContains(page, "2 applications go back to their previous stages")
    assert [each.display_name for each in page.context["people"]] == ["Jan", "Mia"]
    assert stages_of(jan) == ["New", "Rejected"]

    assert messages_of(office.anna.post(url)) == ["2 stage changes were undone."]
    assert stages_of(jan) == stages_of(office.own) == ["New", "Rejected", "New"]
    assert LogEntry.objects.filter(change_message="Stage change undone.").count() == 2

    again = office.anna.post(url)
    assert messages_of(again)[-1].startswith(
        "2 were not undone: moved again, or visible to the applicant."
    )
    assert stages_of(jan) == ["New", "Rejected", "New"]

    url = rejected_by(office, office.own)
    later(office, time_machine, at + timedelta(days=3))
    assertContains(office.anna.get(url), "1 stage change cannot be undone")  # the applicant sees it
    office.anna.post(url)
    assert stages_of(office.own)[-1] == "Rejected"


def test_move_after_a_change_of_a_later_clock_is_reported_and_undone(office, jan, at):
    """A node whose clock is ahead moved Mia: the move of both has two times."""
    template = MailTemplate.objects.create(name="Sorry", subject_en="Sorry", body_en="Sorry.")
    Stage.objects.filter(pk=office.rejected.pk).update(email=template)
    own, ahead = Application.objects.filter(pk=office.own.pk), at + timedelta(minutes=5)
    move(own, Move(stage=make_stage("Interview"), author=None, at=ahead))

    data = {"applications": sent(office.own, jan), "stage": office.rejected.pk, "confirmed": "1"}
    done, emails = messages_of(office.anna.post(MOVE, data | {"sends_email": "on"}))

    assert emails == "2 emails are sent on 4 Mar 2026, 09:30."
    url = unescape(done).split('formaction="')[1].split('"')[0]
    assert [each.display_name for each in office.anna.get(url).context["people"]] == ["Jan", "Mia"]
    assert messages_of(office.anna.post(url)) == ["2 stage changes were undone."]


def test_undo_of_somebody_else_or_of_another_brand_does_nothing(office):
    url = rejected_by(office, office.own)

    colleague = staff("piet", brands=[office.brand])
    assert colleague.get(url).context["people"] == []
    colleague.post(url)
    assert stages_of(office.own) == ["New", "Rejected"]

    office.own.vacancy.brand = office.other
    office.own.vacancy.save()
    assert office.anna.get(url).context["people"] == []
    office.anna.post(url)
    assert stages_of(office.own) == ["New", "Rejected"]


def test_query_count_of_a_confirmation_does_not_depend_on_the_rows(office):
    few, many = queries_of_rows(office, MOVE, {"stage": office.rejected.pk})

    assert few == many <= 14


def queries_of_rows(office, path, data):
    """Return the number of queries of a POST of `data` to `path` with one and with three
    applications.
    """
    made = [
        apply(make_vacancy(brand=office.brand), f"M{n}", f"m{n}@x.org", stage=office.new)
        for n in range(3)
    ]
    counts = []
    for chosen in (made[:1], made):
        data = data | {"applications": sent(*chosen)}
        office.anna.post(path, data)
        with CaptureQueriesContext(connection) as queries:
            office.anna.post(path, data)
        counts.append(len(queries))
    return counts
