"""`manage.py doctor`: it finds problems of an environment, says what to do, and prints no secret."""

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import connection
from django.utils import timezone

from jobsite.ops import doctor
from tests.servers import ROOT, SYSTEM_ENV, Instance

SECRET = "nobody-may-see-this-" * 4


def examine(env, *words):
    """Run doctor with this environment only; return exit code, output and lines of stderr."""
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor", *words],
        cwd=ROOT, env=SYSTEM_ENV | {"LOG_FORMAT": "text"} | env, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if "jobsite.ops.commands" not in line]
    return done.returncode, done.stdout.strip(), lines


def starting(lines, *beginnings):
    return [line for line in lines if line.startswith(beginnings)]


@pytest.fixture
def production(tmp_path, monkeypatch):
    """The environment of a production site without problems."""
    monkeypatch.delenv("DJANGO_ALLOW_ASYNC_UNSAFE", raising=False)  # of the browser tests in this process
    (tmp_path / "media").mkdir()
    secret, folders = f"{SECRET}0123456789abcdef", {"MEDIA_ROOT": "media", "STATIC_ROOT": "static"}
    variables = {name: str(tmp_path / folder) for name, folder in folders.items()} | {"SECRET_KEY": secret}
    variables |= {"ALLOWED_HOSTS": "jobs.example.com", "PUBLIC_BASE_URL": "https://jobs.example.com"}
    return Instance(tmp_path / "data", TIME_ZONE="Europe/Brussels", **variables).env


@pytest.mark.slow("runs manage.py in processes")
def test_site_without_problems_has_no_errors(production):
    code, summary, lines = examine(production)

    assert (code, starting(lines, "error")) == (0, [])
    assert summary.startswith("0 errors and ")
    assert {line.split(":")[1] for line in starting(lines, "ok")} >= {
        " settings", " database", " migrations", " cache", " uploads", " time zone",
    }  # fmt: skip
    assert len(starting(lines, "warning: check jobsite.W001: ")) == 1  # of check --deploy
    assert SECRET not in "\n".join(lines)


@pytest.mark.slow("runs manage.py in processes")
def test_each_problem_is_reported_with_a_remedy(production, tmp_path):
    (tmp_path / "media").rmdir()
    (tmp_path / "media").write_text("a file")
    env = production | {
        "SECRET_KEY": "a-short-secret",
        "DATABASE_URL": "postgres://joe:hunter2@127.0.0.1:1/jobs",
        "CACHE_URL": "redis://:pass-of-redis@127.0.0.1:1/0",
        "EMAIL_URL": "smtp://joe:pass-of-mail@127.0.0.1:1",
    }

    code, summary, lines = examine(env)

    output = "\n".join(lines)
    assert (code, summary.split(" and ")[0]) == (1, f"{len(starting(lines, 'error'))} errors")
    assert starting(lines, "error: settings")[0].startswith("error: settings: SECRET_KEY can be guessed")
    assert len(starting(lines, "error: database: ", "error: cache: CACHE_URL does not respond")) == 2
    assert "refused" in starting(lines, "error: database: ")[0]
    assert starting(lines, "error: mail") == [
        "error: mail: 127.0.0.1:1 does not respond (Connection refused). Check EMAIL_URL."
    ]
    assert len(starting(lines, "error: uploads: MEDIA_ROOT, ")) == 1
    assert [word for word in ("a-short-secret", "hunter2", "pass-of") if word in output] == []
    assert "Traceback" not in output


@pytest.mark.slow("runs manage.py in processes")
def test_missing_database_file_or_migrations_are_an_error(production, tmp_path):
    path = tmp_path / "none.sqlite3"
    code, _, lines = examine(production | {"DATABASE_URL": f"sqlite:///{path}"})
    expected = f"error: database: there is no file {path}. Run `manage.py migrate`."
    assert (code, starting(lines, "error"), path.exists()) == (1, [expected], False)

    with closing(sqlite3.connect(tmp_path / "data" / "db.sqlite3")) as database:
        database.execute("DELETE FROM django_migrations WHERE app = 'applications'")
        database.commit()
    code, _, lines = examine(production)
    [line] = starting(lines, "error")
    assert code == 1
    assert re.fullmatch(r"error: migrations: .* not applied\. Run `manage\.py migrate`\.", line)


@pytest.mark.slow("runs manage.py in processes")
def test_settings_that_cannot_be_read_are_the_only_finding():
    number = "ValueError: invalid literal for int() with base 10: 'many'"
    choices = "ImproperlyConfigured: SECOND_FACTOR is 'on', not off, optional or required."
    unknown = "the variable that was changed last"
    for name, value, text, hint in (
        ("PAGE_SIZE_MAX", "many", number, "PAGE_SIZE_MAX"),
        ("SECOND_FACTOR", "on", choices, "SECOND_FACTOR"),
        ("DATABASE_URL", "postgres//joe:hunter2@db/x", "KeyError: 'ENGINE'", unknown),
    ):
        finding = f"error: settings: cannot be read: {text}. No other check was run. Check {hint}."
        assert examine({name: value}) == (1, "1 errors and 0 warnings.", [finding])
    code, out, lines = examine({name: value}, "--format", "json")
    assert (code, lines, json.loads(out)["errors"]) == (1, [], 1)


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has the clock of this process")
def test_clock_that_differs_from_the_database_is_an_error(monkeypatch):
    assert [finding.level for finding in doctor._clock()] == ["ok"]

    monkeypatch.setattr(timezone, "now", lambda now=timezone.now: now() + timedelta(seconds=90))

    [finding] = doctor._clock()
    assert finding.level == "error"
    assert "by 90 seconds" in finding.text


def test_failing_check_is_an_error_and_secrets_are_redacted(monkeypatch):
    broken = Mock(side_effect=RuntimeError("no such thing"), __name__="_disk")
    monkeypatch.setattr(doctor, "_checks", lambda: iter(()))
    monkeypatch.setattr(doctor, "_database", lambda: iter(()))
    monkeypatch.setattr(doctor, "_disk", broken)

    found = [str(finding) for finding in doctor.examine()]

    assert "error: disk: could not be checked: RuntimeError: no such thing" in found
    assert any("time zone" in line for line in found)

    monkeypatch.setenv("DATABASE_URL", "postgres://joe:hunter2@db/x")
    monkeypatch.setenv("REPLICA_URL", "postgres://joe:other3@db/x,postgres://joe:third4@db/x")
    monkeypatch.setenv("OIDC_CLIENT_SECRET", "s3cr3t")

    shown = doctor.redact("hunter2 other3 third4 s3cr3t http://a:b@c/ joe")
    assert shown == "*** *** *** *** http://a:***@c/ joe"
