"""`purge` below PRIVATE_ROOT: files without a row are deleted."""

import json
import os
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from applications.submissions.orphans import orphans
from jobsite import private_files
from tests.applications.makers import make_application, make_file, make_submission

pytestmark = pytest.mark.django_db

STORED, FOREIGN = "a" * 32, "c" * 32


def clean(**options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("purge", format="json", stdout=out, **options)
    return json.loads(out.getvalue())


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def set_age(folder: Path, **age: float) -> None:
    modified = (timezone.now() - timedelta(**age)).timestamp()
    for path in folder.iterdir():
        os.utime(path, (modified, modified))


@pytest.fixture
def folder(settings) -> Path:
    """A file with a row, one without, and others of the folder, all older than a day."""
    submission = make_submission(make_application(), {})
    for name in (STORED, FOREIGN):
        private_files.write(name, [b"12345"])
    folder = Path(settings.PRIVATE_ROOT)
    make_file(submission, path=STORED)
    for name in NOT_OURS:
        (folder / name).write_bytes(b"not ours")
    set_age(folder, hours=25)
    return folder


NOT_OURS = ["README", "e" * 31, f".{'e' * 32}.part"]


def test_files_without_a_row_are_deleted_after_a_day(folder) -> None:
    before = names(folder)
    assert (clean(dry_run=True)["unused_files"], names(folder)) == ([str(folder / FOREIGN)], before)
    set_age(folder, hours=23)
    assert clean()["unused_files"] == []
    set_age(folder, hours=25)
    assert clean()["summary"].endswith(" and 1 unused files (5 bytes).")
    assert names(folder) == sorted([*NOT_OURS, STORED])


def test_file_that_is_deleted_meanwhile_is_no_error(folder, monkeypatch) -> None:
    listed = list(private_files._paths())
    for path in listed:
        path.unlink()
    monkeypatch.setattr(private_files, "_paths", lambda: iter(listed))
    assert clean()["unused_files"] == []


def test_purge_queries_many_names_in_steps(folder, django_assert_num_queries) -> None:
    for number in range(1001):
        (folder / f"{number:032x}").touch()
    set_age(folder, hours=25)
    with django_assert_num_queries(6):  # 1,003 names, two models
        assert len(list(orphans(at=timezone.now()))) == 1002
