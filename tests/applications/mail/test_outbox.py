"""The outbox: what is queued can be sent as it is."""

import pytest

from applications.mail.outbox import queue
from applications.models import Message
from tests.conftest import NOW

pytestmark = pytest.mark.django_db


def add(**values):
    defaults = {
        "kind": Message.Kind.RECEIPT,
        "to": "mia@example.org",
        "language": "nl",
        "subject": "Hello",
        "body": "Text",
        "at": NOW,
    }
    return queue(**defaults | values)


def test_queue_adds_an_email_that_is_due():
    message = Message.objects.get(pk=add().pk)

    assert (message.to, message.language, message.subject, message.body) == (
        "mia@example.org", "nl", "Hello", "Text"
    )  # fmt: skip
    assert (message.state, message.queued_at, message.next_at, message.finished_at) == (
        "queued",
        NOW,
        NOW,
        None,
    )


def test_queue_writes_the_subject_in_one_line():
    subject = add(subject="Hello\r\nBcc: eve@example.org\x0b\u2028x" + "y" * 500).subject

    assert subject.startswith("Hello Bcc: eve@example.org xyyy")
    assert len(subject) == 200


def test_queue_removes_control_characters_from_the_body():
    assert add(body="a\r\nb\rc\x00\x1bd\te").body == "a\nb\ncd\te"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nobody",
        "mia@example.org\r\nBcc: eve@example.org",
        "a@example.org,b@example.org",
        "x" * 300 + "@a.org",
    ],
)
def test_queue_shows_an_invalid_address_as_failed(address):
    message = Message.objects.get(pk=add(to=address).pk)

    assert (message.state, message.error, message.finished_at) == ("failed", "The address is not valid.", NOW)
    assert "\n" not in message.to


def test_queue_uses_the_language_of_the_site_for_another_one():
    assert add(language="").language == "en"
