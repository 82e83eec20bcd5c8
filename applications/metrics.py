"""Metrics of the dispatcher's work and of applicants' files for Prometheus."""

from collections.abc import Iterator

from django.db.models import Min
from django.utils import timezone
from prometheus_client.metrics_core import CounterMetricFamily, Metric

from applications.models import Message
from applications.submissions.files import NEWEST, missing_newest
from jobsite.models import JobRun
from jobsite.ops.metrics import gauge

COUNT_MAX = 10_000  # rows counted: more are reported as this number


def collect() -> Iterator[Metric]:
    """Yield how many emails are due, for how long the oldest one is (without bulk emails, which
    take long), how many wait for another attempt, and how many failed; how many of the newest files
    of applicants this node lacks; and how the jobs of `deliver` go.
    """
    now = timezone.now()
    waiting = Message.objects.filter(state__in=Message.WAITING).order_by()
    due = waiting.filter(next_at__lte=now).values("pk")[:COUNT_MAX].count()
    yield gauge(
        "dispatch_due", f"Items that are due, {COUNT_MAX} for more.", ("work",), {("email",): due}
    )

    oldest = waiting.filter(is_bulk=False, next_at__lte=now).aggregate(at=Min("next_at"))["at"]
    age = max(0.0, (now - oldest).total_seconds()) if oldest else 0
    help_text = "For how long the oldest item is due that is not done and did not fail."
    yield gauge("dispatch_age_seconds", help_text, ("work",), {("email",): age})

    refused = waiting.filter(attempts__gt=0, next_at__gt=now).values("pk")[:COUNT_MAX].count()
    help_text = (
        f"Items that were refused for now and wait for another attempt, {COUNT_MAX} for more."
    )
    yield gauge("dispatch_postponed", help_text, ("work",), {("email",): refused})

    failed = (
        Message.objects.filter(state=Message.State.FAILED)
        .order_by()
        .values("pk")[:COUNT_MAX]
        .count()
    )
    help_text = f"Items that failed and are kept, {COUNT_MAX} for more."
    yield gauge("dispatch_failed", help_text, ("work",), {("email",): failed})

    help_text = f"How many of the {NEWEST} newest files of applicants PRIVATE_ROOT lacks."
    yield gauge("private_files_missing", help_text, (), {(): missing_newest()[0]})

    rows = JobRun.objects.order_by("name")
    ages = {(row.name,): max(0.0, (now - row.completed_at).total_seconds()) for row in rows}
    help_text = "Time since a job of deliver last did an item or found none due."
    yield gauge("job_age_seconds", help_text, ("job",), ages)

    labels = ("job", "outcome")
    outcomes = CounterMetricFamily(
        "jobsite_job_outcomes", "What the jobs of deliver did.", labels=labels
    )
    for row in rows:
        for outcome, number in row.outcomes.items():
            outcomes.add_metric((row.name, outcome), number)
    yield outcomes
