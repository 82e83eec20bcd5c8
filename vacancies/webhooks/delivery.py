"""The job of the dispatcher that sends the requests of webhooks, in a lane of its own: a slow
receiver delays nothing else.

An event is stored before it is sent, and the cursor moves after the receiver accepted it. A process
that ends in between sends the same bytes with the same id again: a receiver gets each change at
least once.
"""

from datetime import UTC, datetime, timedelta
from typing import Protocol

from django.db.models import Q

from jobsite.serving.revision import read_state
from vacancies.models import Vacancy, Webhook, WebhookAttempt
from vacancies.webhooks.events import CHANGED, look
from vacancies.webhooks.sending import send

DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
WAIT_MAX = timedelta(days=1)  # that a receiver can ask for
LOOK_EVERY = timedelta(seconds=1)  # for what no revision counts
GONE = 410
NOTHING = {  # is pending
    **dict.fromkeys(("pending_event", "pending_id", "pending_body", "pending_cursor"), ""),
    **dict.fromkeys(("pending_at", "next_at")),
    "tries": 0,
}


class Source(Protocol):
    """What another app tells webhooks with an integration. Its position is `application_cursor`."""

    def look(self, webhook: Webhook, *, at: datetime) -> bool:
        """As `vacancies.webhooks.events.look`."""

    def may_tell(self, webhook: Webhook) -> bool:
        """Whether the integration of the webhook may still know."""


class WebhookDelivery:
    """Sends the requests of webhooks, one at a time. Implements `jobsite.dispatch.Job`."""

    def __init__(self, source: Source | None = None) -> None:
        self._source, self._looked = source, datetime.min.replace(tzinfo=UTC)
        self._last = 0  # the id of the last one: they take turns
        # Nothing changed for these since the revision `_number`, and until `_until` nothing starts
        # or ends.
        self._settled: set[int] = set()
        self._told_more: set[int] = set()  # of the settled ones, those with an integration
        self._number = -1
        self._until: datetime | None = None

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        """Return the id of a webhook with a request to send or something to look for, and `at`."""
        if not Webhook.objects.active().exists():
            return None
        number = read_state().number
        if number != self._number or (self._until and at >= self._until):
            self._settled.clear()
            self._number, self._until = number, Vacancy.objects.next_change(after=at)
        if abs(at - self._looked) >= LOOK_EVERY:
            self._settled -= self._told_more
            self._looked = at
        waits = Q(pending_id="") | Q(kind=Webhook.Kind.BUILD, tries=0)
        rows = Webhook.objects.active().filter(
            Q(next_at__lte=at) | waits & ~Q(pk__in=self._settled)
        )
        pks = sorted(rows.order_by().values_list("pk", flat=True))
        pk = next((pk for pk in pks if pk > self._last), next(iter(pks), None))
        return None if pk is None else (pk, at)

    def run(self, item: tuple[int, datetime]) -> str:
        """Look for changes, and send what is due. Return the outcome."""
        self._last, at = item
        webhook = self._read()
        if webhook and self._source and _is_other(webhook) and not self._source.may_tell(webhook):
            Webhook.objects.filter(pk=webhook.pk).update(**NOTHING)
            webhook = self._read()
        if webhook and self._is_open(webhook) and not self._look(webhook, at):
            self._settled.add(webhook.pk)
            if webhook.integration_id:
                self._told_more.add(webhook.pk)
        webhook = self._read()
        if not webhook or webhook.next_at is None or webhook.next_at > at:
            return "webhook nothing"
        attempt, wait = send(webhook, at=at)
        values, outcome = _after(webhook, attempt, timedelta(seconds=wait), at)
        # Unless somebody resumed or deleted it meanwhile.
        same = Webhook.objects.active().filter(pk=webhook.pk, pending_id=webhook.pending_id)
        return outcome if same.update(**values) else "webhook nothing"

    def _read(self) -> Webhook | None:
        rows = Webhook.objects.active().select_related("brand", "integration")
        return rows.filter(pk=self._last).first()

    def _look(self, webhook: Webhook, at: datetime) -> bool:
        if self._source and webhook.integration_id and self._source.look(webhook, at=at):
            return True
        return look(webhook, at=at)

    def _is_open(self, webhook: Webhook) -> bool:
        """Whether it has no request, or one that what changes can still join."""
        is_build = webhook.kind == Webhook.Kind.BUILD and not webhook.tries
        return webhook.pk not in self._settled and (is_build or not webhook.pending_id)


def resume(webhook: Webhook) -> None:
    """Let a webhook continue from its cursor. If that has expired, its receiver is told to read the
    list anew.
    """
    values = {**NOTHING, "state": Webhook.State.ACTIVE, "told_at": None}
    Webhook.objects.filter(pk=webhook.pk).update(**values)


def _is_other(webhook: Webhook) -> bool:
    """Whether the pending event is one of the source."""
    return webhook.pending_event not in ("", CHANGED)


def _after(
    webhook: Webhook, attempt: WebhookAttempt, wait: timedelta, at: datetime
) -> tuple[dict[str, object], str]:
    """Return what changes after an attempt, and its outcome. A receiver can ask for a later one,
    not for an earlier one: it would use up the attempts.
    """
    if attempt.is_accepted:
        column = "application_cursor" if _is_other(webhook) else "cursor"
        return {**NOTHING, column: webhook.pending_cursor, "sent_at": at}, "webhook sent"
    tries = webhook.tries + 1
    if attempt.status == GONE:
        return {"tries": tries, "state": Webhook.State.PAUSED}, "webhook paused"
    if tries > len(DELAYS):
        return {"tries": tries, "state": Webhook.State.FAILED}, "webhook failed"
    next_at = at + max(DELAYS[tries - 1], min(wait, WAIT_MAX))
    return {"tries": tries, "next_at": next_at}, "webhook postponed"
