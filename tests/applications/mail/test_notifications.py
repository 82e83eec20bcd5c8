"""Emails to recruiters about vacancies:
closing soon, submitted for approval, approved and sent back.
"""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User

from applications.models import ClosingNotice, EmailLanguage, EmailOptOut, Message
from jobsite.office import approval_emails as approvals
from jobsite.office.approval_emails import ApprovalEmails
from jobsite.office.closing_emails import ClosingEmails
from tests.conftest import NOW
from tests.factories import make_brand, make_recruiter, make_vacancy
from vacancies.history.versions import record
from vacancies.models import Approval, Brand, Change, Vacancy
from vacancies.operations.approval_decisions import approve, fingerprint
from vacancies.operations.approval_requests import request_approval, send_back, withdraw_request

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at")]
DAY = timedelta(days=1)
SITE = "https://jobs.example.org"
EDITS = ("view_vacancy", "change_vacancy")


def make_user(name, *brands, rights=EDITS, **values):
    user = User.objects.create_user(
        name, email=f"{name}@example.com", is_staff=True, first_name=name, **values
    )
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    user.brands.add(*brands)
    return user


@pytest.fixture
def acme():
    return make_brand("Acme", requires_approval=True)


@pytest.fixture
def ed(acme):
    return make_user("ed", acme)


@pytest.fixture
def lea(acme):
    return make_user("lea", acme, rights=(*EDITS, "approve_vacancy"))


def run(work, at=NOW):
    outcomes = []
    while item := work.next_due(at):
        outcomes.append(work.run(item))
        assert len(outcomes) < 50
    return outcomes


def sent():
    return [
        (message.kind, message.to, message.subject) for message in Message.objects.order_by("pk")
    ]


def closing(brand, title="Baker", days=5, **values):
    return make_vacancy(brand=brand, title=title, publish_until=NOW + days * DAY, **values)


def changed_by(user, vacancy):
    record(vacancy, Change.CREATED, author=user, at=NOW - DAY)
    return vacancy


# --- closing soon ---


def test_closing_vacancies_are_told_in_one_email(acme, ed):
    baker = changed_by(ed, closing(acme, "Baker", days=5))
    clerk = closing(
        acme, "Clerk", days=2, head_recruiter=make_recruiter("Ed", email="ED@example.com")
    )
    cook = closing(acme, "Cook", days=3, recruiters=("Ed",))  # imported: nobody changed it here
    changed_by(make_user("other", acme), closing(acme, "Of a colleague"))
    changed_by(ed, closing(acme, "Later", days=8))
    changed_by(ed, closing(acme, "Draft", status="draft"))
    changed_by(ed, closing(make_brand("Foreign"), "Foreign"))

    # Also to the colleague.
    assert sorted(run(ClosingEmails(SITE))) == ["closing queued", "closing queued"]
    message = Message.objects.get(recipient=ed)
    address = f"{SITE}/admin/vacancies/vacancy"
    assert (message.kind, message.subject) == ("closing", "3 vacancies close soon")
    assert set(message.vacancies) == {baker.pk, clerk.pk, cook.pk}
    assert message.body == (
        "These vacancies close within a week. Extend them if they should stay public.\n\n"
        f"Clerk: 4 Mar 2026, 09:30\n{address}/{clerk.pk}/change/\n\n"
        f"Cook: 5 Mar 2026, 09:30\n{address}/{cook.pk}/change/\n\n"
        f"Baker: 7 Mar 2026, 09:30\n{address}/{baker.pk}/change/\n\n"
        f"Choose the emails that you receive:\n{SITE}/admin/applications/message/mine/"
    )


def test_closing_date_is_told_once(acme, ed):
    vacancy = changed_by(ed, closing(acme))
    for at in (NOW, NOW, NOW + DAY):  # also by another process, and after a restart
        run(ClosingEmails(), at)
    assert Message.objects.count() == 1

    Vacancy.objects.update(publish_until=vacancy.publish_until + 2 * DAY)
    run(ClosingEmails(), NOW + DAY)
    assert Message.objects.count() == 2


def test_closing_email_is_for_active_users_who_want_it_and_may_see(acme):
    refuses = make_user("refuses", acme)
    EmailOptOut.objects.create(user=refuses, kind="closing")
    others = (
        make_user("gone", acme, is_active=False),
        make_user("moved"),
        make_user("blind", acme, rights=()),
    )
    for user in (*others, refuses):
        changed_by(user, closing(acme))
    run(ClosingEmails())
    assert (sent(), ClosingNotice.objects.count()) == ([], 0)


