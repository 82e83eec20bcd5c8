"""`manage.py deliver` and receivers of webhooks, in processes of their own."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from tests.chaos.webhooks import Run, mistakes
from tests.servers import ROOT, SYSTEM_ENV, folder_with_logs, until
from tests.servers.receiver import Received

QUEUE = """
import tests.chaos.set_up
from django.core.management import call_command
from django.utils import timezone
from applications.mail.outbox import Email, queue
from tests.factories import make_vacancy
from vacancies.models import Webhook
from vacancies.webhooks.events import cursor_now
"""
PREPARE = """
call_command("migrate", verbosity=0)
hook = Webhook(name="Slow", url="{url}")
hook.cursor = cursor_now(hook, at=timezone.now())
hook.save()
make_vacancy()
"""
SEND = """
queue(Email(kind="receipt", to="mia@example.org", language="en", subject="a", body="b"),
      at=timezone.now())
"""
COUNT = 'print([*Webhook.objects.get().attempts.values_list("reason", "milliseconds")])'


def received(ids, status=200, key="msg_1"):
    body = json.dumps({"type": "vacancies.changed", "data": {"ids": ids}})
    return Received("/", {"webhook-id": key}, body, status)


def test_mistakes_are_named():
    sent = [received([1, 2], 500), received([1, 2]), received([3, 9], key="msg_2")]
    assert mistakes(sent, [1, 2, 3], {8}) == []
    assert mistakes(sent, [1, 4], {9}) == [
        "vacancies. 4 was not told",
        "vacancies. 9 was never public",
    ]
    assert mistakes(sent, [1], set(), "application.") == ["application. 1 was not told"]
    assert mistakes([*sent, received([5])], [], set()) == ["msg_1 had other bytes"]


def run_code(code: str, env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", QUEUE + code],
        env=SYSTEM_ENV | env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.slow("starts servers and deliver")
def test_slow_receiver_does_not_delay_an_email():
    """The email is queued while the receiver has the request and gives no answer."""
    with folder_with_logs() as path, ExitStack() as stack:
        run = Run("sqlite", path, stack)
        stack.callback(run.kill)
        run_code(PREPARE.format(url=run.receiver.url("/silent")), run.env)
        run.start(answer_seconds=600)
        until(run.receiver.received)
        run_code(SEND, run.env)
        until(lambda: run.mail.recipients["mia@example.org"])
        assert run_code(COUNT, run.env) == "[]"  # it still waits
        assert len(run.receiver.received()) == 1


@pytest.mark.slow("kills deliver again and again")
def test_changes_reach_the_receiver_if_deliver_is_killed():
    command = [sys.executable, "-m", "tests.chaos.webhooks", "--kills", "3"]
    done = subprocess.run(
        command, env=SYSTEM_ENV | {"TMPDIR": os.environ.get("TMPDIR", "/tmp")}, cwd=ROOT
    )
    assert done.returncode == 0
