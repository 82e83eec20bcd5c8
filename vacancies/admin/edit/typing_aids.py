"""What helps to fill in the page of a vacancy (static/vacancies/city_search.js and
vacancy_form.js).
"""

from django.contrib.auth.models import User
from django.templatetags.static import static

from vacancies.facts.cities import countries
from vacancies.models import Vacancy

LATEST = 1000  # rows of vacancies with their places


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
