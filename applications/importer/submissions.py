"""Import of what belongs to an application: submission, files, emails and notes. What is missing is
added; what is stored is neither changed nor deleted.
"""

from datetime import datetime
from pathlib import Path

from django.core.files.base import ContentFile, File

from applications.models import Application, Message, Note, Submission
from applications.operations import adding
from applications.submissions.files import FILE_BYTES_MAX, FileError, check, sha256_of, store
from jobsite.types import JsonObject


class RowRefusedError(Exception):
    """A row cannot be imported. `field` is the place of the error in it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def add_submission(
    application: Application, data: JsonObject, *, folder: Path, is_dry_run: bool
) -> bool:
    """Add the submission `data` to `application`, unless it has one. Return whether it was added.
    Paths of files are relative to `folder`. Raise RowRefusedError.
    """
    if Submission.objects.filter(application=application).exists():
        return False
    files = {
        each["field"]: _file(each, f"submission.files.{number}", folder)
        for number, each in enumerate(data.get("files", ()))
    }
    numbers = {name: number for number, name in enumerate(files)}
    hashes = sha256_of(files)
    try:
        if is_dry_run:
            check(files, hashes)
            return True
        stored = store(files, hashes)
    except FileError as error:
        raise RowRefusedError(f"submission.files.{numbers[error.field]}", error.detail) from error
    adding.add_submission(
        application,
        data.get("answers", ()),
        stored,
        consent_text=data.get("consent_text", ""),
        consent_version=data["consent_version"],
        consented_at=data.get("consented_at", application.created_at),
        source=data.get("source", ""),
    )
    # A rollback leaves the files without rows; purge deletes them.
    return True


def _file(each: JsonObject, place: str, folder: Path) -> File:
    """Return the file of a row. Raise RowRefusedError."""
    if "content" in each:
        return ContentFile(each["content"], each["name"])
    try:
        path = (folder / each["path"]).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise RowRefusedError(place, "The path leads out of the folder of the import file.")
        if path.stat().st_size > FILE_BYTES_MAX:
            raise RowRefusedError(place, "The file is larger than 10 MB.")
        return ContentFile(path.read_bytes(), each["name"])
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "invalid path"
        raise RowRefusedError(place, f"The file cannot be read: {reason}.") from error


def add_emails(application: Application, emails: list[JsonObject]) -> bool:
    """Add the emails that `application` does not have. Return whether there were any. One that was
    not sent is recorded as failed: it is not sent from here.
    """
    known = set(application.messages.values_list("to", "subject", "queued_at"))
    missing = [
        Message(
            kind=Message.Kind.TEMPLATE,
            application=application,
            to=each["to"],
            language=application.language,
            subject=each.get("subject", ""),
            body=each.get("body", ""),
            state=Message.State.SENT
            if each["state"] == Message.State.SENT
            else Message.State.FAILED,
            queued_at=each["queued_at"],
            next_at=each["queued_at"],
            finished_at=each.get("finished_at") or each["queued_at"],
        )
        for each in emails
        if (each["to"], each.get("subject", ""), each["queued_at"]) not in known
    ]
    Message.objects.bulk_create(missing)
    return bool(missing)


def add_notes(application: Application, notes: list[JsonObject]) -> bool:
    """Add the notes that `application` does not have. Return whether there were any."""
    known: set[tuple[str, datetime]] = set(application.notes.values_list("text", "created_at"))
    missing = [
        Note(application=application, text=each["text"], created_at=each["at"])
        for each in notes
        if (each["text"], each["at"]) not in known
    ]
    Note.objects.bulk_create(missing)
    return bool(missing)
