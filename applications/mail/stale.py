"""The email on Mondays about applications that are in their stage for too long, a job of the
dispatcher.
"""

from dataclasses import replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.mail.daily import DailyJob, by_vacancy, lines_of
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of, recipients_of
from applications.models import Application, Message, Stage

MONDAY = 0


def queue_stale(user: User, *, at: datetime, base_url: str = "") -> Message | None:
    """Queue the email: how many applications of each vacancy wait too long, of those that are
    assigned to `user`, and of those that nobody has if `user` gets the daily digest. Return None if
    there are none.
    """
    rows = Application.objects.visible_to(user).waiting_too_long(at=at)
    mine = rows.assigned_to(user)
    if recipients_of(Message.Kind.DIGEST).filter(pk=user.pk).exists():
        mine = mine | rows.assigned_to_nobody()
    counts = by_vacancy(mine)
    if not counts:
        return None
    total = sum(row["count"] for row in counts)
    with translation.override(language_of(user)), transaction.atomic():
        subject = ngettext(
            "%(count)d application waits for a decision",
            "%(count)d applications wait for a decision",
            total,
        )
        lines = [_("These are in their stage for longer than the stage allows:")]
        lines += lines_of(counts, base_url, waiting="long")
        email = email_to(
            user, StaleEmails.kind, subject % {"count": total}, lines, base_url=base_url
        )
        return queue(replace(email, vacancies=[row["vacancy"] for row in counts]), at=at)


class StaleEmails(DailyJob):
    """One email a week to each user who has such applications."""

    kind, queue = Message.Kind.STALE, staticmethod(queue_stale)

    def recipients(self, at: datetime) -> list[int]:
        is_monday = at.astimezone(timezone.get_default_timezone()).weekday() == MONDAY
        has_limits = is_monday and Stage.objects.filter(remind_days__gt=0).exists()
        return super().recipients(at) if has_limits else []
