"""Emails a day before an interview, a job of the dispatcher."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet

from applications.mail.interviews import queue_reminder
from applications.models import Interview, Message, Participant

BEFORE = timedelta(days=1)
INVITED_BEFORE = timedelta(hours=12)  # who was invited or told of a change later needs no reminder
PERIOD = timedelta(minutes=1)  # between two searches


class InterviewReminders:
    """Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._searched_at: datetime | None = None

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        """Return the id of a participant who was not reminded of the time of the interview, and
        `at`.
        """
        if self._searched_at and self._searched_at <= at < self._searched_at + PERIOD:
            return None
        pk = _due(at).values_list("pk", flat=True).first()
        if pk is None:
            self._searched_at = at
            return None
        return pk, at

    def run(self, item: tuple[int, datetime]) -> str:
        """Remind the participant, unless they were told within the last hours.
        Return the outcome.
        """
        pk, at = item
        with transaction.atomic():
            # Locked, so that a change waits, and deletes the reminder of an old time.
            Participant.objects.select_for_update().filter(pk=pk).first()
            participant = _due(at).select_related("user", "entry").filter(pk=pk).first()
            if participant is None:
                return "reminder gone"
            Participant.objects.filter(pk=pk).update(reminded_for=participant.entry.planned_at)
            told = Message.objects.filter(participant=pk, queued_at__gt=at - INVITED_BEFORE)
            if told.exists():
                return "reminder unneeded"
            queue_reminder(participant, base_url=self.base_url, at=at)
        return "reminder queued"


def _due(at: datetime) -> QuerySet[Participant]:
    coming = Interview.objects.taking_place(until=at + BEFORE).filter(planned_at__gt=at)
    rows = Participant.objects.filter(entry__in=coming).exclude(reply=Participant.Reply.DECLINED)
    new = Q(reminded_for=None) | ~Q(reminded_for=F("entry__planned_at"))
    return rows.filter(new).order_by("entry__planned_at", "pk")
