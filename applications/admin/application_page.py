"""The admin page of one application: the answers beside the form, stage, notes and emails."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import Model, QuerySet
from django.forms.models import BaseInlineFormSet
from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from applications.admin import application_context
from applications.admin.application_emails import EmailsAdmin
from applications.admin.application_form import ApplicationForm, StepInline
from applications.admin.application_notes import NotesAdmin
from applications.admin.application_order import neighbours
from applications.admin.application_parts import CHANGE
from applications.admin.assigning import assigned_context, owner_view, tag_view
from applications.admin.brand_access import log_access
from applications.admin.considering import consider_view
from applications.admin.duplicates import likely_to_be_same
from applications.admin.erasure import ErasureAdmin, may_erase
from applications.admin.filling import report_filled
from applications.admin.interviews import InterviewPages, interviews_context
from applications.admin.move_form import email_context
from applications.admin.origins import contact_view, informed_view, origin_context
from applications.admin.review import ReviewAdmin, is_fragment
from applications.admin.scorecards import scorecard_view, scorecards_context
from applications.admin.slots import SlotPages
from applications.models import Access, Application
from applications.operations import move, undo_moves
from applications.querysets import readers_of
from jobsite.admin.base import as_id, posted_again
from jobsite.text.formats import format_datetime
from jobsite.types import UserRequest


class ApplicationPage(ReviewAdmin, NotesAdmin, EmailsAdmin, ErasureAdmin):
    """The page of an application. `ApplicationAdmin` adds the list."""

    form = ApplicationForm
    fieldsets = ((_("Decision"), {"fields": ("stage", "rating")}),)
    readonly_fields = ("current_stage",)
    inlines = (StepInline,)

    class Media:
        css = {"all": ("applications/application.css",)}
        js = ("applications/application.js", "applications/reader.js", "applications/review.js")

    def get_urls(self) -> list[URLPattern]:
        views: dict[str, Callable] = {
            "undo": self.undo_view,
            "unread": self.unread_view,
            "contact": partial(contact_view, self),
            "informed": partial(informed_view, self),
            "consider": partial(consider_view, self),
            "scorecard": partial(scorecard_view, self),
            "owner": partial(owner_view, self),
            "tag": partial(tag_view, self),
        }
        interviews = [*InterviewPages(self).urls(), *SlotPages(self).urls()]
        return [*self.object_urls(views), *interviews, *super().get_urls()]

    def get_queryset(self, request: UserRequest) -> QuerySet:
        rows: Any = super().get_queryset(request)
        return rows.with_stage()

    def get_object(
        self, request: UserRequest, object_id: str, from_field: str | None = None
    ) -> Application | None:
        application = super().get_object(request, object_id, from_field)
        if application and request.method == "POST":
            # Locked, then read again: of two concurrent saves, the second one gets the conflict error.
            Application.objects.select_for_update().filter(pk=application.pk).first()
            application = super().get_object(request, object_id, from_field)
        return application

    def get_form(self, request: UserRequest, *args: Any, **kwargs: Any) -> Any:
        form = super().get_form(request, *args, **kwargs)
        form.user = request.user
        return form

    def get_fieldsets(self, request: UserRequest, obj: Application | None = None) -> Any:
        """A read-only page shows the stage as text."""
        if self.has_change_permission(request, obj):
            return self.fieldsets
        ((name, spec),) = self.fieldsets
        fields = tuple("current_stage" if field == "stage" else field for field in spec["fields"])
        return [(name, {"fields": fields})]

    # --- viewing: each view is logged ---

    def change_view(self, request: UserRequest, object_id: str, **kwargs: object) -> HttpResponse:
        response = super().change_view(request, object_id, **kwargs)
        if response.status_code == 200:
            log_access(request.user, Access.VIEW, int(object_id))
            form = response.context_data["adminform"].form
            # the only error, of this form and of its interviews
            if getattr(form, "is_unconfirmed", False) and len(response.context_data["errors"]) == 1:
                response = self.confirmation(request, response.context_data["original"], form)
        response["Cache-Control"] = "private, no-store"
        return response

    def history_view(self, request: UserRequest, object_id: str, **kwargs: object) -> HttpResponse:
        response = super().history_view(request, object_id, **kwargs)
        if response.status_code == 200:
            log_access(request.user, Access.VIEW, int(object_id))
        return response

    def render_change_form(
        self,
        request: UserRequest,
        context: dict[str, object],
        *args: object,
        obj: Application,
        **kwargs: object,
    ) -> HttpResponse:
        """Add what the page shows beside the form. A user who may change the application reads it now, unless
        it is fetched ahead."""
        at = timezone.now()
        is_shown = request.method == "GET" and not is_fragment(request)
        if is_shown and obj.read_at is None and self.has_change_permission(request, obj):
            Application.objects.filter(pk=obj.pk, read_at=None).update(read_at=at)
        submission, sections = application_context.submitted(obj)
        changes = obj.ordered_changes = list(obj.changes.select_related("stage__status", "author", "reason"))
        entries = list(obj.history.prefetch_related("participants__user").in_order())
        files = [each for section in sections for each in section.answers if each.file]
        readers = list(readers_of(obj.vacancy).order_by("username"))
        others = list(application_context.other_applications(request.user, obj))
        query = self.get_preserved_filters(request)
        review = self.review_context(request, obj, changes[-1].pk if changes else None)
        context |= {
            "application": obj,
            "at": format_datetime(obj.created_at),
            "withdrawn_at": format_datetime(obj.withdrawn_at) if obj.withdrawn_at else "",
            "contact": application_context.contact(obj),
            "submission": submission,
            "consented_at": format_datetime(submission.consented_at) if submission else "",
            "sections": sections,
            "files": files,
            "others": others,
            "likely": likely_to_be_same(request.user, obj, files, others),
            "visible_statuses": application_context.statuses(obj, at=at),
            "visible_steps": application_context.steps(entries),
            "stage_history": application_context.stage_history(changes),
            "undoable": application_context.undoable(changes, at=at),
            "may_change": self.has_change_permission(request, obj),
            "may_erase": may_erase(request.user),
            "may_see_vacancy": request.user.has_perm("vacancies.view_vacancy"),
            "query": f"?{query}" if query else "",
            **origin_context(submission),
            **assigned_context(request, obj, readers),
            **(review or neighbours(self, request, obj)),
            **self.notes_context(request, obj, readers),
            **self.emails_context(request, obj),
            **scorecards_context(request, obj, entries),
            **interviews_context(request.user, obj, entries, now=at),
        }
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    @display(description=_("Applicant"))
    def applicant(self, application: Application) -> str:
        return application.display_name

    @display(description=_("Applied"), ordering="created_at")
    def applied(self, application: Application) -> str:
        return format_datetime(application.created_at)

    @display(description=_("Stage"), ordering="stage_name", label=True)
    def current_stage(self, application: Application) -> str:
        return application.stage_label or "-"

    # --- changing ---

    def confirmation(
        self, request: UserRequest, application: Application, form: ApplicationForm
    ) -> TemplateResponse:
        """Ask whether the applicant is hired or rejected. The page posts the form again, confirmed."""
        assert form.move_form
        stage = form.cleaned_data.get("stage") or form.fields["stage"].clean(request.POST.get("stage"))
        repeated = posted_again(request, "confirmed", *form.move_form.fields)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Move %(applicant)s to %(stage)s?")
            % {"applicant": application.display_name, "stage": stage},
            "opts": self.opts,
            "original": application,
            "stage": stage,
            "form": form.move_form,
            **email_context(request, stage, [application]),
            "repeated": [*repeated, ("confirmed", stage.pk)],
            "back": self.page_of(request, application),
        }
        status = 422 if form.move_form.errors else 200
        template = "admin/applications/application/confirm.html"
        return TemplateResponse(request, template, context, status=status)

    def save_model(self, request: UserRequest, obj: Application, form: ApplicationForm, change: bool) -> None:
        now = timezone.now()
        obj.updated_at = now
        changed = ["rating"] if "rating" in form.changed_data else []
        obj.save(update_fields=[*changed, "updated_at"])
        if form.cleaned_data["stage"].pk != obj.stage_id:
            rows = Application.objects.filter(pk=obj.pk)
            stage = form.cleaned_data["stage"]
            chosen = form.move_form.chosen(request) if form.move_form else {}
            is_filled = chosen.pop("is_filled", False)
            moved, _there = move(applications=rows, stage=stage, author=request.user, at=now, **chosen)
            for text in report_filled(request, moved, stage, is_marked=is_filled, at=now):
                self.message_user(request, text, messages.SUCCESS)
        log_access(request.user, Access.CHANGE, obj.pk)

    def save_formset(
        self, request: UserRequest, form: ApplicationForm, formset: BaseInlineFormSet, change: bool
    ) -> None:
        now = timezone.now()
        for step in formset.save(commit=False):
            step.updated_at = now
            step.save()
        for step in formset.deleted_objects:
            step.delete()

    def undo_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Undo the posted stage change of the application."""
        application = self.posted_to(request, object_id, CHANGE)
        change = application.changes.filter(pk__in=[as_id(request.POST.get("change"))])
        undone, _kept = undo_moves(
            change.values_list("pk", flat=True), author=request.user, at=timezone.now()
        )
        if undone:
            log_access(request.user, Access.CHANGE, application.pk)
            text = gettext("The stage change was undone. The applicant did not see it.")
            self.message_user(request, text, messages.SUCCESS)
        else:
            text = gettext("Not undone: the applicant sees the change already, or the stage changed again.")
            self.message_user(request, text, messages.WARNING)
        return self.back(request, application, "stages")

    def unread_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Mark the application as new, and return to the list: its page would mark it as read again."""
        application = self.posted_to(request, object_id, CHANGE)
        Application.objects.filter(pk=application.pk).update(read_at=None)
        log_access(request.user, Access.CHANGE, application.pk)
        self.message_user(request, gettext("Marked as unread."), messages.SUCCESS)
        return self.response_post_save_change(request, application)

    def has_delete_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        """Applicants are erased with all their data (ErasureAdmin), not row by row."""
        return False
