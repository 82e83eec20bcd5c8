"""Reasons of rejections and withdrawals:
where recruiters choose and read them, and who never does.
"""

import json

import pytest
from django.utils import timezone

from applications.models import MailTemplate, Reason, Stage, StageChange
from applications.operations import Move, move, undo_moves
from applications.privacy.export import export
from applications.statistics import hiring
from jobsite.office.reporting.hiring import reasons
from jobsite.office.reporting.tables import Scope
from tests.applications.admin.conftest import apply, colleague, staff
from tests.applications.admin.list.test_bulk_email import EMAILS
from tests.applications.admin.list.test_exports import csv_rows, exported
from tests.applications.admin.moves.test_bulk_move import LIST, MOVE, sent
from tests.applications.admin.page.test_page import page
from tests.applications.applicants import stages_of
from tests.applications.makers import bearer, make_token, make_user
from vacancies.statistics.reading import Days

pytestmark = pytest.mark.django_db
STAGES, REASONS = "/admin/applications/stage/", "/admin/applications/reason/"
WORD = "zyxreason"


@pytest.fixture
def reason(office):
    return Reason.objects.create(name=f"Of {WORD}", kind="rejected")


def asks(office, answer):
    Stage.objects.filter(pk=office.rejected.pk).update(asks_reason=answer)


def requests(office):
    """Return, by page, a function that posts the confirmation of a rejection with `values`."""
    template = MailTemplate.objects.create(name="Sorry", subject_en="Sorry", body_en="Sorry.")
    stage = office.rejected.pk
    bulk = {"applications": sent(office.own), "stage": stage, "confirmed": "1"}
    return {
        "list": lambda **values: office.anna.post(MOVE, bulk | values),
        "email": lambda **values: office.anna.post(
            EMAILS, bulk | {"template": template.pk} | values
        ),
    }


@pytest.mark.slow("opens several pages of the admin")
@pytest.mark.parametrize("where", ["list", "email"])
def test_reason_is_asked_for_where_a_move_is_confirmed(office, reason, where):
    asks(office, "must")
    off = Reason.objects.create(name="Off", kind="rejected", is_active=False)
    other = Reason.objects.get(name="Personal reasons")
    post = requests(office)[where]
    for value, text in (
        ("", "This field is required."),
        (off.pk, "Select a valid choice."),
        (other.pk, "Select a valid choice."),
        ("x", "Select a valid choice."),
        ("9" * 30, "Select a valid choice."),
    ):
        refused = post(reason=value)
        assert (refused.status_code, text in refused.content.decode()) == (422, True), value
        assert str(reason) in refused.content.decode()
        assert stages_of(office.own) == ["New"], value
    assert post(reason=reason.pk).status_code == 302
    assert (stages_of(office.own), office.own.changes.last().reason) == (
        ["New", "Rejected"],
        reason,
    )


@pytest.mark.parametrize("where", ["list", "email"])
def test_reason_may_be_left_out_or_is_not_asked_for(office, reason, where):
    for answer, chosen, stored in (
        ("may", "", None),
        ("may", reason.pk, reason),
        ("never", reason.pk, None),
    ):
        StageChange.objects.filter(application=office.own, stage=office.rejected).delete()
        asks(office, answer)
        assert requests(office)[where](reason=chosen).status_code == 302
        assert office.own.changes.last().reason == stored, answer
        MailTemplate.objects.all().delete()


def test_each_applicant_can_have_a_reason_of_their_own(office, reason):
    asks(office, "must")
    zoe, jan = (
        apply(office.own.vacancy, name, f"{name}@example.org", stage=office.new)
        for name in ("Zoe", "Jan")
    )
    other = Reason.objects.filter(kind="rejected").first()
    data = {"applications": sent(office.own, zoe, jan), "stage": office.rejected.pk}
    shown = office.anna.post(MOVE, data)
    assert [each.pk for each, _field in shown.context["own_reasons"]] == [
        each.pk for each in (jan, zoe, office.own)
    ]
    own = {f"reason_{zoe.pk}": other.pk, f"reason_{jan.pk}": reason.pk}
    refused = office.anna.post(MOVE, data | own | {"confirmed": "1"})
    assert refused.context["form"].errors == {"reason": ["This field is required."]}
    wrong = own | {f"reason_{zoe.pk}": "x", "reason": reason.pk}
    refused = office.anna.post(MOVE, data | wrong | {"confirmed": "1"})
    assert list(refused.context["form"].errors) == [f"reason_{zoe.pk}"]
    office.anna.post(MOVE, data | own | {"confirmed": "1", "reason": reason.pk})
    assert [each.changes.last().reason for each in (office.own, zoe, jan)] == [
        reason,
        other,
        reason,
    ]


