"""Applications that colleagues added:
consent, notice, deletion without them, and corrected contact data.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from applications import privacy
from applications.mail.consent import ConsentReminders
from applications.models import Application, ConsentRequest, Message
from applications.operations import Move, answer, move
from applications.operations.adding import ConfirmedError, correct_contact
from applications.submissions.links import receipt_path
from jobsite.models import Erasure
from tests.applications.admin.conftest import staff
from tests.applications.admin.list.test_adding import ADD, added, sent
from tests.applications.makers import signed_in, stage_of_kind

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def asked(office: Any, **values: Any) -> Application:
    """Return a new application whose applicant is asked for the consent."""
    assert (
        office.anna.post(ADD, sent(office, basis="consent", language="en") | values).status_code
        == 302
    )
    return added()


def kinds(application: Application) -> list[str]:
    return list(
        Message.objects.filter(application=application)
        .order_by("pk")
        .values_list("kind", flat=True)
    )


def purge(at: Any) -> int:
    return privacy.purge(before=None, now=at)["applications"]


# --- consent ---


def test_consent_is_asked_by_email_only(office):
    page = office.anna.post(ADD, sent(office, basis="consent", email=""))
    assert "The applicant is asked by email: enter an e-mail address." in page.content.decode()
    new = asked(office)
    request = ConsentRequest.objects.get()
    text = Message.objects.get(application=new).text
    assert kinds(new) == ["consent"]
    assert request.text in text
    assert request.due_on == timezone.localdate() + 30 * DAY
    assert new.origin.informed_at == timezone.now()
    assert (
        "The applicant has not answered yet."
        in office.anna.get(f"/admin/applications/application/{new.pk}/change/").content.decode()
    )


def test_yes_is_stored_and_a_get_changes_nothing(office, at):
    new = asked(office)
    path = receipt_path(new)
    assert Client().get(f"{path}/consent").status_code == 405
    assert "Yes, show my application" in Client().get(path).content.decode()
    assert "Yes, I agree" in Client().post(path, follow=True).content.decode()
    wrong = Client().post(f"{path}/consent", {"answer": "maybe"})
    assert (wrong.status_code, "Answer yes or no." in wrong.content.decode()) == (422, True)
    assert ConsentRequest.objects.get().answer == ""

    Client().post(f"{path}/consent", {"answer": "yes"})
    assert (ConsentRequest.objects.get().answer, ConsentRequest.objects.get().answered_at) == (
        "yes",
        at,
    )
    assert "Yes, I agree" not in Client().get(path).content.decode()
    assert purge(at + 40 * DAY) == 0
    assert Client().post(f"{path}/consent", {"answer": "no"}).status_code == 302
    assert Application.objects.filter(pk=new.pk).exists()


def test_no_deletes_the_application(office):
    new = asked(office)
    page = Client().post(f"{receipt_path(new)}/consent", {"answer": "no"})
    assert page.url == "/account/deleted"
    assert not Application.objects.filter(pk=new.pk).exists()
    assert Erasure.objects.count() == 1


def test_no_of_a_hired_person_deletes_nothing_and_tells_the_author(office, at):
    new = asked(office)
    hired = stage_of_kind("hired")
    move(Application.objects.filter(pk=new.pk), Move(stage=hired, author=None, at=at))
    Client().post(f"{receipt_path(new)}/consent", {"answer": "no"})
    assert ConsentRequest.objects.get().answer == "no"
    told = Message.objects.get(application=new, recipient__username="anna")
    assert (told.kind, "Zoë" in told.body + told.subject) == ("consent", False)
    assert purge(at + 40 * DAY) == 0


def test_only_the_owner_of_an_application_in_an_account_answers(office, at):
    new = asked(office)
    owner = User.objects.create_user("zoe")
    Application.objects.filter(pk=new.pk).update(user=owner)
    Client().post(f"{receipt_path(new)}/consent", {"answer": "no"})
    assert ConsentRequest.objects.get().answer == ""
    signed_in(owner).post(f"/account/applications/{new.pk}/consent", {"answer": "yes"})
    assert ConsentRequest.objects.get().answer == "yes"


def test_reminder_is_sent_once_after_a_week(office, at):
    new = asked(office)
    job = ConsentReminders("https://jobs.test")
    assert job.next_due(at + 7 * DAY - timedelta(seconds=1)) is None
    item = job.next_due(at + 7 * DAY)
    assert item
    assert (job.run(item), job.run(item)) == ("consent queued", "consent nothing")
    assert job.next_due(at + 8 * DAY) is None
    assert kinds(new) == ["consent", "consent"]
    assert Message.objects.latest("pk").subject.startswith("Reminder: ")


@pytest.mark.parametrize("column", ["answered", "withdrawn"])
def test_nobody_else_is_reminded(office, at, column):
    new = asked(office)
    if column == "answered":
        answer(application=new, is_agreed=True, at=at)
    else:
        Application.objects.filter(pk=new.pk).update(withdrawn_at=at)
    assert ConsentReminders().next_due(at + 7 * DAY) is None


def test_application_without_an_answer_is_deleted_after_30_days(office, at):
    new = asked(office)
    assert purge(at + 30 * DAY) == 0
    assert purge(at + 31 * DAY) == 1
    assert not Application.objects.filter(pk=new.pk).exists()


def test_nightly_command_deletes_it_without_a_period_of_the_site(office, capsys, settings):
    settings.APPLICATIONS_KEPT_DAYS = 0
    asked(office)
    call_command("purge")
    assert "Deleted 0 applications" in capsys.readouterr().out
    ConsentRequest.objects.update(due_on=timezone.localdate() - DAY)
    call_command("purge")
    assert "Deleted 1 applications" in capsys.readouterr().out


# --- notice ---


def test_applicant_who_did_not_apply_and_was_not_told_is_deleted(office, at):
    for name, values in {"told": {"is_informed": "on"}, "late": {}}.items():
        office.anna.post(
            ADD, sent(office, channel="agency", email="", phone="", family_name=name) | values
        )
    late, told = Application.objects.order_by("-pk")[:2]
    assert (late.origin.informed_at, told.origin.informed_at) == (None, at)
    office.anna.post(ADD, sent(office, channel="phone", email="", phone="", family_name="asked"))
    assert added().family_name == "asked"
    assert purge(at + 30 * DAY) == 0
    assert purge(at + 30 * DAY + timedelta(seconds=1)) == 1
    assert not Application.objects.filter(pk=late.pk).exists()


@pytest.mark.slow("opens several pages of the admin")
def test_start_page_warns_a_week_before_and_the_page_records_the_notice(office, at, time_machine):
    office.anna.post(ADD, sent(office, channel="agency", email=""))
    page = f"/admin/applications/application/{added().pk}/"
    assert "Tell these applicants" not in office.anna.get("/admin/").content.decode()
    time_machine.move_to(at + 23 * DAY, tick=False)
    Client().logout()
    anna = staff("ann2", brands=[office.brand])
    assert "Zoë Peeters" in anna.get("/admin/").content.decode()
    for foreign in (staff("ben", brands=[office.other]), staff("audit", "Auditor")):
        assert "Tell these applicants" not in foreign.get("/admin/").content.decode()
    html = anna.get(f"{page}change/").content.decode()
    assert "Tell the applicant what is stored, or the application is deleted after" in html
    anna.post(f"{page}informed/")
    assert added().origin.informed_at == timezone.now()
    assert "Tell these applicants" not in anna.get("/admin/").content.decode()
    assert purge(at + 40 * DAY) == 0


# --- contact data ---


def contact(**values: str) -> dict[str, str]:
    return {
        "given_name": "Zoë",
        "family_name": "Peeters",
        "email": "Zoe@Example.org",
        "language": "nl",
        "phone": "+32 470 12 34 56",
    } | values


def test_corrected_address_gets_the_notice_and_a_new_link(office, at):
    office.anna.post(ADD, sent(office))
    new = added()
    before = receipt_path(new)
    page = f"/admin/applications/application/{new.pk}/contact/"
    assert 'value="Zoe@Example.org"' in office.anna.get(page).content.decode()
    assert "Enter a name" in office.anna.post(page, {"language": "nl"}).content.decode()
    office.anna.post(page, contact(email="Zoé@example.org".replace("é", "oe")))

    [notice] = Message.objects.filter(application=new)  # the first one was not sent yet
    assert notice.to == "Zooe@example.org"
    new.refresh_from_db()
    assert new.email_folded == "zooe@example.org"
    assert Client().get(before).status_code == 404
    assert Client().get(receipt_path(new)).status_code == 200
    message = LogEntry.objects.latest("pk").change_message
    assert message == '[{"changed": {"fields": ["E-mail address"]}}]'


def test_correction_of_a_name_sends_nothing(office):
    office.anna.post(ADD, sent(office))
    new = added()
    changed = correct_contact(
        application=new, contact=contact(given_name="Zoe") | {}, language="nl", at=timezone.now()
    )
    assert (changed, kinds(new)) == (["given_name"], ["notice"])
    assert Client().get(receipt_path(new)).status_code == 200


def test_confirmed_and_own_contact_data_are_not_corrected(office):
    office.anna.post(ADD, sent(office))
    new = added()
    Client().post(receipt_path(new))
    for application in (new, office.own):
        page = f"/admin/applications/application/{application.pk}/"
        assert "contact/" not in office.anna.get(f"{page}change/").content.decode()
        office.anna.post(f"{page}contact/", contact(email="other@example.org"))
        with pytest.raises(ConfirmedError):
            correct_contact(
                application=application, contact=contact(), language="nl", at=timezone.now()
            )
    assert added().email == "Zoe@Example.org"


def test_consent_is_asked_again_at_a_corrected_address(office, at):
    new = asked(office)
    page = f"/admin/applications/application/{new.pk}/contact/"
    without = office.anna.post(page, contact(email=""))
    assert "The applicant is asked by email: enter an e-mail address." in without.content.decode()
    office.anna.post(page, contact(email="other@example.org"))
    assert [each.to for each in Message.objects.filter(application=new)] == ["other@example.org"]
    assert ConsentRequest.objects.count() == 1
