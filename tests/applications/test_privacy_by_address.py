"""Export and erasure of people without an account, of files, emails and notes, and again after a
restore.
"""

import base64
import json
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client

from applications import operations, privacy
from applications.models import (
    Access,
    AccessLog,
    Application,
    IdempotencyKey,
    JobAlert,
    Message,
    Note,
    Submission,
    SubmissionFile,
)
from applications.submissions import files
from applications.submissions.links import receipt_path
from tests.applications.applicants import make_anonymous
from tests.applications.makers import PASSWORD, make_application, make_step, make_user, signed_in
from tests.applications.personal_data import (
    FIRST,
    LAST,
    MAIL,
    dump,
    log,
    make_job_alert,
    run,
    tables_containing,
)
from tests.parallel import at_once, waiting

pytestmark = pytest.mark.django_db

CONTENT = b"%PDF-1.4 zyxcontent\n%%EOF\n"
KINDS = ("applications", "submissions", "files", "emails", "notes", "job_alerts")


def make_applicant(
    address=MAIL, first=FIRST, last=LAST, content=CONTENT, recruiter=None, **columns
):
    """Create an application with rows of every kind, and a file on the disk."""
    mark = "zyx" if MAIL in address.lower() else "other"
    application = make_anonymous(
        address, given_name=first, family_name=last, phone=f"+32 499 {mark}phone", **columns
    )
    SubmissionFile.objects.all().filter(submission__application=application).delete()
    stored = files.store({"cv": SimpleUploadedFile(f"CV {first}.pdf", content)})
    stored.add_rows(application.submission)
    IdempotencyKey.objects.create(
        vacancy=application.vacancy,
        key_hash=f"{mark}key{application.pk}",
        fingerprint=f"{mark}print",
        application=application,
    )
    for kind, recipient in (("receipt", None), ("template", None), ("mention", recruiter)):
        Message.objects.create(
            kind=kind,
            application=application,
            recipient=recipient,
            to=address,
            language="en",
            subject=f"To {first}",
            body=f"Dear {first} {last}, {address}",
            author=recruiter,
        )
    note = Note.objects.create(application=application, author=recruiter, text=f"{first} is good")
    make_step(application, f"Talk with {first}")
    AccessLog.objects.create(actor=recruiter, application=application.pk, action="view")
    if recruiter:
        note.mentioned.add(recruiter)
        log(recruiter, application, text=f"{first} {last}")
        log(recruiter, note, message=json.dumps([{"added": {"name": "note", "object": first}}]))
    return application


@pytest.fixture
def applicant(settings, at, recruiter):
    """The values that identify an applicant with two applications, of which an account has one.
    Another person's rows mention the applicant.
    """
    settings.RATE_LIMIT = "600/min"
    settings.LOG_FORMAT = "text"
    other = make_applicant(
        "other@example.org", "Jan", "Janssens", b"%PDF-1.4 other\n%%EOF\n", recruiter
    )
    first = make_applicant(recruiter=recruiter)
    second = make_applicant(MAIL.upper(), content=CONTENT + b"2", recruiter=recruiter)
    user = make_user("zyxaccount", email="zyxother@example.org", first_name=FIRST)
    Application.objects.filter(pk=second.pk).update(user=user)
    Note.objects.create(
        application=other, author=recruiter, text=f"Better than {FIRST} {LAST} ({MAIL})."
    )
    digest = {
        "kind": "digest",
        "recipient": recruiter,
        "to": "recruiter@example.org",
        "language": "en",
    }
    Message.objects.create(subject="New", body=f"New: {FIRST} {LAST}", **digest)
    log(
        recruiter,
        other.vacancy,
        message=json.dumps([{"added": {"name": "x", "object": f"{FIRST} {LAST}"}}]),
    )
    Client().post("/account/login", {"username": MAIL, "password": "x"})
    Client().get(receipt_path(first))
    make_job_alert("other@example.org", other.vacancy)
    make_job_alert(MAIL, other.vacancy)
    prints = [sha256(content).hexdigest() for content in (CONTENT, CONTENT + b"2")]
    references = [first.reference, second.reference]
    return [MAIL, FIRST, LAST, "zyxphone", "zyxkey", "zyxprint", *prints, *references]


