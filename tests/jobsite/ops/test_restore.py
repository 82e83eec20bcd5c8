"""Restoring an archive: everything as it was, or nothing changed."""

import gzip
import json
import os
import re
import tarfile
import tempfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.db import connection

from applications.models import Token
from jobsite.ops.backups import restore
from jobsite.ops.backups.files import locked
from jobsite.ops.commands import UsageError
from tests.applications.makers import make_application, make_token, make_user
from tests.jobsite.ops import backups
from tests.jobsite.ops.backups import (
    media,
    modify,
    output,
    rewritten,
    rows,
    run,
    tree,
    with_manifest,
)
from tests.vacancies.manage.client import Api, make_integration
from tests.wsgi import ask
from vacancies.models import Attachment

pytestmark = backups.ARCHIVES


@pytest.mark.smoke
def test_restore_on_an_empty_machine_is_complete(site, settings, tmp_path, elsewhere):
    api = Api(make_integration("Payroll"), "-")
    bodies, stored, files = site.bodies(), rows(), media(Path(settings.MEDIA_ROOT))
    make_token(site.user)
    assert set(files.values()) >= {b"%PDF-1"}
    made = run("backup", tmp_path / "backups")
    archive = Path(made["archive"])
    assert (made["rows"] > 100, made["missing"]) == (True, [])
    assert oct(archive.stat().st_mode)[-3:] == "600"
    assert os.listdir(tmp_path / "backups") == [archive.name]

    elsewhere()
    run("restore", archive, check=True)
    if connection.vendor == "postgresql":  # --check changes nothing
        assert connection.introspection.table_names() == []
    assert not (tmp_path / "elsewhere").exists()
    done = run("restore", archive)
    if connection.vendor == "postgresql":  # queries have good plans at once
        with connection.cursor() as cursor:
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'vacancies_vacancy'")
            assert cursor.fetchone()[0] > 0

    assert (done["rows"], done["files"]) == (made["rows"], made["files"])
    assert rows() == stored
    assert media(Path(settings.MEDIA_ROOT)) == files
    assert not Token.objects.exists()  # revoked tokens must not become valid again
    assert api.get("vacancies").status_code == 401
    assert site.bodies() == bodies
    with pytest.raises(CommandError, match="not empty"):
        run("restore", archive)


def test_running_processes_need_no_restart(site, settings, tmp_path):
    folder = Path(settings.MEDIA_ROOT)
    bodies, stored, files = site.bodies(), rows(), media(folder)
    first = site.tags()
    made = run("backup", tmp_path / "backups")
    modify()
    next(path for path in folder.rglob("*") if path.is_file()).write_bytes(b"another")
    (folder / "new.txt").write_bytes(b"new")
    assert site.bodies() != bodies
    between = site.tags()

    assert run("restore", made["archive"], force=True)["written"] == 1
    assert site.bodies() == bodies  # not the cached responses
    assert rows() == stored
    assert media(folder) == files | {"new.txt": b"new"}
    # An ETag is a hash of its body: a client gets 304 only for the body that is current.
    assert site.tags() == first != between
    modify()
    assert site.tags() != first
    shown = json.loads(ask(site.application, "/v1/vacancies")[2])["data"]  # the triggers work
    assert [item["title"] for item in shown][:2] == ["Later", "Nothing to see"]