def test_closing_email_is_queued_with_its_notice_or_not_at_all(acme, ed, monkeypatch):
    changed_by(ed, closing(acme))
    monkeypatch.setattr("jobsite.office.closing_emails.queue", lambda *_args, **_values: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(ClosingEmails())
    monkeypatch.undo()
    assert ClosingNotice.objects.count() == 0
    run(ClosingEmails())
    assert Message.objects.count() == 1


# --- approval ---


def submitted(brand, author, **values):
    vacancy = make_vacancy(brand=brand, title="Nurse", status="draft", publish_from=None)
    request_approval(vacancy, {"status": "published"}, at=NOW, author=author, **values)
    return vacancy


def test_request_is_told_to_the_approvers_of_the_brand(acme, ed, lea):
    rights = (*EDITS, "approve_vacancy")
    make_user("foreign", make_brand("Foreign"), rights=rights)
    make_user("gone", acme, rights=rights, is_active=False)
    EmailOptOut.objects.create(user=make_user("refuses", acme, rights=rights), kind="approval")
    everywhere = make_user("zoe", rights=(*rights, "work_for_every_brand"))
    EmailLanguage.objects.create(user=everywhere, language="fr")
    author = make_user("author", acme, rights=rights)
    vacancy = submitted(acme, author, note="Please read")

    assert run(ApprovalEmails(SITE)) == ["approval queued"]
    assert [(message.to, message.language) for message in Message.objects.order_by("pk")] == [
        ("lea@example.com", "en"),
        ("zoe@example.com", "fr"),
    ]
    message = Message.objects.get(recipient=lea)
    assert (message.kind, message.subject, message.author) == (
        "approval",
        "For approval: Nurse",
        author,
    )
    assert message.vacancies == [vacancy.pk]
    assert message.body == (
        "author submitted “Nurse” for approval.\n\nPlease read\n\n"
        f"{SITE}/admin/vacancies/vacancy/{vacancy.pk}/approval/\n\n"
        f"Choose the emails that you receive:\n{SITE}/admin/applications/message/mine/"
    )
    assert run(ApprovalEmails(SITE)) == []


def test_decisions_are_told_to_the_submitter(acme, ed, lea):
    vacancy = submitted(acme, ed)
    run(ApprovalEmails())
    send_back(vacancy=vacancy, note="Name the shifts", at=NOW, author=lea)
    run(ApprovalEmails())
    approval = request_approval(vacancy, {"status": "published"}, at=NOW, author=ed)
    approve(vacancy=vacancy, seen=fingerprint(vacancy, approval), at=NOW, author=lea)
    run(ApprovalEmails())
    run(ApprovalEmails())

    assert sent() == [
        ("approval", "lea@example.com", "For approval: Nurse"),
        ("decision", "ed@example.com", "Sent back: Nurse"),
        ("decision", "ed@example.com", "Approved: Nurse"),  # decided before the request was told
    ]
    body = Message.objects.get(subject="Sent back: Nurse").body
    assert body.startswith("lea sent “Nurse” back.\n\nName the shifts\n\nhttp")


def test_emails_about_a_request_of_two_name_and_reach_both(acme, ed, lea):
    vacancy, bea = submitted(acme, ed, note="Please read"), make_user("bea", acme)
    approval = request_approval(vacancy, {"location": "Ghent"}, at=NOW, author=bea)
    run(ApprovalEmails())
    approve(vacancy=vacancy, seen=fingerprint(vacancy, approval), at=NOW, author=lea)
    run(ApprovalEmails())
    assert Message.objects.get(kind="approval").body.startswith("ed, bea submitted “Nurse”")
    assert "Please read" in Message.objects.get(kind="approval").body
    assert [address for kind, address, _subject in sent() if kind == "decision"] == [
        "ed@example.com",
        "bea@example.com",
    ]


def test_decision_is_for_active_users_who_want_it_and_may_see(acme, ed, lea):
    EmailOptOut.objects.create(user=ed, kind="decision")
    moved, gone = make_user("moved", acme), make_user("gone", acme)
    for author in (ed, moved, gone):
        send_back(vacancy=submitted(acme, author), note="x", at=NOW, author=lea)
    moved.brands.clear()
    User.objects.filter(pk=gone.pk).update(is_active=False)
    assert run(ApprovalEmails()) == ["approval nothing"] * 3

    withdraw_request(vacancy=submitted(acme, ed), at=NOW, author=ed)
    submitted(acme, ed)
    submitted(acme, ed).delete()
    Brand.objects.update(requires_approval=False)
    assert run(ApprovalEmails()) == ["approval nothing"] * 3
    assert sent() == []


def test_request_is_told_once_by_a_dispatcher_that_is_killed(acme, ed, lea, monkeypatch):
    submitted(acme, ed)
    monkeypatch.setattr(approvals, "_queue", lambda *values: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(ApprovalEmails())
    monkeypatch.undo()
    assert (sent(), Approval.objects.get().emailed) == ([], "")

    first, second = ApprovalEmails(), ApprovalEmails()
    item = first.next_due(NOW)
    assert [first.run(item), second.run(item)] == ["approval queued", "approval nothing"]
    assert Message.objects.count() == 1
