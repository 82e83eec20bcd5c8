"""The page "Your candidates": applications that wait for the opinion of the user."""

from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.translation import gettext as _

from applications.access import sees_whole, waiting_for
from applications.admin.parts import ApplicationPages
from applications.models import Application, Scorecard
from jobsite.admin.base import as_id
from jobsite.admin.once import once_per_request
from jobsite.text.formats import format_date, format_datetime
from jobsite.types import UserRequest
from vacancies.querysets import teams_of

MAX, GIVEN_MAX, COUNT_MAX = 100, 20, 99


def has_candidates(request: UserRequest) -> bool:
    """Whether the menu has the page: for members of teams, and those who only judge."""
    user = request.user
    may_view = user.has_perm("applications.view_application")
    return may_view and (bool(teams_of(user)) or not sees_whole(user))


def may_open_list(request: UserRequest) -> bool:
    """Whether the menu has the list of applications."""
    user = request.user
    return user.has_perm("applications.view_application") and sees_whole(user)


@once_per_request
def waiting_count(request: UserRequest) -> str:
    count = waiting_for(request.user).order_by()[: COUNT_MAX + 1].count()
    return f"{COUNT_MAX}+" if count > COUNT_MAX else str(count or "")


class YoursPages(ApplicationPages):
    def urls(self) -> list[URLPattern]:
        return [self.url("yours/", self.candidates_view, "yours")]

    def candidates_view(self, request: UserRequest) -> HttpResponse:
        """Show the candidates by vacancy; with the parameter `vacancy`, those of one."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        rows = waiting_for(request.user)
        chosen = as_id(request.GET.get("vacancy"))
        if chosen is not None:
            rows = rows.filter(vacancy=chosen)
        waiting = rows.with_stage().select_related("user", "vacancy")
        # By vacancy, so that each is together; the one with the newest application first.
        newest = list(waiting.newest_first()[: MAX + 1])
        places: dict[int, int] = {}
        for each in newest:
            places.setdefault(each.vacancy_id, len(places))
        shown = sorted(newest[:MAX], key=lambda each: places[each.vacancy_id])
        own = Application.objects.visible_to(request.user)
        cards = Scorecard.objects.filter(
            author=request.user, sent_at__isnull=False, application__in=own.values("pk")
        ).select_related("application__vacancy", "application__user")
        context: dict[str, Any] = {
            "media": self.admin.media,
            "vacancies": [
                {"title": title, "candidates": [_shown(each) for each in group]}
                for title, group in groupby(shown, key=lambda each: each.vacancy.title)
            ],
            "has_more": len(newest) > MAX,
            "is_one": chosen is not None,
            "given": [
                {
                    "name": card.application.display_name,
                    "note": card.application.vacancy.title,
                    "verdict": card.get_recommendation_display(),
                    "at": format_date(card.sent_at.date()) if card.sent_at else "",
                    "url": reverse(
                        "admin:applications_application_change", args=[card.application_id]
                    ),
                }
                for card in cards.order_by("-sent_at")[:GIVEN_MAX]
            ],
        }
        template = "admin/applications/application/team/candidates.html"
        return TemplateResponse(
            request, template, self.context(request, _("Your candidates"), **context)
        )


def candidates_url(**query: object) -> str:
    url = reverse("admin:applications_application_yours")
    return f"{url}?{urlencode(query)}" if query else url


def _shown(application: Any) -> dict[str, str]:
    return {
        "name": application.display_name,
        "stage": application.stage_label,
        "at": format_datetime(application.created_at),
        "url": reverse("admin:applications_application_change", args=[application.pk]),
    }
