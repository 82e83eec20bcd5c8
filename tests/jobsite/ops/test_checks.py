"""Configurations that do not start, and system checks of those that do."""

import os
import re
import runpy
import secrets
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from applications.checks import antivirus_is_valid, applications_expire
from forms_structure.models import ConsentText
from jobsite.demo.checks import demo_passwords_are_changed
from jobsite.ops import checks
from tests.applications.makers import make_application
from tests.factories import make_vacancy
from vacancies.checks import consent_texts_are_own

ROOT = Path(__file__).parents[3]
KEY, BACKUP_KEY = secrets.token_urlsafe(50), secrets.token_urlsafe(50)
MANIFEST = '{"version": "1.1", "paths": {}, "hash": ""}'
GOOD = {"SECRET_KEY": KEY, "ALLOWED_HOSTS": "jobs.example.com"}
VARIABLES = set(re.findall(r'\benv\.\w+\(\s*"([A-Z0-9_]+)"', (ROOT / "jobsite/settings.py").read_text()))
OF_GUNICORN = {  # and of its start script
    name
    for file in ("gunicorn.conf.py", "reload.sh")
    for name in re.findall(
        r'(?:environ\.get\(\s*"|\$\{)([A-Z][A-Z0-9_]*)', (ROOT / "deploy" / file).read_text()
    )
}
OF_COMPOSE = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", (ROOT / "deploy/compose.yaml").read_text()))
EXAMPLE = re.findall(r"^#?([A-Z][A-Z0-9_]*)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE)


@pytest.fixture
def start(monkeypatch):
    """Return a function that reads the settings with the given environment variables only."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("environ.Env.read_env", lambda *args, **kwargs: None)

    def start(**variables: str) -> dict:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(ROOT / "jobsite/settings.py"))

    return start


# --- Unsafe configurations ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "reasons"),
    [
        ({"ALLOWED_HOSTS": "jobs.example.com"}, ["SECRET_KEY must be set"]),
        ({"ALLOWED_HOSTS": "127.0.0.1"}, ["SECRET_KEY must be set"]),
        ({"PUBLIC_BASE_URL": "http://127.0.0.1:8000"}, ["SECRET_KEY must be set"]),
        ({"DEBUG": "off"}, ["SECRET_KEY must be set"]),
        ({"BIND": "0.0.0.0:8000"}, ["SECRET_KEY must be set"]),
        ({"BIND": ":8000"}, ["SECRET_KEY must be set"]),
        ({"SECRET_KEY": KEY, "ALLOWED_HOSTS": "localhost", "DEBUG": "1", "BIND": "[::]:80"}, ["DEBUG is on"]),
        ({**GOOD, "DEBUG": "on"}, ["DEBUG is on"]),
        ({"SECRET_KEY": KEY, "DEBUG": "1", "PUBLIC_BASE_URL": "https://jobs.example.com"},
         ["DEBUG is on", "ALLOWED_HOSTS is empty"]),
        ({"SECRET_KEY": KEY, "DEBUG": "1", "PUBLIC_BASE_URL": "jobs.test", "ALLOWED_HOSTS": "localhost"},
         ["DEBUG is on"]),
        ({**GOOD, "SECRET_KEY": KEY[:49]}, ["SECRET_KEY can be guessed"]),
        ({**GOOD, "SECRET_KEY": "password!" * 9}, ["SECRET_KEY can be guessed"]),
        ({**GOOD, "SECRET_KEY": "django-insecure-" + KEY}, ["SECRET_KEY can be guessed"]),
        ({"SECRET_KEY": KEY}, ["ALLOWED_HOSTS is empty"]),
        ({**GOOD, "ALLOWED_HOSTS": "*"}, ["ALLOWED_HOSTS has a *"]),
        ({**GOOD, "ALLOWED_HOSTS": "jobs.example.com,*.example.com"}, ["ALLOWED_HOSTS has a *"]),
        ({"SECRET_KEY": "x", "ALLOWED_HOSTS": "*", "DEBUG": "true"},
         ["DEBUG is on", "SECRET_KEY can be guessed", "ALLOWED_HOSTS has a *"]),
    ],
)  # fmt: skip
def test_unsafe_configuration_does_not_start_and_lists_all_reasons(start, variables, reasons):
    with pytest.raises(ImproperlyConfigured) as refusal:
        start(**variables)

    first, *messages = str(refusal.value).split("\n- ")
    assert first == "Not started: the configuration is unsafe."
    assert [text[: len(reason)] for text, reason in zip(messages, reasons, strict=True)] == reasons
    assert KEY[:49] not in str(refusal.value)


@pytest.mark.parametrize(
    ("variables", "debug"),
    [
        ({}, True),
        ({"BIND": "127.0.0.1:8001"}, True),
        ({"BIND": "unix:/run/jobsite.sock"}, True),
        ({"SECRET_KEY": "short", "DEBUG": "on"}, True),
        ({"SECRET_KEY": KEY, "DEBUG": "on", "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
          "PUBLIC_BASE_URL": "http://localhost:8000"}, True),
        (GOOD, False),
        ({"SECRET_KEY": secrets.token_hex(32), "ALLOWED_HOSTS": ".example.com"}, False),
    ],
)  # fmt: skip
def test_development_on_loopback_and_production_start(start, variables, debug):
    assert start(**variables)["DEBUG"] is debug


def manage(*words: str, **variables: str) -> subprocess.CompletedProcess:
    """Run manage.py with the given environment variables only."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(
        command, cwd=ROOT, env=kept | variables, capture_output=True, text=True, check=False
    )


