"""The career site of a request, the main one or that of a brand;
the context and a tag of all templates.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.template import Context, Library
from django.urls import reverse
from django.utils.functional import SimpleLazyObject, cached_property
from django.utils.translation import get_language, get_language_info

from jobsite.api.absolute_urls import absolute, host_url, is_main_host
from jobsite.appearance import text_on
from jobsite.languages import LANGUAGES, site_language
from jobsite.site.reading import Interface
from jobsite.types import JsonObject
from vacancies.api.published import ID
from vacancies.models import Brand, BrandLink, Vacancy

# What the host of a brand serves: its pages, the API, files, and the pages of its own vacancies.
# All other paths, such as /admin and /account, are on the main host.
NAMESPACES = ("site", "v1", "v0_1")
PAGES = ("media", "apply-thanks")
PAGES_OF_A_VACANCY = ("vacancy", "apply")
register = Library()


@dataclass
class Site:
    """A career site, for the views and the templates (`site` in each context)."""

    request: HttpRequest
    # The page in another language, to which the links in the footer lead: its path, "" if there is
    # none, and its query.
    path_in: Callable[[str], str] = field(default=lambda language: jobs_path(language))
    query: str = ""

    @cached_property
    def interface(self) -> Interface:
        """All that its page reads."""
        return Interface(self.request)

    @property
    def is_on(self) -> bool:
        return settings.CAREER_SITE

    @cached_property
    def brand(self) -> Brand | None:
        """The brand that has the host of the request."""
        if not settings.CAREER_SITE:
            return None
        host = self.request.get_host()
        if is_main_host(host):
            return None
        domain, port = split_domain_port(host.lower())  # without the dot that may end a host
        found = Brand.objects.filter(host__in=[domain, f"{domain}:{port}"])
        return max(found, key=lambda brand: len(brand.host), default=None)

    def shows(self, vacancy: Vacancy) -> bool:
        """Whether it has the page of `vacancy`. The main one redirects to that of a brand."""
        return self.brand is None or vacancy.brand_id == self.brand.pk

    @property
    def name(self) -> str:
        return self.brand.name if self.brand else settings.SITE_NAME

    @property
    def logo(self) -> str:
        if self.brand is None:
            return settings.SITE_LOGO
        icon = self.brand.icon_large
        return icon.url if icon else self.brand.icon_large_url

    @property
    def theme(self) -> str:
        """The address of the style sheet with its color."""
        return theme_path(self.brand)

    @property
    def jobs_path(self) -> str:
        """The path of the list in the active language."""
        return jobs_path(get_language())

    @property
    def account(self) -> str:
        """The address of the pages of applicants on the main host;
        "" on another one if that is not known.
        """
        path = reverse("account")
        return settings.PUBLIC_BASE_URL and settings.PUBLIC_BASE_URL + path if self.brand else path

    @property
    def languages(self) -> list[dict[str, str]]:
        """The code, the own name and the path of the page of each language, that
        of the site first.
        """
        first = site_language()
        return [
            {
                "code": code,
                "name": get_language_info(code)["name_local"].capitalize(),
                "path": path + self.query,
            }
            for code in (first, *(code for code in LANGUAGES if code != first))
            if (path := self.path_in(code))
        ]

    def url(self, path: str) -> str:
        """Return the absolute URL of `path` on this site."""
        return host_url(self.brand.host) + path if self.brand else absolute(self.request, path)


class BrandHostMiddleware:
    """Answers 404 on the host of a brand to what only the main host serves."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, args: object, kwargs: JsonObject
    ) -> None:
        match = request.resolver_match
        if match is None or match.namespace in NAMESPACES or match.url_name in PAGES:
            return
        if (brand := Site(request).brand) is None:
            return
        if match.url_name not in PAGES_OF_A_VACANCY or not _has(brand, kwargs["pk"]):
            raise Http404


def _has(brand: Brand, pk: str) -> bool:
    return bool(ID.fullmatch(pk)) and Vacancy.objects.filter(brand=brand, pk=pk).exists()


def jobs_path(language: str) -> str:
    """Return the path of the list in `language`."""
    return page_path("jobs", language)


def page_path(name: str, language: str, **arguments: str) -> str:
    """Return the path of a page in `language`."""
    own = {} if language == site_language() else {"language": language}
    return reverse(f"site:{name}", kwargs=own | arguments)


def stylesheet(brand: Brand | None) -> str:
    """Return the color of the header and the buttons, that of the brand or of the site, and black
    or white for their text, whichever has the higher contrast.
    """
    color = (brand and brand.accent) or settings.SITE_COLOR
    return f":root{{--site:{color};--on-site:{text_on(color)}}}"


def theme_path(brand: Brand | None) -> str:
    """Return the address of the style sheet of `brand`, or of the site."""
    path = reverse("site:theme", kwargs={"slug": brand.slug} if brand else {})
    return f"{path}?v={version_of(stylesheet(brand))}"


def version_of(css: str) -> str:
    """Return the version of a style sheet, for its address."""
    return sha256(css.encode()).hexdigest()[:8]


def context(request: HttpRequest) -> JsonObject:
    """The context processor of all pages. Nothing is read unless a template shows it."""
    try:
        request.get_host()
    except DisallowedHost:  # its error page is of no site
        return {}
    return {"site": SimpleLazyObject(lambda: Site(request))}


@register.simple_tag(takes_context=True)
def site_links(context: Context) -> list[BrandLink]:
    """Return the links of the `employer` or of the `vacancy` of the page, else of the brand that
    has its host, or of the site. A page without a request says that the database does not respond:
    it has none.
    """
    if "site" not in context:
        return []
    employer = context.get("employer") or getattr(context.get("vacancy"), "brand", None)
    # A sign-in view of a package has a `site` of its own. Such pages are on the main host.
    brand = employer or getattr(context["site"], "brand", None)
    return BrandLink.shown(get_language() or site_language(), brand and brand.pk)
