"""The emails about an interview, each with a calendar entry:
invitations, changes, cancellations.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from email.utils import parseaddr
from enum import Enum

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse
from django.utils import translation
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from applications.mail import calendars
from applications.mail.brand_mail import has_names, sender_of, signature_of
from applications.mail.links import absolute, applicant_link, new_marker, settings_lines
from applications.mail.outbox import Email, as_body, email_to, one_line, queue
from applications.mail.preferences import language_of, recipients_of
from applications.mail.smtp import MAY_BE_DELIVERED
from applications.models import Application, Interview, Message, Offer, Participant, SlotSet
from applications.querysets import folded_address
from jobsite.languages import supported
from jobsite.text.formats import format_date
from jobsite.text.names import person

State = Message.State


class InterviewNews(Enum):
    """What an email tells of an interview."""

    INVITED = "invited"
    CHANGED = "changed"
    CANCELLED = "cancelled"

    @property
    def method(self) -> str:
        """What calendars do with the entry."""
        return calendars.CANCEL if self == InterviewNews.CANCELLED else calendars.REQUEST


def queue_to(
    participant: Participant,
    others: Collection[str],
    news: InterviewNews,
    *,
    author: User | None = None,
    base_url: str = "",
    at: datetime,
) -> Message | None:
    """Queue the email that tells `participant` the `news` of their interview, with `others` who
    take part, by name, and return it. Colleagues who switched such emails off get none.
    """
    kind, entry, user = Message.Kind.INTERVIEW, participant.entry, participant.user
    if not _is_wanted(participant, kind):
        return None
    with translation.override(_language(participant)):
        summary = _summary(entry.application, user)
        facts = [*_facts(participant, others), *_link_to(participant, base_url)]
        email = _email(
            kind,
            participant,
            _subject(summary, news),
            [_lead(entry, user, news), "", *facts],
            base_url=base_url,
            asks=news != InterviewNews.CANCELLED,
        )
    calendar = _calendar(participant, news, summary, "\n".join(facts), at=at)
    sender = sender_of(entry.application)
    return queue(replace(email, author=author, calendar=calendar, sender=sender), at=at)


def _is_wanted(participant: Participant, kind: Message.Kind) -> bool:
    user = participant.user
    return user is None or recipients_of(kind).filter(pk=user.pk).exists()


def _language(participant: Participant) -> str:
    if participant.user:
        return language_of(participant.user)
    return supported(participant.entry.application.language)


def _email(
    kind: Message.Kind,
    participant: Participant,
    subject: str,
    lines: Iterable[str],
    *,
    base_url: str,
    asks: bool,
) -> Email:
    """Return the email of `lines` in the active language, with what an email to the applicant or to
    a colleague begins and ends with. `asks`: for an answer.
    """
    application, user = participant.entry.application, participant.user
    marker = new_marker()
    if user:
        lines = [*lines, *settings_lines(base_url)]
    else:
        greeting = _("Hello %(name)s,") % {"name": application.display_name}
        link = applicant_link(application, base_url, marker) if asks else ""
        lines = [greeting, "", *lines, *_applicants_end(application, link)]
    body = "\n".join(lines)
    return Email(
        kind=kind,
        application=application,
        to=participant.address,
        language=get_language() or "",
        subject=subject,
        body=body,
        link_marker=marker if marker in body else "",
        recipient=user,
        participant=participant,
        # A cancellation says nothing that the colleague does not know.
        vacancies=[application.vacancy_id] if user and asks else (),
    )


def _calendar(
    participant: Participant,
    news: InterviewNews,
    summary: str,
    description: str = "",
    *,
    at: datetime,
) -> str:
    """Return the calendar entry; "" if the organizer would invite themselves: Exchange Online
    deletes such an email.
    """
    entry = participant.entry
    sender = sender_of(entry.application)[0] or settings.DEFAULT_FROM_EMAIL
    if folded_address(parseaddr(sender)[1]) == folded_address(participant.address):
        return ""
    assert entry.ends_at
    invitation = calendars.CalendarInvitation(
        method=news.method,
        uid=entry.uid,
        sequence=entry.sequence,
        starts_at=entry.planned_at,
        ends_at=entry.ends_at,
        summary=one_line(summary),
        description=as_body(description),
        location=one_line(entry.place or entry.video_url) if description else "",
        sender=sender,
        attendee=participant.address,
        is_answered=bool(settings.REPLY_MAILBOX),
    )
    return calendars.invitation(invitation, at=at)


def forget_unsent(participant: Participant) -> bool:
    """Delete what waits for `participant`, so that no old time follows a new one. Return whether an
    email about the interview reached them, or may have.
    """
    emails = Message.objects.filter(participant=participant)
    emails.filter(state=State.QUEUED).delete()
    known = Q(state__in=(State.SENDING, State.SENT)) | Q(error__contains=MAY_BE_DELIVERED)
    return emails.filter(known, kind=Message.Kind.INTERVIEW).exists()


def queue_cancellations_before_erasure(applications: Collection[int], *, at: datetime) -> None:
    """Queue a cancellation to the colleagues of the coming interviews of `applications`, which are
    about to be erased. It has no name and no application, so that the erasure does not delete it.
    """
    upcoming = Interview.objects.taking_place(since=at).filter(application__in=applications)
    rows = Participant.objects.filter(entry__in=upcoming).exclude(user=None)
    for each in rows.select_related("user", "entry__application__vacancy__brand__mail"):
        if not forget_unsent(each):
            continue
        entry, user = each.entry, each.user
        assert user
        entry.sequence += 1
        title = entry.application.vacancy.title
        language = language_of(user)
        with translation.override(language):
            summary = _("Interview: %(vacancy)s") % {"vacancy": title}
            text = _("The interview is cancelled: the application was deleted.")
            lines = [text, "", _("Vacancy: %(vacancy)s") % {"vacancy": title}, _when(entry)]
            subject = _subject(summary, InterviewNews.CANCELLED)
        queue(
            Email(
                kind=Message.Kind.INTERVIEW,
                to=each.address,
                language=language,
                subject=subject,
                body="\n".join(lines),
                recipient=user,
                calendar=_calendar(each, InterviewNews.CANCELLED, summary, at=at),
                sender=sender_of(entry.application),
            ),
            at=at,
        )


def queue_reminder(participant: Participant, *, base_url: str = "", at: datetime) -> None:
    """Remind `participant` of their interview. Colleagues who switched such emails off get none."""
    kind, entry = Message.Kind.REMINDER, participant.entry
    if not _is_wanted(participant, kind):
        return
    application = entry.application = Application.objects.with_email_facts().get(
        pk=entry.application_id
    )
    colleagues = (
        entry.participants.exclude(user=None).exclude(pk=participant.pk).select_related("user")
    )
    with translation.override(_language(participant)):
        facts = _facts(participant, [each.name for each in colleagues.order_by("pk")])
        lead = _("This is a reminder of your interview.")
        summary = _summary(application, participant.user)
        email = _email(
            kind,
            participant,
            _("Reminder: %(interview)s") % {"interview": summary},
            [lead, "", *facts, *_link_to(participant, base_url)],
            base_url=base_url,
            asks=True,
        )
    queue(email, at=at)


def queue_offer(offer: Offer, *, base_url: str = "", at: datetime) -> Message:
    """Ask the applicant to choose one of the times of `offer`. Return the email."""
    application, slot_set = offer.application, offer.set
    marker = new_marker()
    with translation.override(supported(application.language)):
        lines = [
            _("Hello %(name)s,") % {"name": application.display_name},
            "",
            _("We invite you to an interview. Please choose a time:"),
            applicant_link(application, base_url, marker),
            _("You can choose until %(when)s.") % {"when": format_date(slot_set.last_day)},
            "",
            slot_set.name,
            *_subject_lines(application, None),
        ]
        if brand := application.vacancy.brand:
            lines.append(_("Employer: %(brand)s") % {"brand": brand.name})
        lines.append(_("Length in minutes: %(minutes)d") % {"minutes": slot_set.minutes})
        lines += _whereabouts(slot_set)
        if signature := signature_of(application):
            lines += ["", signature]
        body = "\n".join(lines)
        return queue(
            Email(
                kind=Message.Kind.INTERVIEW,
                application=application,
                to=application.address,
                language=supported(application.language),
                subject=_("Choose a time: %(interview)s")
                % {"interview": _summary(application, None)},
                body=body,
                link_marker=marker if marker in body else "",
                author=slot_set.author,
            ),
            at=at,
        )


def queue_reply(participant: Participant, *, base_url: str = "", at: datetime) -> None:
    """Tell the colleague who invited that `participant` declined.
    The applicant has no name in it.
    """
    entry = participant.entry
    author = entry.author
    if author is None or not recipients_of(Message.Kind.INTERVIEW).filter(pk=author.pk).exists():
        return
    application = entry.application
    with translation.override(language_of(author)):
        user = participant.user
        name = person(user) if user else _("The applicant")
        lines = [
            _("%(name)s declined the interview.") % {"name": name},
            "",
            *_subject_lines(application, author),
            _when(entry),
            *_page_link(application, base_url),
        ]
        subject = _("Declined: %(interview)s") % {"interview": _summary(application, author)}
        email = email_to(author, Message.Kind.INTERVIEW, subject, lines, base_url=base_url)
        email = replace(email, application=application, vacancies=[application.vacancy_id])
        queue(email, at=at)


# --- Texts ----------------------------------------------------------------------------------------


def _lead(entry: Interview, user: User | None, news: InterviewNews) -> str:
    if news == InterviewNews.CANCELLED:
        return (
            _("The interview is cancelled.") if entry.is_cancelled else _("You need not take part.")
        )
    if news == InterviewNews.CHANGED:
        return _("The interview was changed. These are the new details:")
    if user is None:
        return _("We invite you to an interview.")
    if entry.author and entry.author != user:
        return _("%(name)s invites you to an interview.") % {"name": person(entry.author)}
    return _("You take part in an interview.")


def _summary(application: Application, user: User | None) -> str:
    """Return what calendars show: to colleagues the reference, not the name, of the applicant."""
    brand = application.vacancy.brand
    if user is None:
        end = brand.name if brand else ""
    elif has_names(application):
        end = application.display_name
    else:
        end = application.reference or ""
    named = filter(None, (_title(application, user), end))
    return _("Interview: %(vacancy)s") % {"vacancy": ", ".join(named)}


def _title(application: Application, user: User | None) -> str:
    """Return the title of the vacancy: to the applicant in the language of the application."""
    return application.vacancy.title if user else application.vacancy_title


def _subject(summary: str, news: InterviewNews) -> str:
    if news == InterviewNews.CANCELLED:
        return _("Cancelled: %(interview)s") % {"interview": summary}
    if news == InterviewNews.CHANGED:
        return _("Changed: %(interview)s") % {"interview": summary}
    return summary


def _when(entry: Interview) -> str:
    return _("When: %(when)s") % {"when": entry.when}


def _subject_lines(application: Application, user: User | None) -> Iterator[str]:
    yield _("Vacancy: %(vacancy)s") % {"vacancy": _title(application, user)}
    if application.reference:
        yield _("Reference: %(reference)s") % {"reference": application.reference}


def _facts(participant: Participant, others: Collection[str]) -> Iterator[str]:
    """Yield what the email and the calendar entry say.
    The applicant's texts and link are not in it.
    """
    entry, user = participant.entry, participant.user
    application = entry.application
    brand = application.vacancy.brand
    yield entry.name
    yield from _subject_lines(application, user)
    if user is None and brand:
        yield _("Employer: %(brand)s") % {"brand": brand.name}
    if user and has_names(application):
        yield _("Applicant: %(name)s") % {"name": application.display_name}
    yield _when(entry)
    names = pgettext("people of an interview", "With: %(names)s") % {"names": ", ".join(others)}
    yield from _whereabouts(entry, *([names] if others else ()))


def _whereabouts(entry: Interview | SlotSet, *more: str) -> Iterator[str]:
    if entry.place:
        yield _("Place: %(place)s") % {"place": entry.place}
    if entry.video_url:
        yield _("Video call: %(url)s") % {"url": entry.video_url}
    yield from more
    if entry.details:
        yield ""
        yield entry.details


def _link_to(participant: Participant, base_url: str) -> list[str]:
    """Return the link to the page that a colleague reads."""
    return _page_link(participant.entry.application, base_url) if participant.user else []


def _page_link(application: Application, base_url: str) -> list[str]:
    path = reverse("admin:applications_application_change", args=[application.pk])
    return ["", _("The application:"), absolute(path, base_url)]


def _applicants_end(application: Application, link: str) -> Iterator[str]:
    if link:
        yield ""
        yield _("Open this link to accept or decline:")
        yield link
    if signature := signature_of(application):
        yield ""
        yield signature
