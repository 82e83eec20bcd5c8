"""Applicants' files, erasures and queued emails in backups and restores."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.utils import timezone

from applications.models import Message, SubmissionFile
from applications.submissions.files import open_file
from jobsite import private_files
from jobsite.ops.backups import databases
from tests.applications.makers import make_application, make_file, make_submission, make_user
from tests.jobsite.ops.backups import ARCHIVES, Site, media, run, tree
from vacancies.models import Webhook

pytestmark = ARCHIVES

NAME = "f" * 32


def contents() -> list[bytes]:
    found = []
    for row in SubmissionFile.objects.order_by("pk"):
        with open_file(row) as file:
            found.append(file.read())
    return found


@pytest.mark.smoke
def test_private_files_are_restored_on_an_empty_machine(
    site: Site, settings: Any, tmp_path: Path, elsewhere: Callable[[], None]
) -> None:
    missing = "e" * 32
    make_file(SubmissionFile.objects.first().submission, path=missing)  # without a file
    private_files.write(NAME, [b"of a submission that is not committed"])
    made = run("backup", tmp_path / "backups")
    assert made["missing"] == [f"private/{missing}"]

    elsewhere()
    run("restore", made["archive"])
    SubmissionFile.objects.filter(path=missing).delete()
    assert contents() == [b"%PDF-2 private", b"%PDF-3 private"]
    folder = Path(settings.PRIVATE_ROOT)
    assert sorted(os.listdir(folder)) == sorted(
        SubmissionFile.objects.values_list("path", flat=True)
    )
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert run("purge")["unused_files"] == []


def test_backup_without_the_private_folder_fails_and_keeps_the_older_archives(
    site: Site, settings: Any, tmp_path: Path, time_machine: Any
) -> None:
    def backup(minute: int) -> dict[str, Any]:
        time_machine.move_to(f"2026-11-21T12:{minute}:00Z", tick=False)
        return run("backup", tmp_path / "backups", keep=1)

    good = Path(backup(10)["archive"])
    make_file(SubmissionFile.objects.first().submission)  # without a file
    assert backup(11)["removed"] == []  # only `good` may have it

    settings.PRIVATE_ROOT = tmp_path / "not mounted"
    with pytest.raises(SystemExit) as ended:
        backup(12)
    assert (ended.value.code, good.exists()) == (1, True)

    SubmissionFile.objects.all().delete()
    assert (len(backup(13)["removed"]), good.exists()) == (3, False)


def test_failed_restore_leaves_no_private_file(
    site: Site, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = run("backup", tmp_path / "backups")
    settings.PRIVATE_ROOT = tmp_path / "deep" / "private"
    SubmissionFile.objects.all().delete()

    def fail(*args: Any) -> None:
        run("purge")  # a run at this moment keeps the files
        assert len(tree(tmp_path / "deep" / "private")) == 3
        raise CommandError("The database refuses")

    with monkeypatch.context() as patch:
        patch.setattr(databases, "replace", fail)
        with pytest.raises(CommandError, match="refuses"):
            run("restore", made["archive"], force=True)
    assert not (tmp_path / "deep").exists()

    run("restore", made["archive"], force=True)
    assert contents() == [b"%PDF-2 private", b"%PDF-3 private"]


@pytest.mark.smoke
def test_erased_files_do_not_come_back(site: Site, settings: Any, tmp_path: Path) -> None:
    settings.ERASURE_LOG = str(tmp_path / "erased")
    jane = make_user("jane")
    make_file(
        make_submission(make_application(user=jane), {"cv": "cv.pdf"}), content=b"%PDF-4 of Jane"
    )
    made = run("backup", tmp_path / "backups")
    run("erase_applicant", "jane")
    assert b"%PDF-4 of Jane" not in media(Path(settings.PRIVATE_ROOT)).values()

    run("restore", made["archive"], force=True)

    assert contents() == [b"%PDF-2 private", b"%PDF-3 private"]
    assert sorted(media(Path(settings.PRIVATE_ROOT)).values()) == contents()


def test_queued_emails_and_webhooks_are_not_sent_after_a_restore(
    site: Site, tmp_path: Path
) -> None:
    now = timezone.now()
    mail = {
        "kind": "receipt",
        "to": "a@example.org",
        "language": "en",
        "body": "",
        "queued_at": now,
    }
    for state in Message.State.values:
        Message.objects.create(subject=state, state=state, **mail)
    for state in Webhook.State.values:
        Webhook.objects.create(name=state, url="https://hooks.test/", state=state)
    run("restore", run("backup", tmp_path / "backups")["archive"], force=True)
    found = {row.subject: (row.state, row.error) for row in Message.objects.all()}
    states = Webhook.objects.order_by("name").values_list("name", "state")
    assert [*states] == [("active", "paused"), ("failed", "failed"), ("paused", "paused")]
    unknown = ("failed", "restored from a backup")
    assert found == {
        "queued": unknown,
        "sending": unknown,
        "sent": ("sent", ""),
        "failed": ("failed", ""),
    }
    assert Message.objects.filter(
        subject="queued", finished_at__gte=now.replace(microsecond=0)
    ).exists()
