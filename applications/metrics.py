"""Metrics of the dispatcher's work, also of webhooks, and of applicants' files for Prometheus."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db.models import Min, QuerySet
from django.utils import timezone
from prometheus_client.metrics_core import CounterMetricFamily, Metric

from applications.models import Message
from applications.submissions.files import NEWEST, missing_newest
from jobsite.models import JobRun
from jobsite.ops.metrics import gauge
from vacancies.models import Webhook

COUNT_MAX = 10_000  # rows counted: more are reported as this number


class Figures(NamedTuple):
    """How the work of a queue goes."""

    due: int
    age_seconds: float
    postponed: int
    failed: int


def collect() -> Iterator[Metric]:
    """Yield how many emails and webhooks are due, for how long the oldest one is (without bulk
    emails, which take long), how many wait for another attempt, and how many failed; how many of
    the newest files of applicants this node lacks; and how the jobs of `deliver` go.
    """
    now = timezone.now()
    figures = {("email",): _emails(now), ("webhook",): _webhooks(now)}

    def of(name: str, help_text: str) -> Metric:
        values = {work: getattr(each, name) for work, each in figures.items()}
        return gauge(f"dispatch_{name}", help_text, ("work",), values)

    yield of("due", f"Items that are due, {COUNT_MAX} for more.")
    yield of(
        "age_seconds", "For how long the oldest item is due that is not done and did not fail."
    )
    yield of("postponed", f"Items that wait for another attempt, {COUNT_MAX} for more.")
    yield of("failed", f"Items that failed and are kept, {COUNT_MAX} for more.")

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


def _emails(now: datetime) -> Figures:
    waiting = Message.objects.filter(state__in=Message.WAITING).order_by()
    oldest = waiting.filter(is_bulk=False, next_at__lte=now).aggregate(at=Min("next_at"))["at"]
    return Figures(
        _count(waiting.filter(next_at__lte=now)),
        _age(oldest, now),
        _count(waiting.filter(attempts__gt=0, next_at__gt=now)),
        _count(Message.objects.filter(state=Message.State.FAILED).order_by()),
    )


def _webhooks(now: datetime) -> Figures:
    due = Webhook.objects.due(now).order_by()
    return Figures(
        _count(due),
        _age(due.aggregate(at=Min("next_at"))["at"], now),
        _count(Webhook.objects.active().filter(tries__gt=0, next_at__gt=now).order_by()),
        _count(Webhook.objects.filter(state=Webhook.State.FAILED).order_by()),
    )


def _count(rows: QuerySet) -> int:
    return rows.values("pk")[:COUNT_MAX].count()


def _age(oldest: datetime | None, now: datetime) -> float:
    return max(0.0, (now - oldest).total_seconds()) if oldest else 0
