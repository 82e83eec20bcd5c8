"""A form as lines of text, and the difference between two versions."""

from bisect import bisect_left
from collections.abc import Iterator

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
    """Return the differences between two structures as (sign, line), with context. Signs are " ",
    "-", "+", and "…" for omitted unchanged lines.
    """
    signed = _signed(list(_lines(before)), list(_lines(after)))
    changed = [number for number, (sign, _) in enumerate(signed) if sign != UNCHANGED]
    near = {each + step for each in changed for step in range(-CONTEXT_LINES, CONTEXT_LINES + 1)}
    shown: list[tuple[str, str]] = []
    for number, line in enumerate(signed):
        if number in near:
            shown.append(line)
        elif changed and (not shown or shown[-1] != (LEFT_OUT, "")):
            shown.append((LEFT_OUT, ""))
    return shown


def _signed(old: list[Line], new: list[Line]) -> list[tuple[str, str]]:
    """Return all lines of `old` and `new`, each with its sign."""
    signed: list[tuple[str, str]] = []
    at_old = at_new = 0
    for place, other in [*_unchanged(old, new), (len(old), len(new))]:
        signed += [(REMOVED, text) for _, text in old[at_old:place]]
        signed += [(ADDED, text) for _, text in new[at_new:other]]
        signed += [(UNCHANGED, text) for _, text in new[other : other + 1]]
        at_old, at_new = place + 1, other + 1
    return signed


def _unchanged(old: list[Line], new: list[Line]) -> list[tuple[int, int]]:
    """Return the places in `old` and `new` of the most lines that are in both, in the same order.

    Nearly all lines differ from each other, because they have a name or a value. So this is the
    longest ascending sequence of places in `new`, which takes n log n steps; difflib takes n².
    """
    places = {line: place for place, line in enumerate(new)}
    # For each length, the lowest place that a sequence of this length ends with.
    ends: list[int] = []
    found: list[tuple[int, int, int]] = []  # length, place in `old`, place in `new`
    for number, line in enumerate(old):
        if (place := places.get(line)) is not None:
            length = bisect_left(ends, place)
            ends[length : length + 1] = [place]
            found.append((length, number, place))
    wanted, limit = len(ends) - 1, len(new)
    chosen = []
    for length, number, place in reversed(found):
        if length == wanted and place < limit:
            chosen.append((number, place))
            wanted, limit = length - 1, place
    return chosen[::-1]


def _lines(structure: Structure) -> Iterator[Line]:
    for number, section in enumerate(structure):
        # a section has no name: its first field identifies it
        key = section["fields"][0]["name"] if section["fields"] else str(number)
        yield (
            f"section {key}",
            _("Section: %(title)s") % {"title": section["title"] or _("without a title")},
        )
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
