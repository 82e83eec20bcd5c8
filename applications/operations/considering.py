"""Considering an applicant for another vacancy:
a new application with the same submission and files.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from applications.mail.notice import queue_notice
from applications.models import Application, Origin, Submission, SubmissionFile
from applications.models.application import new_reference
from applications.operations.stages import create_application
from applications.submissions import idempotency
from applications.submissions.files import StoredFiles, open_file
from jobsite import private_files
from vacancies.models import Vacancy

CHUNK = 1024 * 1024
_COPIED = (
    "user",
    "given_name",
    "family_name",
    "email",
    "email_folded",
    "phone",
    "language",
    "verified_at",
)
_SUBMITTED = (
    "values",
    "snapshot",
    "consent_text",
    "consent_version",
    "consented_at",
    "fingerprint",
)


class AlreadyThereError(Exception):
    """The applicant has an application to the vacancy already."""

    def __init__(self, application: Application) -> None:
        super().__init__(str(application))
        self.application = application


def consider(
    *, application: Application, vacancy: Vacancy, author: User, base_url: str = "", at: datetime
) -> Application:
    """Create an application to `vacancy` with what the applicant of `application` sent, and return
    it. Both stay, and change independently. Whoever sent an open application asked for it; anybody
    else gets a notice, as somebody whom a colleague adds.

    Raise AlreadyThereError, FileNotFoundError if a file is missing, another OSError if one cannot
    be stored, and Application.DoesNotExist if it was erased meanwhile; then nothing is stored.
    """
    files = SubmissionFile.objects.filter(submission__application=application)
    stored = StoredFiles()
    try:
        for file in files:
            stored.rows.append(_copy(file))
        with transaction.atomic():
            # Of two clicks, the second one waits here, and finds the application of the first one.
            source = Application.objects.select_for_update(of=("self",)).get(pk=application.pk)
            refuse_second(source, vacancy)
            columns = {name: getattr(source, name) for name in _COPIED}
            copy = create_application(
                vacancy=vacancy, at=at, reference=new_reference(), read_at=at, **columns
            )
            channel = Origin.Channel.OPEN if source.is_spontaneous else Origin.Channel.EARLIER
            if submission := Submission.objects.filter(application=source).first():
                columns = {name: getattr(submission, name) for name in _SUBMITTED}
                stored.add_rows(
                    Submission.objects.create(application=copy, source=channel, **columns)
                )
            is_asked = source.is_spontaneous
            origin = Origin(
                application=Application.objects.with_email_facts().get(pk=copy.pk),
                channel=channel,
                basis=Origin.Basis.REQUEST if is_asked else Origin.Basis.INTEREST,
                author=author,
                added_at=at,
            )
            if copy.address and not is_asked:
                queue_notice(origin, base_url=base_url, at=at)
                origin.informed_at = at
            origin.save()
    except BaseException:
        stored.discard()
        raise
    return copy


def refuse_second(application: Application, vacancy: Vacancy, *, but: int = 0) -> None:
    """Raise AlreadyThereError if the applicant has an application to `vacancy`, but for the one
    with the id `but`. A submission of the applicant to it waits until the end of the transaction.
    """
    if application.email_folded:
        idempotency.lock_address(vacancy, application.email_folded)
    there = Application.objects.of_person(application).filter(vacancy=vacancy).exclude(pk=but)
    if newest := there.newest_first().first():
        raise AlreadyThereError(newest)


def _copy(file: SubmissionFile) -> SubmissionFile:
    """Copy the content of `file`. Return an unsaved row for the copy."""
    copy = SubmissionFile(path=private_files.new_name(), field=file.field, **file.facts())
    with open_file(file) as content:
        private_files.write(copy.path, iter(lambda: content.read(CHUNK), b""))
    return copy
