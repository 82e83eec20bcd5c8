"""Forms in the JSON of the API: round trip, and errors by path."""

import copy
import json

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as search
from hypothesis import strategies as st

from forms_structure import operations
from forms_structure.exchange import ParsedForm, digest
from forms_structure.roles import add_roles, with_roles_of, without_roles
from forms_structure.structure import StructureError
from tests.factories import make_vacancy
from tests.forms_structure import strategies as made
from tests.forms_structure.strategies import (
    chain,
    corruptions,
    section,
    served,
    specimen,
    structures,
    text_field,
)

CONSENT = {
    "name": "privacy_consent",
    "type": "checkbox",
    "label": "I agree.",
    "required": True,
    "css": "col-12",
}


def faults(sections, **how):
    with pytest.raises(StructureError) as refused:
        ParsedForm(sections, **how)
    return refused.value.faults


# --- What is served ----------------------------------------------------------------------------


@pytest.mark.slow("saves and serves 40 generated forms")
@pytest.mark.django_db
@search(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    structures(roles=["email", "cv"]),
    structures(fields_max=4, prefix="own-", roles=["phone"]) | st.none(),
    st.sampled_from(made.LANGUAGES),
)
def test_served_form_is_parsed_unchanged(client, structure, extension, language):
    """Validated, saved, served and parsed again, a form and its extension are unchanged, without
    roles.
    """
    expected = without_roles(structure + (extension or []))
    with transaction.atomic():
        form = operations.create(name="Form", structure=structure, language=language)
        if extension is not None:
            form = operations.create(
                name="More", structure=extension, extends=form, language=language
            )
        vacancy = make_vacancy(form=form)
        body = client.get(f"/v1/vacancies/{vacancy.pk}/form").json()["data"]
        transaction.set_rollback(True)

    consent = body[-1]["fields"][-1]
    if expected:
        assert json.dumps(body) == json.dumps(served(expected, language, consent))
    reading = ParsedForm(body)
    assert json.dumps(reading.structure) == json.dumps(expected)
    assert reading.consent == consent["label"]
    assert reading.notes == []
    assert reading.language == (language if '"type": "range"' in json.dumps(expected) else None)


@search(max_examples=40)
@given(structures(roles=made.ROLES), st.sampled_from(made.LANGUAGES))
def test_exported_form_keeps_its_roles(structure, language):
    sections = served(without_roles(structure), language)
    add_roles(sections, structure)
    before = copy.deepcopy(sections)

    assert ParsedForm(sections).structure == structure
    assert sections == before  # not modified
    assert with_roles_of(structure, without_roles(structure)) == structure
    assert with_roles_of([], structure) == structure


def test_role_is_kept_only_by_an_equal_field():
    def mail(**values):
        return text_field("mail", type="email", **values)

    earlier = [section(mail(role="email"), text_field("phone", role="phone"))]
    conditional = text_field("box", type="checkbox", conditional=[mail(on_value="1")])
    received = [section(conditional, text_field("phone", type="tel"))]

    assert with_roles_of(earlier, received) == received


# --- Consent -----------------------------------------------------------------------------------


def test_consent_is_separated_from_the_structure():
    linked = CONSENT | {"link": {"label": "Statement", "url": "https://example.com"}, "version": 3}
    city = [section(text_field("city"))]
    readings = {
        "last box": (ParsedForm(served(specimen(), consent=CONSENT)), specimen(), "I agree."),
        "no consent": (ParsedForm(served(specimen())), specimen(), None),
        "link and version": (
            ParsedForm([section(linked, description=None)]),
            [section()],
            "I agree.",
        ),
        "other name in the source": (
            ParsedForm(
                [section(text_field("city"), CONSENT | {"name": "gdpr"})], consent_name="gdpr"
            ),
            city,
            "I agree.",
        ),
    }

    for name, (reading, structure, consent) in readings.items():
        assert (reading.structure, reading.consent) == (structure, consent), name


