"""`purge` and submissions: every part of an application is deleted after the period of
the vacancy or of the site, the files after the commit.
"""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction

from applications import privacy
from applications.models import (
    Application,
    FormSnapshot,
    IdempotencyKey,
    Message,
    Note,
    StageChange,
    Submission,
    SubmissionFile,
    UsedProof,
)
from tests.applications.makers import make_application, make_file, make_submission, make_user
from tests.applications.personal_data import dump, run, tables_containing
from tests.factories import make_vacancy
from vacancies.models import Autosave, Vacancy

pytestmark = pytest.mark.django_db

MARK = "zyxmarker"


def make_whole(
    at: Any, *, kept: int | None = None, days: float = 0, is_anonymous: bool = True
) -> Application:
    """Create an application with every part, to a vacancy that keeps applications for `kept` days,
    which was changed `days` ago.
    """
    changed_at = at - timedelta(days=days)
    values = {
        "given_name": MARK,
        "family_name": MARK,
        "email": f"{MARK}@example.org",
        "phone": MARK,
    }
    values |= {"email_folded": values["email"]}
    vacancy = make_vacancy(applications_kept_days=kept)
    application = make_application(vacancy=vacancy, created_at=changed_at, **values)
    if is_anonymous:
        user, application.user = application.user, None
        application.save(update_fields=["user"])
        user.delete()
    submission = make_submission(application, {"cv": MARK}, source=MARK)
    make_file(submission, f"{MARK}.pdf", b"%PDF-1 " + MARK.encode())
    Note.objects.create(application=application, text=MARK, created_at=changed_at)
    email = {
        "kind": "receipt",
        "to": f"{MARK}@example.org",
        "language": "en",
        "subject": MARK,
        "body": MARK,
    }
    Message.objects.create(application=application, **email)
    IdempotencyKey.objects.create(
        vacancy=application.vacancy,
        key_hash=f"{application.pk}",
        fingerprint="",
        application=application,
    )
    return application


def stored(settings: Any) -> list[str]:
    folder = Path(settings.PRIVATE_ROOT)
    return sorted(os.listdir(folder)) if folder.exists() else []


def purged(*arguments: Any) -> dict[str, Any]:
    code, out, err = run("purge", "--format", "json", *arguments)
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize(
    ("site", "kept", "days", "is_deleted"),
    [
        (30, 60, 31, False),  # the period of the vacancy is longer
        (30, 60, 61, True),
        (0, 10, 10.01, True),  # the site has no period
        (0, 10, 9.99, False),
        (0, None, 3000, False),
        (30, 32767, 3000, False),
    ],
)
def test_period_of_the_vacancy_comes_first(settings, at, site, kept, days, is_deleted) -> None:
    settings.APPLICATIONS_KEPT_DAYS = site
    for is_anonymous in (True, False):
        make_whole(at, kept=kept, days=days, is_anonymous=is_anonymous)
    make_vacancy(applications_kept_days=5000)  # has no application
    assert purged()["applications"] == 2 * is_deleted
    assert Application.objects.exists() == (not is_deleted)


def test_every_part_and_the_file_are_deleted(
    settings, at, django_capture_on_commit_callbacks
) -> None:
    settings.APPLICATIONS_KEPT_DAYS = 30
    make_whole(at, days=31)
    kept = make_file(make_submission(make_application(), {}), content=b"%PDF-1 kept")
    assert len(tables_containing(MARK)) == 5
    with django_capture_on_commit_callbacks(execute=False) as callbacks:
        report = purged()
    assert len(stored(settings)) == 2  # a crash at this point leaves a file without a row
    for callback in callbacks:
        callback()
    assert stored(settings) == [kept.path]
    assert tables_containing(MARK) == set()
    parts = ("applications", "submissions", "files", "emails", "notes", "stage_changes")
    assert {part: report[part] for part in parts} == dict.fromkeys(parts, 1)
    for model in (Application, Submission, SubmissionFile, StageChange):
        assert model.objects.count() == 1


