"""The pages of the career site: the list of vacancies, one vacancy, a brand.

Caches share the pages: they have no cookie, no CSRF token, and nothing that depends on `Accept-Language`.
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
)
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from jobsite.api.absolute_urls import host_url, with_source
from jobsite.languages import LANGUAGES, site_language
from jobsite.middleware.security_headers import PERMISSIONS, policy
from jobsite.serving.stored_documents import RETRY_AFTER, NotReadyError
from jobsite.site import jsonld
from jobsite.site.filters import Filters
from jobsite.site.hosts import Site, page_path, stylesheet, theme_path, version_of
from jobsite.site.items import LISTED, Item
from jobsite.site.reading import Interface, RefusedError
from jobsite.site.sharing import share
from jobsite.text.html import sanitise, visible_text
from vacancies.choices import Fact
from vacancies.filtersets import filter_name
from vacancies.models import Brand, Filter, Vacancy
from vacancies.statistics.visits import given_source

OTHERS = 5  # current vacancies on the page of a closed one

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
        except RefusedError as refusal:
            template, status, wait = "refused.html", refusal.status, refusal.retry_after
        except NotReadyError:
            template, status, wait = "refused.html", 503, RETRY_AFTER
        with translation.override(site_language()):
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
def brand(site: Site, slug: str) -> HttpResponse:
    """Show a brand and its vacancies. A brand with a host has them there."""
    if not settings.MULTI_BRANDING:
        raise Http404
    found = get_object_or_404(Brand, slug=slug)
    if site.brand not in (None, found):
        raise Http404
    if found.host:
        return _moved(site.request, host_url(found.host) + reverse("site:jobs"))
    with translation.override(site_language()):
        return _list(site, found.name, found)


@career_page
def vacancy(site: Site, pk: int, slug: str = "") -> HttpResponse:
    """Show a vacancy in its own language. 410 if it is closed, 404 if it is unknown or was never public."""
    interface = site.interface
    try:
        item = interface.get(f"/v1/vacancies/{pk}")["data"]
    except RefusedError as refusal:
        if refusal.status != 404:
            raise
        return _closed(site, interface, pk)
    columns = ("title", "audience", "brand", "publish_from", "publish_until")
    rows = jsonld.with_requirements(Vacancy.objects.select_related("brand").only(*columns))
    row = get_object_or_404(rows, pk=pk)  # it may have been deleted meanwhile
    if not row.is_external or not site.shows(row):  # colleagues may read an internal one in the API
        raise Http404
    base = "" if site.brand else row.site_base
    if base or site.request.path_info != row.site_path:  # another slug, or zeros before the id
        return _moved(site.request, base + row.site_path)
    language = item["language"] if item["language"] in LANGUAGES else site_language()
    with translation.override(language):
        shown = Item(item)
        apply_page = _apply_page(site, interface, pk)
        posting = jsonld.job_posting(item, row, takes_applications=bool(apply_page))
        context = {
            "theme": theme_path(row.shown_brand),
            "item": shown,
            "facts": shown.facts(Filter.objects.all()),
            "apply_url": item["apply_url"] or apply_page,
            "share": share(
                site,
                title=item["title"],
                description=visible_text(item["short_description"] or item["description"] or ""),
                image=shown.share_image,
                language=item["language"],
            ),
            "posting": jsonld.script(posting) if posting else "",
            "brand_path": reverse("site:brand", args=[row.shown_brand.slug]) if row.shown_brand else "",
            "canonical": item["url"],
        }
        return interface.cache(respond(site, "vacancy.html", context))


def _list(site: Site, heading: str, brand: Brand | None) -> HttpResponse:
    """Return the list of the vacancies of `brand`, or of all."""
    request, interface = site.request, site.interface
    filters = Filters(request, request.path)
    own = [(filter_name(Fact.BRAND), brand.slug)] if brand else []
    if own and (others := [pair for pair in filters.given if pair[0] == own[0][0]]):
        return HttpResponseRedirect(filters.without(*others[0]))  # the list of one brand shows no other
    try:
        found = interface.get("/v1/vacancies", [*filters.query, *own, ("fields", ",".join(LISTED))])
        facets = filters.facets(interface.get("/v1/filters", [*filters.facets_query, *own])["data"])
    except RefusedError as refusal:
        if refusal.status != 400:
            raise
        errors = [error["detail"] for error in refusal.problem["errors"]]
        return respond(site, "invalid.html", {"errors": errors, "list": request.path}, status=400)
    meta = found["meta"]
    number = meta["current_page"]
    address = filters.address(number)
    context = {
        "heading": heading,
        "theme": theme_path(brand),
        "intro": SafeString(sanitise(brand.description)) if brand else "",
        "is_list": True,
        "items": [Item(item, filters.source) for item in found["data"]],
        "meta": meta,
        "filters": filters,
        "facets": [facet for facet in facets if not (own and facet.name == own[0][0])],
        "chips": filters.chips(facets),
        "sorts": filters.sorts,
        "places": filters.places(),
        "suggestions": filters.suggestions(meta.get("suggestions") or []),
        "previous": filters.page(min(number - 1, meta["last_page"])) if number > 1 else "",
        "next": filters.page(number + 1) if found["links"]["next"] else "",
        "canonical": site.url(address),
        "alternates": _alternates(site, address),
        "share": share(
            site,
            title=heading,
            description=(visible_text(brand.description) if brand else "")
            or _("Current vacancies of %(brand)s") % {"brand": brand.name if brand else site.name},
            image="",
            language=translation.get_language(),
        ),
        "is_indexed": filters.is_indexed and bool(found["data"]),
        "alert": _with(page_path("alerts", translation.get_language()), [*filters.alert_query, *own]),
    }
    return interface.cache(respond(site, "list.html", context))


def _alternates(site: Site, address: str) -> list[tuple[str, str]]:
    """Return the same list in each language, and the one for visitors with another language. The page of a
    brand is in one language."""
    path, _mark, query = address.partition("?")
    lists = [(each["code"], each["path"]) for each in site.languages]
    if path not in dict(lists).values():
        return []
    urls = [(code, site.url(f"{other}?{query}" if query else other)) for code, other in lists]
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


def _closed(site: Site, interface: Interface, pk: int) -> HttpResponse:
    """Show that a vacancy is closed, without its title, and current ones of its brand."""
    closed = Vacancy.objects.closed(at=interface.now).select_related("brand").filter(pk=pk).first()
    if closed is None or not site.shows(closed):
        raise Http404
    brand = closed.shown_brand
    query = [("page[size]", str(OTHERS)), ("fields", ",".join(LISTED))]
    if brand:
        query.append((filter_name(Fact.BRAND), brand.slug))
    with translation.override(site_language()):
        items = [Item(item) for item in interface.get("/v1/vacancies", query)["data"]]
        return respond(site, "closed.html", {"items": items, "brand": brand}, status=410)


def respond(site: Site, template: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
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
    """Lead to `url` with the query of the request. Without an age, browsers keep this for good: when a title
    or a host changes back, they would go round in circles."""
    query = request.META.get("QUERY_STRING", "")
    response = HttpResponsePermanentRedirect(f"{url}?{query}" if query else url)
    response["Cache-Control"] = f"public, max-age={settings.PUBLIC_MAX_AGE}"
    return response


def _apply_page(site: Site, interface: Interface, pk: int) -> str:
    """Return the path of the page to apply, which gets to know where the visitor comes from, or ""."""
    if not (settings.APPLY_PAGES and interface.takes_applications(pk)):
        return ""
    return with_source(reverse("apply", args=[pk]), given_source(site.request.GET))
