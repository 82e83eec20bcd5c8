"""Configurations that do not start, and system checks of those that do."""

import os
import re
import runpy
import secrets
import subprocess
import sys
from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.test import override_settings
from django.utils import timezone

from applications.checks import (
    PDFJS,
    antivirus_is_valid,
    applications_expire,
    erasures_are_logged,
    files_are_there,
    pdf_viewer_is_new,
)
from forms_structure.models import ConsentText
from jobsite.demo.checks import demo_passwords_are_changed
from jobsite.ops import catalogs, checks
from tests.applications.makers import make_application, make_file, make_submission
from tests.factories import make_vacancy
from tests.servers import ROOT, SYSTEM_ENV
from vacancies.checks import consent_texts_are_own

KEY, BACKUP_KEY = secrets.token_urlsafe(50), secrets.token_urlsafe(50)
MANIFEST = '{"version": "1.1", "paths": {}, "hash": ""}'
GOOD = {"SECRET_KEY": KEY, "ALLOWED_HOSTS": "jobs.example.com"}
VARIABLES = set(
    re.findall(r'\benv\.\w+\(\s*"([A-Z0-9_]+)"', (ROOT / "jobsite/settings.py").read_text())
)
OF_ENVIRONMENT = r'(?:environ\.get\(\s*"|\$\{)([A-Z][A-Z0-9_]*)'
OF_GUNICORN = set()  # and of its start script
for _name in ("gunicorn.conf.py", "reload.sh"):
    OF_GUNICORN |= set(re.findall(OF_ENVIRONMENT, (ROOT / "deploy" / _name).read_text()))
OF_COMPOSE = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", (ROOT / "deploy/compose.yaml").read_text()))
EXAMPLE = re.findall(
    r"^#?([A-Z][A-Z0-9_]*)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE
)


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


@pytest.mark.parametrize(
    ("variables", "reasons"),
    [
        ({"ALLOWED_HOSTS": "jobs.example.com"}, ["SECRET_KEY must be set"]),
        ({"ALLOWED_HOSTS": "127.0.0.1"}, ["SECRET_KEY must be set"]),
        ({"PUBLIC_BASE_URL": "http://127.0.0.1:8000"}, ["SECRET_KEY must be set"]),
        ({"DEBUG": "off"}, ["SECRET_KEY must be set"]),
        ({"BIND": "0.0.0.0:8000"}, ["SECRET_KEY must be set"]),
        ({"BIND": ":8000"}, ["SECRET_KEY must be set"]),
        (
            {"SECRET_KEY": KEY, "ALLOWED_HOSTS": "localhost", "DEBUG": "1", "BIND": "[::]:80"},
            ["DEBUG is on"],
        ),
        ({**GOOD, "DEBUG": "on"}, ["DEBUG is on"]),
        (
            {"SECRET_KEY": KEY, "DEBUG": "1", "PUBLIC_BASE_URL": "https://jobs.example.com"},
            ["DEBUG is on", "ALLOWED_HOSTS is empty"],
        ),
        (
            {
                "SECRET_KEY": KEY,
                "DEBUG": "1",
                "PUBLIC_BASE_URL": "jobs.test",
                "ALLOWED_HOSTS": "localhost",
            },
            ["DEBUG is on"],
        ),
        ({**GOOD, "SECRET_KEY": KEY[:49]}, ["SECRET_KEY can be guessed"]),
        ({**GOOD, "SECRET_KEY": "password!" * 9}, ["SECRET_KEY can be guessed"]),
        ({**GOOD, "SECRET_KEY": "django-insecure-" + KEY}, ["SECRET_KEY can be guessed"]),
        ({"SECRET_KEY": KEY}, ["ALLOWED_HOSTS is empty"]),
        ({**GOOD, "ALLOWED_HOSTS": "*"}, ["ALLOWED_HOSTS has a *"]),
        ({**GOOD, "ALLOWED_HOSTS": "jobs.example.com,*.example.com"}, ["ALLOWED_HOSTS has a *"]),
        (
            {"SECRET_KEY": "x", "ALLOWED_HOSTS": "*", "DEBUG": "true"},
            ["DEBUG is on", "SECRET_KEY can be guessed", "ALLOWED_HOSTS has a *"],
        ),
    ],
)
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
        (
            {
                "SECRET_KEY": KEY,
                "DEBUG": "on",
                "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
                "PUBLIC_BASE_URL": "http://localhost:8000",
            },
            True,
        ),
        (GOOD, False),
        ({"SECRET_KEY": secrets.token_hex(32), "ALLOWED_HOSTS": ".example.com"}, False),
    ],
)
def test_development_on_loopback_and_production_start(start, variables, debug):
    assert start(**variables)["DEBUG"] is debug


