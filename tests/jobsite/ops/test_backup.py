"""An archive holds all that was there at one moment, and brings it back, or touches nothing."""

import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction
from django.db.models import F
from django.utils import timezone

from applications.models import Token
from jobsite.ops import backups, signatures
from jobsite.ops.commands import UsageError
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from tests.applications.makers import MINE, make_application, make_step, make_token, make_user
from tests.contract.sample import make_site
from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.wsgi import ask
from vacancies.api.fast_path import FastPath
from vacancies.models import Attachment, DailyCount, Vacancy
from vacancies.readmodel.changes import apply_due_changes

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LISTS = ("/v1/vacancies", "/v1/vacancies/hot", "/v1/vacancies/internal", "/v1/vacancies/hot/internal",
         "/v0.1/vacancies", "/v0.1/vacancies/internal", "/v1/filters")  # fmt: skip
# Ends with a restore, or goes on from it.
OTHER = {"django_session", "applications_token", "jobsite_revision"}


# of a backup that was killed
LEFTOVERS = [
    ".jobsite-20260101T000000Z.tar.archive.part",
    ".jobsite-20260101T000000Z.tar.database.part",
    *(
        f".jobsite-20260101T000000Z.tar.database.plain.part{kind}"
        for kind in ("", "-journal", "-wal", "-shm")
    ),
]


