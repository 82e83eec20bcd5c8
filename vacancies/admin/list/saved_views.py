"""The tabs above the list of vacancies: built-in and saved views, and what each user has chosen."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.views.main import ORDER_VAR
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from jobsite.text.names import person
from jobsite.types import Context, UserRequest
from vacancies.admin.list.change_list import EDIT_VAR, VIEW_VAR
from vacancies.admin.list.filters import ENDING
from vacancies.admin.list.saved_view_pages import (
    ALL,
    address_of,
    chosen_view,
    may_change,
    preference_of,
    stored_query,
    views_of,
)
from vacancies.models import ListPreference, SavedView

EDITED_COLUMNS = ("last_day", "hot")  # shown while the list is edited
BUILT_IN = (
    (gettext_lazy("All vacancies"), {VIEW_VAR: ALL}),
    (pgettext_lazy("vacancies", "Mine"), {VIEW_VAR: ALL, "mine": "1"}),
    (
        gettext_lazy("Closing this week"),
        {VIEW_VAR: ALL, "attention": ENDING, ORDER_VAR: "last_day"},
    ),
    (gettext_lazy("Drafts"), {VIEW_VAR: ALL, "state": "draft"}),
)


class SavedViews:
    """What the list of `request` shows: a saved view or none, with its columns and tabs."""

    def __init__(self, admin: Any, request: UserRequest) -> None:
        self.admin, self.request = admin, request

    @cached_property
    def view(self) -> SavedView | None:
        return chosen_view(self.request)

    @cached_property
    def preference(self) -> ListPreference:
        return preference_of(self.request.user)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: those of the view, else those that the user has chosen."""
        admin, sent = self.admin, self.request.GET
        chosen = self.view.columns if self.view and self.view.columns else self.preference.columns
        offered = admin.offered_columns(self.request)
        known = [name for name in chosen if name in offered] if isinstance(chosen, list) else []
        shown = known or [name for name in admin.default_columns if name in offered]
        edited = EDITED_COLUMNS if EDIT_VAR in sent else ()
        order = (part.removeprefix("-") for part in sent.get(ORDER_VAR, "").split("."))
        return tuple(
            dict.fromkeys(("title", *shown, *edited, *(name for name in order if name in offered)))
        )

    def redirect(self) -> HttpResponse | None:
        """Return the way to the default view, or to the filters of the view that
        the address names.
        """
        request = self.request
        is_plain = request.method == "GET" and set(request.GET) <= {VIEW_VAR}
        if not (is_plain and self.admin.has_view_permission(request)):
            return None
        is_named = VIEW_VAR in request.GET
        view = self.view if is_named else self._default_view()
        if view and (view.query or not is_named):
            return redirect(address_of(view))
        if not view and request.GET.get(VIEW_VAR, ALL) != ALL:
            text = _("This view no longer exists, or is not shared.")
            self.admin.message_user(request, text, messages.WARNING)
            return redirect(f"{request.path}?{VIEW_VAR}={ALL}")
        return None

    def _default_view(self) -> SavedView | None:
        view = self.preference.default_view
        return view if view and (view.is_shared or view.owner_id == self.request.user.pk) else None

    def context(self) -> Context:
        """Return what the template shows above the list."""
        admin, request, view, columns = self.admin, self.request, self.view, self.columns
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
                "note": self._note(each),
            }
            for each in views_of(request.user)
        ]
        return {
            "view_tabs": tabs,
            "current_view": view,
            "current_query": current,
            "is_view_changed": view is not None and current != view.query,
            "may_change_view": view is not None and may_change(request.user, view),
            "may_share_views": admin.has_change_permission(request),
            "offered_columns": [
                {"name": name, "label": admin.column_label(name), "is_shown": name in columns}
                for name in admin.offered_columns(request)
            ],
            "shown_columns": columns[1:],
            "has_shortcuts": self.preference.has_shortcuts,
        }

    def _note(self, view: SavedView) -> str:
        """Return whose view it is, for a shared one."""
        if view.owner_id == self.request.user.pk:
            return _("shared") if view.is_shared else ""
        return (
            _("shared by %(person)s") % {"person": person(view.owner)}
            if view.owner
            else _("shared")
        )