def test_consent_must_be_a_required_checkbox_and_the_last_field():
    for wrong in ({"type": "text"}, {"required": False}, {"required": "yes"}):
        assert faults([section(text_field(), CONSENT | wrong)]) == {
            "sections.0.fields.1": "The consent must be a required checkbox."
        }
    for sections in ([section(CONSENT, text_field())], [section(CONSENT), section(text_field())]):
        assert list(faults(sections)) == ["sections.0.fields.0.name"]


# --- Language levels ---------------------------------------------------------------------------


def test_language_is_determined_by_the_levels():
    languages = [ParsedForm(served(specimen(), language)).language for language in made.LANGUAGES]

    assert languages == list(made.LANGUAGES)
    assert ParsedForm([section(text_field())]).language is None


def test_other_level_labels_and_levels_in_two_languages_are_noted():
    field = [section(text_field(type="range"))]
    other = served(field)
    other[0]["fields"][0]["options"][0]["label"] = "nope"
    mixed = [*served([section(text_field("a", type="range"))], "nl"), *served(field)]

    reading = ParsedForm(other)

    assert (reading.structure, reading.language) == (field, None)
    assert reading.notes == [
        (
            "the level labels nope, weak, moderate, good, very good, native speaker were replaced by "
            "ours"
        )
    ]
    assert (ParsedForm(mixed).language, len(ParsedForm(mixed).notes)) == (None, 2)


def test_removed_markup_is_noted():
    received = ("<p>Hi<script>x</script></p>", "<p>Hi</p>")
    reading = ParsedForm([section(description=html) for html in received])

    assert [each["description"] for each in reading.structure] == ["<p>Hi</p>", "<p>Hi</p>"]
    assert reading.notes == []
    [(path, change)] = reading.changes
    assert (path, change.message) == ("sections.0.description", "removed 1 <script>")


# --- What is wrong -----------------------------------------------------------------------------


@pytest.mark.slow("many archives")
def test_each_error_is_reported_with_its_path():
    sections = served(specimen(), consent=CONSENT)
    wrong = corruptions(served(specimen()), is_served=True)

    for corruption in wrong:
        found = faults(corruption.spoil(sections))

        assert corruption.path in found, corruption
        assert corruption.blames_only_its_owner(found), corruption
    assert len(wrong) > 700


def test_other_json_and_deeply_nested_forms_are_refused():
    for data in (None, {}, {"data": []}, "x", 5):
        assert list(faults(data)) == ["sections"], data
    assert len(faults(served(chain(300)))) == 1


# --- Digest ------------------------------------------------------------------------------------


def test_digest_is_short_and_distinguishes_similar_values():
    different = ([], [[]], [1], ["1"], [True], [None], [1, 2], ["1,2"], {"1": 2}, {})

    assert len({digest(value) for value in different}) == len(different)
    assert digest([{"a": 1, "b": "é"}]) == digest([{"b": "é", "a": 1}])
    assert len(digest([])) == 16


@search(max_examples=30)
@given(structures(min_sections=1), st.data())
def test_digest_changes_with_any_part(structure, data):
    corruption = data.draw(st.sampled_from(corruptions(structure)))
    spoilt = corruption.spoil(structure)

    is_same = json.dumps(spoilt) == json.dumps(structure)
    assert is_same or "\\ud800" in json.dumps(spoilt) or digest(spoilt) != digest(structure)


def test_entities_in_labels_are_converted_and_reported():
    field = text_field("a", label="Name &amp; address")
    form = ParsedForm([section(field, title="You &amp; us")])
    assert (form.structure[0]["title"], form.structure[0]["fields"][0]["label"]) == (
        "You & us",
        "Name & address",
    )
    assert [(path, change.code) for path, change in form.changes] == [
        ("sections.0.title", "html_entities"),
        ("sections.0.fields.0.label", "html_entities"),
    ]
