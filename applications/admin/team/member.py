"""The page of an application for who judges it without deciding. It names all that it shows: what
is added to the page of recruiters does not get here.
"""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from applications.access import waiting_for
from applications.admin.interviews.context import interviews_context
from applications.admin.page import context as shown
from applications.admin.page.notes import NotePages
from applications.admin.page.scorecards import ScorecardForm, scorecards_context
from applications.admin.page.walking import WalkPages, list_url
from applications.admin.parts import ApplicationPages, carried
from applications.admin.team.yours import candidates_url
from applications.models import Access, Application, HistoryEntry, Scorecard
from applications.operations.access_log import log_access
from jobsite.text.formats import format_datetime
from jobsite.types import UserRequest
from vacancies.models import Requisition

VIEW = "applications.view_application"


class MemberPage(ApplicationPages):
    """In place of the page of recruiters."""

    def view(self, request: UserRequest, object_id: str) -> HttpResponse:
        application = self.application_or_404(request, object_id, VIEW)
        log_access(request.user, Access.VIEW, application.pk)
        now = timezone.now()
        _submission, sections = shown.submitted(application)
        steps = application.history.exclude(uid="").prefetch_related("participants__user")
        entries = list(steps.in_order())
        place = WalkPages(self.admin).place_of(request, application)
        context: dict[str, Any] = {
            "media": self.admin.media,
            "application": application,
            "at": format_datetime(application.created_at),
            "withdrawn_at": format_datetime(application.withdrawn_at)
            if application.withdrawn_at
            else "",
            "sections": sections,
            "files": [each for section in sections for each in section.answers if each.file],
            "query": f"?{place.query}" if place else "",
            "before": place.before if place else "",
            "after": place.after if place else self._next(request, application),
            "list_url": list_url(place.filters) if place else candidates_url(),
            **NotePages(self.admin).page_context(request, application, []),
            **scorecards_context(request, application, entries),
            **interviews_context(request.user, application, entries, now=now),
            "offers": [],
        }
        context |= self._opinion(request, application, entries, now)
        still = context.pop("open_scorecards", [])
        shown_entry = context.get("entry")
        # Without an interview, there is the form on the page.
        about = [each for each in still if each["entry"] not in (None, shown_entry)]
        context["open_scorecards"] = about
        template = "admin/applications/application/team/member.html"
        title = application.display_name
        response = TemplateResponse(request, template, self.context(request, title, **context))
        response["Cache-Control"] = "private, no-store"
        return response

    def _next(self, request: UserRequest, application: Application) -> str:
        """Return the next application that waits for an opinion, one of the same vacancy first."""
        others = waiting_for(request.user).exclude(pk=application.pk).newest_first()
        same = others.filter(vacancy=application.vacancy_id)
        found = (
            same.values_list("pk", flat=True).first() or others.values_list("pk", flat=True).first()
        )
        return reverse("admin:applications_application_change", args=[found]) if found else ""

    def _opinion(
        self,
        request: UserRequest,
        application: Application,
        entries: list[HistoryEntry],
        now: datetime,
    ) -> dict[str, Any]:
        """Return the scorecard to write: about the last interview that took place, or about none;
        nothing if it was sent.
        """
        if not request.user.has_perm("applications.add_scorecard"):
            return {}
        past = [each for each in entries if each.planned_at <= now and not each.is_cancelled]
        entry = past[-1] if past else None
        card = Scorecard.of(request.user, application, entry)
        if card.sent_at:
            return {}
        criteria = Requisition.of(application.vacancy).criteria
        query: dict[str, Any] = {**carried(request), **({"entry": entry.pk} if entry else {})}
        about = _("About: %(name)s") % {"name": entry.name} if entry else ""
        return {
            "form": ScorecardForm(None, card=card, criteria=criteria),
            "entry": entry,
            "card_query": f"?{urlencode(query)}",
            "about": about,
        }
