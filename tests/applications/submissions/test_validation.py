"""The server and jsonschema agree on which submissions are valid."""

import json

from jsonschema import Draft202012Validator

from applications.submissions import validation
from applications.submissions.validation import field_errors, file_fields
from forms_structure.schema import submission_schema
from tests.applications.submissions.sending import form_of, make_field
from tests.forms_structure.strategies import section, served, specimen, text_field
from tests.forms_structure.test_schema import CONSENT, all_names
from tests.steps import steps


def errors_of(form, values):
    """Return the errors of `values`, with a file for each named file field."""
    return field_errors(form, values, file_fields(form) & values.keys())


def agrees(form, values):
    """Whether the server and jsonschema agree on `values`, with one useful error for each value."""
    validator = Draft202012Validator(
        submission_schema(form.sections, address="https://example.org/schema")
    )
    errors = errors_of(form, values)
    assert len({error.pointer for error in errors}) == len(errors)
    assert all(error.pointer.startswith("/values/") and error.detail for error in errors)
    named = {error.pointer.split("/")[2] for error in errors}
    broken = {
        str(error.absolute_path[0])
        for error in validator.iter_errors(values)
        if error.absolute_path
    }
    assert broken <= named
    return bool(errors) != validator.is_valid(values)


def test_each_member_of_the_specimen():
    form = form_of(served(specimen(), "en", CONSENT))
    values = {"first_name": "An", "permit": "yes", "english": "5", "privacy_consent": "1"}
    assert errors_of(form, values) == []
    for name in all_names(form.sections):
        for value in (
            None,
            1,
            "",
            " ",
            "yes",
            "no",
            "5",
            [],
            ["yes"],
            ["yes", "yes"],
            {},
            [["yes"]],
        ):
            assert agrees(form, values | {name: value}), (name, value)
        assert agrees(form, {key: each for key, each in values.items() if key != name})


def test_time_in_a_date_field_is_reported_as_an_invalid_date():
    form = form_of([{"title": "", "description": None, "fields": [make_field("birthday", "date")]}])
    [error] = errors_of(form, {"birthday": "2027-01-31T00:00:00.000Z"})
    assert (error.pointer, error.detail) == (
        "/values/birthday",
        "Enter an existing date, such as 2027-01-31.",
    )


def test_large_and_deep_values_are_refused_without_an_error_of_python():
    form = form_of(served(specimen(), "en", CONSENT))
    deep: list = []
    for _ in range(5_000):
        deep = [deep]
    huge = {"first_name": "a" * 10_000_000, "licences": [{}] * 1_000_000, "mail": deep}

    found = {error.pointer: error.keyword for error in errors_of(form, huge)}
    assert found["/values/first_name"] == "maxLength"
    assert found["/values/licences"] == "uniqueItems"
    assert found["/values/mail"] == "type"


def test_work_for_a_group_of_checkboxes_is_proportional_to_its_options():
    def work(count, sent):
        options = [{"value": f"v{number}", "label": "x"} for number in range(count)]
        shown = [text_field(f"c{number}") | {"on_value": f"v{number}"} for number in range(count)]
        group = text_field("boxes") | {
            "type": "checkbox-group",
            "options": options,
            "conditional": shown,
        }
        form = form_of(served([section(group)], "en", CONSENT))
        values = {"boxes": [sent(number) for number in range(count)]}
        errors_of(form, values)  # makes the validator
        return steps(errors_of, form, values)

    for sent in (
        lambda number: f"v{number}",
        lambda number: f"w{number}",
        lambda number: number or "x",
    ):
        assert work(40, sent) < 3 * work(20, sent)


def test_validators_are_kept_by_version_and_bounded(monkeypatch):
    monkeypatch.setattr(validation, "VALIDATORS_MAX", 2)
    validation._validators.clear()
    for number in range(5):
        sections = served(
            [{"title": "", "description": "", "fields": [text_field(f"f{number}")]}], "en", CONSENT
        )
        form = form_of(json.loads(json.dumps(sections)))
        for _ in range(2):
            errors_of(form, {})
    assert len(validation._validators) <= 2
