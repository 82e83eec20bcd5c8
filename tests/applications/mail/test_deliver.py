"""`manage.py deliver`: its output, and processes that are stopped and killed."""

import json
import signal
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from jobsite.db.locks import database_lock
from tests import servers
from tests.applications.mail.conftest import put, states
from tests.servers import ROOT, SYSTEM_ENV, until


def deliver(*arguments):
    out = StringIO()
    call_command("deliver", "--once", *arguments, stdout=out)
    return out.getvalue().strip()


@pytest.mark.django_db(transaction=True)
def test_command_sends_what_is_due(mail_server):
    for to in ("mia@example.org", "550-x@example.org", "451-x@example.org"):
        put(to, at=timezone.now())

    summary = "1 emails sent, 1 failed, 1 postponed."
    counts = {"sent": 1, "failed": 1, "postponed": 1}
    assert (
        json.loads(deliver("--format", "json")) == {"summary": summary, "is_active": True} | counts
    )
    assert deliver() == "0 emails sent, 0 failed, 0 postponed."


@pytest.mark.django_db(transaction=True)
def test_command_leaves_the_work_to_the_active_process(mail_server):
    put()
    lock = database_lock()
    assert lock.acquire()
    try:
        assert deliver() == "Another process is active: nothing was done."
    finally:
        lock.release()
    assert states() == {"mia@example.org": "queued"}


def environment(mail_server, tmp_path):
    database = connection.settings_dict
    url = f"sqlite:///{database['NAME']}"
    if connection.vendor == "postgresql":
        url = "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format_map(database)
    return SYSTEM_ENV | {"DATABASE_URL": url, "EMAIL_URL": mail_server.url, "DEBUG": "on"}


@pytest.fixture
def start(mail_server, tmp_path):
    """Start a dispatcher."""
    started = []

    def run():
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "deliver"],
                cwd=ROOT,
                env=environment(mail_server, tmp_path),
                stdout=log,
                stderr=log,
            )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.slow("runs manage.py deliver in processes")
@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
def test_process_finishes_its_email_when_it_is_stopped(mail_server, start):
    mail_server.delay = 2
    put("slow-a@example.org")
    put("slow-b@example.org")
    process = start()
    until(lambda: "sending" in states().values())
    process.send_signal(signal.SIGTERM)

    assert process.wait(servers.TIMEOUT) == 0
    assert sorted(states().values()) == ["queued", "sent"]
    assert sum(mail_server.recipients.values()) == 1


@pytest.mark.slow("runs manage.py deliver in processes")
@pytest.mark.each_database
@pytest.mark.django_db(transaction=True)
def test_another_process_takes_over_and_sends_nothing_twice(mail_server, start):
    mail_server.delay = 3
    put("slow-a@example.org")
    first = start()
    until(lambda: "sending" in states().values())
    start()
    first.kill()
    put("mia@example.org")

    until(lambda: states() == {"slow-a@example.org": "failed", "mia@example.org": "sent"})
    assert mail_server.recipients["slow-a@example.org"] <= 1
    assert mail_server.recipients["mia@example.org"] == 1
