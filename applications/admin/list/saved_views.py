"""The tabs above the list of applications:
built-in views, and those that a user saved for themselves.
"""

from typing import cast
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, reverse
from django.utils.translation import gettext, gettext_lazy

from jobsite.admin.pages import AdminPages
from jobsite.db.transactions import retry_on_conflict
from jobsite.types import Context, StrOrPromise, UserRequest
from vacancies.admin.list.saved_view_pages import LONGEST, TOO_LONG, stored_query
from vacancies.models import SavedView

PAGE = "applications.application"
BUILT_IN: tuple[tuple[StrOrPromise, dict[str, str]], ...] = (
    (gettext_lazy("All applications"), {}),
    (gettext_lazy("To read"), {"read": "no"}),
    (gettext_lazy("Without a decision for a week"), {"decision": "none"}),
)
NAME_MAX = cast("int", SavedView._meta.get_field("name").max_length)


def filters_of(text: str) -> str:
    """Return the filters and the order of the query string `text`, without the words of a search:
    they may be names of applicants.
    """
    query = QueryDict(text.removeprefix("?"), mutable=True)
    query.pop("q", None)
    return stored_query(query.urlencode())


class ApplicationViews(AdminPages):
    def urls(self) -> list[URLPattern]:
        return [
            self.url("views/add/", self.add_view, "view_add"),
            self.url("views/<int:pk>/delete/", self.delete_view, "view_delete"),
        ]

    def context(self, request: UserRequest) -> Context:  # type: ignore[override]
        """Return what the list shows above its rows."""
        current = filters_of(request.GET.urlencode())
        own = SavedView.objects.filter(owner=request.user.pk, page=PAGE)
        saved = [(str(view), view.query, view) for view in own]
        tabs = [(str(label), urlencode(query), None) for label, query in BUILT_IN] + saved
        return {
            "view_tabs": [
                {"label": label, "url": f"?{query}", "is_current": query == current}
                for label, query, _view in tabs
            ],
            "current_view": next((view for _label, query, view in saved if query == current), None),
            "current_query": current,
            "may_save_view": current not in {query for _label, query, _view in tabs},
        }

    def add_view(self, request: UserRequest) -> HttpResponse:
        """POST `name` and `query` save a view."""
        self._check(request)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        query = filters_of(request.POST.get("query", ""))
        # Of two requests at the same time, the second one gets the error.
        error = retry_on_conflict(lambda: self._save(request, query))
        if error:
            self.admin.message_user(request, error, messages.ERROR)
        return redirect(f"{reverse('admin:applications_application_changelist')}?{query}")

    def _save(self, request: UserRequest, query: str) -> str:
        """Save a view, or return why it cannot be saved."""
        name = " ".join(request.POST.get("name", "").split())
        if not name or len(name) > NAME_MAX:
            return gettext("Enter a name of 1 to %(max)s characters.") % {"max": NAME_MAX}
        if not query:
            return gettext("Choose filters first: this list has none.")
        if len(query) > LONGEST:
            return str(TOO_LONG)
        if SavedView.objects.filter(owner=request.user.pk, name=name).exists():
            return gettext("You already have a view with this name.")
        SavedView.objects.create(owner_id=request.user.pk, page=PAGE, name=name, query=query)
        return ""

    def delete_view(self, request: UserRequest, pk: int) -> HttpResponse:
        self._check(request)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        view = get_object_or_404(SavedView, pk=pk, owner=request.user.pk, page=PAGE)
        view.delete()
        text = gettext("The view “%(view)s” was deleted.") % {"view": view}
        self.admin.message_user(request, text, messages.SUCCESS)
        return redirect("admin:applications_application_changelist")

    def _check(self, request: UserRequest) -> None:
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
