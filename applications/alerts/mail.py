"""The emails of job alerts."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.alerts.links import Links
from applications.alerts.queries import in_words
from applications.mail.brand_mail import from_line, link_lines, signature
from applications.mail.links import new_marker
from applications.mail.outbox import one_line, queue
from applications.models import JobAlert, Message
from jobsite.appearance import text_on
from jobsite.text.formats import format_date
from vacancies.models import BrandLink, Vacancy


def queue_confirmation(alert: JobAlert, *, base_url: str = "", at: datetime) -> Message:
    """Queue the link of `alert`. The email has nothing that was typed: anybody can send it to any address."""
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
                _("You have this job alert already. Open this link to see it, to change it or to end it:"),
                link.to_page(),
            ]
        else:
            subject = _("Confirm your job alert")
            lines += [
                _("Open this link to see what you will receive, and confirm it:"),
                link.to_confirm(),
                "",
                _("Without your confirmation until %(day)s, we delete the request and this address.")
                % {"day": format_date(alert.ends_at)},
            ]
        lines += ["", _("If you did not ask for this, you need not do anything."), *_end(alert)]
        return _queue(alert, Message.Kind.ALERT_CONFIRMATION, link, subject, lines, at=at)


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
            *_end(alert),
        ]
        subject = _("Do you still want this job alert?")
        return _queue(alert, Message.Kind.ALERT_CONFIRMATION, link, subject, lines, at=at)


class NewsEmails:
    """The emails of some alerts about new vacancies. Equal alerts have equal texts, with one marker."""

    def __init__(self, *, base_url: str = "", at: datetime) -> None:
        self.base_url, self.at = base_url, at
        self._marker = new_marker()
        self._texts: dict[tuple, tuple[str, list[str], str]] = {}

    def email(self, alert: JobAlert, vacancies: Sequence[Vacancy], count: int) -> Message:
        """Return the email that tells `alert` of `count` vacancies, and shows `vacancies`; not saved."""
        link = Links(alert, self.base_url, self._marker)
        key = alert.query, alert.brand_id, alert.language, count, *(vacancy.pk for vacancy in vacancies)
        with translation.override(alert.language):
            if key not in self._texts:
                lines = [*_news(alert, vacancies, count, link), *_end(alert)]
                self._texts[key] = _subject(alert, count), lines, _html(alert, vacancies, count, link)
            subject, lines, html = self._texts[key]
            return _queue(
                alert, Message.Kind.ALERT, link, subject, lines, html=html, is_bulk=True, at=self.at
            )


def summary(alert: JobAlert) -> str:
    """Return what `alert` tells of, in one line in the active language."""
    words = in_words(alert.query, alert.brand)
    return "; ".join(f"{label}: {value}" for label, value in words) or _("All vacancies")


def _subject(alert: JobAlert, count: int) -> str:
    subject = ngettext("%(count)d new vacancy", "%(count)d new vacancies", count) % {"count": count}
    words = ", ".join(value for _label, value in in_words(alert.query, alert.brand))
    return f"{subject}: {words}" if words else subject


def _introduction(shown: int, count: int) -> str:
    if shown < count:
        text = _("%(count)d new vacancies match your job alert. These are the %(shown)d newest:")
        return text % {"count": count, "shown": shown}
    return ngettext(
        "This vacancy is new, and matches your job alert:",
        "These vacancies are new, and match your job alert:",
        count,
    )


def _facts(alert: JobAlert, vacancy: Vacancy) -> str:
    """Return the brand, unless all are of one, and the place of `vacancy`."""
    brand = vacancy.shown_brand if alert.brand is None else None
    return ", ".join(one_line(text) for text in (brand and brand.name, vacancy.location) if text)


def _html(alert: JobAlert, vacancies: Sequence[Vacancy], count: int, link: Links) -> str:
    """Return what `_news` says, as HTML, in the color of the brand or of the site."""
    color = (alert.brand and alert.brand.accent) or settings.SITE_COLOR
    context = {
        "introduction": _introduction(len(vacancies), count),
        "summary": summary(alert),
        "rows": [(each, _facts(alert, each), link.to_vacancy(each)) for each in vacancies],
        "more": count - len(vacancies),
        "link": link,
        "name": alert.brand.name if alert.brand else settings.SITE_NAME,
        "color": color,
        "text_color": text_on(color),
        "signature": signature(getattr(alert.brand, "mail", None)),
        "links": BrandLink.shown(alert.language, alert.brand_id),
    }
    return render_to_string("applications/alert_email.html", context)


def _news(alert: JobAlert, vacancies: Sequence[Vacancy], count: int, link: Links) -> Iterator[str]:
    yield _("Hello,")
    yield ""
    yield _introduction(len(vacancies), count)
    yield summary(alert)
    for vacancy in vacancies:
        yield ""
        yield one_line(vacancy.title)
        if facts := _facts(alert, vacancy):
            yield facts
        yield link.to_vacancy(vacancy)
    yield ""
    yield _("All vacancies that match:")
    yield link.to_list()
    yield ""
    yield _("You receive this email because you confirmed a job alert. Change it:")
    yield link.to_page()
    yield _("Unsubscribe:")
    yield link.to_unsubscribe()


def _end(alert: JobAlert) -> list[str]:
    """Return the signature of the brand, and its links or those of the site."""
    texts = signature(getattr(alert.brand, "mail", None)), "\n".join(link_lines(alert.brand_id))
    return [line for text in texts if text for line in ("", text)]


def _queue(
    alert: JobAlert, kind: Message.Kind, link: Links, subject: str, lines: list[str], **values: Any
) -> Message:
    mail = getattr(alert.brand, "mail", None)
    return queue(
        kind=kind,
        alert=alert,
        to=alert.address,
        language=alert.language,
        subject=subject,
        body="\n".join(lines),
        link_marker=link.marker,
        sender=(from_line(mail), mail.reply_to) if mail else ("", ""),
        **values,
    )
