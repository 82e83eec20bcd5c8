"""What is new: on the start page and in the menu. `UNFOLD` in settings.py names `dashboard`, and the menu
names `unread_count`. An application is new until somebody who may change it opens its page."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from applications.admin.origins import to_inform
from applications.models import Application, DailyApplications, Stage
from jobsite.text.formats import format_datetime
from jobsite.types import UserRequest
from vacancies.access import scope_to_brands
from vacancies.admin.dashboard import MAX_ROWS, TREND, weekly
from vacancies.admin.dashboard import dashboard as vacancies_dashboard
from vacancies.statistics.reading import Days, by_day, last_recorded

MAX_COUNT = 99  # larger counts are shown as "99+"


def unread(user: User) -> QuerySet:
    """Return the applications that no recruiter has opened yet, of those that `user` may see."""
    return scope_to_brands(user, Application.objects.filter(read_at=None), "vacancy")


def unread_count(request: UserRequest) -> str:
    """Return the number of unread applications as text: "99+" for more than MAX_COUNT, "" for none. One
    query per request."""
    if not hasattr(request, "_unread_applications"):
        count = unread(request.user).order_by()[: MAX_COUNT + 1].count()
        request._unread_applications = f"{MAX_COUNT}+" if count > MAX_COUNT else str(count or "")  # type: ignore[attr-defined]
    return request._unread_applications  # type: ignore[attr-defined]


def waiting_line(user: User) -> dict[str, object] | None:
    """Return how many applications wait too long in their stage, of those that `user` may see. Without stages
    that have a limit, nothing is counted."""
    if not Stage.objects.filter(remind_days__gt=0).exists():
        return None
    rows = scope_to_brands(user, Application.objects.waiting_too_long(at=timezone.now()), "vacancy")
    count = rows.order_by()[: MAX_COUNT + 1].count()
    if not count:
        return None
    return {
        "label": _("Applications that wait too long in their stage"),
        "count": f"{MAX_COUNT}+" if count > MAX_COUNT else str(count),
        "url": f"{reverse('admin:applications_application_changelist')}?waiting=long",
    }


def application_trend(user: User) -> dict[str, object] | None:
    """Return the trend of the last 90 recorded days."""
    last = last_recorded(DailyApplications)
    if last is None:
        return None
    own = DailyApplications.objects.visible_to(user)
    return weekly(_("Applications in 90 days"), by_day(own, Days.until(last, TREND), "received")["received"])


def dashboard(request: UserRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the new applications to the start page of the vacancies."""
    context = vacancies_dashboard(request, context)
    context["reports_url"] = reverse("admin:vacancies_vacancy_reports")
    if not request.user.has_perm("applications.view_application"):
        return context
    # The ids first: they are in an index, from which the newest ones are found without reading the others.
    if trend := application_trend(request.user):
        context["trends"] = [*context.get("trends", []), trend]
    latest = list(unread(request.user).order_by("-created_at", "-pk").values_list("pk", flat=True)[:MAX_ROWS])
    rows = Application.objects.select_related("user", "vacancy").in_bulk(latest)
    if line := waiting_line(request.user):
        context["attention"] = [*context.get("attention", []), line]
    return context | {
        "to_inform": to_inform(request.user),
        "new_applications": {
            "count": unread_count(request),
            "url": f"{reverse('admin:applications_application_changelist')}?read=no",
            "rows": [(rows[pk], format_datetime(rows[pk].created_at)) for pk in latest if pk in rows],
        },
    }
