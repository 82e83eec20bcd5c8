"""Times that applicants choose from: offering them, and choosing one.

Choosing locks the set, then its colleagues in order, then the application. So two applicants cannot
get one time, nor two times of one colleague that overlap.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from applications.mail.interviews import queue_offer
from applications.models import (
    Application,
    Interview,
    Message,
    Offer,
    Participant,
    Slot,
    SlotSet,
)
from applications.operations.interviews import InterviewPlan, save_interview
from jobsite.db.transactions import dry_run

SLOTS_MAX = 40


class TakenError(Exception):
    """Somebody else has the time, or a colleague has another interview then."""


class ChoiceClosedError(Exception):
    """The times can no longer be chosen, or the chosen one no longer given up."""


@dataclass(frozen=True, kw_only=True)
class OfferedTimes:
    """The times `starts` of `slot_set`, which is new, for interviews with `colleagues`. They are
    offered to `applications` of its vacancy.
    """

    slot_set: SlotSet
    starts: Sequence[datetime]
    colleagues: Collection[User]
    applications: Collection[int]


def offer_slots(times: OfferedTimes, *, base_url: str = "", at: datetime) -> list[Message]:
    """Offer `times`. Each of the applications gets an email; those without an address or withdrawn
    get none and no offer. Return the emails.
    """
    slot_set = times.slot_set
    with transaction.atomic():
        rows = Application.objects.filter(
            pk__in=times.applications, vacancy=slot_set.vacancy_id, withdrawn_at=None
        )
        list(rows.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))
        people = [each for each in rows.with_email_facts().order_by("pk") if each.address]
        slot_set.save()
        slot_set.colleagues.set(times.colleagues)
        Slot.objects.bulk_create(Slot(set=slot_set, starts_at=start) for start in times.starts)
        offers = [Offer.objects.create(set=slot_set, application=each) for each in people]
        return [queue_offer(offer, base_url=base_url, at=at) for offer in offers]


def planned_offers(times: OfferedTimes, *, base_url: str = "", at: datetime) -> list[Message]:
    """Return the emails that `offer_slots` would queue, and write nothing."""
    with dry_run(True):
        return offer_slots(times, base_url=base_url, at=at)


def open_offers(application: Application, *, at: datetime) -> QuerySet[Offer]:
    """Return the offers of `application` in which a time can be chosen at `at`, or is chosen and to
    come.
    """
    is_open = Q(entry=None, set__closes_at__gt=at) | Q(entry__planned_at__gt=at)
    rows = Offer.objects.filter(is_open, application=application)
    return rows.select_related("set", "entry", "slot").order_by("pk")


def free_slots(slot_set: SlotSet, *, at: datetime) -> list[Slot]:
    """Return the times of `slot_set` that can be chosen at `at`. Those at which a colleague has
    another interview are left out.
    """
    earliest = at + timedelta(hours=slot_set.notice_hours)
    slots = list(slot_set.slots.filter(offer=None, starts_at__gt=earliest))
    if not slots:
        return []
    length = timedelta(minutes=slot_set.minutes)
    busy: list[Any] = list(
        _interviews_of(slot_set.colleagues.all())
        .filter(ends_at__gt=slots[0].starts_at, planned_at__lt=slots[-1].starts_at + length)
        .values_list("planned_at", "ends_at")
    )
    return [
        slot
        for slot in slots
        if not any(start < slot.starts_at + length and slot.starts_at < end for start, end in busy)
    ]


def is_changeable(offer: Offer, *, at: datetime) -> bool:
    """Return whether the applicant may still choose, or choose another time."""
    if offer.entry is None:
        return offer.set.closes_at > at
    return offer.entry.planned_at - timedelta(hours=offer.set.notice_hours) > at


def choose(*, offer: Offer, slot: Slot, base_url: str = "", at: datetime) -> Interview:
    """Give `slot` to `offer`, instead of the one that it had, and schedule the interview. Raise
    TakenError, ChoiceClosedError, or Offer.DoesNotExist if the offer was withdrawn.
    """
    with transaction.atomic():
        slot_set = SlotSet.objects.select_for_update().get(pk=offer.set_id)
        colleagues = list(
            User.objects.filter(pk__in=slot_set.colleagues.values("pk"))
            .order_by("pk")
            .select_for_update()
        )
        Application.objects.select_for_update().get(pk=offer.application_id)
        offer = Offer.objects.select_related("set", "entry").get(pk=offer.pk)
        starts_at = slot.starts_at
        ends_at = starts_at + timedelta(minutes=slot_set.minutes)
        earliest = at + timedelta(hours=slot_set.notice_hours)
        if slot.set_id != slot_set.pk or starts_at <= earliest or not is_changeable(offer, at=at):
            raise ChoiceClosedError
        Slot.objects.filter(offer=offer).update(offer=None)
        if not Slot.objects.filter(pk=slot.pk, offer=None).update(offer=offer):
            raise TakenError
        entry = offer.entry or Interview(
            application_id=offer.application_id, uid=secrets.token_hex(16)
        )
        others = _interviews_of(colleagues).exclude(pk=entry.pk)
        if others.filter(ends_at__gt=starts_at, planned_at__lt=ends_at).exists():
            raise TakenError
        seen = entry.updated_at
        entry.planned_at, entry.ends_at = starts_at, ends_at
        for name in ("name", "zone", "place", "video_url", "details"):
            setattr(entry, name, getattr(slot_set, name))
        plan = InterviewPlan(entry=entry, colleagues=colleagues, invites_applicant=True, seen=seen)
        save_interview(plan, author=slot_set.author, base_url=base_url, at=at)
        chosen = Participant.objects.filter(entry=entry, user=None)
        chosen.update(reply=Participant.Reply.ACCEPTED, replied_at=at)
        Offer.objects.filter(pk=offer.pk).update(entry=entry)
    return entry


def _interviews_of(colleagues: Collection[User] | QuerySet[User]) -> QuerySet[Interview]:
    """Those that one of the colleagues takes part in, and that the applicant did not decline."""
    declined = Participant.objects.filter(reply=Participant.Reply.DECLINED)
    busy = Participant.objects.filter(user__in=colleagues).exclude(reply=Participant.Reply.DECLINED)
    rows = Interview.objects.taking_place().filter(pk__in=busy.values("entry"))
    return rows.exclude(pk__in=declined.filter(user=None).values("entry"))
