"""The email to an applicant whom a colleague added: what is kept, why, and how to see and delete
it.

It has no values that were entered: the address may be somebody else's.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.utils.translation import gettext as _

from applications.mail.brand_mail import privacy_url
from applications.mail.receipt import end, facts, queue_with_link, recipients
from applications.models import Application, Message, Origin
from applications.submissions.links import MAX_AGE
from vacancies.models import Vacancy, shown_in


def queue_notice(origin: Origin, *, base_url: str = "", at: datetime) -> Message:
    """Queue the notice. Call it in the transaction that adds the application."""

    def written(link: str) -> tuple[str, Iterable[str]]:
        subject = _("What we store about you: %(vacancy)s")
        return subject % {"vacancy": origin.application.vacancy_title}, _lines(origin, link)

    return queue_with_link(
        origin.application, Message.Kind.NOTICE, written, base_url=base_url, at=at
    )


def queue_correction(
    application: Application, before: Vacancy, *, base_url: str = "", at: datetime
) -> Message:
    """Queue the email that says that the application is not for the vacancy `before`, which an
    email named. Call it in the transaction that moves the application.
    """

    def written(link: str) -> tuple[str, Iterable[str]]:
        subject = _("Corrected: your application for %(vacancy)s")
        lines = _correction(application, before, link)
        return subject % {"vacancy": application.vacancy_title}, lines

    return queue_with_link(application, Message.Kind.NOTICE, written, base_url=base_url, at=at)


def _correction(application: Application, before: Vacancy, link: str) -> Iterator[str]:
    yield _("Hello,")
    yield ""
    text = _("We told you of an application for “%(vacancy)s”. That was the wrong vacancy.")
    yield text % {"vacancy": shown_in(before, application.language).title}
    yield _("Your application is for this one:")
    yield ""
    yield from facts(application)
    yield ""
    yield _("Open this link to see your application, to follow it or to withdraw it:")
    yield link
    yield _("The link is personal and valid for %(days)d days. Do not forward it.") % {
        "days": MAX_AGE.days
    }
    yield from end(application)


def _lines(origin: Origin, link: str) -> Iterator[str]:
    yield from beginning(origin)
    if origin.basis == Origin.Basis.REQUEST:
        yield _("Open this link to see your application, to follow it or to withdraw it:")
        yield link
    else:
        yield _("Open this link to see what we store:")
        yield link
        yield _("Delete my data:")
        yield f"{link}/delete"
    yield _("The link is personal and valid for %(days)d days. Do not forward it.") % {
        "days": MAX_AGE.days
    }
    if origin.basis == Origin.Basis.REQUEST:
        yield ""
        yield _("If you did not apply, somebody entered your address by mistake: please tell us.")
    yield from end(origin.application)


def beginning(origin: Origin) -> Iterator[str]:
    """Yield what the notice and the question for consent begin with."""
    application = origin.application
    yield _("Hello,")
    yield ""
    yield from purpose(origin.basis, origin.application.vacancy)
    yield ""
    yield from facts(application)
    yield _("Source: %(source)s") % {"source": origin.get_channel_display()}
    yield ""
    if url := privacy_url(application):
        yield _("How we handle your data: %(url)s") % {"url": url}
        yield ""


def purpose(basis: str, vacancy: Vacancy | None) -> Iterator[str]:
    """Yield why the data of the applicant are stored, what, and who outside of the company sees them
    if `vacancy` is known. It is also read out to applicants without an address.
    """
    if basis == Origin.Basis.REQUEST:
        yield _("We received your application, and store it in our system for applications.")
    elif basis == Origin.Basis.INTEREST:
        yield _("We would like to consider you for this vacancy, and store your data for that.")
    else:
        yield _(
            "We would like to consider you for this vacancy, and need your consent to store your "
            "data."
        )
    yield _(
        "We keep your name, your contact data, the documents that we received, and our notes and "
        "emails about the selection. We use them only to choose somebody for the vacancy."
    )
    if vacancy and (text := recipients(vacancy)):
        yield text
