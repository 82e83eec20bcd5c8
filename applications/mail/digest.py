"""The daily digest for recruiters, a job of the dispatcher:
how many new applications each vacancy has.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.mail.daily import DailyJob, by_vacancy, lines_of
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of
from applications.models import Application, Message
from jobsite.text.formats import format_datetime
from vacancies.models import Vacancy

FIRST_PERIOD = timedelta(days=1)  # of a digest without an earlier one
PERIOD_MAX = timedelta(days=7)


def queue_digest(user: User, *, at: datetime, base_url: str = "") -> Message | None:
    """Queue the digest of `user`: the vacancies of their brands that got applications since their
    last digest. Return None if there are none. It has no personal data of applicants.
    """
    earlier = Message.objects.filter(kind=Message.Kind.DIGEST, recipient=user)
    last = earlier.aggregate(at=Max("queued_at"))["at"] or at - FIRST_PERIOD
    since = max(last, at - PERIOD_MAX)
    rows = Application.objects.filter(
        created_at__gt=since,
        created_at__lte=at,
        withdrawn_at=None,
        vacancy__in=Vacancy.objects.editable_by(user).values("pk"),
    )
    counts = by_vacancy(rows)
    if not counts:
        return None
    total = sum(row["count"] for row in counts)
    with translation.override(language_of(user)), transaction.atomic():
        subject = ngettext("%(count)d new application", "%(count)d new applications", total)
        lines = [_("New applications since %(since)s:") % {"since": format_datetime(since)}]
        lines += lines_of(counts, base_url)
        email = email_to(user, Digest.kind, subject % {"count": total}, lines, base_url=base_url)
        return queue(replace(email, vacancies=[row["vacancy"] for row in counts]), at=at)


class Digest(DailyJob):
    """The digests of a day."""

    kind, queue = Message.Kind.DIGEST, staticmethod(queue_digest)
