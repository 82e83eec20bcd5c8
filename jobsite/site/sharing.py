"""What social networks and messengers show of a page: Open Graph."""

from babel.core import get_global
from django.templatetags.static import static

from jobsite.site.hosts import Site
from jobsite.types import JsonObject
from vacancies.uploads.image_copies import picture

DESCRIPTION_MAX = 200  # characters


def share(site: Site, *, title: str, description: str, image: str, language: str) -> JsonObject:
    """Return the values of site/share.html. `language` is that of its texts."""
    image, size = image or site.logo, None
    if found := picture(image):
        image, size = found.shared, found.shared_size
    elif not image or image.partition("?")[0].endswith((".svg", ".webp")):  # which few of them show
        image, size = static("jobsite/share.png"), (1200, 630)
    return {
        "title": title,
        "description": _shortened(description),
        "image": site.url(image) if image.startswith("/") else image,
        "size": size,
        "card": "summary_large_image" if size and size[0] >= 600 else "summary",
        "locale": _locale(language),
    }


def _shortened(text: str) -> str:
    return text if len(text) <= DESCRIPTION_MAX else f"{text[: DESCRIPTION_MAX - 1].rstrip()}…"


def _locale(language: str) -> str:
    """Return `language` with the country where most of its speakers live, such as nl_NL: Open Graph
    knows no language without one.
    """
    parts = get_global("likely_subtags").get(language, language).split("_")
    return f"{language}_{parts[-1]}"
