"""Emails while everything fails: each is sent once, or shown as failed.

    python -m tests.chaos.mail --emails 1000 [--database postgresql] [--seconds-between-kills 6]

Two dispatchers run, as on two nodes. One of them is killed every few seconds, the mail server stops
for a few seconds now and then, and PostgreSQL restarts. The mail server refuses some recipients for
now or for good, loses connections, and is slow. Times between attempts are shorter
(mail_dispatcher.py). Exit code 1: an email was sent twice, lost, or has the wrong state.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.chaos.program import parser
from tests.servers import ROOT, SYSTEM_ENV, MailServer, Postgres, folder_with_logs, free_port

# Of 100 emails. The mail server gets the others without a fault.
FAULTS = {"grey": 8, "451": 2, "550": 4, "550d": 2, "421": 1, "lost": 2, "drop": 3, "slow": 3}
LAST_AFTER = 240.0  # seconds, instead of 72 hours
END = 900.0  # seconds after which the run is given up


def addresses(count: int, dice: random.Random) -> list[str]:
    kinds = [kind for kind, share in FAULTS.items() for _ in range(share)]
    kinds += [""] * (100 - len(kinds))
    return [
        f"{kind}-{n}@example.org".lstrip("-") for n in range(count) for kind in [dice.choice(kinds)]
    ]


class Run:
    """The processes of a run, and what was done to them."""

    def __init__(self, arguments: argparse.Namespace, path: Path, stack: ExitStack) -> None:
        self.dice = random.Random(16)
        self.log = (path / "deliver.log").open("ab")
        self.mail = stack.enter_context(MailServer(port=free_port(), delay=1.5))
        self.mail.pause = 0.03  # so that most kills interrupt an email
        self.postgres = None
        if arguments.database == "postgresql":
            self.postgres = stack.enter_context(Postgres(path / "postgres"))
        url = self.postgres.url if self.postgres else f"sqlite:///{path}/mail.sqlite3"
        self.env = {
            "DATABASE_URL": url,
            "EMAIL_URL": self.mail.url,
            "DEBUG": "on",
            "LOG_FORMAT": "json",
        }
        self.nodes: list[subprocess.Popen] = []
        self.done: Counter[str] = Counter()
        self.started_at = time.monotonic()
        self.ahead = timedelta()  # the clock of the dispatchers

    def start(self) -> subprocess.Popen:
        words = (str(LAST_AFTER), str(self.ahead.total_seconds()))
        command = [sys.executable, "-m", "tests.chaos.mail_dispatcher", *words]
        return subprocess.Popen(
            command, env=SYSTEM_ENV | self.env, cwd=ROOT, stdout=self.log, stderr=self.log
        )

    def keep_two(self) -> None:
        self.nodes = [node for node in self.nodes if node.poll() is None]
        while len(self.nodes) < 2:
            self.nodes.append(self.start())

    def disturb(self) -> None:
        """Kill a dispatcher; sometimes stop the mail server or restart the database too."""
        self.keep_two()
        node = self.dice.choice(self.nodes)
        is_clean = self.dice.random() < 0.2
        node.send_signal(signal.SIGTERM if is_clean else signal.SIGKILL)
        node.wait()
        self.done["dispatchers stopped" if is_clean else "dispatchers killed"] += 1
        is_early = time.monotonic() < self.started_at + LAST_AFTER / 2  # else emails are given up
        self.mail.is_down = is_early and self.dice.random() < 0.25
        self.done["mail server down"] += self.mail.is_down
        if self.postgres and self.dice.random() < 0.25:
            self.postgres.stop()
            self.postgres.start()
            self.done["database restarts"] += 1
        self.keep_two()

    def end(self) -> None:
        for node in self.nodes:
            node.kill()
            node.wait()
        self.log.close()


def mistakes(rows: list[tuple[str, str, str]], recipients: Mapping[str, int]) -> list[str]:
    """Return what is wrong, one line per email. `rows` have address, state and error."""
    found = []
    for to, state, error in rows:
        count = recipients.get(to, 0)
        if count > 1:
            found.append(f"{to} was sent {count} times")
        elif state == "sent" and count == 0:
            found.append(f"{to} is shown as sent, and was not")
        elif state == "failed" and count == 1 and "may have been delivered" not in error:
            found.append(f"{to} is shown as failed, and was sent: {error}")
        elif state not in ("sent", "failed"):
            found.append(f"{to} is {state}")
        elif state == "failed" and "-" not in to and "may have been delivered" not in error:
            found.append(f"{to} failed without a fault: {error}")
    return found


def main() -> int:
    made = parser(__doc__, "database")
    made.add_argument("--emails", type=int, default=1000)
    made.add_argument("--seconds-between-kills", type=float, default=6.0)
    arguments = made.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        run = Run(arguments, path, stack)
        stack.callback(run.end)
        os.environ.update(run.env)
        return deliver(arguments, run)


def deliver(arguments: argparse.Namespace, run: Run) -> int:
    import tests.chaos.set_up  # noqa: F401

    # isort: split

    from django.core.management import call_command
    from django.db import OperationalError, connection
    from django.utils import timezone

    from applications.mail.outbox import Email, queue
    from applications.models import Message

    call_command("migrate", verbosity=0)
    at = timezone.now()
    for to in addresses(arguments.emails, run.dice):
        queue(
            Email(
                kind=Message.Kind.RECEIPT, to=to, language="en", subject="Hello", body=f"To {to}"
            ),
            at=at,
        )
    started_at = run.started_at = time.monotonic()

    def waiting() -> int:
        try:
            return Message.objects.filter(state__in=Message.WAITING).count()
        except OperationalError:
            connection.close()
            return -1

    run.keep_two()
    while (left := waiting()) and time.monotonic() - started_at < END:
        print(f"{time.monotonic() - started_at:4.0f} s: {left} left", file=sys.stderr)
        time.sleep(arguments.seconds_between_kills * run.dice.uniform(0.5, 1.5))
        run.disturb()
    seconds = time.monotonic() - started_at
    rows: list[Any] = list(Message.objects.values_list("to", "state", "error"))
    connection.close()
    found = mistakes(rows, run.mail.recipients)
    states = Counter(state for _, state, _ in rows)
    unknown = sum("may have been delivered" in error for *_, error in rows)
    twice = sum(count > 1 for count in run.mail.recipients.values())
    print(f"{len(rows)} emails in {seconds:.0f} s: {dict(states)}, {unknown} with unknown outcome.")
    print(f"{twice} sent twice. {run.mail.connections} connections. {dict(run.done)}.")
    print(*found[:20], sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