def test_name_of_the_site_is_the_sender(start):
    assert start(DEFAULT_FROM_EMAIL="jobs@acme.be")["DEFAULT_FROM_EMAIL"] == "jobs@acme.be"
    for address, sender in (
        ("jobs@acme.be", "Acme <jobs@acme.be>"),
        ("Jobs <jobs@acme.be>", "Jobs <jobs@acme.be>"),
    ):
        assert start(SITE_NAME="Acme", DEFAULT_FROM_EMAIL=address)["DEFAULT_FROM_EMAIL"] == sender


def test_invalid_variable_is_named_in_one_line_without_passwords(start):
    url = "it must be like postgres://user:password@host/name."
    encode = " Percent-encode @ : / # in a password as %40 %3A %2F %23."
    for name, value, message in (
        ("DEBUG", "ja", "DEBUG is 'ja', not on or off."),
        ("MULTI_BRANDING", "2", "MULTI_BRANDING is '2', not on or off."),
        (
            "TIME_ZONE",
            "Europe/Rom",
            "TIME_ZONE is 'Europe/Rom', not a time zone such as Europe/Brussels.",
        ),
        ("SITE_COLOR", "blue", "SITE_COLOR is 'blue', not a color such as #0b57b0."),
        (
            "SITE_LOGO",
            "http://example.com/logo.svg",
            "SITE_LOGO is 'http://example.com/logo.svg', not an address such as "
            "https://www.example.com/logo.svg or /files/logo.svg, without ; , and quotes.",
        ),
        ("TIME_ZONE", "", "TIME_ZONE is '', not a time zone such as Europe/Brussels."),
        ("LANGUAGE_CODE", "", "LANGUAGE_CODE is '', not en, nl, fr, de or a variant of one."),
        (
            "LANGUAGE_CODE",
            "dutch",
            "LANGUAGE_CODE is 'dutch', not en, nl, fr, de or a variant of one.",
        ),
        (
            "EMAIL_URL",
            "mail.example.com",
            "EMAIL_URL has no ://; it must be like smtp+tls://user:password@host:587.",
        ),
        ("CACHE_URL", "", "CACHE_URL is empty; it must be like redis://127.0.0.1:6379/0."),
        (
            "CACHE_URL",
            "filecache:///tmp",
            "CACHE_URL begins with filecache://; it must be like redis://127.0.0.1:6379/0.",
        ),
        (
            "CACHE_URL",
            "redis://127.0.0.1:abc/0",
            f"CACHE_URL cannot be read; it must be like redis://127.0.0.1:6379/0.{encode}",
        ),
        ("DATABASE_URL", "", f"DATABASE_URL is empty; {url}"),
        (
            "DATABASE_URL",
            "'postgres://joe:hunter2@db/x'",
            "DATABASE_URL begins with a quotation mark: write the value without quotes.",
        ),
        (
            "DATABASE_URL",
            "postgre://joe:hunter2@db/x",
            f"DATABASE_URL begins with postgre://; {url}",
        ),
        ("DATABASE_URL", "mysql://joe:hunter2@db/x", f"DATABASE_URL begins with mysql://; {url}"),
        (
            "DATABASE_URL",
            "postgres://joe:hunter2/@db/x",
            f"DATABASE_URL cannot be read; {url}{encode}",
        ),
        ("REPLICA_URL", "db/x", f"REPLICA_URL has no ://; {url}"),
        ("WEB_CONCURRENCY", "two", "WEB_CONCURRENCY is 'two', not a whole number of 1 or more."),
        (
            "STATEMENT_TIMEOUT",
            "20s",
            "STATEMENT_TIMEOUT is '20s', not a whole number of 0 or more.",
        ),
        (
            "APPLICATIONS_KEPT_DAYS",
            "six months",
            "APPLICATIONS_KEPT_DAYS is 'six months', not a whole number of 0 or more.",
        ),
        (
            "PAY_REQUIRED_IN",
            "BE, UK",
            "PAY_REQUIRED_IN contains 'UK', not a country code of ISO 3166-1 such as BE. "
            "Separate codes by commas.",
        ),
        *(
            (
                "TEXT_LANGUAGES",
                value,
                f"TEXT_LANGUAGES contains {shown!r}, not a language code of ISO 639-1 such as fr: "
                f"{hint}Separate codes by commas.",
            )
            for value, shown, hint in (
                ("nl, en-GB", "en-gb", "write en. "),
                ("xx", "xx", ""),
                ("f" * 2000, "f" * 40, "write ff. "),
            )
        ),
        (
            "SENDER_DOMAINS",
            "acme.test, jobs@globex.test",
            "SENDER_DOMAINS contains 'jobs@globex.test', not a domain such as example.com. "
            "Separate domains by commas.",
        ),
        *(
            ("WEBHOOK_PORTS", value, f"WEBHOOK_PORTS is {value!r}, not {wanted}")
            for wanted in ("a port from 1 to 65535. Separate several by commas.",)
            for value in ("8443, 0", "8443, 65536", "-1", "8443 9443")
        ),
        (
            "WEBHOOK_ALLOW_NETWORKS",
            "10.1.2.3/16",
            "WEBHOOK_ALLOW_NETWORKS is '10.1.2.3/16', not a network such as 10.1.0.0/16. "
            "Separate several by commas.",
        ),
        ("METRICS_PORT", "yes", "METRICS_PORT is 'yes', not a whole number from 0 to 65535."),
        ("RESPONSE_CACHE_MB", "-1", "RESPONSE_CACHE_MB is '-1', not a whole number of 0 or more."),
        ("LOG_FORMAT", "xml", "LOG_FORMAT is 'xml', not json or text."),
    ):
        with pytest.raises(ImproperlyConfigured, match=f"^{re.escape(message)}$"):
            start(**{name: value})
        os.environ.pop(name)


