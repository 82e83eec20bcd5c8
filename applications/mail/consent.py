"""The emails about consents: the question to an applicant, its reminder, and a refusal by who was
hired; and the questions whether an applicant joins the talent pool, or stays in it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from applications.mail.brand_mail import privacy_url
from applications.mail.links import absolute
from applications.mail.notice import beginning
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of, may_receive, recipients_of
from applications.mail.receipt import end, facts, queue_with_link
from applications.models import Application, ConsentRequest, Message
from applications.submissions.links import MAX_AGE
from jobsite.text.formats import format_date

REMINDER_AFTER = timedelta(days=7)


def queue_question(
    request: ConsentRequest, *, is_reminder: bool = False, base_url: str = "", at: datetime
) -> Message:
    """Queue the question of `request`, about an application that a colleague added."""

    def written(link: str) -> tuple[str, Iterable[str]]:
        subject = (
            _("May we store your data? %(vacancy)s")
            if not is_reminder
            else _("Reminder: may we store your data? %(vacancy)s")
        )
        return subject % {"vacancy": request.application.vacancy_title}, _question(request, link)

    return queue_with_link(
        request.application, Message.Kind.CONSENT, written, base_url=base_url, at=at
    )


def _question(request: ConsentRequest, link: str) -> Iterator[str]:
    application = request.application
    yield from beginning(application.origin)
    yield _("We ask for your consent:")
    yield request.text
    yield ""
    yield _("Open this link, and answer yes or no:")
    yield link
    yield _("The link is personal and valid for %(days)d days. Do not forward it.") % {
        "days": MAX_AGE.days
    }
    yield ""
    yield _("Without an answer until %(day)s, we delete your data.") % {
        "day": format_date(request.due_on)
    }
    yield from end(application)


def queue_refusal(application: Application, *, base_url: str = "", at: datetime) -> Message | None:
    """Tell the colleague who added `application` that its applicant, who was hired, refuses the
    consent. It does not name the applicant. Return None if nobody is told.
    """
    added_by = application.origin.author_id or 0
    author = recipients_of(Message.Kind.CONSENT).filter(pk=added_by).first()
    if author is None or not may_receive(author, Message.Kind.CONSENT):
        return None
    page = reverse("admin:applications_application_change", args=[application.pk])
    with translation.override(language_of(author)):
        lines = [
            _("The applicant was hired, and does not consent to the storage of the application."),
            _("Nothing was deleted: decide what has to be kept, and delete the rest."),
            "",
            absolute(page, base_url),
        ]
        subject = _("Consent refused: %(application)s") % {"application": application}
        email = email_to(author, Message.Kind.CONSENT, subject, lines, base_url=base_url)
        email = replace(email, application=application, vacancies=[application.vacancy_id])
        return queue(email, at=at)


def queue_pool_question(
    request: ConsentRequest,
    *,
    ends_on: date | None = None,
    is_reminder: bool = False,
    base_url: str = "",
    at: datetime,
) -> Message:
    """Queue the question of `request`: to join the talent pool, or to stay in it after `ends_on`."""

    def written(link: str) -> tuple[str, Iterable[str]]:
        link = own_page(request.application, base_url) or link
        return pool_question(request, link, ends_on=ends_on, is_reminder=is_reminder)

    return queue_with_link(
        request.application, Message.Kind.POOL, written, base_url=base_url, at=at
    )


def own_page(application: Application, base_url: str) -> str:
    """Return the URL of `application` in the account of the applicant, "" without an account."""
    path = reverse("application-own", args=[application.pk])
    return absolute(path, base_url) if application.user_id else ""


def pool_question(
    request: ConsentRequest, link: str, *, ends_on: date | None = None, is_reminder: bool = False
) -> tuple[str, list[str]]:
    """Return the subject and the lines of the email, in the active language."""
    subject = _("May we keep your data for other vacancies?")
    if ends_on:
        subject = _("Do you want to stay in our talent pool?")
    if is_reminder:
        subject = _("Reminder: %(subject)s") % {"subject": subject}
    return subject, list(_pool_lines(request, link, ends_on))


def _pool_lines(request: ConsentRequest, link: str, ends_on: date | None) -> Iterator[str]:
    application = request.application
    yield _("Hello,")
    yield ""
    if ends_on:
        text = _("You are in our talent pool until %(day)s. We keep the data of this application:")
        yield text % {"day": format_date(ends_on)}
    else:
        yield _("You applied for this vacancy:")
    yield ""
    yield from facts(application)
    yield ""
    if ends_on:
        yield _("We would like to keep them longer, and ask for your consent again:")
    else:
        yield _(
            "We would like to include you in our talent pool, and tell you about other vacancies. "
            "We ask for your consent:"
        )
    yield request.text
    yield ""
    yield _("Open this link, and answer yes or no:")
    yield link
    if not application.user_id:
        yield _("The link is personal and valid for %(days)d days. Do not forward it.") % {
            "days": MAX_AGE.days
        }
    yield ""
    yield _(
        "If you agree, we keep your data for %(months)d months. With this link, you can leave the "
        "talent pool at any time. Your answer does not change your application."
    ) % {"months": settings.POOL_MONTHS}
    if ends_on:
        yield _("Without an answer, you leave the talent pool after %(day)s.") % {
            "day": format_date(ends_on)
        }
    else:
        yield _("Without an answer until %(day)s, you are not included.") % {
            "day": format_date(request.due_on)
        }
    if url := privacy_url(application):
        yield ""
        yield _("How we handle your data: %(url)s") % {"url": url}
    yield from end(application)


class ConsentReminders:
    """Reminds applicants who did not answer, once. Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        waiting = ConsentRequest.objects.filter(
            answer="", reminded_at=None, asked_at__lte=at - REMINDER_AFTER
        )
        asked = waiting.filter(
            purpose=ConsentRequest.Purpose.APPLICATION,
            due_on__gte=timezone.localdate(at),
            application__withdrawn_at=None,
        )
        pk = asked.order_by("pk").values_list("pk", flat=True).first()
        return (pk, at) if pk else None

    def run(self, item: tuple[int, datetime]) -> str:
        pk, at = item
        with transaction.atomic():
            waiting = ConsentRequest.objects.filter(pk=pk, answer="", reminded_at=None)
            if not waiting.update(reminded_at=at):
                return "consent nothing"
            request = ConsentRequest.objects.get(pk=pk)
            request.application = (
                Application.objects.with_email_facts()
                .select_related("origin")
                .get(pk=request.application_id)
            )
            if not request.application.address:
                return "consent nothing"
            queue_question(request, is_reminder=True, base_url=self.base_url, at=at)
        return "consent queued"
