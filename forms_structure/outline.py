"""A form in words, a line for each part of it, so that two versions can be compared by reading."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from forms_structure.structure import Field, Structure
from forms_structure.vocabulary import FieldType, Width
from jobsite.html import visible_text

UNCHANGED, REMOVED, ADDED = " ", "-", "+"


def outline(structure: Structure) -> list[str]:
    """Return the lines of `structure`, indented by two spaces a level."""
    lines = []
    for section in structure:
        lines.append(f"Section: {section['title'] or 'without a title'}")
        if section["description"]:
            lines.append(f"  Text: {visible_text(section['description'])}")
        for field in section["fields"]:
            lines += _field(field, 1)
    return lines


def _field(field: Field, depth: int) -> Iterator[str]:
    label = field["label"]
    if isinstance(label, dict):
        label = f"{label['label']} (asked in {label['name']})"
    kind = FieldType(field["type"]).label.lower()
    needed = "required" if field["required"] else "optional"
    when = f", when {field['on_value']}" if "on_value" in field else ""
    indent = "  " * depth
    width = Width(field["css"]).label.lower()
    yield f"{indent}{label} [{field['name']}]: {kind}, {needed}, {width}{when}"
    for option in field.get("options", ()):
        yield f"{indent}  Option: {option['label']} [{option['value']}]"
    for each in field.get("conditional", ()):
        yield from _field(each, depth + 1)


def difference(before: Structure, after: Structure) -> list[tuple[str, str]]:
    """Return (sign, line) of both outlines in reading order, signs " ", "-" and "+"."""
    old, new = outline(before), outline(after)
    lines: list[tuple[str, str]] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [(UNCHANGED, line) for line in old[a:b]]
        else:
            lines += [(REMOVED, line) for line in old[a:b]] + [(ADDED, line) for line in new[c:d]]
    return lines
