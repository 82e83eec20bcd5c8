"""What social networks and messengers show of a page: Open Graph."""

from babel.core import get_global

from jobsite.site.hosts import Site

DESCRIPTION_MAX = 200  # characters


def share(site: Site, *, title: str, description: str, image: str, language: str) -> dict[str, str]:
    """Return the values of site/share.html. `language` is that of its texts."""
    image = image or site.logo
    return {
        "title": title,
        "description": _shortened(description),
        "image": site.url(image) if image.startswith("/") else image,
        "locale": _locale(language),
    }


def _locale(language: str) -> str:
    """Return `language` with the country where most of its speakers live, such as nl_NL: Open Graph knows no
    language without one."""
    parts = get_global("likely_subtags").get(language, language).split("_")
    return f"{language}_{parts[-1]}"


def _shortened(text: str) -> str:
    return text if len(text) <= DESCRIPTION_MAX else f"{text[: DESCRIPTION_MAX - 1]}…"
