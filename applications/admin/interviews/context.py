"""What the page of an application shows of its interviews."""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User

from applications.models import Application, HistoryEntry
from applications.operations.slots import free_slots, open_offers
from jobsite.text.formats import format_date
from jobsite.types import Context


def interviews_context(
    user: User, application: Application, entries: Iterable[HistoryEntry], *, now: datetime
) -> Context:
    """Return the interviews and tasks `entries` of `application`, for its page."""
    shown = [_interview(entry, application, user, now=now) for entry in entries]
    offers = [
        {
            "offer": each,
            "free": len(free_slots(each.set, at=now)),
            "until": format_date(each.set.last_day),
        }
        for each in open_offers(application, at=now)
        if each.entry is None
    ]
    return {"interviews": shown, "offers": offers}


def _interview(
    entry: HistoryEntry, application: Application, user: User, *, now: datetime
) -> Context:
    entry.application = application
    people = list(entry.participants.all())
    is_over = entry.ends_at is not None and entry.ends_at <= now
    mine = next((each for each in people if each.user_id == user.pk), None)
    return {
        "entry": entry,
        "people": people,
        "is_over": is_over,
        "mine": mine if mine and not (is_over or entry.is_cancelled) else None,
    }
