"""One email to many applicants, from a template: a preview per language, then one message per application."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from applications.admin.application_emails import WRITE, language_of
from applications.admin.brand_access import log_access
from applications.admin.bulk_move import BulkMoveAdmin, stage_sent_by, stages, status_context
from applications.admin.selection import ApplicationSelection
from applications.mail import templates as mail
from applications.models import Access, Application, MailTemplate, Stage
from applications.operations.emails import send_emails
from applications.querysets import ApplicationQuerySet
from jobsite.admin.base import as_id
from jobsite.admin.selection import way_back
from jobsite.api.absolute_urls import base_url
from jobsite.languages import LANGUAGES
from jobsite.types import UserRequest

MAX_EMAILS = 2_000  # emails at a time: each is rendered and stored in the request


class BulkEmailAdmin(BulkMoveAdmin):
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.emails_view)
        return [path("emails/", view, name="applications_application_emails"), *super().get_urls()]

    def has_email_permission(self, request: UserRequest) -> bool:
        return request.user.has_perm(WRITE)

    @admin.action(description=_("Send an email…"), permissions=["email"])
    def email_selected(self, request: UserRequest, queryset: ApplicationQuerySet) -> HttpResponse:
        return self._choose_template(request, ApplicationSelection.of(queryset), request.get_full_path())

    def emails_view(self, request: UserRequest) -> HttpResponse:
        """POST: show the emails from `template` to the applicants of `applications`; with `confirmed`, queue
        them. With `stage`, also move the applications to that stage."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_email_permission(request):
            raise PermissionDenied
        selection = ApplicationSelection.sent_by(request, self.get_queryset(request))
        back = way_back(request, reverse("admin:applications_application_changelist"))
        chosen = as_id(request.POST.get("template"))
        template = next((each for each in written() if each.pk == chosen), None)
        stage = self._chosen_stage(request)
        if template and "confirmed" in request.POST and len(selection) <= MAX_EMAILS:
            self._send_all(request, selection, template, stage)
            return redirect(back)
        return self._choose_template(request, selection, back, template, stage)

    def _chosen_stage(self, request: UserRequest) -> Stage | None:
        if not request.POST.get("stage"):
            return None
        if not self.has_change_permission(request):
            raise PermissionDenied
        return stage_sent_by(request)

    def _choose_template(
        self, request: UserRequest, selection: ApplicationSelection, back: str,
        template: MailTemplate | None = None, stage: Stage | None = None,
    ) -> HttpResponse:  # fmt: skip
        """Return the page with the recipients and, once a template is chosen, a preview per language."""
        people = list(addressed(selection))
        reached = [each for each in people if each.address]
        context = {
            **self.admin_site.each_context(request),
            **(status_context(stage) if stage else {}),
            "opts": self.opts,
            "title": gettext("Send an email"),
            "stages": stages(request) if self.has_change_permission(request) else [],
            "people": reached,
            "unreached": [each for each in people if not each.address],
            "templates": written(),
            "template": template,
            "previews": previews(template, reached, base_url(request)) if template else [],
            "is_too_many": len(selection) > MAX_EMAILS,
            "at_most": MAX_EMAILS,
            "selection": selection,
            "back": back,
        }
        return TemplateResponse(request, "admin/applications/application/bulk_email.html", context)

    def _send_all(
        self,
        request: UserRequest,
        selection: ApplicationSelection,
        template: MailTemplate,
        stage: Stage | None,
    ) -> None:
        with transaction.atomic():
            left = self._moved_by_others(request, selection, stage) if stage else set()
            people = [each for each in addressed(selection) if each.address and each.pk not in left]
            emails = [email_to(each, template, base_url(request)) for each in people]
            sent, repeated = send_emails(emails, author=request.user, at=timezone.now())
            log_access(request.user, Access.CHANGE, *sent)
        if sent:
            text = ngettext("%(count)d email is queued.", "%(count)d emails are queued.", len(sent))
            self.message_user(request, text % {"count": len(sent)}, messages.SUCCESS)
        if again := len(repeated):
            text = ngettext(
                "%(count)d email was queued already.", "%(count)d emails were queued already.", again
            )
            self.message_user(request, text % {"count": again}, messages.WARNING)
        if deleted := len(emails) - len(sent) - len(repeated):
            text = ngettext(
                "%(count)d application was deleted in the meantime.",
                "%(count)d applications were deleted in the meantime.",
                deleted,
            )
            self.message_user(request, text % {"count": deleted}, messages.WARNING)

    def _moved_by_others(
        self, request: UserRequest, selection: ApplicationSelection, stage: Stage
    ) -> set[int]:
        """Move `selection`. Return the applications that somebody else moved in the meantime, also those in
        `stage` now: they get no second email about it."""
        result = self.move_and_report(request, selection, stage)
        there = ApplicationSelection.of(Application.objects.filter(pk__in=result.there)).seen
        return {*result.elsewhere, *(pk for pk, change in there.items() if change != selection.seen[pk])}


def written() -> list[MailTemplate]:
    """Return the templates that have a text in a language."""
    return [
        each
        for each in MailTemplate.objects.all()
        if any(getattr(each, f"subject_{code}") and getattr(each, f"body_{code}") for code in LANGUAGES)
    ]


def addressed(selection: ApplicationSelection) -> ApplicationQuerySet:
    """Return the applications with all that an email can mention."""
    related = ("user", "vacancy__brand", "vacancy__head_recruiter")
    return selection.rows().with_stage().select_related(*related).newest_first()


def email_to(application: Application, template: MailTemplate, base_url: str) -> mail.Email:
    return mail.email_from(template, application, language=language_of(application), base_url=base_url)


def previews(template: MailTemplate, people: list[Application], base_url: str) -> list[dict[str, object]]:
    """Return the email to the first applicant in each language, and how many get that language."""
    found: dict[str, dict[str, Any]] = {}
    for application in people:
        code = mail.language_of(template, language_of(application))
        if code not in found:
            email = email_to(application, template, base_url)
            name = gettext(LANGUAGES[code])
            found[code] = {"language": name, "code": code, "subject": email.subject, "body": email.body,
                           "count": 0, "applicant": application.display_name}  # fmt: skip
        found[code]["count"] += 1
    return list(found.values())
