"""Emails about stages while everything fails: none is sent twice, before its time, or after an
undo.

    python -m tests.chaos.stage_mail --kills 50 --movers 20 [--database postgresql]

Recruiters move applications to a stage with an email, then undo the move, move on, or move again,
or the applicant withdraws, until the dispatchers were killed so often. The clock of the dispatchers
is ahead, so that emails are due a few seconds after the move, while it can still be undone. Exit
code 1: an email was sent twice, too early, after its cause had gone, or is missing.
"""

import argparse
import os
import random
import sys
import threading
import time
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

from tests.chaos.mail import Run, mistakes
from tests.chaos.program import parser
from tests.servers import folder_with_logs

DAY = timedelta(days=1)
DUE_AFTER = 4.0  # seconds from a move until its email is due
KINDS = ("stay", "undo", "again", "move on", "withdraw")
END = 900.0  # seconds after which the run is given up
SUBJECT = "Your interview"


def left_over(row: tuple[str, int] | None, then: tuple[str, int] | None) -> str:
    """Return what is wrong with the email of a move that is undone. `then` and `row` are its state
    and number of attempts just after the undo and at the end; None: there is no email.
    """
    if then and then[0] == "queued":
        return "waits after its move was undone"
    if row and then is None:
        return "was written after its move was undone"
    if row and then and row[1] > then[1]:
        return "was tried again after its move was undone"
    return ""


class Movers:
    """Threads of recruiters. `found` are their mistakes, `then` the emails just after an undo, by
    address.
    """

    ahead = DAY - timedelta(seconds=DUE_AFTER)  # the clock of the dispatchers
    kinds: tuple[str, ...] = KINDS

    def __init__(self, count: int) -> None:
        self.found: list[str] = []
        self.then: dict[str, tuple[str, int] | None] = {}
        self.moved: dict[str, tuple[str, datetime]] = {}  # what happens, and the time of the move
        self.stop = threading.Event()
        self.numbers = iter(range(1_000_000))
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self._work, args=(seed,)) for seed in range(count)]

    def start(self) -> None:
        self.set_up()
        for thread in self.threads:
            thread.start()

    def set_up(self) -> None:
        from applications.models import MailTemplate
        from tests.applications.makers import make_stage
        from tests.factories import make_vacancy

        self.vacancy = make_vacancy()
        self.other = make_stage("Moved on", embargo_days=1)
        self.stage = make_stage("With an email", embargo_days=1)
        self.stage.email = MailTemplate.objects.create(
            name="Invitation", subject_en=SUBJECT, body_en="Hello"
        )
        self.stage.email_after_hours = 0
        self.stage.save()

    def _work(self, seed: int) -> None:
        from django.db import connection

        dice = random.Random(seed)
        while not self.stop.is_set():
            with self.lock:
                number = next(self.numbers)
            address, kind = f"{number}@example.org", dice.choice(self.kinds)
            try:
                self._handle(address, kind, dice)
            except Exception as error:
                self.found.append(f"{address} ({kind}): {error!r}")
        connection.close()

    def _again(self, write: Any) -> Any:
        """Repeat `write` while the database restarts or is locked, as a recruiter would."""
        from django.db import InterfaceError, OperationalError, connection

        end = time.monotonic() + 60
        while True:
            try:
                return write()
            except (OperationalError, InterfaceError):
                if time.monotonic() > end:
                    raise
                connection.close()
                time.sleep(0.3)

    def _handle(self, address: str, kind: str, dice: random.Random) -> None:
        from django.utils import timezone

        from applications.models import Application
        from applications.operations import (
            Move,
            create_application,
            move,
            undo_moves,
            withdraw_application,
        )

        names = {"email": address, "email_folded": address, "language": "en", "given_name": "Mia"}
        at = timezone.now() - timedelta(hours=1)
        application = self._again(
            lambda: create_application(user=None, vacancy=self.vacancy, at=at, **names)
        )
        row = Application.objects.filter(pk=application.pk)

        def to(stage: Any) -> None:
            move(row, Move(stage=stage, author=None, at=timezone.now(), sends_email=True))

        self._again(lambda: to(self.stage))
        self.moved[address] = (kind, timezone.now())
        self.stop.wait(dice.uniform(0, DUE_AFTER * 2))
        if kind in ("undo", "again"):
            last = self._again(lambda: application.changes.order_by("-at", "-pk").first())
            self._again(lambda: undo_moves([last.pk], author=None, at=timezone.now()))
        elif kind == "move on":
            self._again(lambda: to(self.other))
        elif kind == "withdraw":
            at = timezone.now() + DAY  # the time of the dispatchers, which send the confirmation
            self._again(lambda: withdraw_application(application=application, at=at))
        if kind not in ("stay", "again"):
            self.then[address] = self._again(lambda: email_of(address))
        if kind == "again":
            self._again(lambda: to(self.stage))

    def wrong(self, run: Run) -> list[str]:
        from applications.models import Message

        stage_emails = Message.objects.filter(kind=Message.Kind.STAGE)
        return wrong(self, list(stage_emails.values_list("to", "state", "error", "attempts")), run)


