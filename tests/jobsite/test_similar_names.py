"""Which names are similar, by a comparison of all words of few letters."""

from itertools import product

from jobsite.db.folding import fold
from jobsite.db.similar_names import _test, spelling


def has_one_error(one, other):
    """Whether an edit of `one` makes it `other`."""
    edits = {one}
    for place in range(len(one) + 1):
        before, after = one[:place], one[place:]
        edits |= {before + after[1:], before + after[1:2] + after[:1] + after[2:]}
        for letter in "abc":
            edits |= {before + letter + after, before + letter + after[1:]}
    return other in edits


def test_a_word_is_similar_if_it_has_at_most_one_error():
    words = ["".join(each) for size in (3, 4, 5) for each in product("abc", repeat=size)]
    for wanted in words[::17]:
        is_like = _test(wanted)
        expected = {
            word
            for word in words
            if (has_one_error(wanted, word) if len(wanted) >= 4 else wanted == word)
        }
        assert {word for word in words if is_like(word)} == expected, wanted


def test_spellings_of_a_letter_are_equal():
    for names in (
        ("Müller", "Mueller", "Muller"),
        ("Søren", "Soeren", "Sören"),
        ("Ægir", "Aegir"),
        ("Đorđević", "Djordjevic", "Dordevic"),
        ("Ĳsbrand", "IJsbrand", "Ysbrand"),
        ("Groß", "Gross"),
        ("Håkan", "Haakan"),
        ("D’Hondt", "d'hondt", "DHondt"),
        ("Łukasz", "Lukasz"),
    ):
        assert len({spelling(fold(name)) for name in names}) == 1, names
