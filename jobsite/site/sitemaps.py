"""What crawlers read: /robots.txt, and the sitemap of the vacancies that have their page on this
site.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from xml.sax.saxutils import escape

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobsite.api.absolute_urls import absolute
from jobsite.languages import text_languages
from jobsite.serving.stored_documents import Document, NotReadyError
from jobsite.site.hosts import Site
from jobsite.site.translations import alternates, page_paths, ready_titles
from jobsite.site.views import career_page
from vacancies.models import Brand, Vacancy
from vacancies.querysets import VacancyQuerySet

BLOCK = 10_000  # ids of a file; a file may have 50,000 addresses
_XHTML = ' xmlns:xhtml="http://www.w3.org/1999/xhtml"'
CLOSED_TO_CRAWLERS = ("/admin", "/account/", "/preview/")
_OPEN = '<?xml version="1.0" encoding="UTF-8"?>\n<{0} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'


def pages(site: Site, *, at: datetime) -> VacancyQuerySet:
    """The vacancies that have their page on `site` at the time `at`: public ones whose brand has no
    website of its own for them, on the host of their brand.
    """
    own = Q(brand=site.brand) if site.brand else Q(brand=None) | Q(brand__host="")
    here = Q(brand=None) | Q(brand__vacancy_url="")
    return Vacancy.objects.published(at=at).external().filter(own, here)


def changed_at(vacancy: Vacancy) -> datetime:
    """The time from which the page of a public `vacancy` shows what it shows."""
    return max(filter(None, (vacancy.updated_at, vacancy.publish_from)))


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Say which pages are not for crawlers, and where the sitemap is."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in CLOSED_TO_CRAWLERS)]
    if settings.CAREER_SITE:
        lines += ["", f"Sitemap: {Site(request).url(reverse('site:sitemap'))}"]
    response = HttpResponse("\n".join([*lines, ""]), content_type='text/plain; charset="utf-8"')
    response["Cache-Control"] = f"public, max-age={settings.PUBLIC_MAX_AGE}"
    return response


def document(
    site: Site, name: str, brand: Brand | None, texts: Callable[[], Iterator[str]]
) -> Document:
    """Return the document `name` of the site, or of one brand, with the vacancies that are public
    now. Counts for the rate limit: raises ProblemResponseError. Raises NotReadyError for a host
    that is not the whole name in ALLOWED_HOSTS, or that with the port of the server, while
    PUBLIC_BASE_URL is unset: clients could ask for any number of documents.
    """
    interface = site.interface
    host = site.request.get_host().removesuffix(f":{site.request.META['SERVER_PORT']}")
    if not (settings.PUBLIC_BASE_URL or settings.DEBUG or host in settings.ALLOWED_HOSTS):
        raise NotReadyError
    interface.read_shortest_list()
    key = (
        name,
        site.url("/"),
        absolute(site.request, "/"),
        site.brand and site.brand.pk,
        brand and brand.pk,
    )
    until = partial(Vacancy.objects.next_change, after=interface.now)
    return Document(name.partition("-")[0], key, interface.now, until, texts)


@career_page
def index(site: Site) -> HttpResponseBase:
    """Return the list of the files that have an address. The first one always has."""

    def texts() -> Iterator[str]:
        blocks = pages(site, at=site.interface.now).annotate(block=F("pk") / BLOCK).order_by()
        numbers = sorted({0, *blocks.values_list("block", flat=True).distinct()})
        yield _OPEN.format("sitemapindex")
        yield from (
            _element("sitemap", site.url(reverse("site:sitemap", args=[each]))) for each in numbers
        )
        yield "</sitemapindex>\n"

    return document(site, "sitemap", None, texts).respond(site.request)


@career_page
def part(site: Site, number: int) -> HttpResponseBase:
    """Return the addresses of the vacancies whose ids begin at `number` times BLOCK."""
    first = number * BLOCK
    rows = (
        pages(site, at=site.interface.now)
        .filter(pk__gte=first, pk__lt=first + BLOCK)
        .order_by("pk")
    )
    if number and not rows.exists():
        raise Http404

    def texts() -> Iterator[str]:
        yield _OPEN.format(f"urlset{_XHTML}" if text_languages() else "urlset")
        if number == 0:
            yield from (
                _element("url", site.url(path)) for path in _lists(site, site.interface.now)
            )
        found = list(rows.only("title", "language", "updated_at", "publish_from"))
        titles = ready_titles([row.pk for row in found])
        for row in found:
            paths = page_paths(row, titles[row.pk])
            links = "".join(
                f'<xhtml:link rel="alternate" hreflang="{code}" href="{escape(url)}"/>'
                for code, url in alternates(site, paths)
            )
            for path in paths.values():
                yield _element("url", site.url(path), changed_at(row), links)
        yield "</urlset>\n"

    return document(site, f"sitemap-{number}", None, texts).respond(site.request)


def _lists(site: Site, at: datetime) -> Iterator[str]:
    """Yield the paths of the lists: one per language, and one per brand with vacancies."""
    yield from (language["path"] for language in site.languages)
    if not site.brand:
        vacancies = Vacancy.objects.published(at=at).external().filter(brand=OuterRef("pk"))
        brands = Brand.objects.filter(Exists(vacancies), host="").exclude(slug="")
        yield from (
            reverse("site:brand", args=[slug]) for slug in brands.values_list("slug", flat=True)
        )


def _element(name: str, url: str, changed: datetime | None = None, links: str = "") -> str:
    at = f"<lastmod>{changed.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}</lastmod>" if changed else ""
    return f"<{name}><loc>{escape(url)}</loc>{at}{links}</{name}>\n"
