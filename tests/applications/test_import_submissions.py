"""import_applications: submissions, files, emails and notes, and the round trip with
export_applicant.
"""

import json
import os
from base64 import b64encode
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from applications.models import Application, FormSnapshot, Message, Note, Submission, SubmissionFile
from applications.submissions import antivirus
from applications.submissions.files import FILE_BYTES_MAX, open_file
from applications.submissions.links import receipt_path
from tests.applications.makers import (
    make_application,
    make_file,
    make_step,
    make_submission,
    make_user,
)
from tests.applications.personal_data import dump
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db(transaction=True)

PDF = b"%PDF-1.7 zyxcv"
CONTENT = b64encode(PDF).decode()


@pytest.fixture(autouse=True)
def vacancy() -> Any:
    return make_vacancy(pk=501)


def row(**values: Any) -> dict[str, Any]:
    return {
        "vacancy_id": 501,
        "email": "Zyxjane@Example.org",
        "given_name": "Zyxjane",
        "created_at": "2026-02-01 08:00:00",
        "submission": submission(),
    } | values


def submission(**values: Any) -> dict[str, Any]:
    return {
        "answers": [
            {"field": "motivation", "label": "Why?", "values": ["I like", "to build."]},
            {"field": "cv", "label": "Your CV", "values": ["cv.pdf"]},
        ],
        "files": [{"field": "cv", "name": "../cv.pdf", "content": CONTENT}],
    } | values


@pytest.fixture
def import_rows(tmp_path: Path, capsys: Any) -> Any:
    """Return a function that imports rows and returns the exit code and the report."""

    def run(
        *rows: Any, words: tuple[str, ...] = (), document: Any = None
    ) -> tuple[int, dict[str, Any]]:
        path = tmp_path / "applications.json"
        path.write_text(json.dumps(list(rows) if document is None else document))
        code = 0
        try:
            call_command("import_applications", str(path), "--format", "json", *words)
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capsys.readouterr()
        assert "zyx" not in (said.out + said.err).lower()
        return code, json.loads(said.out)

    return run


def stored(settings: Any) -> list[str]:
    folder = Path(settings.PRIVATE_ROOT)
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_anonymous_application_is_imported_once(import_rows, settings) -> None:
    whole = row(
        emails=[
            {"to": "a@b.test", "subject": "Hello", "queued_at": "2026-02-01 08:01:00"},
            {
                "to": "a@b.test",
                "subject": "Bye",
                "queued_at": "2026-02-01 08:02:00",
                "state": "queued",
            },
        ],
        notes=[{"text": "Good.\nVery good.", "at": "2026-02-02 08:00:00"}],
        rating=4,
        phone="123",
        language="nl",
        withdrawn_at="2026-02-03 08:00:00",
    )
    code, report = import_rows(whole)
    assert (code, report["created"], report["users"], report["notes"]) == (0, 1, 0, [])

    application = Application.objects.get()
    assert (application.user, application.email, application.email_folded) == (
        None,
        "Zyxjane@Example.org",
        "zyxjane@example.org",
    )
    assert (application.rating, application.phone, application.language) == (4, "123", "nl")
    assert len(application.reference or "") == 8
    assert application.submission.values == {"motivation": "I like\nto build.", "cv": "../cv.pdf"}
    file = SubmissionFile.objects.get()
    assert (file.field, file.original_name, file.kind, file.size) == (
        "cv",
        "../cv.pdf",
        "pdf",
        len(PDF),
    )
    with open_file(file) as content:
        assert content.read() == PDF
    assert stored(settings) == [file.path]
    assert sorted(Message.objects.values_list("subject", "state")) == [
        ("Bye", "failed"),
        ("Hello", "sent"),
    ]
    assert Note.objects.get().text == "Good.\nVery good."

    before = dump()
    assert import_rows(whole)[1]["unchanged"] == 1
    assert (dump(), stored(settings)) == (before, [file.path])


def test_later_notes_are_added_and_a_stored_submission_is_not_changed(
    import_rows, settings
) -> None:
    note = {"text": "First", "at": "2026-02-02 08:00:00"}
    import_rows(row(notes=[note]))
    files = stored(settings)
    Note.objects.create(application=Application.objects.get(), text="written here")
    assert import_rows(row(notes=[note, note | {"text": "Second"}]))[1]["updated"] == 1
    assert set(Note.objects.values_list("text", flat=True)) == {"First", "Second", "written here"}

    changed = submission(answers=[{"label": "Other", "values": ["other"]}])
    assert import_rows(row(submission=changed))[1]["unchanged"] == 1
    assert (stored(settings), FormSnapshot.objects.count()) == (files, 1)

    Application.objects.update(user=make_user())  # it is found again
    assert import_rows(row())[1]["unchanged"] == 1
    assert import_rows(row(rating=2))[1]["updated"] == 1
    assert Application.objects.get().rating == 2


