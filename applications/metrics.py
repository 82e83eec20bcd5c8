"""Gauges of the dispatcher's work and of applicants' files for Prometheus."""

from collections.abc import Iterator

from django.db.models import Min
from django.utils import timezone
from prometheus_client.metrics_core import GaugeMetricFamily

from applications.models import Message
from applications.submissions.files import NEWEST, missing_newest
from jobsite.ops.metrics import gauge

COUNT_MAX = 10_000  # rows counted: more are reported as this number


def collect() -> Iterator[GaugeMetricFamily]:
    """Yield how many emails are due, how old the oldest one is that is not sent yet (without bulk emails,
    which take long), and how many failed; and how many of the newest files of applicants this node lacks."""
    now = timezone.now()
    waiting = Message.objects.filter(state__in=Message.WAITING).order_by()
    due = waiting.filter(next_at__lte=now).values("pk")[:COUNT_MAX].count()
    yield gauge("dispatch_due", f"Items that are due, {COUNT_MAX} for more.", ("work",), {("email",): due})

    oldest = waiting.filter(is_bulk=False).aggregate(at=Min("queued_at"))["at"]
    age = max(0.0, (now - oldest).total_seconds()) if oldest else 0
    help_text = "Age of the oldest item that is not done and did not fail."
    yield gauge("dispatch_age_seconds", help_text, ("work",), {("email",): age})

    failed = Message.objects.filter(state=Message.State.FAILED).order_by().values("pk")[:COUNT_MAX].count()
    help_text = f"Items that failed and are kept, {COUNT_MAX} for more."
    yield gauge("dispatch_failed", help_text, ("work",), {("email",): failed})

    help_text = f"How many of the {NEWEST} newest files of applicants PRIVATE_ROOT lacks."
    yield gauge("private_files_missing", help_text, (), {(): missing_newest()[0]})
