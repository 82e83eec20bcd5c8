"""A form as lines of text, and the difference between two versions."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from forms_structure.choices import FieldRole, FieldType, Width
from forms_structure.structure import Field, Structure
from jobsite.text.html import visible_text

UNCHANGED, REMOVED, ADDED, LEFT_OUT = " ", "-", "+", "…"
CONTEXT_LINES = 2  # unchanged lines shown around what changed
Line = tuple[str, str]  # key, which distinguishes equal texts in two places, and text


def outline(structure: Structure) -> list[str]:
    """Return the lines of `structure`, indented by two spaces per level."""
    return [text for _, text in _lines(structure)]


def difference(before: Structure, after: Structure) -> list[tuple[str, str]]:
    """Return the differences between two structures as (sign, line), with context. Signs are " ", "-", "+",
    and "…" for omitted unchanged lines."""
    old, new = list(_lines(before)), list(_lines(after))
    shown: list[tuple[str, str]] = []
    at = 0  # lines of `new` that were shown or omitted
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        if group[0][3] > at:
            shown.append((LEFT_OUT, ""))
        for kind, a, b, c, d in group:
            if kind == "equal":
                shown += [(UNCHANGED, text) for _, text in new[c:d]]
            else:
                shown += [(REMOVED, text) for _, text in old[a:b]] + [(ADDED, text) for _, text in new[c:d]]
        at = group[-1][4]
    if shown and at < len(new):
        shown.append((LEFT_OUT, ""))
    return shown


def _lines(structure: Structure) -> Iterator[Line]:
    for number, section in enumerate(structure):
        # a section has no name: its first field identifies it
        key = section["fields"][0]["name"] if section["fields"] else str(number)
        yield f"section {key}", _("Section: %(title)s") % {"title": section["title"] or _("without a title")}
        if section["description"]:
            text = visible_text(section["description"])
            yield f"section {key}", "  " + _("Text: %(text)s") % {"text": text}
        for field in section["fields"]:
            yield from _field(field, 1)


def _field(field: Field, depth: int) -> Iterator[Line]:
    name, label = field["name"], field["label"]
    if isinstance(label, dict):
        label = _("%(label)s (asked in %(name)s)") % label
    facts = [
        _within(FieldType(field["type"])),
        _("required") if field["required"] else _("optional"),
        _within(Width(field["css"])),
    ]
    if "role" in field:
        facts.append(_within(FieldRole(field["role"])))
    if "on_value" in field:
        facts.append(_("when %(value)s") % {"value": field["on_value"]})
    indent = "  " * depth
    yield name, f"{indent}{label} [{name}]: {', '.join(facts)}"
    for option in field.get("options", ()):
        yield name, f"{indent}  " + _("Option: %(label)s") % option + f" [{option['value']}]"
    for each in field.get("conditional", ()):
        yield from _field(each, depth + 1)


def _within(choice: FieldType | FieldRole | Width) -> str:
    """Return the label of `choice` for the middle of a line: lower case, except in German."""
    is_german = (get_language() or "").startswith("de")
    return str(choice.label) if is_german else str(choice.label).lower()
