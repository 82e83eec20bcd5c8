"""The active filters of a list, each with the way to remove it."""

from dataclasses import dataclass

from django.contrib.admin import ListFilter
from django.contrib.admin.views.main import ChangeList


@dataclass(frozen=True)
class ActiveFilter:
    title: str
    text: str
    url: str


def _labels(spec: ListFilter, values: list[str]) -> list[str]:
    if hasattr(spec, "labels"):
        return spec.labels()
    known = {str(key): str(label) for key, label in getattr(spec, "lookup_choices", ())}
    return [known[value] for value in values if value in known]


def active_filters(changelist: ChangeList) -> list[ActiveFilter]:
    """Return the filters in the address of `changelist`.
    A filter whose values are rows has `labels`.
    """
    sent = changelist.get_filters_params()
    found: list[tuple[str, str, list[str]]] = []
    for spec in changelist.filter_specs:
        names = [name for name in spec.expected_parameters() if name]
        values = [value for name in names for value in sent.get(name, ()) if value]
        if labels := _labels(spec, values):
            found.append((str(spec.title), ", ".join(labels), names))
    # Without the last one, the filters of a saved view would come back.
    is_last = len(found) == 1 and not changelist.query
    return [
        ActiveFilter(
            title,
            text,
            changelist.clear_all_filters_qs
            if is_last
            else changelist.get_query_string(remove=names),
        )
        for title, text, names in found
    ]
