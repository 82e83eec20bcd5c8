"""The daily digest for recruiters, a job of the dispatcher: how many new applications each vacancy has."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Max
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.mail.daily import DailyJob, morning
from applications.mail.links import absolute, settings_lines
from applications.mail.outbox import queue
from applications.mail.preferences import language_of, may_receive, recipients_of
from applications.models import Application, Message
from jobsite.text.formats import format_datetime
from vacancies.models import Vacancy

FIRST_PERIOD = timedelta(days=1)  # of a digest without an earlier one
PERIOD_MAX = timedelta(days=7)
LINES_MAX = 50  # vacancies that are listed


class Digest(DailyJob):
    """The digests of a day."""

    name = "digest"

    def recipients(self, at: datetime) -> list[int]:
        return recipients(at)

    def queue(self, user: User, *, at: datetime) -> Message | None:
        return queue_digest(user, at=at, base_url=self.base_url)


def recipients(at: datetime) -> list[int]:
    """Return the ids of the recruiters who get a digest on the day of `at` and have none yet."""
    done = Message.objects.filter(kind=Message.Kind.DIGEST, queued_at__gte=morning(at)).values("recipient")
    users = recipients_of(Message.Kind.DIGEST).exclude(pk__in=done)
    return [user.pk for user in users.order_by("-pk") if may_receive(user, Message.Kind.DIGEST)]


def queue_digest(user: User, *, at: datetime, base_url: str = "") -> Message | None:
    """Queue the digest of `user`: the vacancies of their brands that got applications since their last
    digest. Return None if there are none. It has no personal data of applicants."""
    earlier = Message.objects.filter(kind=Message.Kind.DIGEST, recipient=user)
    last = earlier.aggregate(at=Max("queued_at"))["at"] or at - FIRST_PERIOD
    since = max(last, at - PERIOD_MAX)
    rows = Application.objects.filter(
        created_at__gt=since,
        created_at__lte=at,
        withdrawn_at=None,
        vacancy__in=Vacancy.objects.editable_by(user).values("pk"),
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
    language = language_of(user)
    with translation.override(language), transaction.atomic():
        subject = ngettext("%(count)d new application", "%(count)d new applications", total)
        return queue(
            kind=Message.Kind.DIGEST,
            to=user.email,
            language=language,
            subject=subject % {"count": total},
            body="\n".join(_lines(counts, since, base_url)),
            recipient=user,
            vacancies=[row["pk_"] for row in counts],
            at=at,
        )


def _lines(counts: list[dict[str, object]], since: datetime, base_url: str) -> list[str]:
    address = absolute(reverse("admin:applications_application_changelist"), base_url)
    lines = [_("New applications since %(since)s:") % {"since": format_datetime(since)}]
    for row in counts[:LINES_MAX]:
        lines += ["", f"{row['title']}: {row['count']}", f"{address}?vacancy__id__exact={row['pk_']}"]
    if (more := len(counts) - LINES_MAX) > 0:
        text = ngettext("And for %(count)d more vacancy.", "And for %(count)d more vacancies.", more)
        lines += ["", text % {"count": more}, address]
    return [*lines, *settings_lines(base_url)]
