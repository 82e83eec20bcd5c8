"""The appearance of the site: SITE_NAME, SITE_LOGO and SITE_COLOR on the admin's and the
applicants' pages.

Texts and buttons have shades of SITE_COLOR that are readable (WCAG 2.2, contrast 4.5)."""

from base64 import b64encode
from functools import cache
from hashlib import sha256

from django.conf import settings
from django.http import HttpRequest
from django.utils.safestring import SafeString

MIN_CONTRAST = 4.5
WHITE, BLACK = "#ffffff", "#000000"
# The backgrounds of texts with the least contrast, of both themes.
LIGHT, DARK = "#f3f4f6", "#1f2937"
_STEP = 0.04


def luminance(color: str) -> float:
    """Return the relative luminance of `color`, "#rrggbb", by the formula of WCAG."""
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mix(color: str, other: str, share: float) -> str:
    """Return `color` with the `share` of `other` in it."""
    pairs = ((int(color[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def readable(color: str, background: str, toward: str) -> str:
    """Return the shade of `color` nearest to it, toward `toward`, that is
    readable on `background`.
    """
    shade, share = color, 0.0
    while contrast(shade, background) < MIN_CONTRAST and share < 1:
        share += _STEP
        shade = mix(color, toward, min(share, 1))
    return shade


def text_on(color: str) -> str:
    return max(WHITE, BLACK, key=lambda text: contrast(text, color))


def palette(color: str) -> dict[str, str]:
    """Return the shades by the names of unfold: 600 is text on light and a background of white
    text, and 400 and 500 are text on dark.
    """
    dark, bright = readable(color, LIGHT, BLACK), readable(color, DARK, WHITE)
    light = {"50": 0.95, "100": 0.9, "200": 0.78, "300": 0.6}
    deep = {"700": 0.15, "800": 0.3, "900": 0.45, "950": 0.6}
    return {
        **{name: mix(color, WHITE, share) for name, share in light.items()},
        "400": bright,
        "500": bright,
        "600": dark,
        **{name: mix(dark, BLACK, share) for name, share in deep.items()},
    }


@cache
def stylesheet() -> SafeString:
    """Return the colours for plain.css. The policy of these pages allows it by `digest`."""
    color, shades = settings.SITE_COLOR, palette(settings.SITE_COLOR)
    return SafeString(
        f":root{{--accent:{shades['600']};--site:{color};--on-site:{text_on(color)}}}"
        f"@media(prefers-color-scheme:dark){{:root{{--accent:{shades['400']}}}}}"
    )


def digest() -> str:
    return f"'sha256-{b64encode(sha256(stylesheet().encode()).digest()).decode()}'"


def context(request: HttpRequest) -> dict[str, object]:
    """The context processor of all pages."""
    site = {"name": settings.SITE_NAME, "logo": settings.SITE_LOGO, "style": stylesheet()}
    return {"appearance": site}
