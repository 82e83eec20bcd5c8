"""`check --deploy --database default` finds problems of servers, says what to do, and prints no
password.
"""

import subprocess
import sys
from collections import namedtuple
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from jobsite.ops import server_checks
from tests.servers import ROOT, SYSTEM_ENV, Instance, Postgres, folder_with_logs


def check(env: dict[str, str], *words: str) -> tuple[int, list[str]]:
    """Run the checks with this environment only; return the exit code and the lines of stderr."""
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--database", "default", *words],
        cwd=ROOT,
        env=SYSTEM_ENV | env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stderr.splitlines()


def found(lines: list[str], *ids: str) -> list[str]:
    return [line for line in lines if any(f"(jobsite.{each})" in line for each in ids)]


@pytest.fixture
def production(tmp_path, monkeypatch):
    """The environment of a production site without errors."""
    # Of the browser tests in this process.
    monkeypatch.delenv("DJANGO_ALLOW_ASYNC_UNSAFE", raising=False)
    variables = {"SECRET_KEY": "nobody-may-see-this-" * 4 + "0123456789abcdef"}
    variables |= {
        "ALLOWED_HOSTS": "jobs.example.com",
        "PUBLIC_BASE_URL": "https://jobs.example.com",
    }
    variables |= {name: str(tmp_path / name) for name in ("MEDIA_ROOT", "STATIC_ROOT")}
    return Instance(tmp_path / "data", TIME_ZONE="Europe/Brussels", **variables).env


@pytest.mark.slow("runs manage.py in processes")
def test_site_without_problems_has_no_errors(production):
    code, lines = check(production)
    assert (code, "ERRORS:" in lines, len(found(lines, "W001"))) == (0, False, 1)


@pytest.mark.slow("runs manage.py in processes")
def test_each_problem_is_reported_with_a_remedy(production, tmp_path):
    (tmp_path / "MEDIA_ROOT").write_text("a file")
    env = production | {
        "DATABASE_URL": "postgres://joe:hunter2@127.0.0.1:1/jobs",
        "CACHE_URL": "redis://:pass-of-redis@127.0.0.1:1/0",
        "EMAIL_URL": "smtp://joe:pass-of-mail@127.0.0.1:1",
    }
    del env["TIME_ZONE"]

    code, lines = check(env)

    output = "\n".join(lines)
    assert (code, len(found(lines, "W012", "W023", "E040", "E043", "E044"))) == (1, 5)
    assert "refused" in found(lines, "E040")[0]
    assert "127.0.0.1:1 does not respond (Connection refused)." in found(lines, "E044")[0]
    assert output.count("\tHINT: Check DATABASE_URL, and that the server runs.") == 1
    assert [word for word in ("hunter2", "pass-of") if word in output] == []
    assert "Traceback" not in output


@pytest.mark.slow("runs manage.py in processes")
def test_missing_migrations_are_an_error(production, tmp_path):
    code, lines = check(production | {"DATABASE_URL": f"sqlite:///{tmp_path / 'none.sqlite3'}"})
    assert (code, len(found(lines, "E041"))) == (1, 1)


@pytest.mark.slow("runs manage.py in processes")
def test_settings_that_cannot_be_read_name_the_variable():
    for name, value, text in (
        ("PAGE_SIZE_MAX", "many", "PAGE_SIZE_MAX is 'many', not a whole number of 0 or more."),
        ("SECOND_FACTOR", "on", "SECOND_FACTOR is 'on', not off, optional or required."),
        ("FILES_URL", "s3://KEY:hunter2@store", "FILES_URL names the bucket '', which is no name."),
        (
            "DATABASE_URL",
            "postgres//joe:hunter2@db/x",
            "DATABASE_URL has no ://; it must be like postgres://user:password@host/name.",
        ),
    ):
        assert check({name: value}) == (1, [text])


@pytest.mark.slow("starts PostgreSQL")
def test_database_in_another_encoding_is_an_error_and_is_not_migrated(production):
    with folder_with_logs() as folder, Postgres(folder / "postgres") as server:
        server.sql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1'")
        server.database = "latin"
        env = production | {"DATABASE_URL": server.url}
        code, lines = check(env)
        migrate = [sys.executable, "manage.py", "migrate"]
        done = subprocess.run(
            migrate, cwd=ROOT, env=SYSTEM_ENV | env, capture_output=True, text=True
        )
        count = server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    [line] = found(lines, "E050")
    assert (code, "The database of DATABASE_URL is in LATIN1" in line) == (1, True)
    assert (done.returncode, len(found(done.stderr.splitlines(), "E050")), count) == (1, 1, 0), (
        done.stderr
    )


@pytest.mark.django_db
@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has the clock of this process"
)
def test_clock_that_differs_from_the_database_is_an_error(monkeypatch):
    assert server_checks.clocks_agree(databases=["default"]) == []

    monkeypatch.setattr(timezone, "now", lambda now=timezone.now: now() + timedelta(seconds=90))

    [message] = server_checks.clocks_agree(databases=["default"])
    assert (message.id, "by 90 seconds" in message.msg) == ("jobsite.E042", True)


def test_disk_that_is_nearly_full_is_a_warning(monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage(2**30))
    ids = {message.id for message in server_checks.disks_have_room(databases=["default"])}
    assert ids == {"jobsite.W024"}


def test_servers_are_not_checked_if_no_database_is_named(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", None)
    assert server_checks.disks_have_room() == server_checks.disks_have_room(databases=[]) == []
