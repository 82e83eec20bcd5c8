"""The language of a text, recognised offline by the frequency of its letters."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.conf import settings

from jobsite.text.html import visible_text

READ = 2000  # characters; more do not change the result
CONFIDENCE = 0.5  # with it, no text of tests/benchmarks/languages is taken for another language


def recognised_language(texts: Iterable[str]) -> str:
    """Return the code of the supported language of HTML `texts`, or "" if they are in another one,
    in several or too short. The first ones count most: only the beginning is read.
    """
    text = " ".join(visible_text(each[: 2 * READ]) for each in texts if each)
    language, _confidence = _identifier().classify(text[:READ])
    return language if language in dict(settings.LANGUAGES) else ""


@cache
def _identifier() -> Any:
    """Return the model, which takes half a second and 80 MB:
    only processes that need it load it.
    """
    # numpy and the model are slow to load
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(
        MODEL_FILE, norm_probs=True, min_confidence=CONFIDENCE
    )
