"""The words of a search: one limit for every search box and the API."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from jobsite.unseen import visible

WORDS_MAX = 20  # each is a condition on every row
LENGTH_MAX = 500  # characters


def search_words(text: str) -> list[str]:
    """Return the words of `text`. Raise ValidationError if it has too many words or is too long."""
    words = visible(text.replace("\0", "")).split()
    if len(words) > WORDS_MAX or len(text) > LENGTH_MAX:
        message = _(
            "Search for at most %(words_max)d words and %(length_max)d characters. This search "
            "has %(words)d words and %(length)d characters."
        )
        sizes = {"words": len(words), "length": len(text)}
        raise ValidationError(message % {"words_max": WORDS_MAX, "length_max": LENGTH_MAX, **sizes})
    return words
