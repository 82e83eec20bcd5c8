"""The email of a stage: when it is sent, to whom, and that nobody gets it twice."""

from datetime import timedelta

import pytest
from django.utils import timezone

from applications.mail.delivery import MailDelivery, as_email
from applications.models import Application, BrandMail, MailTemplate, Message, Reason, Stage
from applications.operations import Move, move, undo_moves
from applications.operations.applicants import withdraw_application
from tests.applications.admin.conftest import apply, colleague, staff
from tests.applications.admin.list.test_bulk_email import EMAILS
from tests.applications.admin.moves.test_bulk_move import LIST, MOVE, sent
from tests.applications.admin.page.test_page import page
from tests.applications.applicants import stages_of
from tests.applications.makers import make_stage
from tests.messages import messages_of

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def template(office):
    made = MailTemplate.objects.create(
        name="Sorry",
        subject_en="Sorry, {name}",
        body_en="About {vacancy}.\n{link}",
        subject_nl="Helaas, {name}",
        body_nl="Over {vacancy}.",
    )
    Stage.objects.filter(pk=office.rejected.pk).update(email=made)
    return made


def reject(*applications, author=None, at=None, **values):
    rows = Application.objects.filter(pk__in=[each.pk for each in applications])
    stage = Stage.objects.get(name="Rejected")
    return move(rows, Move(stage=stage, author=author, at=at or timezone.now(), **values))


def queued():
    return sorted(Message.objects.filter(kind="stage").values_list("to", "state"))


def deliver(at):
    """Send what is due at `at`."""
    delivery = MailDelivery(now=lambda: at)
    delivery._send = lambda message: None
    while item := delivery.next_due(at):
        delivery.run(item)


def test_email_is_sent_after_the_hours_but_not_before_the_status_shows(office, template, at):
    for embargo, hours, delay in (
        (0, 0, 0 * HOUR),
        (0, 1, HOUR),
        (2, 1, 2 * DAY),
        (2, 72, 3 * DAY),
    ):
        Message.objects.all().delete()
        office.own.changes.filter(stage=office.rejected).delete()
        Stage.objects.filter(pk=office.rejected.pk).update(
            embargo_days=embargo, email_after_hours=hours
        )
        reject(office.own, sends_email=True)
        message = Message.objects.get()
        assert (message.next_at, message.queued_at) == (at + delay, at + delay), (embargo, hours)
    assert (message.subject, message.application) == ("Sorry, Mia", office.own)
    Stage.objects.filter(pk=office.rejected.pk).update(embargo_days=9)  # meanwhile
    deliver(at + 4 * DAY)
    assert queued() == [("mia@example.org", "queued")]
    deliver(at + 9 * DAY)
    assert queued() == [("mia@example.org", "sent")]


def test_email_has_the_sender_of_the_brand_and_replies_go_to_who_moved(office, template):
    BrandMail.objects.create(brand=office.brand, sender_name="Acme Jobs", reply_to="hr@acme.test")
    anna = colleague("an", "Recruiter", office.brand)
    reject(office.own, author=anna, sends_email=True)
    email = as_email(Message.objects.get())
    assert (email.from_email, email.reply_to) == ('"Acme Jobs" <webmaster@localhost>', [anna.email])
    assert "/account/receipt/7K3QX9WD:" in email.body
    assert email.extra_headers["Auto-Submitted"] == "auto-generated"


def test_nobody_gets_it_twice_or_about_a_stage_that_was_left(office, template, at):
    later = make_stage("Later", embargo_days=1)
    own = Application.objects.filter(pk=office.own.pk)

    def leave(**values):
        return move(own, Move(stage=later, author=None, at=at, **values))

    for name, undo in (
        ("undo", lambda: undo_moves([office.own.changes.last().pk], author=None, at=at)),
        ("another move", leave),
        ("withdrawal", lambda: withdraw_application(application=office.own, at=at)),
    ):
        reject(office.own, sends_email=True)
        assert queued() == [("mia@example.org", "queued")], name
        undo()
        assert queued() == [], name
    leave()
    own.update(withdrawn_at=at)
    reject(office.own, sends_email=True)
    assert queued() == []

    leave()
    reject(office.own, sends_email=True)
    # Due, but the mail server refused it for now.
    Message.objects.update(attempts=1, next_at=at - HOUR)
    leave()
    assert queued() == []
    reject(office.own, sends_email=True)
    deliver(at + 9 * DAY)
    leave()
    reject(office.own, sends_email=True)
    assert queued() == [("mia@example.org", "sent")]


def test_no_email_without_an_address_or_a_template_or_a_recruiter(office, template):
    without = apply(office.own.vacancy, "Nobody", "", stage=office.new)
    reject(without, sends_email=True)
    reject(office.own)  # as imports and withdrawals do
    Stage.objects.update(email=None)
    reject(apply(office.own.vacancy, "Jan", "jan@example.org", stage=office.new), sends_email=True)
    assert queued() == []


