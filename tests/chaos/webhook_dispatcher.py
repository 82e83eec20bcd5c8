"""`manage.py deliver` for `tests.chaos.webhooks`: short times between attempts, and the seconds that
a receiver may take as an argument.
"""

import sys
from datetime import timedelta

import tests.chaos.set_up  # noqa: F401

# isort: split

from django.core.management import execute_from_command_line

from jobsite import dispatch, http_client
from vacancies.webhooks import delivery

if __name__ == "__main__":
    http_client.POST_SECONDS = float(sys.argv[1])  # type: ignore[assignment]
    delivery.DELAYS = (timedelta(seconds=0.2),) * 50
    dispatch.POLL_SECONDS, dispatch.STANDBY_SECONDS, dispatch.MAX_ERROR_WAIT = 0.2, 0.2, 0.5
    execute_from_command_line(["manage.py", "deliver"])
