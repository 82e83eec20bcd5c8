"""The admin of emails."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User

from applications.mail.delivery import ABANDONED
from applications.mail.outbox import Email, queue
from applications.models import AccessLog, BrandMail, Message
from tests.applications.makers import make_application, signed_in
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from tests.messages import messages_of

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/message/"


@pytest.fixture
def acme(at):
    return make_brand("Acme")


@pytest.fixture
def an(acme):
    user = User.objects.create_user("an", email="an@example.com", is_staff=True)
    names = ("view_message", "add_message", "view_application", "change_application")
    user.user_permissions.add(*Permission.objects.filter(codename__in=names))
    user.brands.add(acme)
    return user


def put(brand, to="mia@example.org", **values):
    application = make_application(vacancy=make_vacancy(brand=brand))
    kind = Message.Kind.RECEIPT
    defaults = {"kind": kind, "language": "en", "subject": f"To {to}", "body": "The text"}
    return queue(Email(to=to, application=application, **defaults | values), at=NOW)


def fail(message, error="550 refused"):
    Message.objects.filter(pk=message.pk).update(
        state="failed", attempts=3, error=error, finished_at=NOW
    )


def send_again(client, *messages):
    pks = [message.pk for message in messages]
    data = {"action": "send_again", "_selected_action": pks, "confirmed": "1"}
    return client.post(LIST, data)


def test_page_shows_the_email_and_is_logged(an, acme):
    BrandMail.objects.create(brand=acme, sender_name="Acme Jobs")
    message = put(acme, body="The text <script>&</script>")
    fail(message, ABANDONED)
    response = signed_in(an).get(f"{LIST}{message.pk}/change/")

    page = response.content.decode()
    sender = "&quot;Acme Jobs&quot; &lt;webmaster@localhost&gt;"
    body = "The text &lt;script&gt;&amp;&lt;/script&gt;"
    for text in (sender, "To mia@example.org", body, ABANDONED, "Failed"):
        assert text.lower() in page.lower()
    assert "no-store" in response["Cache-Control"]
    [log] = AccessLog.objects.all()
    assert (log.actor, log.application, log.action) == (an, message.application_id, "view")


def test_failed_email_is_sent_again(an, acme):
    message, sent = put(acme), put(acme)
    fail(message)
    Message.objects.filter(pk=sent.pk).update(state="sent", finished_at=NOW)

    data = {"action": "send_again", "_selected_action": [message.pk, sent.pk]}
    [section] = signed_in(an).post(LIST, data).context["sections"]
    assert [row.name for row in section.rows] == [f"mia@example.org: {message.subject}"]
    message.refresh_from_db()
    assert message.state == "failed"
    assert messages_of(send_again(signed_in(an), message, sent)) == ["1 email is queued again."]
    message.refresh_from_db()
    assert (message.state, message.attempts, message.error, message.finished_at) == (
        "queued",
        0,
        "",
        None,
    )
    assert (message.queued_at, message.next_at) == (NOW, NOW)
    sent.refresh_from_db()
    assert sent.state == "sent"
    assert LogEntry.objects.get().change_message == "Queued again."
    assert AccessLog.objects.get(action="change").application == message.application_id


def test_digest_and_emails_of_other_brands_are_not_sent_again(an, acme):
    digest, foreign = put(acme, kind=Message.Kind.DIGEST), put(make_brand("Other"))
    fail(digest)
    fail(foreign)

    assert messages_of(send_again(signed_in(an), digest, foreign)) == ["0 emails are queued again."]
    assert set(Message.objects.values_list("state", flat=True)) == {"failed"}


def test_sending_again_needs_the_permission_to_write(an, acme):
    an.user_permissions.remove(Permission.objects.get(codename="add_message"))
    message = put(acme)
    fail(message)

    send_again(signed_in(an), message)
    message.refresh_from_db()
    assert message.state == "failed"
