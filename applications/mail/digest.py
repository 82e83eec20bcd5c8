"""The daily digest for recruiters, as work of the dispatcher: how many new applications each vacancy has."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Count, F, Max
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.mail.links import absolute
from applications.mail.outbox import queue
from applications.models import Application, DigestOptOut, Message
from jobsite.formats import format_datetime
from jobsite.languages import site_language
from vacancies.models import Vacancy

SENT_FROM = time(7)  # in the site's time zone
FIRST_PERIOD = timedelta(days=1)  # of a digest without an earlier one
PERIOD_MAX = timedelta(days=7)
LINES_MAX = 50  # vacancies that are listed


class Digest:
    """The digests of a day, one recruiter at a time. Implements `jobsite.dispatch.Work`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._day: date | None = None
        self._waiting: list[int] = []

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        """Return the id of a recruiter who gets today's digest, and `at`."""
        local = at.astimezone(timezone.get_default_timezone())
        if local.time() < SENT_FROM:
            return None
        if self._day != local.date():
            self._waiting = recipients(at)
            self._day = local.date()
        return (self._waiting[-1], at) if self._waiting else None

    def do(self, item: tuple[int, datetime]) -> str:
        """Queue the digest of a recruiter, unless nothing is new. Return the outcome: queued or nothing."""
        pk, at = item
        user = get_user_model().objects.filter(pk=pk, is_active=True).first()
        outcome = "queued" if user and queue_digest(user, at=at, base_url=self.base_url) else "nothing"
        self._waiting.remove(pk)
        return f"digest {outcome}"


def recipients(at: datetime) -> list[int]:
    """Return the ids of the recruiters who get a digest on the day of `at` and have none yet."""
    local = at.astimezone(timezone.get_default_timezone())
    begin = local.replace(hour=SENT_FROM.hour, minute=0, second=0, microsecond=0)
    done = Message.objects.filter(kind=Message.Kind.DIGEST, queued_at__gte=begin).values("recipient")
    users = get_user_model().objects.filter(is_active=True, is_staff=True).exclude(email="")
    users = users.exclude(pk__in=DigestOptOut.objects.values("user")).exclude(pk__in=done)
    return [user.pk for user in users.order_by("-pk") if user.has_perm("applications.view_application")]


def queue_digest(user: Any, *, at: datetime, base_url: str = "") -> Message | None:
    """Queue the digest of `user`: the vacancies of their brands that got applications since their last
    digest. Return None if there are none. It has no personal data of applicants."""
    earlier = Message.objects.filter(kind=Message.Kind.DIGEST, recipient=user)
    last = earlier.aggregate(at=Max("queued_at"))["at"] or at - FIRST_PERIOD
    since = max(last, at - PERIOD_MAX)
    rows = Application.objects.filter(
        created_at__gt=since,
        created_at__lte=at,
        withdrawn_at=None,
        vacancy__in=Vacancy.objects.workable_by(user).values("pk"),
    )
    counts: list[Any] = list(
        rows.order_by()
        .values(pk_=F("vacancy"), title=F("vacancy__title"))
        .annotate(count=Count("*"))
        .order_by("-count", "title", "pk_")
    )
    if not counts:
        return None
    total = sum(row["count"] for row in counts)
    language = site_language()
    with translation.override(language), transaction.atomic():
        subject = ngettext("%(count)d new application", "%(count)d new applications", total)
        return queue(
            kind=Message.Kind.DIGEST,
            to=user.email,
            language=language,
            subject=subject % {"count": total},
            body="\n".join(_lines(counts, since, base_url)),
            recipient=user,
            at=at,
        )


def _lines(counts: list[dict[str, Any]], since: datetime, base_url: str) -> list[str]:
    address = absolute(reverse("admin:applications_application_changelist"), base_url)
    lines = [_("New applications since %(since)s:") % {"since": format_datetime(since)}]
    for row in counts[:LINES_MAX]:
        lines += ["", f"{row['title']}: {row['count']}", f"{address}?vacancy__id__exact={row['pk_']}"]
    if (more := len(counts) - LINES_MAX) > 0:
        text = ngettext("And for %(count)d more vacancy.", "And for %(count)d more vacancies.", more)
        lines += ["", text % {"count": more}, address]
    switch = absolute(reverse("admin:applications_message_digest"), base_url)
    return [*lines, "", _("Switch this daily email off:"), switch]
