"""Measure `manage.py deliver` while hostile emails arrive in REPLY_MAILBOX:

    python -m tests.benchmarks.hostile_mailbox [--database postgresql] [--hostile 200] [--good 50]

A server has answers to invitations between emails of all kinds of tests/hostile/emails.py. An email
is queued every half a second meanwhile. Prints how many answers were recorded, the CPU of the
dispatcher with its start, that of the dearest kind, and how long emails waited. Exit code 1: an
answer was not recorded, a kind costs more than 0.2 s, or an email waited for more than 5 s.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path

from tests.benchmarks.servers import cpu_seconds
from tests.chaos.program import parser, table
from tests.hostile import emails
from tests.servers import ROOT, SYSTEM_ENV, MailServer, Postgres, folder_with_logs, until
from tests.servers.imap import Mailbox

CPU_MAX, WAIT_MAX, END = 0.2, 5.0, 300.0  # seconds
HEAD = (
    "database",
    "answers",
    "CPU s of deliver",
    "CPU ms of the dearest kind",
    "emails sent",
    "longest wait s",
)


def main() -> int:
    made = parser(__doc__, "database")
    made.add_argument("--hostile", type=int, default=200)
    made.add_argument("--good", type=int, default=50)
    arguments = made.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        url = f"sqlite:///{path}/mail.sqlite3"
        if arguments.database == "postgresql":
            url = stack.enter_context(Postgres(path / "postgres")).url
        mailbox, server = Mailbox(path, {}), stack.enter_context(MailServer())
        os.environ |= {
            "DATABASE_URL": url,
            "EMAIL_URL": server.url,
            "DEBUG": "on",
            "LOG_FORMAT": "json",
        }
        os.environ |= {"REPLY_MAILBOX": mailbox.url(), "SSL_CERT_FILE": mailbox.certificate}
        return measure(arguments, mailbox, server, path)


def dearest() -> tuple[float, str]:
    """Return the seconds of CPU of the dearest kind, and its name."""
    from applications.operations.reply_emails import answers

    found = []
    for name, content in emails.KINDS.items():
        started_at = time.process_time()
        with suppress(ValueError):
            list(answers(content))
        found.append((time.process_time() - started_at, name))
    return max(found)


def measure(arguments: argparse.Namespace, mailbox: Mailbox, server: MailServer, path: Path) -> int:
    import tests.chaos.set_up  # noqa: F401

    # isort: split

    from django.core.management import call_command
    from django.utils import timezone

    from applications.mail.outbox import Email, queue
    from applications.models import Message, Participant
    from tests.applications.makers import make_application, make_step
    from tests.applications.test_replies import answer

    call_command("migrate", verbosity=0)
    application, now = make_application(), timezone.now()
    start = now + timedelta(days=3)
    good = []
    for number in range(arguments.good):
        uid, address = f"{number:032x}", f"mia{number}@example.org"
        step = make_step(
            application,
            "Talk",
            uid=uid,
            planned_at=start,
            ends_at=start + timedelta(hours=1),
            zone="UTC",
        )
        Participant.objects.create(entry=step, address=address, sequence=2)
        good.append(answer(uid=uid, address=address))
    kinds = list(emails.KINDS.values())
    contents = [*good, *(kinds[number % len(kinds)] for number in range(arguments.hostile))]
    random.Random(7).shuffle(contents)
    mailbox.emails |= dict(enumerate(contents, 1))
    with (path / "deliver.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "deliver"],
            cwd=ROOT,
            env=SYSTEM_ENV | os.environ,
            stdout=log,
            stderr=log,
        )
    try:
        queued: list[float] = []

        def ends() -> bool:
            at = timezone.now()
            queue(
                Email(
                    kind=Message.Kind.RECEIPT,
                    to=f"n{len(queued)}@example.org",
                    language="en",
                    subject="Hello",
                    body="x",
                ),
                at=at,
            )
            queued.append(time.time())
            time.sleep(0.5)
            return any(command.startswith("LOGOUT") for command in mailbox.commands)

        ends()
        until(lambda: server.recipients.total(), END)  # it has started
        first = len(queued)
        until(ends, END)
        until(lambda: server.recipients.total() == len(queued), 30)
        seconds = cpu_seconds(process.pid)
    finally:
        process.terminate()
        process.wait()
    times = server.times_of("Hello")
    waits = [
        times[f"n{number}@example.org"][0] - at
        for number, at in enumerate(queued)
        if number >= first
    ]
    read = Participant.objects.filter(reply="accepted").count()
    cost, kind = dearest()
    row = (
        arguments.database,
        f"{read} of {arguments.good}",
        f"{seconds:.1f}",
        f"{cost * 1000:.0f} ({kind})",
        str(len(waits)),
        f"{max(waits):.1f}",
    )
    print(table(HEAD, [row]))
    mailbox.close()
    return int(read < arguments.good or cost > CPU_MAX or max(waits) > WAIT_MAX)


if __name__ == "__main__":
    sys.exit(main())
