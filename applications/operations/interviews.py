"""Scheduling, changing and cancelling interviews, with the emails to those who take part.

All lock the application first, so that of two changes the later one has the higher sequence and its
emails.
"""

from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction

from applications.mail import interviews as mail
from applications.mail.outbox import planned
from applications.models import Application, HistoryEntry, Message, Offer, Participant

# A change of one of these is sent to all who take part; one of the name or the result is not.
SENT = ("planned_at", "ends_at", "zone", "place", "video_url", "details")
OWN = ("name", "result", *SENT, "is_visible", "sequence", "updated_at")


class InterviewChangedError(Exception):
    """Somebody else changed, cancelled or scheduled it in the meantime."""


@dataclass(frozen=True, kw_only=True)
class InterviewPlan:
    """The interview `entry`, which is new or has new values, with the `colleagues` who take part.
    The applicant sees it if `invites_applicant`, and is invited if there is an address. `seen` is
    its last change that the author read, its `updated_at`.
    """

    entry: HistoryEntry
    colleagues: Collection[User]
    invites_applicant: bool
    seen: datetime | None = None


def save_interview(
    plan: InterviewPlan, *, author: User | None, base_url: str = "", at: datetime
) -> None:
    """Schedule or change an interview, and tell those who take part. Raise InterviewChangedError if
    somebody else changed it, or another interview has its `uid`, and Application.DoesNotExist.
    """
    entry, invites_applicant = plan.entry, plan.invites_applicant
    with transaction.atomic():
        application = _locked(entry.application_id)
        before = HistoryEntry.objects.filter(uid=entry.uid).first()
        if before and (
            before.pk != entry.pk or before.updated_at != plan.seen or before.is_cancelled
        ):
            raise InterviewChangedError
        entry.application = application
        entry.is_visible, entry.updated_at = invites_applicant, at
        is_moved = before is not None and any(getattr(before, n) != getattr(entry, n) for n in SENT)
        wanted: dict[int | None, User | None] = {user.pk: user for user in plan.colleagues}
        if invites_applicant and application.address:
            wanted[None] = None
        current = {each.user_id: each for each in _participants(before)} if before else {}
        removed = [each for pk, each in current.items() if pk not in wanted]
        if before is None:
            entry.author = author
            entry.save()
        else:
            if is_moved or removed or wanted.keys() - current.keys():
                before.application = application
                before.sequence = entry.sequence = before.sequence + 1
            entry.save(update_fields=OWN)
            _send(removed, before, is_cancelled=True, author=author, base_url=base_url, at=at)
            for each in removed:
                each.delete()
        kept = [each for pk, each in current.items() if pk in wanted]
        if before and entry.planned_at != before.planned_at:
            Participant.objects.filter(entry=entry).update(reply="", replied_at=None)
        added = [
            Participant.objects.create(entry=entry, user=user, address=_address(application, user))
            for pk, user in wanted.items()
            if pk not in current
        ]
        _send([*(kept if is_moved else ()), *added], entry, author=author, base_url=base_url, at=at)


def cancel_interviews(
    entries: Iterable[HistoryEntry], *, author: User | None, base_url: str = "", at: datetime
) -> int:
    """Cancel `entries`, those that are not cancelled yet. Those who know of one get a cancellation.
    Return how many were cancelled.
    """
    cancelled = 0
    for each in entries:
        with transaction.atomic():
            application = _locked(each.application_id)
            entry = HistoryEntry.objects.interviews().filter(pk=each.pk).first()
            if entry is None:
                continue
            entry.application = application
            entry.is_cancelled, entry.updated_at = True, at
            entry.sequence += 1
            entry.save(update_fields=["is_cancelled", "sequence", "updated_at"])
            Offer.objects.filter(entry=entry).delete()  # the time is free again
            _send(
                _participants(entry),
                entry,
                is_cancelled=True,
                author=author,
                base_url=base_url,
                at=at,
            )
            cancelled += 1
    return cancelled


def cancel_upcoming(
    applications: Collection[int], *, author: User | None, base_url: str = "", at: datetime
) -> int:
    """Cancel the interviews of `applications` that begin after `at`, and withdraw the times
    offered.
    """
    Offer.objects.filter(application__in=applications, entry=None).delete()
    upcoming = HistoryEntry.objects.interviews().filter(
        application__in=applications, planned_at__gt=at
    )
    return cancel_interviews(
        upcoming.order_by("application", "pk"), author=author, base_url=base_url, at=at
    )


def reply(
    *, participant: Participant, reply: Participant.Reply, base_url: str = "", at: datetime
) -> bool:
    """Record the `reply` of `participant`. Tell the colleague who invited of a decline. Return
    whether it was another one before. A reply changes no stage: anybody can forge an email.
    """
    with transaction.atomic():
        rows = Participant.objects.select_for_update(of=("self",)).filter(pk=participant.pk)
        if not rows.exclude(reply=reply).update(reply=reply, replied_at=at):
            return False
        if reply == Participant.Reply.DECLINED:
            mail.queue_reply(participant, base_url=base_url, at=at)
    return True


def planned_emails(
    plan: InterviewPlan, *, author: User | None, base_url: str = "", at: datetime
) -> list[Message]:
    """Return the emails that `save_interview` would queue, and write nothing."""
    copied = replace(plan, entry=copy(plan.entry))
    save = partial(save_interview, copied, author=author, base_url=base_url, at=at)
    return planned(save, [plan.entry.application_id])


def _locked(pk: int) -> Application:
    Application.objects.select_for_update().get(pk=pk)
    return Application.objects.with_email_facts().get(pk=pk)


def _participants(entry: HistoryEntry) -> list[Participant]:
    return list(entry.participants.select_related("user").order_by("pk"))


def _address(application: Application, user: User | None) -> str:
    return user.email if user else application.address


def _send(
    participants: Collection[Participant],
    entry: HistoryEntry,
    *,
    is_cancelled: bool = False,
    author: User | None,
    base_url: str,
    at: datetime,
) -> None:
    """Queue the email of each of `participants`. Waiting ones are deleted, and nobody gets a
    cancellation of what they do not know.
    """
    colleagues = {each.pk: each.name for each in _participants(entry) if each.user_id}
    for each in participants:
        each.entry = entry
        each.address, each.sequence = _address(entry.application, each.user), entry.sequence
        each.save(update_fields=["address", "sequence"])
        is_known = mail.forget_unsent(each)
        if is_cancelled and not is_known:
            continue
        news = mail.InterviewNews.CHANGED if is_known else mail.InterviewNews.INVITED
        if is_cancelled:
            news = mail.InterviewNews.CANCELLED
        others = [name for pk, name in colleagues.items() if pk != each.pk]
        mail.queue_to(each, others, news, author=author, base_url=base_url, at=at)
