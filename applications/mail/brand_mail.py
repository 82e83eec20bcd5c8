"""What emails to applicants have of the brand: the sender, the signature, the privacy statement,
and its logo and colors.
"""

import re
from collections.abc import Iterator
from email.utils import parseaddr
from html import escape

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.encoding import punycode
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from applications.mail.links import absolute
from applications.models import Application, BrandMail, Message
from jobsite.appearance import text_on
from jobsite.languages import LANGUAGES, site_language
from vacancies.models import Brand, BrandLink

NAME_MAX = 80  # characters in a From line
# They would have to be escaped between the quotes of a From line.
_QUOTES = str.maketrans('"\\', "'/")

# Without the punctuation after it.
_ADDRESS = re.compile(r"(https?://[^\s<>\"]*[^\s<>\".,;:!?)])")
_LOGO = (".png", ".jpg", ".jpeg", ".gif", ".webp")  # mail programs show them


def sender_domains() -> list[str]:
    """Return the domains of senders. Others have no SPF and DKIM records for this mail server."""
    return [_domain_of(parseaddr(settings.DEFAULT_FROM_EMAIL)[1]), *settings.SENDER_DOMAINS]


def may_send_as(address: str) -> bool:
    return _domain_of(address) in sender_domains()


def sender_of(application: Application) -> tuple[str, str]:
    """Return the From line of an email to the applicant, and the address for replies; "" if the
    brand has none.
    """
    mail = _mail_of(application)
    return (from_line(mail), mail.reply_to) if mail else ("", "")


def from_line(mail: BrandMail) -> str:
    """Return the From line of emails with `mail`, "" for that of the site. An address that may not
    send any more, because SENDER_DOMAINS changed, is replaced by the site's.
    """
    if not (mail.sender_name or mail.sender_address):
        return ""
    name = " ".join((mail.sender_name or mail.brand.name).translate(_QUOTES).split())[:NAME_MAX]
    own = mail.sender_address
    address = own if own and may_send_as(own) else parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    return f'"{name}" <{address}>'


def has_names(application: Application) -> bool:
    """Return whether invitations of colleagues name the applicant."""
    mail = _mail_of(application)
    return bool(mail and mail.has_names_in_invitations)


def signature_of(application: Application) -> str:
    return signature(_mail_of(application))


def signature(mail: BrandMail | None) -> str:
    """Return the signature of the brand in the active language, else in the site's, else in any."""
    if mail:
        for code in dict.fromkeys((get_language(), site_language(), *LANGUAGES)):
            if text := getattr(mail, f"signature_{code}", ""):
                return text
    return ""


def privacy_url(application: Application) -> str:
    """Return the address of the privacy statement that applicants see in the active language."""
    links = BrandLink.shown(get_language() or site_language(), application.vacancy.brand_id)
    return next((link.url for link in links if link.kind == BrandLink.Kind.PRIVACY), "")


def with_links(body: str, brand: int | None, language: str) -> str:
    """Return the text of an email with the links of `brand`, an id, or of the
    site, that it lacks.
    """
    with translation.override(language):
        links = [
            f"{link}: {link.url}"
            for link in BrandLink.shown(language, brand)
            if link.url not in body
        ]
    return "\n".join([body, "", *links]) if links else body


def html_of(message: Message, text: str) -> str:
    """Return `text`, the body of `message` with its personal links, as HTML; "" unless it is for an
    applicant. It is made when the email is sent, so that both say the same.
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


def _mail_of(application: Application) -> BrandMail | None:
    return getattr(application.vacancy.brand, "mail", None)


def _domain_of(address: str) -> str:
    return punycode(address.rpartition("@")[2]).lower()
