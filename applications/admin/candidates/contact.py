"""When somebody was last in contact with a person: they applied, were sent an email or had an
interview.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db.models import Max, Q, QuerySet

from applications.models import HistoryEntry, Message


def contacted_since(applications: Any, since: datetime, *, at: datetime) -> QuerySet:
    """Return the `applications` with a contact between `since` and `at`."""
    emails, interviews = _emails(), _interviews(at)
    found: QuerySet = applications.filter(
        Q(created_at__gte=since)
        | Q(pk__in=emails.filter(finished_at__gte=since).values("application"))
        | Q(pk__in=interviews.filter(planned_at__gte=since).values("application"))
    )
    return found


def last_contacts(pks: Collection[int], *, at: datetime) -> dict[int, datetime]:
    """Return the latest email or interview of the applications `pks` that have one."""
    found: dict[int, datetime] = {}
    for rows, column in ((_emails(), "finished_at"), (_interviews(at), "planned_at")):
        latest = rows.filter(application__in=pks).order_by().values("application")
        for pk, when in latest.annotate(last=Max(column)).values_list("application", "last"):
            found[pk] = max(when, found.get(pk, when))
    return found


def _emails() -> QuerySet:
    sent = Message.objects.filter(recipient=None, state=Message.State.SENT)
    return sent.filter(finished_at__isnull=False, application__isnull=False)


def _interviews(at: datetime) -> QuerySet:
    return HistoryEntry.objects.filter(is_cancelled=False, planned_at__lte=at).exclude(uid="")