def test_commands_print_why_they_do_not_start():
    done = manage("migrate", **GOOD | {"SECRET_KEY": "short"})

    assert done.returncode == 1
    assert "\n- SECRET_KEY can be guessed" in done.stderr
    assert done.stdout == ""


# --- The example configuration -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "fallbacks", "found"),
    [
        ("", [], []),
        (BACKUP_KEY, [], []),
        (BACKUP_KEY, [secrets.token_hex(32), secrets.token_urlsafe(50)], []),
        (BACKUP_KEY[:49], [], ["jobsite.E031"]),
        ("ab" * 50, [], ["jobsite.E031"]),
        (KEY, [], ["jobsite.E031"]),
        (BACKUP_KEY, ["short", "short"], ["jobsite.E031"]),
        ("", [BACKUP_KEY], ["jobsite.E032"]),
    ],
    ids=["absent", "key", "key-and-fallbacks", "short", "repeated", "secret-key", "fallback-short", "no-key"],
)
def test_weak_backup_key_is_an_error(settings, key, fallbacks, found):
    settings.SECRET_KEY = KEY
    settings.BACKUP_KEY, settings.BACKUP_KEY_FALLBACKS = key, fallbacks

    messages = checks.settings_are_valid()

    assert [message.id for message in messages] == found
    assert not key or key not in str(messages)


def test_keys_of_backups_are_read_from_the_environment(start):
    assert (start()["BACKUP_KEY"], start()["BACKUP_KEY_FALLBACKS"]) == ("", [])
    found = start(BACKUP_KEY="one", BACKUP_KEY_FALLBACKS="two, three")
    assert (found["BACKUP_KEY"], found["BACKUP_KEY_FALLBACKS"]) == ("one", ["two", "three"])


@pytest.mark.slow("runs manage.py in a process")
def test_example_filled_in_is_clean(tmp_path):
    """check --deploy reports nothing for .env.example with its example values and secrets."""
    folders = {name: str(tmp_path / name) for name in ("MEDIA_ROOT", "STATIC_ROOT")}
    (tmp_path / "STATIC_ROOT").mkdir()
    (tmp_path / "STATIC_ROOT" / "staticfiles.json").write_text(MANIFEST)
    database = {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}", "REPLICA_URL": ""}
    variables = dict(EXAMPLE) | folders | database | {"SECRET_KEY": KEY, "BACKUP_KEY": BACKUP_KEY}

    done = manage("check", "--deploy", "--fail-level", "WARNING", **variables)

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_documented_variables_are_those_in_use():
    rows = re.findall(
        r"^\| (`[A-Z].*?) \|", (ROOT / "docs/operations/configure.md").read_text(), re.MULTILINE
    )
    explained = {name for row in rows for name in re.findall(r"`([A-Z][A-Z0-9_]+)`", row)}
    examples = [name for name, _ in EXAMPLE]

    assert len(VARIABLES) > 25
    assert explained == VARIABLES | OF_GUNICORN
    assert sorted(examples) == sorted(VARIABLES | OF_GUNICORN | OF_COMPOSE)


# --- System checks -----------------------------------------------------------------------------


def ids(function=checks.settings_are_valid):
    return [message.id.removeprefix("jobsite.") for message in function()]


