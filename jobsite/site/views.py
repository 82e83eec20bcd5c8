"""The pages of the career site: the list of vacancies, one vacancy, a brand.

Caches share the pages: they have no cookie, no CSRF token, and nothing that depends on
`Accept-Language`.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from csp.constants import HEADER
from django.conf import settings
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponsePermanentRedirect,
    HttpResponseRedirect,
    QueryDict,
)
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from jobsite.api.absolute_urls import absolute, host_url, with_query
from jobsite.api.pagination import SIZE
from jobsite.languages import preferred_language, site_language, supported, text_languages
from jobsite.middleware.security_headers import PERMISSIONS, policy
from jobsite.serving.stored_documents import RETRY_AFTER, NotReadyError
from jobsite.site import jsonld
from jobsite.site.filters import BACK, Filters
from jobsite.site.hosts import Site, page_path, stylesheet, theme_path, version_of
from jobsite.site.items import LISTED, ShownItem
from jobsite.site.reading import Interface, ProblemResponseError
from jobsite.site.sharing import share
from jobsite.site.translations import alternates, foreign_words, page_paths, ready_titles
from jobsite.text.html import sanitise, visible_text
from jobsite.types import JsonObject
from vacancies.choices import Fact, Keyword
from vacancies.filtersets import filter_name
from vacancies.models import Brand, Filter, FilterOption, Vacancy
from vacancies.statistics.visits import given_source

OTHERS = 5  # current vacancies on the page of a closed one
SIMILAR = 4  # on the page of a vacancy

View = Callable[..., HttpResponseBase]


def career_page(view: View) -> View:
    """Pass the `Site` of the request on to `view`, which only reads. 404 without CAREER_SITE."""
    return require_safe(on_site(view))


def on_site(view: View) -> View:
    """Pass the `Site` of the request on to `view`. 404 without CAREER_SITE."""

    @wraps(view)
    def page(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not settings.CAREER_SITE:
            raise Http404
        site = Site(request)
        try:
            site.interface.note_revision()
            return view(site, **kwargs)
        except Http404:
            template, status, wait = "not_found.html", 404, ""
        except ProblemResponseError as refusal:
            template, status, wait = "refused.html", refusal.status, refusal.retry_after
        except NotReadyError:
            template, status, wait = "refused.html", 503, RETRY_AFTER
        accepted = request.headers.get("Accept-Language", "")
        with translation.override(kwargs.get("language") or preferred_language(accepted)):
            response = respond(site, template, {}, status=status)
        if wait:
            response["Retry-After"] = wait
        return response

    return page


def home(request: HttpRequest) -> HttpResponse:
    """Lead to the list of vacancies, or without a career site to the documentation."""
    return HttpResponseRedirect(reverse("site:jobs" if settings.CAREER_SITE else "docs"))


@career_page
def jobs(site: Site, language: str = "") -> HttpResponse:
    """Show the list of vacancies in `language`, by default in that of the site."""
    if language == site_language():
        return _moved(site.request, reverse("site:jobs"))
    with translation.override(language or site_language()):
        heading = _("Vacancies at %(name)s") % {"name": site.name} if site.brand else _("Vacancies")
        return _list(site, heading, site.brand)


@career_page
def brand(site: Site, slug: str, language: str = "") -> HttpResponse:
    """Show a brand and its vacancies. A brand with a host has them there."""
    language = language or site_language()
    found = get_object_or_404(Brand, slug=slug)
    if site.brand not in (None, found):
        raise Http404
    site.path_in = lambda code: page_path("brand", code, slug=slug)
    moved_to = host_url(found.host) + (
        page_path("jobs", language) if found.host else site.path_in(language)
    )
    if moved_to != site.request.path:
        return _moved(site.request, moved_to)
    with translation.override(language):
        return _list(site, found.name, found)


@career_page
def vacancy(site: Site, pk: int, slug: str = "", language: str = "") -> HttpResponse:
    """Show a vacancy. Around its texts, the page is in `language`, by default in that of the
    vacancy. 410 if it is closed, 404 if it is unknown or was never public.
    """
    interface = site.interface
    try:
        item = interface.get(f"/v1/vacancies/{pk}", language=language)["data"]
    except ProblemResponseError as refusal:
        if refusal.status != 404:
            raise
        return _closed(site, interface, pk, language)
    columns = ("title", "language", "audience", "brand", "publish_from", "publish_until")
    rows = jsonld.with_requirements(Vacancy.objects.select_related("brand").only(*columns))
    row = get_object_or_404(rows, pk=pk)  # it may have been deleted meanwhile
    if not row.is_external or not site.shows(row):  # colleagues may read an internal one in the API
        raise Http404
    base, own, paths = "" if site.brand else row.site_base, supported(row.shown_language), {}
    site.path_in = row.path_in
    if text_languages():
        titles = ready_titles([pk])[pk] if item["languages"][1:] else {}
        paths = page_paths(row, titles)
        site.path_in = lambda code: row.site_path if code == own else paths.get(code, "")
    if not language or not site.path_in(language):
        language = own  # also instead of a translation that is not ready
    # Another slug, or zeros before the id.
    if base or site.request.path_info != site.path_in(language):
        return _moved(site.request, base + site.path_in(language))
    site.query = with_query(
        "", **{name: site.request.GET.get(name, "") for name in ("source", BACK)}
    )
    with translation.override(language):
        shown = ShownItem(item)
        apply_page = _apply_page(site, interface, pk)
        posting = jsonld.job_posting(item, row, takes_applications=bool(apply_page))
        context = {
            "similar": _similar(site, row),
            "employer": row.brand,
            "back": _way_back(site),
            "theme": theme_path(row.brand),
            "item": shown,
            "facts": shown.facts(Filter.objects.all(), foreign_words(language)),
            "alternates": [] if row.brand and row.brand.vacancy_url else alternates(site, paths),
            "apply_url": item["apply_url"] or apply_page,
            "share": share(
                site,
                title=item["title"],
                description=visible_text(item["short_description"] or item["description"] or ""),
                image=shown.share_image,
                language=item["language"],
            ),
            "posting": jsonld.script(posting) if posting else "",
            "brand_path": page_path("brand", language, slug=row.brand.slug) if row.brand else "",
            "canonical": item["url"],
        }
        return interface.cache(respond(site, "vacancy.html", context))


def _list(site: Site, heading: str, brand: Brand | None) -> HttpResponse:
    """Return the list of the vacancies of `brand`, or of all."""
    request, interface = site.request, site.interface
    filters = Filters(request.GET, request.path)
    own = [(filter_name(Fact.BRAND), brand.slug)] if brand else []
    if own and (others := [pair for pair in filters.given if pair[0] == own[0][0]]):
        # The list of one brand shows no other.
        return HttpResponseRedirect(filters.without(*others[0]))
    try:
        found = interface.get("/v1/vacancies", [*filters.query, *own, ("fields", ",".join(LISTED))])
        described = interface.get("/v1/filters", [*filters.facets_query, *own])["data"]
        facets = filters.facets(described, foreign_words(translation.get_language()))
    except ProblemResponseError as refusal:
        if refusal.status != 400:
            raise
        errors = [error["detail"] for error in refusal.problem["errors"]]
        return respond(site, "invalid.html", {"errors": errors, "list": request.path}, status=400)
    context = {
        **_of_list(site, heading, brand),
        **_found(site, filters, found, [] if site.brand else own),
        "has_logos": not brand and len({ShownItem(item).brand_name for item in found["data"]}) > 1,
        "facets": [facet for facet in facets if facet.name not in dict(own)],
        "chips": filters.chips(facets),
        "alert": _with(
            page_path("alerts", translation.get_language()), [*filters.alert_query, *own]
        ),
    }
    return interface.cache(respond(site, "list.html", context))


def _of_list(site: Site, heading: str, brand: Brand | None) -> dict[str, object]:
    """Return what a list shows, whatever was found."""
    return {
        "employer": brand,
        "heading": heading,
        "theme": theme_path(brand),
        "intro": SafeString(sanitise(brand.description)) if brand else "",
        "is_list": True,
        "share": _share_of_list(site, heading, brand),
    }


def _found(
    site: Site, filters: Filters, found: JsonObject, limits: list[tuple[str, str]]
) -> dict[str, object]:
    """Return the page of the vacancies `found` with `filters`. `limits` are those that the way back
    from a vacancy to the list has, too.
    """
    meta = found["meta"]
    number = meta["current_page"]
    address = filters.address(number)
    site.query = address[len(site.request.path) :]
    back = filters.here(limits).partition("?")[2] if limits or filters.given else ""
    return {
        "items": _items(site, found["data"], filters.source, back),
        "meta": meta,
        "filters": filters,
        "sorts": filters.sorts,
        "places": filters.places(),
        "suggestions": filters.suggestions(meta.get("suggestions") or []),
        "previous": filters.page(min(number - 1, meta["last_page"])) if number > 1 else "",
        "next": filters.page(number + 1) if found["links"]["next"] else "",
        "canonical": site.url(address),
        "alternates": _alternates(site),
        "is_indexed": filters.is_indexed and bool(found["data"]),
    }


def _share_of_list(site: Site, heading: str, brand: Brand | None) -> dict[str, Any]:
    text = visible_text(brand.description) if brand else ""
    text = text or _("Current vacancies of %(brand)s") % {
        "brand": brand.name if brand else site.name
    }
    return share(
        site, title=heading, description=text, image="", language=translation.get_language()
    )


def _items(
    site: Site, found: list[JsonObject], source: str = "", back: str = ""
) -> list[ShownItem]:
    """Return the items of a list. Their links keep the active language, the source of the visitor
    and, on this site, the query of the list, `back`.
    """
    columns = ("title", "language", "audience", "brand")
    rows = (
        Vacancy.objects.select_related("brand")
        .only(*columns)
        .in_bulk([item["id"] for item in found])
    )
    items = []
    for item in found:
        row = rows.get(item["id"])  # it may have been deleted meanwhile
        url = absolute(site.request, row.url_in()) if row and not text_languages() else item["url"]
        way = {"source": source, BACK: back if url.startswith(site.url("/")) else ""}
        items.append(ShownItem(item, with_query(url, **way)))
    return items


def _similar(site: Site, row: Vacancy) -> list[ShownItem]:
    """Return a few vacancies of the category of `row` that are near it, else of the category, else
    near it. The list decides who sees them, and how long the page is valid.
    """
    by_keyword: dict[str, list[str]] = {Keyword.FUNCTIONGROUP: [], Keyword.REGIONS: []}
    options = FilterOption.objects.filter(vacancies=row, filter__keyword__in=by_keyword)
    for keyword, value in options.values_list("filter__keyword", "value"):
        by_keyword[keyword].append(value)
    pairs = [(filter_name(key), ",".join(some[:50])) for key, some in by_keyword.items() if some]
    limits = [(filter_name(Fact.BRAND), site.brand.slug)] if site.brand else []
    for query in filter(None, (pairs[1:] and pairs, pairs[:1], pairs[1:])):
        page = [*query, *limits, (SIZE, str(SIMILAR + 1)), ("fields", ",".join(LISTED))]
        found = site.interface.get("/v1/vacancies", page)["data"]
        if others := [item for item in found if item["id"] != row.pk][:SIMILAR]:
            return _items(site, others)
    return []


def _way_back(site: Site) -> str:
    """Return the list from which a visitor came to a vacancy, in the active language. Only its
    parameters are taken from the request, so that it leads to no other site.
    """
    return Filters(QueryDict(site.request.GET.get(BACK, "")), site.jobs_path).here()


def _alternates(site: Site) -> list[tuple[str, str]]:
    """Return the same list in each language, and the one for visitors with another language."""
    urls = [(each["code"], site.url(each["path"])) for each in site.languages]
    return [*urls, ("x-default", urls[0][1])]


@require_safe
def theme(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Return the style sheet with the color of a brand, or of the site."""
    if not settings.CAREER_SITE:
        raise Http404
    css = stylesheet(get_object_or_404(Brand, slug=slug) if slug else None)
    response = HttpResponse(css, content_type="text/css")
    # For a year, unless a page of another release or of another color asks for it.
    is_asked_for = request.GET.get("v") == version_of(css)
    age = "31536000, immutable" if is_asked_for else str(settings.PUBLIC_MAX_AGE)
    response["Cache-Control"] = f"public, max-age={age}"
    return response


