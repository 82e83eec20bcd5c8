"""The start page: what to do today (to_do.py) above the figures, the calendar and the changes of
vacancies. `UNFOLD` in settings.py names `dashboard`.
"""

from datetime import date
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _

from applications.models import DailyApplications
from jobsite.office.reporting.form import presets
from jobsite.office.to_do import to_do
from jobsite.ops.jobs import is_stopped, late
from jobsite.text.formats import format_datetime
from jobsite.types import JsonObject, UserRequest
from vacancies.admin.dashboard import TREND, weekly
from vacancies.admin.dashboard import dashboard as vacancies_dashboard
from vacancies.models import Webhook
from vacancies.statistics.reading import Days, by_day, last_recorded

ADMINISTRATES = "auth.change_group"  # of the roles, only administrators may


def application_trend(user: User, last: date) -> dict[str, object]:
    """Return the trend of the 90 days until `last`."""
    own = DailyApplications.objects.visible_to(user)
    return weekly(
        _("Applications in 90 days"), by_day(own, Days.until(last, TREND), "received")["received"]
    )


def report_of_last_month(last: date) -> str:
    """Return the address of the table of last month's applications by vacancy and source."""
    [_this_month, (_name, days), *_others] = presets(last)
    query = urlencode({"since": days.first, "until": days.last})
    return f"{reverse('admin:vacancies_vacancy_reports')}?{query}#report-vacancies-sources"


def problems(user: User) -> list[str]:
    """Return what administrators are told about `deliver`: that it does not run, or which job
    fails; and which webhooks do not send.
    """
    if not user.has_perm(ADMINISTRATES):
        return []
    return [*_jobs(), *_webhooks()]


def _webhooks() -> list[str]:
    failed = _("The webhook %(name)s failed: its receiver cannot be reached.")
    texts = {"failed": failed, "paused": _("The webhook %(name)s is paused.")}
    link = '<a class="text-link" href="{}">{}</a>'
    return [
        format_html(
            link,
            reverse("admin:vacancies_webhook_change", args=[webhook.pk]),
            texts[webhook.state] % {"name": webhook},
        )
        for webhook in Webhook.objects.filter(state__in=texts)
    ]


def _jobs() -> list[str]:
    jobs = late(timezone.now())
    if jobs is None:
        return [_("Emails are not being sent: “manage.py deliver” has not run yet.")]
    if jobs and is_stopped(jobs):
        at = format_datetime(jobs[-1].completed_at)
        return [
            _("Emails are not being sent: “manage.py deliver” last ran on %(at)s.") % {"at": at}
        ]
    text = _("A part of “manage.py deliver” fails: %(job)s, since %(at)s (%(error)s).")
    return [
        text % {"job": row.name, "at": format_datetime(row.completed_at), "error": row.error or "-"}
        for row in jobs
    ]


def dashboard(request: UserRequest, context: JsonObject) -> JsonObject:
    context = vacancies_dashboard(request, context)
    may_see_vacancies = "states" in context
    may_see_applications = request.user.has_perm("applications.view_application")
    if not (may_see_vacancies or may_see_applications):
        return context
    attention = context.get("attention", [])
    parts = to_do(request, attention)
    context |= {
        "title": _("Today"),
        "problems": problems(request.user),
        "to_do": parts,
        "attention": [
            each for each in attention if each["url"] not in {part.url for part in parts}
        ],
        "reports_url": reverse("admin:vacancies_vacancy_reports"),
    }
    if may_see_applications and (last := last_recorded(DailyApplications)):
        context["trends"] = [*context.get("trends", []), application_trend(request.user, last)]
        if may_see_vacancies:
            context["last_month_url"] = report_of_last_month(last)
    return context
