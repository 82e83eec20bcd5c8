"""Erasure of an applicant on request, and again after a restore."""

import os
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from applications.models import Application
from applications.privacy.accounts import NoSuchAccountError, StaffAccountError, sessions_by_account
from applications.privacy.deletion import delete_account, delete_applications

User = get_user_model()


def erase(*, user: Any, is_logged: bool = True) -> Counter[str]:
    """Delete the applicant `user` and all their data. Return the number of deleted rows by kind.

    If `is_logged`, an anonymous hash is appended to ERASURE_LOG, outside the database: an older backup still
    contains the applicant (see `erase_again`).

    The access log of the applications is kept: it has application ids, which no longer lead to a person.
    Raise StaffAccountError for an account of the admin, ProtectedError if other rows refer to the account,
    and NoSuchAccountError if it was erased meanwhile.
    """
    digest = _digest(user.pk, user.date_joined)
    with transaction.atomic():
        user = User._default_manager.select_for_update().filter(pk=user.pk).first()
        if user is None:
            raise NoSuchAccountError("There is no account of this name.")
        if user.is_staff or user.is_superuser:
            raise StaffAccountError
        counts = delete_applications(Application.objects.of(user).values_list("pk", flat=True))
        counts.update(delete_account(user, sessions_by_account()))
        if settings.ERASURE_LOG and is_logged:  # before the commit: if it cannot be logged, nothing is erased
            with open(settings.ERASURE_LOG, "a", opener=partial(os.open, mode=0o600)) as log:
                log.write(f"{timezone.now():%Y-%m-%dT%H:%M:%SZ} {digest}\n")
                log.flush()
                os.fsync(log.fileno())
        return counts


def erase_again() -> Counter[str] | None:
    """Erase the accounts of ERASURE_LOG again, after a restore. Return how many were erased, and how many
    were kept because other rows refer to them; None if there is no log. A newer account of the same name is
    not erased."""
    if not settings.ERASURE_LOG or not os.path.exists(settings.ERASURE_LOG):
        return None
    with open(settings.ERASURE_LOG) as log:
        digests = {line.split()[-1] for line in log if line.strip()}
    counts: Counter[str] = Counter(erased=0, kept=0)
    for pk, joined in User._default_manager.values_list("pk", "date_joined").order_by("pk").iterator():
        if _digest(pk, joined) in digests:
            try:
                erase(user=User._default_manager.get(pk=pk), is_logged=False)  # it is in the log already
                counts["erased"] += 1
            except (ProtectedError, StaffAccountError):
                counts["kept"] += 1
    return counts


def _digest(pk: int, joined: datetime) -> str:
    """Return a hash that identifies an account only to those who have its row."""
    return sha256(f"{pk} {joined.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}".encode()).hexdigest()
