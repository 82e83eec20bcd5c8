"""The vocabulary: all words in a few texts, in which words that fit are found fast.

#words:  the words in a language, each on a line, without numbers
#keys:   the same by key (`words.key`), each line with a key and its words
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from vacancies.search.words import (
    COMPOUNDING,
    FORM,
    PART,
    PARTS_MIN,
    START,
    STEMMERS,
    WHOLE,
    has_parts,
    is_part,
    key,
)

LANGUAGES = (*STEMMERS, "")
TEXTS = tuple(f"#{kind}:{code}" for code in LANGUAGES for kind in ("words", "keys"))


def lines(text: str, part: str) -> Iterator[str]:
    """Yield the lines of `text` that contain `part`; those that begin with it, if it starts with a
    line break. `text` has a line break before the first and after the last line.
    """
    place = text.find(part)
    while place >= 0:
        end = text.index("\n", place + 1)
        yield text[text.rfind("\n", 0, place + 1) + 1 : end]
        place = text.find(part, end)


def with_words(texts: dict[str, str], by_language: dict[str, set[str]]) -> dict[str, str]:
    """Return the texts with more words."""
    found = dict(texts)
    for code, words in by_language.items():
        found[f"#words:{code}"] += "".join(f"{word}\n" for word in words)
        if code:
            found[f"#keys:{code}"] += "".join(f"{key(word, code)}\t{word}\t\n" for word in words)
    return found


class Vocabulary(NamedTuple):
    text: Callable[[str], str]  # by name

    def forms(self, wanted: str, language: str) -> set[str]:
        """Return the words of the language that have the same key."""
        found = lines(self.text(f"#keys:{language}"), f"\n{key(wanted, language)}\t")
        return {word for line in found for word in line.split("\t")[1:-1]}

    def ending(self, wanted: str, language: str) -> set[str]:
        """Return the compounds of the language whose key ends with that of a word."""
        if language not in COMPOUNDING or len(own := key(wanted, language)) < PARTS_MIN:
            return set()
        found = (line.split("\t") for line in lines(self.text(f"#keys:{language}"), own + "\t"))
        return {
            word
            for other, *words in found
            if other != own and other.endswith(own)
            for word in words
            if word
        }

    def containing(self, part: str) -> set[str]:
        return {word for code in LANGUAGES for word in lines(self.text(f"#words:{code}"), part)}

    def expand(self, wanted: str) -> list[tuple[int, str, set[str]]]:
        """Return the words that fit a word of a query (`words.fit`): class, language in which they
        do ("" for all), words.
        """
        found: list[tuple[int, str, set[str]]] = [(WHOLE, "", {wanted})]
        if not has_parts(wanted):
            return found
        starts = self.containing("\n" + wanted) - {wanted}
        parts = self.containing(wanted) - starts - {wanted} if is_part(wanted) else set()
        found += [(START, "", starts), (PART, "", parts)]
        for code in STEMMERS:
            found.append((FORM, code, self.forms(wanted, code) - {wanted}))
            found.append((PART, code, self.ending(wanted, code) - starts - parts - {wanted}))
        return [each for each in found if each[2]]
