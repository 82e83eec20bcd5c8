"""Emails about vacancies that close soon, a job of the dispatcher."""

from dataclasses import replace
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from applications.mail.daily import LINES_MAX, DailyJob
from applications.mail.links import absolute
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of
from applications.models import ClosingNotice, Message
from vacancies.dates import closing_date_of
from vacancies.models import Vacancy, VacancyRecruiter, Version

NOTICE_PERIOD = timedelta(days=7)


def closing_for(user: User, *, at: datetime) -> QuerySet:
    """Return the vacancies that close soon and concern `user`, who was not told yet.

    A vacancy concerns whoever changed it in the admin, and its recruiters by their e-mail address.
    If nobody changed it in the admin, it concerns the members of its brand.
    """
    of_vacancy = Version.objects.filter(vacancy=OuterRef("pk"), author__isnull=False)
    links = VacancyRecruiter.objects.filter(
        vacancy=OuterRef("pk"), recruiter__email__iexact=user.email, recruiter__email__gt=""
    )
    concerned = (
        Exists(of_vacancy.filter(author=user))
        | Q(head_recruiter__email__iexact=user.email)
        | Exists(links)
        | (~Exists(of_vacancy) & Q(brand__in=user.brands.values("pk")))
    )
    told = ClosingNotice.objects.filter(
        user=user, vacancy=OuterRef("pk"), publish_until=OuterRef("publish_until")
    )
    closing = (
        Vacancy.objects.editable_by(user)
        .published(at=at)
        .filter(publish_until__lte=at + NOTICE_PERIOD)
    )
    return closing.filter(concerned).exclude(Exists(told)).order_by("publish_until", "pk")


def queue_closing(user: User, *, at: datetime, base_url: str = "") -> Message | None:
    """Queue an email about the vacancies of `closing_for`, and store that `user` was told, in one
    transaction. Return None if there are none."""
    with transaction.atomic():
        vacancies = list(closing_for(user, at=at).only("title", "publish_until"))
        if not vacancies:
            return None
        ClosingNotice.objects.filter(user=user, publish_until__lt=at).delete()
        ClosingNotice.objects.bulk_create(
            ClosingNotice(user=user, vacancy=vacancy, publish_until=vacancy.publish_until)
            for vacancy in vacancies
        )
        count = len(vacancies)
        with translation.override(language_of(user)):
            subject = ngettext(
                "%(count)d vacancy closes soon", "%(count)d vacancies close soon", count
            )
            lines = _lines(vacancies, base_url)
            email = email_to(
                user, ClosingEmails.kind, subject % {"count": count}, lines, base_url=base_url
            )
            return queue(replace(email, vacancies=[vacancy.pk for vacancy in vacancies]), at=at)


def _lines(vacancies: list[Vacancy], base_url: str) -> list[str]:
    lines = [_("These vacancies close within a week. Extend them if they should stay public.")]
    for vacancy in vacancies[:LINES_MAX]:
        path = reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])
        lines += ["", f"{vacancy.title}: {closing_date_of(vacancy)}", absolute(path, base_url)]
    if (more := len(vacancies) - LINES_MAX) > 0:
        text = ngettext("And %(count)d more vacancy.", "And %(count)d more vacancies.", more)
        path = f"{reverse('admin:vacancies_vacancy_changelist')}?attention=ending"
        lines += ["", text % {"count": more}, absolute(path, base_url)]
    return lines


class ClosingEmails(DailyJob):
    """One email a day to each user who has vacancies that close soon."""

    kind, queue = Message.Kind.CLOSING, staticmethod(queue_closing)
