"""Scheduling, changing and cancelling interviews, with the emails to those who take part.

All lock the application first, so that of two changes the later one has the higher sequence and its
emails.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction

from applications.mail import interviews as mail
from applications.models import Application, Interview, Message, Offer, Participant, Slot
from jobsite.db.transactions import dry_run

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

    entry: Interview
    colleagues: Collection[User]
    invites_applicant: bool
    seen: datetime | None = None

    def people(self) -> dict[int | None, User | None]:
        """Return who takes part by id; None is the applicant, if there is an address."""
        people: dict[int | None, User | None] = {user.pk: user for user in self.colleagues}
        if self.invites_applicant and self.entry.application.address:
            people[None] = None
        return people


def save_interview(
    plan: InterviewPlan, *, author: User | None, base_url: str = "", at: datetime
) -> list[Message]:
    """Schedule or change an interview, and tell those who take part. Return the emails that were
    queued. Raise InterviewChangedError if somebody else changed it, or another interview has its
    `uid`, and Application.DoesNotExist.
    """
    entry = plan.entry
    send = partial(_send, author=author, base_url=base_url, at=at)
    with transaction.atomic():
        entry.application = _locked(entry.application_id)
        before = Interview.objects.filter(uid=entry.uid).first()
        if before and (
            before.pk != entry.pk or before.updated_at != plan.seen or before.is_cancelled
        ):
            raise InterviewChangedError
        entry.is_visible, entry.updated_at = plan.invites_applicant, at
        if before is None:
            entry.author = author
            entry.save()
            return send(_invite(entry, plan.people()), entry)
        before.application = entry.application
        return _change(before, plan, send)


def _change(
    before: Interview, plan: InterviewPlan, send: Callable[..., list[Message]]
) -> list[Message]:
    """Save the changes of an interview that was scheduled as `before`. Return the emails."""
    entry, people = plan.entry, plan.people()
    is_moved = any(getattr(before, name) != getattr(entry, name) for name in SENT)
    kept, removed = _divided(_participants(before), people)
    for each in kept:
        del people[each.user_id]
    if is_moved or removed or people:
        before.sequence = entry.sequence = before.sequence + 1
    entry.save(update_fields=OWN)
    emails = send(removed, before, is_cancelled=True)
    for each in removed:
        each.delete()
    if entry.planned_at != before.planned_at:
        Participant.objects.filter(entry=entry).update(reply="", replied_at=None)
    added = _invite(entry, people)
    return [*emails, *send([*kept, *added] if is_moved else added, entry)]


def cancel_interviews(
    entries: Iterable[Interview], *, author: User | None, base_url: str = "", at: datetime
) -> int:
    """Cancel `entries`, those that are not cancelled yet. Those who know of one get a cancellation.
    Return how many were cancelled.
    """
    cancelled = 0
    for each in entries:
        with transaction.atomic():
            application = _locked(each.application_id)
            entry = Interview.objects.taking_place().filter(pk=each.pk).first()
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
    applications: Collection[int],
    *,
    author: User | None,
    base_url: str = "",
    before: datetime | None = None,
    at: datetime,
) -> int:
    """Cancel the interviews of `applications` that begin after `at`, and withdraw the times
    offered; or only those that begin `before`, and withdraw nothing.
    """
    if before is None:
        Offer.objects.filter(application__in=applications, entry=None).delete()
    upcoming = Interview.objects.taking_place(until=before).filter(
        application__in=applications, planned_at__gt=at
    )
    return cancel_interviews(
        upcoming.order_by("application", "pk"), author=author, base_url=base_url, at=at
    )


def reply(
    *, participant: Participant, reply: Participant.Reply, base_url: str = "", at: datetime
) -> bool:
    """Record the `reply` of `participant`. Tell the colleague who invited of a decline. Return
    whether it was another one before. A reply changes no stage: anybody can forge an email. The
    time that an applicant declines is offered to others, and is theirs again when they accept
    before somebody else chose it.
    """
    with transaction.atomic():
        rows = Participant.objects.select_for_update(of=("self",)).filter(pk=participant.pk)
        if not rows.exclude(reply=reply).update(reply=reply, replied_at=at):
            return False
        if reply == Participant.Reply.DECLINED:
            mail.queue_reply(participant, base_url=base_url, at=at)
        if participant.user_id is None:
            _hold_time(participant, is_held=reply != Participant.Reply.DECLINED)
    return True


def _hold_time(applicant: Participant, *, is_held: bool) -> None:
    for offer in Offer.objects.filter(entry=applicant.entry_id):
        if not is_held:
            Slot.objects.filter(offer=offer).update(offer=None)
        elif not Slot.objects.filter(offer=offer).exists():
            free = Slot.objects.filter(set=offer.set_id, offer=None)
            free.filter(starts_at=applicant.entry.planned_at).update(offer=offer)


def planned_emails(
    plan: InterviewPlan, *, author: User | None, base_url: str = "", at: datetime
) -> list[Message]:
    """Return the emails that `save_interview` would queue, and write nothing."""
    copied = replace(plan, entry=copy(plan.entry))
    with dry_run(True):
        return save_interview(copied, author=author, base_url=base_url, at=at)


def _locked(pk: int) -> Application:
    Application.objects.select_for_update().get(pk=pk)
    return Application.objects.with_email_facts().get(pk=pk)


def _participants(entry: Interview) -> list[Participant]:
    return list(entry.participants.select_related("user").order_by("pk"))


def _divided(
    participants: Iterable[Participant], people: Collection[int | None]
) -> tuple[list[Participant], list[Participant]]:
    """Return those who are among `people`, and the others."""
    kept: list[Participant] = []
    removed: list[Participant] = []
    for each in participants:
        (kept if each.user_id in people else removed).append(each)
    return kept, removed


def _invite(entry: Interview, people: Mapping[int | None, User | None]) -> list[Participant]:
    return [
        Participant.objects.create(
            entry=entry, user=user, address=_address(entry.application, user)
        )
        for user in people.values()
    ]


def _address(application: Application, user: User | None) -> str:
    return user.email if user else application.address


def _send(
    participants: Collection[Participant],
    entry: Interview,
    *,
    is_cancelled: bool = False,
    author: User | None,
    base_url: str,
    at: datetime,
) -> list[Message]:
    """Queue the email of each of `participants`, and return them. Waiting ones are deleted, and
    nobody gets a cancellation of what they do not know.
    """
    queued = []
    colleagues = {each.pk: each.name for each in _participants(entry) if each.user_id}
    for each in participants:
        each.entry = entry
        each.address, each.sequence = _address(entry.application, each.user), entry.sequence
        each.save(update_fields=["address", "sequence"])
        is_known = mail.forget_unsent(each)
        if is_cancelled and not is_known:
            continue
        news = _news(is_known=is_known, is_cancelled=is_cancelled)
        others = [name for pk, name in colleagues.items() if pk != each.pk]
        email = mail.queue_to(each, others, news, author=author, base_url=base_url, at=at)
        if email:
            queued.append(email)
    return queued


def _news(*, is_known: bool, is_cancelled: bool) -> mail.InterviewNews:
    if is_cancelled:
        return mail.InterviewNews.CANCELLED
    return mail.InterviewNews.CHANGED if is_known else mail.InterviewNews.INVITED
