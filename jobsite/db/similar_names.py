"""Names that are spelt in another way than in a search, or that it has with one typing error.

Nothing is stored for this, so nothing is left of who is erased: the different names of the rows
that somebody may see are read, and compared here, by one rule for every database.
"""

from collections.abc import Callable, Iterable, Mapping
from string import ascii_lowercase
from typing import Any

from django.db.models import Q

from jobsite.db.folding import fold

ERROR_MIN = 4  # letters of a name that may have an error
# ü and ue, ø and oe, æ and ae, å and aa, đ and dj, ĳ and y: `fold` left one letter of the others
_PAIRS = {"ae": "a", "oe": "o", "ue": "u", "dj": "d", "ij": "y"}
_PAIRS |= {letter * 2: letter for letter in ascii_lowercase}
_SIGNS = str.maketrans("-", " ", "'`´.")


def spelling(folded: str) -> str:
    """Return what the spellings of folded names have in common."""
    text = folded.translate(_SIGNS)
    for several, one in _PAIRS.items():
        text = text.replace(several, one)
    return text


def similar(rows: Any, texts: Iterable[str], columns: Mapping[str, Q]) -> dict[str, Q]:
    """Return for each of the `texts` the condition that a row has a name like it. Names are in the
    `columns`, each with the condition that it counts.
    """
    tests = {text: _test(spelling(fold(text)).replace(" ", "")) for text in texts}
    found = {text: Q(pk__in=[]) for text in tests}
    for column, counts in columns.items():
        named = rows.filter(counts, **{f"{column}__gt": ""}).order_by()
        names = list(named.values_list(column, flat=True).distinct())
        if not names:
            continue
        # all at once: a hundredth of the calls
        spellings = spelling("\n".join(map(fold, names))).split("\n")
        for text, is_like in tests.items():
            pairs = zip(names, spellings, strict=True)
            found[text] |= counts & Q(**{f"{column}__in": [a for a, b in pairs if is_like(b)]})
    return found


def _test(wanted: str) -> Callable[[str], bool]:
    """Return a function that says whether a name, as `spelling` returns it, has a word like
    `wanted`, or is like it without its spaces.
    """
    if not wanted.isalpha():  # a number or an address
        return lambda name: False
    half = len(wanted) // 2
    # A word with one error has one half of it, or two letters swapped in the middle.
    parts = [wanted[:half], wanted[half:]]
    parts.append(wanted[: half - 1] + wanted[half] + wanted[half - 1 : half] + wanted[half + 1 :])
    if len(wanted) < ERROR_MIN:
        parts = [wanted] * 3
    first, last, swapped = parts

    def is_like(name: str) -> bool:
        joined = name.replace(" ", "")
        if first not in joined and last not in joined and swapped not in joined:
            return False
        words = (*name.split(), joined)
        return wanted in words or (
            len(wanted) >= ERROR_MIN and any(_is_near(wanted, word) for word in words)
        )

    return is_like


def _is_near(one: str, other: str) -> bool:
    """Whether one letter more, less or another one, or two neighbours swapped, make them equal."""
    start = 0
    while one[start : start + 1] == other[start : start + 1] != "":
        start += 1
    one, other = one[start:], other[start:]
    is_swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return is_swapped or one[1:] == other[1:] or one == other[1:] or one[1:] == other
