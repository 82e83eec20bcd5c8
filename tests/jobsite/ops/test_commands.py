"""What every command does: it wants the database migrated, and says what
it wrote when interrupted.
"""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import StringIO
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import OperationalError

from jobsite.demo import content
from jobsite.ops import health
from jobsite.ops.commands import Command
from tests.servers import ROOT, Instance, until
from tests.vacancies.exchange.test_import import items, write
from vacancies.exchange.importer import VacancyImporter
from vacancies.models import Vacancy

OURS = {
    name: load_command_class(app, name)
    for name, app in get_commands().items()
    if app in ("jobsite", "vacancies", "applications", "forms_structure")
}
DJANGOS = {"makemigrations", "migrate"}  # commands of Django that ours extend
# demo and the restores migrate by themselves, check_contract looks at another service.
EXEMPT = {
    "demo",
    "build_city_files",
    "restore",
    "rehearse_restore",
    "check_contract",
    "mirror",
    "compilemessages",
}


def test_commands_want_the_database_migrated(monkeypatch):
    for count, what in ((1, "1 migration is"), (41, "41 migrations are")):
        monkeypatch.setattr(health, "count_unapplied_migrations", lambda count=count: count)
        message = f"{what} not applied to the database: run `manage.py migrate` first."
        for name in sorted(OURS.keys() - EXEMPT - DJANGOS):
            with pytest.raises(CommandError) as refused:
                load_command_class(get_commands()[name], name).execute()
            assert (str(refused.value), refused.value.returncode) == (message, 1), name

    refuse = Mock(side_effect=OperationalError("connection refused\nIs the server running?"))
    monkeypatch.setattr(health, "count_unapplied_migrations", refuse)
    with pytest.raises(CommandError, match=r"^The database cannot be used: connection refused$"):
        call_command("create_roles")

    ours = {name: command for name, command in OURS.items() if name not in DJANGOS}

    assert all(isinstance(command, Command) for command in ours.values())
    assert {name for name, command in ours.items() if not command.needs_migrations} == EXEMPT


@pytest.fixture
def instance(tmp_path):
    return Instance(tmp_path, LOG_REQUESTS="off", DEBUG="on", MEDIA_ROOT=str(tmp_path / "media"))


@pytest.mark.slow("runs manage.py in a process")
def test_interrupted_command_reports_what_it_wrote(instance, tmp_path):
    def count():
        with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as database:
            return database.execute("SELECT count(*) FROM vacancies_vacancy").fetchone()[0]

    command, pipe = [sys.executable, "manage.py", "generate_vacancies", "1000000"], subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env=instance.env, stdout=pipe, stderr=pipe, text=True
    ) as process:
        until(lambda: count() or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, out, err) == (
        130,
        "",
        f"Interrupted. {count()} vacancies were created.\n",
    )
    assert count() > 0


@pytest.fixture
def stopped(monkeypatch):
    """Return a function that makes the second call of a method raise KeyboardInterrupt."""

    def stop(owner, name):
        method, calls = getattr(owner, name), []

        def once(*args, **kwargs):
            if calls:
                raise KeyboardInterrupt
            calls.append(1)
            return method(*args, **kwargs)

        monkeypatch.setattr(owner, name, once)

    return stop


def refusal(*words):
    """Run an interrupted command; return its exit code and stderr."""
    err = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(*words, stdout=StringIO(), stderr=err)
    return ended.value.code, err.getvalue()


@pytest.mark.slow("interrupts a process")
@pytest.mark.django_db
@pytest.mark.usefixtures("filters")
@pytest.mark.parametrize(
    ("words", "written", "count"),
    [
        ((), "100 vacancies were created and 0 updated; run the command again to continue.", 100),
        (("--dry-run",), "Nothing was written.", 0),
    ],
)
def test_interrupted_import_counts_committed_batches(stopped, tmp_path, words, written, count):
    path = write(tmp_path, items(250))
    stopped(VacancyImporter, "_import_batch")

    assert refusal("import_vacancies", *words, str(path)) == (130, f"Interrupted. {written}\n")
    assert Vacancy.objects.count() == count


@pytest.mark.slow("creates the content of the demo")
@pytest.mark.django_db
@pytest.mark.usefixtures("filters")
def test_interrupted_demo_is_completed_by_the_next_run(stopped, monkeypatch, settings):
    settings.DEBUG = True
    none = "Tables may have been created, but no content."
    for name, written in (
        ("_attachment", none),
        ("create_application", "Vacancies were created, but no accounts and applications."),
    ):
        stopped(content, name)
        code, text = refusal("demo", "--no-serve")  # after the phases that it printed
        assert (code, text.splitlines()[-1]) == (130, f"Interrupted. {written} Run it again.")
        assert Vacancy.objects.exists() == (written != none)
        monkeypatch.undo()

    out = StringIO()
    call_command("demo", "--no-serve", stdout=out)

    assert out.getvalue().startswith("Created 4 applications, 7 submissions.")


@pytest.mark.slow("runs manage.py in a process")
def test_interrupted_command_of_django_prints_one_line(instance):
    code = (
        "import os, runpy, signal, django.core.management as management; "
        # Ignored in a shell's background jobs.
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "management.execute_from_command_line = lambda words: os.kill(os.getpid(), 2); "
        "runpy.run_path('manage.py', run_name='__main__')"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, env=instance.env, capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")
