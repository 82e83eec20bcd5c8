"""Validation of the values of a submission, with messages for applicants.

The JSON Schema of the form decides what is valid: the one that the API serves. Each error has a
JSON Pointer (RFC 6901) into the document of the client, the keyword that failed, and a message in
the active language.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from applications.submissions.forms import ServedForm
from forms_structure.choices import FieldType
from forms_structure.schema import submission_schema
from forms_structure.structure import HONEYPOT, walk
from jobsite.types import JsonObject
from jobsite.unseen import plain_number, visible
from vacancies.models import SOURCE_MAX

UNKNOWN_MAX = 100  # errors about fields that the form does not have
VALIDATORS_MAX = 32  # compiled schemas that each process keeps

# Of several errors of a value, the applicant sees the first of these.
_ORDER = (
    "unevaluatedProperties",
    "required",
    "dependentRequired",
    "type",
    "minItems",
    "maxLength",
    "minLength",
    "pattern",
    "enum",
    "oneOf",
    "uniqueItems",
)
_RULES = {FieldType.EMAIL: visible, FieldType.TEL: plain_number, FieldType.DATE: plain_number}
_validators: dict[str, Draft202012Validator] = {}

Field = JsonObject


@dataclass(frozen=True)
class AnswerError:
    """An error of a submission. `detail` is in the language of the form. `reason`:
    of `FileError`.
    """

    pointer: str
    keyword: str
    detail: str
    reason: str = ""

    def as_item(self) -> JsonObject:
        return {name: text for name, text in asdict(self).items() if text or name != "reason"}


def pointer(*path: object) -> str:
    """Return the JSON Pointer of a value below `values`."""
    return "".join(
        f"/{str(each).replace('~', '~0').replace('/', '~1')}" for each in ("values", *path)
    )


def cleaned(form: ServedForm, values: JsonObject) -> JsonObject:
    """Return `values` with what people see of those that the schema compares with a pattern."""
    rules = {field["name"]: _RULES.get(field["type"]) for field in every_field(form)}
    found = dict(values)
    for name, value in values.items():
        if isinstance(value, str) and (rule := rules.get(name)) and (plain := rule(value)) != value:
            found[name] = plain
            if not plain:  # nobody sees that it was filled in
                del found[name]
    return found


def field_errors(form: ServedForm, values: JsonObject, files: Collection[str]) -> list[AnswerError]:
    """Return the errors of `values`, one for each value, in the order of the form. `files` has the
    names of the fields for which a file was sent.
    """
    shown = dict(_shown(section_fields(form), values))
    found = _first_errors(form, shown, values)
    for error in _half_sent_files(shown, values, files):
        found.setdefault(error.pointer, error)
    order = {pointer(name): number for number, name in enumerate(shown)}

    def place(error: AnswerError) -> tuple[int, int]:
        parts = error.pointer.split("/")
        return order.get("/".join(parts[:3]), 0), len(parts)

    listed = sorted(found.values(), key=place)
    hidden = dict.fromkeys(name for name in (*values, *files) if name not in shown)
    names = {name for field in every_field(form) for name in _inputs(field)}
    return [*listed, *(_not_shown(name, names) for name in list(hidden)[:UNKNOWN_MAX])]


def _first_errors(
    form: ServedForm, shown: dict[str, Field], values: JsonObject
) -> dict[str, AnswerError]:
    """Return what the schema refuses of the `values` of `shown` fields: one error for a pointer."""
    found: dict[str, AnswerError] = {}
    known = {name: values[name] for name in shown if name in values}
    for path, keyword, detail in _failed(form, shown, known):
        error = AnswerError(pointer(*path), keyword, detail)
        earlier = found.get(error.pointer)
        if earlier is None or _rank(keyword) < _rank(earlier.keyword):
            found[error.pointer] = error
    return found


def _half_sent_files(
    shown: Mapping[str, Field], values: JsonObject, files: Collection[str]
) -> Iterator[AnswerError]:
    """Yield the errors of files that were sent without their names, or named and not sent."""
    for name, field in shown.items():
        is_sent, is_named = name in files, name in values
        if field["type"] == FieldType.FILE and is_sent != is_named:
            text = _("The file is missing.") if is_named else _("The name of the file is missing.")
            yield AnswerError(pointer(name), "required", text)


def file_fields(form: ServedForm) -> set[str]:
    """Return the names of the file fields, also of those that are not shown."""
    return {field["name"] for field in every_field(form) if field["type"] == FieldType.FILE}


def section_fields(form: ServedForm) -> list[Field]:
    return [field for section in form.sections for field in section["fields"]]


def every_field(form: ServedForm) -> Iterator[Field]:
    return (field for _path, field in walk(form.sections))


def _rank(keyword: str) -> int:
    return _ORDER.index(keyword) if keyword in _ORDER else len(_ORDER)


def _inputs(field: Field) -> list[str]:
    """Return the names of the inputs of `field`: an extra language has one for its name, and one
    for its level.
    """
    return (
        [field["label"]["name"], field["name"]]
        if isinstance(field["label"], dict)
        else [field["name"]]
    )


def _shown(fields: list[Field], values: JsonObject) -> Iterator[tuple[str, Field]]:
    """Yield the inputs that an applicant with `values` sees, as (name, field)."""
    for field in fields:
        for name in _inputs(field):
            yield name, field if name == field["name"] else {"type": FieldType.TEXT, "name": name}
        value = values.get(field["name"])
        is_group = field["type"] == FieldType.CHECKBOX_GROUP
        sent = value if is_group and isinstance(value, list) else [None if is_group else value]
        chosen = {each for each in sent if isinstance(each, str)}
        shown = [each for each in field.get("conditional", ()) if each["on_value"] in chosen]
        yield from _shown(shown, values)


def _not_shown(name: str, names: Collection[str]) -> AnswerError:
    if name == HONEYPOT:
        text = _("Leave this field empty.")
    elif name in names:
        text = _("This field does not belong to the other answers.")
    else:
        text = _("The form does not have this field.")
    return AnswerError(pointer(name), "unevaluatedProperties", text)


def _validator(form: ServedForm) -> Draft202012Validator:
    validator = _validators.get(form.version)
    if validator is None:
        if len(_validators) >= VALIDATORS_MAX:
            _validators.clear()
        rules = submission_schema(form.sections, address=f"urn:form:{form.version}")
        validator = _validators[form.version] = _Validator(_with_sets(rules))
    return validator


def _with_sets(rule: Any) -> Any:
    """Return `rule` with the options of each choice as a set, for `_one_of`."""
    if isinstance(rule, list):
        return [_with_sets(each) for each in rule]
    if not isinstance(rule, dict):
        return rule
    return {
        # not a list of names, of a field that is called "oneOf"
        key: frozenset(option["const"] for option in value)
        if key == "oneOf" and isinstance(value, list) and isinstance(value[0], dict)
        else _with_sets(value)
        for key, value in rule.items()
    }


def _one_of(
    _validator: object, options: Any, value: object, _rule: object
) -> Iterator[ValidationError]:
    if not isinstance(value, str) or value not in options:
        yield ValidationError("is not one of the options")


def _contains(
    _validator: object, wanted: Any, value: object, _rule: object
) -> Iterator[ValidationError]:
    if isinstance(value, list) and wanted["const"] not in value:
        yield ValidationError("does not contain the option")


def _unique(
    _validator: object, _is_unique: object, value: Any, _rule: object
) -> Iterator[ValidationError]:
    if isinstance(value, list) and len(set(map(json.dumps, value))) < len(value):
        yield ValidationError("contains an option twice")


# jsonschema compares each ticked box with each option, in Python: 3 s for 600 boxes.
_Validator = extend(
    Draft202012Validator, {"oneOf": _one_of, "contains": _contains, "uniqueItems": _unique}
)


def _failed(
    form: ServedForm, shown: dict[str, Field], values: JsonObject
) -> Iterator[tuple[tuple[object, ...], str, str]]:
    """Yield (path, keyword, message) of each error of `values`, which are those of shown fields."""
    shallow = {name: _shallow(value, shown[name]) for name, value in values.items()}
    for error in _validator(form).iter_errors(shallow):
        path, keyword = tuple(error.absolute_path), str(error.validator)
        if not path:  # of the submission: a field is missing
            for name in _missing(error):
                yield (name,), keyword, _("This field is required.")
        else:
            yield path, keyword, _message(error, keyword, shown[str(path[0])])


def _shallow(value: object, field: Field, *, is_item: bool = False) -> object:
    """Return `value`, or something smaller that is invalid for the same reason.

    No value has nested lists or objects, and a list with more items than there are options is
    invalid. Validating such values would take long, and nested ones exceed Python's limit of
    recursion.
    """
    if isinstance(value, dict):
        return {}
    if isinstance(value, list):
        most = 0 if is_item else len(field.get("options", ())) + 1
        return [_shallow(item, field, is_item=True) for item in value[:most]]
    return value


def _missing(error: ValidationError) -> Iterator[str]:
    """Yield the missing fields that an error of the whole submission is about."""
    rule: Any = error.validator_value
    sent: Any = error.instance
    if error.validator == "required":
        yield from (name for name in rule if name not in sent)
    elif error.validator == "dependentRequired":
        yield from (
            name for owner in rule if owner in sent for name in rule[owner] if name not in sent
        )


def _message(error: ValidationError, keyword: str, field: Field) -> str:
    limit: Any = error.validator_value
    value: Any = error.instance
    type_ = FieldType(field["type"])
    if type_ == FieldType.DATE and isinstance(value, str):  # also of a time, which is too long
        return _("Enter an existing date, such as 2027-01-31.")
    match keyword:
        case "type":
            is_choice = type_ == FieldType.CHECKBOX_GROUP
            return _("Send a list of options.") if is_choice else _("Send text.")
        case "maxLength":
            text = ngettext(
                "Enter at most %(limit)d character (now %(count)d).",
                "Enter at most %(limit)d characters (now %(count)d).",
                limit,
            )
            return text % {"limit": limit, "count": len(value)}
        case "enum":
            return _("Tick this box.")
        case "oneOf":
            return _("Choose one of the options.")
        case "minItems":
            return _("Choose at least one option.")
        case "uniqueItems":
            return _("Choose each option once.")
    return {
        FieldType.EMAIL: _("Enter a valid email address."),
        FieldType.TEL: _("Enter a valid telephone number."),
    }.get(type_, _("This field is required."))


def document_errors(document: JsonObject) -> list[AnswerError]:
    """Return the errors of the members of the JSON document, in the order of the document's
    description.
    """
    types: dict[str, type] = {"version": str, "values": dict, "source": str, "proof": str}
    errors = []
    for name, type_ in types.items():
        if name not in document:
            if name in ("version", "values"):
                errors.append(AnswerError(f"/{name}", "required", _("This member is required.")))
        elif not isinstance(document[name], type_):
            text = _("Send an object.") if type_ is dict else _("Send text.")
            errors.append(AnswerError(f"/{name}", "type", text))
        elif name == "source" and len(document[name]) > SOURCE_MAX:
            text = _("Send at most %(limit)d characters.") % {"limit": SOURCE_MAX}
            errors.append(AnswerError(f"/{name}", "maxLength", text))
    for name in list(document.keys() - types.keys())[:UNKNOWN_MAX]:
        at = pointer(name).removeprefix("/values")
        errors.append(
            AnswerError(at, "additionalProperties", _("The document does not have this member."))
        )
    return errors
