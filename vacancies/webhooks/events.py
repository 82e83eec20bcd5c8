"""What changed after the cursor of a webhook: the request that tells it."""

import json
from datetime import datetime, timedelta

from django.utils.crypto import get_random_string

from jobsite.api.cursors import END
from jobsite.serving.revision import read_state, snapshot
from jobsite.types import JsonObject
from vacancies.feed import cursor as cursors
from vacancies.feed.reading import FeedPage, read
from vacancies.models import Webhook
from vacancies.querysets import VacancyList

IDS_MAX = 100  # of an event
# Of a build hook: it waits until nothing changed for QUIET, at most BUILD_EVERY after the first
# change, and at least BUILD_EVERY after the last build.
QUIET, BUILD_EVERY = timedelta(seconds=30), timedelta(minutes=5)
CHANGED, PING, BUILD = "vacancies.changed", "ping", "build"


def scope_of(webhook: Webhook) -> cursors.FeedScope:
    """Return what the webhook reads of the feed, and so does its receiver."""
    is_internal = webhook.audience == Webhook.Audience.INTERNAL
    listed = VacancyList.INTERNAL if is_internal else VacancyList.EXTERNAL
    brand = webhook.brand
    return cursors.FeedScope(listed, webhook.brand_id, brand.slug if brand else "")


def cursor_now(webhook: Webhook, *, at: datetime) -> str:
    """Return the cursor of a client that has the list as it is at `at`."""
    return cursors.encode(_now(read_state().number, at), scope_of(webhook))


def body_of(kind: str, at: datetime, data: JsonObject) -> str:
    event = {"type": kind, "timestamp": at.isoformat(), "data": data}
    return json.dumps(event, separators=(",", ":"))


def new_id() -> str:
    return f"msg_{get_random_string(22)}"


def event_of(kind: str, at: datetime, data: JsonObject) -> JsonObject:
    """Return the columns of a webhook that has an event to send."""
    return {"pending_event": kind, "pending_body": body_of(kind, at, data), "next_at": at}


def store(webhook: Webhook, at: datetime, position: str, values: JsonObject) -> bool:
    """Write `values`, unless somebody resumed or changed the webhook meanwhile, of which `position`
    names the column of the cursor. Return whether there is something to send.
    """
    if has_changed := "next_at" in values:
        values["pending_id"] = webhook.pending_id or new_id()
        values["pending_at"] = webhook.pending_at or at
    same = {name: getattr(webhook, name) for name in ("pk", position, "pending_id", "tries")}
    Webhook.objects.active().filter(**same).update(**values)
    return has_changed


def look(webhook: Webhook, *, at: datetime) -> bool:
    """Store the request about what changed after the cursor, or postpone a build that is not sent
    yet. Return False if nothing changed.
    """
    scope = scope_of(webhook)
    cursor = webhook.pending_cursor or webhook.cursor
    with snapshot() as state:  # writes follow after it
        number = (state or read_state()).number
        try:
            page = read(cursors.decode(cursor, scope), scope, IDS_MAX, now=at, number=number)
            while not page.changes and page.has_more:
                page = read(page.cursor, scope, IDS_MAX, now=at, number=number)
        except (cursors.CursorError, cursors.CursorExpiredError):
            page, cursor = FeedPage([], _now(number, at), True), ""  # to be read anew
    following = cursors.encode(page.cursor, scope)
    values: JsonObject
    if not page.changes and cursor:
        # The cursor has moved if much was skipped, so that it is not read again.
        values = {"pending_cursor" if webhook.pending_id else "cursor": following}
    elif webhook.kind == Webhook.Kind.BUILD:
        now = cursors.encode(_now(number, at), scope)
        values = {"pending_cursor": now, "next_at": _due(webhook, at)}
    else:
        ids = [*dict.fromkeys(change.id for change in page.changes)]
        data = {"ids": ids, "more": page.has_more, "since": cursor or None}
        values = {"pending_cursor": following} | event_of(CHANGED, at, data)
    return store(webhook, at, "cursor", values)


def _now(number: int, at: datetime) -> cursors.LiveCursor:
    return cursors.LiveCursor(number, END, cursors.microseconds(at), END, number)


def _due(webhook: Webhook, at: datetime) -> datetime:
    """Return when a build is due that a change at `at` needs."""
    due = min(at + QUIET, (webhook.pending_at or at) + BUILD_EVERY)
    return max(due, webhook.sent_at + BUILD_EVERY) if webhook.sent_at else due
