"""Validation of structures: valid ones are unchanged, errors are reported by path."""

import json
import re

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import settings as search
from hypothesis import strategies as st

from forms_structure.choices import LEVELS, FieldRole, FieldType, Language, Width
from forms_structure.structure import StructureError, clean, names, walk
from tests.forms_structure import strategies as made
from tests.forms_structure.strategies import (
    chain,
    corruptions,
    section,
    specimen,
    structures,
    text_field,
)


def faults(structure, **how):
    with pytest.raises(StructureError) as refused:
        clean(structure, **how)
    return refused.value.faults


def turned_round(value):
    if isinstance(value, dict):
        return {key: turned_round(value[key]) for key in reversed(value)}
    return [turned_round(member) for member in value] if isinstance(value, list) else value


# --- What is valid -----------------------------------------------------------------------------


def test_choices_are_those_of_the_specification():
    assert list(LEVELS) == ["0", "1", "2", "3", "4", "5"]
    assert set(FieldType.values) == set(made.TYPES)
    assert set(FieldRole.values) == set(made.ROLES)
    assert set(Width.values) == set(made.WIDTHS)
    assert set(Language.values) == set(made.LANGUAGES)


@search(max_examples=40)
@given(structures(roles=made.ROLES))
def test_valid_structure_is_unchanged_with_keys_in_canonical_order(structure):
    for received in (structure, turned_round(structure)):
        assert json.dumps(clean(received)) == json.dumps(structure)


def test_input_is_not_modified():
    given_ = [section(text_field(), description="<p>Hi<script>x</script></p>")]
    before = json.dumps(given_)

    assert clean(given_)[0]["description"] == "<p>Hi</p>"
    assert json.dumps(given_) == before


def test_empty_parts_are_valid():
    box = text_field(type="checkbox")

    assert clean([]) == []
    assert clean([section(title="")]) == [{"title": "", "description": "", "fields": []}]
    assert clean([section(box | {"conditional": []})]) == [section(box)]


def test_walk_yields_owners_before_conditional_fields_and_names_include_label_inputs():
    in_order = [
        "first_name",
        "mail",
        "permit",
        "permit_when",
        "english",
        "certificate",
        "other_level",
        "other_language",
        "licences",
        "which",
        "moves",
        "from",
        "shift",
    ]
    walked = list(walk(specimen()))

    assert names(specimen()) == in_order
    assert [field["name"] for _, field in walked] == [n for n in in_order if n != "other_language"]
    assert [path for path, _ in walked[2:8]] == [
        "sections.0.fields.2",
        "sections.0.fields.2.conditional.0",
        "sections.0.fields.2.conditional.1",
        "sections.0.fields.2.conditional.1.conditional.0",
        "sections.1.fields.0",
        "sections.1.fields.1",
    ]


# --- What is not -------------------------------------------------------------------------------


@pytest.mark.slow("many structures")
def test_each_error_is_reported_with_its_path():
    """Every error in a structure with every kind of field. Other paths are not reported."""
    assert clean(specimen()) == specimen()
    wrong = corruptions(specimen())

    for corruption in wrong:
        found = faults(corruption.spoil(specimen()))

        assert corruption.path in found, corruption
        assert corruption.blames_only_its_owner(found), corruption
    assert len(wrong) > 700


def test_all_errors_are_reported():
    bad = text_field("1st", type="select", css="wide", options=[{"value": "a", "label": ""}])

    with pytest.raises(StructureError) as refused:
        clean([section(bad, title=5), section(text_field(required="no"))])
    assert "sections.0.fields.0.options.0.label: Must not be empty." in refused.value.messages
    assert refused.value.faults == {
        "sections.0.title": "Must be text; received 5.",
        "sections.0.fields.0.name": "Must be a letter, then up to 63 letters, digits, hyphens or "
        "underscores; received '1st'.",
        "sections.0.fields.0.css": (
            "Must be one of col-12, col-8, col-6, col-4, col-3; received 'wide'."
        ),
        "sections.0.fields.0.options.0.label": "Must not be empty.",
        "sections.1.fields.0.required": "Must be true or false; received 'no'.",
    }


def test_names_that_are_taken():
    city = [section(text_field("city"))]
    language = text_field("a", type="range", label={"name": "a", "label": "X"})
    by_case = [section(text_field("Name"), text_field("name"))]

    assert clean(by_case) == by_case
    assert faults([section(language)]) == {
        "sections.0.fields.0.label.name": "'a' is also the name of sections.0.fields.0.name."
    }
    assert faults(city, base=city) == {
        "sections.0.fields.0.name": "'city' is also the name of a field of the form that this "
        "form is added after."
    }
    assert faults([section(text_field("privacy_consent"))]) == {
        "sections.0.fields.0.name": (
            "privacy_consent is the name of the consent box that the system adds."
        )
    }


def test_depth_of_conditions_is_limited_by_the_setting():
    deepest = settings.FORM_DEPTH_MAX
    assert clean(chain(deepest)) == chain(deepest)

    path = "sections.0.fields.0" + ".conditional.0" * deepest + ".conditional"
    assert faults(chain(deepest + 1)) == {path: f"Conditions may go {deepest} levels deep."}
    assert list(faults(chain(200))) == [path]


def test_numbers_of_fields_and_options_are_limited():
    fields = [text_field(f"f{n}") for n in range(1_001)]
    options = [{"value": str(n), "label": "X"} for n in range(10_001)]

    assert clean([section(*fields[:1_000])])[0]["fields"] == fields[:1_000]
    assert faults([section(*fields)]) == {"sections": "A form has at most 1000 fields."}
    assert clean([section(text_field(type="select", options=options[:-1]))])
    assert faults([section(text_field(type="select", options=options))]) == {
        "sections.0.fields.0.options": "A field has at most 10000 options; received 10001."
    }


def test_received_values_are_truncated():
    (text,) = faults([section(title={"a": "b" * 1_000})]).values()

    assert re.fullmatch(r"Must be text; received \{'a': 'b{50}\.\.\.\.", text)


KEYS = st.sampled_from(["title", "description", "fields", "name", "type", "label", "options"])
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@search(max_examples=60)
@given(
    st.recursive(
        VALUES, lambda x: st.lists(x, max_size=3) | st.dictionaries(KEYS, x), max_leaves=20
    )
)
def test_any_json_is_valid_or_refused(value):
    try:
        structure = clean(value)
    except StructureError:
        return
    assert clean(structure) == structure
