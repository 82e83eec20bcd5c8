"""Maintenance of the feed: the format of its items, and the deletion of old rows."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Max

from jobsite.models import Commit, CursorGap
from vacancies.feed.triggers import COMMIT
from vacancies.models import FeedEntry, FeedFormat, FeedTouch, TouchKind

BATCH = 10_000


def note_format(version: str) -> bool:
    """Let clients read all vacancies again if items now have another format. `version` is that of
    stored items. Return whether it is another one.
    """
    with transaction.atomic():
        known = FeedFormat.objects.select_for_update().first()
        if known and known.version == version:
            return False
        FeedFormat.objects.all().delete()
        FeedFormat.objects.create(version=version)
        if known:  # else no client has items
            _touch_all()
    return True


def _touch_all() -> None:
    connection = connections[DEFAULT_DB_ALIAS]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for statement in COMMIT.split(";"):
                cursor.execute(statement)
            cursor.execute("SELECT number FROM jobsite_revision")
        else:
            cursor.execute("INSERT INTO jobsite_pending_bump (shared) VALUES (0)")
            cursor.execute("SELECT jobsite_note_change()")
            cursor.execute("SELECT jobsite_mark()")
        (mark,) = cursor.fetchone()
    FeedTouch.objects.create(mark=mark, kind=TouchKind.ALL)


def delete_old(before: datetime) -> int:
    """Delete the commits before that time, and what they changed. Return the number of commits.
    Cursors that need them expire.
    """
    deleted = 0
    while marks := list(
        Commit.objects.filter(at__lt=before)
        .order_by("number")
        .values_list("mark", flat=True)[:BATCH]
    ):
        with transaction.atomic():
            old = Commit.objects.filter(mark__in=marks)
            last = old.aggregate(last=Max("number"))["last"]
            # A locked entry changes: it gets another mark. To wait for it could be a deadlock.
            entries = FeedEntry.objects.select_for_update(skip_locked=True)
            pks = list(entries.filter(mark__in=marks).values_list("pk", flat=True))
            FeedEntry.objects.filter(pk__in=pks).delete()
            FeedTouch.objects.filter(mark__in=marks).delete()
            deleted += old.delete()[0]
            CursorGap.objects.filter(after=-1, before__lte=last).delete()
            CursorGap.objects.create(after=-1, before=last)
    return deleted


class OldChanges:
    """Deletes, once a day, what changed more than CHANGES_KEPT_DAYS ago. Implements
    `jobsite.dispatch.Job`.
    """

    def __init__(self) -> None:
        self._next: datetime | None = None

    def next_due(self, at: datetime) -> datetime | None:
        return at if self._next is None or at >= self._next else None

    def run(self, at: datetime) -> Mapping[str, int]:
        self._next = at + timedelta(days=1)
        return {"deleted": delete_old(at - timedelta(days=settings.CHANGES_KEPT_DAYS))}
