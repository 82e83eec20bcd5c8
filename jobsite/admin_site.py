"""The site of the admin: unfold's, with our sign-in, search and links to public pages."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.db.models import Case, Model, When
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.functional import SimpleLazyObject
from unfold.forms import AdminOwnPasswordChangeForm
from unfold.sites import UnfoldAdminSite

from jobsite.accounts.lockout import limited
from jobsite.accounts.pages import PasswordView
from jobsite.types import Context

SIGN_IN: list[Callable] = [limited]
if "allauth" in settings.INSTALLED_APPS:  # the account pages ask for the second factor
    from allauth.account.decorators import secure_admin_login

    from jobsite.accounts.sign_in import redirects_login

    SIGN_IN = [secure_admin_login, redirects_login, limited]


FOUND = 1_000  # rows, whose best are offered
OFFERED = 200


class AutocompleteView(AutocompleteJsonView):
    def get_queryset(self) -> Any:
        """Return the rows whose names fit best first, as the search in the header does."""
        from vacancies.search.rows import best_first  # apps are not loaded yet

        rows, page = super().get_queryset(), self.model_admin
        if not (self.term.strip() and page.search_fields):
            return rows
        columns = {"title": ("title_folded", "reference")}.get(
            page.search_fields[0], page.search_fields[:1]
        )
        pks = best_first(rows, self.term, *columns, number=FOUND)[:OFFERED]
        order = Case(*(When(pk=pk, then=place) for place, pk in enumerate(pks)))
        return rows.filter(pk__in=pks).order_by(order) if pks else rows.none()

    def serialize_result(self, obj: Model, to_field_name: str) -> dict[str, str]:
        page: Any = self.model_admin
        return super().serialize_result(obj, to_field_name) | {"text": page.choice_label(obj)}


class AdminSite(UnfoldAdminSite):
    def index(self, request: HttpRequest, extra_context: Context | None = None) -> HttpResponse:
        """Who only judges applications starts with them."""
        from applications.access import sees_whole  # apps are not loaded yet

        user: Any = request.user
        if user.has_perm("applications.view_application") and not sees_whole(user):
            return redirect("admin:applications_application_yours")
        return super().index(request, extra_context)

    @method_decorator(SIGN_IN)
    def login(self, request: HttpRequest, extra_context: Context | None = None) -> HttpResponse:
        return super().login(request, extra_context)

    @method_decorator(limited)
    def password_change(
        self, request: HttpRequest, extra_context: Context | None = None
    ) -> HttpResponseBase:
        view = PasswordView.as_view(
            form_class=AdminOwnPasswordChangeForm,
            success_url=reverse_lazy("admin:password_change_done"),
            extra_context=self.each_context(request) | (extra_context or {}),
        )
        return view(request)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Set what templates of unfold ask for at every row and do not find, which is slow."""
        return {"nested_inline": False, **super().each_context(request)}

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Make the list when it is read: pages show our menu instead."""
        return SimpleLazyObject(partial(super().get_app_list, request, app_label))

    def get_sidebar_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        """Return our menu. Unfold would copy it, and make a class for each permission."""
        from jobsite.admin.menu import navigation  # its package registers pages with this site

        return navigation(request)

    def autocomplete_view(self, request: HttpRequest) -> HttpResponseBase:
        return AutocompleteView.as_view(admin_site=self)(request)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Put our views before those of unfold and Django with the same paths."""
        # The modules of these views register pages with this site, so they cannot be imported
        # earlier.
        from jobsite.admin.users import view_on_site
        from jobsite.office.search import search

        return [
            path("search/", self.admin_view(search), name="search"),
            path(
                "r/<path:content_type_id>/<path:object_id>/",
                self.admin_view(view_on_site),
                name="view_on_site",
            ),
            *super().get_urls(),
        ]
