"""Leaving the talent pool. It is recorded as an erasure is: a restore must not bring it back."""

from collections.abc import Collection
from datetime import datetime
from hashlib import sha256

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from applications.models import Application, ConsentRequest
from applications.operations.pool import of_applicant
from applications.privacy import erasures

NO = ConsentRequest.Answer.NO


def leave_pool(*, application: Application, at: datetime) -> None:
    """Record that the applicant does not agree, or does not any more: neither with this application
    nor with another one from their account or address to the brand. Raise OSError if it cannot be
    recorded; then nothing changes.
    """
    day = timezone.localdate(at)
    with transaction.atomic():
        rows = _unended().filter(application__in=of_applicant(application).order_by().values("pk"))
        found = rows.filter(Q(answer="", due_on__gte=day) | Q(answer="yes", until__gte=day))
        ended = _end(found, at)
        erasures.record(map(_digest, ended))


def leave_again(digests: Collection[str], *, at: datetime) -> int:
    """End the consents and questions that `digests` name, after a restore. Return their number."""
    named = [each.pk for each in _unended().iterator() if _digest(each) in digests]
    return len(_end(ConsentRequest.objects.filter(pk__in=named), at))


def _unended() -> QuerySet[ConsentRequest]:
    return ConsentRequest.objects.of_pool().exclude(answer=NO).filter(left_at=None).order_by("pk")


def _end(rows: QuerySet[ConsentRequest], at: datetime) -> list[ConsentRequest]:
    found = list(rows.select_for_update())
    for each in found:
        if each.answer:
            each.left_at = at
        else:
            each.answer, each.answered_at = NO, at
    ConsentRequest.objects.bulk_update(found, ["left_at", "answer", "answered_at"], batch_size=500)
    return found


def _digest(request: ConsentRequest) -> str:
    """Return a hash that identifies a request only to those who have its row."""
    return sha256(f"pool {request.pk} {erasures.exact(request.asked_at)}".encode()).hexdigest()