def test_invalid_archive_changes_nothing(site, settings, tmp_path):
    """Malicious archives: test_forged_archives.py."""
    archive = Path(run("backup", tmp_path / "backups")["archive"])
    modify()
    stored, files, to = rows(), media(Path(settings.MEDIA_ROOT)), tmp_path / "bad.tar"
    whole = archive.read_bytes()

    def assert_refused(match: str) -> None:
        with pytest.raises(CommandError, match=match):
            run("restore", to, force=True)

    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    before, last = members[-2:]
    end = before.offset_data + before.size
    for length in (
        0,
        1,
        512,
        end // 2,
        end,
        last.offset,
        last.offset_data,
        last.offset_data + last.size - 1,
    ):
        to.write_bytes(whole[:length])
        assert_refused("truncated|damaged")
    for part in ("database", "media/attachments", "private/", "manifest"):
        found = next(m for m in members if m.name.startswith(part))
        middle = found.offset_data + found.size // 2
        to.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        assert_refused("damaged")
    rewritten(archive, to, lambda name, content: None if name.startswith("media/") else content)
    assert_refused("damaged: media/")
    rewritten(
        archive, to, lambda name, content: content, also=(backups.member("media/../../outside"),)
    )
    assert_refused("Not part of a backup")
    for values, match in (
        ({"migrations": [["vacancies", "9999_later"]]}, "newer code, with vacancies.9999_later"),
        ({"migrations": [["jobsite", "0001_initial"]]}, "before 1.0.0, without jobsite.0002"),
        ({"engine": "oracle"}, "archive is of oracle"),
        ({"format": 99}, "format 99"),
    ):
        rewritten(archive, to, with_manifest(**values))
        assert_refused(match)
    with pytest.raises(UsageError, match="no archive"):
        run("restore", tmp_path / "none.tar")
    with pytest.raises(CommandError, match="not empty"):
        run("restore", archive)

    assert rows() == stored
    assert media(Path(settings.MEDIA_ROOT)) == files
    assert not [
        path for path in tmp_path.rglob("*") if "outside" in path.name or path.suffix == ".part"
    ]


def test_restore_repeats_erasures_since_the_backup(filters, settings, tmp_path):
    log = tmp_path / "erasures.log"
    settings.ERASURE_LOG = str(log)
    erased, other = make_user("zyxjane", email="jane@example.org"), make_user("zyxother")
    make_application(user=erased), make_application(user=other)
    archive = run("backup", tmp_path / "backups")["archive"]
    run("erase_applicant", "zyxjane", dry_run=True)
    assert not log.exists()
    assert "repeat the erasures" in output("restore", archive, force=True)
    settings.ERASURE_LOG = str(tmp_path / "no such folder" / "erasures.log")
    with pytest.raises(CommandError, match="nothing was deleted"):
        run("erase_applicant", "zyxjane")
    assert type(erased).objects.filter(username="zyxjane").exists()
    settings.ERASURE_LOG = str(log)
    run("erase_applicant", "zyxjane")
    make_user("zyxjane")  # a new account of the same name

    done = run("restore", archive, force=True)

    assert (done["erased"], done["kept"]) == (1, 0)
    assert list(type(erased).objects.values_list("username", flat=True)) == ["zyxother"]
    assert "zyx" not in log.read_text()
    assert len(log.read_text().splitlines()) == 1
    assert oct(log.stat().st_mode)[-3:] == "600"
    assert run("erase_applicant", again=True)["erased"] == 0
    with pytest.raises(UsageError, match="Pass a user name, --email or --again"):
        run("erase_applicant")


@pytest.fixture
def drill():
    """The second database, which an administrator creates once."""
    name = f"{connection.settings_dict['NAME']}_drill"
    if connection.vendor == "postgresql":
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
    yield
    if connection.vendor == "postgresql":
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{name}"')


def test_rehearsal_restores_and_audits_an_archive_elsewhere(site, settings, tmp_path, drill):
    stored, files = rows(), media(Path(settings.MEDIA_ROOT))
    made = run("backup", tmp_path / "backups")
    database, folder = connection.settings_dict["NAME"], settings.MEDIA_ROOT

    for _ in range(2):  # the database is empty again
        done = run("rehearse_restore", made["archive"])
        assert (done["rows"], done["files"], done["missing"]) == (made["rows"], made["files"], [])
        assert "published: no disagreements." in done["summary"]

    damaged = rewritten(
        Path(made["archive"]), tmp_path / "damaged.tar", with_manifest(engine="oracle")
    )
    with pytest.raises(
        CommandError, match="The archive cannot be restored: The archive is of oracle"
    ):
        run("rehearse_restore", damaged)
    assert (connection.settings_dict["NAME"], settings.MEDIA_ROOT) == (database, folder)
    assert (rows(), media(Path(settings.MEDIA_ROOT))) == (stored, files)


def test_rehearsal_says_which_database_it_needs(site, tmp_path):
    archive = run("backup", tmp_path / "backups")["archive"]
    if connection.vendor == "postgresql":
        name = f"{connection.settings_dict['NAME']}_drill"
        with pytest.raises(CommandError, match=f"createdb --owner ROLE .* {name}"):
            run("rehearse_restore", archive)
    assert rows()


