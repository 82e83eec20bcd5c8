"""Shapes of the API: the keys of each object, their order and types."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

Finding = tuple[str, Any]  # what was expected, what came
DATETIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
OPTIONAL = ("brand", "attachments", "history")
KEYWORDS = (
    "functiongroup", "types", "contract_types", "work_regimes", "regions",
    "jobcustom1_values", "jobcustom2_values", "jobcustom3_values", "jobcustom4_values",
)  # fmt: skip


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def is_url(value: Any) -> bool:
    return isinstance(value, str) and re.match(r"https?://[^/\s]", value) is not None


def is_datetime(value: Any) -> bool:
    return isinstance(value, str) and DATETIME.fullmatch(value) is not None


# Description in a breach -> predicate.
KINDS: dict[str, Callable[[Any], bool]] = {
    "a whole number from 1": is_id,
    "text": is_text,
    "text, or empty": lambda value: isinstance(value, str),
    "text or null": lambda value: value is None or is_text(value),
    "true or false": lambda value: isinstance(value, bool),
    "a list of texts": is_texts,
    "a list of texts, or null when there are none": lambda value: (
        value is None or (is_texts(value) and value != [])
    ),
    "an absolute URL or null": lambda value: value is None or is_url(value),
    "an absolute URL, or empty": lambda value: value == "" or is_url(value),
    "an absolute URL": is_url,
    "YYYY-MM-DD HH:MM:SS": is_datetime,
    "an object": lambda value: isinstance(value, dict),
    "a list that is not empty": lambda value: isinstance(value, list) and value != [],
    "a list that is not empty, or null": lambda value: (
        value is None or (isinstance(value, list) and value != [])
    ),
    "a list": lambda value: isinstance(value, list),
    "text or an object": lambda value: is_text(value) or isinstance(value, dict),
}
(
    NUMBER,
    TEXT,
    ANY_TEXT,
    TEXT_OR_NULL,
    FLAG,
    TEXTS,
    TEXTS_OR_NULL,
    URL_OR_NULL,
    ANY_URL,
    URL,
    TIMESTAMP,
    OBJECT,
) = list(KINDS)[:12]
FILLED, FILLED_OR_NULL, LIST, TEXT_OR_OBJECT = list(KINDS)[12:]

_HTML = ("description", "profile", "offer", "contact", "company")
VACANCY = {
    "id": NUMBER, "title": TEXT, "title_internal": TEXT, "slug": TEXT, "brand": OBJECT,
    "is_hot": FLAG, "is_permanent": FLAG, "functiongroup": TEXT_OR_NULL,
    "types": TEXTS_OR_NULL, "contract_types": TEXTS_OR_NULL, "work_regimes": TEXTS_OR_NULL, "regions": TEXTS,
    "jobcustom1_values": TEXTS, "jobcustom2_values": TEXTS,
    "jobcustom3_values": TEXTS, "jobcustom4_values": TEXTS,
    "location": TEXT_OR_NULL, "description": TEXT_OR_NULL, "short_description": TEXT_OR_NULL,
    "profile": TEXT_OR_NULL, "offer": TEXT_OR_NULL, "contact": TEXT_OR_NULL, "company": TEXT_OR_NULL,
    "postcustom1": TEXT_OR_NULL, "image": URL_OR_NULL, "video": TEXT_OR_NULL, "attachments": FILLED,
    "head_recruiter": OBJECT, "recruiters": FILLED_OR_NULL, "updated_at": TIMESTAMP, "created_at": TIMESTAMP,
    "apply_url": URL_OR_NULL,
}  # fmt: skip
APPLICATION = VACANCY | {"status": ANY_TEXT, "is_spontaneous": FLAG, "history": LIST}
STEP = {
    "name": TEXT,
    "result": ANY_TEXT,
    "planned_at": TEXT,
    "updated_at": TIMESTAMP,
    "created_at": TIMESTAMP,
}
VACANCY_V0_1 = {
    "id": NUMBER, "title": TEXT, "slug": TEXT, "brand": OBJECT, "is_hot": FLAG, "functiongroup": TEXT_OR_NULL,
    "type": TEXT_OR_NULL, "contract_type": TEXT_OR_NULL, "work_regime": TEXT_OR_NULL, "regions": TEXTS,
    "location": TEXT_OR_NULL, **dict.fromkeys(_HTML, TEXT_OR_NULL), "attachments": FILLED,
    "updated_at": TIMESTAMP, "created_at": TIMESTAMP,
}  # fmt: skip
SINGLES = {"type": "types", "contract_type": "contract_types", "work_regime": "work_regimes"}  # v0.1 -> v1
BRAND = {"name": TEXT, "description": ANY_TEXT, "icons": OBJECT, "url": ANY_URL}
ICONS = {"small": ANY_URL, "large": ANY_URL}
ATTACHMENT = {"name": TEXT, "path": URL}
RECRUITER = {
    "id": NUMBER, "name": TEXT, "function": TEXT_OR_NULL, "email": TEXT_OR_NULL, "phone": TEXT_OR_NULL,
    "image": URL_OR_NULL,
}  # fmt: skip
FILTER = {"id": NUMBER, "label": TEXT, "keyword": TEXT, "options": FILLED}
OPTION = {"value": TEXT, "label": TEXT, "count": NUMBER}
_NESTED = {
    "brand": BRAND, "icons": ICONS, "attachments": ATTACHMENT,
    "head_recruiter": RECRUITER, "recruiters": RECRUITER,
    "options": OPTION,
}  # fmt: skip

SECTION = {"title": ANY_TEXT, "description": TEXT_OR_NULL, "fields": LIST}
FIELD = {
    "name": TEXT, "type": TEXT, "label": TEXT_OR_OBJECT, "required": FLAG, "css": ANY_TEXT,
    "options": FILLED, "conditional": FILLED, "on_value": TEXT, "link": OBJECT, "version": NUMBER,
}  # fmt: skip
_FIELD_OPTIONAL = ("options", "conditional", "on_value", "link", "version")
_LABEL_INPUT = {"name": TEXT, "type": TEXT, "label": TEXT}
_FIELD_NESTED = {
    "label": _LABEL_INPUT, "options": {"name": TEXT, "value": TEXT, "label": TEXT},
    "link": {"label": TEXT, "url": URL},
}  # fmt: skip
FORM_SCHEMA = {"version": TEXT, "schema": OBJECT}
DIALECT = "https://json-schema.org/draft/2020-12/schema"
LEVELS = ["0", "1", "2", "3", "4", "5"]
_WITH_OPTIONS = ("select", "range", "checkbox-group")


def shape(
    value: Any,
    keys: dict[str, str],
    where: str = "item",
    *,
    optional: Collection[str] = OPTIONAL,
    nested: Mapping[str, dict[str, str]] = _NESTED,
) -> Iterator[Finding]:
    """Yield the differences between `value` and an object of `keys`. Further keys are allowed (`extra`)."""
    if not isinstance(value, dict):
        yield f"{where} to be an object", value
        return
    if missing := [key for key in keys if key not in value and key not in optional]:
        yield f"{where} to have the key {missing[0]}", list(value)
    known = [key for key in value if key in keys]
    if known != [key for key in keys if key in value]:
        yield (
            f"the keys of {where} in the order {', '.join(key for key in keys if key in value)}",
            ", ".join(known),
        )
    for key in known:
        if not KINDS[keys[key]](value[key]):
            yield f"{where}.{key} to be {keys[key]}", value[key]
        elif key in nested and value[key] is not None and not isinstance(value[key], str):
            for member in value[key] if isinstance(value[key], list) else [value[key]]:
                yield from shape(member, nested[key], f"{where}.{key}", optional=optional, nested=nested)


def extra(value: Any, keys: dict[str, str]) -> list[str]:
    """Return the keys of `value` that are not in `keys`. They are allowed: changes are additive."""
    return [key for key in value if key not in keys] if isinstance(value, dict) else []


def vacancy(item: Any, keys: dict[str, str]) -> Iterator[Finding]:
    """Yield the violations of a vacancy of `keys`, including its slug."""
    yield from shape(item, keys)
    if isinstance(item, dict) and is_id(item.get("id")) and isinstance(item.get("slug"), str):
        slug = item["slug"]
        if not re.fullmatch(rf"([-a-z0-9_]+-)?\({item['id']}\)", slug):
            yield (
                "slug to be an ASCII slug that ends with the id in round brackets",
                {"id": item["id"], "slug": slug},
            )


def form(sections: list[Any]) -> Iterator[Finding]:
    """Yield the violations of the sections of a form: parts, names, conditions, the consent."""
    names: list[Any] = []
    for section in sections:
        findings = list(shape(section, SECTION, "section"))
        yield from findings
        for field in section["fields"] if not findings else ():
            yield from _field(field, names)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        yield "each name once in the whole form, label inputs included", twice
    fields = sections[-1].get("fields") if sections and isinstance(sections[-1], dict) else None
    last = fields[-1] if isinstance(fields, list) and fields else None
    is_consent = isinstance(last, dict) and last.get("type") == "checkbox" and last.get("required") is True
    if not is_consent:
        yield "the consent, a required checkbox, as the last field of the last section", last


def _field(field: Any, names: list[Any], owner: dict[str, Any] | None = None) -> Iterator[Finding]:
    """Yield the violations of a field, which depends on `owner`, and of its conditional fields."""
    findings = list(shape(field, FIELD, "field", optional=_FIELD_OPTIONAL, nested=_FIELD_NESTED))
    yield from findings
    if findings:
        return
    name, label, options = field["name"], field["label"], field.get("options", [])
    names.append(name)
    if not re.fullmatch("[-A-Za-z0-9_]+", name, re.ASCII):
        yield "a name of ASCII letters, digits, hyphens and underscores", name
    if isinstance(label, dict):
        names.append(label["name"])
        if field["type"] != "range" or label["type"] != "text":
            yield "an object with a text input as the label of a range only", field
    if field["type"] in _WITH_OPTIONS and not options:
        yield f"options for {field['type']}", field
    if any(option["name"] != name for option in options):
        yield "options with the name of their field", field
    values = [option["value"] for option in options]
    if len(set(values)) < len(values):
        yield "each option of a field once", values
    if field["type"] == "range" and values != LEVELS:
        yield f"the options {', '.join(LEVELS)} for range, in this order", values
    if owner is None and "on_value" in field:
        yield "no on_value but for a conditional field", field
    if owner is not None:
        chosen = (
            ["1"] if owner["type"] == "checkbox" else [each["value"] for each in owner.get("options", [])]
        )
        if field.get("on_value") not in chosen:
            yield 'on_value to be a value of the field that it depends on (a checkbox: "1")', field
    for each in field.get("conditional", []):
        yield from _field(each, names, field)
