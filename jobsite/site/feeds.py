"""What other sites read: the newest vacancies as Atom, and all of them as the XML that Indeed and
other aggregators read. A text never ends an element: XML is escaped, and characters that it forbids
are removed.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import F, Prefetch
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.translation import gettext as _
from django.utils.translation import override

from jobsite.api.absolute_urls import absolute, with_query
from jobsite.languages import site_language, text_languages
from jobsite.site.hosts import Site, page_path
from jobsite.site.jsonld import TEXTS
from jobsite.site.sitemaps import changed_at, document, pages
from jobsite.site.views import career_page, respond
from jobsite.text.html import sanitise
from jobsite.types import JsonObject
from vacancies.api.serializers import PaySerializer
from vacancies.choices import EmploymentType, PlaceKind, WorkPlace
from vacancies.dates import last_day
from vacancies.models import Brand, Vacancy, VacancyOption, shown_in
from vacancies.quality.google import IS_A_JOB
from vacancies.querysets import VacancyQuerySet

NEWEST = 50
BATCH = 200
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2


def xml_text(text: str) -> str:
    """Return `text` without the characters that XML cannot contain, even escaped."""
    return _FORBIDDEN.sub("", text)


class _AtomFeed(Atom1Feed):
    def item_attributes(self, item: JsonObject) -> dict[str, str]:
        return {"xml:lang": item["language"]}


@career_page
def atom(site: Site, language: str = "") -> HttpResponse:
    """Return the newest vacancies that have their page on this site, as Atom (RFC 4287): with texts
    in `language`, by default that of the site, where there are some.
    """
    interface = site.interface
    interface.read_shortest_list()
    if language and language not in text_languages()[1:]:
        raise Http404
    language, own = language or site_language(), {"language": language} if language else {}
    with override(language):
        feed = _AtomFeed(
            title=xml_text(f"{_('Vacancies')} – {site.name}"),
            link=site.url(page_path("jobs", language)),
            description=None,
            language=language,
            author_name=xml_text(site.name),
            feed_url=site.url(reverse("site:atom", kwargs=own)),
        )
    columns = (
        "title",
        "language",
        "short_description",
        "description",
        "publish_from",
        "updated_at",
    )
    newest = pages(site, at=interface.now).only(*columns).newest_first()
    if text_languages():
        newest = newest.prefetch_related("translations")
    for row in newest[:NEWEST]:
        vacancy = shown_in(row, language)
        feed.add_item(
            title=xml_text(vacancy.title),
            link=site.url(vacancy.path_in(language if vacancy.translated_from else "")),
            description=xml_text(sanitise(vacancy.short_description or vacancy.description)),
            language=vacancy.shown_language,
            pubdate=vacancy.publish_from,
            updateddate=changed_at(vacancy),
            # Whatever the title becomes.
            unique_id=site.url(reverse("site:vacancy", args=[vacancy.pk])),
        )
    return interface.cache(HttpResponse(feed.writeString("utf-8"), content_type=feed.content_type))


# --- Indeed ------------------------------------------------------------------------------------

JOB_TYPES = {
    EmploymentType.FULL_TIME: "fulltime",
    EmploymentType.PART_TIME: "parttime",
    EmploymentType.CONTRACTOR: "contract",
    EmploymentType.TEMPORARY: "temporary",
    EmploymentType.INTERN: "internship",
}
REMOTE_TYPES: dict[str, str] = {WorkPlace.REMOTE: "Fully remote", WorkPlace.HYBRID: "Hybrid remote"}
PAY = PaySerializer()
COLUMNS = (
    "title",
    "audience",
    "brand",
    "reference",
    "work_place",
    "publish_from",
    "publish_until",
    *TEXTS,
    "is_pay_public",
    *(f"pay_{name}" for name in PAY.fields),
)
_ENTITIES = {"&amp;": "&", "&gt;": ">", "&nbsp;": "\u00a0"}
_ENTITY = re.compile(r"&(?:amp|gt|nbsp|lt);(?=(.?))", re.DOTALL)


@career_page
def indeed(site: Site) -> HttpResponseBase:
    """Return the vacancies of this site, or of one `brand`, as Indeed reads them."""
    given = site.request.GET
    errors = [f"{name}: unknown parameter; allowed is brand." for name in given if name != "brand"]
    brand = site.brand
    if slug := given.get("brand"):
        brand = Brand.of_slug(slug)
        if brand is None or (site.brand and site.brand != brand):
            errors.append(f"brand: no brand of this site has the value {slug!r}.")
    if errors:
        with override(site_language()):
            context = {"errors": errors, "list": reverse("site:jobs")}
            return respond(site, "invalid.html", context, status=400)
    jobs = Vacancy.objects.published(at=site.interface.now).external().filter(IS_A_JOB)
    if brand:
        jobs = jobs.filter(brand=brand)
    return document(site, "indeed", brand, partial(_indeed, site, jobs)).respond(site.request)


def _indeed(site: Site, jobs: VacancyQuerySet) -> Iterator[str]:
    """Yield the feed in order of the ids, a batch at a time, so that it needs little memory."""
    yield '<?xml version="1.0" encoding="utf-8"?>\n<source>\n'
    yield f"{_tag('publisher', site.name)}{_tag('publisherurl', site.url('/'))}\n"
    base, last = absolute(site.request, "/")[:-1], 0
    choices: Any = VacancyOption.objects.exclude(option__employment_type="").order_by()
    choices = choices.annotate(employment_type=F("option__employment_type"))
    # A prefetched brand is one object for many vacancies; `with_related` would load all of their
    # options.
    related = "brand", "places", Prefetch("choices", choices, to_attr="ordered_choices")
    rows = jobs.only(*COLUMNS).prefetch_related(*related).order_by("pk")
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        yield "".join(job for each in batch for job in _jobs(each, base))
        last = batch[-1].pk
    yield "</source>\n"


def _jobs(vacancy: Vacancy, base: str) -> Iterator[str]:
    """Yield an element for each place of `vacancy`, or for each country of remote work without a
    place. `base` is the URL of this service. Stored texts are sanitised.
    """
    kind = PlaceKind.SITE
    if vacancy.work_place == WorkPlace.REMOTE and not vacancy.sites:
        kind = PlaceKind.APPLICANT
    shared = _tags(_of_all_places(vacancy, base))
    for number, place in enumerate((each for each in vacancy.places.all() if each.kind == kind), 1):
        job = {
            "city": place.locality,
            "state": place.region,
            "country": place.country,
            "postalcode": place.postal_code,
            "streetaddress": place.street,
            "remotetype": REMOTE_TYPES.get(vacancy.work_place),
        }
        reference = _tag("referencenumber", f"{vacancy.pk}-{number}")
        yield f"<job>{reference}{shared}{_tags(job)}</job>\n"


def _of_all_places(vacancy: Vacancy, base: str) -> dict[str, str]:
    types = [
        JOB_TYPES[each]
        for each in map(EmploymentType, vacancy.employment_types)
        if each in JOB_TYPES
    ]
    end = vacancy.publish_until
    texts = "".join(getattr(vacancy, key) for key in TEXTS)
    brand, url = vacancy.brand, vacancy.url
    return {
        "title": vacancy.title,
        "date": f"{vacancy.publish_from:%Y-%m-%dT%H:%M:%SZ}",  # in UTC
        "requisitionid": vacancy.reference or str(vacancy.pk),
        "url": with_query(base + url if url.startswith("/") else url, source="indeed"),
        "company": brand.name if brand else settings.SITE_NAME,
        "description": _ENTITY.sub(_character, texts),
        "salary": _salary(vacancy),
        "jobtype": ", ".join(types),
        "expirationdate": last_day(end).isoformat() if end else "",
    }


def _tags(texts: Mapping[str, str | None]) -> str:
    return "".join(_tag(name, text) for name, text in texts.items() if text)


def _tag(name: str, text: str) -> str:
    """Return an element whose text is a CDATA section, which `]]>` in the text does not end."""
    return f"<{name}><![CDATA[{xml_text(text).replace(']]>', ']]]]><![CDATA[>')}]]></{name}>"


def _character(entity: re.Match[str]) -> str:
    """Return the character of an entity of sanitised HTML, which Indeed does not know. Before what
    could be the name of a tag, "<" gets a space.
    """
    if entity[0] == "&lt;":
        return "< " if entity[1].isalpha() or entity[1] in ("/", "!", "?") else "<"
    return _ENTITIES[entity[0]]


def _salary(vacancy: Vacancy) -> str:
    pay = PAY.to_representation(vacancy)
    if pay is None or pay["period"] is None:
        return ""
    low, high = pay["min"], pay["max"]
    if low is None:
        amount = f"up to {high}"
    elif high is None:
        amount = f"from {low}"
    else:
        amount = str(low) if low == high else f"{low} - {high}"
    return f"{amount} {pay['currency']} per {pay['period']}"
