"""What changed after the cursor of a webhook: the request that tells it."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils.crypto import get_random_string

from jobsite.serving.revision import read_state, snapshot
from jobsite.types import JsonObject
from vacancies.feed.cursor import (
    END,
    CursorError,
    CursorExpiredError,
    FeedScope,
    LiveCursor,
    decode,
    encode,
    microseconds,
)
from vacancies.feed.reading import FeedPage, read
from vacancies.models import Webhook
from vacancies.querysets import VacancyList

IDS_MAX = 100  # of an event
# Of a build hook: it waits until nothing changed for QUIET, at most BUILD_EVERY after the first
# change, and at least BUILD_EVERY after the last build.
QUIET, BUILD_EVERY = timedelta(seconds=30), timedelta(minutes=5)
CHANGED, PING, BUILD = "vacancies.changed", "ping", "build"


def scope_of(webhook: Webhook) -> FeedScope:
    """Return what the webhook reads of the feed, and so does its receiver."""
    is_internal = webhook.audience == Webhook.Audience.INTERNAL
    brand = webhook.brand
    return FeedScope(
        VacancyList.INTERNAL if is_internal else VacancyList.EXTERNAL,
        brand.pk if brand else None,
        brand.slug if brand else "",
    )


def cursor_now(webhook: Webhook, *, at: datetime) -> str:
    """Return the cursor of a client that has the list as it is at `at`."""
    return _now(scope_of(webhook), read_state().number, at)


def body_of(kind: str, at: datetime, data: JsonObject) -> bytes:
    event = {"type": kind, "timestamp": at.isoformat(), "data": data}
    return json.dumps(event, separators=(",", ":")).encode()


def new_id() -> str:
    return f"msg_{get_random_string(22)}"


def look(webhook: Webhook, *, at: datetime) -> bool:
    """Store the request about what changed after the cursor, or postpone a build that is not sent
    yet. Return False if nothing changed.
    """
    scope = scope_of(webhook)
    cursor = webhook.pending_cursor or webhook.cursor
    with snapshot() as state:  # writes follow after it
        number = (state or read_state()).number
        try:
            position = decode(cursor, scope)
            page = read(position, scope, IDS_MAX, now=at, number=number)
            while not page.changes and page.has_more:
                page = read(page.cursor, scope, IDS_MAX, now=at, number=number)
        except (CursorError, CursorExpiredError):
            page, cursor = FeedPage([], LiveCursor(0, END, 0, END, 0), True), ""
    if not page.changes and cursor:
        # The cursor has moved if much was skipped, so that it is not read again.
        if (moved := encode(page.cursor, scope)) != cursor and not webhook.pending_id:
            _rows(webhook).filter(pending_id="").update(cursor=moved)
        return False
    if webhook.kind == Webhook.Kind.BUILD:
        _plan_build(webhook, _now(scope, number, at), at)
    else:
        following = encode(page.cursor, scope) if cursor else _now(scope, number, at)
        ids = dict.fromkeys(change.id for change in page.changes)
        _store_event(webhook, ids, cursor, following, has_more=page.has_more, at=at)
    return True


def _now(scope: FeedScope, number: int, at: datetime) -> str:
    return encode(LiveCursor(number, END, microseconds(at), END, number), scope)


def _store_event(
    webhook: Webhook,
    ids: Iterable[int],
    since: str,
    following: str,
    *,
    has_more: bool,
    at: datetime,
) -> None:
    """Without `since`, what changed is not known any more: the receiver reads the list anew."""
    data = {"ids": [*ids], "more": has_more, "since": since or None}
    _rows(webhook).filter(pending_id="").update(
        pending_id=new_id(),
        pending_body=body_of(CHANGED, at, data).decode(),
        pending_cursor=following,
        pending_at=at,
        next_at=at,
    )


def _plan_build(webhook: Webhook, following: str, at: datetime) -> None:
    first = webhook.pending_at or at
    next_at = min(at + QUIET, first + BUILD_EVERY)
    if webhook.sent_at:
        next_at = max(next_at, webhook.sent_at + BUILD_EVERY)
    _rows(webhook).filter(pending_id=webhook.pending_id, tries=0).update(
        pending_id=webhook.pending_id or new_id(),
        pending_cursor=following,
        pending_at=first,
        next_at=next_at,
    )


def _rows(webhook: Webhook) -> QuerySet[Webhook]:
    """The row, unless somebody resumed or changed it meanwhile."""
    return Webhook.objects.active().filter(pk=webhook.pk, cursor=webhook.cursor)