def private_files(settings):
    return {
        path.name: path.read_bytes()
        for path in Path(settings.PRIVATE_ROOT).rglob("*")
        if path.is_file()
    }


# --- Erasure --------------------------------------------------------------------------------------


def test_erasure_leaves_nothing_of_an_applicant(
    applicant, settings, tmp_path, caplog, capsys, django_capture_on_commit_callbacks
):
    """The dump, the folders of files, the logs, the caches and the erasure log contain no name,
    address, reference or hash of a file.
    """
    settings.ERASURE_LOG = str(tmp_path / "erased")
    Path(settings.MEDIA_ROOT).mkdir()
    caplog.set_level("DEBUG")
    assert {marker: bool(tables_containing(marker)) for marker in applicant} == dict.fromkeys(
        applicant, True
    )
    assert len(private_files(settings)) == 3
    other, before = Application.objects.get(email="other@example.org"), dump()

    with django_capture_on_commit_callbacks(execute=True):
        code, out, err = run("erase_applicant", "--email", MAIL)

    assert code == 0
    markers = [*applicant, "zyxcontent"]
    # the account of another address stays: it has its own first name; so do texts about others
    mentions = {"applications_note", "applications_message", "django_admin_log"}
    left = {marker: tables_containing(marker) - {"auth_user"} - mentions for marker in markers}
    assert left == {marker: set() for marker in markers}
    erased = Path(settings.ERASURE_LOG).read_text()
    places = [repr(cache._cache), out, caplog.text, erased, *capsys.readouterr()]
    for folder in (settings.PRIVATE_ROOT, settings.MEDIA_ROOT):
        for path in Path(folder).rglob("*"):
            places += [path.name, path.read_bytes().decode(errors="replace")]
    text = "\n".join(places).casefold()
    assert [marker for marker in markers if marker.casefold() in text] == []
    assert list(private_files(settings).values()) == [b"%PDF-1.4 other\n%%EOF\n"]

    # others are not affected, and texts that mention the applicant are listed by number
    after = dump()
    assert list(Application.objects.all()) == [other]
    for table in ("vacancies_vacancy", "applications_stage", "applications_accesslog", "auth_user"):
        assert after[table] == before[table], table
    counts = [
        model.objects.count()
        for model in (Submission, SubmissionFile, IdempotencyKey, Note, Message)
    ]
    assert counts == [1, 1, 1, 2, 5]
    assert [alert.told.count() for alert in JobAlert.objects.all()] == [1]
    texts = list(other.notes.values_list("text", flat=True))
    assert texts == ["Jan is good", f"Better than {FIRST} {LAST} ({MAIL})."]
    pks = [
        other.notes.last().pk,
        Message.objects.get(kind="digest").pk,
        LogEntry.objects.latest("pk").pk,
    ]
    assert err == (
        "These may mention the person. Read them, and change what does:\n"
        "  notes: {}\n  emails: {}\n  entries of the admin's log: {}\n".format(*pks)
    )


def test_erasure_by_address_includes_the_account_with_it(at):
    mine = make_anonymous(MAIL)
    imported = make_application(user=make_user("zyxjane", email=MAIL.upper()))
    make_user("zyxnext", email=f"x{MAIL}")

    out = run("erase_applicant", "--email", f" {MAIL} ")[1]

    assert out.startswith("Erased an account with 2 applications, 1 files, 0 emails")
    assert not Application.objects.filter(pk__in=[mine.pk, imported.pk]).exists()
    assert list(User.objects.values_list("username", flat=True)) == ["zyxnext"]

    application, boss = make_anonymous(MAIL), make_user("boss", email=MAIL, is_staff=True)
    assert run("erase_applicant", "--email", MAIL)[0] == 1
    assert (Application.objects.get(), User.objects.latest("pk")) == (application, boss)


