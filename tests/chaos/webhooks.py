"""Webhooks while everything fails: each change is in a request that the receiver accepted.

    python -m tests.chaos.webhooks --kills 50 [--database postgresql]

Vacancies change, and applications come in, all the time. The dispatcher is killed again and again,
while it sends; the receiver refuses every third request. Times between attempts are shorter
(webhook_dispatcher.py). At the end, the dispatcher runs until nothing is left to send. Exit code 1: a
change was not told, or a vacancy was named that was never public, or an application whose applicant
has yet to agree.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.program import parser
from tests.servers import (
    ROOT,
    SYSTEM_ENV,
    MailServer,
    Postgres,
    Receiver,
    folder_with_logs,
    free_port,
    until,
)
from tests.servers.receiver import Received

ANSWER_SECONDS = 15.0


class Run:
    """The servers of a run."""

    def __init__(self, database: str, path: Path, stack: ExitStack) -> None:
        self.log = stack.enter_context((path / "deliver.log").open("ab"))
        self.receiver = stack.enter_context(Receiver(path / "receiver"))
        self.mail = stack.enter_context(MailServer(port=free_port()))
        url = f"sqlite:///{path}/webhooks.sqlite3"
        if database == "postgresql":
            url = stack.enter_context(Postgres(path / "postgres")).url
        self.env = {
            "DATABASE_URL": url,
            "EMAIL_URL": self.mail.url,
            "DEBUG": "on",
            "LOG_FORMAT": "json",
            "SSL_CERT_FILE": str(self.receiver.certificate),
            "WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8,::1/128",
            "WEBHOOK_PORTS": str(self.receiver.port),
        }
        self.node: subprocess.Popen | None = None

    def start(self, answer_seconds: float = ANSWER_SECONDS) -> None:
        command = [sys.executable, "-m", "tests.chaos.webhook_dispatcher", str(answer_seconds)]
        self.node = subprocess.Popen(
            command, env=SYSTEM_ENV | self.env, cwd=ROOT, stdout=self.log, stderr=self.log
        )

    def kill(self) -> None:
        if self.node:
            self.node.kill()
            self.node.wait()


def mistakes(
    received: Sequence[Received],
    changed: Collection[int],
    hidden: set[int],
    kind: str = "vacancies.",
) -> list[str]:
    """Return what is wrong in the events of a `kind`. `changed` are the ids that changed, `hidden`
    those that nobody may know.
    """
    of_kind = [each for each in received if each.type.startswith(kind)]
    accepted = {pk for each in of_kind if each.status == 200 for pk in each.data["ids"]}
    found = [f"{kind} {pk} was not told" for pk in sorted({*changed} - accepted)]
    named = {pk for each in of_kind for pk in each.data["ids"]}
    found += [f"{kind} {pk} was never public" for pk in sorted(named & hidden)]
    bodies: dict[str, set[str]] = {}
    for each in of_kind:
        bodies.setdefault(each.headers["webhook-id"], set()).add(each.body)
    return found + [f"{key} had other bytes" for key, texts in bodies.items() if len(texts) > 1]


def main() -> int:
    made = parser(__doc__, "database")
    made.add_argument("--kills", type=int, default=50)
    arguments = made.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        run = Run(arguments.database, path, stack)
        stack.callback(run.kill)
        os.environ.update(run.env)
        return deliver(arguments, run)


def deliver(arguments: argparse.Namespace, run: Run) -> int:
    import tests.chaos.set_up  # noqa: F401

    # isort: split

    from django.core.management import call_command
    from django.db import transaction
    from django.utils import timezone

    from applications.models import ConsentRequest
    from tests.applications.makers import make_application
    from tests.factories import make_vacancy
    from tests.vacancies.manage.client import make_integration
    from vacancies.models import Vacancy, Webhook
    from vacancies.webhooks.events import cursor_now

    call_command("migrate", verbosity=0)
    dice = random.Random(43)
    hook = Webhook(name="Chaos", url=run.receiver.url("/often-500"), integration=make_integration())
    hook.cursor = cursor_now(hook, at=timezone.now())
    hook.save()
    changed: list[int] = []
    hidden = {make_vacancy(status="draft").pk for _ in range(5)}
    asked: set[int] = set()  # applications whose applicants have yet to agree
    came: list[int] = []
    done: Counter[str] = Counter()
    for number in range(arguments.kills):
        run.start()
        before = len(run.receiver.received())
        changed += [make_vacancy().pk for _ in range(dice.randint(1, 5))]
        Vacancy.objects.filter(pk__in=hidden).update(title=f"Draft {number}")
        vacancy = Vacancy.objects.get(pk=changed[0])
        came += [make_application(vacancy=vacancy).pk for _ in range(dice.randint(0, 3))]
        with transaction.atomic():
            made = make_application(vacancy=vacancy)
            ConsentRequest.objects.create(
                application=made, purpose="application", version=1, due_on="2100-01-01"
            )
        asked.add(made.pk)
        if (old := dice.choice(changed)) and dice.random() < 0.3:
            Vacancy.objects.filter(pk=old).update(status="archived")
        until(lambda before=before: len(run.receiver.received()) > before)  # type: ignore[misc]
        time.sleep(dice.uniform(0, 0.05))  # before, while or after it is stored
        run.kill()
        done["killed"] += 1
        done["with an unfinished request"] += Webhook.objects.exclude(pending_id="").count()
    run.start()

    def is_told() -> bool:
        received = run.receiver.received()
        of_applications = mistakes(received, came, set(), "application.")
        return not mistakes(received, changed, set()) and not of_applications

    until(is_told)
    run.kill()
    received = run.receiver.received()
    found = mistakes(received, changed, hidden) + mistakes(received, came, asked, "application.")
    print(
        f"{len(changed)} changes, {len(came)} applications, {dict(done)}, {len(received)} requests: ",
        end="",
    )
    print(f"{sum(each.status == 200 for each in received)} accepted, {len(found)} mistakes.")
    print(*found[:20], sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
