"""The dashboard of the admin: counts by status, what needs attention, and recent changes."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from jobsite.formats import format_datetime
from vacancies.admin.base import closing_date_of
from vacancies.admin.list_filters import ENDING, REASONS, attention
from vacancies.admin.versions import readable_by
from vacancies.models import State, Vacancy

COUNTED = 1000  # larger counts are shown as "1000+"
SHOWN = 5


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the vacancies of the user's brands to the context of the admin index, if the user may view them."""
    if not request.user.has_perm("vacancies.view_vacancy"):
        return context
    now = timezone.now()
    own = Vacancy.objects.workable_by(request.user)
    scheduled = own.in_state(State.SCHEDULED, at=now).order_by("publish_from", "pk")
    ending = attention(own, ENDING).order_by("publish_until", "pk")
    states = {State.PUBLISHED: own.in_state(State.PUBLISHED, at=now), State.SCHEDULED: scheduled} | {
        state: own.in_state(state, at=now) for state in (State.DRAFT, State.EXPIRED)
    }
    return context | {
        "title": _("Dashboard"),
        "states": [
            {"state": state, "count": counted(rows), "url": address(state=state)}
            for state, rows in states.items()
        ],
        "attention": [
            {"label": label, "count": count, "url": address(attention=code)}
            for code, label in REASONS
            if (count := counted(attention(own, code)))
        ],
        "coming": [
            {
                "title": _("Going live soon"),
                "none": _("Nothing is scheduled."),
                "rows": [
                    (row, format_datetime(row.publish_from)) for row in titles(scheduled, "publish_from")
                ],
            },
            {
                "title": _("Closing soon"),
                "none": _("Nothing closes within a week."),
                "rows": [(row, closing_date_of(row)) for row in titles(ending, "publish_until")],
            },
        ],
        "latest": latest(request),
        "may_add": request.user.has_perm("vacancies.add_vacancy"),
    }


def counted(rows: Any) -> str:
    """Return the number of rows as text: "1000+" for more than `COUNTED`, "" for none."""
    count = rows.order_by()[: COUNTED + 1].count()
    return f"{COUNTED}+" if count > COUNTED else str(count or "")


def titles(rows: Any, date_field: str) -> Any:
    return rows.only("title", date_field)[:SHOWN]


def latest(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the last changes that users made to existing vacancies, one per vacancy."""
    versions = readable_by(request.user).exclude(author=None).select_related("author")
    rows = list(versions.defer("content").order_by("-pk")[: SHOWN * 4])
    own = Vacancy.objects.workable_by(request.user)
    existing = own.only("title").in_bulk({row.vacancy_id for row in rows})
    seen: dict[int, dict[str, Any]] = {}
    for row in rows:
        if vacancy := existing.get(row.vacancy_id):
            change = {"vacancy": vacancy, "version": row, "created_at": format_datetime(row.created_at)}
            seen.setdefault(row.vacancy_id, change)
    return list(seen.values())[:SHOWN]


def address(**filters: str) -> str:
    return f"{reverse('admin:vacancies_vacancy_changelist')}?{urlencode(filters)}"
