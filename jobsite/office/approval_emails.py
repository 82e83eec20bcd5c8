"""Emails about requests for approval, a job of the dispatcher: to the approvers when one is
submitted, and to its author when it is decided. The rows of requests are the queue
(`Approval.emailed`).
"""

from dataclasses import replace
from datetime import datetime

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from applications.mail.links import absolute
from applications.mail.outbox import email_to, queue
from applications.mail.preferences import language_of, may_receive, recipients_of
from applications.models import Message
from jobsite.text.names import person
from vacancies.models import APPROVE, Approval, Vacancy
from vacancies.operations.approval_requests import authors_of, names_of_authors, why_not_decide

BACKEND = "django.contrib.auth.backends.ModelBackend"
Outcome, Emailed = Approval.Outcome, Approval.Emailed


class ApprovalEmails:
    """The emails about requests. Implements `jobsite.dispatch.Job`."""

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url

    def next_due(self, at: datetime) -> tuple[int, datetime] | None:
        """Return the id of a request that was submitted or decided, and `at`."""
        pk = _due().order_by("pk").values_list("pk", flat=True).first()
        return (pk, at) if pk else None

    def run(self, item: tuple[int, datetime]) -> str:
        """Queue the emails about a request and store that, in one transaction.
        Return the outcome.
        """
        pk, at = item
        with transaction.atomic():
            approval = _due().select_for_update().filter(pk=pk).first()
            if approval is None:
                return "approval nothing"
            is_waiting = approval.outcome == Outcome.WAITING
            queued = (_queue_request if is_waiting else _queue_decision)(
                approval, self.base_url, at
            )
            approval.emailed = Emailed.SUBMITTED if is_waiting else Emailed.ALL
            approval.save(update_fields=["emailed"])
        return "approval queued" if queued else "approval nothing"


def _due() -> QuerySet[Approval]:
    decided = Q(emailed=Emailed.SUBMITTED) & ~Q(outcome=Outcome.WAITING)
    return Approval.objects.filter(Q(emailed=Emailed.NOTHING) | decided)


def _queue_request(approval: Approval, base_url: str, at: datetime) -> list[Message]:
    """Tell everybody who may approve it.
    Nobody, if the brand publishes without approval meanwhile.
    """
    vacancy = Vacancy.objects.filter(pk=approval.vacancy_id, brand__requires_approval=True).first()
    if vacancy is None:
        return []
    approvers = get_user_model().objects.with_perm(APPROVE, backend=BACKEND)
    users = (
        recipients_of(Message.Kind.APPROVAL).filter(pk__in=approvers.values("pk")).order_by("pk")
    )
    return [
        _queue(user, Message.Kind.APPROVAL, approval, vacancy, base_url, at)
        for user in users
        if _may_see(user, vacancy) and not why_not_decide(approval, user)
    ]


def _queue_decision(approval: Approval, base_url: str, at: datetime) -> list[Message]:
    """Tell who submitted it that it was approved or sent back."""
    vacancy = Vacancy.objects.filter(pk=approval.vacancy_id).first()
    if vacancy is None or approval.outcome not in (Outcome.APPROVED, Outcome.SENT_BACK):
        return []
    authors = {approval.submitted_by, *authors_of(approval).values()}
    users = recipients_of(Message.Kind.DECISION).filter(
        pk__in=[user.pk for user in authors if user]
    )
    return [
        _queue(user, Message.Kind.DECISION, approval, vacancy, base_url, at)
        for user in users
        if may_receive(user, Message.Kind.DECISION) and _may_see(user, vacancy)
    ]


def _may_see(user: User, vacancy: Vacancy) -> bool:
    rights = ("vacancies.view_vacancy", "vacancies.change_vacancy")
    is_own = Vacancy.objects.editable_by(user).filter(pk=vacancy.pk).exists()
    return is_own and any(map(user.has_perm, rights))


def _queue(
    user: User,
    kind: Message.Kind,
    approval: Approval,
    vacancy: Vacancy,
    base_url: str,
    at: datetime,
) -> Message:
    """Queue an email about `approval` to `user`, with the note and a link."""
    is_request = kind == Message.Kind.APPROVAL
    colleague = approval.submitted_by if is_request else approval.decided_by
    page = "approval" if is_request else "change"
    with translation.override(language_of(user)):
        by = person(colleague) if colleague else _("A colleague")
        values = {
            "name": names_of_authors(approval) if is_request else by,
            "vacancy": vacancy.title,
        }
        if is_request:
            subject, text = (
                _("For approval: %(vacancy)s"),
                _("%(name)s submitted “%(vacancy)s” for approval."),
            )
        elif approval.outcome == Outcome.APPROVED:
            subject, text = _("Approved: %(vacancy)s"), _("%(name)s approved “%(vacancy)s”.")
        else:
            subject, text = _("Sent back: %(vacancy)s"), _("%(name)s sent “%(vacancy)s” back.")
        note = approval.note if is_request else approval.decision_note
        link = absolute(reverse(f"admin:vacancies_vacancy_{page}", args=[vacancy.pk]), base_url)
        lines = [text % values, *(["", note] if note else []), "", link]
        email = email_to(user, kind, subject % values, lines, base_url=base_url)
        return queue(replace(email, author=colleague, vacancies=[vacancy.pk]), at=at)
