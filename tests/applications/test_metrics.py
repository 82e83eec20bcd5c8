"""Gauges and the system check of the outbox."""

from datetime import timedelta

import pytest

from applications.checks import emails_are_delivered
from applications.mail.outbox import Email, queue
from applications.metrics import collect
from applications.models import Message
from jobsite.models import JobRun
from jobsite.ops.jobs import jobs_complete
from tests.applications.makers import make_application, make_file, make_submission
from tests.conftest import NOW
from tests.vacancies.webhooks.fakes import make_webhook

pytestmark = pytest.mark.django_db
NO_JOBS: dict[str, list] = {"jobsite_job_age_seconds": [], "jobsite_job_outcomes": []}


def put(minutes, **values):
    """Add an email that was queued so many minutes ago."""
    at = NOW - timedelta(minutes=minutes)
    kind = Message.Kind.RECEIPT
    message = queue(
        Email(kind=kind, to="mia@example.org", language="en", subject="Hello", body="Text"), at=at
    )
    Message.objects.filter(pk=message.pk).update(**values)


def gauges():
    return {family.name: [sample.value for sample in family.samples] for family in collect()}


def test_gauges_of_an_empty_outbox(at, django_assert_max_num_queries):
    with django_assert_max_num_queries(10):
        found = gauges()
    names = [f"jobsite_dispatch_{name}" for name in ("due", "age_seconds", "postponed", "failed")]
    expected = {name: [0, 0] for name in names} | {"jobsite_private_files_missing": [0]}
    assert found == expected | NO_JOBS


def test_gauges_count_what_waits_and_what_failed(at):
    put(5)
    put(20, state="sending")
    put(30, next_at=NOW + timedelta(minutes=1))
    # one bad mailbox: tried for days
    put(600, next_at=NOW + timedelta(minutes=1), attempts=9)
    put(600, next_at=NOW - timedelta(minutes=25), attempts=9)
    put(90, state="sent")
    put(90, state="failed")
    put(120, is_bulk=True)

    make_file(make_submission(make_application(), {}))  # a row without its file

    states = {"due": NOW, "late": NOW - timedelta(minutes=2), "later": NOW + timedelta(minutes=1)}
    for name, next_at in states.items():
        make_webhook(name, pending_id="msg_1", next_at=next_at, tries=3)
    make_webhook("failed", state="failed")

    expected = {"due": [4, 2], "age_seconds": [1500, 120], "postponed": [1, 1], "failed": [1, 1]}
    expected = {f"jobsite_dispatch_{name}": values for name, values in expected.items()}
    assert gauges() == expected | {"jobsite_private_files_missing": [1]} | NO_JOBS


def test_metrics_of_jobs(at):
    JobRun.objects.create(name="Digest", completed_at=NOW - timedelta(seconds=90))
    JobRun.objects.create(name="MailDelivery", completed_at=NOW, outcomes={"sent": 7, "error": 1})
    samples = [
        sample for family in collect() if "_job_" in family.name for sample in family.samples
    ]
    assert [(each.name, *each.labels.values(), each.value) for each in samples] == [
        ("jobsite_job_age_seconds", "Digest", 90),
        ("jobsite_job_age_seconds", "MailDelivery", 0),
        ("jobsite_job_outcomes_total", "MailDelivery", "sent", 7),
        ("jobsite_job_outcomes_total", "MailDelivery", "error", 1),
    ]


def test_check_tells_that_deliver_does_not_run_or_which_job_fails(at):
    def found():
        return [(warning.id, warning.msg) for warning in jobs_complete()]

    assert found() == [("jobsite.W046", "manage.py deliver has not run yet: emails are not sent.")]
    JobRun.objects.create(name="Digest", completed_at=NOW - timedelta(minutes=10))
    JobRun.objects.create(name="MailDelivery", completed_at=NOW)
    assert found() == []
    JobRun.objects.filter(name="Digest").update(
        completed_at=NOW - timedelta(minutes=11), error="ValueError"
    )
    assert found() == [
        ("jobsite.W046", "Jobs of manage.py deliver do not complete: Digest (ValueError).")
    ]
    JobRun.objects.filter(name="MailDelivery").update(completed_at=NOW - timedelta(minutes=20))
    JobRun.objects.filter(name="Digest").update(completed_at=NOW - timedelta(hours=20))
    text = "manage.py deliver last ran at 2026-03-02 09:10 UTC: emails are not sent."
    assert found() == [("jobsite.W046", text)]


def test_check_warns_about_emails_that_nobody_sends(at):
    put(90, state="sent")
    put(90, state="failed")
    put(9)
    put(120, is_bulk=True)
    assert emails_are_delivered() == []

    put(600, next_at=NOW + timedelta(minutes=1), attempts=9)
    assert emails_are_delivered() == []

    put(11)
    [warning] = emails_are_delivered()
    assert (warning.id, warning.msg) == (
        "jobsite.W021",
        "An email is due since 2026-03-02 09:19 UTC.",
    )
