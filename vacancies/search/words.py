"""Words of the search: those of a text, the forms and parts of a word that count as hits, and
corrections.
"""

import json
import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import snowballstemmer

from jobsite.db.folding import fold

# How a word of a vacancy fits a word of a query, best first.
WHOLE, FORM, START, PART = range(4)

STEMMERS = {
    code: snowballstemmer.stemmer(name)
    for code, name in {"en": "english", "nl": "dutch", "fr": "french", "de": "german"}.items()
}
LENGTH_MAX = 64  # characters of a word that count: a row of an index has a limit
PARTS_MIN = 3  # characters; shorter words are found as whole words only: R, Go, IT, HR
INSIDE_MIN = 4  # characters of a part that is not the beginning: not "ing", "art" or "ent"
COMPOUND_MIN = 8
COMPOUNDING = ("de", "nl")  # languages that write compounds as one word
KEY_PART_MIN = 4

# Marks of gender are not words: "(m/w/d)", "M/V", "(H/F)", "Buchhalter/in", "Entwickler*in",
# "Kassier(ster)", "Infirmier·ère". One letter is a mark behind an e ("Angestellte/r", "Beamte/N"),
# not in "Python/R".
_LETTERS = (
    r"(?:m{0}(?:[dx]{0})?[wfv]|[wfv]{0}(?:[dx]{0})?m|h{0}f|f{0}h)(?:{0}(?:[dxniu*]|nb|gn|divers))*"
)
_BETWEEN = r"\s?[/|,:*-]\s?"
_GENDER = re.compile(
    rf"(?i:[(\[]\s?(?:[dx]{_BETWEEN})?{_LETTERS.format(_BETWEEN)}\s?[)\]])"
    rf"|(?<![\w/|])(?i:(?:[dx][/|])?{_LETTERS.format('[/|]')})(?![\w/|])"
    r"|(?i:(?<=\w)(?:[/:*_·•]-?|\(-?)"
    r"(?:innen|in|nes?|ères?|eres?|ières?|ieres?|euses?|se|trice|rice|ster|vrouw|frau)\b\)?)"
    r"|(?<=[a-zà-ÿ]{3})(?:[/:*_·•.]-?|\(-?)es?\b(?:[·•.-]s\b)?\)?"
    r"|(?:(?<=e)(?:[/:*_]-?|\(-?)[rn]|(?<=[A-Z]{6}TE)(?:[/:*_]-?|\(-?)[RN])\b\)?"
)
_TOKEN = re.compile(r"(?<!\w)\.[a-z]{2,4}\b|[^\W_]+(?:\+\+|#)?")
# Parts of a word that are also written as one: "e-mail", "node.js", "pl/sql", "s/4hana", "r&d",
# "o'neill".
_HYPHENATED = re.compile(r"(?<![\w.&+'-])[^\W_]+(?:-[^\W_]+){1,5}(?![\w+#-])")
_JOINED = re.compile(r"(?<![\w.&/+'-])[^\W_]+([.&/+'])[^\W_]+(?:\1[^\W_]+){0,2}(?![\w+#-])")
_SUFFIX = re.compile(r"(?<=\w)\.[a-z]{2,4}\b")  # .net in "asp.net"
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'")
SHORT = 3  # characters of a part of a joined word
_QUOTED = re.compile(r'"([^"]*)"|«([^»]*)»')
_UMLAUT = re.compile("([aou])e")
_DOUBLED = re.compile(r"([a-z])\1")
_DOUBLE_VOWEL = re.compile(r"([aeou])\1")
_LAST_VOWEL = re.compile("([aeou])(?=[^aeou]$)")
# Names of trades, folded: endings for women and for more of them, each with that for one man,
# behind at least three letters; and whole words.
_TABLES = json.loads((Path(__file__).parent / "trades.json").read_text())
_TRADES = {
    language: [(re.compile(f"(?<=...)(?:{ending})$"), other) for ending, other in endings.items()]
    for language, endings in _TABLES["endings"].items()
}
_IRREGULAR = _TABLES["irregular"]
# Who does something is not what is done: "boulanger" and "boulangerie".
_AGENT = re.compile("(?:eur|er|ien|ar)$")


