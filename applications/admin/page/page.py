"""The page of one application: files beside what is known and what is done, in tabs. It is fetched
ahead by walking.js, without its frame, while the one before is read.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext

from applications.admin.candidates.scope import candidate_links
from applications.admin.interviews.context import interviews_context
from applications.admin.page import context as shown
from applications.admin.page.actions import BAR, MENU, Opened, actions
from applications.admin.page.assigning import assigned_context
from applications.admin.page.duplicates import likely_to_be_same
from applications.admin.page.emails import EmailPages
from applications.admin.page.notes import NotePages
from applications.admin.page.origins import origin_context
from applications.admin.page.scorecards import scorecards_context
from applications.admin.page.walking import WalkPages, list_url
from applications.admin.parts import CHANGE, LIST_QUERY, ApplicationPages
from applications.models import Access, Application
from applications.operations.access_log import log_access
from applications.operations.pool import pool_states
from applications.querysets import readers_of
from jobsite.admin.base import as_id
from jobsite.text.formats import format_datetime
from jobsite.types import Context, StrOrPromise, UserRequest

RATINGS = range(1, 6)
# The header with which walking.js asks for the content of a page without its frame.
FRAGMENT = "X-Fragment"
FOLDER = "admin/applications/application"


@dataclass(frozen=True)
class Tab:
    """A tab with its template, and the number of its items, 0 if it is no list."""

    name: str
    label: StrOrPromise
    template: str
    count: int


class ApplicationPage(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        views = {"unread": self.unread_view, "rate": self.rate_view, "read": self.read_view}
        return self.object_urls(views)

    # --- viewing ---

    def view(self, request: UserRequest, application: Application) -> HttpResponse:
        """Show `application`, and log the access. A user who may change it reads it now, unless it
        is fetched ahead.
        """
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        at = timezone.now()
        is_ahead = FRAGMENT in request.headers
        if request.method == "GET" and not is_ahead and request.user.has_perm(CHANGE):
            _mark_read(application, at)
        context = self._context(request, application, at)
        context |= {"base": "admin/fragment.html" if is_ahead else "", "media": self.admin.media}
        response = TemplateResponse(request, f"{FOLDER}/change_form.html", context)
        log_access(request.user, Access.VIEW, application.pk)
        response["Cache-Control"] = "private, no-store"
        return response

    def _context(self, request: UserRequest, obj: Application, at: datetime) -> Context:
        submission, sections = shown.submitted(obj)
        changes = obj.ordered_changes = list(
            obj.changes.select_related("stage__status", "author", "reason")
        )
        entries = list(obj.history.prefetch_related("participants__user").in_order())
        files = [each for section in sections for each in section.answers if each.file]
        hashes = [each.file.sha256 for each in files if each.file]
        person = shown.of_person(request.user, obj)
        readers = list(readers_of(obj.vacancy, obj.pk).order_by("username"))
        place = WalkPages(self.admin).place_of(request, obj)
        query = f"?{place.query}" if place else ""
        latest = changes[-1] if changes else None
        url = f"{request.path}{query}"
        after = (place.after or place.end) if place else url
        opened = Opened(request, obj, latest, url, query, after)
        context = {
            **self.context(request, obj.display_name),
            "is_nav_sidebar_enabled": False,
            "application": obj,
            "at": format_datetime(obj.created_at),
            "withdrawn_at": format_datetime(obj.withdrawn_at) if obj.withdrawn_at else "",
            "contact": shown.contact(obj),
            "submission": submission,
            "consented_at": format_datetime(submission.consented_at) if submission else "",
            "sections": sections,
            "files": files,
            "others": list(shown.other_applications(obj, person)),
            "likely": likely_to_be_same(request.user, [obj], hashes, person),
            "pool": pool_states([obj.pk], at=at).get(obj.pk),
            **candidate_links(request, obj),
            "visible_statuses": shown.statuses(obj, at=at),
            "visible_steps": shown.steps(entries),
            "stage_history": shown.stage_history(changes),
            "cancels_later": bool(changes) and changes[-1].cancels_interviews,
            "undoable": shown.undoable(changes, at=at),
            "may_change": request.user.has_perm(CHANGE),
            "may_see_vacancy": request.user.has_perm("vacancies.view_vacancy"),
            "ratings": RATINGS,
            "opened": opened,
            "bar": actions(opened, BAR),
            "menu": actions(opened, MENU),
            "place": place,
            "list_url": list_url(request.GET.get(LIST_QUERY, "")),
            "query": query,
            **origin_context(submission),
            **assigned_context(request, obj, readers),
            **NotePages(self.admin).page_context(request, obj, readers),
            **EmailPages(self.admin).page_context(request, obj),
            **scorecards_context(request, obj, entries),
            **interviews_context(request.user, obj, entries, now=at),
        }
        return context | {"tabs": tabs(context)}

    # --- saved at once ---

    def rate_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Save the posted rating, empty for none. The answer is JSON for walking.js, which sends it
        again if that fails, and the page otherwise.
        """
        application = self.posted_to(request, object_id, CHANGE)
        sent = request.POST.get("rating", "")
        rating = as_id(sent)
        if sent and rating not in RATINGS:
            raise BadRequest(f"rating is {sent!r}. Allowed are 1 to 5, or nothing for no rating.")
        with transaction.atomic():
            Application.objects.filter(pk=application.pk).update(
                rating=rating, updated_at=timezone.now()
            )
            log_access(request.user, Access.CHANGE, application.pk)
            self.admin.log_change(request, application, [{"changed": {"fields": ["Rating"]}}])
        if request.headers.get("Accept") == "application/json":
            text = (
                gettext("rated %(rating)s/5.") % {"rating": rating}
                if rating
                else gettext("not rated.")
            )
            return JsonResponse({"message": text})
        return redirect(self.page_of(request, application))

    def read_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Mark an application as read that walking.js shows.
        It was fetched ahead, which does not mark it.
        """
        _mark_read(self.posted_to(request, object_id, CHANGE), timezone.now())
        return JsonResponse({})

    def unread_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """Mark the application as new, and return to the list:
        its page would mark it as read again.
        """
        application = self.posted_to(request, object_id, CHANGE)
        Application.objects.filter(pk=application.pk).update(read_at=None)
        log_access(request.user, Access.CHANGE, application.pk)
        self.message(request, gettext("Marked as unread."), messages.SUCCESS)
        return redirect(list_url(request.GET.get(LIST_QUERY, "")))


def tabs(context: Context) -> list[Tab]:
    """Return the tabs of a page with `context`: those that the user may see."""

    def tab(name: str, label: str, template: str, of: str = "") -> Tab:
        rows: Any = context.get(of, ())
        return Tab(name, label, f"{FOLDER}/{template}", len(rows))

    may_note = context["may_see_notes"] or "note_form" in context
    found = [
        (True, tab("answers", gettext("Answers"), "page/answers.html")),
        (may_note, tab("notes", gettext("Notes"), "notes/notes.html", "notes")),
        (
            context["may_see_emails"],
            tab("emails", gettext("Emails"), "emails/emails.html", "emails"),
        ),
        (
            True,
            tab("interviews", gettext("Interviews"), "interviews/interviews.html", "interviews"),
        ),
        (
            context["may_see_scorecards"],
            tab("scorecards", gettext("Scorecards"), "notes/scorecards.html", "scorecards"),
        ),
        (True, tab("history", gettext("History"), "page/history.html")),
    ]
    return [each for is_shown, each in found if is_shown]


def _mark_read(application: Application, at: datetime) -> None:
    if application.read_at is None:
        Application.objects.filter(pk=application.pk, read_at=None).update(read_at=at)
