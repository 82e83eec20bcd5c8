"""The page of one application: what it shows beside the form, and what its form changes."""

from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext

from applications.admin.interviews.context import interviews_context
from applications.admin.moves.filling import report_filled
from applications.admin.order import neighbours
from applications.admin.page import context as shown
from applications.admin.page.assigning import assigned_context
from applications.admin.page.duplicates import likely_to_be_same
from applications.admin.page.emails import EmailPages
from applications.admin.page.erasure import may_erase
from applications.admin.page.form import ApplicationForm
from applications.admin.page.notes import NotePages
from applications.admin.page.origins import origin_context
from applications.admin.page.review import ReviewPages, is_fragment
from applications.admin.page.scorecards import scorecards_context
from applications.admin.parts import CHANGE, ApplicationPages
from applications.models import Access, Application
from applications.operations import Move, move
from applications.operations.access_log import log_access
from applications.querysets import readers_of
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest


class ApplicationPage(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        return self.object_urls({"unread": self.unread_view})

    # --- viewing ---

    def page_context(self, request: UserRequest, obj: Application) -> Context:
        """Return what the page shows beside the form. A user who may change the application reads
        it now, unless it is fetched ahead.
        """
        at = timezone.now()
        self._mark_read(request, obj, at)
        submission, sections = shown.submitted(obj)
        changes = obj.ordered_changes = list(
            obj.changes.select_related("stage__status", "author", "reason")
        )
        entries = list(obj.history.prefetch_related("participants__user").in_order())
        files = [each for section in sections for each in section.answers if each.file]
        readers = list(readers_of(obj.vacancy).order_by("username"))
        others = list(shown.other_applications(request.user, obj))
        query = self.admin.get_preserved_filters(request)
        review = ReviewPages(self.admin).page_context(
            request, obj, changes[-1].pk if changes else None
        )
        return {
            "application": obj,
            "at": format_datetime(obj.created_at),
            "withdrawn_at": format_datetime(obj.withdrawn_at) if obj.withdrawn_at else "",
            "contact": shown.contact(obj),
            "submission": submission,
            "consented_at": format_datetime(submission.consented_at) if submission else "",
            "sections": sections,
            "files": files,
            "others": others,
            "likely": likely_to_be_same(request.user, obj, files, others),
            "visible_statuses": shown.statuses(obj, at=at),
            "visible_steps": shown.steps(entries),
            "stage_history": shown.stage_history(changes),
            "undoable": shown.undoable(changes, at=at),
            "may_change": self.admin.has_change_permission(request, obj),
            "may_erase": may_erase(request.user),
            "may_see_vacancy": request.user.has_perm("vacancies.view_vacancy"),
            "query": f"?{query}" if query else "",
            **origin_context(submission),
            **assigned_context(request, obj, readers),
            **(review or neighbours(self.admin, request, obj)),
            **NotePages(self.admin).page_context(request, obj, readers),
            **EmailPages(self.admin).page_context(request, obj),
            **scorecards_context(request, obj, entries),
            **interviews_context(request.user, obj, entries, now=at),
        }

    def _mark_read(self, request: UserRequest, obj: Application, at: datetime) -> None:
        is_shown = request.method == "GET" and not is_fragment(request)
        if is_shown and obj.read_at is None and self.admin.has_change_permission(request, obj):
            Application.objects.filter(pk=obj.pk, read_at=None).update(read_at=at)

    # --- changing ---

    def save(self, request: UserRequest, obj: Application, form: ApplicationForm) -> None:
        """Save the rating, and move the application if the form has another stage."""
        now = timezone.now()
        obj.updated_at = now
        changed = ["rating"] if "rating" in form.changed_data else []
        obj.save(update_fields=[*changed, "updated_at"])
        if form.cleaned_data["stage"].pk != obj.stage_id:
            rows = Application.objects.filter(pk=obj.pk)
            stage = form.cleaned_data["stage"]
            asked = form.move_form
            wanted = (
                asked.move(request, at=now)
                if asked
                else Move(stage=stage, author=request.user, at=now)
            )
            moved = move(rows, wanted).applications
            is_filled = bool(asked and asked.marks_filled)
            for text in report_filled(request, moved, stage, is_marked=is_filled, at=now):
                self.message(request, text, messages.SUCCESS)
        log_access(request.user, Access.CHANGE, obj.pk)

    def unread_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Mark the application as new, and return to the list:
        its page would mark it as read again.
        """
        application = self.posted_to(request, object_id, CHANGE)
        Application.objects.filter(pk=application.pk).update(read_at=None)
        log_access(request.user, Access.CHANGE, application.pk)
        self.message(request, gettext("Marked as unread."), messages.SUCCESS)
        return self.admin.response_post_save_change(request, application)
