"""The publication actions of the list of vacancies: confirmation, result, undo."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobsite.admin.base import as_id
from jobsite.admin.selection import way_back
from jobsite.types import UserRequest
from vacancies.access.brands import forms_for
from vacancies.admin.publication.actions import ACTIONS, BY_NAME, PublicationAction
from vacancies.admin.publication.pages import PublicationPages, sections
from vacancies.admin.publication.selection import MAX_SELECTED, VacancySelection
from vacancies.models import Change, Vacancy, Version
from vacancies.operations.undo import undo_versions, versions_of_action
from vacancies.querysets import VacancyQuerySet, own_brand

LIST = "admin:vacancies_vacancy_changelist"
# The permission, else "change".
UNDO_NEEDS: dict[str, str] = {
    Change.DELETED: "add",
    Change.CREATED: "delete",
    Change.DUPLICATED: "delete",
}


def changelist_action(action: PublicationAction) -> Callable:
    """Return `action` as an action of the changelist. It shows the confirmation page."""

    @admin.action(description=action.label, permissions=[action.permission])
    def ask(
        model_admin: ModelAdmin, request: UserRequest, queryset: VacancyQuerySet
    ) -> HttpResponse | None:
        return BulkPublicationPages(model_admin).ask(request, queryset, action)

    ask.__name__ = f"{action.name}_selected"
    return ask


class BulkPublicationPages(PublicationPages):
    """The pages of the publication actions for chosen rows of the list."""

    def urls(self) -> list[URLPattern]:
        bulk = [
            self.url(f"bulk/{name}/", self.bulk_view, f"bulk_{name}", name=name) for name in BY_NAME
        ]
        return [*bulk, self.url("undo/<int:number>/", self.undo_view, "undo")]

    def ask(
        self, request: UserRequest, queryset: VacancyQuerySet, action: PublicationAction
    ) -> HttpResponse | None:
        """Return the confirmation page for the chosen vacancies."""
        selection = VacancySelection.of(queryset, limit=MAX_SELECTED + 1)
        if len(selection) > MAX_SELECTED:
            text = _("Nothing was changed. Choose at most %(count)d vacancies at a time.") % {
                "count": MAX_SELECTED
            }
            self.admin.message_user(request, text, messages.WARNING)
            return None
        if not selection:  # deleted in the meantime
            self.admin.message_user(
                request, _("Nothing was changed. Choose at least one vacancy."), messages.WARNING
            )
            return None
        return self._confirmation(
            request, action, selection, action.form(), request.get_full_path()
        )

    def bulk_view(self, request: UserRequest, name: str) -> HttpResponse:
        """POST: run the action on `vacancies`, which the confirmation page named."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        action = BY_NAME[name]
        if not self.may(action, request):
            raise PermissionDenied
        selection = VacancySelection.sent_by(request, self.admin.get_queryset(request))
        back = way_back(request, reverse(LIST))
        form = action.form(request.POST)
        if not form.is_valid():
            return self._confirmation(request, action, selection, form, back)
        vacancies = Vacancy.objects.filter(pk__in=list(selection.seen))
        result = self.run_action(request, action, vacancies, form, selection)
        self.report(request, action, result, back)
        return redirect(without_attention(back) if result.done else back)

    def _confirmation(
        self,
        request: UserRequest,
        action: PublicationAction,
        selection: VacancySelection,
        form: forms.Form,
        back: str,
    ) -> HttpResponse:
        vacancies = Vacancy.objects.filter(pk__in=list(selection.seen))
        listed = sections(action, vacancies)
        count = ngettext("%(count)d vacancy", "%(count)d vacancies", len(selection))
        context = {
            **self.page_context(request, action, form, action.label),
            "subtitle": count % {"count": len(selection)},
            "sections": listed,
            "action_url": reverse(f"admin:vacancies_vacancy_bulk_{action.name}"),
            "selection": selection,
            "back": back,
            "is_refused": not any(section.is_changed for section in listed),
        }
        return TemplateResponse(request, "admin/confirm_action.html", context)

    def undo_view(self, request: UserRequest, number: int) -> HttpResponse:
        """POST: undo what the user did by one action, of which `number` is the first version."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        back = way_back(request, reverse(LIST))
        now = timezone.now()
        action = versions_of_action(as_id(number) or 0, author=request.user, at=now)
        versions = own_versions(request.user, action)
        changes = versions.order_by().values_list("change", flat=True).distinct()
        needed = {UNDO_NEEDS.get(change, "change") for change in changes} or {"view"}
        if not all(self.has_right(verb, request) for verb in needed):
            raise PermissionDenied
        result = undo_versions(versions, author=request.user, at=now, forms=forms_for(request.user))
        if count := len(result.done):
            text = ngettext(
                "Undone for %(count)d vacancy.", "Undone for %(count)d vacancies.", count
            )
            self.admin.message_user(request, text % {"count": count}, messages.SUCCESS)
        for vacancy, note in result.notes.items():
            self.admin.message_user(request, f"“{vacancy}”: {note}", messages.WARNING)
        self.report_refused(request, result)
        if not (result.done or result.refused or result.notes):
            text = _(
                "Nothing to undo. An action can be undone for half an hour, by the user who did it."
            )
            self.admin.message_user(request, text, messages.WARNING)
        return redirect(back)


CHANGELIST_ACTIONS = tuple(map(changelist_action, ACTIONS))


def without_attention(back: str) -> str:
    """Return the list without the filter "needs attention", which the vacancies may not pass any
    more.
    """
    parts = urlsplit(back)
    query = QueryDict(parts.query, mutable=True)
    if not query.pop("attention", None):
        return back
    query["view"] = "all"  # the filters of a saved view would come back
    return parts._replace(query=query.urlencode()).geturl()


def own_versions(user: User, versions: QuerySet[Version]) -> QuerySet[Version]:
    """Return those of `versions` whose vacancy belonged to a brand of `user` then, and now if it
    exists.
    """
    versions = versions.filter(own_brand(user))
    own = Vacancy.objects.editable_by(user).filter(pk=OuterRef("pk"))
    there = Vacancy.objects.filter(pk__in=versions.order_by().values("vacancy"))
    return versions.exclude(
        vacancy__in=list(there.exclude(Exists(own)).values_list("pk", flat=True))
    )
