"""Roles of fields: which field may have which, and which forms accept applications."""

from itertools import product

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as search
from hypothesis import strategies as st

from forms_structure import operations
from forms_structure.choices import FieldType, Language
from forms_structure.models import Form
from forms_structure.presets import presets
from forms_structure.roles import accepts_applications, roles
from forms_structure.structure import StructureError, clean
from tests.forms_structure.strategies import ROLES, section, structures, text_field

AT = "sections.0.fields.0"


def with_role(role, type_="text", name="a", **values):
    return text_field(name, type=type_, role=role, **values)


def address(name="mail", **values):
    return with_role("email", "email", name, required=True, **values)


def faults(structure, **how):
    with pytest.raises(StructureError) as refused:
        clean(structure, **how)
    return refused.value.faults


def test_role_fits_the_type():
    for role, type_ in product(ROLES, FieldType.values):
        options = (
            {"options": [{"value": "x", "label": "X"}]} if FieldType(type_).has_options else {}
        )
        structure = [section(with_role(role, type_, **options))]
        if type_ in ROLES[role]:
            assert clean(structure) == structure
        else:
            allowed = ", ".join(ROLES[role])
            message = f"A {type_} field cannot have the role {role}; allowed are {allowed}."
            assert faults(structure) == {f"{AT}.role": message}


def test_role_is_one_of_the_list():
    for value in ("", None, "name", "Email", 5, ["email"], {}):
        assert list(faults([section(with_role(value, "email"))])) == [f"{AT}.role"], value


def test_role_occurs_once_in_a_form_and_its_base():
    twice = [section(address(), with_role("email", "email", "other"))]

    assert faults(twice) == {"sections.0.fields.1.role": f"{AT}.role also has the role email."}
    assert faults([section(with_role("email", "email", "other"))], base=[section(address())]) == {
        f"{AT}.role": "A field of the form that this form is added after also has the role email."
    }


def test_conditional_field_cannot_identify_the_applicant():
    def shown_by_a_box(field):
        return [section(text_field(type="checkbox", conditional=[field | {"on_value": "1"}]))]

    assert faults(shown_by_a_box(address())) == {
        f"{AT}.conditional.0.role": "A conditional field cannot have the role email: it is not "
        "always filled in."
    }
    phone = shown_by_a_box(with_role("phone", "tel"))
    assert clean(phone) == phone
    assert roles([*phone, section(address(), text_field())]) == {"phone": "a", "email": "mail"}


def test_consent_to_the_talent_pool_is_free():
    required = [section(with_role("pool", "checkbox", required=True))]
    assert faults(required) == {
        f"{AT}.role": "A field with the role pool cannot be required: a consent is free."
    }


def test_form_accepts_applications_with_a_required_address():
    for structure, expected in (
        ([], False),
        ([section(text_field(type="email", required=True))], False),
        ([section(address() | {"required": False})], False),
        ([section(with_role("phone", "tel", required=True))], False),
        ([section(), section(text_field(), address())], True),
    ):
        assert clean(structure) == structure
        assert accepts_applications(structure) is expected, structure


@pytest.mark.slow("many cases")
@pytest.mark.each_database
@pytest.mark.django_db
@search(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(structures(fields_max=4, roles=["email"]), min_size=1, max_size=5), st.data())
def test_accepting_forms_are_the_same_in_sql(drawn, data):
    with transaction.atomic():
        bases = [
            operations.create(name=f"Base {n}", structure=each) for n, each in enumerate(drawn)
        ]
        own = [section(address(name="own-mail"))]
        for number, base in enumerate(bases):
            structure = data.draw(
                st.sampled_from([[], own if "email" not in roles(base.structure) else []])
            )
            operations.create(name=f"More {number}", structure=structure, extends=base)
        found = set(Form.objects.accepting_applications())
        expected = {
            form for form in Form.objects.all() if accepts_applications(form.whole_structure)
        }
        transaction.set_rollback(True)

    assert found == expected


def test_presets_have_all_roles():
    for language in Language.values:
        sections = [preset["section"] for preset in presets(language)]

        assert clean(sections) == sections
        assert set(roles(sections)) == set(ROLES), language
        assert accepts_applications(sections)
