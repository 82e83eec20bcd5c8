"""The HTML of the emails to applicants: their text in the colors of the brand, with its logo. It is
made when an email is sent, so that it says what the stored text says.
"""

import re
from collections.abc import Iterator
from html import escape

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe

from applications.mail.links import absolute
from applications.models import Message
from jobsite.appearance import text_on
from vacancies.models import Brand

# Without the punctuation after it.
_ADDRESS = re.compile(r"(https?://[^\s<>\"]*[^\s<>\".,;:!?)])")
_LOGO = (".png", ".jpg", ".jpeg", ".gif", ".webp")  # mail programs show them


def html_of(message: Message, text: str) -> str:
    """Return `text`, the body of `message` with its personal links, as HTML; "" unless it is for an
    applicant.
    """
    if message.application is None or message.recipient_id is not None:
        return ""
    brand = message.application.vacancy.brand
    color = (brand and brand.accent) or settings.SITE_COLOR
    with translation.override(message.language):
        context = {
            "language": message.language,
            "subject": message.subject,
            "name": brand.name if brand else settings.SITE_NAME,
            "logo": logo_of(brand) if brand else "",
            "color": color,
            "text_color": text_on(color),
            "lines": list(_lines(text)),
        }
        return render_to_string("applications/emails/applicant.html", context)


def logo_of(brand: Brand) -> str:
    """Return the address of the large icon of `brand`, "" without one that mail programs show."""
    url = brand.icon_large.url if brand.icon_large else brand.icon_large_url
    if not url.lower().partition("?")[0].endswith(_LOGO):
        return ""
    return url if url.startswith(("https://", "http://")) else absolute(url)


def _lines(text: str) -> Iterator[tuple[int, SafeString]]:
    """Yield the indentation of each line, in pixels, and its HTML. Addresses are links, but not
    in indented lines: a receipt goes to an address that anybody can enter, with what they wrote.
    """
    for line in text.splitlines():
        shown = line.lstrip(" ")
        indent = len(line) - len(shown)
        parts = map(escape, [shown] if indent else _ADDRESS.split(shown))
        html = "".join(
            f'<a href="{part}" style="color: inherit;">{part}</a>' if place % 2 else part
            for place, part in enumerate(parts)
        )
        yield 8 * indent, mark_safe(html)
