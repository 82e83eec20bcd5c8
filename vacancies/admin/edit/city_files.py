"""The files of cities that the page of a vacancy searches (static/vacancies/city_search.js)."""

from django.templatetags.static import static

from vacancies.cities import countries
from vacancies.models import Place

LATEST = 1000  # places


def city_files() -> dict[str, object]:
    """Return the addresses of the files by country, and the countries to search first: those of the latest
    places, else all."""
    urls = {code: static(f"vacancies/cities/{code}.json") for code in countries()}
    latest = set(Place.objects.order_by("-pk").values_list("country", flat=True)[:LATEST])
    return {"urls": urls, "used": [code for code in urls if code in latest] or list(urls)}