def test_file_by_path_and_names_that_are_made_up(import_rows, tmp_path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/1.txt").write_bytes(b"Jane")
    files = [{"name": "cv.txt", "path": "files/1.txt"}]
    answers = [{"label": "Why?", "values": []}, {"label": "When?", "values": ["Now"]}]
    assert import_rows(row(submission={"files": files, "answers": answers}))[0] == 0
    assert Submission.objects.get().values == {
        "answer_1": "",
        "answer_2": "Now",
        "file_1": "cv.txt",
    }
    with open_file(SubmissionFile.objects.get()) as content:
        assert content.read() == b"Jane"


def with_file(**values: Any) -> dict[str, Any]:
    return row(submission=submission(files=[{"field": "cv", "name": "cv.pdf"} | values]))


BROKEN = [
    (with_file(path="../outside.pdf"), "out of the folder"),
    (with_file(path="/etc/passwd"), "out of the folder"),
    (with_file(path="link.pdf"), "out of the folder"),
    (with_file(path="none.pdf"), "No such file"),
    (with_file(path="."), "Is a directory"),
    (with_file(path="x" * 4000), "cannot be read"),
    (with_file(path="nul\0"), "path"),
    (with_file(path="large.pdf"), "larger than 10 MB"),
    (with_file(content="A" * (FILE_BYTES_MAX * 4 // 3 + 8)), "larger than 10 MB"),
    (with_file(content=b64encode(bytes(FILE_BYTES_MAX + 1)).decode()), "larger than 10 MB"),
    (with_file(content="***"), "base64"),
    (with_file(content=7), "base64"),
    (with_file(content=None), "may not be null"),
    (with_file(), "either content or path"),
    (with_file(content=CONTENT, path="a.pdf"), "either content or path"),
    (with_file(content=b64encode(b"<svg onload=alert(1)>").decode()), "in the format SVG"),
    (
        row(submission=submission(files=[{"field": "cv", "name": "a", "content": CONTENT}] * 2)),
        "more than",
    ),
    (
        row(submission=submission(answers=[{"field": "a", "label": "a", "values": []}] * 2)),
        "more than",
    ),
    (row(submission=submission(answers=[{"label": "a", "values": "text"}])), "list"),
    (row(submission="text"), "dictionary"),
    (row(email=""), "a user or an email"),
    (row(email="zyx@"), "valid email"),
    (row(email="zyx@example.org\r\nBcc: a@b.test"), "valid email"),
    (row(reference="../.."), "reference"),
    (row(reference="TAKEN"), "Another application has this reference"),
    (row(rating=6), "rating"),
    (row(language="xx"), "language"),
    (row(notes=[{"text": "", "at": "2026-02-02 08:00:00"}]), "notes.0.text"),
    (row(emails=[{"to": "a@b.test"}]), "queued_at"),
]


@pytest.mark.slow("imports files of 10 MB")
def test_bad_row_is_refused_as_a_whole(import_rows, settings, tmp_path) -> None:
    make_application(reference="TAKEN")
    (tmp_path.parent / "outside.pdf").write_bytes(PDF)
    (tmp_path / "large.pdf").write_bytes(PDF.ljust(FILE_BYTES_MAX + 1))
    (tmp_path / "link.pdf").symlink_to(tmp_path.parent / "outside.pdf")
    before = dump()
    code, report = import_rows(*[broken for broken, _reason in BROKEN])
    assert (code, report["refused"], dump() == before, stored(settings)) == (
        1,
        len(BROKEN),
        True,
        [],
    )
    reasons = [reason for _broken, reason in BROKEN]
    pairs = zip(report["failed"], reasons, strict=True)
    assert [(line, reason) for line, reason in pairs if reason not in line] == []


def test_dry_run_stores_no_file(import_rows, settings) -> None:
    before = dump()
    code, report = import_rows(
        row(), with_file(content=b64encode(b"MZ").decode()), words=("--dry-run",)
    )
    assert (code, report["created"], report["refused"]) == (1, 1, 1)
    assert (dump(), stored(settings)) == (before, [])


def test_virus_is_refused(import_rows, monkeypatch) -> None:
    def find(file: Any) -> None:
        raise antivirus.VirusFoundError("Eicar")

    monkeypatch.setattr(antivirus, "scan", find)
    assert "virus" in import_rows(row())[1]["failed"][0]


def exported(tmp_path: Path, *person: str) -> dict[str, Any]:
    path = tmp_path / "export.json"
    path.unlink(missing_ok=True)
    call_command("export_applicant", *person, "--files", "--output", str(path), stdout=StringIO())
    return json.loads(path.read_text())


@pytest.mark.parametrize("has_account", [True, False])
def test_export_can_be_imported(
    import_rows, vacancy, settings, tmp_path, capsys, has_account, at
) -> None:
    user = make_user("zyxjane", email="zyxjane@example.org")
    application = make_application(
        user=user,
        vacancy=vacancy,
        email="zyxjane@example.org",
        email_folded="zyxjane@example.org",
        given_name="Zyxjane",
        reference="REF",
        rating=3,
        language="nl",
        verified_at=at,
    )
    if not has_account:
        Application.objects.update(user=None)
        user.delete()
    make_step(application, "Zyxtalk", result="Good")
    sent = make_submission(
        application,
        {"first_name": "Zyxjane", "experience": "yes", "where": "Zyxhome", "cv": "cv.pdf"},
    )
    make_file(sent, "cv.pdf", PDF)
    Note.objects.create(application=application, text="Zyxnote")
    Message.objects.create(
        application=application,
        kind="receipt",
        to="zyxjane@example.org",
        language="nl",
        subject="Zyxmail",
        body="Hello",
        state="sent",
        finished_at=at,
    )
    person = ("zyxjane",) if has_account else ("--email", "zyxjane@example.org")
    first = exported(tmp_path, *person)
    application.delete()

    code, report = import_rows(document=first)
    assert (code, report["created"], report["notes"]) == (0, 1, [])
    second = exported(tmp_path, *person)

    assert import_rows(document=first)[1]["unchanged"] == 1
    for document in (first, second):
        (found,) = document["applications"]
        del found["id"], found["updated_at"], found["submission"]["values"]
        found["statuses"] = found["statuses"][-1:]  # the first stage comes before it
    assert first["applications"] == second["applications"]
    assert receipt_path(Application.objects.get())
