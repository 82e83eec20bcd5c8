"""The texts of a structure in another language.

A path names a text or a width as in StructureError: "sections.0.fields.2.options.1.label". These
are all that a translation has of its own; everything else is as in its original.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from enum import StrEnum
from itertools import product
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from forms_structure.structure import Section, Structure, StructureError, format_value, walk
from jobsite.types import JsonObject

Own = dict[str, str]  # texts and widths by path


class Mark(StrEnum):
    """Why a text is to translate."""

    NEW = "new"  # it is in the words of the original
    CHANGED = "changed"  # it is a translation of earlier words of the original


def own_values(structure: Sequence[Section]) -> Own:
    """Return the titles, descriptions, labels and widths of `structure` by path, in its order."""
    return {slot.path: slot.item[slot.key] for slot in _slots(structure)}


def with_values(structure: Structure, values: Mapping[str, str]) -> Structure:
    """Return a copy of `structure` with these texts and widths; those without a value stay."""
    copied = deepcopy(structure)
    for path, _identity, item, key in _slots(copied):
        item[key] = values.get(path, item[key])
    return copied


def is_text(path: str) -> bool:
    """Whether the path is of a text, not of a width."""
    return not path.endswith(".css")


def check_equal(original: Structure, translation: Structure) -> None:
    """Raise StructureError, which names what differs, unless `translation` is equal to `original`
    except for what is its own.
    """
    blank = dict.fromkeys([*own_values(original), *own_values(translation)], "")
    one, other = (with_values(each, blank) for each in (original, translation))
    if faults := dict(_differences(one, other, "sections")):
        raise StructureError(faults)


def follow(
    before: Structure, after: Structure, translation: Structure, marks: Mapping[str, str]
) -> tuple[Structure, dict[str, str]]:
    """Return `translation` and its `marks` after a change of its original from `before` to `after`.

    A text that is new in the original is in its words until somebody translates it, unless the same
    words were translated elsewhere in the form.
    """
    old, own = own_values(before), own_values(translation)
    known = {old[path]: own[path] for path in old if is_text(path) and path not in marks}
    places = _places(before, after)
    values: Own = {}
    kept: dict[str, str] = {}
    for path, text in own_values(after).items():
        at = places.get(path)
        is_same = at is not None and old[at] == text
        if not is_text(path):  # a width of its own stays
            values[path] = own[at] if at is not None and own[at] != old[at] else text
        elif not text:
            values[path] = text
        elif at is not None and marks.get(at) != Mark.NEW and old[at]:
            values[path] = own[at]
            if not is_same or at in marks:
                kept[path] = Mark.CHANGED
        elif text in known:
            values[path] = known[text]
        else:
            values[path], kept[path] = text, Mark.NEW
    return with_values(after, values), kept


def started(structure: Structure) -> dict[str, str]:
    """Return the marks of a new translation: all of its texts are to translate."""
    return {
        path: Mark.NEW for path, text in own_values(structure).items() if text and is_text(path)
    }


class _Slot(NamedTuple):
    """A text or a width: `item[key]`. It has the same `identity` wherever its field is moved; that
    of a section is its number.
    """

    path: str
    identity: tuple[int | str | None, ...]
    item: JsonObject
    key: str


def _slots(structure: Sequence[Section]) -> Iterator[_Slot]:
    for number, section in enumerate(structure):
        for key in ("title", "description"):
            yield _Slot(f"sections.{number}.{key}", (number, key), section, key)
        for path, field in walk([{"fields": []}] * number + [section]):
            name, asked = field["name"], field["label"]
            if isinstance(asked, dict):
                yield _Slot(f"{path}.label.label", (name, "label"), asked, "label")
            else:
                yield _Slot(f"{path}.label", (name, "label"), field, "label")
            yield _Slot(f"{path}.css", (name, "css"), field, "css")
            for place, option in enumerate(field.get("options", ())):
                identity = (name, "options", option["value"])
                yield _Slot(f"{path}.options.{place}.label", identity, option, "label")


def _differences(one: Any, other: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield path and message of each value of `other`, a translation, that `one` does not have."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from _differences(one.get(key), other.get(key), f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(*pair, f"{path}.{number}")
    elif isinstance(one, list) and isinstance(other, list):
        text = _("The original has %(wanted)s here, the translation %(count)s.")
        yield path, text % {"wanted": len(one), "count": len(other)}
    elif one != other:
        text = _("Must be %(wanted)s, as in the original; received %(value)s.")
        yield path, text % {"wanted": format_value(one), "value": format_value(other)}


def _places(before: Structure, after: Structure) -> dict[str, str]:
    """Return where each text and width of `after` was in `before`, by path."""
    old = {slot.identity: slot.path for slot in _slots(before)}
    sections: dict[Any, Any] = dict.fromkeys(range(len(after)))
    sections |= _sections(before, after)
    found = {}
    for path, (part, *rest), _item, _key in _slots(after):
        if at := old.get((sections.get(part, part), *rest)):
            found[path] = at
    return found


def _sections(before: Structure, after: Structure) -> dict[int, int]:
    """Return which section of `before` each one of `after` was: the one with most of its fields,
    else one with the same title, else, if both have no fields, the one at the same place.
    """
    old, new = (
        {field["name"]: n for n, part in enumerate(each) for _path, field in walk([part])}
        for each in (before, after)
    )
    shared = Counter((new[name], old[name]) for name in new if name in old)
    likely = [
        (n, m)
        for n, m in product(range(len(after)), range(len(before)))
        if after[n]["title"] == before[m]["title"]
        or (n == m and not after[n]["fields"] and not before[m]["fields"])
    ]
    found: dict[int, int] = {}
    for number, there in [*(pair for pair, _count in shared.most_common()), *likely]:
        if number not in found and there not in found.values():
            found[number] = there
    return found
