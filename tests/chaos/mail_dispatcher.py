"""`manage.py deliver` for `tests.chaos.mail`: a minute between two attempts becomes a second, and
the clock can be ahead.
"""

import sys
from datetime import timedelta

import tests.chaos.set_up  # noqa: F401

# isort: split

from django.core.management import execute_from_command_line
from django.utils import timezone

# Before the jobs are imported, which take the clock.
if ahead := timedelta(seconds=float(sys.argv[2])):
    now = timezone.now
    timezone.now = lambda: now() + ahead

# isort: split


from applications.mail import delivery, smtp
from jobsite import dispatch

if __name__ == "__main__":
    delivery.DELAYS = tuple(minutes / 60 for minutes in delivery.DELAYS)  # type: ignore[assignment]
    delivery.LAST_AFTER = timedelta(seconds=float(sys.argv[1]))
    delivery.PAUSE, delivery.PAUSE_MAX = timedelta(seconds=0.5), timedelta(seconds=2)
    smtp.TIMEOUT = 1.0
    dispatch.POLL_SECONDS, dispatch.STANDBY_SECONDS, dispatch.MAX_ERROR_WAIT = 0.2, 0.2, 0.5
    execute_from_command_line(["manage.py", "deliver"])
