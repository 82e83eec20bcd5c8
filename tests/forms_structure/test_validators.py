"""All validators agree on the JSON Schema of a submission: ajv (strict), hyperjump and cfworker in
Node, jsonschema in Python, and `validate` of form.js.
"""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import settings as search
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from forms_structure.schema import submission_schema
from tests import node
from tests.forms_structure import test_schema as rules
from tests.forms_structure.strategies import chain, section, served, specimen, text_field

pytestmark = pytest.mark.slow("starts validators in Node")

# White space of Python, of ECMAScript and of neither; letters that are others without regard to
# case.
ODD = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2000\u200a\u200b\u200d\u2028\u2029\u202f\u205f\u2060"
ODD += "\u3000\ufeff\x00\x1b\x7f\ud800\udbff\udc00\udfff\ufffe\U0001f691\U0010ffff\u0661\u017f\u212a\u0130"
ODD += "/-|{}[]^$\\"


@pytest.fixture(scope="module")
def validate() -> Iterator[node.Validators]:
    with node.validators() as started:
        yield started


def check(validate, sections, values):
    """Check that every validator agrees with the rules about `values`. Return the results."""
    schema = submission_schema(sections, address=rules.ADDRESS)
    expected = [rules.is_valid(sections, value) for value in values]
    for formats in (None, FormatChecker()):
        validator = Draft202012Validator(schema, format_checker=formats)
        assert [validator.is_valid(value) for value in values] == expected
    results = validate(schema, values)
    assert len(results) == 6
    for name, output in results.items():
        wrong = [
            value
            for value, one, other in zip(values, output, expected, strict=True)
            if one != other
        ]
        assert wrong == [], name
    return expected


@pytest.mark.parametrize("kind", rules.BY_KIND)
def test_validators_agree_on_texts(validate, kind):
    right, longest = rules.BY_KIND[kind][0], rules.LONGEST[kind]
    texts = [*rules.BY_KIND[kind], *rules.WRONG_BY_KIND[kind], *rules.JUNK]
    for letter in ODD:
        texts += [
            letter,
            letter * 3,
            right + letter,
            letter + right,
            right[:2] + letter + right[2:],
        ]
    for letter in ODD if longest < 1_000 else "\t\U0001f691\\":
        texts += [letter * longest, letter * (longest + 1), f"{letter}x" * (longest // 2)]
    sections = served([section(text_field(type=kind))])
    expected = check(validate, sections, [{"city": text} for text in texts])
    assert {True, False} == set(expected)


@search(max_examples=5)
@given(
    parts=st.lists(
        st.text(st.sampled_from("aZ09.@-+_'é\n ") | st.characters(), max_size=20), min_size=20
    )
)
def test_validators_agree_on_any_text(validate, parts):
    # two halves of a pair are one character in JSON, so in Python too
    parts = [
        part.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") for part in parts
    ]
    patterns = ("{}", "{}@example.com", "an@{}.com", "2026-{}", "+32 {}")
    texts = [pattern.format(part) for part in parts for pattern in patterns]
    sections = served([section(*(text_field(kind, type=kind) for kind in rules.BY_KIND))])
    check(validate, sections, [{kind: text} for kind in rules.BY_KIND for text in texts])


def test_validators_agree_on_days(validate):
    sections = served([section(text_field(type="date"))])
    years = (0, 1, 4, 100, 400, 1900, 1996, 2000, 2026, 2028, 2100, 9999)
    days = [
        f"{y:04}-{m:02}-{d:02}"
        for y in years
        for m in range(14)
        for d in (0, 1, 28, 29, 30, 31, 32)
    ]
    assert set(check(validate, sections, [{"city": day} for day in days])) == {True, False}


def test_validators_agree_on_each_removed_or_added_member(validate):
    sections = served(specimen(), "en", rules.CONSENT)
    expected = check(validate, sections, rules.changed_submissions(sections))
    assert {True, False} == set(expected)


def test_validators_agree_on_names_that_every_object_has(validate):
    names = ("constructor", "toString", "valueOf", "length", "hasOwnProperty")
    fields = [text_field(name, required=name == "toString") for name in names]
    schema = submission_schema(served([section(*fields)]), address=rules.ADDRESS)
    values = [{"toString": "x"}, {}, {"toString": "x", "constructor": "y"}, {"isPrototypeOf": "x"}]
    results = validate(schema, values)
    del results["ajv formats"]  # needs ownProperties, as docs/api.md says
    assert results == {name: [True, False, True, False] for name in results}
    assert len(results) == 5


def test_validators_agree_on_conditions_at_every_depth(validate):
    sections = served(chain(5))
    values = [{f"level{n}": "1" for n in range(6) if kept >> n & 1} for kept in range(64)]
    assert check(validate, sections, values).count(True) == 7