def test_rolled_back_purge_deletes_no_file(
    settings, at, django_capture_on_commit_callbacks
) -> None:
    settings.APPLICATIONS_KEPT_DAYS = 30
    make_whole(at, days=31)
    before = dump(), stored(settings)
    with django_capture_on_commit_callbacks(execute=True):
        assert purged("--dry-run")["files"] == 1
        with transaction.atomic():
            privacy.purge(before=at, now=at)
            transaction.set_rollback(True)
    assert (dump(), stored(settings)) == before
    with django_capture_on_commit_callbacks(execute=True):
        purged()
    assert stored(settings) == []


def test_no_period_at_all(settings, at) -> None:
    settings.APPLICATIONS_KEPT_DAYS = 0
    make_whole(at, days=9000)
    with pytest.raises(ValidationError) as refused:
        make_vacancy(applications_kept_days=0).full_clean()
    assert "applications_kept_days" in refused.value.message_dict
    Vacancy.objects.filter(applications_kept_days=0).delete()
    assert purged()["applications"] == 0
    Vacancy.objects.update(applications_kept_days=30)
    make_user("idle", date_joined=at - timedelta(days=9000))  # accounts have the period of the site
    report = purged()
    assert (report["applications"], report["accounts"]) == (1, 0)
    assert report["summary"] == (
        "Deleted 1 applications without a change for the period of their vacancy, 0 accounts, 0 "
        "tokens, 0 sessions, 0 failed sign-ins and 0 unused files (0 bytes)."
    )


def test_technical_rows_are_deleted(at) -> None:
    application = make_application()
    submission = make_submission(application, {})
    FormSnapshot.objects.create(digest="unused", sections=[])
    for age in (timedelta(hours=23), timedelta(hours=25)):
        IdempotencyKey.objects.create(
            vacancy=application.vacancy,
            key_hash=str(age),
            fingerprint="",
            application=application,
            created_at=at - age,
        )
        UsedProof.objects.create(digest=str(age), expires_at=at + timedelta(hours=24) - age)
    for days, finished in ((29, True), (31, True), (31, False)):
        queued_at = at - timedelta(days=days)
        Message.objects.create(
            kind="digest",
            to="anna@example.org",
            language="en",
            subject=f"{days} {finished}",
            body="",
            queued_at=queued_at,
            finished_at=queued_at if finished else None,
        )
    recruiter = make_user("recruiter")
    for days in (29, 31):
        vacancy = make_vacancy()
        when = at - timedelta(days=days)
        Autosave.objects.store(user=recruiter, vacancy=vacancy.pk, page=str(days), data={}, at=when)

    report = purged()

    kinds = (
        "idempotency_keys",
        "used_proofs",
        "emails_to_colleagues",
        "unsaved_input",
        "form_snapshots",
    )
    assert {kind: report[kind] for kind in kinds} == dict.fromkeys(kinds, 1)
    assert IdempotencyKey.objects.get().key_hash == str(timedelta(hours=23))
    assert UsedProof.objects.get().digest == str(timedelta(hours=23))
    assert set(Message.objects.values_list("subject", flat=True)) == {"29 True", "31 False"}
    assert Autosave.objects.get().page == "29"
    assert list(FormSnapshot.objects.all()) == [submission.snapshot]


def test_emails_to_colleagues_are_kept_no_longer_than_the_site_keeps_applications(at) -> None:
    common = {"kind": "digest", "to": "a@example.org", "language": "en", "body": ""}
    for days in (9, 11):
        Message.objects.create(subject=f"{days}", finished_at=at - timedelta(days=days), **common)
    assert purged("--older-than", 10)["emails_to_colleagues"] == 1
    assert Message.objects.get().subject == "9"


def test_snapshot_of_a_new_submission_is_kept(at, monkeypatch) -> None:
    """The submission is committed after the purge has read the unused snapshots."""
    snapshot = FormSnapshot.objects.create(digest="in use", sections=[])
    delete = FormSnapshot.delete

    def submit_first(self: FormSnapshot) -> Any:
        Submission.objects.filter(pk=make_submission(make_application(), {}).pk).update(
            snapshot=self
        )
        return delete(self)

    monkeypatch.setattr(FormSnapshot, "delete", submit_first)
    assert privacy.purge_credentials(now=at)["form_snapshots"] == 0
    assert FormSnapshot.objects.filter(pk=snapshot.pk).exists()
