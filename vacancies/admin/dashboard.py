"""The start page: figures, what needs attention, the calendar and recent changes of vacancies.

Its cost does not depend on the number of vacancies (docs/decisions.md #201)."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from jobsite.admin.charts import sparkline
from jobsite.admin.once import once_per_request
from jobsite.text.formats import format_datetime
from jobsite.types import UserRequest
from vacancies.access.brands import brands_of, readable_by
from vacancies.admin.calendar import calendar
from vacancies.admin.list.filters import APPROVAL, REASONS
from vacancies.choices import State, VacancyStatus
from vacancies.models import APPROVE, DailyVacancies, Vacancy, waiting_for_approval
from vacancies.statistics.counts import STATES, counts_for
from vacancies.statistics.reading import Days, by_day, in_parts, last_recorded

MAX_ROWS = 5
TREND = 90  # days
WEEK = 7


@once_per_request
def approves(request: UserRequest) -> bool:
    """Whether the menu of the user has the requests for approval."""
    strict = brands_of(request.user).filter(requires_approval=True)
    return request.user.has_perm(APPROVE) and strict.exists()


@once_per_request
def waiting_count(request: UserRequest) -> int:
    """Return the number of the user's vacancies that wait for approval, as their list has it. It is
    never a stored one: somebody waits for it.
    """
    own = Vacancy.objects.editable_by(request.user).exclude(status=VacancyStatus.ARCHIVED)
    return waiting_for_approval(own).count()


def waiting_badge(request: UserRequest) -> str:
    return format_count(waiting_count(request)) if approves(request) else ""


def dashboard(request: UserRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the vacancies of the user's brands to the context of the admin index, if the user may
    view them.
    """
    if not request.user.has_perm("vacancies.view_vacancy"):
        return context
    now = timezone.now()
    counts = counts_for(request.user, at=now)
    numbers = {**counts.numbers, APPROVAL: waiting_count(request)}
    trends = vacancy_trends(request.user)
    return context | {
        "states": [
            {
                "state": state,
                "count": format_count(numbers.get(state.value, 0)),
                "url": address(state=state),
                "trend": trends.get(state),
            }
            for state in STATES
        ],
        "trends": [trends[name] for name in ("went_live", "closed") if name in trends],
        "counted_at": format_datetime(counts.counted_at) if counts.counted_at else "",
        "attention": [
            {"label": label, "count": format_count(count), "url": address(attention=code)}
            for code, label in REASONS
            if (count := numbers.get(code, 0))
        ],
        "calendar": calendar(request, Vacancy.objects.editable_by(request.user), at=now),
        "latest": latest(request),
        "may_add": request.user.has_perm("vacancies.add_vacancy"),
    }


def format_count(count: int) -> str:
    """Return `count` as text, "" for none."""
    return number_format(count, force_grouping=True) if count else ""


def vacancy_trends(user: User) -> dict[str, dict[str, object]]:
    """Return the trends of the last 90 recorded days; none before the first day is recorded."""
    last = last_recorded()
    if last is None:
        return {}
    own = DailyVacancies.objects.visible_to(user)
    days = Days.until(last, TREND)
    figures = by_day(own, days, "live", "went_live", "closed")
    return {
        State.PUBLISHED: {"chart": sparkline(figures["live"]), "text": in_words(figures["live"])},
        "went_live": weekly(_("Went live in 90 days"), figures["went_live"]),
        "closed": weekly(_("Closed in 90 days"), figures["closed"]),
    }


def weekly(label: str, values: Sequence[int]) -> dict[str, object]:
    """Return the trend of sums by week: numbers of single days vary too much."""
    sums = in_parts(values, WEEK)
    return {
        "label": label,
        "count": format_count(sum(values)) or "0",
        "chart": sparkline(sums),
        "text": _("by week: %(words)s") % {"words": in_words(sums)},
    }


def in_words(values: Sequence[int]) -> str:
    """Return what a sparkline of `values` shows, for screen readers."""
    return _("from %(first)s to %(last)s, lowest %(low)s, highest %(high)s") % {
        "first": values[0],
        "last": values[-1],
        "low": min(values),
        "high": max(values),
    }


def latest(request: UserRequest) -> list[dict[str, object]]:
    """Return the last changes that users made to existing vacancies, one per vacancy."""
    versions = readable_by(request.user).exclude(author=None).select_related("author")
    rows = list(versions.defer("content").order_by("-pk")[: MAX_ROWS * 4])
    own = Vacancy.objects.editable_by(request.user)
    existing = own.only("title").in_bulk({row.vacancy_id for row in rows})
    seen: dict[int, dict[str, object]] = {}
    for row in rows:
        if vacancy := existing.get(row.vacancy_id):
            change = {
                "vacancy": vacancy,
                "version": row,
                "created_at": format_datetime(row.created_at),
            }
            seen.setdefault(row.vacancy_id, change)
    return list(seen.values())[:MAX_ROWS]


def address(**filters: str) -> str:
    return f"{reverse('admin:vacancies_vacancy_changelist')}?{urlencode(filters)}"
