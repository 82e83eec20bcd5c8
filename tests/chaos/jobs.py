"""The jobs of `manage.py deliver` while a table is locked, a job raises, and nothing runs:

    python -m tests.chaos.jobs [--database postgresql] [--seconds 60]

An email is queued every half a second. Prints how many were sent in each case, the longest wait,
and what the metric, the check and the start page tell. On SQLite, a lock is one of the whole
database: emails wait for its end. Failures that last ten minutes are told: the stored times are
moved back. Exit code 1: an email was not sent, waited for more than 10 s while it could be sent, or
something was not told, or without a reason.
"""

import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.chaos.program import parser, table
from tests.servers import ROOT, SYSTEM_ENV, MailServer, Postgres, folder_with_logs, until

HEAD = ("case", "emails sent", "longest wait s", "late jobs (metric)", "check", "start page")
WAIT_MAX = 10.0
QUIET = ("0", "", "")


def deliver() -> None:
    """Run `manage.py deliver` with a job that raises."""
    import tests.chaos.set_up  # noqa: F401

    # isort: split

    from django.core.management import call_command

    from applications.mail.digest import Digest

    def fail(self: Digest, at: object) -> None:
        raise ValueError

    Digest.next_due = fail  # type: ignore[assignment,method-assign]
    call_command("deliver")


class Run:
    def __init__(self, server: MailServer, log: Any) -> None:
        self.server, self.log, self.count = server, log, 0
        self.process: subprocess.Popen | None = None
        self.rows: list[tuple[str, ...]] = []

    def start(self, *, is_broken: bool = False) -> None:
        command = (
            ["-c", "from tests.chaos.jobs import deliver; deliver()"]
            if is_broken
            else ["manage.py", "deliver"]
        )
        self.process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=SYSTEM_ENV | os.environ,
            stdout=self.log,
            stderr=self.log,
        )

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def send(self, case: str, seconds: float, until_sent: bool = True) -> None:
        """Queue emails for so many seconds, and add the row of the case."""
        from django.db import connection
        from django.utils import timezone

        from applications.mail.outbox import Email, queue
        from applications.models import Message

        times, end = {}, time.time() + seconds
        while time.time() < end:
            to = f"n{self.count}@example.org"
            at = timezone.now()
            if case != "the database is locked":  # or it could not be queued
                queue(
                    Email(
                        kind=Message.Kind.RECEIPT, to=to, language="en", subject="Hello", body="x"
                    ),
                    at=at,
                )
                times[to] = time.time()
                self.count += 1
            time.sleep(0.5)
        if until_sent:
            until(lambda: set(times) <= set(self.server.recipients), 60)
        sent = {to: found[0] for to, found in self.server.times_of("Hello").items() if to in times}
        wait = max((at - times[to] for to, at in sent.items()), default=0.0)
        connection.close()
        self.rows.append((case, f"{len(sent)} of {len(times)}", f"{wait:.1f}", *self.told()))

    def told(self) -> tuple[str, str, str]:
        """Return the number of late jobs in the metric, and the texts of the check and the start
        page.
        """
        from django.contrib.auth import get_user_model

        from applications.metrics import collect
        from jobsite.office.start_page import problems
        from jobsite.ops.jobs import LATE_AFTER, jobs_complete

        [ages] = [each for each in collect() if each.name == "jobsite_job_age_seconds"]
        late = [sample for sample in ages.samples if sample.value > LATE_AFTER.total_seconds()]
        user = get_user_model().objects.get(username="admin")
        return (
            str(len(late)),
            " ".join(each.msg for each in jobs_complete()),
            " ".join(problems(user)),
        )


def lock(database: str, seconds: float) -> None:
    from django.db import connection, transaction

    statement = "LOCK TABLE vacancies_approval, applications_jobalert IN ACCESS EXCLUSIVE MODE"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            statement if database == "postgresql" else "UPDATE jobsite_revision SET number = number"
        )
        time.sleep(seconds)
    connection.close()


def measure(run: Run, database: str, seconds: float) -> None:
    from django.contrib.auth import get_user_model
    from django.db.models import F

    from jobsite.models import JobRun

    def age(**names: str) -> None:
        JobRun.objects.filter(**names).update(
            completed_at=F("completed_at") - timedelta(minutes=11)
        )

    get_user_model().objects.create_superuser("admin")
    run.start()
    until(JobRun.objects.exists, 60)
    run.send("nothing fails", 10)
    thread = threading.Thread(target=lock, args=(database, seconds))
    thread.start()
    time.sleep(1)
    run.send(
        "a table is locked" if database == "postgresql" else "the database is locked", seconds - 1
    )
    thread.join()
    run.send("after the lock", 5)
    run.stop()
    age()
    run.send("deliver is stopped", 1, until_sent=False)
    run.start(is_broken=True)
    time.sleep(8)
    age(name="Digest")
    run.send("a job raises", 10)
    run.stop()
    run.start()
    until(lambda: run.told() == QUIET, 60)
    run.send("deliver runs again", 5)


def main() -> int:
    made = parser(__doc__, "database")
    made.add_argument("--seconds", type=float, default=60.0)
    arguments = made.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        url = f"sqlite:///{path}/jobs.sqlite3"
        if arguments.database == "postgresql":
            url = stack.enter_context(Postgres(path / "postgres")).url
        server = stack.enter_context(MailServer())
        os.environ |= {
            "DATABASE_URL": url,
            "EMAIL_URL": server.url,
            "DEBUG": "on",
            "LOG_FORMAT": "json",
        }
        import tests.chaos.set_up  # noqa: F401

        # isort: split

        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        log_path = Path(path / "deliver.log")
        run = Run(server, stack.enter_context(log_path.open("ab")))
        stack.callback(run.stop)
        measure(run, arguments.database, arguments.seconds)
        print(table(HEAD, run.rows))
        lines = [
            line
            for line in log_path.read_text().splitlines()
            if "WARNING" in line or "ERROR" in line
        ]
        print(f"{len(lines)} warnings and errors in the log, such as:", *lines[:5], sep="\n")
    return int(bool(mistakes(run.rows)))


def mistakes(rows: list[tuple[str, ...]]) -> list[str]:
    found = [row[0] for row in rows if float(row[2]) > WAIT_MAX]
    for case, *_, late, check, page in rows:
        is_told = case in ("deliver is stopped", "a job raises")
        if any(bool(text) is not is_told for text in (check, page)) or (late != "0") is not is_told:
            found.append(case)
    return found


if __name__ == "__main__":
    sys.exit(main())