class Words(NamedTuple):
    """A query: its phrases, each a list of words, and its other words, each once."""

    phrases: list[tuple[str, list[str]]]  # as typed, folded; and the words, if any
    single: list[str]
    # Of `single`: the parts of words that may be written as one.
    joined: tuple[tuple[str, ...], ...] = ()

    @property
    def all(self) -> list[str]:
        return [*(word for _, words in self.phrases for word in words), *self.single]


def folded(text: str) -> str:
    """Fold a title, a name or a query, without its marks of gender."""
    return fold(_GENDER.sub(" ", text))


def split_words(text: str) -> list[str]:
    """Return the words of a folded text, in order."""
    return [word[:LENGTH_MAX] for word in _TOKEN.findall(text)]


def joined_parts(text: str) -> list[list[str]]:
    """Return the parts of each word of a folded text that is also written as one: with a hyphen, or
    with another sign and a short part. Of numbers, only such as "24/7".
    """
    hyphenated = (word.split("-") for word in _HYPHENATED.findall(text))
    found = [parts for parts in hyphenated if not all(map(str.isdecimal, parts))]
    for match in _JOINED.finditer(text):
        sign, parts = match[1], match[0].split(match[1])
        sizes = [len(part) for part in parts if part.isalpha()]
        if sign == "/" and sizes:
            is_one = max(sizes) <= SHORT  # not "python/r", whose parts are two words
        elif sign == "/":
            is_one = len(match[0]) <= len("24/7")
        else:
            is_one = bool(sizes) and min(sizes) <= SHORT
        if is_one:
            found.append(parts)
    return [parts for parts in found if sum(map(len, parts)) <= LENGTH_MAX]


def joined_words(text: str) -> list[str]:
    """Return the words of a folded text in their other spelling: "software-entwickler" is also
    found by softwareentwickler, and "asp.net" by aspnet and .net.
    """
    return ["".join(parts) for parts in joined_parts(text)] + _SUFFIX.findall(text)


def name_words(text: str) -> list[str]:
    """Return the words of a folded title or name."""
    return [*split_words(text), *joined_words(text)]


def all_words(text: str) -> set[str]:
    """Return the words of a folded text of many sentences:
    "l'equipe" is no other spelling there.
    """
    text = _GENDER.sub(" ", text)
    return {*split_words(text), *joined_words(_ELISION.sub("", text))}


def read_query(text: str) -> Words:
    """Return the words of a search. Quotes are around phrases.
    Symbols alone, such as "%", are one too.
    """
    plain = folded(text.replace("\0", ""))
    quoted = [" ".join((one or other).split()) for one, other in _QUOTED.findall(plain)]
    phrases = [(phrase, words) for phrase in quoted if (words := split_words(phrase))]
    rest = _QUOTED.sub(" ", plain)
    single = list(dict.fromkeys(split_words(rest)))
    joined = tuple(tuple(parts) for parts in joined_parts(rest) if {*parts} <= {*single})
    return Words(phrases if phrases or single or not plain else [(plain, [])], single, joined)


def has_parts(word: str) -> bool:
    """Whether parts and forms of words fit this word of a query.
    Two Chinese characters are a word.
    """
    return len(word) >= PARTS_MIN or not word.isascii()


def is_part(word: str) -> bool:
    """Whether a word of the index fits this word of a query that it contains."""
    return len(word) >= INSIDE_MIN or not word.isascii()


@lru_cache(100_000)
def key(word: str, language: str) -> str:
    """Return what the forms of a word have in common: plural, gender, ue for ü.
    Other languages have none.
    """
    if len(word) <= 3 or not word.isalpha() or language not in STEMMERS:
        return word
    word = _trade(word, language)
    if len(word) > 4 and language in ("fr", "nl") and _AGENT.search(word):
        return _plain(word, language) + "*"
    return _plain(STEMMERS[language].stemWord(word), language)


def _trade(word: str, language: str) -> str:
    """Return the name of a trade as it is for one man, other words unchanged."""
    if other := _IRREGULAR.get(language, {}).get(word):
        return other
    for ending, other in _TRADES.get(language, ()):
        if found := ending.search(word):
            return word[: found.start()] + other
    return word


