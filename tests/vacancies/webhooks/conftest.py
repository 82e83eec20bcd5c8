"""Webhooks, their job, and a receiver in this process."""

from collections import deque
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from applications.manage.events import ApplicationEvents
from jobsite.http_client import NoAnswerError, PostAnswer
from tests.conftest import NOW
from tests.vacancies.webhooks.fakes import FakeReceiver, Sent
from vacancies.webhooks import sending
from vacancies.webhooks.delivery import WebhookDelivery

THANKS = PostAnswer(200, {}, b"Thanks")


@pytest.fixture
def receiver(monkeypatch) -> FakeReceiver:
    made = FakeReceiver(deque(), THANKS, [])

    def post(url: str, body: bytes, headers: dict[str, str], **options: object) -> PostAnswer:
        made.sent.append(Sent(url, body, headers, timezone.now()))
        answer = made.answers.popleft() if made.answers else made.default
        if isinstance(answer, str):
            raise NoAnswerError(answer)
        return answer

    monkeypatch.setattr(sending, "post", post)
    return made


@pytest.fixture
def deliver(time_machine):
    """Run the job as `manage.py deliver` does, at NOW or so much later."""
    job = WebhookDelivery(ApplicationEvents())

    def run(later: timedelta = timedelta()) -> datetime:
        at = NOW + later
        time_machine.move_to(at, tick=False)
        for _ in range(1_000):
            if (item := job.next_due(at)) is None:
                return at
            job.run(item)
        raise AssertionError("The job does not end.")

    return run
