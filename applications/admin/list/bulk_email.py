"""One email to many applicants, from a template: its text can be changed, with a preview per
language. Then one message per application is queued. It can be cancelled for a minute, or until the
status is visible.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.http import HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext

from applications.admin.list.mailing import Mailing, written
from applications.admin.moves.filling import undecided
from applications.admin.moves.form import MoveForm
from applications.admin.moves.pages import (
    MovePages,
    stage_sent_by,
    stages,
    status_context,
    times_sent_by,
)
from applications.admin.parts import ApplicationPages
from applications.admin.selection import ApplicationSelection
from applications.mail import templates as mail
from applications.mail.outbox import not_due
from applications.models import Access, Application, Stage, StageChange
from applications.operations import current_changes
from applications.operations.access_log import log_access
from applications.operations.emails import send_emails
from jobsite.admin.base import as_id
from jobsite.admin.selection import way_back
from jobsite.api.absolute_urls import base_url
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest

MAX_EMAILS = 2_000  # emails at a time: each is rendered and stored in the request
CANCELLABLE = timedelta(minutes=1)


class BulkEmailPages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        return [
            self.url("emails/", self.emails_view, "emails"),
            self.url("emails/cancel/", self.cancel_emails_view, "cancel_emails"),
            self.url("emails/others/", self.others_view, "others"),
        ]

    def emails_view(self, request: UserRequest) -> HttpResponse:
        """POST: show the emails from `template` to the applicants of `applications`; with
        `confirmed`, queue them. With `stage`, also move the applications to that stage.
        """
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.admin.has_email_permission(request):
            raise PermissionDenied
        selection = ApplicationSelection.sent_by(request, self.admin.get_queryset(request))
        back = way_back(request, reverse("admin:applications_application_changelist"))
        stage, mailing = self._chosen_stage(request), chosen_mailing(request, selection)
        data = request.POST if mailing and "confirmed" in request.POST else None
        move = MovePages.form(request, stage, selection, data, has_email=True) if stage else None
        if mailing and data and len(selection) <= MAX_EMAILS and not is_wrong(mailing, move):
            self._send_all(request, selection, mailing, move, back)
            return redirect(back)
        return self.choose_template(request, selection, back, mailing, stage, move)

    def others_view(self, request: UserRequest) -> HttpResponse:
        """Start an email to those who applied to `vacancy` and still wait: it is filled."""
        if not self.admin.has_email_permission(request):
            raise PermissionDenied
        vacancy = as_id(request.GET.get("vacancy"))
        if vacancy is None:
            raise BadRequest("vacancy is not the id of a vacancy.")
        waiting = undecided(self.admin.get_queryset(request), vacancy)
        back = reverse("admin:applications_application_changelist")
        back = f"{back}?{urlencode({'vacancy__id__exact': vacancy})}"
        return self.choose_template(request, ApplicationSelection.of(waiting), back)

    def _chosen_stage(self, request: UserRequest) -> Stage | None:
        if not request.POST.get("stage"):
            return None
        if not self.admin.has_change_permission(request):
            raise PermissionDenied
        return stage_sent_by(request)

    def choose_template(
        self,
        request: UserRequest,
        selection: ApplicationSelection,
        back: str,
        mailing: Mailing | None = None,
        stage: Stage | None = None,
        move: MoveForm | None = None,
    ) -> HttpResponse:
        """Return the page with the recipients and, once a template is chosen, its text and a
        preview per language.
        """
        people = list(selection.addressed())
        reached = [each for each in people if each.address]
        context = {
            **self.context(request, gettext("Send an email")),
            **(status_context(stage) if stage else {}),
            **mailing_context(mailing, reached, selection),
            "media": self.admin.media,
            "stages": stages(request) if self.admin.has_change_permission(request) else [],
            "people": reached,
            "unreached": [each for each in people if not each.address],
            "form": move,
            "own_reasons": move.reasons_of(people) if move else [],
            "is_too_many": len(selection) > MAX_EMAILS,
            "at_most": MAX_EMAILS,
            "selection": selection,
            "back": back,
        }
        status = 422 if is_wrong(mailing, move) else 200
        template_name = "admin/applications/application/emails/bulk_email.html"
        return TemplateResponse(request, template_name, context, status=status)

    def _send_all(
        self,
        request: UserRequest,
        selection: ApplicationSelection,
        mailing: Mailing,
        move: MoveForm | None,
        back: str,
    ) -> None:
        at = timezone.now()
        with transaction.atomic():
            left = self._moved_by_others(request, selection, move, back) if move else set()
            people = [
                each for each in selection.addressed() if each.address and each.pk not in left
            ]
            unseen = _unseen_changes(people, move.stage, at) if move else {}
            sent, repeated = send_emails(
                [mailing.email_to(each) for each in people],
                author=request.user,
                at=at,
                delay=CANCELLABLE,
                changes=unseen,
            )
            log_access(request.user, Access.CHANGE, *sent)
        with_status = [unseen[pk] for pk in sent if pk in unseen]
        deleted = len(people) - len(sent) - len(repeated)
        for level, text in (
            *_queued(len(sent) - len(with_status), with_status, at),
            *_not_queued(len(repeated), deleted),
        ):
            self.message(request, text, level)

    def cancel_emails_view(self, request: UserRequest) -> HttpResponse:
        """GET asks whether to cancel what the user queued for the times `at`; POST does it."""
        if not self.admin.has_email_permission(request):
            raise PermissionDenied
        own = self.admin.get_queryset(request).order_by().values("pk")
        mine = not_due(timezone.now()).filter(
            author=request.user, stage_change=None, application__in=own
        )
        emails = mine.filter(next_at__in=times_sent_by(request))
        back = reverse("admin:applications_application_changelist")
        if request.method == "POST":
            with transaction.atomic():
                pks = list(
                    emails.select_for_update(of=("self",)).values_list("application", flat=True)
                )
                emails.delete()
                log_access(request.user, Access.CHANGE, *pks)
            text = ngettext(
                "%(count)d email was cancelled.", "%(count)d emails were cancelled.", len(pks)
            )
            level = messages.SUCCESS if pks else messages.WARNING
            self.message(request, text % {"count": len(pks)}, level)
            return redirect(back)
        seen: dict[int, int | None] = dict.fromkeys(emails.values_list("application", flat=True))
        context = {
            **self.context(request, gettext("Cancel the emails")),
            "people": list(ApplicationSelection(seen).people()),
            "back": back,
        }
        return TemplateResponse(
            request, "admin/applications/application/emails/cancel_emails.html", context
        )

    def _moved_by_others(
        self, request: UserRequest, selection: ApplicationSelection, move: MoveForm, back: str
    ) -> set[int]:
        """Move `selection`. Return the applications that somebody else moved in the meantime, also
        those in its stage now: they get no second email about it.
        """
        moved = MovePages(self.admin).move_and_report(request, selection, move, back)
        there = ApplicationSelection.of(Application.objects.filter(pk__in=moved.there)).seen
        return {
            *moved.elsewhere,
            *(pk for pk, change in there.items() if change != selection.seen[pk]),
        }


def chosen_mailing(request: UserRequest, selection: ApplicationSelection) -> Mailing | None:
    chosen = as_id(request.POST.get("template"))
    template = next((each for each in written(selection.brands()) if each.pk == chosen), None)
    return Mailing(template, base_url(request), request.POST) if template else None


def is_wrong(mailing: Mailing | None, move: MoveForm | None) -> bool:
    return bool((mailing and not mailing.is_valid()) or (move and move.errors))


def mailing_context(
    mailing: Mailing | None, people: list[Application], selection: ApplicationSelection
) -> Context:
    """Return the templates and, once one is chosen, its text and a preview per language."""
    return {
        "templates": written(selection.brands()),
        "template": mailing.template if mailing else None,
        "previews": mailing.previews(people) if mailing else [],
        "placeholders": mail.described_placeholders(),
    }


def _unseen_changes(
    people: list[Application], stage: Stage, at: datetime
) -> dict[int, StageChange]:
    """Return the changes to `stage` that their applicants do not see at `at`, by application."""
    current = current_changes([each.pk for each in people])
    return {
        pk: change
        for pk, change in current.items()
        if change.stage == stage and change.visible_at > at
    }


def _queued(count: int, with_status: list[StageChange], at: datetime) -> Iterator[tuple[int, str]]:
    """Yield messages about `count` emails that are sent soon, and about those sent later, with what
    the applicant sees of the changes `with_status`.
    """
    if count:
        text = ngettext(
            "%(count)d email is queued. It is sent in a minute.",
            "%(count)d emails are queued. They are sent in a minute.",
            count,
        )
        query = urlencode({"at": (at + CANCELLABLE).isoformat()})
        url = f"{reverse('admin:applications_application_cancel_emails')}?{query}"
        link = format_html('<a class="text-link" href="{}">{}</a>', url, gettext("Cancel"))
        yield messages.SUCCESS, format_html("{} {}", text % {"count": count}, link)
    if with_status:
        text = ngettext(
            "%(count)d email is queued. It is sent with the status, on %(time)s. Undo cancels it.",
            "%(count)d emails are queued. They are sent with the status, on %(time)s. Undo cancels them.",
            len(with_status),
        )
        time = format_datetime(min(change.visible_at for change in with_status))
        yield messages.SUCCESS, text % {"count": len(with_status), "time": time}


def _not_queued(repeated: int, deleted: int) -> Iterator[tuple[int, str]]:
    if repeated:
        text = ngettext(
            "%(count)d email was queued already.", "%(count)d emails were queued already.", repeated
        )
        yield messages.WARNING, text % {"count": repeated}
    if deleted:
        text = ngettext(
            "%(count)d application was deleted in the meantime.",
            "%(count)d applications were deleted in the meantime.",
            deleted,
        )
        yield messages.WARNING, text % {"count": deleted}
