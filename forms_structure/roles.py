"""The roles of the fields of a form: which values identify the applicant."""

from collections.abc import Sequence
from copy import deepcopy

from forms_structure.choices import FieldRole
from forms_structure.structure import Field, Section, Structure, walk


def roles(structure: Sequence[Section]) -> dict[str, str]:
    """Return the name of the field with each role: {role: name}."""
    return {field["role"]: field["name"] for _path, field in walk(structure) if "role" in field}


def accepts_applications(structure: Sequence[Section]) -> bool:
    """Whether submissions of the form always have the applicant's e-mail address: a required field
    with the role "email". Such a field is never conditional (`structure.clean`).
    """
    return any(_identifies(field) for section in structure for field in section["fields"])


def _identifies(field: Field) -> bool:
    return field.get("role") == FieldRole.EMAIL and field["required"]


def add_roles(sections: Sequence[Section], structure: Sequence[Section]) -> None:
    """Add the roles of `structure` to `sections`, the same form as served, for an export of the
    form.
    """
    known = {name: role for role, name in roles(structure).items()}
    for _path, field in walk(sections):
        if role := known.get(field["name"]):
            field["role"] = role


def with_roles_of(earlier: Sequence[Section], structure: Structure) -> Structure:
    """Return `structure` with the roles of `earlier`, for fields with the same name and type. A
    structure with roles is returned unchanged. For forms in the format of the API, which has no
    roles.
    """
    if roles(structure):
        return structure
    known = {(field["name"], field["type"]): field.get("role") for _path, field in walk(earlier)}
    copied = deepcopy(structure)
    for _path, field in walk(copied):
        role = known.get((field["name"], field["type"]))
        if role and ("on_value" not in field or FieldRole(role).may_be_conditional):
            field["role"] = role
    return copied


def without_roles(structure: Sequence[Section]) -> Structure:
    """Return a copy of `structure` without roles: what applicants see of it."""
    copied = deepcopy(list(structure))
    for _path, field in walk(copied):
        field.pop("role", None)
    return copied
