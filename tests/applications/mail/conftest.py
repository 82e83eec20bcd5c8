from datetime import timedelta

import django
import pytest

from applications.mail.delivery import MailDelivery
from applications.mail.outbox import Email, queue
from applications.models import Message
from tests.conftest import NOW
from tests.servers import MailServer

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture(autouse=True)
def _known_secret(monkeypatch):
    """The secret of a link depends on the time."""
    name = "applications.mail.links.receipt_token"
    monkeypatch.setattr(name, lambda application: f"{application.reference}:secret")


@pytest.fixture
def mail_server(settings):
    """A mail server, which EMAIL_URL refers to."""
    with MailServer() as server:
        settings.IS_MAIL_SENT = True
        settings.DEFAULT_FROM_EMAIL = "Jobs <jobs@example.com>"
        if django.VERSION < (6, 1):
            settings.EMAIL_BACKEND = SMTP
            settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        else:
            options = {"host": "127.0.0.1", "port": server.port}
            settings.MAILERS = {"default": {"BACKEND": SMTP, "OPTIONS": options}}
        yield server


class Clock:
    """A clock that tests move. Returns the time if it is called."""

    def __init__(self):
        self.at = NOW

    def __call__(self):
        return self.at

    def advance(self, **values):
        self.at += timedelta(**values)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def delivery(clock):
    made = MailDelivery(now=clock)
    yield made
    made.transport.close()


def put(to="mia@example.org", at=NOW, **values):
    """Queue an email to `to`."""
    defaults = {"kind": Message.Kind.RECEIPT, "language": "en", "subject": "Hello", "body": "Text"}
    return queue(Email(to=to, **defaults | values), at=at)


def work(delivery, clock):
    """Do what is due. Return the outcomes."""
    outcomes = []
    while item := delivery.next_due(clock()):
        outcomes.append(delivery.run(item))
        assert len(outcomes) < 100
    return outcomes


def states():
    return dict(Message.objects.values_list("to", "state"))
