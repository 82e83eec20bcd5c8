"""What webhooks with an integration are told about applications: which came in, changed or are
gone. Their receivers read the applications as the integration may, so events have ids only.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models.functions import Coalesce
from django.utils import timezone

from applications.manage import reading
from applications.manage.items import permitted
from applications.manage.reading import OutgoingCursor
from applications.models import Application, Outgoing
from jobsite.api.cursors import CursorError, CursorExpiredError
from jobsite.types import JsonObject
from vacancies.manage.authentication import NO_BRAND
from vacancies.models import Brand, IntegrationScope, Webhook
from vacancies.webhooks.events import event_of, store

RECEIVED, MOVED, GONE = "application.received", "application.moved", "application.gone"
RENEWED = timedelta(days=1).total_seconds()  # the cursor of a webhook without changes
POSITION = "application_cursor"
_NO_BRAND = 0  # as in `Outgoing`, and for the cursor of a webhook, which is of several brands


@dataclass
class Event:
    """Changes of one kind in one brand that follow each other. `last`: the last row that it tells
    or skips.
    """

    kind: str = MOVED
    brand: int = _NO_BRAND
    pks: list[int] = field(default_factory=list)
    last: Outgoing | None = None


class ApplicationEvents:
    """Implements `vacancies.webhooks.delivery.Source`."""

    def may_tell(self, webhook: Webhook) -> bool:
        of = webhook.integration
        return bool(of and of.is_enabled and IntegrationScope.APPLICATIONS in of.scopes)

    def look(self, webhook: Webhook, *, at: datetime) -> bool:
        if not self.may_tell(webhook):
            return False
        try:
            cursor = reading.decode(webhook.application_cursor, _NO_BRAND, now=at)
        except (CursorError, CursorExpiredError):
            data: JsonObject = {"brand": None, "ids": [], "more": True, "since": None}
            values = {"pending_cursor": cursor_now(at)} | event_of(MOVED, at, data)
            return store(webhook, at, POSITION, values)
        slugs = _brands(webhook)
        rows = reading.changed(cursor, slugs)
        event = _first_event(rows, cursor, slugs, at)
        has_more = bool(rows) and event.last is not rows[-1]
        following = reading.encode(reading.after(cursor, event.last, now=at, has_more=has_more))
        if event.pks:
            since = reading.encode(replace(cursor, brand=event.brand))
            data = {"brand": slugs[event.brand], "ids": event.pks, "more": has_more, "since": since}
            values = {"pending_cursor": following} | event_of(event.kind, at, data)
        elif event.last or at.timestamp() - cursor.at > RENEWED:
            values = {POSITION: following}
        else:
            return False
        return store(webhook, at, POSITION, values)


def begin(sender: object, instance: Webhook, **kwargs: object) -> None:
    """pre_save receiver: a webhook is told what changes after it was added."""
    if instance.integration_id and not instance.application_cursor:
        instance.application_cursor = cursor_now(timezone.now())


def cursor_now(at: datetime) -> str:
    return reading.encode(replace(reading.begin(_NO_BRAND, now=at), walked=reading.END))


def _brands(webhook: Webhook) -> dict[int, str]:
    """Return the slugs of the brands that the webhook is told about, by id."""
    integration: Any = webhook.integration
    brands = Brand.objects.all() if integration.every_brand else integration.brands.all()
    if webhook.brand_id:
        brands = brands.filter(pk=webhook.brand_id)
    slugs = dict(brands.values_list("pk", "slug"))
    is_all = integration.every_brand and not webhook.brand_id
    return slugs | ({_NO_BRAND: NO_BRAND} if is_all else {})


def _first_event(
    rows: list[Outgoing], cursor: OutgoingCursor, brands: Collection[int], at: datetime
) -> Event:
    groups = [list(group) for _, group in groupby(rows, lambda row: (row.mark, row.application))]
    if len(rows) > reading.PAGE:  # the rest of the last one may follow
        groups.pop()
    pks = [group[0].application for group in groups]
    of_brand = Coalesce("vacancy__brand", _NO_BRAND)
    brand_of = dict(Application.objects.filter(pk__in=pks).values_list("pk", of_brand))
    readable = set(permitted(pks, now=at).values_list("pk", flat=True))
    event = Event()
    for group in groups:
        pk = group[0].application
        told = _told(group, brand_of.get(pk, -1), brands, is_readable=pk in readable)
        if told:
            is_new = (told.entered or 0, pk) > (cursor.mark, cursor.last)
            kind = GONE if told.is_gone else RECEIVED if is_new else MOVED
            if event.pks and (kind, told.brand) != (event.kind, event.brand):
                break
            event.kind, event.brand = kind, told.brand
            event.pks.append(pk)
        event.last = group[-1]
    return event


def _told(
    group: list[Outgoing], brand: int, brands: Collection[int], *, is_readable: bool
) -> Outgoing | None:
    """Return the row that says what changed of an application that is of `brand` now, None if the
    receiver is told nothing, or is told by a later row.
    """
    if brand in brands:
        rows = [row for row in group if is_readable and row.brand == brand and not row.is_gone]
    else:
        rows = [row for row in group if row.is_gone and row.entered is not None]
    return rows[0] if rows else None
