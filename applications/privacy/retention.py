"""Deletion of personal data after the retention period."""

from collections import Counter
from datetime import datetime, timedelta

from axes import models as axes
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models import Max, ProtectedError, Q, QuerySet
from django.utils import timezone

from applications.models import (
    AccessLog,
    Application,
    ConsentRequest,
    FormSnapshot,
    HistoryEntry,
    IdempotencyKey,
    Invitation,
    JobAlert,
    Message,
    Offer,
    Origin,
    Outgoing,
    PersonChange,
    Token,
    ToldVacancy,
    UsedProof,
)
from applications.models.origin import INFORMED_WITHIN
from applications.privacy.accounts import sessions_by_account
from applications.privacy.deletion import delete_account, delete_applications, delete_tokens
from applications.submissions import idempotency
from jobsite.days import days_after
from vacancies.models import Vacancy, purge_unsaved

COLLEAGUE_MAIL_AGE = timedelta(days=30)  # mentions, digests, invitations: no data of applicants
ALERT_MAIL_AGE = timedelta(days=7)  # there may be as many each day as alerts
TOLD_AGE = timedelta(days=60)
# After the end of a job alert, whose owner the dispatcher asks at the end.
NOT_ASKED_AGE = timedelta(days=30)


def purge(*, before: datetime | None, now: datetime) -> Counter[str]:
    """Delete applications that did not change since `before`, or for the days of their vacancy if
    it has a period of its own, have no step and no choice of times that is not over, and are not in
    the talent pool; those of
    `not_permitted`; applicants' accounts without applications that are as old; and what
    `purge_credentials` deletes. Return the number of deleted rows by kind.

    `before` is the begin of the site's period. If it is None, the site has none: only applications
    to vacancies with their own period are deleted. Accounts with a role (staff, a group, a
    permission), a valid token or other referring rows are kept.
    """
    with transaction.atomic():
        coming = Q(planned_at__gte=now) | Q(ends_at__gte=now)
        upcoming = HistoryEntry.objects.filter(coming, is_cancelled=False).values("application")
        offered = Offer.objects.filter(set__closes_at__gte=now).values("application")
        old = Application.objects.filter(_is_old(before, now)).exclude(pk__in=upcoming)
        pool = ConsentRequest.objects.in_pool(timezone.localdate(now)).order_by()
        old = old.exclude(pk__in=offered).exclude(pk__in=pool.values("application"))
        stale = old.select_for_update(of=("self",))
        counts = delete_applications(stale.values_list("pk", flat=True))
        counts.update(delete_applications(_not_permitted(now)))
        if before:
            # the access log of applications that were deleted, now or by erasure
            existing = Application.objects.values("pk")
            accesses = AccessLog.objects.filter(~Q(application__in=existing), at__lt=before)
            counts["accesses"] = accesses.delete()[0]
    counts.update(purge_credentials(before=before, now=now))
    if before:
        counts.update(_purge_accounts(before))
    return counts


def not_permitted(now: datetime) -> QuerySet[Application]:
    """Return the applications that colleagues added and that may not be stored any longer: the
    applicant was asked for a consent and did not answer in time, or did not apply and was not told
    in time.
    """
    unanswered = ConsentRequest.objects.filter(
        purpose=ConsentRequest.Purpose.APPLICATION, answer="", due_on__lt=timezone.localdate(now)
    )
    untold = Origin.objects.filter(
        basis=Origin.Basis.INTEREST, informed_at=None, added_at__lt=now - INFORMED_WITHIN
    )
    named = Q(pk__in=unanswered.values("application")) | Q(pk__in=untold.values("application"))
    rows = Application.objects.filter(named).order_by()
    return rows.exclude(pk__in=list(rows.hired().values_list("pk", flat=True)))


def _not_permitted(now: datetime) -> list[int]:
    """Return the ids of those, locked: the applicant may be answering."""
    locked = Application.objects.filter(
        pk__in=list(not_permitted(now).values_list("pk", flat=True))
    )
    list(locked.order_by("pk").select_for_update())
    return list(not_permitted(now).values_list("pk", flat=True))


def _purge_accounts(before: datetime) -> Counter[str]:
    """Delete the idle accounts. Return the number of deleted rows by kind, and of accounts that
    were kept.
    """
    counts: Counter[str] = Counter()
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


