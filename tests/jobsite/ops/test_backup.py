"""Creating an archive: consistent with concurrent writes, complete or absent."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError
from django.db import connection, connections, transaction
from django.db.models import F
from django.utils import timezone

from jobsite.ops.backups import create, databases
from jobsite.ops.backups.files import locked
from jobsite.ops.commands import UsageError
from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.jobsite.ops.backups import ARCHIVES, output, run
from tests.vacancies.api.site import bucket_counts
from vacancies.models import Attachment, Vacancy

pytestmark = ARCHIVES

JOURNALS = ("-journal", "-wal", "-shm")
# Files of a process that was killed.
LEFTOVERS = [
    f".jobsite-20260101T000000Z.tar.{kind}"
    for kind in (
        "archive.part",
        "database.part",
        *(f"database.plain.part{end}" for end in ("", *JOURNALS)),
    )
]


def test_archive_is_consistent_while_others_write(filters, tmp_path, elsewhere, settings):
    make_brand(), make_recruiter()
    started, finished, errors, written = threading.Event(), threading.Event(), [], []

    def write() -> None:
        try:
            while not finished.is_set() and len(written) < 300:
                with transaction.atomic():
                    file = ContentFile(b"%%PDF-1 %d" % len(written), f"{len(written)}.pdf")
                    vacancy = make_vacancy(options={"regions": ["Ghent", "Antwerp"]})
                    vacancy.attachments.create(position=1, name="File", file=file)
                    Vacancy.objects.filter(pk=vacancy.pk).update(location=F("title"))
                written.append(vacancy.pk)
                started.set()
        except Exception as error:
            errors.append(error)
        finally:
            started.set()
            connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    started.wait()
    made = run("backup", tmp_path / "backups")
    finished.set()
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
    assert (
        list(Vacancy.objects.order_by("pk").values_list("pk", flat=True))
        == written[: len(vacancies)]
    )
    assert bucket_counts()[0] == len(vacancies)


def test_older_archives_are_removed(filters, tmp_path, time_machine, settings):
    folder = tmp_path / "deep" / "backups"
    for day in range(1, 5):
        time_machine.move_to(
            timezone.datetime(2026, 3, day, 2, tzinfo=timezone.get_default_timezone())
        )
        folder.mkdir(parents=True, exist_ok=True)
        for name in LEFTOVERS:
            (folder / name).touch()
        made = run("backup", folder, keep=2)
    assert made["removed"] == ["jobsite-20260302T020000Z.tar"]
    assert sorted(os.listdir(folder)) == [
        "jobsite-20260303T020000Z.tar",
        "jobsite-20260304T020000Z.tar",
    ]
    with pytest.raises(UsageError, match="1 or more"):
        run("backup", folder, keep=0)
    with pytest.raises(CommandError, match="served to everyone"):
        run("backup", Path(settings.MEDIA_ROOT) / "backups")
    with locked(folder), pytest.raises(CommandError, match="Another backup"):
        run("backup", folder)


def test_failed_backup_leaves_no_file_and_reports_why(filters, tmp_path, monkeypatch):
    Attachment.objects.create(
        vacancy=make_vacancy(), position=1, name="Gone", file="attachments/gone.pdf"
    )
    folder = tmp_path / "backups"
    assert "Missing file that the database names: attachments/gone.pdf" in output("backup", folder)
    before = os.listdir(folder)

    def assert_fails(reason):
        with pytest.raises(CommandError, match=reason):
            run("backup", folder)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
        assert_fails("No space left")
    if connection.vendor == "postgresql":
        monkeypatch.setenv("PATH", str(tmp_path))
        assert_fails("pg_dump is not installed")
        (tmp_path / "pg_dump").write_text("#!/bin/sh\necho pg_dump 9.6.1\n")
        (tmp_path / "pg_dump").chmod(0o700)
        assert_fails("has version 9, and the server")
    assert os.listdir(folder) == before


def test_next_backup_removes_the_files_of_a_killed_one(filters, tmp_path, monkeypatch):
    """SQLite writes a journal beside the file that it vacuums into."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL writes no journal here")
    folder, seen, snapshot = tmp_path / "backups", [], databases.snapshot

    def die(source: Any, *args: Any) -> None:
        seen.extend(sorted(path.suffix for path in folder.iterdir()))
        raise KeyboardInterrupt

    @contextmanager
    def killed(into: Path) -> Iterator[Any]:
        plain = into.with_suffix(".plain.part")
        with snapshot(into) as execute:
            for kind in JOURNALS:
                Path(f"{plain}{kind}").touch()
            yield execute

    monkeypatch.setattr(databases, "snapshot", killed)
    monkeypatch.setattr(create, "_media_files", die)
    with pytest.raises(SystemExit, match=r"^130$"):
        run("backup", folder)
    assert {f".part{kind}" for kind in JOURNALS} <= set(seen)
    assert os.listdir(folder) == []