def email_of(address: str) -> tuple[str, int] | None:
    from applications.models import Message

    stage_emails = Message.objects.filter(kind=Message.Kind.STAGE, to=address)
    return stage_emails.values_list("state", "attempts").first()


def main(text: str | None = __doc__, movers: type[Movers] = Movers) -> int:
    made = parser(text, "database")
    made.add_argument("--kills", type=int, default=50)
    made.add_argument("--movers", type=int, default=20)
    made.add_argument("--seconds-between-kills", type=float, default=3.0)
    arguments = made.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        run = Run(arguments, path, stack)
        run.ahead = movers.ahead
        stack.callback(run.end)
        os.environ.update(run.env)
        return deliver(arguments, run, movers(arguments.movers))


def deliver(arguments: argparse.Namespace, run: Run, movers: Movers) -> int:
    import tests.chaos.set_up  # noqa: F401

    # isort: split

    from django.core.management import call_command
    from django.db import connection

    from applications.models import Message

    call_command("migrate", verbosity=0)
    movers.start()
    started_at = run.started_at = time.monotonic()
    run.keep_two()
    while run.done["dispatchers killed"] < arguments.kills and time.monotonic() - started_at < END:
        time.sleep(arguments.seconds_between_kills * run.dice.uniform(0.5, 1.5))
        run.disturb()
        print(f"{time.monotonic() - started_at:4.0f} s: {len(movers.moved)} moved", file=sys.stderr)
    run.mail.is_down = False
    movers.stop.set()
    for thread in movers.threads:
        thread.join()
    connection.close()  # it is of before a restart
    while (
        Message.objects.filter(state__in=Message.WAITING).exists()
        and time.monotonic() - started_at < END
    ):
        run.keep_two()
        time.sleep(1)
    found = [*movers.found, *movers.wrong(run)]
    connection.close()
    kinds = {kind: sum(each == kind for each, _ in movers.moved.values()) for kind in movers.kinds}
    print(f"{len(movers.moved)} moves in {time.monotonic() - started_at:.0f} s: {kinds}.")
    print(f"{len(run.mail.accepted)} emails arrived. {dict(run.done)}. {len(found)} mistakes.")
    print(*found[:20], sep="\n")
    return bool(found)


def wrong(movers: Movers, rows: list[Any], run: Run) -> list[str]:
    arrived = run.mail.times_of(SUBJECT)
    counts = {to: len(times) for to, times in arrived.items()}
    found = mistakes([(to, state, error) for to, state, error, _ in rows], counts)
    emails = {to: (state, attempts) for to, state, _, attempts in rows}
    for address, (kind, moved_at) in movers.moved.items():
        email, times = emails.get(address), arrived.get(address, [])
        if len(times) > 1 and not email:
            found.append(f"{address} ({kind}) was sent {len(times)} times")
        if email is None and (times or kind in ("stay", "again")):
            found.append(f"{address} ({kind}): {len(times)} arrived, and there is no email")
        if any(at < moved_at.timestamp() + DUE_AFTER - 1 for at in times):
            found.append(f"{address} ({kind}) was sent too early")
        if kind not in ("stay", "again") and (text := left_over(email, movers.then.get(address))):
            found.append(f"{address} ({kind}) {text}: {movers.then.get(address)}, {email}")
    return found


if __name__ == "__main__":
    sys.exit(main())
