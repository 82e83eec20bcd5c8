"""The publication actions in the admin: a confirmation page for one vacancy, and changelist actions."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobsite.admin.base import JobsiteAdmin, action_parameters, as_id
from jobsite.ops.commands import dry_run
from vacancies.admin.list_filters import COUNTED
from vacancies.admin.public_changes import public_changes
from vacancies.admin.publication_actions import ACTIONS, BY_NAME, PublicationAction
from vacancies.models import Vacancy
from vacancies.operations import BulkResult
from vacancies.quality import content_warnings, with_warnings
from vacancies.querysets import VacancyQuerySet

REASONS_SHOWN = 10


def changelist_action(action: PublicationAction) -> Any:
    """Return `action` as an action of the changelist."""

    @admin.action(description=action.label, permissions=[action.permission])
    def run(page: "PublicationActionsAdmin", request: HttpRequest, queryset: VacancyQuerySet) -> Any:
        return page.run_for_many(request, queryset, action)

    run.__name__ = f"{action.name}_selected"
    return run


class PublicationActionsAdmin(JobsiteAdmin):
    """The pages of the publication actions: one per action for a single vacancy, and changelist actions."""

    actions: Any = [changelist_action(action) for action in ACTIONS]

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<path:object_id>/{action.name}/",
                self.admin_site.admin_view(self.action_view),
                {"name": action.name},
                name=f"vacancies_vacancy_{action.name}",
            )
            for action in ACTIONS
        ]
        return [*own, *super().get_urls()]

    def may(self, action: PublicationAction, request: HttpRequest, vacancy: Vacancy | None = None) -> bool:
        if action.permission == "add":
            return self.has_add_permission(request)
        return self.has_change_permission(request, vacancy)

    def buttons(self, request: HttpRequest, vacancy: Vacancy) -> list[dict[str, Any]]:
        """Return the buttons of the actions that apply to `vacancy`."""
        return [
            {
                "label": action.label,
                "icon": action.icon,
                "is_main": action.is_main,
                "url": reverse(f"admin:vacancies_vacancy_{action.name}", args=[vacancy.pk]),
            }
            for action in ACTIONS
            if vacancy.state in action.states and self.may(action, request, vacancy)
            if vacancy.publish_until or action is not BY_NAME["extend"]  # needs a closing date
            if action.with_approval in (None, bool(vacancy.brand and vacancy.brand.requires_approval))
        ]

    # --- a single vacancy ---

    def action_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """GET shows a confirmation page with blockers, warnings and public changes. POST runs the action."""
        action = BY_NAME[name]
        vacancy = get_object_or_404(self.get_queryset(request), pk=as_id(object_id))
        if not self.may(action, request, vacancy):
            raise PermissionDenied
        vacancies = Vacancy.objects.filter(pk=vacancy.pk)
        form = action.form(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            result = self.run_action(request, action, vacancies, form)
            target = result.done[0] if action.permission == "add" and result.done else vacancy.pk
            return redirect("admin:vacancies_vacancy_change", target)
        context = {
            **self.page_context(request, action, form),
            "title": _("%(action)s: %(vacancy)s") % {"action": action.label, "vacancy": vacancy},
            "original": vacancy,
            "publish_blockers": [] if form.fields else self.publish_blockers(action, vacancies),
            "warnings": [
                warning.text
                for warning in content_warnings(with_warnings(vacancies, at=timezone.now()).get())
            ]
            if action.shows_changes
            else [],
            **(public_changes(vacancy, request.user) if action.shows_changes else {}),
            "back": reverse("admin:vacancies_vacancy_change", args=[vacancy.pk]),
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/publication_action.html", context)

    def publish_blockers(self, action: PublicationAction, vacancies: VacancyQuerySet) -> list[str]:
        """Return why the action would be refused, by a dry run."""
        if action.permission == "add":
            return []
        with dry_run(True):
            result = action.run(vacancies=vacancies, at=timezone.now(), author=None)
        return [reason for reasons in result.refused.values() for reason in reasons.values()]

    # --- changelist ---

    def run_for_many(self, request: HttpRequest, queryset: VacancyQuerySet, action: PublicationAction) -> Any:
        """Run the action. Actions that need a date show a form first."""
        pks = list(queryset.order_by().values_list("pk", flat=True)[: COUNTED + 1])
        if len(pks) > COUNTED:
            text = _("Nothing was changed. Choose at most %(count)d vacancies at a time.") % {
                "count": COUNTED
            }
            self.message_user(request, text, messages.WARNING)
            return None
        vacancies = Vacancy.objects.filter(pk__in=pks)
        form = action.form(
            request.POST if "confirmed" in request.POST or not action.form.base_fields else None
        )
        if form.is_valid():
            self.run_action(request, action, vacancies, form)
            return None
        context = {
            **self.page_context(request, action, form),
            "title": action.label,
            "subtitle": ngettext("%(count)d vacancy", "%(count)d vacancies", len(pks)) % {"count": len(pks)},
            "some": list(vacancies.without_texts()[:REASONS_SHOWN]),
            "more": len(pks) - REASONS_SHOWN,
            "repeated": action_parameters(request),
            "back": request.get_full_path(),
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/publication_action.html", context)

    # --- shared ---

    def page_context(
        self, request: HttpRequest, action: PublicationAction, form: forms.Form
    ) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "media": self.media + form.media,
            "action": action,
            "form": form,
        }

    def run_action(
        self, request: HttpRequest, action: PublicationAction, vacancies: VacancyQuerySet, form: forms.Form
    ) -> BulkResult:
        """Run the action. Report how many vacancies changed, and which did not and why."""
        result = action.run(vacancies=vacancies, at=timezone.now(), author=request.user, **form.cleaned_data)
        if count := len(result.done):
            self.message_user(request, action.done % {"count": count}, messages.SUCCESS)
        for vacancy, reasons in list(result.refused.items())[:REASONS_SHOWN]:
            text = _("“%(vacancy)s” was not changed. %(reason)s") % {
                "vacancy": vacancy, "reason": " ".join(reasons.values()),
            }  # fmt: skip
            self.message_user(request, text, messages.WARNING)
        if (more := len(result.refused) - REASONS_SHOWN) > 0:
            text = ngettext(
                "%(count)d more vacancy was not changed.", "%(count)d more vacancies were not changed.", more
            )
            self.message_user(request, text % {"count": more}, messages.WARNING)
        return result
