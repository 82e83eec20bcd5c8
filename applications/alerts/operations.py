"""Writes of job alerts: sign-up, confirmation, frequency, new values.
`privacy.erase_alert` ends them.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import quote

from django.db import transaction

from applications.alerts.mail import queue_confirmation
from applications.alerts.queries import values_of
from applications.mail.outbox import is_one_too_many
from applications.models import JobAlert, Message, ToldVacancy
from applications.models.alert import QUERY_MAX
from applications.querysets import folded_address
from jobsite.api import parameters
from jobsite.db.locks import lock_transaction
from vacancies.filtersets import filter_name

UNCONFIRMED_FOR = timedelta(days=7)
CONFIRMED_FOR = timedelta(days=365)
CONFIRMATION_RATE = "3/hour"  # emails to a mailbox: anybody can cause them


def sign_up(*, alert: JobAlert, base_url: str = "", at: datetime) -> None:
    """Store `alert`, which is new, and send the link that confirms it, or shows it if it is
    confirmed already. Nothing is stored and sent if the mailbox got too many links.
    """
    alert.address_folded = folded_address(alert.address)
    alert.created_at, alert.ends_at = at, at + UNCONFIRMED_FOR
    with transaction.atomic():
        lock_transaction(f"job alerts of {alert.address_folded}")
        kinds = (Message.Kind.ALERT_CONFIRMATION,)
        is_refused = is_one_too_many(kinds, alert.address, CONFIRMATION_RATE, at)
        with transaction.atomic():
            # The same statements for every address, so that the time does not tell which of them
            # has an alert, or got many links.
            JobAlert.objects.bulk_create([alert], ignore_conflicts=True)
            equal = JobAlert.objects.filter(
                address_folded=alert.address_folded,
                query=alert.query,
                brand=alert.brand_id,
                frequency=alert.frequency,
            )
            stored = equal.select_for_update(of=("self",)).get()
            if stored.confirmed_at is None:
                stored.language, stored.ends_at = alert.language, max(stored.ends_at, alert.ends_at)
            stored.save(update_fields=["language", "ends_at"])
            queue_confirmation(stored, base_url=base_url, at=at)
            transaction.set_rollback(is_refused)


def confirm(alert: JobAlert, *, at: datetime) -> None:
    """Confirm `alert`, for a year; not again while it is confirmed."""
    waiting = JobAlert.objects.filter(pk=alert.pk, confirmed_at=None)
    waiting.update(confirmed_at=at, told_at=at, ends_at=at + CONFIRMED_FOR)


def set_frequency(alert: JobAlert, frequency: str) -> None:
    """Change how often `alert` tells, instead of an equal alert that already tells so."""
    with transaction.atomic():
        lock_transaction(f"job alerts of {alert.address_folded}")
        same = JobAlert.objects.filter(
            address_folded=alert.address_folded,
            query=alert.query,
            brand=alert.brand_id,
            frequency=frequency,
        )
        same.exclude(pk=alert.pk).delete()
        JobAlert.objects.filter(pk=alert.pk).update(frequency=frequency)


def replace_values(keyword: str, new: Mapping[str, str], **_signal: object) -> None:
    """Replace values of the filter `keyword` in all queries, because options were merged or
    renamed. Of alerts that become equal, one is kept, a confirmed one if possible. It has told what
    the others told.
    """
    name = filter_name(keyword)
    for alert in (
        JobAlert.objects.filter(query__contains=quote(name)).order_by("pk").select_for_update()
    ):
        values = values_of(alert.query)
        chosen = values.get(name, "").split(",")
        values[name] = ",".join(sorted({new.get(each, each) for each in chosen}))
        query = parameters.encode({**values})
        if new.keys().isdisjoint(chosen) or len(query) > QUERY_MAX:
            continue
        same = JobAlert.objects.filter(
            address_folded=alert.address_folded,
            query=query,
            brand=alert.brand_id,
            frequency=alert.frequency,
        )
        kept, *others = sorted(
            (alert, *same), key=lambda each: (each.confirmed_at is None, each.pk)
        )
        for other in others:
            told = ToldVacancy.objects.filter(alert=other)
            told.exclude(vacancy__in=kept.told.values("vacancy")).update(alert=kept)
            other.messages.update(alert=kept)
            other.delete()
        JobAlert.objects.filter(pk=kept.pk).update(query=query)