def test_misspelt_variable_is_a_warning(monkeypatch, settings, tmp_path):
    settings.BASE_DIR = tmp_path
    (tmp_path / ".env").write_text(
        "# SECRET=x\nSECRET_KEY=x\nSENTRY_DSN=x\nPGSSLMODE=require\nDOMAIN=x\n"
    )
    for name in ("DATABSE_URL", "TIMEZONE", "PAGER", "LANGUAGE", "http_proxy"):
        monkeypatch.setenv(name, "x")

    messages = [each for each in checks.settings_are_valid() if each.id == "jobsite.W031"]

    assert {each.msg: each.hint for each in messages} == {
        "DATABSE_URL is no setting.": "Did you mean DATABASE_URL?",
        "SENTRY_DSN is no setting.": None,
        "TIMEZONE is no setting.": "Did you mean TIME_ZONE?",
    }


def manage(*words: str, **variables: str) -> subprocess.CompletedProcess:
    """Run manage.py with the given environment variables only."""
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(
        command, cwd=ROOT, env=SYSTEM_ENV | variables, capture_output=True, text=True, check=False
    )


def test_commands_print_why_they_do_not_start():
    done = manage("migrate", **GOOD | {"SECRET_KEY": "short"})

    assert (done.returncode, done.stdout) == (1, "")
    assert "\n- SECRET_KEY can be guessed" in done.stderr


def test_weak_backup_key_is_an_error(settings):
    settings.SECRET_KEY = KEY
    for key, fallbacks, found in (
        ("", [], []),
        (BACKUP_KEY, [], []),
        (BACKUP_KEY, [secrets.token_hex(32), secrets.token_urlsafe(50)], []),
        (BACKUP_KEY[:49], [], ["E031"]),
        ("ab" * 50, [], ["E031"]),
        (KEY, [], ["E031"]),
        (BACKUP_KEY, ["short", "short"], ["E031"]),
        ("", [BACKUP_KEY], ["E032"]),
    ):
        settings.BACKUP_KEY, settings.BACKUP_KEY_FALLBACKS = key, fallbacks
        assert ids() == found, (key, fallbacks)
        assert not key or key not in str(checks.settings_are_valid())


def test_keys_of_backups_are_read_from_the_environment(start):
    assert (start()["BACKUP_KEY"], start()["BACKUP_KEY_FALLBACKS"]) == ("", [])
    found = start(BACKUP_KEY="one", BACKUP_KEY_FALLBACKS="two, three")
    assert (found["BACKUP_KEY"], found["BACKUP_KEY_FALLBACKS"]) == ("one", ["two", "three"])


