"""What the form of a vacancy posts: the values by name of the input, as JSON. Unsaved input is
stored like this, and the page contains what it would post if nothing was changed.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

Input = dict[str, list[str]]
Files = MultiValueDict[str, UploadedFile]

FILES = "_files"  # in stored input: the names of chosen files, as "input=name"
ROWS_MAX = 1000  # as in formsets
_OF_THE_PAGE = ("csrfmiddlewaretoken",)


def post_data(data: QueryDict) -> Input:
    """Return the fields of posted `data`, without buttons and empty rows of scripts."""
    return {
        name: [value.replace("\0", "") for value in values]
        for name, values in data.lists()
        if name not in _OF_THE_PAGE
        and (not name.startswith("_") or name == FILES)
        and "__prefix__" not in name
        and "\0" not in name
    }


def chosen_files(files: Files) -> dict[str, str]:
    """Return the names of the uploaded `files`, by input."""
    return {name: sent[-1].name or "" for name, sent in files.lists()}


def to_querydict(data: Mapping[str, Iterable[str]]) -> QueryDict:
    result = QueryDict(mutable=True)
    for name, values in data.items():
        result.setlist(name, list(values))
    return result


def parse_post_data(text: str) -> Input | None:
    """Return the input in a hidden input of a page, None if it has none or it is not valid."""
    try:
        data = json.loads(text)
        json.dumps(data, ensure_ascii=False).encode()  # a lone surrogate could not be shown
    except (ValueError, RecursionError):
        return None
    is_valid = isinstance(data, dict) and all(
        isinstance(values, list) and all(isinstance(value, str) for value in values)
        for values in data.values()
    )
    return data if is_valid else None


def initial_post_data(form: forms.BaseForm, formsets: Iterable[Any]) -> Input:
    """Return what a browser posts from the unbound `form` and `formsets` if nothing is changed,
    without the hidden inputs of the page itself. A file is represented by its stored name.
    """
    found: Input = {}
    for bound in form:
        found |= _values(bound)
    for formset in formsets:
        found[f"{formset.prefix}-TOTAL_FORMS"] = [str(len(formset.forms))]
        found[f"{formset.prefix}-INITIAL_FORMS"] = [str(len(formset.initial_forms))]
        for row in formset.forms:
            for bound in row:
                # The page has no parent for a new row.
                if row.instance.pk or bound.name != formset.fk.name:
                    found |= _values(bound)
    return found


def names_of(name: str, field: forms.Field) -> list[str]:
    """Return the names of the inputs of a form field."""
    widget = widget_of(field)
    if isinstance(widget, forms.MultiWidget):
        suffixes: list[str] = widget.widgets_names  # type: ignore[attr-defined] # Django's, without a stub
        return [f"{name}{suffix}" for suffix in suffixes]
    return [name]


def widget_of(field: forms.Field) -> Any:
    return getattr(field.widget, "widget", field.widget)  # unwraps RelatedFieldWidgetWrapper


def _values(bound: forms.BoundField) -> Input:
    widget, value = widget_of(bound.field), bound.value()
    if isinstance(widget, forms.MultiWidget):
        values: Any = value if isinstance(value, list | tuple) else widget.decompress(value)
        names = names_of(bound.html_name, bound.field)
        return {
            name: [part.format_value(each) or ""]
            for name, part, each in zip(names, widget.widgets, values, strict=False)
        }
    return {bound.html_name: _value(widget, value)}


def _value(widget: forms.Widget, value: Any) -> list[str]:
    if isinstance(widget, forms.FileInput):
        return [str(getattr(value, "name", "") or "")]
    if isinstance(widget, forms.CheckboxInput):
        return ["on"] if widget.check_test(value) else []
    if isinstance(widget, forms.SelectMultiple):
        return [str(each) for each in value or []]
    if isinstance(widget, forms.Select):
        return ["" if value is None else str(value)]
    return [str(widget.format_value(value) or "")]
