"""The email on Mondays about applications that are in their stage for too long, a job of the dispatcher."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.mail.daily import DailyJob, morning
from applications.mail.links import absolute, settings_lines
from applications.mail.outbox import queue
from applications.mail.preferences import language_of, may_receive, recipients_of
from applications.models import Application, Message, Stage
from vacancies.models import Vacancy

MONDAY = 0
LINES_MAX = 50  # vacancies that are listed


class StaleEmails(DailyJob):
    """One email a week to each user who has such applications."""

    name = "stale"

    def recipients(self, at: datetime) -> list[int]:
        is_monday = at.astimezone(timezone.get_default_timezone()).weekday() == MONDAY
        if not is_monday or not Stage.objects.filter(remind_days__gt=0).exists():
            return []
        done = Message.objects.filter(kind=Message.Kind.STALE, queued_at__gte=morning(at)).values("recipient")
        users = recipients_of(Message.Kind.STALE).exclude(pk__in=done).order_by("-pk")
        return [user.pk for user in users if may_receive(user, Message.Kind.STALE)]

    def queue(self, user: User, *, at: datetime) -> Message | None:
        return queue_stale(user, at=at, base_url=self.base_url)


def queue_stale(user: User, *, at: datetime, base_url: str = "") -> Message | None:
    """Queue the email: how many applications of each vacancy wait too long, of those that are assigned to
    `user`, and of those that nobody has if `user` gets the daily digest. Return None if there are none."""
    own = Vacancy.objects.editable_by(user).values("pk")
    rows = Application.objects.filter(vacancy__in=own).waiting_too_long(at=at)
    mine = rows.assigned_to(user)
    if recipients_of(Message.Kind.DIGEST).filter(pk=user.pk).exists():
        mine = mine | rows.assigned_to_nobody()
    counts: list[Any] = list(
        mine.order_by()
        .values(pk_=F("vacancy"), title=F("vacancy__title"))
        .annotate(count=Count("pk", distinct=True))
        .order_by("-count", "title", "pk_")
    )
    if not counts:
        return None
    total = sum(row["count"] for row in counts)
    language = language_of(user)
    with translation.override(language), transaction.atomic():
        subject = ngettext(
            "%(count)d application waits for a decision", "%(count)d applications wait for a decision", total
        )
        return queue(
            kind=Message.Kind.STALE,
            to=user.email,
            language=language,
            subject=subject % {"count": total},
            body="\n".join(_lines(counts, base_url)),
            recipient=user,
            vacancies=[row["pk_"] for row in counts],
            at=at,
        )


def _lines(counts: list[dict[str, object]], base_url: str) -> list[str]:
    address = absolute(reverse("admin:applications_application_changelist"), base_url)
    lines = [_("These are in their stage for longer than the stage allows:")]
    for row in counts[:LINES_MAX]:
        url = f"{address}?vacancy__id__exact={row['pk_']}&waiting=long"
        lines += ["", f"{row['title']}: {row['count']}", url]
    if (more := len(counts) - LINES_MAX) > 0:
        text = ngettext("And for %(count)d more vacancy.", "And for %(count)d more vacancies.", more)
        lines += ["", text % {"count": more}, f"{address}?waiting=long"]
    return [*lines, *settings_lines(base_url)]
