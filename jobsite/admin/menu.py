"""The menu of the admin, which `AdminSite.get_sidebar_list` returns."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from jobsite.types import StrOrPromise

Item = dict[str, Any]


def page(title: StrOrPromise, icon: str, model: str) -> Item:
    """Return the menu item of the list of `model`, shown to users who may view it."""
    app, name = model.split(".")
    return {
        "title": title,
        "icon": icon,
        "link": reverse(f"admin:{app}_{name}_changelist"),
        "permission": lambda request: request.user.has_perm(f"{app}.view_{name}"),
    }


def is_vacancy_page(request: HttpRequest) -> bool:
    """Whether the item of the vacancies is marked:
    not on pages with an own item, whose URLs are below.
    """
    path = request.path
    vacancies, reports = (
        reverse(f"admin:vacancies_vacancy_{name}") for name in ("changelist", "reports")
    )
    return path.startswith(vacancies) and path != reports and not is_approval_page(request)


def is_approval_page(request: HttpRequest) -> bool:
    is_list = request.path == reverse("admin:vacancies_vacancy_changelist")
    return is_list and request.GET.get("attention") == "approval"


def is_application_page(request: HttpRequest) -> bool:
    """Whether the item of the applications is marked: not on lists with an own item below it."""
    applications, *others = (
        reverse(f"admin:applications_{name}")
        for name in ("application_changelist", "candidate_changelist", "application_yours")
    )
    return request.path.startswith(applications) and request.path not in others


def is_start_page(request: HttpRequest) -> bool:
    return request.path == reverse("admin:index")


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the menu: the daily work, and the settings, which are folded
    (templates/unfold/helpers/app_list.html).
    """
    groups = [("", daily_work()), *settings_by_subject()]
    return [
        {"title": title, "items": list(shown(request, items)), "is_setting": number > 0}
        for number, (title, items) in enumerate(groups)
    ]


def shown(request: HttpRequest, items: list[Item]) -> Iterator[Item]:
    """Yield the items that the user may open, with whether their page is open, and with `count`,
    which the template calls.
    """
    for item in items:
        permission, badge = item.pop("permission", None), item.pop("badge", None)
        if permission and not called(permission)(request):
            continue
        is_active = item.get("active")
        item["active"] = is_active(request) if is_active else item["link"] in request.path
        # Always set: a name that a template does not find costs more than the rest of the item.
        item["count"] = partial(called(badge), request) if badge else ""
        yield item


def called(name: Callable | str) -> Callable:
    """Return the function with this name. The names of other apps are read when a page is shown."""
    return import_string(name) if isinstance(name, str) else name


def daily_work() -> list[Item]:
    vacancies = reverse("admin:vacancies_vacancy_changelist")
    return [
        {
            "title": _("Start"),
            "icon": "home",
            "link": reverse("admin:index"),
            "active": is_start_page,
        },
        page(_("Vacancies"), "work", "vacancies.vacancy") | {"active": is_vacancy_page},
        {
            "title": _("Waiting for approval"),
            "icon": "approval_delegation",
            "link": f"{vacancies}?attention=approval",
            "active": is_approval_page,
            "permission": "vacancies.admin.dashboard.approves",
            "badge": "vacancies.admin.dashboard.waiting_badge",
        },
        {
            "title": _("Your candidates"),
            "icon": "rate_review",
            "link": reverse("admin:applications_application_yours"),
            "permission": "applications.admin.team.yours.has_candidates",
            "badge": "applications.admin.team.yours.waiting_count",
        },
        page(_("Applications"), "inbox", "applications.application")
        | {
            "permission": "applications.admin.team.yours.may_open_list",
            "badge": "jobsite.office.to_do.unread_count",
            "badge_unit": pgettext_lazy("applications", "new"),
            "active": is_application_page,
        },
        page(_("Candidates"), "groups", "applications.candidate")
        | {"permission": "applications.admin.candidates.scope.may_see_candidates"},
        page(_("Interviews and tasks"), "calendar_month", "applications.historyentry"),
        page(_("Emails"), "mail", "applications.message"),
        page(_("Reports"), "bar_chart", "vacancies.vacancy")
        | {"link": reverse("admin:vacancies_vacancy_reports")},
    ]


def settings_by_subject() -> list[tuple[StrOrPromise, list[Item]]]:
    return [
        (
            _("Vacancies"),
            [
                page(_("Vacancy templates"), "content_paste", "vacancies.vacancytemplate"),
                page(_("Application forms"), "dynamic_form", "forms_structure.form"),
                page(_("Consent texts"), "verified_user", "forms_structure.consenttext"),
                page(_("Filters"), "filter_list", "vacancies.filter"),
                page(_("Filter options"), "label", "vacancies.filteroption"),
                page(_("Brands"), "storefront", "vacancies.brand"),
                page(_("Links of brands"), "link", "vacancies.brandlink"),
                page(_("Recruiters"), "badge", "vacancies.recruiter"),
            ],
        ),
        (
            _("Applicants"),
            [
                page(_("Email templates"), "drafts", "applications.mailtemplate"),
                {
                    "title": _("My emails"),
                    "icon": "notifications",
                    "link": reverse("admin:my_emails"),
                    "permission": "applications.admin.catalogue.my_emails.may_open",
                },
                page(_("Stages"), "checklist", "applications.stage"),
                page(_("Reasons"), "help_center", "applications.reason")
                | {
                    "permission": lambda request: request.user.has_perm(
                        "applications.change_reason"
                    )
                },
                page(_("Candidate-facing statuses"), "translate", "applications.status"),
            ],
        ),
        (
            _("Access"),
            [
                page(_("Tokens"), "key", "applications.token"),
                page(_("Integrations"), "hub", "vacancies.integration"),
                page(_("Webhooks"), "webhook", "vacancies.webhook"),
                page(_("API documentation"), "api", "applications.token")
                | {"link": reverse("docs")},
                page(_("Access log"), "policy", "applications.accesslog"),
                page(_("Users"), "person", "auth.user"),
                page(_("Groups"), "group", "auth.group"),
            ],
        ),
    ]