def _is_old(before: datetime | None, now: datetime) -> Q:
    """Match applications whose retention period is over."""
    periods = Vacancy.objects.exclude(applications_kept_days=None).order_by(
        "applications_kept_days"
    )
    old = Q(vacancy__applications_kept_days=None, updated_at__lt=before) if before else Q(pk__in=[])
    for days in periods.values_list("applications_kept_days", flat=True).distinct():
        assert days is not None
        old |= Q(vacancy__applications_kept_days=days, updated_at__lt=days_after(now, -days))
    return old


def purge_credentials(*, before: datetime | None = None, now: datetime) -> Counter[str]:
    """Delete expired tokens, sessions, failed sign-ins, idempotency keys and proofs, emails to
    colleagues and invitations that are older than COLLEAGUE_MAIL_AGE or `before`, emails of job
    alerts that are older than ALERT_MAIL_AGE, job alerts that were not confirmed in time, or that
    nobody was asked about because the career site is off, unsaved input of recruiters, and
    snapshots of forms without a submission, and which applications changed long ago. Return the
    number of deleted rows by kind.
    """
    with transaction.atomic():
        counts = delete_tokens(Token.objects.filter(expiry__lt=now))
        counts["sessions"] += Session.objects.filter(expire_date__lt=now).delete()[0]
        expired = now - settings.AXES_COOLOFF_TIME
        counts["failed_sign_ins"] += axes.AccessAttempt.objects.filter(
            attempt_time__lt=expired
        ).delete()[0]
        keys = IdempotencyKey.objects.filter(created_at__lte=now - idempotency.KEY_AGE)
        counts["idempotency_keys"] = keys.delete()[0]
        counts["used_proofs"] = UsedProof.objects.filter(expires_at__lte=now).delete()[0]
        since = max(now - COLLEAGUE_MAIL_AGE, before or now - COLLEAGUE_MAIL_AGE)
        own = Message.objects.filter(application=None, alert=None, finished_at__lt=since)
        counts["emails_to_colleagues"] = own.delete()[0]
        sent = Message.objects.filter(alert__isnull=False, finished_at__lt=now - ALERT_MAIL_AGE)
        counts["emails_of_alerts"] = sent.delete()[0]
        ended = Q(confirmed_at=None, ends_at__lt=now) | Q(ends_at__lt=now - NOT_ASKED_AGE)
        counts["job_alerts"] = (
            JobAlert.objects.filter(ended).delete()[1].get(JobAlert._meta.label, 0)
        )
        _forget_told(now)
        counts["unsaved_input"] = purge_unsaved(now=now)
        forgotten = Invitation.objects.filter(sent_at__lt=since).delete()[1]
        counts["invitations"] = forgotten.get(Invitation._meta.label, 0)
        # The last mark stays: on SQLite, the next one is higher than it.
        last = Outgoing.objects.aggregate(mark=Max("mark"))["mark"] or 0
        told = Outgoing.objects.filter(at__lt=now - Outgoing.KEPT, mark__lt=last)
        PersonChange.objects.filter(at__lt=now - PersonChange.KEPT).delete()
        counts["changes_of_applications"] = told.delete()[0]
    counts["form_snapshots"] = _purge_snapshots()
    return counts


def _forget_told(now: datetime) -> None:
    """Delete that alerts told of vacancies which began long ago and are closed."""
    open_ones = Vacancy.objects.published(at=now).order_by()
    closed = Vacancy.objects.filter(publish_from__lt=now - TOLD_AGE).exclude(
        pk__in=open_ones.values("pk")
    )
    ToldVacancy.objects.filter(vacancy__in=closed.order_by().values("pk")).delete()


def _purge_snapshots() -> int:
    """Delete the snapshots of forms that no submission has. Return their number.

    A submission may refer to one at this moment. Then it is kept: by the lock if the submission is
    not committed, by the error if it is.
    """
    count = 0
    for pk in FormSnapshot.objects.filter(submissions=None).values_list("pk", flat=True):
        try:
            with transaction.atomic():
                row = FormSnapshot.objects.select_for_update(skip_locked=True).filter(pk=pk).first()
                count += row.delete()[0] if row else 0
        except (ProtectedError, IntegrityError):
            continue
    return count


def _idle_accounts(before: datetime) -> QuerySet[User]:
    return User._default_manager.filter(
        Q(last_login=None) | Q(last_login__lt=before),
        is_staff=False,
        is_superuser=False,
        groups=None,
        user_permissions=None,
        applications=None,
        auth_token_set=None,
        integration=None,
        date_joined__lt=before,
    ).order_by("pk")
