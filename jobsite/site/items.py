"""What a page shows of an item of the v1 interface, in the active language."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Choices
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from jobsite.fields import web_url
from jobsite.languages import site_language, text_languages
from jobsite.text.formats import format_date
from jobsite.text.html import sanitise
from jobsite.text.iso_names import country_name
from jobsite.types import JsonObject
from vacancies.choices import EmploymentType, WorkPlace
from vacancies.facts.pay import pay_lines
from vacancies.models import Filter
from vacancies.uploads.image_copies import Picture, picture

# Keys of the items of a list.
LISTED = (
    "id",
    "title",
    "brand",
    "is_hot",
    "location",
    "language",
    "work_place",
    "places",
    "employment_types",
    "pay",
    "published_at",
    "closing_date",
    "url",
)
PLACES_SHOWN = 3  # on a list


@dataclass
class ShownFact:
    """A fact as a page shows it. `language` is that of its words, if it is not that of the page."""

    label: str
    values: list[str]
    language: str = ""


class ShownItem:
    """An item as a page shows it: texts in the active language, safe HTML."""

    def __init__(self, item: JsonObject, page: str = "") -> None:
        self.item, self.page = item, page

    def __getattr__(self, key: str) -> Any:
        try:
            return self.item[key]
        except KeyError:
            raise AttributeError(key) from None

    @property
    def text_language(self) -> str:
        """The language of its texts, if it is not that of the page."""
        language: str = self.item["language"]
        return "" if language == get_language() else language

    @property
    def place(self) -> str:
        """Where the work is done, in a few words."""
        names = list(dict.fromkeys(place["locality"] for place in self.item["places"]))
        if not names:
            return self.item["location"] or ""
        text = ", ".join(names[:PLACES_SHOWN])
        rest = len(names) - PLACES_SHOWN
        return f"{text} {_('and %(count)d more') % {'count': rest}}" if rest > 0 else text

    @property
    def brand_name(self) -> str:
        brand = self.item.get("brand")
        return brand["name"] if brand else ""

    @property
    def icon(self) -> str:
        icons = self.item["brand"]["icons"] if self.item.get("brand") else {}
        return (icons and (icons["small"] or icons["large"])) or ""

    @property
    def brand_and_place(self) -> str:
        return " · ".join(filter(None, (self.brand_name, self.place)))

    @property
    def key_facts(self) -> str:
        """Where, how much and for which pay one works, in a line."""
        employment = ", ".join(
            _label(EmploymentType, value) for value in self.item["employment_types"]
        )
        pay = self.pay_lines[0] if self.item["pay"] and self.item["pay"]["currency"] else ""
        return " · ".join(
            filter(None, (_label(WorkPlace, self.item["work_place"]), employment, pay))
        )

    @property
    def picture(self) -> Picture | None:
        """The size and the smaller copies of its image, if they are known."""
        return picture(self.item["image"] or "")

    @property
    def video_url(self) -> str:
        """The address of the video; "" if it is the id of a video of some service."""
        return web_url(self.item["video"] or "")

    @property
    def addresses(self) -> list[str]:
        """The places where the work is done, each as one line."""
        return [
            ", ".join(
                filter(
                    None,
                    (
                        place["street"],
                        f"{place['postal_code'] or ''} {place['locality']}".strip(),
                        place["region"],
                        country_name(place["country"]),
                    ),
                )
            )
            for place in self.item["places"]
        ]

    @property
    def countries(self) -> str:
        """The countries in which a remote worker may live."""
        return ", ".join(map(country_name, self.item["remote_countries"]))

    @property
    def pay_lines(self) -> list[str]:
        return pay_lines(self.item["pay"])

    @property
    def published_on(self) -> str:
        return format_date(date.fromisoformat(self.item["published_at"][:10]))

    @property
    def closes_on(self) -> str:
        closing_date = self.item["closing_date"]
        return format_date(date.fromisoformat(closing_date)) if closing_date else ""

    def facts(self, filters: Iterable[Filter], foreign: Collection[str] = ()) -> list["ShownFact"]:
        """Return what the texts do not say. The words of `filters` are in the language of the site,
        or translated, except those in `foreign`.
        """
        language = get_language() or ""
        is_own = language in (site_language(), *text_languages())

        def fact(filter: Filter) -> ShownFact:
            values = self.item[filter.keyword] or []
            words = [values] if isinstance(values, str) else values
            label = filter.translations.get(language) if is_own else ""
            named = [filter.label, *words] if not label else words
            is_foreign = not is_own or any(word in foreign for word in named)
            return ShownFact(
                label or filter.label, [", ".join(words)], site_language() if is_foreign else ""
            )

        facts = [
            ShownFact(_("Pay"), self.pay_lines),
            ShownFact(_("Places"), self.addresses),
            ShownFact(_("Countries for remote work"), [self.countries]),
            *map(fact, filters),
            ShownFact(_("Reference"), [self.item["reference"] or ""]),
            ShownFact(_("Published on"), [self.published_on]),
            ShownFact(_("Apply by"), [self.closes_on]),
        ]
        return [fact for fact in facts if any(fact.values)]

    @property
    def texts(self) -> list[tuple[str, SafeString]]:
        """The headings and texts, without those that are empty."""
        headings = {
            "description": _("The job"),
            "profile": _("Your profile"),
            "offer": _("What we offer"),
            "company": _("About the company"),
            "postcustom1": _("More information"),
        }
        return [
            (heading, SafeString(sanitise(self.item[key])))
            for key, heading in headings.items()
            if self.item[key]
        ]

    @property
    def lead(self) -> SafeString:
        return SafeString(sanitise(self.item["short_description"] or ""))

    @property
    def contact_text(self) -> SafeString:
        return SafeString(sanitise(self.item["contact"] or ""))

    @property
    def share_image(self) -> str:
        """The URL of the image that stands for it elsewhere:
        its own, else the icon of the brand.
        """
        icons = self.item["brand"]["icons"] if self.item.get("brand") else {}
        return self.item["image"] or icons.get("large", "")

    @property
    def people(self) -> list[JsonObject]:
        """The recruiters, the lead recruiter first."""
        return [self.item["head_recruiter"], *(self.item["recruiters"] or ())]


def _label(choices: type[Choices], value: str | None) -> str:
    """Return the label of a value of an open list."""
    return str(choices(value).label) if value in choices.values else value or ""
