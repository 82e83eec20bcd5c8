"""The addresses of the sitemap in other languages, and whether they fit together."""

import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import Any

from defusedxml import ElementTree

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
LINK = "{http://www.w3.org/1999/xhtml}link"
_LINKS = re.compile('<link rel="alternate" hreflang="([^"]*)" href="([^"]*)">')
Links = dict[str, str]  # addresses by language


def links_of_page(body: str) -> Links:
    return {code: unescape(url) for code, url in _LINKS.findall(body)}


def links_of_sitemap(content: bytes) -> dict[str, Links]:
    """Return the links of each address of a file."""
    return {
        url.findtext(f"{SITEMAP}loc", ""): {
            link.get("hreflang", ""): link.get("href", "") for link in url.findall(LINK)
        }
        for url in ElementTree.fromstring(content).findall(f"{SITEMAP}url")
    }


def faults(pages: Mapping[str, Links], get: Callable[[str], Any]) -> Iterator[str]:
    """Yield what is wrong with the `pages` of a sitemap: links that lead to a page without the same
    links, and pages of vacancies that `get` does not return, or that have other links.
    """
    for url, links in pages.items():
        if links and url not in links.values():
            yield f"{url} is not among its own links"
        if any(pages.get(other) != links for other in links.values()):
            yield f"{url} has a link that does not lead back"
        if "/jobs/" in url:
            answer = get(url)
            body = answer.content.decode()
            if answer.status_code != 200 or f'<link rel="canonical" href="{url}"' not in body:
                yield f"{url} is no page of its own: {answer.status_code}"
            if links_of_page(body) != links:
                yield f"{url} has other links than in the sitemap"
