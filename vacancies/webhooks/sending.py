"""One request of a webhook."""

import re
from datetime import datetime
from time import monotonic

from django.conf import settings
from django.utils.http import parse_http_date_safe

from jobsite.http_client import NoAnswerError, PostAnswer, RequestRefusedError, post
from vacancies.models import Webhook, WebhookAttempt
from vacancies.webhooks.events import BUILD, PING, body_of, new_id
from vacancies.webhooks.signing import signed

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def test(webhook: Webhook, *, at: datetime) -> WebhookAttempt:
    """Send a `ping`, or start a build. Return the attempt."""
    webhook.pending_event, webhook.pending_id = PING, new_id()
    webhook.pending_body = body_of(PING, at, {})
    return send(webhook, at=at)[0]


def send(webhook: Webhook, *, at: datetime) -> tuple[WebhookAttempt, float]:
    """Send what is pending. Return the attempt, and the seconds that the receiver asks to wait."""
    event, body = webhook.pending_event, webhook.pending_body.encode()
    headers = {"User-Agent": f"jobsite/{settings.VERSION}"}
    if webhook.kind == Webhook.Kind.BUILD:
        event, body = BUILD, b""
    else:
        headers |= {"Content-Type": "application/json"}
        headers |= signed(webhook, webhook.pending_id, body, at=at)
    attempt = WebhookAttempt(webhook=webhook, at=at, event=event)
    begin, wait = monotonic(), 0.0
    try:
        answer = post(
            webhook.url,
            body,
            headers,
            networks=settings.WEBHOOK_ALLOW_NETWORKS,
            ports=settings.WEBHOOK_PORTS,
        )
    except (RequestRefusedError, NoAnswerError) as error:
        attempt.reason = str(error)
    else:
        attempt.status, wait = answer.status, _retry_after(answer, at)
        text = _CONTROL.sub("", answer.body.decode(errors="replace"))
        attempt.answer = text[: WebhookAttempt.ANSWER_MAX]
    attempt.milliseconds = round((monotonic() - begin) * 1000)
    attempt.save()
    old = webhook.attempts.values_list("pk", flat=True)[WebhookAttempt.KEPT :]
    WebhookAttempt.objects.filter(pk__in=list(old)).delete()
    return attempt, wait


def _retry_after(answer: PostAnswer, at: datetime) -> float:
    text = answer.headers.get("Retry-After", "").strip()
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text)
    date = parse_http_date_safe(text)
    return 0.0 if date is None else date - at.timestamp()
