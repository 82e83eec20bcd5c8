"""Words of the search: those of a text, the forms and parts of a word that count as hits, and corrections."""

import re
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer

from jobsite.db.folding import fold

# How a word of a vacancy fits a word of a query, best first. HEAD: it fits the end of a compound.
WHOLE, FORM, START, PART, HEAD = range(5)

STEMMERS = {
    code: snowballstemmer.stemmer(name)
    for code, name in {"en": "english", "nl": "dutch", "fr": "french", "de": "german"}.items()
}
LENGTH_MAX = 64  # characters of a word that count: a row of an index has a limit
PARTS_MIN = 3  # characters; shorter words are found as whole words only: R, Go, IT, HR
COMPOUND_MIN = 8
KEY_PART_MIN = 4

# Marks of gender are not words: "(m/w/d)", "(H/F)", "Buchhalter/in", "Entwickler*in", "Kassier(ster)".
_GENDER = re.compile(
    r"\((?:[a-z]\s?[/|]\s?){1,2}[a-z]\)"
    r"|(?<=\w)(?:[/:*_]-?|\()(?:innen|in|ne|ère|ere|euse|ster|r|n|e)\b\)?",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"(?<!\w)\.net\b|[^\W_]+(?:\+\+|#)?")
_HYPHENATED = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})+")
_QUOTED = re.compile(r'"([^"]*)"|«([^»]*)»')
_UMLAUT = re.compile("([aou])e")
_DOUBLE_VOWEL = re.compile(r"([aeou])\1")
_LAST_VOWEL = re.compile("([aeou])(?=[^aeou]$)")
_GENDER_ENDINGS = {
    "fr": re.compile("(?:eu[rsx]e?|ric|rices?|ere?|ier|i)$"),
    "nl": re.compile("(?:ster|er|eurs?|eus(?:e|t)?)$"),
}


class Words(NamedTuple):
    """A query: its phrases, each a list of words, and its other words, each once."""

    phrases: list[tuple[str, list[str]]]  # as typed, folded; and the words, if any
    single: list[str]

    @property
    def all(self) -> list[str]:
        return [*(word for _, words in self.phrases for word in words), *self.single]


def folded(text: str) -> str:
    """Fold a title, a name or a query, without its marks of gender."""
    return fold(_GENDER.sub(" ", text))


def split_words(text: str) -> list[str]:
    """Return the words of a folded text, in order."""
    return [word[:LENGTH_MAX] for word in _TOKEN.findall(text)]


def joined_words(text: str) -> list[str]:
    """Return the words with a hyphen of a folded text as one word: "software-entwickler" is also found by
    softwareentwickler."""
    if "-" not in text:
        return []
    return [word.replace("-", "")[:LENGTH_MAX] for word in _HYPHENATED.findall(text)]


def all_words(text: str) -> set[str]:
    """Return the words of a folded text."""
    return {*split_words(text), *joined_words(text)}


def read_query(text: str) -> Words:
    """Return the words of a search. Quotes are around phrases. Symbols alone, such as "%", are one too."""
    plain = folded(text.replace("\0", ""))
    quoted = [" ".join((one or other).split()) for one, other in _QUOTED.findall(plain)]
    phrases = [(phrase, words) for phrase in quoted if (words := split_words(phrase))]
    single = list(dict.fromkeys(split_words(_QUOTED.sub(" ", plain))))
    return Words(phrases if phrases or single or not plain else [(plain, [])], single)


def has_parts(word: str) -> bool:
    """Whether parts and forms of words fit this word of a query. Two Chinese characters are a word."""
    return len(word) >= PARTS_MIN or not word.isascii()


@lru_cache(100_000)
def key(word: str, language: str) -> str:
    """Return what the forms of a word have in common: plural, gender, ue for ü. Other languages have none."""
    if len(word) <= 3 or not word.isalpha() or language not in STEMMERS:
        return word
    if language == "de" and len(word) > 5:
        word = word.removesuffix("innen") if word.endswith("innen") else word.removesuffix("in")
    stem = STEMMERS[language].stemWord(word)
    if language in _GENDER_ENDINGS:
        short = _GENDER_ENDINGS[language].sub("", stem)
        stem = short if len(short) >= 3 else stem
    if language == "nl":
        stem = _DOUBLE_VOWEL.sub(r"\1", stem)
    if language == "de":
        stem = stem.removesuffix("e")
    return _UMLAUT.sub(r"\1", stem)


def stems(word: str) -> list[str]:
    """Return texts of which a title has one if it has the word, or a form of it in any language."""
    found = {word}
    for stem in {key(word, language) for language in STEMMERS}:
        if len(stem) >= KEY_PART_MIN:
            beginnings = (word[:end] for end in range(len(stem) + 1, len(word)))
            found |= {stem, *(each for each in beginnings if _one_vowel(each) == stem)}
            if stem != word:
                found.add(_LAST_VOWEL.sub(r"\1\1", stem))  # leraren, leraar
    return sorted(text for text in found if not any(other in text for other in found - {text}))


def _one_vowel(text: str) -> str:
    """Return the text as keys have it: with one of two vowels, and u for ue."""
    return _UMLAUT.sub(r"\1", _DOUBLE_VOWEL.sub(r"\1", text))


def fit(wanted: str, word: str, languages: tuple[str, ...]) -> int | None:
    """Return how a `word` in these languages fits a word of a query, or None. The vocabulary
    (`index.Index.expand`) is the same rule for all words of the index."""
    if word == wanted:
        return WHOLE
    if not has_parts(wanted) or word.isdecimal():
        return None
    keys = [(key(wanted, language), key(word, language)) for language in languages]
    if any(one == other for one, other in keys):
        return FORM
    if word.startswith(wanted):
        return START
    if wanted in word or any(len(one) >= KEY_PART_MIN and one in other for one, other in keys):
        return PART
    return None


def compounds(word: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Return how a compound can be split: head, beginnings of the rest, language of the head. The longest
    head first."""
    if len(word) < COMPOUND_MIN:
        return []
    return [
        (word[cut:], tuple(rest for rest in dict.fromkeys((word[:cut], word[:cut].removesuffix("s")))
                           if len(rest) >= 3), language)
        for cut in range(3, len(word) - 3)
        for language in ("de", "nl")
    ]  # fmt: skip


def edits(wanted: str, word: str) -> int | None:
    """Return the number of typing errors between two words, at most 1 up to 5 letters, else 2; or None."""
    limit = 1 if len(wanted) <= 5 else 2
    if word == wanted or abs(len(word) - len(wanted)) > limit or not word.isalpha():
        return None
    pairs = {wanted[n : n + 2] for n in range(len(wanted) - 1)}
    common = pairs.intersection(word[n : n + 2] for n in range(len(word) - 1))
    if len(common) < len(pairs) - 2 * limit - 1:  # fast, and hardly ever another result
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
