"""Emails about webhooks that failed, a job of the dispatcher. The rows of the webhooks are the queue
(`Webhook.told_at`).
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from applications.mail.links import absolute
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of, may_receive, recipients_of
from applications.models import Message
from vacancies.models import Webhook

KIND = Message.Kind.WEBHOOK


class WebhookEmails:
    """One email to the owner of each webhook that failed. Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        """Return the id of a webhook whose owner is not told yet, and `at`."""
        pk = _untold().order_by("pk").values_list("pk", flat=True).first()
        return (pk, at) if pk else None

    def run(self, item: tuple[int, datetime]) -> str:
        """Queue the email and store that, in one transaction. Return the outcome."""
        pk, at = item
        with transaction.atomic():
            webhook = _untold().select_for_update().filter(pk=pk).first()
            if webhook is None:
                return "webhook email nothing"
            webhook.told_at = at
            webhook.save(update_fields=["told_at"])
            owner = recipients_of(KIND).filter(pk=webhook.owner_id or 0).first()
            is_told = owner is not None and may_receive(owner, KIND)
            if owner and is_told:
                _queue(owner, webhook, self.base_url, at)
        return "webhook email queued" if is_told else "webhook email nothing"


def _untold() -> QuerySet[Webhook]:
    return Webhook.objects.filter(state=Webhook.State.FAILED, told_at=None)


def _queue(owner: User, webhook: Webhook, base_url: str, at: datetime) -> None:
    with translation.override(language_of(owner)):
        subject = _("The webhook %(name)s failed") % {"name": webhook.name}
        lines = [
            _("Its receiver did not accept ten attempts. Nothing more is sent to it."),
            _("Correct the address or the receiver, then resume the webhook:"),
            absolute(reverse("admin:vacancies_webhook_change", args=[webhook.pk]), base_url),
        ]
        queue(email_to(owner, KIND, subject, lines, base_url=base_url), at=at)