def test_erasure_of_an_account_includes_claimed_applications(at):
    application, later = make_anonymous(MAIL), make_anonymous("bob@example.org")
    user = operations.create_account(proven=application, password="x" * 12, at=at)
    unclaimed = make_anonymous(MAIL)

    code, _out, err = run("erase_applicant", user.username)

    assert (code, err) == (
        0,
        "1 applications from this address belong to no account: use --email.\n",
    )
    assert set(Application.objects.all()) == {unclaimed, later}


def test_dry_run_of_an_erasure_by_address_changes_nothing(
    applicant, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.ERASURE_LOG = str(tmp_path / "erased")
    before, stored = dump(), private_files(settings)
    with django_capture_on_commit_callbacks(execute=True):
        dry = json.loads(
            run("erase_applicant", "--email", MAIL, "--dry-run", "--format", "json")[1]
        )
    assert (dump(), private_files(settings), Path(settings.ERASURE_LOG).exists()) == (
        before,
        stored,
        False,
    )

    real = json.loads(run("erase_applicant", "--email", MAIL, "--format", "json")[1])

    said = "Dry run, nothing was deleted. Would erase no account, 2 applications"
    assert dry.pop("summary").startswith(said)
    assert real.pop("summary").startswith(
        "Erased no account, 2 applications, 2 files, 6 emails, 2 notes"
    )
    assert dry == real
    assert [real[kind] for kind in KINDS] == [2, 2, 2, 6, 2, 1]


@pytest.mark.parametrize("command", ["erase_applicant", "export_applicant"])
def test_unknown_or_ambiguous_addresses_are_usage_errors(command):
    make_user("one", email=MAIL), make_user(MAIL), make_anonymous("bob@example.org")
    for args in (["--email", "zyxnobody@example.org"], ["--email", MAIL], ["--email", " "], []):
        code, out, err = run(command, *args)
        assert (code, out, "zyx" in err) == (2, "", False), err
    assert run(command, "one", "--email", MAIL)[0] == 2


def test_file_that_cannot_be_deleted_is_reported(
    applicant, settings, monkeypatch, caplog, django_capture_on_commit_callbacks
):
    def refuse(paths):
        raise PermissionError(13, "denied", *paths)

    monkeypatch.setattr("applications.privacy.deletion.delete_files", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        assert run("erase_applicant", "--email", MAIL)[0] == 0

    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert errors == ["A file of an applicant is left for purge: PermissionError."] * 2
    assert len(private_files(settings)) == 3


def test_files_are_kept_if_the_erasure_is_rolled_back(
    applicant, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.ERASURE_LOG = str(tmp_path / "no such folder" / "erased")
    with django_capture_on_commit_callbacks(execute=True):
        assert run("erase_applicant", "--email", MAIL)[0] == 1
    assert (len(private_files(settings)), Application.objects.count()) == (3, 3)


def test_deleting_one_application_keeps_the_names_of_the_others(at, recruiter):
    first, second = make_applicant(), make_applicant()
    Note.objects.create(application=second, text=f"{FIRST} {LAST} called.")
    AccessAttempt.objects.create(username=MAIL, failures_since_start=1, attempt_time=at)

    privacy.erase_application(application=first)

    assert second.notes.last().text == f"{FIRST} {LAST} called."
    assert AccessAttempt.objects.count() == 1
    assert privacy.erase_application(application=second)["applications"] == 1
    assert (privacy.erase_application(application=second), AccessAttempt.objects.count()) == ({}, 0)
    assert tables_containing(MAIL) == tables_containing(LAST) == set()


def test_an_application_without_account_and_address_can_be_deleted(at):
    application = make_application()
    Application.objects.update(user=None)
    application.refresh_from_db()

    assert privacy.erase_application(application=application)["applications"] == 1
    assert not Application.objects.exists()


@pytest.mark.parametrize(
    "way", ["page of the account", "link", "command", "command for an address"]
)
def test_names_that_an_applicant_chose_change_no_text_about_others(recruiter, at, way):
    """An applicant whose name is "not suitable" does not erase these words. All tables stay as they
    were, but for the rows of the applicant.
    """
    other = make_applicant("bob@example.org", "Bob", "Bos", recruiter=recruiter)
    Note.objects.create(application=other, text="Not suitable: see bob@example.org")
    log(recruiter, other.vacancy, text="not suitable", message="Bob Bos is not suitable")
    AccessAttempt.objects.create(
        username="bob@example.org", failures_since_start=1, attempt_time=at
    )
    make_user("bob", email="bob@example.org")
    before, rows = dump(), set(Application.objects.values_list("pk", flat=True))
    names = {"first_name": "Bob", "last_name": "Bos", "email": "evil@example.org"}
    user = make_user("not suitable", **names) if way in ("page of the account", "command") else None
    application = make_anonymous(
        "evil@example.org",
        given_name="not",
        family_name="suitable",
        vacancy=other.vacancy,
        user=user,
    )

    if way == "page of the account":
        signed_in(user).post("/account/delete", {"old_password": PASSWORD})
    elif way == "link":
        Client().post(f"{receipt_path(application)}/delete")
    elif way == "command":
        run("erase_applicant", "not suitable")
    else:
        run("erase_applicant", "--email", "evil@example.org")

    assert set(Application.objects.values_list("pk", flat=True)) == rows
    after = dump()
    names = ("applications_note", "applications_message", "django_admin_log", "axes_accessattempt")
    assert {name: after[name] for name in names} == {name: before[name] for name in names}
    assert not User.objects.filter(email="evil@example.org").exists()


# --- Again after a restore ------------------------------------------------------------------------


def test_restored_applications_are_erased_again(applicant, settings, tmp_path):
    """Rows of a backup, with other ids of accounts, are those of the log; later ones are not."""
    settings.ERASURE_LOG = str(tmp_path / "erased")
    other = Application.objects.get(email="other@example.org")
    with transaction.atomic():
        run("erase_applicant", "--email", MAIL)
        transaction.set_rollback(True)  # what a restore brings back
    again = make_anonymous(MAIL)  # applied after the erasure
    assert Application.objects.count() == 4

    code, out, _ = run("erase_applicant", "--again", "--format", "json")

    again_erased = [json.loads(out)[kind] for kind in ("applications", "job_alerts", "erased")]
    assert (code, again_erased) == (0, [2, 1, 0])
    assert set(Application.objects.all()) == {other, again}
    [line] = Path(settings.ERASURE_LOG).read_text().splitlines()
    assert (len(line.split()), "zyx" in line, "@" in line) == (4, False, False)
    assert json.loads(run("erase_applicant", "--again", "--format", "json")[1])["applications"] == 0


def test_restored_rows_of_an_applicant_are_erased_again(applicant, settings, tmp_path):
    settings.ERASURE_LOG = str(tmp_path / "erased")
    with transaction.atomic():
        run("erase_applicant", "--email", MAIL)
        transaction.set_rollback(True)

    run("erase_applicant", "--again")

    for marker in applicant:
        # Texts about others.
        mentions = {"applications_note", "applications_message", "django_admin_log"}
        assert tables_containing(marker) - {"auth_user"} - mentions == set(), marker


def test_erasures_of_other_kinds_are_repeated(settings, tmp_path, at, client):
    log_file = tmp_path / "erased"
    settings.ERASURE_LOG = str(log_file)
    application = make_anonymous(MAIL)
    with transaction.atomic():  # claimed after the backup
        user = operations.create_account(proven=application, password="x" * 12, at=at)
        privacy.erase(user=user)
        transaction.set_rollback(True)  # anonymous again
    kinds = {"erased": 0, "kept": 0, "job_alerts": 0, "left_pool": 0}
    assert privacy.erase_again() == kinds | {"applications": 1}
    assert not Application.objects.exists()

    application = make_anonymous(MAIL)
    with transaction.atomic():  # deleted by the applicant
        client.post(f"{receipt_path(application)}/delete")
        transaction.set_rollback(True)
    assert privacy.erase_again()["applications"] == 1

    user = make_user("zyxjane")  # in the log of an earlier version
    digest = sha256(f"{user.pk} {user.date_joined:%Y-%m-%dT%H:%M:%S.%f}".encode()).hexdigest()
    log_file.write_text(f"2026-01-01T00:00:00Z {digest}\n\n")
    assert privacy.erase_again()["erased"] == 1


# --- Export ---------------------------------------------------------------------------------------


def test_export_by_address_has_everything(applicant, recruiter, at, settings):
    data = json.loads(run("export_applicant", "--email", MAIL, "--files")[1])

    assert data["account"] is None
    assert [each["email"] for each in data["applications"]] == [MAIL.upper(), MAIL]
    exported = data["applications"][1]
    assert (exported["given_name"], exported["family_name"]) == (FIRST, LAST)
    assert exported["notes"] == [{"at": exported["notes"][0]["at"], "text": f"{FIRST} is good"}]
    # Not to colleagues.
    assert [email["subject"] for email in exported["emails"]] == [f"To {FIRST}"] * 2
    submission = exported["submission"]
    assert submission["answers"][0] == {
        "field": "first_name",
        "label": "First name",
        "values": ["Mia"],
    }
    assert (submission["consent_text"], submission["consent_version"]) == ("I agree.", 3)
    [file] = submission["files"]
    assert base64.b64decode(file["content"]) == CONTENT
    assert (file["name"], file["sha256"]) == (f"CV {FIRST}.pdf", sha256(CONTENT).hexdigest())
    assert [attempt["address"] for attempt in data["failed_sign_ins"]] == ["127.0.0.1"]
    assert {access["action"] for access in data["accesses"]} == {"seen", "exported"}
    assert AccessLog.objects.filter(action=Access.EXPORT).count() == 2
    [alert] = data["job_alerts"]
    assert (alert["address"], alert["query"]) == (MAIL, f"filter%5Bsearch%5D=of-{MAIL}")
    assert alert["told_vacancies"] == [
        Application.objects.get(email="other@example.org").vacancy_id
    ]
    assert [email["body"] for email in alert["emails"]] == [f"To {MAIL}"]
    text = json.dumps(data)
    data = json.loads(run("export_applicant", "--email", MAIL)[1])
    [file] = data["applications"][0]["submission"]["files"]
    assert (file["name"], "content" in file) == (f"CV {FIRST}.pdf", False)
    for path in Path(settings.PRIVATE_ROOT).iterdir():
        path.unlink()
    data = json.loads(run("export_applicant", "--email", MAIL, "--files")[1])
    assert data["applications"][0]["submission"]["files"][0]["content"] is None
    for foreign in ("Jan", "other@example.org", "recruiter", "zyxaccount", "zyxkey", "zyxprint"):
        assert foreign not in text


def test_export_takes_a_fixed_number_of_queries(django_assert_max_num_queries, recruiter, at):
    def count(address):
        with django_assert_max_num_queries(17) as queries:
            privacy.export(address=address, now=at)
        return len(queries)

    make_applicant("one@example.org")
    for _ in range(5):
        make_applicant("six@example.org")
    assert count("one@example.org") == count("six@example.org")


# --- Races ----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_", range(3 if connection.vendor == "postgresql" else 1))
def test_concurrent_erasure_and_claim_leave_no_application(_):
    application = make_anonymous(MAIL)
    user = make_user("claimer")

    erased, claimed = at_once(
        partial(privacy.erase, address=MAIL),
        partial(operations.claim, proven=application, user=user, at=application.created_at),
    )

    assert (erased["applications"], len(claimed) in (0, 1)) == (1, True)
    assert not Application.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time")
def test_erased_application_is_not_withdrawn():
    application = make_anonymous(MAIL)
    failed = []

    def withdraw():
        try:
            operations.withdraw_application(
                application=application, at=application.created_at + timedelta(hours=1)
            )
        except Application.DoesNotExist as error:
            failed.append(error)

    with ExitStack() as stack, transaction.atomic():
        privacy.erase_application(application=application)
        stack.enter_context(waiting(withdraw))

    assert (len(failed), Application.objects.count(), Message.objects.count()) == (1, 0, 0)
