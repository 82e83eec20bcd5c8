"""Erasure of an applicant on request, and again after a restore."""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ProtectedError, Q, QuerySet
from django.utils import timezone

from applications.models import Application, JobAlert
from applications.privacy import erasures
from applications.privacy.accounts import (
    NoSuchAccountError,
    StaffAccountError,
    sessions_by_account,
)
from applications.privacy.deletion import (
    BATCH,
    delete_account,
    delete_applications,
    delete_sign_ins,
)
from applications.privacy.pool import leave_again
from applications.querysets import accounts_with, folded_address


def erase(
    *, user: User | None = None, address: str = "", is_logged: bool = True, has_alerts: bool = True
) -> Counter[str]:
    """Delete an applicant: the account `user` with its applications, and all applications that were
    sent from the e-mail address `address`, in whichever account they are. If `has_alerts`, also the
    job alerts of the address, of that of the account, and of those that its applications proved.
    Return the number of deleted rows by kind.

    `address` has to be proven: the caller knows that its mailbox is the applicant's. No text is
    searched for names and addresses, because applicants choose these (docs/decisions.md #236).

    If `is_logged`, anonymous hashes are recorded: an older backup still contains the applicant (see
    `erase_again`). Raise OSError if they cannot be; then nothing is erased.

    The access log of the applications is kept: it has application ids, which no longer lead to a
    person. Raise StaffAccountError for an account of the admin, ProtectedError if other rows refer
    to the account, and NoSuchAccountError if it was erased meanwhile.
    """
    with transaction.atomic():
        users = [_locked(user)] if user else []
        own = Q(email_folded=folded_address(address)) if address else Q(pk__in=[])
        found = _lock(own | Q(user=user) if user else own)
        return _delete(found, users, {address}, is_logged=is_logged, has_alerts=has_alerts)


def erase_chosen(*, applications: Collection[int], accounts: Iterable[User]) -> Counter[str]:
    """Delete the `applications`, which somebody checked to be of one person, and `accounts`, which
    have no others. Job alerts and errors are those of `erase`.
    """
    with transaction.atomic():
        users = [_locked(each) for each in accounts]
        found = _lock(Q(pk__in=applications))
        return _delete(found, users, {each.email for each in found if not each.user_id})


def _delete(
    applications: list[Application],
    users: list[User],
    addresses: set[str],
    *,
    is_logged: bool = True,
    has_alerts: bool = True,
) -> Counter[str]:
    """Delete the locked rows, and what is stored of the `addresses` otherwise."""
    digests = [_digest_of(each) for each in applications]
    counts = delete_applications(each.pk for each in applications)
    for user in users:
        digests.append(_digest(user.pk, user.date_joined))
        counts.update(delete_account(user, sessions_by_account()))
    counts["failed_sign_ins"] += sum(delete_sign_ins(address=each) for each in addresses)
    if has_alerts:
        proven = {each.email_folded for each in applications if each.verified_at}
        proven |= {folded_address(each) for each in (*addresses, *(each.email for each in users))}
        alerts = _delete_alerts(JobAlert.objects.filter(address_folded__in=proven - {""}))
        counts["job_alerts"] = len(alerts)
        digests += alerts
    if is_logged:
        erasures.record(digests)
    return counts


def erase_alert(alert: JobAlert) -> None:
    """Delete `alert` with its emails, and record it as `erase` does:
    a restore must not bring it back.
    """
    with transaction.atomic():
        erasures.record(_delete_alerts(JobAlert.objects.filter(pk=alert.pk)))


def erase_application(*, application: Application) -> Counter[str]:
    """Delete one application, as its applicant asked. If it is all that is stored of a mailbox,
    delete its failed sign-ins too. Return the number of deleted rows by kind.
    """
    with transaction.atomic():
        found = _lock(Q(pk=application.pk))
        if not found:
            return Counter()
        address = found[0].email
        others = Application.objects.from_address(address).exclude(pk=application.pk)
        if address and not (found[0].user_id or others.exists() or accounts_with(address)):
            return erase(address=address)
        counts = delete_applications([application.pk])
        erasures.record([_digest_of(found[0])])
    return counts


def erase_again(folder: Path | None = None) -> Counter[str] | None:
    """Erase the recorded accounts and applications again, after a restore of an archive in
    `folder`. Return how many accounts were erased, how many were kept because other rows refer to
    them, how many applications of others and job alerts were erased, and how many consents to the
    talent pool ended; None if nothing is recorded. A newer account of the same name, and a newer
    application from the same address, are not erased.
    """
    digests = erasures.recorded(folder)
    if not digests:
        return None
    counts: Counter[str] = Counter(erased=0, kept=0, applications=0, job_alerts=0, left_pool=0)
    for pk, joined in (
        User._default_manager.values_list("pk", "date_joined").order_by("pk").iterator()
    ):
        if _digest(pk, joined) in digests:
            try:
                # it is in the log already, with the alerts that it had
                erase(user=User._default_manager.get(pk=pk), is_logged=False, has_alerts=False)
                counts["erased"] += 1
            except (ProtectedError, StaffAccountError):
                counts["kept"] += 1
    rows = Application.objects.order_by("pk").only("pk", "created_at", "reference", "email_folded")
    erased = {each.pk: each.email_folded for each in rows.iterator() if _digest_of(each) in digests}
    with transaction.atomic():
        counts["applications"] += delete_applications(erased)["applications"]
        for address in set(erased.values()):
            if not Application.objects.from_address(address).exists():
                delete_sign_ins(address=address)
        alerts = JobAlert.objects.order_by("pk").only("pk", "created_at")
        ended = [alert.pk for alert in alerts.iterator() if _digest_of_alert(alert) in digests]
        for start in range(0, len(ended), BATCH):
            chosen = JobAlert.objects.filter(pk__in=ended[start : start + BATCH])
            counts["job_alerts"] += len(_delete_alerts(chosen))
        counts["left_pool"] = leave_again(digests, at=timezone.now())
    return counts


def _locked(user: User) -> User:
    """Return the current row of `user`, locked."""
    row = User._default_manager.select_for_update().filter(pk=user.pk).first()
    if row is None:
        raise NoSuchAccountError("There is no account of this name.")
    if row.is_staff or row.is_superuser:
        raise StaffAccountError
    return row


def _lock(wanted: Q) -> list[Application]:
    rows = Application.objects.filter(wanted).order_by("pk").select_for_update()
    return list(rows)


def _digest(pk: int, joined: datetime) -> str:
    """Return a hash that identifies an account only to those who have its row."""
    return sha256(f"{pk} {erasures.exact(joined)}".encode()).hexdigest()


def _digest_of(application: Application) -> str:
    """Return a hash that identifies an application only to those who have its row. It is the row
    that is recorded, not the address: whoever applies again after an erasure is not erased by a
    restore.
    """
    key = (
        f"application {application.pk} {erasures.exact(application.created_at)} "
        f"{application.reference or ''}"
    )
    return sha256(key.encode()).hexdigest()


def _delete_alerts(alerts: QuerySet[JobAlert]) -> list[str]:
    """Delete `alerts` with their emails. Return the hashes that identify them."""
    found = list(alerts.select_for_update().order_by("pk"))
    JobAlert.objects.filter(pk__in=[alert.pk for alert in found]).delete()
    return [_digest_of_alert(alert) for alert in found]


def _digest_of_alert(alert: JobAlert) -> str:
    return sha256(f"alert {alert.pk} {erasures.exact(alert.created_at)}".encode()).hexdigest()
