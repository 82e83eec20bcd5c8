"""Job titles that name one gender only, as patterns that both databases know: without \\b and
look-around.

The words are trades whose form names a gender. Dutch uses the masculine form for everybody, so only
feminine forms and words with -man are listed. Words that are English, too, such as Manager, are
left out.
"""

import json
from pathlib import Path

_LETTER = "[a-zà-ÿÀ-Þ]"
# Beginnings of words, by their endings.
_WORDS: dict[str, dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("one_gender.json").read_text("utf-8")
)
# A database of the locale C does not know that Ä is ä.
_ANY_CASE = {ord(each): f"[{each}{each.upper()}]" for each in "äöüàâèéêçô"}


def _any_of(words: dict[str, list[str]]) -> str:
    found = (f"({'|'.join(beginnings)}){ending}" for ending, beginnings in words.items())
    return "|".join(found).translate(_ANY_CASE)


ONE_GENDER = {
    language: rf"{'' if language == 'fr' else _LETTER + '*'}({_any_of(words)})([^-a-zà-ÿÀ-Þ]|$)"
    for language, words in _WORDS.items()
}
ONE_GENDER["fr"] = f"(^|[^a-zà-ÿÀ-Þ]){ONE_GENDER['fr']}"
_MEN, _WOMEN = "(er|eur|ien|ant|é)s?", "(euse|rice|ère|enne|ante|ée)s?"
_END = "([^a-zà-ÿÀ-Þ]|$)"
# "(m/w/d)", "h/f", "mwd", "Verkäufer/in", "Directeur / Directrice", "Leiter:in", "Kassier(ster)",
# "(gn)", "Koch (Mensch)", "Verkäufer und Verkäuferin", "Vendeuse, vendeur"
BOTH_GENDERS = (
    rf"{_LETTER}[:*_·•.]{_LETTER}|{_LETTER} ?[/|] ?-?{_LETTER}|{_LETTER}\(-?{_LETTER}+\)"
    r"|\([a-z] ?[,;] ?[a-z]|\(([mwfvhdx]{2,4}|gn.?|[x*])\)"
    rf"|-(euse|se|rice|ère|ne|e|in|innen|ster){_END}"
    rf"|[^a-zà-ÿÀ-Þ](m-?[wfv]|[wfv]-?m|h-?f|f-?h)(-?[dxi])?{_END}"
    rf"|{_WOMEN}( et|,| -) {_LETTER}+{_MEN}{_END}|{_MEN}( et|,| -) {_LETTER}+{_WOMEN}{_END}"
    rf"|in(nen)? und {_LETTER}+er{_END}|er und {_LETTER}+in(nen)?{_END}"
    r"| (oder|bzw\.?|ou|of) |gender|geschlecht|geslacht|genres|\((mensch|divers)"
)
CAPITAL_I = r"[a-zäöüß]In(nen)?([^a-zà-ÿÀ-Þ]|$)"  # "VerkäuferIn": the case counts