def _plain(stem: str, language: str) -> str:
    if language == "nl":
        stem = _DOUBLED.sub(r"\1", stem)
    if language == "de":
        stem = stem.removesuffix("e")
    return _UMLAUT.sub(r"\1", stem)


def stems(word: str) -> list[str]:
    """Return texts of which a title has one if it has the word, or a form of it in any language."""
    found = {word, *(_trade(word, language) for language in STEMMERS)}
    for stem in {re.sub("(?:ier|e?u?r)[*]$", "", key(word, language)) for language in STEMMERS}:
        if len(stem) >= KEY_PART_MIN:
            beginnings = (word[:end] for end in range(len(stem) + 1, len(word)))
            found |= {stem, *(each for each in beginnings if _one_vowel(each) == stem)}
            if stem != word:
                found.add(_LAST_VOWEL.sub(r"\1\1", stem))  # leraren, leraar
    return sorted(text for text in found if not any(other in text for other in found - {text}))


def _one_vowel(text: str) -> str:
    """Return the text with one of two vowels, and u for ue."""
    return _UMLAUT.sub(r"\1", _DOUBLE_VOWEL.sub(r"\1", text))


def fit(wanted: str, word: str, languages: tuple[str, ...]) -> int | None:
    """Return how a `word` in these languages fits a word of a query, or None. The vocabulary
    (`Vocabulary.expand`) is the same rule for all words of the index."""
    if word == wanted:
        return WHOLE
    if not has_parts(wanted) or word.isdecimal():
        return None
    keys = {language: (key(wanted, language), key(word, language)) for language in languages}
    if any(one == other for one, other in keys.values()):
        return FORM
    if word.startswith(wanted):
        return START
    if wanted in word and is_part(wanted):
        return PART
    for code, (own, other) in keys.items():
        if code in COMPOUNDING and len(own) >= PARTS_MIN and other.endswith(own):
            return PART
    return None


def compounds(word: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Return how a compound can be split: head, beginnings of the rest, language of the head. The
    longest head first.
    """
    if len(word) < COMPOUND_MIN:
        return []
    return [
        (
            word[cut:],
            tuple(
                rest
                for rest in dict.fromkeys((word[:cut], word[:cut].removesuffix("s")))
                if len(rest) >= 3
            ),
            language,
        )
        for cut in range(3, len(word) - 3)
        for language in COMPOUNDING
    ]


def pieces(wanted: str) -> list[str]:
    """Return the parts of which a word with a typing error has one: cut into one part more than it
    may have errors, or with two letters swapped where it is cut.
    """
    if len(wanted) < PARTS_MIN:
        return []
    limit = 1 if len(wanted) <= 5 else 2
    cuts = [len(wanted) * n // (limit + 1) for n in range(limit + 2)]
    swapped = [
        wanted[max(n - 2, 0) : n - 1] + wanted[n] + wanted[n - 1 : n] + wanted[n + 1 : n + 2]
        for n in cuts[1:-1]
    ]
    return [*(wanted[start:end] for start, end in pairwise(cuts)), *swapped]


def edits(wanted: str, word: str) -> int | None:
    """Return the number of typing errors between two words, at most 1 up to 5 letters, else 2;
    or None.
    """
    limit = 1 if len(wanted) <= 5 else 2
    if (
        word == wanted
        or len(wanted) < PARTS_MIN
        or abs(len(word) - len(wanted)) > limit
        or not word.isalpha()
    ):
        return None
    if not any(piece in word for piece in pieces(wanted)):  # fast, and hardly ever another result
        return None
    return _distance(wanted, word, limit)


def _distance(wanted: str, word: str, limit: int) -> int | None:
    """Return the edit distance, where swapped neighbours count as one edit; None above `limit`."""
    before: list[int] = []
    last = list(range(len(word) + 1))
    for i, a in enumerate(wanted, 1):
        row = [i]
        for j, b in enumerate(word, 1):
            cost = min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b))
            if before and j > 1 and a == word[j - 2] and wanted[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return None
        before, last = last, row
    return last[-1] if last[-1] <= limit else None
