"""The emails that an applicant gets from the system:
the receipt, and the confirmation of a withdrawal.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from django.template.defaultfilters import filesizeformat
from django.utils import translation
from django.utils.translation import gettext as _

from applications.mail.brand_mail import signature_of
from applications.mail.links import new_marker, personal_link
from applications.mail.outbox import Email, queue
from applications.models import Application, Message
from applications.submissions.answers import Answer, answers
from applications.submissions.links import MAX_AGE
from jobsite.languages import supported
from jobsite.text.formats import format_datetime
from vacancies.models import Requisition, TeamMember, Vacancy

INDENT = "  "


def queue_receipt(*, application: Application, base_url: str = "", at: datetime) -> Message:
    """Queue the receipt of `application`: what was stored, and the link that proves that the
    mailbox is the applicant's. Call it in the transaction that stores the submission.
    """

    def written(link: str) -> tuple[str, Iterable[str]]:
        subject = _("We received your application: %(vacancy)s")
        return subject % {"vacancy": application.vacancy_title}, _receipt(application, link)

    return queue_with_link(application, Message.Kind.RECEIPT, written, base_url=base_url, at=at)


def queue_with_link(
    application: Application,
    kind: Message.Kind,
    written: Callable[[str], tuple[str, Iterable[str]]],
    *,
    base_url: str,
    at: datetime,
) -> Message:
    """Queue an email to the applicant of `application`, in the language of the application.
    `written` gets the personal link, and returns the subject and the lines.
    """
    language, marker = supported(application.language), new_marker()
    with translation.override(language):
        subject, lines = written(personal_link(base_url, marker))
        return queue(
            Email(
                kind=kind,
                application=application,
                to=application.address,
                language=language,
                subject=subject,
                body="\n".join(lines),
                link_marker=marker,
            ),
            at=at,
        )


def queue_withdrawal(*, application: Application, base_url: str = "", at: datetime) -> Message:
    """Queue the confirmation that the applicant withdrew `application`."""
    language = supported(application.language)
    with translation.override(language):
        lines = [
            _("Hello,"),
            "",
            _("You withdrew this application. We do not consider it any further."),
            "",
            *facts(application),
            _("Withdrawn: %(at)s") % {"at": format_datetime(application.withdrawn_at or at)},
            "",
            _("If you did not do this, please contact us."),
            *end(application),
        ]
        return queue(
            Email(
                kind=Message.Kind.WITHDRAWAL,
                application=application,
                to=application.address,
                language=language,
                subject=_("You withdrew your application: %(vacancy)s")
                % {"vacancy": application.vacancy_title},
                body="\n".join(lines),
            ),
            at=at,
        )


def facts(application: Application) -> Iterator[str]:
    """Yield the lines that say which application an email is about."""
    vacancy = application.vacancy
    yield _("Vacancy: %(vacancy)s") % {"vacancy": application.vacancy_title}
    if vacancy.brand:
        yield _("Employer: %(brand)s") % {"brand": vacancy.brand.name}
    if application.reference:
        yield _("Reference: %(reference)s") % {"reference": application.reference}
    yield _("Received: %(at)s") % {"at": format_datetime(application.created_at)}


def recipients(vacancy: Vacancy) -> str:
    """Return who sees applications to `vacancy` if somebody outside of the company may: it is for a
    client, or its team has members who see what is presented; else "". Who that is may be
    confidential.
    """
    presented = vacancy.team.filter(sees=TeamMember.Sees.PRESENTED)
    if not (Requisition.of(vacancy).client or presented.exists()):
        return ""
    return _("Recipients: our recruiters, and the employer for whom we fill this vacancy.")


def end(application: Application) -> Iterator[str]:
    """Yield the lines at the end: the signature of the brand."""
    if signature := signature_of(application):
        yield ""
        yield signature


def _receipt(application: Application, link: str) -> Iterator[str]:
    """Yield the lines of the receipt. The link comes before the values, and these are indented, so
    that a value cannot pass for a text of ours.
    """
    yield _("Hello,")
    yield ""
    yield _("We received your application. Thank you.")
    yield ""
    yield from facts(application)
    yield ""
    earlier = Application.objects.from_address(application.email).exclude(pk=application.pk)
    if earlier.filter(vacancy=application.vacancy_id).exists():
        yield _("You have applied for this vacancy before. This is another application.")
        yield ""
    yield _("Open this link to see your application, to follow it or to withdraw it:")
    yield link
    yield _("The link is personal and valid for %(days)d days. Do not forward it.") % {
        "days": MAX_AGE.days
    }
    yield ""
    yield _(
        "If you did not apply, somebody entered your address by mistake. You need not do anything."
    )
    yield ""
    if text := recipients(application.vacancy):
        yield text
        yield ""
    yield _("This is what we stored:")
    for section in answers(application.submission):
        given = [answer for answer in section.answers if answer.values]
        if not given:
            continue
        yield ""
        if section.title:
            yield section.title
        for answer in given:
            yield from _answer(answer)
    yield from end(application)


def _answer(answer: Answer) -> Iterator[str]:
    """Yield the lines of an answer: one if it is short, else its lines below the label."""
    values = answer.values
    if answer.file:
        values = [f"{values[0]} ({filesizeformat(answer.file.size)})"]
    lines = [line for value in values for line in value.splitlines()]
    is_sentence = answer.label.endswith((".", "?", "!", ":"))
    label = answer.label if is_sentence else _("%(label)s:") % {"label": answer.label}
    if len(lines) == 1:
        yield f"{INDENT}{label} {lines[0]}"
        return
    yield f"{INDENT}{label}"
    yield from (f"{INDENT}{INDENT}{line}".rstrip() for line in lines)
