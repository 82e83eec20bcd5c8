"""Emails that ask for a scorecard: after an interview, and in the morning about applications that
wait for the opinion of a team. Jobs of the dispatcher.
"""

from dataclasses import replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.access import waiting_for
from applications.mail.daily import LINES_MAX, DailyJob, by_vacancy
from applications.mail.links import absolute
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of, may_receive, recipients_of
from applications.models import (
    Application,
    Interview,
    Message,
    Participant,
    Scorecard,
    StageChange,
)
from jobsite.api.absolute_urls import with_query
from jobsite.text.formats import format_datetime
from vacancies.models import TeamMember


class ScorecardEmails:
    """One email per interview and colleague. Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url

    def next_due(self, at: datetime) -> tuple[int, int, datetime] | None:
        """Return the ids of an interview that ended and of a colleague who was
        not asked, and `at`.
        """
        pair = _not_asked(at)
        return (*pair, at) if pair else None

    def run(self, item: tuple[int, int, datetime]) -> str:
        """Queue the email and store that the colleague was asked, in one transaction.
        Return the outcome.
        """
        entry_id, user_id, at = item
        entry = Interview.objects.filter(pk=entry_id).first()
        if entry is None:
            return "scorecard nothing"
        with transaction.atomic():
            rows = Application.objects.select_for_update(of=("self",)).select_related("vacancy")
            application = rows.filter(pk=entry.application_id).first()
            user = User._default_manager.filter(pk=user_id).first()
            if application is None or user is None:
                return "scorecard nothing"
            card = Scorecard.of(user, application, entry)
            if card.sent_at or card.asked_at:
                return "scorecard nothing"
            card.asked_at = at
            card.save()
            is_told = recipients_of(Message.Kind.SCORECARD).filter(pk=user.pk).exists()
            may = is_told and may_receive(user, Message.Kind.SCORECARD)
            own = Application.objects.visible_to(user)
            if not (may and own.filter(pk=application.pk).exists()):
                return "scorecard nothing"
            _queue(application, entry, user, base_url=self.base_url, at=at)
        return "scorecard queued"


def _not_asked(at: datetime) -> tuple[int, int] | None:
    """Return the ids of an interview that ended, and of a colleague who takes part in it and was
    neither asked for a scorecard nor sent one.
    """
    ended = Interview.objects.ended(at=at).order_by().values("pk")
    known = Scorecard.objects.filter(entry=OuterRef("entry"), author=OuterRef("user"))
    known = known.filter(Q(sent_at__isnull=False) | Q(asked_at__isnull=False))
    rows = Participant.objects.filter(~Exists(known), entry__in=ended, user__isnull=False)
    return rows.order_by("pk").values_list("entry", "user").first()


def _queue(
    application: Application, entry: Interview, user: User, *, base_url: str, at: datetime
) -> Message:
    """Queue an email with the vacancy and a link: the name of an interview can have that of the
    applicant, which an erasure does not reach in a mailbox.
    """
    path = reverse("admin:applications_application_scorecard", args=[application.pk])
    with translation.override(language_of(user)):
        values = {"vacancy": application.vacancy.title, "time": format_datetime(entry.planned_at)}
        lines = [
            _("An interview for “%(vacancy)s” on %(time)s is over. What do you think?") % values,
            "",
            absolute(f"{path}?entry={entry.pk}", base_url),
        ]
        subject = _("Your scorecard: %(vacancy)s") % values
        email = email_to(user, Message.Kind.SCORECARD, subject, lines, base_url=base_url)
        email = replace(email, application=application, vacancies=[application.vacancy_id])
        return queue(email, at=at)


def queue_opinions(user: User, *, at: datetime, base_url: str = "") -> Message | None:
    """Queue the email: how many applications of each vacancy wait for the opinion of `user`, a
    member of its team. Return None if there are none, or none that came to their stage since the
    last email. It has no personal data of applicants.
    """
    members = TeamMember.objects.filter(user=user)
    told = members.filter(vacancy=OuterRef("vacancy")).values("told_at")
    rows = waiting_for(user).filter(vacancy__in=members.values("vacancy"))
    later = StageChange.objects.filter(application=OuterRef("pk"), at__gt=OuterRef("told_at"))
    is_new = Q(told_at=None) | Exists(later)
    if not rows.annotate(told_at=Subquery(told)).filter(is_new).exists():
        return None
    counts = by_vacancy(rows)
    total = sum(row["count"] for row in counts)
    address = absolute(reverse("admin:applications_application_yours"), base_url)
    with translation.override(language_of(user)), transaction.atomic():
        members.filter(vacancy__in=[row["vacancy"] for row in counts]).update(told_at=at)
        subject = ngettext(
            "%(count)d application for your opinion",
            "%(count)d applications for your opinion",
            total,
        )
        lines = [_("Colleagues want to know what you think:")]
        for row in counts[:LINES_MAX]:
            url = with_query(address, vacancy=row["vacancy"])
            lines += ["", f"{row['title']}: {row['count']}", url]
        lines += ["", address] if len(counts) > LINES_MAX else []
        email = email_to(
            user, OpinionEmails.kind, subject % {"count": total}, lines, base_url=base_url
        )
        return queue(replace(email, vacancies=[row["vacancy"] for row in counts]), at=at)


class OpinionEmails(DailyJob):
    """One email a day at most to each member of a team."""

    kind, queue = Message.Kind.OPINION, staticmethod(queue_opinions)

    def recipients(self, at: datetime) -> list[int]:
        members = set(TeamMember.objects.values_list("user", flat=True))
        return [pk for pk in super().recipients(at) if pk in members] if members else []
