"""clean_media below PRIVATE_ROOT: interrupted renames are completed, and files without a row are deleted."""

import json
import os
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from applications.submissions.files import delete_files
from applications.submissions.orphans import orphans
from jobsite import private_files
from tests.applications.makers import make_application, make_file, make_submission

pytestmark = pytest.mark.django_db

STORED, INTERRUPTED, FOREIGN = "a" * 32, "b" * 32, "c" * 32


def clean(**options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("clean_media", format="json", stdout=out, **options)
    return json.loads(out.getvalue())


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def set_age(folder: Path, **age: float) -> None:
    modified = (timezone.now() - timedelta(**age)).timestamp()
    for path in folder.iterdir():
        os.utime(path, (modified, modified))


@pytest.fixture
def folder(settings) -> Path:
    """One stored file, one whose rename was interrupted, and one without a row of each kind."""
    submission = make_submission(make_application(), {})
    for name in (STORED, INTERRUPTED, FOREIGN, "d" * 32):
        private_files.write(name, [b"12345"])
    for name in (STORED, "d" * 32):
        private_files.complete(name)
    for name in (STORED, INTERRUPTED):
        make_file(submission, path=name)
    folder = Path(settings.PRIVATE_ROOT)
    for name in ("README", f"{'e' * 31}", f".{'e' * 33}.part"):
        (folder / name).write_bytes(b"not ours")
    return folder


NOT_OURS = sorted(["README", "e" * 31, f".{'e' * 33}.part"])


def test_interrupted_renames_are_completed_and_recent_files_kept(folder) -> None:
    before = names(folder)
    dry = clean(dry_run=True)
    assert (dry["completed"], dry["deleted"], dry["files"]) == (1, 0, [str(folder / ("d" * 32))])
    assert names(folder) == before
    assert clean()["summary"] == "Deleted 1 files, 5 bytes. Completed 1 interrupted renames."
    assert names(folder) == sorted([*NOT_OURS, STORED, INTERRUPTED, f".{FOREIGN}.part"])
    assert clean()["summary"] == "Deleted 0 files, 0 bytes."


def test_temporary_files_without_a_row_are_deleted_after_a_day(folder) -> None:
    set_age(folder, hours=23)
    clean()
    assert f".{FOREIGN}.part" in names(folder)
    set_age(folder, hours=25)
    assert clean()["files"] == [str(folder / f".{FOREIGN}.part")]
    assert names(folder) == sorted([*NOT_OURS, STORED, INTERRUPTED])


def test_file_that_is_deleted_meanwhile_is_no_error(folder, monkeypatch) -> None:
    listed = list(private_files.stored())
    delete_files([STORED, INTERRUPTED, FOREIGN, "d" * 32])
    monkeypatch.setattr(private_files, "stored", lambda: iter(listed))
    assert clean()["summary"] == "Deleted 0 files, 0 bytes."


def test_clean_media_queries_many_names_in_steps(folder, django_assert_num_queries) -> None:
    for number in range(1001):
        (folder / f"{number:032x}").touch()
    with django_assert_num_queries(3):  # 1,005 names
        assert len(list(orphans(at=timezone.now()))) == 1002
