"""Email templates: a closed list of placeholders, such as {given_name}, and the emails that they
become.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from applications.mail import outbox
from applications.mail.brand_mail import privacy_url, signature_of
from applications.mail.links import absolute, applicant_link, new_marker
from applications.models import Application, MailTemplate, Message, StageChange
from jobsite.languages import LANGUAGES, site_language
from jobsite.text.formats import format_datetime
from jobsite.types import StrOrPromise
from vacancies.facts.pay import pay_text

_PLACEHOLDER = re.compile(r"\{([^{}\n]{0,60})\}")
# Application, base URL, marker of the personal link.
_Value = Callable[[Application, str, str], str]


def _recruiter(application: Application) -> str:
    head = application.vacancy.head_recruiter
    return head.name if head else ""


def _brand(application: Application) -> str:
    brand = application.vacancy.brand
    return brand.name if brand else ""


# What it means, for recruiters, and its value.
PLACEHOLDERS: dict[str, tuple[StrOrPromise, _Value]] = {
    "name": (_("The applicant's full name."), lambda a, *_: a.display_name),
    "given_name": (
        _("The given name, or the full name if it is not known."),
        lambda a, *_: a.given_name or (a.user.first_name if a.user else "") or a.display_name,
    ),
    "family_name": (
        _("The family name. Empty if it is not known."),
        lambda a, *_: a.family_name or (a.user.last_name if a.user else ""),
    ),
    "vacancy": (_("The title of the vacancy."), lambda a, *_: a.vacancy_title),
    "brand": (_("The brand of the vacancy."), lambda a, *_: _brand(a)),
    "pay": (
        _("The pay of the vacancy, also if public sites do not show it. Empty if there is none."),
        lambda a, *_: pay_text(a.vacancy.pay),
    ),
    "recruiter": (_("The lead recruiter of the vacancy."), lambda a, *_: _recruiter(a)),
    "reference": (_("The reference of the application."), lambda a, *_: a.reference or ""),
    "received": (
        _("When the application was received."),
        lambda a, *_: format_datetime(a.created_at),
    ),
    "signature": (
        _("The signature of the brand. Empty if it has none."),
        lambda a, *_: signature_of(a),
    ),
    "privacy": (
        _("The address of the privacy statement of the brand or the site. Empty if there is none."),
        lambda a, *_: privacy_url(a),
    ),
    "link": (_("The address where the applicant sees the application."), applicant_link),
    "site": (_("The address of this site."), lambda a, base_url, _: absolute("/", base_url)),
}


def templates_for(brands: Iterable[int | None]) -> QuerySet[MailTemplate]:
    """Return the templates of the site and, if `brands` are one, its own."""
    chosen = set(brands)
    own = chosen - {None} if len(chosen) == 1 else set()
    return MailTemplate.objects.filter(Q(brand=None) | Q(brand__in=own))


def described_placeholders() -> list[tuple[str, StrOrPromise]]:
    """Return the placeholders, as they are written, with what they mean."""
    return [(f"{{{name}}}", text) for name, (text, _value) in PLACEHOLDERS.items()]


def placeholders_in(text: str) -> list[str]:
    """Return the placeholders in `text`, as they are written, also those that do not exist."""
    return [f"{{{name}}}" for name in dict.fromkeys(_PLACEHOLDER.findall(text))]


def unknown_placeholders(text: str) -> list[str]:
    """Return the placeholders in `text` that do not exist, as they are written."""
    return [written for written in placeholders_in(text) if written[1:-1] not in PLACEHOLDERS]


def fill(
    text: str, application: Application, *, base_url: str = "", marker: str = Message.SECRET
) -> str:
    """Return `text` with the values of its placeholders, in the active language, and `marker` in
    place of the secret of a personal link. Unknown placeholders are kept.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in PLACEHOLDERS:
            return found[0]
        return PLACEHOLDERS[found[1]][1](application, base_url, marker)

    return _PLACEHOLDER.sub(value, text)  # in one pass: a value cannot contain a placeholder


def language_of(template: MailTemplate, language: str) -> str:
    """Return the language that an email in `language` gets: `language`, else the site's, else any
    that the template has.
    """
    for code in dict.fromkeys((language, site_language(), *LANGUAGES)):
        if getattr(template, f"subject_{code}", "") and getattr(template, f"body_{code}", ""):
            return code
    return site_language()


class WrittenEmail(NamedTuple):
    """An email to an applicant: placeholders have their values. A personal link is without its
    secret, which only the applicant gets: `body` is as it is shown, `marked_body` as it is stored,
    with `marker`.
    """

    application: Application
    language: str
    subject: str
    body: str
    marked_body: str
    marker: str

    def outgoing(
        self, *, kind: Message.Kind, author: User | None, stage_change: StageChange | None
    ) -> outbox.Email:
        """Return the email for the outbox. About a stage change, it is sent when the applicant sees
        it.
        """
        return outbox.Email(
            kind=kind,
            to=self.application.address,
            language=self.language,
            subject=self.subject,
            body=self.marked_body,
            link_marker=self.marker,
            application=self.application,
            author=author,
            stage_change=stage_change,
        )


def email(
    subject: str, body: str, application: Application, *, language: str, base_url: str
) -> WrittenEmail:
    """Return the email of `subject` and `body`, texts with placeholders."""
    marker = new_marker()
    with translation.override(language):
        subject = outbox.as_subject(fill(subject, application, base_url=base_url))
        marked = outbox.as_body(fill(body, application, base_url=base_url, marker=marker))
    return WrittenEmail(
        application, language, subject, marked.replace(marker, Message.SECRET), marked, marker
    )


def email_from(
    template: MailTemplate, application: Application, *, language: str, base_url: str = ""
) -> WrittenEmail:
    """Return the email that `template` becomes for `application`, in `language` if the template has
    it.
    """
    code = language_of(template, language)
    subject, body = (getattr(template, f"{part}_{code}") for part in ("subject", "body"))
    return email(subject, body, application, language=code, base_url=base_url)
