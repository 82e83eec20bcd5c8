"""The outbox: what is queued can be sent as it is."""

import pytest

from applications.models import Message
from tests.applications.mail.conftest import put
from tests.conftest import NOW

pytestmark = pytest.mark.django_db


def test_queue_adds_an_email_that_is_due():
    message = Message.objects.get(pk=put(language="nl").pk)

    assert (message.to, message.language, message.subject, message.body) == (
        "mia@example.org",
        "nl",
        "Hello",
        "Text",
    )
    assert (message.state, message.finished_at) == ("queued", None)
    assert message.queued_at == message.next_at == NOW
    assert put(language="").language == "en"  # of the site


def test_queue_removes_control_characters():
    subject = put(subject="Hello\r\nBcc: eve@example.org\x0b\u2028x" + "y" * 500).subject
    assert subject.startswith("Hello Bcc: eve@example.org xyyy")
    assert len(subject) == 200
    assert put(body="a\r\nb\rc\x00\x1bd\te").body == "a\nb\ncd\te"


def test_queue_shows_an_invalid_address_as_failed():
    hostile = (
        "mia@example.org\r\nBcc: eve@example.org",
        "a@example.org,b@example.org",
        "x" * 300 + "@a.org",
    )
    for to in ("", "nobody", *hostile):
        message = Message.objects.get(pk=put(to).pk)
        found = message.state, message.error, message.finished_at
        assert found == ("failed", "The address is not valid.", NOW), to
        assert "\n" not in message.to