def test_stage_that_asks_needs_a_confirmation_on_the_board(office, reason):
    """A card that is dragged sends no answer."""
    withdrawn = office.new
    Stage.objects.filter(pk=withdrawn.pk).update(kind="withdrawn", asks_reason="may")
    move(
        type(office.own).objects.all(), Move(stage=office.rejected, author=None, at=timezone.now())
    )
    data = {"applications": sent(office.own), "stage": withdrawn.pk}
    response = office.anna.post(MOVE, data, headers={"accept": "application/json"})
    assert (response.status_code, "Personal reasons" in response.content.decode()) == (200, True)
    assert stages_of(office.own)[-1] == "Rejected"
    columns = {
        each.stage: each.needs_confirmation
        for each in office.anna.get(f"{LIST}board/").context["columns"]
    }
    assert columns == {office.new: True, office.rejected: True}


@pytest.mark.slow("opens many pages")
def test_reason_is_in_history_filter_export_and_report_but_not_for_applicants(
    office, reason, settings
):
    user = make_user("mia")
    type(office.own).objects.filter(pk=office.own.pk).update(user=user)
    rows = type(office.own).objects.filter(pk=office.own.pk)
    at = timezone.now()
    Stage.objects.update(embargo_days=0)
    move(rows, Move(stage=office.rejected, author=None, at=at, reason=reason))

    assert f"<span>{reason}</span>" in office.anna.get(page(office.own)).content.decode()
    lists = [
        office.anna.get(f"{LIST}?reason={pk}").context["cl"].result_count for pk in (reason.pk, 1)
    ]
    assert lists == [1, 0]
    headings, row = csv_rows(exported(staff("boss", "Administrator"), office.own))
    assert dict(zip(headings, row, strict=True))["Reason"] == str(reason)
    hiring.record(since=None, at=at)
    days = Days.until(at.date(), 31)
    for user_of_report, rows_of_report in (
        (colleague("an", "Recruiter", office.brand), [[str(reason), 1]]),
        (colleague("bo", "Recruiter", office.other), []),
    ):
        scope = Scope(user_of_report, days, None)
        assert reasons(scope).rows == rows_of_report

    full, own = (
        json.dumps(export(user=user, now=at, is_own=is_own), default=str)
        for is_own in (False, True)
    )
    assert (WORD in full, WORD in own) == (True, False)
    office.anna.force_login(user)
    shown = [
        office.anna.get(f"/account/applications/{office.own.pk}"),
        office.anna.get("/account/export"),
    ]
    headers = bearer(make_token(user))
    shown.append(office.anna.get("/v1/user/applications", headers=headers))
    assert [(each.status_code, WORD in each.content.decode()) for each in shown] == [
        (200, False)
    ] * 3


def test_undo_brings_the_reason_of_the_earlier_stage_back(office, reason):
    at, rows = timezone.now(), type(office.own).objects.filter(pk=office.own.pk)
    move(rows, Move(stage=office.rejected, author=None, at=at, reason=reason))
    later = Stage.objects.create(name="Later", status=office.rejected.status, embargo_days=2)
    move(rows, Move(stage=later, author=None, at=at))
    undo_moves([office.own.changes.last().pk], author=None, at=at)
    assert rows.with_reason().get().reason_id == reason.pk


def test_administrators_edit_reasons_and_what_stages_ask(office, reason):
    boss = staff("boss", "Administrator")
    names = [
        name for name, kind in Reason.objects.values_list("name", "kind") if kind == "withdrawn"
    ]
    assert (Reason.objects.count(), len(names)) == (12, 3)  # with that of this test
    stage = {
        "name": "Closed",
        "status": office.rejected.status_id,
        "embargo_days": 0,
        "position": 9,
        "email_after_hours": 1,
        "remind_days": 0,
    }
    refused = boss.post(f"{STAGES}add/", stage | {"kind": "open", "asks_reason": "must"})
    assert "have reasons" in str(refused.context["adminform"].form.errors["asks_reason"])
    boss.post(f"{STAGES}add/", stage | {"kind": "withdrawn", "asks_reason": "must"})
    assert Stage.objects.get(name="Closed").kind == "withdrawn"
    twice = boss.post(f"{REASONS}add/", {"name": reason.name, "kind": "rejected", "position": 0})
    assert "There is such a reason already." in twice.content.decode()
    rows = type(office.own).objects.filter(pk=office.own.pk)
    move(rows, Move(stage=office.rejected, author=None, at=timezone.now(), reason=reason))
    page_of_deletion = boss.post(f"{REASONS}{reason.pk}/delete/", {"post": "yes"})
    assert "protected" in page_of_deletion.content.decode()
    assert Reason.objects.filter(pk=reason.pk).exists()
