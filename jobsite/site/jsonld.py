"""The description of a vacancy for search engines: JSON-LD of the type JobPosting, valid or absent.

Google shows no vacancy without the properties that it requires, and ignores or punishes values that
are not true. So nothing is invented: what is unknown is left out, and without a required property
there is no block.
"""

import json
from datetime import datetime
from functools import lru_cache

from django.conf import settings
from django.core.files.images import get_image_dimensions
from django.core.files.storage import default_storage
from django.db.models import BooleanField, ExpressionWrapper
from django.utils import timezone
from django.utils.safestring import SafeString

from jobsite.text.html import sanitise
from jobsite.text.iso_names import country_name
from jobsite.types import JsonObject
from vacancies.choices import WorkPlace
from vacancies.models import Vacancy
from vacancies.quality.google import IS_A_JOB, missing_for_google, with_missing_for_google
from vacancies.querysets import VacancyQuerySet

TEXTS = ("description", "profile", "offer", "company")
LOGO_RATIO = (0.75, 2.5)  # of width to height, for Google
_ADDRESS = {
    "street": "streetAddress",
    "locality": "addressLocality",
    "region": "addressRegion",
    "postal_code": "postalCode",
    "country": "addressCountry",
}


def with_requirements(vacancies: VacancyQuerySet) -> VacancyQuerySet:
    """Annotate `vacancies` for `job_posting`."""
    return with_missing_for_google(
        vacancies.annotate(is_a_job=ExpressionWrapper(IS_A_JOB, BooleanField()))
    )


def script(posting: JsonObject) -> SafeString:
    """Return `posting` as the content of a script element, which no text in it can end."""
    return SafeString(json.dumps(posting, ensure_ascii=False).replace("<", "\\u003c"))


def job_posting(
    item: JsonObject, vacancy: Vacancy, *, takes_applications: bool
) -> JsonObject | None:
    """Return the description of the public `vacancy`, or None if it is no job or lacks a required
    property.

    `item` is its item of the interface. Requires `with_requirements()`.
    """
    if not vacancy.is_a_job or missing_for_google(vacancy):  # type: ignore[attr-defined]
        return None
    employer = name_of_employer(item)
    places = [_place(place) for place in item["places"]]
    posting: JsonObject = {
        "@context": "https://schema.org/",
        "@type": "JobPosting",
        "title": item["title"],
        "description": "".join(sanitise(item[key] or "") for key in TEXTS),
        "datePosted": _time(vacancy.publish_from),
        "validThrough": _time(vacancy.publish_until),
        "hiringOrganization": _without_empty(
            {
                "@type": "Organization",
                "name": employer,
                "sameAs": item["brand"]["url"] if item.get("brand") else "",
                "logo": _logo(item, vacancy),
            }
        ),
        "jobLocation": _one_or_list(places),
        "employmentType": _one_or_list(item["employment_types"]),
        "baseSalary": _salary(item["pay"]),
        "identifier": {
            "@type": "PropertyValue",
            "name": employer,
            "value": item["reference"] or str(item["id"]),
        },
        "directApply": takes_applications,
    }
    if item["work_place"] == WorkPlace.REMOTE:
        countries = [
            {"@type": "Country", "name": country_name(code, "en")}
            for code in item["remote_countries"]
        ]
        posting |= {
            "jobLocationType": "TELECOMMUTE",
            "applicantLocationRequirements": _one_or_list(countries),
        }
    return _without_empty(posting)


def name_of_employer(item: JsonObject) -> str:
    name: str = item["brand"]["name"] if item.get("brand") else settings.SITE_NAME
    return name


def _time(at: datetime | None) -> str:
    """Return `at` with the offset of the site's time zone, "" for None."""
    return timezone.localtime(at).isoformat(timespec="seconds") if at else ""


def _place(place: JsonObject) -> JsonObject:
    address = {name: place[key] for key, name in _ADDRESS.items()}
    return {"@type": "Place", "address": {"@type": "PostalAddress", **_without_empty(address)}}


def _salary(pay: JsonObject | None) -> JsonObject | None:
    """Return the pay if both bounds are known: Google knows no "from" and no "up to"."""
    if pay is None or None in (pay["min"], pay["max"]):
        return None
    bounds = {"minValue": pay["min"], "maxValue": pay["max"]}
    value = {"value": pay["min"]} if pay["min"] == pay["max"] else bounds
    quantity = {"@type": "QuantitativeValue", **value, "unitText": pay["period"].upper()}
    return {"@type": "MonetaryAmount", "currency": pay["currency"], "value": quantity}


def _logo(item: JsonObject, vacancy: Vacancy) -> str:
    """Return the URL of the uploaded icon of the brand, if it has the shape of a logo, else ""."""
    icon = vacancy.brand and vacancy.brand.icon_large
    if not item.get("brand") or not icon or not is_logo(str(icon)):
        return ""
    url: str = item["brand"]["icons"]["large"]
    return url


def is_logo(name: str) -> bool:
    """Whether the uploaded image `name` has the shape of a logo."""
    try:
        ratio = _ratio(name)
    except OSError:  # the file is lost
        return False
    return LOGO_RATIO[0] <= ratio <= LOGO_RATIO[1]


@lru_cache(maxsize=1000)  # the name of an upload is random, and is never used again
def _ratio(name: str) -> float:
    with default_storage.open(name) as file:
        width, height = get_image_dimensions(file)
    return width / height if width and height else 0


def _one_or_list(values: list) -> object:
    """Return the only value, or the list of several: validators know lists less well."""
    return values[0] if len(values) == 1 else values


def _without_empty(values: JsonObject) -> JsonObject:
    return {key: value for key, value in values.items() if value}
