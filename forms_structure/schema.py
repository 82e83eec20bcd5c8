"""The JSON Schema (2020-12) of a valid submission of a form, made from the sections as they are served.

The rules, read straight: a submission is an object with the value of every field that was filled in,
by its name, and nothing else. A required field is there. A conditional field is there only while its
owner has the value that shows it, and only then can it be required.
"""

from typing import Any

from forms_structure.vocabulary import CHECKED, FieldType

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_FILLED_IN = r"\S"
# Only what every engine of regular expressions knows. Python's $ matches before a last line end too,
# hence the lengths and what a text must not have.
_RULES: dict[FieldType, Schema] = {
    FieldType.EMAIL: {"pattern": "^[^@]+@[^@]+$", "not": {"pattern": r"\s"}},
    FieldType.TEL: {
        "pattern": r"^\+?[ ()./-]*[0-9][0-9 ()./-]*$",
        "not": {"pattern": r"\n"},
        "minLength": 3,
        "maxLength": 30,
    },
    FieldType.DATE: {
        "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
        "maxLength": 10,
    },
}
_FORMATS = {FieldType.EMAIL: "email", FieldType.DATE: "date"}


def submission_schema(sections: list[dict[str, Any]], *, address: str) -> Schema:
    """Return the schema for `sections`, as interface 2.9 has them; `address` becomes its `$id`."""
    fields = [field for section in sections for field in section["fields"]]
    return {
        "$schema": DIALECT,
        "$id": address,
        "type": "object",
        **_rules(fields),
        "unevaluatedProperties": False,
    }


def _rules(fields: list[dict[str, Any]]) -> Schema:
    """What holds for fields that show together, and for those that depend on them."""
    properties: Schema = {}
    required: list[str] = []
    together: dict[str, list[str]] = {}
    conditions: list[Schema] = []
    for field in fields:
        name, label = field["name"], field["label"]
        asked = [name]
        if isinstance(label, dict):  # an extra language: its name and its level come together
            asked = [label["name"], name]
            together |= {name: [label["name"]], label["name"]: [name]}
            properties[label["name"]] = {"title": label["label"], "type": "string", "pattern": _FILLED_IN}
            label = label["label"]
        properties[name] = {"title": label, **_value(field)}
        if field["required"]:
            required += asked
        for value in dict.fromkeys(each["on_value"] for each in field.get("conditional", ())):
            shown = [each for each in field["conditional"] if each["on_value"] == value]
            conditions.append({"if": _has(field, value), "then": _rules(shown)})
    rules: Schema = {"properties": properties}
    if required:
        rules["required"] = required
    if together:
        rules["dependentRequired"] = together
    if conditions:
        rules["allOf"] = conditions
    return rules


def _value(field: dict[str, Any]) -> Schema:
    values = [option["value"] for option in field.get("options", ())]
    type_ = FieldType(field["type"])
    if type_ == FieldType.CHECKBOX_GROUP:
        return {"type": "array", "items": {"enum": values}, "minItems": 1, "uniqueItems": True}
    if type_ == FieldType.CHECKBOX:
        return {"const": CHECKED}
    if values:
        return {"enum": values}
    rules: Schema = {"type": "string", **_RULES.get(type_, {"pattern": _FILLED_IN})}
    return rules | ({"format": _FORMATS[type_]} if type_ in _FORMATS else {})


def _has(field: dict[str, Any], value: str) -> Schema:
    is_many = field["type"] == FieldType.CHECKBOX_GROUP
    wanted = {"contains": {"const": value}} if is_many else {"const": value}
    return {"properties": {field["name"]: wanted}, "required": [field["name"]]}