def test_earlier_keys_and_places_of_receivers_are_read_from_the_environment(start):
    found = start(
        SECRET_KEY_FALLBACKS="one, two",
        WEBHOOK_PORTS="8443, 65535",
        WEBHOOK_ALLOW_NETWORKS="10.1.0.0/16, fd00::/8",
    )
    assert found["SECRET_KEY_FALLBACKS"] == ["one", "two"]
    assert found["WEBHOOK_PORTS"] == [8443, 65_535]
    assert [str(each) for each in found["WEBHOOK_ALLOW_NETWORKS"]] == ["10.1.0.0/16", "fd00::/8"]


@pytest.mark.slow("runs manage.py in a process")
def test_example_filled_in_is_clean(tmp_path):
    """check --deploy reports nothing for .env.example with its example values and secrets."""
    folders = {name: str(tmp_path / name) for name in ("MEDIA_ROOT", "STATIC_ROOT")}
    (tmp_path / "STATIC_ROOT").mkdir()
    (tmp_path / "STATIC_ROOT" / "staticfiles.json").write_text(MANIFEST)
    database = {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}", "REPLICA_URL": ""}
    database["FILES_URL"] = ""  # a bucket replaces the folders
    variables = dict(EXAMPLE) | folders | database | {"SECRET_KEY": KEY, "BACKUP_KEY": BACKUP_KEY}

    done = manage("check", "--deploy", "--fail-level", "WARNING", **variables)

    assert (done.returncode, done.stderr) == (0, "")


def test_documented_variables_are_those_in_use():
    documented = (ROOT / "docs/operations/configure.md").read_text()
    rows = re.findall(r"^\| (`[A-Z].*?) \|", documented, re.MULTILINE)
    explained = {name for row in rows for name in re.findall(r"`([A-Z][A-Z0-9_]+)`", row)}

    assert len(VARIABLES) > 25
    assert explained == VARIABLES | OF_GUNICORN
    assert sorted(name for name, _ in EXAMPLE) == sorted(VARIABLES | OF_GUNICORN | OF_COMPOSE)


def ids(function=checks.settings_are_valid):
    return [message.id.removeprefix("jobsite.") for message in function()]


@pytest.fixture
def production(settings, monkeypatch, tmp_path):
    """Settings of which the checks report nothing."""
    monkeypatch.delenv("WEB_CONCURRENCY", raising=False)
    monkeypatch.setenv("TIME_ZONE", "UTC")
    settings.ALLOWED_HOSTS, settings.PUBLIC_BASE_URL = (
        ["jobs.example.com"],
        "https://jobs.example.com",
    )
    settings.TRUSTED_PROXIES, settings.INTERNAL_ACCESS = ["127.0.0.1/32"], "authenticated"
    settings.RATE_LIMIT, settings.IS_MAIL_SENT, settings.MEDIA_ROOT = (
        "600/min",
        True,
        tmp_path / "media",
    )
    settings.DEFAULT_FROM_EMAIL, settings.BACKUP_KEY = "jobs@example.com", BACKUP_KEY
    cache = {"BACKEND": "jobsite.serving.cache.RedisCache", "LOCATION": "redis://127.0.0.1:6379/0"}
    monkeypatch.setitem(settings.CACHES, "default", cache)
    monkeypatch.setattr(checks, "outdated", list)  # compiles all catalogs, to compare them
    assert ids(checks.production_is_configured) == ids() == []
    return settings


def test_development_default_is_a_warning(production):
    for name, value, found in (
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
    ):
        with override_settings(**{name: value}):
            assert ids(checks.production_is_configured) == found, (name, value)


def test_time_zone_that_nobody_chose_is_a_warning(production, monkeypatch):
    monkeypatch.delenv("TIME_ZONE")
    assert ids(checks.production_is_configured) == ["W023"]