@pytest.fixture
def production(settings, monkeypatch, tmp_path):
    """Settings of which the checks report nothing."""
    monkeypatch.delenv("WEB_CONCURRENCY", raising=False)
    settings.ALLOWED_HOSTS, settings.PUBLIC_BASE_URL = ["jobs.example.com"], "https://jobs.example.com"
    settings.TRUSTED_PROXIES, settings.INTERNAL_ACCESS = ["127.0.0.1/32"], "authenticated"
    settings.RATE_LIMIT, settings.IS_MAIL_SENT = "600/min", True
    settings.DEFAULT_FROM_EMAIL, settings.BACKUP_KEY = "jobs@example.com", BACKUP_KEY
    cache = {"BACKEND": "jobsite.serving.cache.RedisCache", "LOCATION": "redis://127.0.0.1:6379/0"}
    monkeypatch.setitem(settings.CACHES, "default", cache)
    settings.MEDIA_ROOT = tmp_path / "media"
    assert ids(checks.production_is_configured) == ids() == []
    return settings


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("INTERNAL_ACCESS", "public", ["W001"]),
        ("INTERNAL_ACCESS", "network", ["W002"]),
        ("PUBLIC_BASE_URL", "", ["W003"]),
        ("IS_MAIL_SENT", False, ["W005"]),
        ("TRUSTED_PROXIES", ["10.0.0.1", "0.0.0.0/0"], ["W006"]),
        ("INTERNAL_NETWORKS", ["::/0 "], ["W006"]),
        ("PUBLIC_BASE_URL", "http://jobs.example.com", ["W007"]),
        ("PUBLIC_BASE_URL", "https://www.example.com", ["W008"]),
        ("ALLOWED_HOSTS", [".example.com"], []),
        ("TRUSTED_PROXIES", [], ["W009"]),
        ("DEFAULT_FROM_EMAIL", "webmaster@localhost", ["W010"]),
        ("BACKUP_KEY", "", ["W018"]),
    ],
)
def test_development_default_is_a_warning(production, name, value, found):
    setattr(production, name, value)

    assert ids(checks.production_is_configured) == found


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("API_CONTACT", "api@example.org", []),
        ("API_CONTACT", "https://example.org/@api", []),
        ("API_CONTACT", "ask Mia", ["E020"]),
        ("API_CONTACT", "javascript://x", ["E020"]),
        ("API_LICENSE", "CC-BY-4.0 OR MIT", []),
        ("API_LICENSE", "https://example.org/terms", []),
        ("API_LICENSE", "ftp://example.org/terms", ["E020"]),
    ],
)
def test_invalid_contact_or_license_is_an_error(settings, name, value, found):
    setattr(settings, name, value)

    assert ids() == found


@pytest.mark.parametrize("backend", ["locmem.LocMemCache", "dummy.DummyCache"])
@pytest.mark.parametrize(
    ("limit", "workers", "found"),
    [("600/min", None, ["W004"]), ("600/min", "2", ["W004"]), ("600/min", "1", []), ("off", "2", [])],
)
def test_rate_limit_of_several_workers_needs_a_shared_cache(
    production, monkeypatch, backend, limit, workers, found
):
    cache = {"BACKEND": f"django.core.cache.backends.{backend}"}
    monkeypatch.setitem(production.CACHES, "default", cache)
    production.RATE_LIMIT = limit
    if workers:
        monkeypatch.setenv("WEB_CONCURRENCY", workers)

    assert ids(checks.production_is_configured) == found


@pytest.mark.parametrize(
    ("engine", "location", "found"),
    [
        ("sqlite3", "redis://cache:6379/0", ["W013"]),
        ("sqlite3", "redis://localhost:6379/0", []),
        ("postgresql", "redis://cache:6379/0", []),
    ],
)
def test_sqlite_with_a_remote_cache_is_a_warning(production, monkeypatch, engine, location, found):
    cache = {"BACKEND": "jobsite.serving.cache.RedisCache", "LOCATION": location}
    database = {"ENGINE": f"django.db.backends.{engine}", "NAME": "jobsite"}
    monkeypatch.setitem(production.CACHES, "default", cache)
    monkeypatch.setitem(production.DATABASES, "default", database)

    assert ids(checks.production_is_configured) == found


def test_missing_static_files_are_a_warning(production, tmp_path):
    manifest = "whitenoise.storage.CompressedManifestStaticFilesStorage"
    production.STATIC_ROOT = tmp_path / "static"
    production.STORAGES = production.STORAGES | {"staticfiles": {"BACKEND": manifest}}
    assert ids(checks.production_is_configured) == ["W011"]

    production.STATIC_ROOT.mkdir()
    (production.STATIC_ROOT / "staticfiles.json").write_text(MANIFEST)
    assert ids(checks.production_is_configured) == []


@pytest.mark.parametrize("name", ["MEDIA_ROOT", "PRIVATE_ROOT"])
def test_folder_of_uploads_that_is_not_writable_is_a_warning(production, monkeypatch, tmp_path, name):
    (tmp_path / "folder").mkdir(mode=0o700)
    setattr(production, name, tmp_path / "folder")
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda path, mode: path != tmp_path / "folder")
        assert ids(checks.production_is_configured) == ["W012"]

    (tmp_path / "file").write_text("")
    setattr(production, name, tmp_path / "file")
    assert ids(checks.production_is_configured) == ["W012"]