def _closed(site: Site, interface: Interface, pk: int, language: str) -> HttpResponse:
    """Show in `language`, or in that of the vacancy, that it is closed, without its title, and
    current ones of its brand.
    """
    closed = Vacancy.objects.closed(at=interface.now).select_related("brand").filter(pk=pk).first()
    if closed is None or not site.shows(closed):
        raise Http404
    brand = closed.brand
    query = [(SIZE, str(OTHERS)), ("fields", ",".join(LISTED))]
    if brand:
        query.append((filter_name(Fact.BRAND), brand.slug))
    with translation.override(language or supported(closed.shown_language)):
        items = _items(site, interface.get("/v1/vacancies", query)["data"])
        context = {"items": items, "brand": brand, "employer": brand, "back": _way_back(site)}
        return respond(site, "closed.html", context, status=410)


def respond(
    site: Site, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Return a page in the active language."""
    context = {**context, "site": site, "status": status}
    response = render(site.request, f"site/{template}", context, status=status)
    response[HEADER] = policy("site")
    response["Permissions-Policy"] = PERMISSIONS
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Content-Language"] = translation.get_language()
    if status != 200:
        response["Cache-Control"] = "no-store"
    return response


def _with(path: str, query: Iterable[tuple[str, str]]) -> str:
    return f"{path}?{text}" if (text := urlencode([*query])) else path


def _moved(request: HttpRequest, url: str) -> HttpResponse:
    """Lead to `url` with the query of the request. Without an age, browsers keep this for good:
    when a title or a host changes back, they would go round in circles.
    """
    query = request.META.get("QUERY_STRING", "")
    response = HttpResponsePermanentRedirect(f"{url}?{query}" if query else url)
    response["Cache-Control"] = f"public, max-age={settings.PUBLIC_MAX_AGE}"
    return response


def _apply_page(site: Site, interface: Interface, pk: int) -> str:
    """Return the path of the page to apply, which gets to know where the
    visitor comes from, or "".
    """
    if not (settings.APPLY_PAGES and interface.takes_applications(pk)):
        return ""
    parameters = {"source": given_source(site.request.GET), "language": translation.get_language()}
    return with_query(reverse("apply", args=[pk]), **parameters)
