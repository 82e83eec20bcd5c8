"""One email to many applicants, from a template: its text can be changed, with a preview per
language. Then one message per application is queued. It can be cancelled for a minute, or until the
status is visible.
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.http import HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext

from applications.admin.access_log import log_access
from applications.admin.moves.filling import undecided
from applications.admin.moves.form import MoveForm
from applications.admin.moves.pages import (
    MovePages,
    stage_sent_by,
    stages,
    status_context,
    time_sent_by,
)
from applications.admin.page.emails import EmailForm
from applications.admin.parts import ApplicationPages
from applications.admin.selection import ApplicationSelection
from applications.mail import templates as mail
from applications.mail.outbox import not_due
from applications.models import Access, Application, MailTemplate, Stage
from applications.operations import current_changes
from applications.operations.emails import send_emails
from jobsite.admin.base import as_id
from jobsite.admin.selection import way_back
from jobsite.api.absolute_urls import base_url
from jobsite.languages import LANGUAGES, supported
from jobsite.text.formats import format_datetime
from jobsite.types import UserRequest

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
        chosen = as_id(request.POST.get("template"))
        template = next((each for each in written() if each.pk == chosen), None)
        stage = self._chosen_stage(request)
        mailing = Mailing(template, base_url(request), request.POST) if template else None
        data = request.POST if mailing and "confirmed" in request.POST else None
        move = MovePages.form(request, stage, selection, data, has_email=True) if stage else None
        is_valid = mailing and mailing.is_valid() and not (move and move.errors)
        if mailing and data and is_valid and len(selection) <= MAX_EMAILS:
            self._send_all(request, selection, mailing, move)
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
        mailing: "Mailing | None" = None,
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
            "media": self.admin.media,
            "stages": stages(request) if self.admin.has_change_permission(request) else [],
            "people": reached,
            "unreached": [each for each in people if not each.address],
            "templates": written(),
            "template": mailing.template if mailing else None,
            "previews": mailing.previews(reached) if mailing else [],
            "form": move,
            "placeholders": mail.described_placeholders(),
            "is_too_many": len(selection) > MAX_EMAILS,
            "at_most": MAX_EMAILS,
            "selection": selection,
            "back": back,
        }
        is_wrong = (mailing and not mailing.is_valid()) or (move and move.errors)
        status = 422 if is_wrong else 200
        template_name = "admin/applications/application/emails/bulk_email.html"
        return TemplateResponse(request, template_name, context, status=status)

    def _send_all(
        self,
        request: UserRequest,
        selection: ApplicationSelection,
        mailing: "Mailing",
        move: MoveForm | None,
    ) -> None:
        at, stage = timezone.now(), move.stage if move else None
        with transaction.atomic():
            left = self._moved_by_others(request, selection, move) if move else set()
            people = [
                each for each in selection.addressed() if each.address and each.pk not in left
            ]
            emails = [mailing.email_to(each) for each in people]
            current = current_changes([each.pk for each in people]) if stage else {}
            unseen = {
                pk: change
                for pk, change in current.items()
                if change.stage == stage and change.visible_at > at
            }
            sent, repeated = send_emails(
                emails, author=request.user, at=at, delay=CANCELLABLE, changes=unseen
            )
            log_access(request.user, Access.CHANGE, *sent)
        with_status = [unseen[pk] for pk in sent if pk in unseen]
        if count := len(sent) - len(with_status):
            text = ngettext(
                "%(count)d email is queued. It is sent in a minute.",
                "%(count)d emails are queued. They are sent in a minute.",
                count,
            )
            query = urlencode({"at": (at + CANCELLABLE).isoformat()})
            url = f"{reverse('admin:applications_application_cancel_emails')}?{query}"
            link = format_html('<a class="text-link" href="{}">{}</a>', url, gettext("Cancel"))
            done = format_html("{} {}", text % {"count": count}, link)
            self.message(request, done, messages.SUCCESS)
        if count := len(with_status):
            text = ngettext(
                "%(count)d email is queued. It is sent with the status, on %(time)s. Undo "
                "cancels it.",
                (
                    "%(count)d emails are queued. They are sent with the status, on %(time)s. Undo "
                    "cancels them."
                ),
                count,
            )
            time = format_datetime(min(change.visible_at for change in with_status))
            self.message(request, text % {"count": count, "time": time}, messages.SUCCESS)
        if again := len(repeated):
            text = ngettext(
                "%(count)d email was queued already.",
                "%(count)d emails were queued already.",
                again,
            )
            self.message(request, text % {"count": again}, messages.WARNING)
        if deleted := len(emails) - len(sent) - len(repeated):
            text = ngettext(
                "%(count)d application was deleted in the meantime.",
                "%(count)d applications were deleted in the meantime.",
                deleted,
            )
            self.message(request, text % {"count": deleted}, messages.WARNING)

    def cancel_emails_view(self, request: UserRequest) -> HttpResponse:
        """GET asks whether to cancel what the user queued for the time `at`; POST does it."""
        if not self.admin.has_email_permission(request):
            raise PermissionDenied
        at = time_sent_by(request)
        own = self.admin.get_queryset(request).order_by().values("pk")
        mine = not_due(timezone.now()).filter(
            author=request.user, stage_change=None, application__in=own
        )
        emails = mine.filter(next_at=at) if at else mine.none()
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
        self, request: UserRequest, selection: ApplicationSelection, move: MoveForm
    ) -> set[int]:
        """Move `selection`. Return the applications that somebody else moved in the meantime, also
        those in its stage now: they get no second email about it.
        """
        result = MovePages(self.admin).move_and_report(request, selection, move)
        there = ApplicationSelection.of(Application.objects.filter(pk__in=result.there)).seen
        return {
            *result.elsewhere,
            *(pk for pk, change in there.items() if change != selection.seen[pk]),
        }


def written() -> list[MailTemplate]:
    """Return the templates that have a text in a language."""
    return [
        each
        for each in MailTemplate.objects.all()
        if any(
            getattr(each, f"subject_{code}") and getattr(each, f"body_{code}") for code in LANGUAGES
        )
    ]


class Mailing:
    """One email to many: the text of `template` in each language, or what the recruiter made of it
    for this mailing (`<language>-subject` and `<language>-body` in `data`).
    """

    def __init__(self, template: MailTemplate, base_url: str, data: QueryDict) -> None:
        self.template, self.base_url = template, base_url
        self.forms = {
            code: EmailForm(data, prefix=code) for code in LANGUAGES if f"{code}-body" in data
        }

    def is_valid(self) -> bool:
        return all(form.is_valid() for form in self.forms.values())

    def language_of(self, application: Application) -> str:
        return mail.language_of(self.template, supported(application.language))

    def email_to(self, application: Application) -> mail.WrittenEmail:
        code = self.language_of(application)
        if form := self.forms.get(code):
            texts = form.cleaned_data
            return mail.email(
                **texts, application=application, language=code, base_url=self.base_url
            )
        return mail.email_from(self.template, application, language=code, base_url=self.base_url)

    def previews(self, people: list[Application]) -> list[dict[str, object]]:
        """Return the text in each language with the email to its first applicant, None if the text
        is invalid, and how many get it.
        """
        found: dict[str, dict[str, Any]] = {}
        for application in people:
            code = self.language_of(application)
            if code not in found:
                names = ("subject", "body")
                initial = {name: getattr(self.template, f"{name}_{code}") for name in names}
                form = self.forms.get(code) or EmailForm(initial=initial, prefix=code)
                is_valid = not form.is_bound or form.is_valid()
                found[code] = {
                    "language": gettext(LANGUAGES[code]),
                    "code": code,
                    "form": form,
                    "count": 0,
                    "applicant": application.display_name,
                    "email": self.email_to(application) if is_valid else None,
                }
            found[code]["count"] += 1
        return list(found.values())
