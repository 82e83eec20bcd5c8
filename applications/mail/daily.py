"""Emails that a colleague gets once a day at most, a job of the dispatcher."""

from datetime import date, datetime, time
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import Count, F, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext

from applications.mail.links import absolute
from applications.mail.preferences import may_receive, recipients_of
from applications.models import Message
from jobsite.api.absolute_urls import with_query

SENT_FROM = time(7)  # in the site's time zone
LINES_MAX = 50  # vacancies that are listed


def morning(at: datetime) -> datetime:
    """Return the time from which emails of the day of `at` are sent."""
    local = at.astimezone(timezone.get_default_timezone())
    return local.replace(hour=SENT_FROM.hour, minute=0, second=0, microsecond=0)


class DailyJob:
    """The emails of a day, one user at a time. Implements `jobsite.dispatch.Job`."""

    kind: Message.Kind

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._day: date | None = None
        self._waiting: list[int] = []

    def recipients(self, at: datetime) -> list[int]:
        """Return the ids of the users who may get an email on the day of `at`,
        and have none yet.
        """
        done = Message.objects.filter(kind=self.kind, queued_at__gte=morning(at)).values(
            "recipient"
        )
        users = recipients_of(self.kind).exclude(pk__in=done).order_by("-pk")
        return [user.pk for user in users if may_receive(user, self.kind)]

    @staticmethod
    def queue(user: User, *, at: datetime, base_url: str) -> Message | None:
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
        message = self.queue(user, at=at, base_url=self.base_url) if user else None
        self._waiting.remove(pk)
        return f"{self.kind} {'queued' if message else 'nothing'}"


def by_vacancy(applications: QuerySet) -> list[Any]:
    """Return how many of `applications` each vacancy has:
    rows with `vacancy`, an id, `title` and `count`.
    """
    rows = applications.order_by().values("vacancy", title=F("vacancy__title"))
    return list(
        rows.annotate(count=Count("pk", distinct=True)).order_by("-count", "title", "vacancy")
    )


def lines_of(counts: list[Any], base_url: str, **filters: str) -> list[str]:
    """Return lines with the `counts` of `by_vacancy`, each with a link to the
    list with `filters`.
    """
    address, lines = absolute(reverse("admin:applications_application_changelist"), base_url), []
    for row in counts[:LINES_MAX]:
        url = with_query(address, vacancy__id__exact=row["vacancy"], **filters)
        lines += ["", f"{row['title']}: {row['count']}", url]
    if (more := len(counts) - LINES_MAX) > 0:
        text = ngettext(
            "And for %(count)d more vacancy.", "And for %(count)d more vacancies.", more
        )
        lines += ["", text % {"count": more}, with_query(address, **filters)]
    return lines
