"""The JSON Schema (2020-12) of a submission of a form, generated from its served sections.

A submission is an object with the values of the completed fields by name, and nothing else.
Required fields must be present. A conditional field may be present, and can be required, only if
its owner has the value that shows it.
"""

from forms_structure.choices import CHECKED, FieldType
from jobsite.types import JsonObject

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = JsonObject

# Patterns match the same in Python and ECMAScript (flags u and, for HTML's `pattern`, v). Classes
# are spelled out, because \s, \d and \w differ. Punctuation in classes is escaped for v. Python's $
# also matches before a final line break, hence (?!\n).
_END = r"$(?!\n)"
# A character that neither Python nor ECMAScript treats as white space.
_FILLED_IN = (
    r"[^\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
)
_ATOM = r"[A-Za-z0-9!#$%&'*+\/=?^_`\{\|\}~\-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
# ASCII with a dot in the domain: every validator of the format "email" accepts it.
_EMAIL = rf"^(?![^@]{{65}}){_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})+{_END}"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
# A calendar date from 0001-01-01 to 9999-12-31.
_DATE = (
    "^(?!0000)(?:[0-9]{4}-(?:"
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP_YEAR}-02-29){_END}"
)
_TEXT: Schema = {"type": "string", "pattern": _FILLED_IN, "maxLength": 200}
# `format` is for renderers; the pattern is validated.
_TEXTS: dict[FieldType, Schema] = {
    FieldType.TEXT: _TEXT,
    FieldType.TEXTAREA: _TEXT | {"maxLength": 10_000},
    FieldType.FILE: _TEXT | {"maxLength": 255},  # the longest name on common file systems
    FieldType.EMAIL: {"type": "string", "format": "email", "pattern": _EMAIL, "maxLength": 254},
    FieldType.TEL: {
        "type": "string",
        "pattern": rf"^\+?[ \(\).\/\-]*[0-9][0-9 \(\).\/\-]*{_END}",
        "minLength": 3,
        "maxLength": 30,
    },
    FieldType.DATE: {"type": "string", "format": "date", "pattern": _DATE, "maxLength": 10},
}


def submission_schema(sections: list[JsonObject], *, address: str) -> Schema:
    """Return the schema of `sections` in the format of the API (2.9).
    `address` becomes its `$id`.
    """
    fields = [field for section in sections for field in section["fields"]]
    return {
        "$schema": DIALECT,
        "$id": address,
        **_rules(fields),
        "unevaluatedProperties": False,
    }


def _rules(fields: list[JsonObject]) -> Schema:
    """Return the rules for `fields` and, nested, for the fields that depend on them."""
    properties: Schema = {}
    required: list[str] = []
    together: dict[str, list[str]] = {}
    conditions: list[Schema] = []
    for field in fields:
        name, label = field["name"], field["label"]
        inputs = [name]
        if isinstance(label, dict):  # an extra language: its name and level require each other
            inputs = [label["name"], name]
            together |= {name: [label["name"]], label["name"]: [name]}
            properties[label["name"]] = {"title": label["label"], **_TEXT}
            label = label["label"]
        properties[name] = {"title": label, **_value(field)}
        if field["required"]:
            required += inputs
        for value in dict.fromkeys(each["on_value"] for each in field.get("conditional", ())):
            shown = [each for each in field["conditional"] if each["on_value"] == value]
            conditions.append({"if": _has(field, value), "then": _rules(shown)})
    rules: Schema = {"type": "object", "properties": properties}
    if required:
        rules["required"] = required
    if together:
        rules["dependentRequired"] = together
    if conditions:
        rules["allOf"] = conditions
    return rules


def _value(field: JsonObject) -> Schema:
    type_ = FieldType(field["type"])
    if type_ == FieldType.CHECKBOX:
        # Not a const: generic renderers prefill a const, and consent must be given by the
        # applicant.
        return {"type": "string", "enum": [CHECKED]}
    if type_ in _TEXTS:
        return dict(_TEXTS[type_])
    options = [{"const": option["value"], "title": option["label"]} for option in field["options"]]
    choice = {"type": "string", "oneOf": options}
    if type_ == FieldType.CHECKBOX_GROUP:
        return {"type": "array", "items": choice, "minItems": 1, "uniqueItems": True}
    return choice


def _has(field: JsonObject, value: str) -> Schema:
    wanted: Schema = {"type": "string", "const": value}
    if field["type"] == FieldType.CHECKBOX_GROUP:
        wanted = {"type": "array", "contains": wanted}
    return {"type": "object", "properties": {field["name"]: wanted}, "required": [field["name"]]}
