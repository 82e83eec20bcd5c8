"""Deletion of personal data after the retention period."""

from collections import Counter
from datetime import datetime
from typing import Any

from axes import models as axes
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import ProtectedError, Q

from applications.models import AccessLog, Application, HistoryEntry, IdempotencyKey, Token, UsedProof
from applications.privacy.accounts import sessions_by_account
from applications.privacy.deletion import delete_account, delete_applications, delete_tokens
from applications.submissions import idempotency

User = get_user_model()


def purge(*, before: datetime, now: datetime) -> Counter[str]:
    """Delete applications that did not change since `before` and have no step in the future, applicants'
    accounts without applications that are as old, and expired tokens, sessions and failed sign-ins. Return
    the number of deleted rows by kind.

    Accounts with a role (staff, a group, a permission), a valid token or other referring rows are kept.
    """
    with transaction.atomic():
        upcoming = HistoryEntry.objects.filter(planned_at__gte=now).values("application")
        old = Application.objects.filter(updated_at__lt=before).exclude(pk__in=upcoming)
        stale = old.select_for_update()
        counts = delete_applications(stale.values_list("pk", flat=True))
        # the access log of applications that were deleted, now or by erasure
        existing = Application.objects.values("pk")
        accesses = AccessLog.objects.filter(~Q(application__in=existing), at__lt=before)
        counts["accesses"] = accesses.delete()[0]
        counts.update(purge_credentials(now=now))
    sessions = sessions_by_account()
    for user in list(_idle_accounts(before)):
        try:
            with transaction.atomic():
                # Locked and read again: its owner may have signed in since the list was read.
                User._default_manager.select_for_update().filter(pk=user.pk).first()
                for idle in _idle_accounts(before).filter(pk=user.pk):
                    counts.update(delete_account(idle, sessions))
        except ProtectedError:
            counts["accounts_kept"] += 1
    return counts


def purge_credentials(*, now: datetime) -> Counter[str]:
    """Delete expired tokens, sessions, failed sign-ins, idempotency keys and used proofs. Return the number
    of deleted rows by kind."""
    with transaction.atomic():
        counts = delete_tokens(Token.objects.filter(expiry__lt=now))
        counts["sessions"] += Session.objects.filter(expire_date__lt=now).delete()[0]
        expired = now - settings.AXES_COOLOFF_TIME
        counts["failed_sign_ins"] += axes.AccessAttempt.objects.filter(attempt_time__lt=expired).delete()[0]
        old_keys = IdempotencyKey.objects.filter(created_at__lte=now - idempotency.KEPT)
        counts["idempotency_keys"] += old_keys.delete()[0]
        counts["used_proofs"] += UsedProof.objects.filter(expires_at__lte=now).delete()[0]
    return counts


def _idle_accounts(before: datetime) -> Any:
    return User._default_manager.filter(
        Q(last_login=None) | Q(last_login__lt=before),
        is_staff=False,
        is_superuser=False,
        groups=None,
        user_permissions=None,
        applications=None,
        auth_token_set=None,
        date_joined__lt=before,
    ).order_by("pk")