def test_confirmation_shows_the_email_and_can_send_none(office, template):
    withdrawn = apply(
        office.own.vacancy, "Wim", "wim@example.org", stage=office.new, withdrawn_at=timezone.now()
    )
    zoe = apply(office.own.vacancy, "Zoë", "zoe@example.org", stage=office.new, language="nl")
    stage = office.rejected.pk
    people = [office.own, zoe, withdrawn]

    def post(**values):
        return office.anna.post(MOVE, {"applications": sent(*people), "stage": stage} | values)

    confirmed = {"confirmed": "1"}
    shown = post().content.decode()
    texts = [
        "Sorry, Mia",
        "About Nurse.",
        "account/receipt/personal-link",
        "The email is sent on 4 Mar 2026, 09:30.",
        "Helaas, Zoë",
        "Withdrawn: not sent: Wim.",
    ]
    assert [text for text in texts if text not in shown] == []
    assert (stages_of(office.own), queued()) == (["New"], [])

    post(**confirmed)  # switched off
    assert (stages_of(office.own), queued()) == (["New", "Rejected"], [])
    move(Application.objects.all(), Move(stage=office.new, author=None, at=timezone.now()))
    Application.objects.filter(pk=withdrawn.pk).update(withdrawn_at=timezone.now())
    response = post(**confirmed, sends_email="on")
    assert "2 emails are sent on 4 Mar 2026, 09:30." in messages_of(response)
    assert [to for to, _state in queued()] == [each.email for each in people if each != withdrawn]


def test_rejection_begins_as_the_brand_says(office, template):
    own = MailTemplate.objects.create(name="Own", subject_en="From Acme", body_en="Dear {name}")
    mail = BrandMail.objects.create(brand=office.brand, rejection=own, asks_reason="must")
    Stage.objects.filter(pk=office.rejected.pk).update(email=None)
    data = {"applications": sent(office.own), "stage": office.rejected.pk}
    form = office.anna.post(MOVE, data).context["form"]
    assert (form["sends_email"].value(), form.needs_reason) == (True, True)
    reason = Reason.objects.filter(kind="rejected").first()
    confirmed = data | {"confirmed": "1", "sends_email": "on", "reason": reason.pk}
    office.anna.post(MOVE, confirmed)
    assert Message.objects.get().subject == "From Acme"

    back = Move(stage=office.new, author=None, at=timezone.now())
    move(Application.objects.filter(pk=office.own.pk), back)
    mail.has_rejection_email, mail.asks_reason = False, "never"
    mail.save()
    data["applications"] = sent(office.own)
    form = office.anna.post(MOVE, data).context["form"]
    assert (form["sends_email"].value(), "reason" in form.fields) == (False, False)
    # another brand rejects as the stage says
    boss = staff("boss", "Administrator")
    data["applications"] = sent(office.foreign)
    assert list(boss.post(MOVE, data).context["form"].fields) == []


def test_email_that_is_written_on_the_same_page_replaces_that_of_the_stage(office, template):
    data = {"applications": sent(office.own), "stage": office.rejected.pk, "template": template.pk}
    office.anna.post(EMAILS, data | {"confirmed": "1"})
    assert stages_of(office.own) == ["New", "Rejected"]
    assert list(Message.objects.values_list("kind", flat=True)) == ["template"]


def test_move_on_the_board_sends_nothing_without_a_confirmation(office, template):
    """Stages that decide nothing can have an email too."""
    stage = make_stage("Talk")
    Stage.objects.filter(pk=stage.pk).update(email=template)
    data = {"applications": sent(office.own), "stage": stage.pk}
    response = office.anna.post(MOVE, data, headers={"accept": "application/json"})
    assert (response.status_code, response["Content-Type"][:9]) == (200, "text/html")
    assert (stages_of(office.own), queued()) == (["New"], [])
    columns = office.anna.get(f"{LIST}board/").context["columns"]
    assert {each.stage.name for each in columns if each.needs_confirmation} == {"Rejected", "Talk"}


def test_waiting_email_can_be_cancelled_on_the_page(office, template):
    reject(office.own, sends_email=True)
    assert "Is sent on 4 Mar 2026, 09:30." in office.anna.get(page(office.own)).content.decode()
    response = office.anna.post(
        page(office.own, "cancel-email"), {"email": Message.objects.get().pk}
    )
    assert messages_of(response) == ["The email was cancelled."]
    assert queued() == []


def test_stage_refuses_invalid_hours_and_protects_its_template(office, template):
    boss = staff("boss", "Administrator")
    data = {
        "name": "Closed",
        "status": office.rejected.status_id,
        "embargo_days": 0,
        "position": 9,
        "kind": "open",
        "asks_reason": "never",
        "email": template.pk,
        "email_after_hours": 721,
        "remind_days": 0,
    }
    refused = boss.post("/admin/applications/stage/add/", data)
    assert list(refused.context["adminform"].form.errors) == ["email_after_hours"]
    boss.post("/admin/applications/stage/add/", data | {"email_after_hours": 720})
    assert Stage.objects.get(name="Closed").email == template
    boss.post(f"/admin/applications/mailtemplate/{template.pk}/delete/", {"post": "yes"})
    assert MailTemplate.objects.filter(pk=template.pk).exists()
