"""The structure of a form and its validation, for the builder, the import, the demo and the model
field.

A structure is the stored part of a form: JSON data with the keys of the API (2.9), without
generated parts.

    section      {"title", "description", "fields": [field]}        description: HTML or ""
    field        {"name", "type", "label", "required", "css" [, "role"]
                  [, "options": [option]] [, "conditional": [field]] [, "on_value"]}
    label        text; for a range of another language {"name", "label"}: a text input for its name
    role         a `FieldRole`, at most once in a form; for this service, not part of the API
    option       {"value", "label"}, only for types with `FieldType.has_options`

A conditional field is nested in its owner, so cycles and orphans cannot be expressed.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import TextChoices
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from forms_structure.choices import FieldRole, FieldType, Width
from jobsite.text.html import check_size, sanitise
from jobsite.types import JsonObject

Choice = TypeVar("Choice", bound=TextChoices)
Section = JsonObject
Field = JsonObject
Structure = list[Section]

CONSENT = "privacy_consent"  # the name of the field that the system generates
# A field that renderers hide from people. Only programs that fill in everything send it: spam.
HONEYPOT = "contact_me_by_fax"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
FIELDS_MAX = 1_000
OPTIONS_MAX = 10_000  # of one field
SIZE_MAX = 2_000_000  # bytes of JSON
TITLE_MAX, LABEL_MAX, VALUE_MAX, DESCRIPTION_MAX = 300, 2_000, 200, 50_000
NO_TEXT = re.compile(r"[\x00\ud800-\udfff]")  # characters that databases or UTF-8 cannot represent
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class StructureError(ValidationError):
    """An invalid structure. `faults` has the messages by path ("sections.0.fields.2.name")."""

    def __init__(self, faults: dict[str, str]) -> None:
        self.faults = faults
        super().__init__([f"{path}: {text}" for path, text in faults.items()])


def clean(sections: object, *, base: Sequence[Section] = ()) -> Structure:
    """Return `sections` validated, with keys in canonical order and sanitised descriptions.

    `base` is the structure of the form that this one extends. Raise StructureError with all errors.
    """
    checker = _Checker(base)
    structure = checker.sections(sections)
    if (
        not checker.faults
        and (size := len(json.dumps(structure, ensure_ascii=False).encode())) > SIZE_MAX
    ):
        text = _("A form has at most %(most)s bytes as JSON; this one has %(size)s.")
        checker.fault("sections", text, most=grouped(SIZE_MAX), size=grouped(size))
    if checker.faults:
        raise StructureError(checker.faults)
    return structure


def walk(structure: Sequence[Section]) -> Iterator[tuple[str, Field]]:
    """Yield (path, field) of every field, owners before their conditional fields."""

    def below(fields: list[Field], path: str) -> Iterator[tuple[str, Field]]:
        for number, field in enumerate(fields):
            at = f"{path}.{number}"
            yield at, field
            yield from below(field.get("conditional", []), f"{at}.conditional")

    for number, section in enumerate(structure):
        yield from below(section["fields"], f"sections.{number}.fields")


def names(structure: Sequence[Section]) -> list[str]:
    """Return the names of all fields in order, including those of label inputs."""
    found = []
    for _path, field in walk(structure):
        found.append(field["name"])
        if isinstance(field["label"], dict):
            found.append(field["label"]["name"])
    return found


class _Checker:
    """Validates a structure and collects messages by path in `faults`."""

    def __init__(self, base: Sequence[Section]) -> None:
        self.faults: dict[str, str] = {}
        # the path of each name and each role; "" for those of the extended form
        self.names = dict.fromkeys(names(base), "")
        self.roles = {field["role"]: "" for _path, field in walk(base) if "role" in field}
        self.fields_seen = 0

    def sections(self, value: object) -> Structure:
        return [
            self.section(item, f"sections.{n}")
            for n, item in enumerate(self.array(value, "sections"))
        ]

    def section(self, value: object, path: str) -> Section:
        keys = self.keys(value, path, ("title", "description", "fields"))
        return {
            "title": self.text(keys["title"], f"{path}.title", TITLE_MAX, empty=True),
            "description": self.html(keys["description"], f"{path}.description"),
            "fields": self.fields(keys["fields"], f"{path}.fields"),
        }

    def fields(
        self, value: object, path: str, depth: int = 0, values: Collection[str] | None = None
    ) -> list:
        """Validate the fields at `path`. `values` are those of the owner of conditional fields."""
        if depth > settings.FORM_DEPTH_MAX:
            most = settings.FORM_DEPTH_MAX
            text = ngettext(
                "Conditions may go %(most)s level deep.",
                "Conditions may go %(most)s levels deep.",
                most,
            )
            self.fault(path, text, most=most)
            return []
        return [
            self.field(item, f"{path}.{n}", depth, values)
            for n, item in enumerate(self.array(value, path))
        ]

    def field(self, value: object, path: str, depth: int, values: Collection[str] | None) -> Field:
        self.fields_seen += 1
        if self.fields_seen > FIELDS_MAX:
            self.fault("sections", _("A form has at most %(most)s fields."), most=FIELDS_MAX)
            return {}
        wanted: tuple[str, ...] = ("name", "type", "label", "required", "css")
        if values is not None:
            wanted = (*wanted, "on_value")
        keys = self.keys(value, path, wanted, ("role", "options", "conditional"))
        type_ = self.choice(keys["type"], f"{path}.type", FieldType)
        field: Field = {
            "name": self.name(keys["name"], f"{path}.name"),
            "type": keys["type"],
            "label": self.label(keys["label"], f"{path}.label", type_),
            "required": self.flag(keys["required"], f"{path}.required"),
            "css": keys["css"],
        }
        self.choice(keys["css"], f"{path}.css", Width)
        if "role" in keys:
            field["role"] = self.role(
                keys["role"],
                f"{path}.role",
                type_,
                is_conditional=values is not None,
                is_required=field["required"],
            )
        if type_:
            field |= self.depending(keys, path, depth, type_)
        elif "conditional" in keys:
            field |= self.conditional(keys["conditional"], f"{path}.conditional", depth, ())
        if values is not None:
            field["on_value"] = self.on_value(keys["on_value"], f"{path}.on_value", values)
        return field

    def depending(self, keys: JsonObject, path: str, depth: int, type_: FieldType) -> Field:
        """Return the options and conditional fields of a field of the type `type_`."""
        found: Field = {}
        values: Collection[str] = type_.fixed_values
        if type_.has_options:
            found["options"] = self.options(keys.get("options", []), f"{path}.options")
            values = [option["value"] for option in found["options"]]
        elif "options" in keys:
            text = _("A %(type)s field has no options of its own.")
            self.fault(f"{path}.options", text, type=type_)
        if "conditional" in keys and not type_.is_conditional_owner:
            text = _("Nothing can depend on a %(type)s field: it has no options.")
            self.fault(f"{path}.conditional", text, type=type_)
        elif "conditional" in keys:
            found |= self.conditional(keys["conditional"], f"{path}.conditional", depth, values)
        return found

    def conditional(self, value: object, path: str, depth: int, values: Collection[str]) -> Field:
        fields = self.fields(value, path, depth + 1, values)
        return {"conditional": fields} if fields else {}

    def on_value(self, value: object, path: str, values: Collection[str]) -> object:
        if value is not _MISSING and value not in values:
            text = _("Must be a value of the field it depends on (%(values)s); received %(value)s.")
            self.fault(path, text, values=format_list(values), value=format_value(value))
        return value

    def label(self, value: object, path: str, type_: FieldType | None) -> str | JsonObject:
        if not isinstance(value, dict):
            return self.text(value, path, LABEL_MAX)
        if type_ and type_ != FieldType.RANGE:
            text = _("Must be text: only a range asks for its label. Received %(value)s.")
            self.fault(path, text, value=format_value(value))
            return value
        keys = self.keys(value, path, ("name", "label"))
        return {
            "name": self.name(keys["name"], f"{path}.name"),
            "label": self.text(keys["label"], f"{path}.label", LABEL_MAX),
        }

    def options(self, value: object, path: str) -> list[JsonObject]:
        items = self.array(value, path)
        if value == []:
            self.fault(path, _("Needs at least one option."))
        if len(items) > OPTIONS_MAX:
            text = _("A field has at most %(most)s options; received %(count)s.")
            self.fault(path, text, most=OPTIONS_MAX, count=len(items))
            return []
        options, seen = [], set()
        for number, item in enumerate(items):
            at = f"{path}.{number}"
            keys = self.keys(item, at, ("value", "label"))
            option = {
                "value": self.text(keys["value"], f"{at}.value", VALUE_MAX),
                "label": self.text(keys["label"], f"{at}.label", LABEL_MAX),
            }
            if option["value"] in seen:
                text = _("%(value)s is also the value of an earlier option.")
                self.fault(f"{at}.value", text, value=format_value(option["value"]))
            seen.add(option["value"])
            options.append(option)
        return options

    def role(
        self,
        value: object,
        path: str,
        type_: FieldType | None,
        *,
        is_conditional: bool,
        is_required: bool,
    ) -> str:
        role = self.choice(value, path, FieldRole)
        if role is None:
            return ""
        if type_ and type_ not in role.types:
            text = _("A %(type)s field cannot have the role %(role)s; allowed are %(types)s.")
            self.fault(path, text, type=type_, role=role, types=format_list(role.types))
        elif is_conditional and not role.may_be_conditional:
            text = _(
                "A conditional field cannot have the role %(role)s: it is not always filled in."
            )
            self.fault(path, text, role=role)
        elif is_required and not role.may_be_required:
            text = _("A field with the role %(role)s cannot be required: a consent is free.")
            self.fault(path, text, role=role)
        elif other := self.roles.get(role):
            self.fault(path, _("%(other)s also has the role %(role)s."), role=role, other=other)
        elif role in self.roles:
            text = _(
                "A field of the form that this form is added after also has the role %(role)s."
            )
            self.fault(path, text, role=role)
        else:
            self.roles[role] = path
        return str(role)

    # --- single values ---

    def name(self, value: object, path: str) -> str:
        if value is _MISSING:
            return ""
        if not isinstance(value, str) or not NAME.fullmatch(value):
            text = _(
                "Must be a letter, then up to 63 letters, digits, hyphens or underscores; "
                "received %(value)s."
            )
            self.fault(path, text, value=format_value(value))
        elif value == CONSENT:
            text = _("%(name)s is the name of the consent box that the system adds.")
            self.fault(path, text, name=CONSENT)
        elif value == HONEYPOT:
            text = _("%(name)s is the name of the hidden field that detects spam.")
            self.fault(path, text, name=HONEYPOT)
        elif other := self.names.get(value):
            text = _("%(name)s is also the name of %(other)s.")
            self.fault(path, text, name=format_value(value), other=other)
        elif value in self.names:
            text = _(
                "%(name)s is also the name of a field of the form that this form is added after."
            )
            self.fault(path, text, name=format_value(value))
        else:
            self.names[value] = path
        return str(value)

    def text(self, value: object, path: str, longest: int, *, empty: bool = False) -> str:
        if value is _MISSING:
            return ""
        if not isinstance(value, str):
            self.fault(path, _("Must be text; received %(value)s."), value=format_value(value))
        elif _CONTROL.search(value):
            text = _("Must be one line without control characters; received %(value)s.")
            self.fault(path, text, value=format_value(value))
        elif len(value) > longest:
            self.too_long(path, value, longest)
        elif not empty and not value.strip():
            self.fault(path, _("Must not be empty."))
        return str(value)

    def html(self, value: object, path: str) -> str:
        if value is _MISSING:
            return ""
        if not isinstance(value, str) or NO_TEXT.search(value):
            self.fault(path, _("Must be text; received %(value)s."), value=format_value(value))
            return ""
        if len(value) > DESCRIPTION_MAX:
            self.too_long(path, value, DESCRIPTION_MAX)
            return ""
        try:
            check_size(value)
        except ValidationError as error:
            self.fault(path, error.messages[0].replace("%", "%%"))
        return str(sanitise(value))

    def too_long(self, path: str, value: str, longest: int) -> None:
        text = _("Must have at most %(most)s characters; received %(count)s.")
        self.fault(path, text, most=longest, count=len(value))

    def flag(self, value: object, path: str) -> bool:
        if value is not _MISSING and not isinstance(value, bool):
            self.fault(
                path, _("Must be true or false; received %(value)s."), value=format_value(value)
            )
        return bool(value)

    def choice(self, value: object, path: str, allowed: type[Choice]) -> Choice | None:
        if value is _MISSING:
            return None
        if not isinstance(value, str) or value not in allowed.values:
            text = _("Must be one of %(values)s; received %(value)s.")
            self.fault(path, text, values=format_list(allowed.values), value=format_value(value))
            return None
        return allowed(value)

    def array(self, value: object, path: str) -> list[object]:
        if isinstance(value, list):
            return value
        if value is not _MISSING:
            self.fault(path, _("Must be a list; received %(value)s."), value=format_value(value))
        return []

    def keys(
        self, value: object, path: str, wanted: Collection[str], allowed: Collection[str] = ()
    ) -> JsonObject:
        """Return the members of the object `value`. Missing `wanted` members are _MISSING."""
        if not isinstance(value, dict):
            text = _("Must be an object with %(keys)s; received %(value)s.")
            self.fault(path, text, keys=format_list(wanted), value=format_value(value))
            return dict.fromkeys(wanted, _MISSING)
        for key in value:
            if key not in wanted and key not in allowed:
                known = format_list([*wanted, *allowed])
                self.fault(f"{path}.{key}", _("Unknown; allowed are %(keys)s."), keys=known)
        for key in wanted:
            if key not in value:
                self.fault(f"{path}.{key}", _("Is missing."))
        return {**dict.fromkeys(wanted, _MISSING), **value}

    def fault(self, path: str, text: str, **values: object) -> None:
        self.faults.setdefault(path, text % values)


_MISSING: Any = type(
    "Missing", (), {"__repr__": lambda self: "nothing", "__bool__": lambda self: False}
)()


def grouped(number: int) -> str:
    """Return `number` with thousands separators in the active language."""
    return number_format(number, force_grouping=True)


def format_value(value: object) -> str:
    """Return a received value for an error message: one line, truncated."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def format_list(values: Collection[str]) -> str:
    """Return values for an error message: at most twelve."""
    some = ", ".join(list(values)[:12])
    return some + (", ..." if len(values) > 12 else "")
