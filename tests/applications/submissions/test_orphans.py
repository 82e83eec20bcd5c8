"""clean_media below PRIVATE_ROOT: files without a row are deleted."""

import json
import os
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from applications.submissions import orphans as orphans_module
from applications.submissions.orphans import orphans
from jobsite import private_files
from tests.applications.makers import make_application, make_file, make_submission

pytestmark = pytest.mark.django_db

STORED, EARLIER, FOREIGN = "a" * 32, "b" * 32, "c" * 32


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
    """A file with a row, one without, and one of each kind of an earlier checkout, all older than a
    day.
    """
    submission = make_submission(make_application(), {})
    for name in (STORED, EARLIER, FOREIGN, "d" * 32):
        private_files.write(name, [b"12345"])
    folder = Path(settings.PRIVATE_ROOT)
    for name in (EARLIER, "d" * 32):
        (folder / name).rename(folder / f".{name}.part")
    for name in (STORED, EARLIER):
        make_file(submission, path=name)
    for name in NOT_OURS:
        (folder / name).write_bytes(b"not ours")
    set_age(folder, hours=25)
    return folder


NOT_OURS = sorted(["README", "e" * 31, f".{'e' * 33}.part"])


def test_files_without_a_row_are_deleted_after_a_day(folder) -> None:
    before, unnamed = names(folder), sorted([f".{'d' * 32}.part", FOREIGN])
    assert (clean(dry_run=True)["files"], names(folder)) == (
        [str(folder / name) for name in unnamed],
        before,
    )
    set_age(folder, hours=23)
    assert clean()["files"] == []
    set_age(folder, hours=25)
    assert clean()["summary"] == "Deleted 2 files, 10 bytes."
    assert names(folder) == sorted([*NOT_OURS, STORED, EARLIER])


def test_file_that_is_deleted_meanwhile_is_no_error(folder, monkeypatch) -> None:
    monkeypatch.setattr(orphans_module, "complete_all", lambda: None)
    listed = list(private_files._paths())
    for _name, path in listed:
        path.unlink()
    monkeypatch.setattr(private_files, "_paths", lambda: iter(listed))
    assert clean()["summary"] == "Deleted 0 files, 0 bytes."


def test_clean_media_queries_many_names_in_steps(folder, django_assert_num_queries) -> None:
    for number in range(1001):
        (folder / f"{number:032x}").touch()
    set_age(folder, hours=25)
    with django_assert_num_queries(3):  # 1,005 names
        assert len(list(orphans(at=timezone.now()))) == 1003