def test_restore_repeats_erasures_of_the_replaced_database_and_of_newer_backups(
    filters, tmp_path, elsewhere
):
    """Without ERASURE_LOG: any node of a cluster may have erased them."""
    for name in ("zyxjane", "zyxjoe", "zyxother"):
        make_application(user=make_user(name))
    first = run("backup", tmp_path / "backups")["archive"]
    run("erase_applicant", "zyxjane")

    done = run("restore", first, force=True)
    assert (done["erased"], names()) == (1, ["zyxjoe", "zyxother"])
    run("erase_applicant", "zyxjoe")
    run("backup", tmp_path / "backups", keep=9)
    run("backup", tmp_path / "backups", keep=9)
    assert len((tmp_path / "backups" / "erased").read_text().splitlines()) == 1  # nothing twice

    elsewhere()
    assert (run("restore", first)["erased"], names()) == (2, ["zyxother"])
    assert run("erase_applicant", again=True)["erased"] == 0


def names() -> list[str]:
    return list(
        User.objects.filter(username__startswith="zyx")
        .order_by("username")
        .values_list("username", flat=True)
    )


def test_failed_restore_changes_nothing(site, settings, tmp_path, monkeypatch):
    archive = Path(run("backup", tmp_path / "backups")["archive"])
    modify()
    folder = Path(settings.MEDIA_ROOT)
    place = folder / Attachment.objects.exclude(file="").first().file.name
    place.write_bytes(b"now")
    bodies, stored, files = site.bodies(), rows(), media(folder)
    with monkeypatch.context() as patch:
        patch.setattr(restore, "_statements", lambda manifest: ["DELETE FROM no_such_table"])
        with pytest.raises(CommandError, match="no_such_table"):
            run("restore", archive, force=True)
    assert (rows(), media(folder), site.bodies()) == (stored, files, bodies)

    place.unlink()
    place.mkdir()
    paths = tree(folder)
    with pytest.raises(CommandError, match=f"Nothing was replaced: .*{place.name} is a folder"):
        run("restore", archive, force=True)
    assert (rows(), tree(folder)) == (stored, paths)


def test_archive_with_a_forged_database_leaves_no_file(site, settings, tmp_path):
    archive = Path(run("backup", tmp_path / "backups")["archive"])
    modify()
    bodies, stored = site.bodies(), rows()
    settings.MEDIA_ROOT = tmp_path / "deep" / "media"

    for name, content in {
        "empty": b"",
        "text": b"no database",
        "packed text": gzip.compress(b"no database"),
        "packed header": gzip.compress(b"SQLite format 3\0" + bytes(5000)),
        "cut off": gzip.compress(os.urandom(5000))[:3000],
        "damaged": gzip.compress(os.urandom(5000))[:2000] + bytes(1000),
    }.items():
        to = rewritten(archive, tmp_path / "forged.tar", backups.with_database(content))
        with pytest.raises(CommandError) as refused:
            run("restore", to, force=True)

        found = str(refused.value)
        assert re.match(r"(Nothing was replaced: |pg_restore failed: )[^\n]+$", found), (
            name,
            found,
        )
        assert (rows(), (tmp_path / "deep").exists()) == (stored, False), name
    assert site.bodies() == bodies


def test_next_restore_removes_the_folders_of_a_killed_one(site, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    killed, alive = ".jobsite-restore-killed.part", ".jobsite-restore-alive.part"
    places = [tmp_path / "tmp", Path(settings.MEDIA_ROOT)]
    for folder in (place / name for place in places for name in (killed, alive)):
        folder.mkdir(parents=True)
        (folder / "database").write_bytes(b"personal data")
    archive = run("backup", tmp_path / "backups")["archive"]
    with tarfile.open(archive) as tar:
        assert not [name for name in tar.getnames() if "restore" in name]

    with locked(places[0] / alive), locked(places[1] / alive):
        run("restore", archive, force=True)
        assert [[path.name for path in place.glob(".*")] for place in places] == [[alive], [alive]]
