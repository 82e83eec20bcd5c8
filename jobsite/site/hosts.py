"""The career site that a request is for: the main one, or that of the brand whose host it names."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject, cached_property
from django.utils.translation import get_language, get_language_info

from jobsite.api.absolute_urls import absolute, host_url
from jobsite.appearance import text_on
from jobsite.languages import LANGUAGES, site_language
from vacancies.models import Brand


@dataclass
class Site:
    """A career site, for the views and the templates (`site` in each context)."""

    request: HttpRequest

    @property
    def is_on(self) -> bool:
        return settings.CAREER_SITE

    @cached_property
    def brand(self) -> Brand | None:
        """The brand that has the host of the request."""
        host = self.request.get_host().lower()
        return Brand.objects.filter(host=host).first() if settings.MULTI_BRANDING else None

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
        arguments = {"slug": self.brand.slug} if self.brand else {}
        digest = sha256(stylesheet(self.brand).encode()).hexdigest()[:8]
        return f"{reverse('site:theme', kwargs=arguments)}?v={digest}"

    @property
    def jobs_path(self) -> str:
        """The path of the list in the active language."""
        return jobs_path(get_language())

    @property
    def languages(self) -> list[dict[str, str]]:
        """The code, the own name and the path of the list of each language, that of the site first."""
        first = site_language()
        return [
            {
                "code": code,
                "name": get_language_info(code)["name_local"].capitalize(),
                "path": jobs_path(code),
            }
            for code in (first, *(code for code in LANGUAGES if code != first))
        ]

    def url(self, path: str) -> str:
        """Return the absolute URL of `path` on this site."""
        return host_url(self.brand.host) + path if self.brand else absolute(self.request, path)


def jobs_path(language: str) -> str:
    """Return the path of the list in `language`."""
    return reverse("site:jobs", kwargs={} if language == site_language() else {"language": language})


def stylesheet(brand: Brand | None) -> str:
    """Return the color of the header and the buttons, that of the brand or of the site, and black or white
    for their text, whichever has the higher contrast."""
    color = (brand and brand.accent) or settings.SITE_COLOR
    return f":root{{--site:{color};--on-site:{text_on(color)}}}"


def context(request: HttpRequest) -> dict[str, Any]:
    """The context processor of all pages. Nothing is read unless a template shows it."""
    return {"site": SimpleLazyObject(lambda: Site(request))}
