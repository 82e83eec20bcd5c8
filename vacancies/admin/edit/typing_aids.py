"""What helps to fill in the page of a vacancy (static/vacancies/city_search.js and
vacancy_form.js).
"""

from collections import Counter
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from unfold.widgets import UnfoldAdminTextInputWidget

from jobsite.text.iso_names import currency_codes
from vacancies.facts.cities import countries
from vacancies.models import Vacancy

LATEST = 1000  # rows of vacancies with their places


class CurrencyInput(UnfoldAdminTextInputWidget):
    """The code of a currency. It proposes all, those of `first` before the others."""

    first: list[str]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> str:
        codes = dict.fromkeys((*getattr(self, "first", ()), *sorted(currency_codes())))
        options = format_html_join("", '<option value="{}">', ((code,) for code in codes))
        field = super().render(name, value, (attrs or {}) | {"list": "currencies"}, renderer)
        return format_html('{}<datalist id="currencies">{}</datalist>', field, options)


def put_usual_first(form: forms.ModelForm) -> None:
    """Put the languages and currencies of the latest vacancies of the brand first in their choices,
    the most frequent one before the others.
    """
    brand = form.instance.brand_id or form.initial.get("brand")
    rows = (
        Vacancy.objects.filter(brand=brand).order_by("-pk").values_list("language", "pay_currency")
    )
    counts: list[Counter[str]] = [Counter(), Counter()]
    for row in rows[:LATEST]:
        for count, code in zip(counts, row, strict=True):
            count[code] += 1
    languages, currencies = ([code for code, _n in each.most_common() if code] for each in counts)
    fields: dict[str, Any] = form.fields
    fields["pay_currency"].widget.first = currencies
    labels = dict(fields["language"].choices)
    order = dict.fromkeys(("", *(code for code in languages if code in labels), *labels))
    fields["language"].choices = [(code, labels[code]) for code in order if code in labels]


def typing_aids(user: User) -> dict[str, object]:
    """Return the addresses of the files of cities by country, the countries to search first, which
    are those of the latest places of the user's vacancies, else all, and the currency and period of
    their latest pay.
    """
    urls = {code: static(f"vacancies/cities/{code}.json") for code in countries()}
    latest = list(
        Vacancy.objects.editable_by(user)
        .order_by("-pk")
        .values_list("places__country", "pay_currency", "pay_period")[:LATEST]
    )
    used = {country for country, _currency, _period in latest}
    pay = next(([currency, period] for _country, currency, period in latest if currency), [])
    return {
        "cities": urls,
        "used": [code for code in urls if code in used] or list(urls),
        "pay": pay,
    }