def run(*words: Any, **options: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command(*map(str, words), format="json", stdout=out, stderr=io.StringIO(), **options)
    return json.loads(out.getvalue())


def rows() -> dict[str, str]:
    """A digest of all rows of each table."""
    digests = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table not in OTHER:
                cursor.execute(f'SELECT * FROM "{table}"')
                content = sorted(repr([bytes(v) if isinstance(v, memoryview) else v for v in row])
                                 for row in cursor.fetchall())  # fmt: skip
                digests[table] = hashlib.md5(repr(content).encode()).hexdigest()
    return digests


def media(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Site:
    """A server process that keeps answers, and goes on whatever is done to its database."""

    def __init__(self, application: Any, user: Any) -> None:
        self.application = ResponseCache(application, read_state, FastPath())
        self.user = user
        self.paths = [*LISTS, "/v1/vacancies?page[size]=3&page[number]=2", "/v1/vacancies?sort=title"]
        for pk in Vacancy.objects.values_list("pk", flat=True):
            self.paths += [f"/v1/vacancies/{pk}{what}" for what in ("", "/form", "/form/schema")]

    def bodies(self) -> dict[str, Any]:
        token = make_token(self.user)
        told = {path: ask(self.application, path) for path in self.paths}
        told[MINE] = ask(self.application, MINE, HTTP_AUTHORIZATION=f"Bearer {token}")
        Token.objects.all().delete()
        return {path: (status, body) for path, (status, _, body) in told.items()}

    def tags(self) -> set[str]:
        return {ask(self.application, path)[1].get("ETag", "") for path in self.paths[:5]} - {""}


@pytest.fixture
def site(wsgi: Any, settings: Any, filters: Any) -> Site:
    from jobsite.wsgi import _bare

    settings.BODY_CACHE_MB = 16
    vacancies = make_site()
    vacancies[0].attachments.create(position=9, name="Brochure", file=ContentFile(b"%PDF-1", "brochure.pdf"))
    application = make_application(vacancy=vacancies[1])
    make_step(application)
    return Site(_bare, application.user)


@pytest.fixture
def elsewhere(tmp_path: Path, settings: Any) -> Iterator[Callable[[], None]]:
    """A way to another machine, with nothing on it yet: no table, no file."""
    ours, name = connection.settings_dict["NAME"], f"jobsite_elsewhere_{os.getpid()}"

    def go() -> None:
        if connection.vendor == "postgresql":
            with connection._nodb_cursor() as cursor:
                cursor.execute(f"CREATE DATABASE {name}")
        connection.close()
        there = tmp_path / "elsewhere"
        connection.settings_dict["NAME"] = (
            str(there / "db.sqlite3") if connection.vendor == "sqlite" else name
        )
        settings.MEDIA_ROOT = there / "media"

    yield go
    connection.close()
    connection.settings_dict["NAME"] = ours
    if connection.vendor == "postgresql":
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")


def disturb() -> None:
    """What people do, and what they are afraid of."""
    Vacancy.objects.update(title="Nothing to see")
    Attachment.objects.first().delete()
    make_vacancy(title="Later", brand=make_brand("Later"))


@pytest.mark.smoke
def test_in_an_empty_place_everything_is_as_it_was(site, settings, tmp_path, elsewhere):
    bodies, stored, files = site.bodies(), rows(), media(Path(settings.MEDIA_ROOT))
    make_token(site.user)
    assert set(files.values()) >= {b"%PDF-1"}
    made = run("backup", tmp_path / "backups")
    assert made["rows"] > 100
    assert made["missing"] == []
    assert oct(Path(made["archive"]).stat().st_mode)[-3:] == "600"
    assert sorted(os.listdir(tmp_path / "backups")) == [Path(made["archive"]).name]

    elsewhere()
    run("restore", made["archive"], check=True)
    if connection.vendor == "postgresql":  # only looked at
        assert connection.introspection.table_names() == []
    assert not (tmp_path / "elsewhere").exists()
    done = run("restore", made["archive"])

    assert (done["rows"], done["files"]) == (made["rows"], made["files"])
    assert rows() == stored
    assert media(Path(settings.MEDIA_ROOT)) == files
    assert not Token.objects.exists()  # one that was revoked since must not be good again
    assert site.bodies() == bodies
    with pytest.raises(CommandError, match="not empty"):
        run("restore", made["archive"])


def test_processes_that_serve_need_no_restart(site, settings, tmp_path):
    folder = Path(settings.MEDIA_ROOT)
    bodies, stored, files = site.bodies(), rows(), media(folder)
    first = site.tags()
    made = run("backup", tmp_path / "backups")
    disturb()
    file = next(path for path in folder.rglob("*") if path.is_file())
    file.write_bytes(b"another")
    (folder / "new.txt").write_bytes(b"new")
    assert site.bodies() != bodies
    between = site.tags()

    done = run("restore", made["archive"], force=True)

    assert done["written"] == 1
    assert site.bodies() == bodies  # not what the process kept
    assert rows() == stored
    assert media(folder) == files | {"new.txt": b"new"}
    # Whoever holds an earlier tag is sent a body; the same changes do not lead to the same tags.
    assert site.tags().isdisjoint(first | between)
    disturb()
    assert site.tags().isdisjoint(first | between)
    shown = json.loads(ask(site.application, "/v1/vacancies")[2])["data"]  # triggers are at work
    assert [item["title"] for item in shown][:2] == ["Later", "Nothing to see"]


def test_of_one_moment_while_others_write(filters, tmp_path, elsewhere, settings):
    make_brand(), make_recruiter()
    begun, over, errors, written = threading.Event(), threading.Event(), [], []

    def write() -> None:
        try:
            while not over.is_set() and len(written) < 300:
                with transaction.atomic():
                    file = ContentFile(b"%%PDF-1 %d" % len(written), f"{len(written)}.pdf")
                    vacancy = make_vacancy(options={"regions": ["Ghent", "Antwerp"]})
                    vacancy.attachments.create(position=1, name="File", file=file)
                    Vacancy.objects.filter(pk=vacancy.pk).update(location=F("title"))
                written.append(vacancy.pk)
                begun.set()
        except Exception as error:
            errors.append(error)
        finally:
            begun.set()
            connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    begun.wait()
    made = run("backup", tmp_path / "backups")
    over.set()
    writer.join()
    assert not errors
    assert made["missing"] == []

    elsewhere()
    run("restore", made["archive"])
    vacancies = Vacancy.objects.prefetch_related("attachments", "choices")
    for vacancy in vacancies:
        (attachment,) = vacancy.attachments.all()
        assert Path(settings.MEDIA_ROOT, attachment.file.name).read_bytes().startswith(b"%PDF-1 ")
        assert len(vacancy.choices.all()) == 2
        assert vacancy.location == vacancy.title
    assert 1 <= len(vacancies) <= len(written)
    assert list(Vacancy.objects.order_by("pk").values_list("pk", flat=True)) == written[: len(vacancies)]
    apply_due_changes(at=timezone.now())
    assert sum(DailyCount.objects.values_list("external", flat=True)) == len(vacancies)


def changed(archive: Path, to: Path, change: Callable[[str, bytes], Any], *, also: tuple = ()) -> Path:
    """A copy of `archive` in which `change` has been at each part; `also` are more members."""
    with tarfile.open(archive) as source, tarfile.open(to, "w") as target:
        for member in source:
            content = change(member.name, source.extractfile(member).read())
            if content is not None:
                if member.name == "manifest.json":
                    member.pax_headers = {"comment": hashlib.sha256(content).hexdigest()}
                member.size = len(content)
                target.addfile(member, io.BytesIO(content))
        for member in also:
            target.addfile(member, io.BytesIO(b"x" * member.size))
    return to


def member(name: str, **values: Any) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for key, value in ({"size": 1} | values).items():
        setattr(made, key, value)
    return made


def edited(**values: Any) -> Callable[[str, bytes], bytes]:
    def edit(name: str, content: bytes) -> bytes:
        return json.dumps(json.loads(content) | values).encode() if name == "manifest.json" else content

    return edit


def test_what_is_not_whole_or_not_ours_touches_nothing(site, settings, tmp_path):
    archive = Path(run("backup", tmp_path / "backups")["archive"])
    disturb()
    stored, files, to = rows(), media(Path(settings.MEDIA_ROOT)), tmp_path / "bad.tar"
    whole = archive.read_bytes()

    def is_refused(match: str) -> None:
        with pytest.raises(CommandError, match=match):
            run("restore", to, force=True)

    with tarfile.open(archive) as tar:
        *_, before, last = tar
    end = before.offset_data + before.size
    for length in (0, 1, 512, end // 2, end, last.offset, last.offset_data, last.offset_data + last.size - 1):
        to.write_bytes(whole[:length])
        is_refused("cut off|end|Not as it was")
    for part in ("database", "media/attachments", "manifest"):
        with tarfile.open(archive) as tar:
            found = next(m for m in tar if m.name.startswith(part))
        middle = found.offset_data + found.size // 2
        to.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        is_refused("Not as it was written")
    changed(archive, to, lambda name, content: None if name.startswith("media/") else content)
    is_refused("Not as it was written: media/")
    for name in ("media/../../outside", "../outside", "/outside", "media/../outside", "other", "media/"):
        changed(archive, to, lambda name, content: content, also=(member(name),))
        is_refused("after the end|not of a backup")
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
        extra = member("media/link", type=kind, linkname="/etc/passwd", size=0)
        changed(archive, to, lambda name, content: content, also=(extra,))
        is_refused("not of a backup")
    changed(archive, to, lambda name, content: content, also=(member("media/more"),))
    is_refused("after the end")
    changed(archive, to, edited(migrations=[["vacancies", "9999_later"]]))
    is_refused("newer code, with vacancies.9999_later")
    changed(archive, to, edited(engine="oracle"))
    is_refused("It is of oracle")
    changed(archive, to, edited(format=99))
    is_refused("format 99")
    with pytest.raises(UsageError, match="no archive"):
        run("restore", tmp_path / "none.tar")
    with pytest.raises(CommandError, match="not empty"):
        run("restore", archive)

    assert rows() == stored
    assert media(Path(settings.MEDIA_ROOT)) == files
    assert not [path for path in tmp_path.rglob("*") if "outside" in path.name or path.suffix == ".part"]


def test_a_restore_that_fails_on_the_way_leaves_the_old_site(site, settings, tmp_path, monkeypatch):
    archive = run("backup", tmp_path / "backups")["archive"]
    disturb()
    Path(settings.MEDIA_ROOT, Attachment.objects.exclude(file="").first().file.name).write_bytes(b"now")
    bodies, stored, files = site.bodies(), rows(), media(Path(settings.MEDIA_ROOT))
    monkeypatch.setattr(backups, "_after", lambda manifest: ["DELETE FROM no_such_table"])
    with pytest.raises(CommandError, match="no_such_table"):
        run("restore", archive, force=True)
    assert rows() == stored
    assert media(Path(settings.MEDIA_ROOT)) == files
    assert site.bodies() == bodies


def test_who_was_erased_since_is_erased_again(filters, settings, tmp_path):
    settings.ERASURE_LOG = str(tmp_path / "erasures.log")
    asked, other = make_user("zyxjane", email="jane@example.org"), make_user("zyxother")
    make_application(user=asked), make_application(user=other)
    archive = run("backup", tmp_path / "backups")["archive"]
    run("erase_applicant", "zyxjane", dry_run=True)
    assert not Path(settings.ERASURE_LOG).exists()
    assert "repeat what was erased" in said("restore", archive, force=True)
    run("erase_applicant", "zyxjane")
    make_user("zyxjane")  # back again, as somebody new

    done = run("restore", archive, force=True)

    assert (done["erased"], done["kept"]) == (1, 0)
    assert list(type(asked).objects.values_list("username", flat=True)) == ["zyxother"]
    log = Path(settings.ERASURE_LOG)
    assert "zyx" not in log.read_text()
    assert len(log.read_text().splitlines()) == 1
    assert oct(log.stat().st_mode)[-3:] == "600"
    assert run("erase_applicant", again=True)["erased"] == 0
    with pytest.raises(UsageError, match="whom"):
        run("erase_applicant")


def said(*words: Any, **options: Any) -> str:
    err = io.StringIO()
    call_command(*map(str, words), stdout=err, stderr=err, **options)
    return err.getvalue()


def test_erasure_that_cannot_be_written_down_is_not_done(filters, settings, tmp_path):
    settings.ERASURE_LOG = str(tmp_path / "no such folder" / "erasures.log")
    user = make_user("zyxjane")
    with pytest.raises(CommandError, match="nothing was deleted"):
        run("erase_applicant", "zyxjane")
    assert type(user).objects.get() == user


def test_archives_that_are_kept(filters, tmp_path, time_machine, settings):
    folder = tmp_path / "deep" / "backups"
    for day in range(1, 5):
        time_machine.move_to(timezone.datetime(2026, 3, day, 2, tzinfo=timezone.get_default_timezone()))
        folder.mkdir(parents=True, exist_ok=True)
        for name in LEFTOVERS:
            (folder / name).touch()
        made = run("backup", folder, keep=2)
    assert made["removed"] == ["jobsite-20260302T020000Z.tar"]
    assert sorted(os.listdir(folder)) == ["jobsite-20260303T020000Z.tar", "jobsite-20260304T020000Z.tar"]
    with pytest.raises(UsageError, match="1 or more"):
        run("backup", folder, keep=0)
    with pytest.raises(CommandError, match="served to everybody"):
        run("backup", Path(settings.MEDIA_ROOT) / "backups")
    with backups._alone_in(folder), pytest.raises(CommandError, match="Another backup"):
        run("backup", folder)


def test_backup_that_fails_leaves_nothing_and_says_why(filters, tmp_path, monkeypatch):
    Attachment.objects.create(vacancy=make_vacancy(), position=1, name="Gone", file="attachments/gone.pdf")
    assert "not there: attachments/gone.pdf" in said("backup", tmp_path / "backups")
    kept = os.listdir(tmp_path / "backups")

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CommandError, match="No space left"):
            run("backup", tmp_path / "backups")
    if connection.vendor == "postgresql":
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(CommandError, match="pg_dump is not installed"):
            run("backup", tmp_path / "backups")
        (tmp_path / "pg_dump").write_text("#!/bin/sh\necho pg_dump 9.6.1\n")
        (tmp_path / "pg_dump").chmod(0o700)
        with pytest.raises(CommandError, match="of version 9, and the server of"):
            run("backup", tmp_path / "backups")
    assert os.listdir(tmp_path / "backups") == kept


def test_backup_that_is_killed_leaves_parts_until_the_next_run(filters, tmp_path, monkeypatch):
    """SQLite writes a journal beside the file that it vacuums into."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL writes no journal here")
    folder, seen = tmp_path / "backups", []

    def die(source: Any, *args: Any) -> None:
        seen.extend(sorted(path.suffix for path in folder.iterdir()))
        raise KeyboardInterrupt

    copy = backups._snapshot

    @contextmanager
    def killed(into: Path) -> Iterator[Any]:
        plain = into.with_suffix(".plain.part")
        with copy(into) as execute:
            for kind in ("-journal", "-wal", "-shm"):
                Path(f"{plain}{kind}").touch()
            yield execute

    monkeypatch.setattr(backups, "_snapshot", killed)
    monkeypatch.setattr(backups, "_files", die)
    with pytest.raises(SystemExit, match=r"^130$"):
        run("backup", folder)
    assert {".part-journal", ".part-wal", ".part-shm"} <= set(seen)
    assert os.listdir(folder) == []


# --- A restore that is refused ---------------------------------------------------------------------------


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def with_database(content: bytes) -> Callable[[str, bytes], bytes]:
    """A change that puts another database into an archive, and its digest into the manifest."""
    name = backups.DATABASE[connection.vendor]

    def change(part: str, old: bytes) -> bytes:
        if part == "manifest.json":
            manifest = json.loads(old)
            digest = hashlib.sha256(content).hexdigest()
            manifest["parts"][name] = {"size": len(content), "sha256": digest}
            return json.dumps(manifest).encode()
        return content if part == name else old

    return change


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no database",
        gzip.compress(b"no database"),
        gzip.compress(b"SQLite format 3\0" + bytes(5000)),
        gzip.compress(os.urandom(5000))[:3000],
        gzip.compress(os.urandom(5000))[:2000] + bytes(1000),
    ],
    ids=["empty", "text", "packed-text", "packed-header", "cut-off", "damaged"],
)
def test_archive_with_a_forged_database_leaves_no_file(site, settings, tmp_path, content):
    archive = Path(run("backup", tmp_path / "backups")["archive"])
    to = changed(archive, tmp_path / "forged.tar", with_database(content))
    disturb()
    folder = Path(settings.MEDIA_ROOT)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.unlink()
    (folder / "attachments").rmdir()
    bodies, stored, files = site.bodies(), rows(), tree(folder)

    with pytest.raises(CommandError, match=r"^(Nothing was replaced: |pg_restore failed: )[^\n]+$"):
        run("restore", to, force=True)

    assert tree(folder) == files
    assert rows() == stored
    assert site.bodies() == bodies


def test_archive_that_is_refused_makes_no_media_folder(site, settings, tmp_path):
    archive = Path(run("backup", tmp_path / "backups")["archive"])
    to = changed(archive, tmp_path / "forged.tar", with_database(b"no database"))
    settings.MEDIA_ROOT = tmp_path / "deep" / "media"

    with pytest.raises(CommandError):
        run("restore", to, force=True)

    assert not (tmp_path / "deep").exists()


def test_folder_in_the_place_of_a_file_is_told_before_anything_is_replaced(site, settings, tmp_path):
    folder = Path(settings.MEDIA_ROOT)
    archive = run("backup", tmp_path / "backups")["archive"]
    disturb()
    place = next(path for path in folder.rglob("*.pdf"))
    place.unlink()
    place.mkdir()
    stored, files = rows(), tree(folder)

    with pytest.raises(CommandError, match=f"Nothing was replaced: .*{place.name} is a folder"):
        run("restore", archive, force=True)

    assert (rows(), tree(folder)) == (stored, files)


def test_folders_of_a_killed_restore_are_removed_by_the_next(site, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    media_root = Path(settings.MEDIA_ROOT)
    places = [tmp_path / "tmp", media_root]
    for place in places:
        for name in (".jobsite-restore-killed.part", ".jobsite-restore-alive.part"):
            (place / name).mkdir()
            (place / name / "database").write_bytes(b"personal data")
    archive = run("backup", tmp_path / "backups")["archive"]
    with tarfile.open(archive) as tar:
        assert not [name for name in tar.getnames() if "restore" in name]

    with ExitStack() as stack:
        for place in places:
            stack.enter_context(backups._alone_in(place / ".jobsite-restore-alive.part"))
        run("restore", archive, force=True)

        for place in places:
            assert [path.name for path in place.glob(".*")] == [".jobsite-restore-alive.part"]


# --- Signatures ------------------------------------------------------------------------------------------

KEY, EARLIER, OTHER_KEY = ("".join(f"{name}{n}" for n in range(20)) for name in ("key", "earlier", "other"))


def test_signed_archive_is_restored(site, settings, tmp_path, caplog):
    settings.BACKUP_KEY = KEY
    made = run("backup", tmp_path / "backups")
    archive = Path(made["archive"])
    stored = rows()
    disturb()
    assert made["signature"] == "verified"
    assert "), signed with BACKUP_KEY." in said("backup", tmp_path / "others")
    assert "+00:00, signed with BACKUP_KEY." in said("restore", archive, check=True)
    listed = subprocess.run(["tar", "tf", archive], capture_output=True, text=True, check=True)
    assert (listed.stdout.splitlines()[-1], listed.stderr) == ("manifest.json", "")

    done = run("restore", archive, force=True)

    assert done["signature"] == "verified"
    assert rows() == stored
    assert KEY.encode() not in archive.read_bytes()
    assert KEY not in caplog.text


def test_archive_that_is_not_signed_with_the_key_touches_nothing(site, settings, tmp_path, monkeypatch):
    unsigned = Path(run("backup", tmp_path / "unsigned")["archive"])
    settings.BACKUP_KEY = OTHER_KEY
    otherwise = Path(run("backup", tmp_path / "other")["archive"])
    settings.BACKUP_KEY = KEY
    signed = Path(run("backup", tmp_path / "signed")["archive"])
    whole, to = signed.read_bytes(), tmp_path / "forged.tar"
    disturb()
    stored, files = rows(), tree(Path(settings.MEDIA_ROOT))
    line = whole[-signatures.LENGTH :]

    def opened(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("The content was looked at before the signature was verified.")

    def is_refused(match: str, archive: Path = to) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(tarfile, "open", opened)
            for options in ({"check": True}, {"force": True}):
                with pytest.raises(CommandError, match=match):
                    run("restore", archive, **options)

    is_refused("not signed", unsigned)
    is_refused("signature is wrong", otherwise)
    for content in (b"", b"x", line[:-1], whole[:-1], whole[: -len(line)], whole + b"\n",
                    whole[: -len(line)] + line.upper()):  # fmt: skip
        to.write_bytes(content)
        is_refused("not signed")
    middle = len(whole) // 2
    for content in (line, b"x" + line, whole + line, unsigned.read_bytes() + line,
                    whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
                    whole[: -len(line)] + bytes(512) + line):  # fmt: skip
        to.write_bytes(content)
        is_refused("signature is wrong")
    # Another manifest, consistent in itself.
    changed(signed, to, edited(made_at="2026-01-01T00:00:00+00:00"))
    to.write_bytes(to.read_bytes() + line)
    is_refused("signature is wrong")

    assert (rows(), tree(Path(settings.MEDIA_ROOT))) == (stored, files)


def test_keys_change_while_earlier_archives_stay_good(site, settings, tmp_path):
    settings.BACKUP_KEY = EARLIER
    archive = run("backup", tmp_path / "backups")["archive"]

    settings.BACKUP_KEY, settings.BACKUP_KEY_FALLBACKS = KEY, [OTHER_KEY, EARLIER]
    assert run("restore", archive, check=True)["signature"] == "verified"
    later = run("backup", tmp_path / "later")["archive"]

    settings.BACKUP_KEY_FALLBACKS = []
    with pytest.raises(CommandError, match="signature is wrong"):
        run("restore", archive, check=True)
    assert run("restore", later, check=True)["signature"] == "verified"


def test_without_a_key_it_is_told_what_was_not_verified(site, settings, tmp_path):
    made = run("backup", tmp_path / "unsigned")
    assert made["signature"] == "absent"
    assert "), not signed." in said("backup", tmp_path / "another")
    assert "+00:00, not signed." in said("restore", made["archive"], check=True)

    settings.BACKUP_KEY = KEY
    archive = run("backup", tmp_path / "signed")["archive"]
    settings.BACKUP_KEY = ""
    told = said("restore", archive, check=True)

    assert "+00:00, signed, and was not verified: BACKUP_KEY is not set." in told
    assert run("restore", archive, force=True)["signature"] == "unverified"