@pytest.mark.parametrize(
    ("media", "static", "found"),
    [
        ("files/media", "files/static", []),
        ("files", "files", ["E011"]),
        ("static/media", "static", ["E011"]),
        ("media", "media/static", ["E011"]),
        (ROOT, "static", ["E012"]),
        ("media", ROOT.parent, ["E012"]),
    ],
)
def test_overlapping_public_folders_are_an_error(settings, monkeypatch, tmp_path, media, static, found):
    database = {"ENGINE": "django.db.backends.postgresql", "NAME": "jobsite"}
    monkeypatch.setitem(settings.DATABASES, "default", database)
    settings.MEDIA_ROOT, settings.STATIC_ROOT = tmp_path / media, tmp_path / static

    assert ids() == found


@pytest.mark.parametrize(
    ("private", "found"),
    [
        ("files/private", []),
        ("files/media", ["E012"]),
        ("files/media/private", ["E012"]),
        ("files/static/a/b", ["E012"]),
        ("files", ["E013", "E013"]),
        ("files/media/../private", []),
    ],
)
def test_private_folder_inside_or_around_a_public_one_is_an_error(settings, tmp_path, private, found):
    settings.MEDIA_ROOT, settings.STATIC_ROOT = tmp_path / "files/media", tmp_path / "files/static"
    settings.PRIVATE_ROOT = tmp_path / private

    assert ids() == found


def test_private_folder_that_others_can_list_is_a_warning(production, tmp_path):
    production.PRIVATE_ROOT = tmp_path / "private"
    production.PRIVATE_ROOT.mkdir(mode=0o700)
    assert ids(checks.production_is_configured) == []
    production.PRIVATE_ROOT.chmod(0o750)
    assert ids(checks.production_is_configured) == ["W019"]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("", []),
        ("clamd:/run/clamav/clamd.ctl", []),
        ("clamd://127.0.0.1:3310", []),
        ("clamd://scanner", []),
        ("clamd://scanner:x", ["E014"]),
        ("/run/clamd.sock", ["E014"]),
        ("http://scanner", ["E014"]),
    ],
)
def test_invalid_address_of_the_virus_scanner_is_an_error(settings, value, found):
    settings.ANTIVIRUS = value

    assert ids(antivirus_is_valid) == found


def test_database_inside_media_root_is_an_error(settings, monkeypatch, tmp_path):
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "media" / "db.sqlite3")}
    monkeypatch.setitem(settings.DATABASES, "default", database)
    settings.MEDIA_ROOT = tmp_path / "media"

    assert ids() == ["E012"]


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("jobs.example.com", []),
        (".example.com", []),
        ("127.0.0.1", []),
        ("[::1]", []),
        ("https://jobs.example.com", ["E010"]),
        ("jobs.example.com:443", ["E010"]),
        ("jobs.example.com/", ["E010"]),
        ("::1", ["E010"]),
        (" jobs.example.com", ["E010"]),
    ],
)
def test_invalid_host_name_is_an_error(settings, host, found):
    settings.ALLOWED_HOSTS = [host]

    assert ids() == found


# --- Content -----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_default_consent_text_is_a_warning_once_vacancies_are_published(settings, at):
    settings.LANGUAGE_CODE = "nl-be"
    found = consent_texts_are_own
    make_vacancy(publish_from=at + timedelta(days=1))
    assert ids(found) == []  # nobody can apply yet

    make_vacancy()
    ConsentText.objects.add(language="fr", text="Oui.", statement_url="https://jobs.test/privacy")
    assert ids(found) == ["W014"]
    assert "default text" in found()[0].msg

    ConsentText.objects.add(language="nl", text="Ja.", statement_url="https://www.example.org/privacy")
    assert ids(found) == ["W014"]
    assert " 3 links to https://www.example.org/privacy" in found()[0].msg

    ConsentText.objects.add(language="nl", text="Ja.", statement_url="https://my-example.org/privacy")
    assert ids(found) == []


@pytest.mark.django_db
def test_demo_password_is_a_warning():
    User.objects.create_superuser("admin", password="admin")
    User.objects.create_user("editor", password="another")
    User.objects.create_user("applicant", password="applicant", is_active=False)

    assert [(message.id, message.hint) for message in demo_passwords_are_changed()] == [
        ("jobsite.W015", "manage.py changepassword admin")
    ]


@pytest.mark.django_db
def test_applications_without_retention_or_erasure_log_are_a_warning(settings):
    settings.APPLICATIONS_KEPT_DAYS, settings.ERASURE_LOG = 0, ""
    assert ids(applications_expire) == []

    make_application()
    assert ids(applications_expire) == ["W016", "W017"]

    settings.APPLICATIONS_KEPT_DAYS, settings.ERASURE_LOG = 180, "/var/lib/jobsite/erased"
    assert ids(applications_expire) == []


def test_content_checks_report_nothing_without_a_database(monkeypatch):
    def lost(*args, **kwargs):
        raise DatabaseError

    monkeypatch.setattr("vacancies.querysets.VacancyQuerySet.published", lost)

    assert consent_texts_are_own() == []
