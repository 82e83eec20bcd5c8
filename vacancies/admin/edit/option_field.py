"""Form fields for options of filters and for countries. They keep the order of picking."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminSelect2MultipleWidget,
    UnfoldAdminSelect2Widget,
)

from vacancies.choices import PLACES_MAX, Keyword, country_choices


class OrderedSelect(UnfoldAdminSelect2MultipleWidget):
    """A multiple select with the chosen options first, in their order: browsers post in that order.

    ordered_select.js moves a picked option behind the chosen ones. Without JavaScript this is a
    plain multiple select, which keeps the stored order. If the list is long, the page contains only
    the chosen options, and Select2 searches the others on the server.
    """

    choices: Any
    source = ""  # URL of the search, for a list that is too long for the page

    def __init__(self) -> None:
        super().__init__({"data-ordered": ""})
        # Without the second class, which makes Django's autocomplete.js request the options.
        self.attrs["class"] = "unfold-admin-autocomplete"

    def optgroups(
        self, name: str, value: list[str], attrs: dict[str, object] | None = None
    ) -> list[object]:
        place = {chosen: index for index, chosen in enumerate(value)}
        all_choices: Any = self.choices
        if self.source:
            self.choices = [choice for choice in all_choices if str(choice[0]) in place]
        groups = super().optgroups(name, value, attrs)
        self.choices = all_choices
        for index, (_name, (option,), _index) in enumerate(groups):
            option["attrs"]["data-place"] = index
        return sorted(groups, key=lambda group: place.get(str(group[1][0]["value"]), len(place)))

    def build_attrs(
        self, base_attrs: dict[str, object], extra_attrs: dict[str, object] | None = None
    ) -> dict[str, object]:
        attrs = super().build_attrs(base_attrs, extra_attrs)
        return attrs | (
            {"data-ajax--url": self.source, "data-ajax--delay": "250"} if self.source else {}
        )

    class Media:
        js = ("vacancies/ordered_select.js",)


class OrderedField(forms.TypedMultipleChoiceField):
    """Choices in the order of picking."""

    def clean(self, value: object) -> list[Any]:
        return list(dict.fromkeys(super().clean(value)))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return [str(each) for each in initial or []] != [str(each) for each in data or []]


class OptionsField(OrderedField):
    """Ids of the options of one filter."""

    def __init__(self, keyword: Keyword) -> None:
        super().__init__(coerce=int, required=False, label=keyword.label, widget=OrderedSelect())


class CountriesField(OrderedField):
    """Codes of the countries in which a remote worker may live."""

    def __init__(self) -> None:
        super().__init__(
            choices=country_choices,
            required=False,
            label=gettext_lazy("Countries for remote work"),
            help_text=gettext_lazy("The countries in which a remote worker may live."),
            widget=OrderedSelect(),
        )

    def clean(self, value: object) -> list[str]:
        codes = super().clean(value)
        if len(codes) > PLACES_MAX:
            text = _("Choose at most %(max)d countries: these are %(count)d.")
            raise ValidationError(text % {"max": PLACES_MAX, "count": len(codes)}, code="too_many")
        return codes


class OptionField(forms.TypedChoiceField):
    """The id of the only option of a single-valued filter, as a list."""

    def __init__(self, keyword: Keyword) -> None:
        super().__init__(
            coerce=int, required=False, label=keyword.label, widget=UnfoldAdminSelect2Widget()
        )

    def prepare_value(self, value: object) -> object:
        return next(iter(value), "") if isinstance(value, list) else value

    def clean(self, value: object) -> list[int]:
        chosen = super().clean(value)
        return [chosen] if chosen else []

    def has_changed(self, initial: Any, data: Any) -> bool:
        return str(self.prepare_value(initial) or "") != str(data or "")


def options_field(keyword: Keyword) -> forms.ChoiceField:
    return OptionField(keyword) if keyword.is_single else OptionsField(keyword)
