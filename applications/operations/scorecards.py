"""Who sees which scorecards, and saving one's own."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from applications.models import Application, HistoryEntry, Scorecard


class SentError(Exception):
    """The scorecard was sent: it is final."""


def takes_part(user: User, application: Application) -> bool:
    """Return whether `user` takes part in an interview of `application`. Until interviews have participants,
    those do who began or sent a scorecard."""
    return Scorecard.objects.filter(application=application, author=user).exists()


def visible_to(user: User, application: Application, cards: Iterable[Scorecard]) -> list[Scorecard]:
    """Return the sent ones of `cards`, those of `application`, that `user` may see. Who takes part in an
    interview sees those of the others only after sending an own one, so that they do not influence it."""
    sent = [card for card in cards if card.sent_at]
    if not sent or any(card.author_id == user.pk for card in sent) or not takes_part(user, application):
        return sent
    return []


def save_card(
    *, author: User, application: Application, entry: HistoryEntry | None, recommendation: int | None,
    scores: Sequence[dict[str, Any]], text: str, is_sent: bool, at: datetime,
) -> Scorecard:  # fmt: skip
    """Store the scorecard of `author`, and send it if it `is_sent`. Raise SentError if it was sent before,
    and Application.DoesNotExist or HistoryEntry.DoesNotExist if that was deleted meanwhile."""
    with transaction.atomic():
        # Of two requests, the second one waits here, and finds the card of the first one.
        Application.objects.select_for_update(of=("self",)).get(pk=application.pk)
        if entry:
            HistoryEntry.objects.select_for_update(of=("self",)).get(pk=entry.pk)
        card = Scorecard.of(author, application, entry)
        if card.sent_at:
            raise SentError
        card.recommendation, card.scores, card.text = recommendation, list(scores), text
        card.sent_at = at if is_sent else None
        card.save()
    return card
