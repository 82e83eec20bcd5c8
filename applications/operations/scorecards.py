"""Who sees which scorecards, and saving one's own."""

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from applications.access import sees_whole
from applications.models import Application, HistoryEntry, Interview, Scorecard


class SentError(Exception):
    """The scorecard was sent: it is final."""


def takes_part(user: User, application: Application) -> bool:
    """Return whether `user` takes part in an interview of `application`."""
    return (
        Interview.objects.filter(application=application)
        .taking_place()
        .with_colleague(user)
        .exists()
    )


def may_see_all(user: User, application: Application, cards: Sequence[Scorecard]) -> bool:
    """Return whether `user` may see the sent ones of `cards`, all scorecards of `application`. Who
    takes part in an interview, or only judges, sees them only after sending an own one, so that
    they do not influence it.
    """
    own = [card for card in cards if card.author_id == user.pk]
    if any(card.sent_at for card in own):
        return True
    return sees_whole(user) and not (own or takes_part(user, application))


def save_card(*, card: Scorecard, is_sent: bool, at: datetime) -> Scorecard:
    """Store the recommendation, scores and text of `card`, which may be new, and send it if it
    `is_sent`. Return the stored one. Raise SentError if it was sent before, and
    Application.DoesNotExist or HistoryEntry.DoesNotExist if that was deleted meanwhile.
    """
    with transaction.atomic():
        # Of two requests, the second one waits here, and finds the card of the first one.
        Application.objects.select_for_update(of=("self",)).get(pk=card.application_id)
        if card.entry_id:
            HistoryEntry.objects.select_for_update(of=("self",)).get(pk=card.entry_id)
        stored = Scorecard.same_as(card) or card
        if stored.sent_at:
            raise SentError
        stored.recommendation, stored.scores, stored.text = (
            card.recommendation,
            card.scores,
            card.text,
        )
        stored.sent_at = at if is_sent else None
        stored.save()
    return stored
