"""The place and the distance of a list:
the fields of its form, and `filter[near]` of the interface.
"""

from django.http import QueryDict
from django.utils.translation import gettext as _

from vacancies.choices import country_choices
from vacancies.facts.cities import PLACE, City, name_at
from vacancies.facts.locations import cities_named
from vacancies.filtersets import NEAR

KM = "km"
RADII, DEFAULT = ("5", "10", "25", "50", "100"), "25"
CHOICES_MAX = 8
NAME_MAX = 100  # characters


class Circle:
    """The circle that `query` asks for: `near` is the value of filter[near], or "".

    The form sends the name of a place, the distance, and the circle of the page that it is on: this
    one stays if the name is that of its center, so that one of several places of a name needs to be
    chosen once.
    """

    def __init__(self, query: QueryDict) -> None:
        self.near = query.get(NEAR, "").strip()
        self.typed = " ".join(query.get(PLACE, "").split())[:NAME_MAX]
        self.cities: list[City] = []
        point, _comma, self.km = self.near.rpartition(",")
        self.is_sent = KM in query or (PLACE in query and not self.near)
        if self.is_sent:
            self.km = query.get(KM, "").strip() or DEFAULT
            if not self.typed:
                self.near = ""
            elif self.near and self.typed == self.name:
                self.near = f"{point},{self.km}"
            else:
                self.cities = cities_named(self.typed)
                self.near = self._at(self.cities[0]) if len(self.cities) == 1 else ""
        self.km = self.km or DEFAULT

    def _at(self, city: City) -> str:
        return f"{city.latitude:g},{city.longitude:g},{self.km}"

    @property
    def name(self) -> str:
        """The name of its center, as it was typed if it is a name of this city."""
        try:
            latitude, longitude, _km = self.near.split(",")
            return name_at(latitude, longitude, self.typed)
        except ValueError:  # the interface refuses it
            return self.typed

    @property
    def label(self) -> str:
        return _("within %(km)s km of %(place)s") % {"km": self.km, "place": self.name}

    @property
    def field(self) -> str:
        """The value of the field of the place."""
        return self.name if self.near else self.typed

    @property
    def radii(self) -> list[str]:
        return list(RADII if self.km in RADII else (self.km, *RADII))

    @property
    def is_unclear(self) -> bool:
        """Whether the typed place is unknown, or one of several."""
        return bool(self.typed and not self.near)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The parameters of this circle in the address of a page."""
        return [(NEAR, self.near), (PLACE, self.name)] if self.near else []

    def choices(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The places of the typed name, the largest first and one in a region:
        label and parameters.
        """
        countries, found = dict(country_choices()), dict[str, list[tuple[str, str]]]()
        for city in self.cities[:CHOICES_MAX] if len(self.cities) > 1 else ():
            parts = filter(None, (city.name, city.region, str(countries[city.country])))
            pairs = [(NEAR, self._at(city)), (PLACE, city.name)]
            found.setdefault(", ".join(dict.fromkeys(parts)), pairs)
        return list(found.items())
