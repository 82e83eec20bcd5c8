"""Gauges and the system check of the outbox."""

from datetime import timedelta

import pytest

from applications.checks import emails_are_delivered
from applications.mail.outbox import queue
from applications.metrics import collect
from applications.models import Message
from tests.applications.makers import make_application, make_file, make_submission
from tests.conftest import NOW

pytestmark = pytest.mark.django_db


def put(minutes, **values):
    """Add an email that was queued so many minutes ago."""
    at = NOW - timedelta(minutes=minutes)
    kind = Message.Kind.RECEIPT
    message = queue(kind=kind, to="mia@example.org", language="en", subject="Hello", body="Text", at=at)
    Message.objects.filter(pk=message.pk).update(**values)


def gauges():
    return {family.name: [sample.value for sample in family.samples] for family in collect()}


def test_gauges_of_an_empty_outbox(at, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        found = gauges()
    names = [f"jobsite_dispatch_{name}" for name in ("due", "age_seconds", "failed")]
    assert found == {name: [0] for name in [*names, "jobsite_private_files_missing"]}


def test_gauges_count_what_waits_and_what_failed(at):
    put(5)
    put(20, state="sending")
    put(30, next_at=NOW + timedelta(minutes=1))
    put(90, state="sent")
    put(90, state="failed")
    put(120, is_bulk=True)

    make_file(make_submission(make_application(), {}))  # a row without its file

    expected = {"due": [3], "age_seconds": [1800], "failed": [1]}
    expected = {f"jobsite_dispatch_{name}": values for name, values in expected.items()}
    assert gauges() == expected | {"jobsite_private_files_missing": [1]}


def test_check_warns_about_emails_that_nobody_sends(at):
    put(90, state="sent")
    put(90, state="failed")
    put(9)
    put(120, is_bulk=True)
    assert emails_are_delivered() == []

    put(11, next_at=NOW + timedelta(minutes=1))
    [warning] = emails_are_delivered()
    assert (warning.id, warning.msg) == ("jobsite.W021", "An email is queued since 2026-03-02 09:19 UTC.")
