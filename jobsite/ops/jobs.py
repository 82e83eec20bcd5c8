"""How the jobs of `manage.py deliver` go, for the start page and a check."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.core.checks import CheckMessage, Warning
from django.utils import timezone

from jobsite.models import JobRun
from jobsite.ops.checks import register_content_check

LATE_AFTER = timedelta(minutes=10)  # also in deploy/alerts.yaml


def late(at: datetime) -> list[JobRun] | None:
    """Return the jobs that did not complete lately: they fail or hang, or all of them are late
    because `deliver` does not run. None if it never ran.
    """
    rows = list(JobRun.objects.order_by("completed_at", "name"))
    return [row for row in rows if row.completed_at < at - LATE_AFTER] if rows else None


def is_stopped(jobs: Sequence[JobRun]) -> bool:
    """Return whether the late `jobs` are all there are."""
    return len(jobs) == JobRun.objects.count()


@register_content_check
def jobs_complete() -> list[CheckMessage]:
    """Report that `deliver` does not run, or that one of its jobs fails."""
    jobs = late(timezone.now())
    if jobs == []:
        return []
    hint = "Run manage.py deliver (jobsite-deliver.service), and read its log."
    if jobs is None:
        text = "manage.py deliver has not run yet: emails are not sent."
    elif is_stopped(jobs):
        text = (
            f"manage.py deliver last ran at {jobs[-1].completed_at:%Y-%m-%d %H:%M} UTC: emails "
            "are not sent."
        )
    else:
        told = [f"{row.name} ({row.error or 'no error'})" for row in jobs]
        text = f"Jobs of manage.py deliver do not complete: {', '.join(told)}."
    return [Warning(text, hint=hint, id="jobsite.W046")]
