"""Writes of job alerts: sign-up, confirmation, frequency, new values. `privacy.erase_alert` ends them."""

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
from vacancies.models import Brand

UNCONFIRMED_FOR = timedelta(days=7)
CONFIRMED_FOR = timedelta(days=365)
CONFIRMATION_RATE = "3/hour"  # emails to a mailbox: anybody can cause them


def sign_up(
    *,
    address: str,
    query: str,
    brand: Brand | None,
    frequency: str,
    language: str,
    base_url: str = "",
    at: datetime,
) -> None:
    """Store an alert, and send the link that confirms it, or shows it if it is confirmed already. Nothing is
    stored and sent if the mailbox got too many links."""
    folded = folded_address(address)
    with transaction.atomic():
        lock_transaction(f"job alerts of {folded}")
        is_refused = is_one_too_many((Message.Kind.ALERT_CONFIRMATION,), address, CONFIRMATION_RATE, at)
        with transaction.atomic():
            # The same statements for every address, so that the time does not tell which of them has an
            # alert, or got many links.
            wanted = {"address_folded": folded, "query": query, "brand": brand, "frequency": frequency}
            ends_at = at + UNCONFIRMED_FOR
            new = JobAlert(address=address, language=language, created_at=at, ends_at=ends_at, **wanted)
            JobAlert.objects.bulk_create([new], ignore_conflicts=True)
            alert = JobAlert.objects.select_for_update(of=("self",)).get(**wanted)
            if alert.confirmed_at is None:
                alert.language, alert.ends_at = language, max(alert.ends_at, ends_at)
            alert.save(update_fields=["language", "ends_at"])
            queue_confirmation(alert, base_url=base_url, at=at)
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
            address_folded=alert.address_folded, query=alert.query, brand=alert.brand_id, frequency=frequency
        )
        same.exclude(pk=alert.pk).delete()
        JobAlert.objects.filter(pk=alert.pk).update(frequency=frequency)


def replace_values(keyword: str, new: Mapping[str, str], **_signal: object) -> None:
    """Replace values of the filter `keyword` in all queries, because options were merged or renamed. Of
    alerts that become equal, one is kept, a confirmed one if possible. It has told what the others told."""
    name = filter_name(keyword)
    for alert in JobAlert.objects.filter(query__contains=quote(name)).order_by("pk").select_for_update():
        values = values_of(alert.query)
        chosen = values.get(name, "").split(",")
        values[name] = ",".join(sorted({new.get(each, each) for each in chosen}))
        query = parameters.encode({**values})
        if new.keys().isdisjoint(chosen) or len(query) > QUERY_MAX:
            continue
        same = JobAlert.objects.filter(
            address_folded=alert.address_folded, query=query, brand=alert.brand_id, frequency=alert.frequency
        )
        kept, *others = sorted((alert, *same), key=lambda each: (each.confirmed_at is None, each.pk))
        for other in others:
            told = ToldVacancy.objects.filter(alert=other)
            told.exclude(vacancy__in=kept.told.values("vacancy")).update(alert=kept)
            other.messages.update(alert=kept)
            other.delete()
        JobAlert.objects.filter(pk=kept.pk).update(query=query)
