"""The tabs above the list of vacancies: built-in and saved views, and what each user has chosen."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.views.main import ERROR_FLAG, ORDER_VAR, PAGE_VAR
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobsite.text.names import person
from vacancies.admin.change_list import EDIT_VAR, VIEW_VAR
from vacancies.admin.list_columns import EDITED_COLUMNS, TITLE
from vacancies.admin.list_filters import ENDING
from vacancies.admin.saved_view_pages import (
    ALL,
    SavedViewPagesAdmin,
    address_of,
    chosen_view,
    may_change,
    preference_of,
    stored_query,
    views_of,
)
from vacancies.models import SavedView

BUILT_IN = (
    (gettext_lazy("All vacancies"), {VIEW_VAR: ALL}),
    (gettext_lazy("Mine"), {VIEW_VAR: ALL, "mine": "1"}),
    (gettext_lazy("Closing this week"), {VIEW_VAR: ALL, "attention": ENDING, ORDER_VAR: "last_day"}),
    (gettext_lazy("Drafts"), {VIEW_VAR: ALL, "state": "draft"}),
)


class SavedViewsAdmin(SavedViewPagesAdmin):
    list_before_template = "admin/vacancies/vacancy/list_before.html"

    def get_list_display(self, request: HttpRequest) -> Any:
        view = chosen_view(request)
        chosen = view.columns if view and view.columns else preference_of(request).columns
        edited = EDITED_COLUMNS if EDIT_VAR in request.GET else ()
        order = (part.removeprefix("-") for part in request.GET.get(ORDER_VAR, "").split("."))
        by = (name for name in order if name in self.offered_columns(request))
        return tuple(dict.fromkeys((TITLE, *self.shown_columns(request, chosen), *edited, *by)))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Open the default view, or the filters of the view that the address names. Filters of a view that
        are no longer valid give a message."""
        if request.method == "GET" and set(request.GET) <= {VIEW_VAR} and self.has_view_permission(request):
            is_named = VIEW_VAR in request.GET
            view = chosen_view(request) if is_named else self._default_view(request)
            if view and (view.query or not is_named):
                return redirect(address_of(view))
            if not view and request.GET.get(VIEW_VAR, ALL) != ALL:
                text = _("This view no longer exists, or is not shared.")
                self.message_user(request, text, messages.WARNING)
                return redirect(f"{request.path}?{VIEW_VAR}={ALL}")
        if not self.has_view_permission(request):
            raise PermissionDenied
        view = chosen_view(request) if request.method == "GET" and PAGE_VAR not in request.GET else None
        try:
            response = super().changelist_view(request, self._list_context(request) | (extra_context or {}))
        except SuspiciousOperation:
            if not view:
                raise
            response = None
        if view and (response is None or response.get("Location", "").endswith(f"?{ERROR_FLAG}=1")):
            text = _("The filters of the view “%(view)s” are no longer valid. All vacancies are shown.")
            self.message_user(request, text % {"view": view}, messages.WARNING)
            return redirect(f"{request.path}?{VIEW_VAR}={ALL}")
        return response

    def _default_view(self, request: HttpRequest) -> SavedView | None:
        view = preference_of(request).default_view
        return view if view and (view.is_shared or view.owner_id == request.user.pk) else None

    def _list_context(self, request: HttpRequest) -> dict[str, Any]:
        view, preference = chosen_view(request), preference_of(request)
        columns = self.get_list_display(request)
        current = stored_query(request.GET.urlencode())
        tabs = [
            {
                "label": label,
                "url": f"?{urlencode(query)}",
                "is_current": view is None and current == stored_query(urlencode(query)),
            }
            for label, query in BUILT_IN
        ]
        tabs += [
            {
                "label": each.name,
                "url": address_of(each),
                "is_current": view is not None and each.pk == view.pk,
                "note": self._note(request, each),
            }
            for each in views_of(request)
        ]
        return {
            "view_tabs": tabs,
            "current_view": view,
            "current_query": current,
            "is_view_changed": view is not None and current != view.query,
            "may_change_view": view is not None and may_change(request.user, view),
            "may_share_views": self.has_change_permission(request),
            "offered_columns": [
                {"name": name, "label": self.column_label(name), "is_shown": name in columns}
                for name in self.offered_columns(request)
            ],
            "shown_columns": columns[1:],
            "has_shortcuts": preference.has_shortcuts,
        }

    def _note(self, request: HttpRequest, view: SavedView) -> str:
        """Return whose view it is, for a shared one."""
        if view.owner_id == request.user.pk:
            return _("shared") if view.is_shared else ""
        return _("shared by %(person)s") % {"person": person(view.owner)} if view.owner else _("shared")
