"""The server, form.js, jsonschema and ajv agree on every submission: 2,000 invalid ones for 20
forms.

tests/forms_structure/test_validators.py compares the validators with the rules of a form.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as search
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from jsonschema import Draft202012Validator

from applications.submissions.forms import ServedForm
from applications.submissions.validation import field_errors, file_fields
from forms_structure.schema import submission_schema
from tests import node
from tests.applications.submissions.sending import form_of
from tests.forms_structure.test_schema import (
    ADDRESS,
    JUNK,
    WRONG_BY_KIND,
    all_names,
    all_values,
    forms,
    is_valid,
    submissions,
)

FORMS, INVALID = 20, 100  # invalid submissions of each form
Sections = list[dict[str, Any]]


def reported(form: ServedForm, values: dict[str, Any]) -> set[str]:
    """Return the fields that the server reports. Each file that is named was sent."""
    sent = {name for name in file_fields(form) if isinstance(values.get(name), str)}
    return {error.pointer.split("/")[2] for error in field_errors(form, values, sent)}


def invalid(
    sections: Sections, valid: dict[str, Any], others: list[Any], luck: Random
) -> Iterator[dict[str, Any]]:
    """Yield invalid submissions without end:
    `valid` with one to three members removed, added or changed.
    """
    names = [*all_names(sections), "unheard_of"]
    values = all_values(sections)
    wrong = [value for kind in WRONG_BY_KIND.values() for value in kind]
    while True:
        submission = dict(valid)
        for _ in range(luck.randint(1, 3)):
            name = luck.choice(names)
            if luck.random() < 0.3:
                submission.pop(name, None)
            else:
                pool = luck.choice([values or JUNK, wrong, JUNK, others])
                some = [luck.choice(pool) for _ in range(luck.randint(0, 3))]
                submission[name] = some if luck.random() < 0.2 else luck.choice(pool)
        if not is_valid(sections, submission):
            yield submission


def check_one_form(data: Any, validate: node.Validators | None, count: int) -> None:
    sections = data.draw(forms())
    valid = data.draw(submissions(sections))
    others = data.draw(st.lists(from_schema({}), min_size=3, max_size=5))  # any JSON
    made = invalid(sections, valid, others, Random(data.draw(st.integers(0, 2**32))))
    sent = [valid, *(next(made) for _ in range(count))]
    form = form_of(sections)
    schema = submission_schema(sections, address=ADDRESS)
    expected = [True, *[False] * count]

    found = [reported(form, values) for values in sent]
    assert [not names for names in found] == expected
    assert [Draft202012Validator(schema).is_valid(values) for values in sent] == expected
    if validate:
        results = validate(schema, sent)
        assert results == dict.fromkeys(results, expected)
        assert len(results) == 6
        # not only that something is wrong, but where: the applicant sees the same in both
        assert [set(names) for names in validate.named] == found
        # ajv takes what every object inherits for a known member (docs/api.md)
        strange = [{**valid, name: "x"} for name in ("constructor", "toString", "__proto__")]
        results = {
            name: list_ for name, list_ in validate(schema, strange).items() if "ajv" not in name
        }
        assert results == dict.fromkeys(
            ("cfworker", "form.js", "hyperjump", "hyperjump formats"), [False] * 3
        )
        assert [reported(form, values) for values in strange] == [
            set(names) for names in validate.named
        ]


@pytest.mark.slow("many cases")
@search(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_server_and_jsonschema_agree(data: Any) -> None:
    check_one_form(data, None, 20)


@pytest.mark.slow("2,000 submissions in four validators of npm")
def test_all_validators_agree_on_invalid_submissions() -> None:
    with node.validators() as validate:

        @search(max_examples=FORMS, suppress_health_check=[HealthCheck.too_slow])
        @given(data=st.data())
        def compare(data: Any) -> None:
            check_one_form(data, validate, INVALID)

        compare()
