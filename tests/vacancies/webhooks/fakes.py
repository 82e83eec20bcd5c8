"""What tests of webhooks share."""

import json
from collections import deque
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from jobsite.http_client import PostAnswer
from tests.conftest import NOW
from vacancies.models import Webhook
from vacancies.webhooks.events import cursor_now


class Sent(NamedTuple):
    url: str
    body: bytes
    headers: dict[str, str]
    at: datetime

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)  # type: ignore[no-any-return]

    @property
    def ids(self) -> list[int]:
        return self.event["data"]["ids"]  # type: ignore[no-any-return]


class FakeReceiver(NamedTuple):
    """It gives each of `answers` once, then the default. A text is why there is no answer."""

    answers: deque[PostAnswer | str]
    default: PostAnswer
    sent: list[Sent]

    def refuse(self, status: int = 500, times: int = 1, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.extend([PostAnswer(status, named, b"No")] * times)

    @property
    def ids(self) -> list[int]:
        """The ids of all events, in order."""
        return [pk for each in self.sent for pk in each.ids]


def make_webhook(name: str = "Site", **values: Any) -> Webhook:
    owner = values.pop("owner", None) or User.objects.filter(is_staff=True).first()
    webhook = Webhook(name=name, url="https://hooks.test/in", owner=owner, **values)
    webhook.cursor = cursor_now(webhook, at=NOW)
    webhook.save()
    return webhook
