"""The job of the dispatcher that sends the requests of webhooks, in a lane of its own: a slow
receiver delays nothing else.

An event is stored before it is sent, and the cursor moves after the receiver accepted it. A process
that ends in between sends the same bytes with the same id again: a receiver gets each change at
least once.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from jobsite.serving.revision import read_state
from vacancies.models import Vacancy, Webhook
from vacancies.webhooks.events import look
from vacancies.webhooks.sending import send

DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
WAIT_MAX = timedelta(days=1)  # that a receiver can ask for
GONE = 410


class WebhookDelivery:
    """Sends the requests of webhooks, one at a time. Implements `jobsite.dispatch.Job`."""

    def __init__(self) -> None:
        self._last = 0  # the id of the last one: they take turns
        # Nothing changed for these since the revision `_number`, and until `_until` nothing starts
        # or ends.
        self._settled: set[int] = set()
        self._number, self._until = -1, None  # type: int, datetime | None

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        """Return the id of a webhook with a request to send or something to look for, and `at`."""
        if not Webhook.objects.active().exists():
            return None
        number = read_state().number
        if number != self._number or (self._until and at >= self._until):
            self._settled.clear()
            self._number, self._until = number, Vacancy.objects.next_change(after=at)
        waits = Q(pending_id="") | Q(kind=Webhook.Kind.BUILD, tries=0)
        rows = Webhook.objects.active().filter(
            Q(next_at__lte=at) & ~Q(pending_id="") | waits & ~Q(pk__in=self._settled)
        )
        pks = sorted(rows.order_by().values_list("pk", flat=True))
        pk = next((pk for pk in pks if pk > self._last), next(iter(pks), None))
        return None if pk is None else (pk, at)

    def run(self, item: tuple[int, datetime]) -> str:
        """Look for changes, and send what is due. Return the outcome."""
        self._last, at = item
        webhook = self._read()
        if webhook and self._is_open(webhook) and not look(webhook, at=at):
            self._settled.add(webhook.pk)
        webhook = self._read()
        if not webhook or webhook.next_at is None or webhook.next_at > at:
            return "webhook nothing"
        attempt, wait = send(webhook, at=at)
        with transaction.atomic():
            row = (
                Webhook.objects.active()
                .select_for_update()
                .filter(pk=webhook.pk, pending_id=webhook.pending_id)
                .first()
            )
            if row is None:  # resumed or deleted meanwhile
                return "webhook nothing"
            if attempt.is_accepted:
                _accept(row, at)
                outcome = "webhook sent"
            else:
                outcome = _postpone(row, attempt.status, timedelta(seconds=wait), at)
            row.save()
        return outcome

    def _read(self) -> Webhook | None:
        return Webhook.objects.active().select_related("brand").filter(pk=self._last).first()

    def _is_open(self, webhook: Webhook) -> bool:
        """Whether it has no request, or one that what changes can still join."""
        is_build = webhook.kind == Webhook.Kind.BUILD and not webhook.tries
        return webhook.pk not in self._settled and (is_build or not webhook.pending_id)


def resume(webhook: Webhook) -> None:
    """Let a webhook continue from its cursor. If that has expired, its receiver is told to read the
    list anew.
    """
    clear(webhook)
    webhook.state, webhook.told_at = Webhook.State.ACTIVE, None
    webhook.save()


def clear(webhook: Webhook) -> None:
    webhook.pending_id = webhook.pending_body = webhook.pending_cursor = ""
    webhook.pending_at = webhook.next_at = None
    webhook.tries = 0


def _accept(webhook: Webhook, at: datetime) -> None:
    webhook.cursor, webhook.sent_at = webhook.pending_cursor, at
    clear(webhook)


def _postpone(webhook: Webhook, status: int | None, wait: timedelta, at: datetime) -> str:
    """Plan the next attempt. A receiver can ask for a later one, not for an earlier one: it would
    use up the attempts.
    """
    webhook.tries += 1
    if status == GONE:
        webhook.state = Webhook.State.PAUSED
        return "webhook paused"
    if webhook.tries > len(DELAYS):
        webhook.state = Webhook.State.FAILED
        return "webhook failed"
    webhook.next_at = at + max(DELAYS[webhook.tries - 1], min(wait, WAIT_MAX))
    return "webhook postponed"
