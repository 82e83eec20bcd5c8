"""Moving an application that is on the wrong vacancy to another one, and undoing it."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from applications.mail.notice import queue_correction, queue_notice
from applications.models import Application, Message, Origin, VacancyChange
from applications.operations.considering import refuse_second
from vacancies.models import Requisition, Vacancy

CANCELLABLE = timedelta(minutes=10)  # an undo within this time sends nothing
# They name the vacancy.
TELLING = (Message.Kind.RECEIPT, Message.Kind.NOTICE, Message.Kind.CONSENT)


class ChangedAgainError(Exception):
    """Somebody else moved the application in the meantime, or its vacancy was deleted."""


def move_to_vacancy(
    *, application: Application, vacancy: Vacancy, author: User, base_url: str = "", at: datetime
) -> VacancyChange:
    """Move `application` to `vacancy`, and return the change. Whoever was told of the first vacancy
    gets a correction, after the time in which the move can be undone.

    Raise AlreadyThereError if the applicant has an application there, and Application.DoesNotExist.
    """
    with transaction.atomic():
        current = _locked(application.pk)
        before = current.vacancy
        _put(current, vacancy, at)
        notice = _tell(current, before, base_url=base_url, at=at)
        change = VacancyChange(application=current, before=before, author=author, at=at)
        change.notice = notice
        change.save()
    return change


def undo_move_to_vacancy(
    *, change: VacancyChange, author: User, base_url: str = "", at: datetime
) -> VacancyChange:
    """Move the application back, and return that change. A correction that waits is deleted, and
    one that was sent is corrected.

    Raise ChangedAgainError unless `change` is the latest one, AlreadyThereError and
    Application.DoesNotExist.
    """
    with transaction.atomic():
        current = _locked(change.application_id)
        latest = undoable_change(current)
        if latest is None or latest.pk != change.pk:
            raise ChangedAgainError
        assert latest.before
        moved_from = current.vacancy
        _put(current, latest.before, at)
        notice = None
        if latest.notice and latest.notice.state == Message.State.QUEUED:
            latest.notice.delete()
            if not _is_told(current):
                notice = _first_notice(current, base_url=base_url, at=at)
        elif latest.notice:
            notice = _tell(current, moved_from, base_url=base_url, at=at)
        return VacancyChange.objects.create(
            application=current,
            before=moved_from,
            author=author,
            at=at,
            notice=notice,
            is_undo=True,
        )


def undoable_change(application: Application) -> VacancyChange | None:
    """Return the latest change of the vacancy of `application`, None if it was undone."""
    rows = VacancyChange.objects.filter(application=application)
    latest = rows.select_related("before", "author", "notice").last()
    return None if latest is None or latest.is_undo or latest.before is None else latest


def _locked(pk: int) -> Application:
    Application.objects.select_for_update().get(pk=pk)
    return Application.objects.with_email_facts().get(pk=pk)


def _put(application: Application, vacancy: Vacancy, at: datetime) -> None:
    refuse_second(application, vacancy, but=application.pk)
    application.vacancy = vacancy
    application.is_spontaneous = Requisition.takes_open_applications(vacancy)
    application.is_repeated, application.updated_at = False, at
    application.save(update_fields=["vacancy", "is_spontaneous", "is_repeated", "updated_at"])


def _is_told(application: Application) -> bool:
    emails = Message.objects.filter(application=application, kind__in=TELLING, recipient=None)
    return emails.exclude(state=Message.State.FAILED).exists()


def _tell(
    application: Application, before: Vacancy, *, base_url: str, at: datetime
) -> Message | None:
    """Queue the email that corrects what the applicant was told of `before`, and return it. What
    waits to be sent names the wrong vacancy, and is replaced.
    """
    emails = Message.objects.filter(application=application, recipient=None)
    waiting = emails.filter(kind=Message.Kind.NOTICE, state=Message.State.QUEUED)
    was_waiting = bool(waiting.delete()[0])
    if not application.address:
        return None
    if _is_told(application):
        later = at + CANCELLABLE
        return queue_correction(application, before, base_url=base_url, at=later)
    return _first_notice(application, base_url=base_url, at=at) if was_waiting else None


def _first_notice(application: Application, *, base_url: str, at: datetime) -> Message | None:
    origin = Origin.objects.filter(application=application).first()
    if origin is None:
        return None
    origin.application = application
    return queue_notice(origin, base_url=base_url, at=at)