INVALID = {  # setting -> the error, values without it, and values with it
    "API_CONTACT": (
        "E020",
        ["api@example.org", "https://example.org/@api"],
        ["ask Mia", "javascript://x"],
    ),
    "API_LICENSE": (
        "E020",
        ["CC-BY-4.0 OR MIT", "https://example.org/terms"],
        ["ftp://example.org/terms"],
    ),
    "DEFAULT_FROM_EMAIL": (
        "E051",
        ["webmaster@localhost", "jobs@example.com", "Jobs <jobs@example.com>"],
        ["", "jobs.example.com", "Jobs", "jobs@", "jobs@example.com, more@example.com"],
    ),
    "ANTIVIRUS": (
        "E014",
        ["", "clamd:/run/clamav/clamd.ctl", "clamd://127.0.0.1:3310", "clamd://scanner"],
        ["clamd://scanner:x", "/run/clamd.sock", "http://scanner"],
    ),
    "ALLOWED_HOSTS": (
        "E010",
        [["jobs.example.com"], [".example.com"], ["127.0.0.1"], ["[::1]"]],
        [
            ["https://jobs.example.com"],
            ["jobs.example.com:443"],
            ["jobs.example.com/"],
            ["::1"],
            [" jobs.example.com"],
        ],
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_value_is_an_error(settings, name):
    error, valid, invalid = INVALID[name]
    found = {}
    for value in valid + invalid:
        setattr(settings, name, value)
        found[str(value)] = ids(
            antivirus_is_valid if name == "ANTIVIRUS" else checks.settings_are_valid
        )
    assert found == {str(v): [] for v in valid} | {str(v): [error] for v in invalid}


@pytest.mark.parametrize("backend", ["locmem.LocMemCache", "dummy.DummyCache"])
def test_rate_limit_of_several_workers_needs_a_shared_cache(production, monkeypatch, backend):
    cache = {"BACKEND": f"django.core.cache.backends.{backend}"}
    monkeypatch.setitem(production.CACHES, "default", cache)
    for production.RATE_LIMIT, workers, found in (
        ("600/min", None, ["W004"]),
        ("600/min", "2", ["W004"]),
        ("600/min", "1", []),
        ("off", "2", []),
    ):
        if workers:
            monkeypatch.setenv("WEB_CONCURRENCY", workers)
        assert ids(checks.production_is_configured) == found


def test_sqlite_with_a_remote_cache_is_a_warning(production, monkeypatch):
    for engine, host, found in (
        ("sqlite3", "cache", ["W013"]),
        ("sqlite3", "localhost", []),
        ("postgresql", "cache", []),
    ):
        cache = {
            "BACKEND": "jobsite.serving.cache.RedisCache",
            "LOCATION": f"redis://{host}:6379/0",
        }
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


def test_outdated_translations_are_a_warning(production, monkeypatch):
    assert list(catalogs.outdated()) == []
    monkeypatch.setattr(checks, "outdated", lambda: [("nl.mo", b"")])
    assert ids(checks.production_is_configured) == ["W022"]


def refuse(folder, *, dir):
    if dir == folder:
        raise PermissionError(13, "Permission denied")
    return nullcontext()


def test_folder_of_uploads_that_is_not_writable_is_a_warning(production, monkeypatch, tmp_path):
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir(mode=0o700)
    file.write_text("")
    for name in ("MEDIA_ROOT", "PRIVATE_ROOT"):
        with monkeypatch.context() as patch, override_settings(**{name: folder}):
            patch.setattr("tempfile.TemporaryFile", partial(refuse, folder))
            assert ids(checks.production_is_configured) == ["W012"]
        with override_settings(**{name: file}):
            assert ids(checks.production_is_configured) == ["W012"]

    production.PRIVATE_ROOT = folder
    assert ids(checks.production_is_configured) == []
    folder.chmod(0o750)  # others can list it
    assert ids(checks.production_is_configured) == ["W019"]


def test_overlapping_folders_are_an_error(settings, monkeypatch, tmp_path):
    """The private folder is neither inside nor around a public one."""
    database = {"ENGINE": "django.db.backends.postgresql", "NAME": "jobsite"}
    monkeypatch.setitem(settings.DATABASES, "default", database)
    # not the real project: the folder of this test may be beside it
    project = settings.BASE_DIR = tmp_path / "around" / "project"
    for media, static, private, found in (
        ("files/media", "files/static", "private", []),
        ("files", "files", "private", ["E011"]),
        ("static/media", "static", "private", ["E011"]),
        ("media", "media/static", "private", ["E011"]),
        (project, "static", "private", ["E012"]),
        ("media", project.parent, "private", ["E012"]),
        ("files/media", "files/static", "files/private", []),
        ("files/media", "files/static", "files/media", ["E012"]),
        ("files/media", "files/static", "files/media/private", ["E012"]),
        ("files/media", "files/static", "files/static/a/b", ["E012"]),
        ("files/media", "files/static", "files", ["E013", "E013"]),
        ("files/media", "files/static", "files/media/../private", []),
    ):
        settings.MEDIA_ROOT, settings.STATIC_ROOT = tmp_path / media, tmp_path / static
        settings.PRIVATE_ROOT = tmp_path / private
        assert ids() == found, (media, static, private)

    database = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(tmp_path / "media" / "db.sqlite3"),
    }
    monkeypatch.setitem(settings.DATABASES, "default", database)
    settings.MEDIA_ROOT, settings.PRIVATE_ROOT = tmp_path / "media", tmp_path / "private"
    assert ids() == ["E012"]


@pytest.mark.django_db
def test_default_consent_text_is_a_warning_once_vacancies_are_published(settings, at, monkeypatch):
    settings.LANGUAGE_CODE, found = "nl-be", consent_texts_are_own
    make_vacancy(publish_from=at + timedelta(days=1))
    assert ids(found) == []  # nobody can apply yet

    def add(language, host):
        ConsentText.objects.add(
            language=language, text="Ja.", statement_url=f"https://{host}/privacy"
        )

    make_vacancy()
    add("fr", "jobs.test")
    assert ids(found) == ["W014"]
    assert "default text" in found()[0].msg

    add("nl", "www.example.org")
    assert ids(found) == ["W014"]
    assert " 3 links to https://www.example.org/privacy" in found()[0].msg

    add("nl", "my-example.org")
    assert ids(found) == []

    brand = make_vacancy().brand.pk
    ConsentText.objects.add(
        brand_number=brand, language="nl", text="Ja.", statement_url="https://example.org"
    )
    assert [" 5 links to https://example.org." in each.msg for each in found()] == [True]

    monkeypatch.setattr(
        "vacancies.querysets.VacancyQuerySet.published", Mock(side_effect=DatabaseError)
    )

    assert consent_texts_are_own() == []


@pytest.mark.django_db
def test_private_folder_without_the_newest_files_is_a_warning(settings, tmp_path):
    settings.PRIVATE_ROOT = tmp_path / "private"
    assert ids(files_are_there) == []
    submission = make_submission(make_application(), {})
    make_file(submission, content=b"a text")
    make_file(submission)
    assert ids(files_are_there) == []  # one file is lost, but this is the folder

    settings.PRIVATE_ROOT = tmp_path / "empty"
    assert ids(files_are_there) == ["W032"]


@pytest.mark.django_db
def test_old_pdf_viewer_is_a_warning(monkeypatch):
    folder = ROOT / "applications/static/applications/vendor/pdfjs"
    assert f"pdfjs-dist {PDFJS} from npm" in (folder / "README").read_text()
    for name in ("pdf.min.js", "pdf.worker.min.js"):
        # They refuse another version of each other.
        assert f'"{PDFJS}"' in (folder / name).read_text(), name
    row = make_file(make_submission(make_application(), {}))
    for days, expected in ((183, []), (184, ["W037"])):
        released = timezone.localdate() - timedelta(days=days)
        monkeypatch.setattr("applications.checks.PDFJS_RELEASED", released)
        assert ids(pdf_viewer_is_new) == expected
    row.delete()
    assert ids(pdf_viewer_is_new) == []


@pytest.mark.django_db
def test_risks_of_the_content_are_reported(settings):
    User.objects.create_superuser("admin", password="admin")
    User.objects.create_user("editor", password="another")
    User.objects.create_user("applicant", password="applicant", is_active=False)

    [message] = demo_passwords_are_changed()
    assert (message.id, message.hint) == ("jobsite.W015", "manage.py changepassword admin")

    assert ids(checks.staff_have_a_second_factor) == ["I001"]
    settings.SECOND_FACTOR = "optional"
    assert ids(checks.staff_have_a_second_factor) == []

    settings.APPLICATIONS_KEPT_DAYS = 0
    assert ids(applications_expire) == []

    make_application()
    assert ids(applications_expire) == ["W016"]

    settings.APPLICATIONS_KEPT_DAYS = 180
    assert ids(applications_expire) == []


def test_record_of_erasures_that_cannot_be_written_is_a_warning(settings, tmp_path):
    for settings.ERASURE_LOG, found in (
        ("", []),
        (str(tmp_path / "erased"), []),
        (str(tmp_path / "no such folder" / "erased"), ["W033"]),
        (str(tmp_path), ["W033"]),
    ):
        assert ids(erasures_are_logged) == found
