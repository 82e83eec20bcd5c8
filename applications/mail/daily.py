"""Emails that a colleague gets once a day, a job of the dispatcher."""

from datetime import date, datetime, time

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.utils import timezone

from applications.models import Message

SENT_FROM = time(7)  # in the site's time zone


def morning(at: datetime) -> datetime:
    """Return the time from which emails of the day of `at` are sent."""
    local = at.astimezone(timezone.get_default_timezone())
    return local.replace(hour=SENT_FROM.hour, minute=0, second=0, microsecond=0)


class DailyJob:
    """The emails of a day, one user at a time. Implements `jobsite.dispatch.Job`."""

    name = ""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._day: date | None = None
        self._waiting: list[int] = []

    def recipients(self, at: datetime) -> list[int]:
        """Return the ids of the users who may get an email on the day of `at`."""
        raise NotImplementedError

    def queue(self, user: User, *, at: datetime) -> Message | None:
        """Queue the email of `user`. Return None if there is nothing to tell."""
        raise NotImplementedError

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        """Return the id of a user who gets today's email, and `at`."""
        if at < morning(at):
            return None
        day = morning(at).date()
        if self._day != day:
            self._waiting = self.recipients(at)
            self._day = day
        return (self._waiting[-1], at) if self._waiting else None

    def run(self, item: tuple[int, datetime]) -> str:
        """Queue the email of a user, unless there is nothing to tell. Return the outcome."""
        pk, at = item
        user = get_user_model().objects.filter(pk=pk, is_active=True).first()
        outcome = "queued" if user and self.queue(user, at=at) else "nothing"
        self._waiting.remove(pk)
        return f"{self.name} {outcome}"
