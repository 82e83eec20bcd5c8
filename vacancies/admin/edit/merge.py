"""The three-way merge of two inputs of the form of a vacancy: what one user typed, and what another
one saved, both since the same version. Fields and rows that only one of the two changed are merged.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from django import forms
from django.utils.translation import gettext as _

from jobsite.admin.base import as_id
from jobsite.languages import text_languages
from jobsite.text.html import sanitise, text_lines
from vacancies.admin.base import ProseWidget
from vacancies.admin.edit.form_input import Input, names_of, widget_of
from vacancies.models import TRANSLATED

MINE, THEIRS = "mine", "theirs"
Values = tuple[str, ...]  # of a field: the values of its inputs that are not empty


@dataclass(frozen=True)
class Overlap:
    """A field or row that both changed: its values as lines of text. `base` is None if it is
    unknown what they started from.
    """

    key: str
    label: str
    base: list[str] | None
    mine: list[str]
    theirs: list[str]
    decision: str = ""


@dataclass(frozen=True)
class MergeInput:
    """What is merged. `uploads` has the file names that were chosen in `mine`, by input;
    `decisions` has MINE or THEIRS for overlaps, by key.
    """

    base: Input | None
    mine: Input
    theirs: Input
    uploads: Mapping[str, str]
    decisions: Mapping[str, str]


@dataclass
class Merge:
    """The merged input. `uploads` maps the inputs of `mine` with a chosen file that is still used
    to their names in `data`. `from_theirs` has the labels of what was merged from the other user.
    """

    data: Input
    uploads: dict[str, str]
    from_theirs: list[str] = field(default_factory=list)
    overlaps: list[Overlap] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        return all(overlap.decision for overlap in self.overlaps)


def merge_fields(sides: MergeInput, form: forms.BaseForm) -> Merge:
    """Merge the fields of `form`, which is that of the stored vacancy, unbound. The rows of
    formsets are those of `mine`.
    """
    result = Merge(data=dict(sides.mine), uploads={name: name for name in sides.uploads})
    texts = {name for name in form.fields if name in TRANSLATED or name.startswith("text_")}
    before, now = sides.base or sides.theirs, sides.theirs
    is_exchanged = bool(text_languages()) and before.get("language") != now.get("language")
    for name, each in form.fields.items():
        if name == "version":
            continue
        names = names_of(name, each)
        theirs = values_of(sides.theirs, names)
        base = None if sides.base is None else values_of(sides.base, names)
        mine = values_of(sides.mine, names)
        if isinstance(widget_of(each), forms.FileInput):
            mine = file_of(sides, name, theirs if base is None else base)
        # The other user exchanged the languages: a text of this one is in another language now.
        is_crossing = is_exchanged and base not in (mine, None) and name in texts
        if mine == theirs or (theirs == base and not is_crossing):
            continue
        label = str(each.label or name)
        if mine == base:
            result.from_theirs.append(label)
        else:
            decision = sides.decisions.get(name, "")
            shown = None if base is None else lines(each, base)
            result.overlaps.append(
                Overlap(name, label, shown, lines(each, mine), lines(each, theirs), decision)
            )
            if decision == MINE:
                continue
        _use_theirs(sides.theirs, result, name, names)
    return result


def _use_theirs(theirs: Input, result: Merge, name: str, names: list[str]) -> None:
    own = re.compile(re.escape(name) + r"(_\d|-clear)?")
    for each in [each for each in result.data if own.fullmatch(each)]:
        del result.data[each]
    result.data |= {each: theirs[each] for each in names if each in theirs}
    result.uploads.pop(name, None)


def file_of(sides: MergeInput, name: str, stored: Values) -> Values:
    """Return the file of `mine`: the chosen one, none if it is cleared, or the `stored` one."""
    if name in sides.uploads:
        return (sides.uploads[name],)
    return () if sides.mine.get(f"{name}-clear") else stored


def values_of(data: Input, names: list[str]) -> Values:
    found = (value.replace("\r\n", "\n").strip() for name in names for value in data.get(name, ()))
    return tuple(value for value in found if value)


def lines(each: forms.Field, values: Values) -> list[str]:
    """Return the `values` of a form field as lines of text."""
    if not values:
        return []
    widget = widget_of(each)
    if isinstance(each, forms.BooleanField):
        return [_("Yes")]
    if isinstance(widget, ProseWidget):
        return text_lines(sanitise(values[0]))
    if isinstance(widget, forms.FileInput):
        return [values[0].rpartition("/")[2]]
    if isinstance(each, forms.ModelChoiceField):
        pks = [as_id(value) for value in values if as_id(value)]
        row = each.queryset.filter(pk__in=pks).first()  # type: ignore[union-attr]
        return [each.label_from_instance(row) if row else _("Not available to you")]
    if isinstance(each, forms.ChoiceField):
        labels = {str(key): str(label) for key, label in each.choices}  # type: ignore[union-attr,misc]
        return [labels.get(value, value) for value in values]
    if isinstance(widget, forms.MultiWidget):
        return [" ".join(values)]
    return values[0].splitlines()
