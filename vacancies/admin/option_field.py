"""The options of a vocabulary as a field of a form that keeps the order in which they are picked."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelect2MultipleWidget, UnfoldAdminSelect2Widget

from vacancies.choices import Keyword


class OrderedSelect(UnfoldAdminSelect2MultipleWidget):
    """A multiple select whose chosen options stand first, in their order: browsers post in that order.

    ordered_select.js moves an option behind the chosen ones when it is picked. Without JavaScript it
    is a plain multiple select, which keeps the stored order. Of a long list, the page holds what is
    chosen and the server is asked for the rest.
    """

    choices: Any
    source = ""  # address that answers a search, for a list too long for a page

    def __init__(self) -> None:
        super().__init__({"data-ordered": ""})
        # Without its second class, by which Django's autocomplete.js would ask a server for the options.
        self.attrs["class"] = "unfold-admin-autocomplete"

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> list[Any]:
        place = {chosen: index for index, chosen in enumerate(value)}
        all_choices: Any = self.choices
        if self.source:
            self.choices = [choice for choice in all_choices if str(choice[0]) in place]
        groups = super().optgroups(name, value, attrs)
        self.choices = all_choices
        for index, (_, (option,), _) in enumerate(groups):
            option["attrs"]["data-place"] = index
        return sorted(groups, key=lambda group: place.get(str(group[1][0]["value"]), len(place)))

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> Any:
        attrs = super().build_attrs(base_attrs, extra_attrs)
        return attrs | ({"data-ajax--url": self.source, "data-ajax--delay": "250"} if self.source else {})

    class Media:
        js = ("vacancies/ordered_select.js",)


class OptionsField(forms.TypedMultipleChoiceField):
    """Ids of options of one vocabulary, in the order of picking."""

    def __init__(self, keyword: Keyword) -> None:
        super().__init__(coerce=int, required=False, label=keyword.label, widget=OrderedSelect())

    def clean(self, value: Any) -> list[int]:
        return list(dict.fromkeys(super().clean(value)))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return [str(pk) for pk in initial or []] != [str(pk) for pk in data or []]


class OptionField(forms.TypedChoiceField):
    """The id of the one option of a vocabulary that a vacancy may have, as a list like the others."""

    def __init__(self, keyword: Keyword) -> None:
        super().__init__(coerce=int, required=False, label=keyword.label, widget=UnfoldAdminSelect2Widget())

    def prepare_value(self, value: Any) -> Any:
        return next(iter(value), "") if isinstance(value, list) else value

    def clean(self, value: Any) -> list[int]:
        chosen = super().clean(value)
        return [chosen] if chosen else []

    def has_changed(self, initial: Any, data: Any) -> bool:
        return str(self.prepare_value(initial) or "") != str(data or "")


def options_field(keyword: Keyword) -> forms.ChoiceField:
    return OptionField(keyword) if keyword.is_single else OptionsField(keyword)
