"""The emails of job alerts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.alerts.links import Links
from applications.alerts.queries import in_words
from applications.mail.brand_mail import from_line, signature
from applications.mail.links import new_marker
from applications.mail.outbox import Email, message_of, one_line, queue
from applications.models import JobAlert, Message
from jobsite.appearance import text_on
from jobsite.text.formats import format_date
from vacancies.models import BrandLink, Vacancy, shown_in


def queue_confirmation(alert: JobAlert, *, base_url: str = "", at: datetime) -> Message:
    """Queue the link of `alert`. The email has nothing that was typed:
    anybody can send it to any address.
    """
    link = Links(alert, base_url)
    with translation.override(alert.language):
        whose = alert.brand.name if alert.brand else settings.SITE_NAME
        lines = [
            _("Hello,"),
            "",
            _("We were asked to send new vacancies of %(site)s to this address.") % {"site": whose},
        ]
        if alert.confirmed_at:
            subject = _("You have this job alert already")
            lines += [
                _(
                    "You have this job alert already. Open this link to see it, to change it or "
                    "to end it:"
                ),
                link.to_page(),
            ]
        else:
            subject = _("Confirm your job alert")
            lines += [
                _("Open this link to see what you will receive, and confirm it:"),
                link.to_confirm(),
                "",
                _(
                    "Without your confirmation until %(day)s, we delete the request and this "
                    "address."
                )
                % {"day": format_date(alert.ends_at)},
            ]
        lines += ["", _("If you did not ask for this, you need not do anything.")]
        email = _email(alert, Message.Kind.ALERT_CONFIRMATION, link, subject, lines)
        return queue(email, at=at)


def queue_renewal(alert: JobAlert, *, base_url: str = "", at: datetime) -> Message:
    """Ask whether `alert`, which is a year old, is still wanted."""
    link = Links(alert, base_url)
    with translation.override(alert.language):
        lines = [
            _("Hello,"),
            "",
            _("A year ago, you asked us to send you new vacancies:"),
            summary(alert),
            "",
            _("If you still want them, open this link and confirm your job alert:"),
            link.to_confirm(),
            "",
            _("Without your confirmation until %(day)s, we delete the job alert and your address.")
            % {"day": format_date(alert.ends_at)},
        ]
        subject = _("Do you still want this job alert?")
        email = _email(alert, Message.Kind.ALERT_CONFIRMATION, link, subject, lines)
        return queue(email, at=at)


class NewsEmails:
    """The emails of some alerts about new vacancies.
    Equal alerts have equal texts, with one marker.
    """

    def __init__(self, *, base_url: str = "", at: datetime) -> None:
        self.base_url, self.at = base_url, at
        self._marker = new_marker()
        self._texts: dict[tuple, tuple[str, Any, Any]] = {}

    def email(self, alert: JobAlert, vacancies: Sequence[Vacancy], count: int) -> Message:
        """Return the email that tells `alert` of `count` vacancies, and shows `vacancies`;
        not saved.
        """
        link = Links(alert, self.base_url, self._marker)
        key = (
            alert.query,
            alert.brand_id,
            alert.language,
            count,
            *(vacancy.pk for vacancy in vacancies),
        )
        with translation.override(alert.language):
            if key not in self._texts:
                news = _news(alert, vacancies, count, link)
                text = render_to_string("applications/emails/alert.txt", news).strip()
                html = render_to_string(
                    "applications/emails/alert.html", news | {"language": alert.language}
                )
                self._texts[key] = _subject(alert, count), text, html
            subject, text, html = self._texts[key]
            email = _email(alert, Message.Kind.ALERT, link, subject, [text])
            return message_of(replace(email, html=html, is_bulk=True), at=self.at)


def summary(alert: JobAlert) -> str:
    """Return what `alert` tells of, in one line in the active language."""
    words = in_words(alert.query, alert.brand)
    return "; ".join(f"{label}: {value}" for label, value in words) or _("All vacancies")


def _subject(alert: JobAlert, count: int) -> str:
    subject = ngettext("%(count)d new vacancy", "%(count)d new vacancies", count) % {"count": count}
    words = ", ".join(value for _label, value in in_words(alert.query, alert.brand))
    return f"{subject}: {words}" if words else subject


def _news(alert: JobAlert, vacancies: Sequence[Vacancy], count: int, link: Links) -> dict[str, Any]:
    """Return the context of both templates.
    The button has the color of the brand, or of the site.
    """
    color = (alert.brand and alert.brand.accent) or settings.SITE_COLOR
    rows = []
    for each in vacancies:
        vacancy = shown_in(each, alert.language)
        brand = vacancy.brand if alert.brand is None else None
        facts = ", ".join(
            one_line(text) for text in (brand and brand.name, vacancy.location) if text
        )
        rows.append((vacancy, one_line(vacancy.title), facts, link.to_vacancy(vacancy)))
    return {
        "summary": summary(alert),
        "rows": rows,
        "count": count,
        "more": count - len(rows),
        "link": link,
        "name": alert.brand.name if alert.brand else settings.SITE_NAME,
        "color": color,
        "text_color": text_on(color),
        "signature": signature(getattr(alert.brand, "mail", None)),
        "links": BrandLink.shown(alert.language, alert.brand_id),
    }


def _email(
    alert: JobAlert, kind: Message.Kind, link: Links, subject: str, lines: list[str]
) -> Email:
    mail = getattr(alert.brand, "mail", None)
    end = ["", text] if (text := signature(mail)) else []
    return Email(
        kind=kind,
        alert=alert,
        to=alert.address,
        language=alert.language,
        subject=subject,
        body="\n".join([*lines, *end]),
        link_marker=link.marker,
        sender=(from_line(mail), mail.reply_to) if mail else ("", ""),
    )
