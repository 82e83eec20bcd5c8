"""`manage.py deliver` for `tests.chaos.mail`: a minute between two attempts becomes a second."""

import os
import sys
from datetime import timedelta


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
    import django

    django.setup()
    from django.core.management import execute_from_command_line

    from applications.mail import delivery, smtp
    from jobsite import dispatch

    delivery.DELAYS = tuple(minutes / 60 for minutes in delivery.DELAYS)  # type: ignore[assignment]
    delivery.LAST_AFTER = timedelta(seconds=float(sys.argv[1]))
    delivery.PAUSE, delivery.PAUSE_MAX = timedelta(seconds=0.5), timedelta(seconds=2)
    smtp.TIMEOUT = 1.0
    dispatch.POLL, dispatch.STANDBY, dispatch.ERROR_WAIT_MAX = 0.2, 0.2, 0.5
    execute_from_command_line(["manage.py", "deliver"])


if __name__ == "__main__":
    main()
