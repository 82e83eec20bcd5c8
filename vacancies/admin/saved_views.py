"""The tabs above the list of vacancies: built-in and saved views, and what each user has chosen."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR, PAGE_VAR
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from jobsite.admin.base import as_id, person
from vacancies.admin.change_list import EDIT_VAR, VIEW_VAR, order_as_names
from vacancies.admin.list_columns import TITLE, ListColumnsAdmin
from vacancies.admin.list_filters import ENDING
from vacancies.models import ListPreference, SavedView

ALL = "all"  # the value of `view` that means no saved view
MANAGE = "vacancies.change_savedview"  # others' shared views, for instance of a colleague who left
BUILT_IN = (
    (gettext_lazy("All vacancies"), {VIEW_VAR: ALL}),
    (gettext_lazy("Mine"), {VIEW_VAR: ALL, "mine": "1"}),
    (gettext_lazy("Closing this week"), {VIEW_VAR: ALL, "attention": ENDING, ORDER_VAR: "last_day"}),
    (gettext_lazy("Drafts"), {VIEW_VAR: ALL, "state": "draft"}),
)


def preference_of(request: Any) -> ListPreference:
    """Return what the user has chosen, read once per request."""
    if not hasattr(request, "list_preference"):
        rows = ListPreference.objects.select_related("default_view")
        request.list_preference = rows.filter(user=request.user.pk).first() or ListPreference(
            user=request.user
        )
    return request.list_preference


def visible_to(user: Any) -> Q:
    return Q(owner=user.pk) | Q(is_shared=True)


def views_of(request: Any) -> list[SavedView]:
    """Return the views that the user may open, read once per request."""
    if not hasattr(request, "saved_views"):
        request.saved_views = list(SavedView.objects.filter(visible_to(request.user)).select_related("owner"))
    return request.saved_views


def chosen_view(request: HttpRequest) -> SavedView | None:
    pk = as_id(request.GET.get(VIEW_VAR))
    return next((view for view in views_of(request) if view.pk == pk), None)


def stored_query(text: str, columns: Any) -> str:
    """Return the filters and the order of the query string `text`, with columns by name, in a fixed order."""
    query = QueryDict(text.removeprefix("?"), mutable=True)
    for name in (VIEW_VAR, EDIT_VAR, PAGE_VAR, "_popup", "_to_field", "e", "all"):
        query.pop(name, None)
    if order := query.get(ORDER_VAR):
        query[ORDER_VAR] = order_as_names(order, columns)
    pairs = [(name, value) for name, values in sorted(query.lists()) for value in sorted(values) if value]
    return urlencode(pairs)


class SavedViewForm(forms.ModelForm):
    is_default = forms.BooleanField(
        label=gettext_lazy("Open the list with this view"), required=False, widget=UnfoldBooleanSwitchWidget
    )

    class Meta:
        model = SavedView
        fields = ("name", "is_shared")
        widgets = {"name": UnfoldAdminTextInputWidget, "is_shared": UnfoldBooleanSwitchWidget}
        labels = {"is_shared": gettext_lazy("Share with colleagues")}

    def __init__(self, *args: Any, may_share: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_share:
            del self.fields["is_shared"]

    def clean_name(self) -> str:
        name = " ".join(self.cleaned_data["name"].split())
        own = SavedView.objects.filter(owner=self.instance.owner_id, name=name).exclude(pk=self.instance.pk)
        if self.instance.owner_id and own.exists():
            raise forms.ValidationError(_("You already have a view with this name."))
        return name


class SavedViewsAdmin(ListColumnsAdmin):
    list_before_template = "admin/vacancies/vacancy/list_before.html"

    def get_urls(self) -> list[URLPattern]:
        pages = {
            "list-preference": self.preference_view,
            "views/add": self.add_view_view,
            "views/<int:pk>": self.change_view_view,
            "views/<int:pk>/delete": self.delete_view_view,
        }
        names = ("list_preference", "view_add", "view_change", "view_delete")
        own = [
            path(f"{address}/", self.admin_site.admin_view(view), name=f"vacancies_vacancy_{name}")
            for name, (address, view) in zip(names, pages.items(), strict=True)
        ]
        return [*own, *super().get_urls()]

    # --- the list ---

    def get_list_display(self, request: HttpRequest) -> Any:
        view = chosen_view(request)
        chosen = view.columns if view and view.columns else preference_of(request).columns
        return (TITLE, *self.shown_columns(request, chosen))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Open the default view, or the filters of the view that the address names. Filters of a view that
        are no longer valid give a message."""
        if request.method == "GET" and set(request.GET) <= {VIEW_VAR} and self.has_view_permission(request):
            view = chosen_view(request) if VIEW_VAR in request.GET else self._default_view(request)
            if view:
                return redirect(self._address(view))
            if request.GET.get(VIEW_VAR, ALL) != ALL:
                self.message_user(
                    request, _("This view no longer exists, or is not shared."), messages.WARNING
                )
                return redirect(f"{request.path}?{VIEW_VAR}={ALL}")
        try:
            self.get_changelist_instance(request) if self._is_of_view(request) else None
        except (IncorrectLookupParameters, SuspiciousOperation):
            text = _("The filters of the view “%(view)s” are no longer valid. All vacancies are shown.")
            self.message_user(request, text % {"view": chosen_view(request)}, messages.WARNING)
            return redirect(f"{request.path}?{VIEW_VAR}={ALL}")
        context = self._list_context(request) if request.user.is_authenticated else {}
        return super().changelist_view(request, context | (extra_context or {}))

    def _is_of_view(self, request: HttpRequest) -> bool:
        """Whether the filters are unchanged from a saved view: only then, an error is one of the view."""
        if request.method != "GET" or not self.has_view_permission(request):
            return False
        view = chosen_view(request)
        return view is not None and PAGE_VAR not in request.GET and self._is_unchanged(request, view)

    def _is_unchanged(self, request: HttpRequest, view: SavedView) -> bool:
        columns = ("action_checkbox", *self.get_list_display(request))
        return stored_query(request.GET.urlencode(), columns) == view.query

    def _default_view(self, request: HttpRequest) -> SavedView | None:
        view = preference_of(request).default_view
        return view if view and (view.is_shared or view.owner_id == request.user.pk) else None

    def _address(self, view: SavedView) -> str:
        query = "&".join(filter(None, (view.query, urlencode({VIEW_VAR: view.pk}))))
        return f"{reverse('admin:vacancies_vacancy_changelist')}?{query}"

    def _list_context(self, request: HttpRequest) -> dict[str, Any]:
        view, preference = chosen_view(request), preference_of(request)
        columns = self.get_list_display(request)
        current = stored_query(request.GET.urlencode(), ("action_checkbox", *columns))
        tabs = [
            {
                "label": label,
                "url": f"?{urlencode(query)}",
                "is_current": view is None and current == stored_query(urlencode(query), columns),
            }
            for label, query in BUILT_IN
        ]
        tabs += [
            {
                "label": each.name,
                "url": self._address(each),
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
            "may_change_view": view is not None and self._may_change(request, view),
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

    # --- pages ---

    def _may_change(self, request: HttpRequest, view: SavedView) -> bool:
        is_own = view.owner_id == request.user.pk
        return is_own or (view.is_shared and request.user.has_perm(MANAGE))

    def _posted(self, request: HttpRequest) -> HttpResponse | None:
        """Return the response to a request that is not a POST of a user who may see the list."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseNotAllowed(["POST"]) if request.method != "POST" else None

    def _back(self, request: HttpRequest) -> str:
        """Return the address of the list that the form was sent from."""
        own = reverse("admin:vacancies_vacancy_changelist")
        back = request.POST.get("back", "")
        is_ours = back.startswith(own) and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
        return back if is_ours else f"{own}?{VIEW_VAR}={ALL}"

    def preference_view(self, request: HttpRequest) -> HttpResponse:
        """POST `columns`, of the view `view` if the user may change it; or `shortcuts`: "on" or "off"."""
        if refused := self._posted(request):
            return refused
        preference = preference_of(request)
        if request.POST.get("shortcuts") in ("on", "off"):
            preference.has_shortcuts = request.POST["shortcuts"] == "on"
        if "columns" in request.POST:
            chosen = [
                name for name in self.offered_columns(request) if name in request.POST.getlist("columns")
            ]
            view = self._visible(request, request.POST.get("view"))
            if view and self._may_change(request, view):
                view.columns = chosen
                view.save(update_fields=["columns"])
            else:
                preference.columns = chosen
        preference.save()
        # The order of the address has the numbers of the columns before.
        address, _mark, query = self._back(request).partition("?")
        before = ("action_checkbox", TITLE, *request.POST.get("shown", "").split())
        values = QueryDict(query, mutable=True)
        if order := values.get(ORDER_VAR):
            values[ORDER_VAR] = order_as_names(order, before)
        if not values:
            values[VIEW_VAR] = ALL
        return redirect(f"{address}?{values.urlencode()}")

    def _visible(self, request: HttpRequest, pk: Any) -> SavedView | None:
        return next((view for view in views_of(request) if view.pk == as_id(pk)), None)

    def add_view_view(self, request: HttpRequest) -> HttpResponse:
        """GET asks for the name of a view of `query` with the columns `shown`. POST saves it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        sent = request.POST if request.method == "POST" else request.GET
        view = SavedView(owner_id=request.user.pk)
        view.columns = [
            name for name in sent.get("shown", "").split() if name in self.offered_columns(request)
        ]
        view.query = stored_query(sent.get("query", ""), (TITLE, *view.columns))[:2000]
        return self._form_page(request, view, _("Save view"))

    def change_view_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Rename and share a view, make it the default one, or (`query` posted) store other filters."""
        view = self._view_or_404(request, pk)
        if request.method == "POST" and "query" in request.POST:
            shown = request.POST.get("shown", "").split()
            view.columns = [name for name in shown if name in self.offered_columns(request)]
            view.query = stored_query(request.POST["query"], (TITLE, *view.columns))[:2000]
            view.save(update_fields=["query", "columns"])
            self.message_user(request, _("The view “%(view)s” was saved.") % {"view": view}, messages.SUCCESS)
            return redirect(self._address(view))
        return self._form_page(request, view, _("Change view"))

    def delete_view_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if refused := self._posted(request):
            return refused
        view = self._view_or_404(request, pk)
        view.delete()
        self.message_user(request, _("The view “%(view)s” was deleted.") % {"view": view}, messages.SUCCESS)
        return redirect(f"{reverse('admin:vacancies_vacancy_changelist')}?{VIEW_VAR}={ALL}")

    def _view_or_404(self, request: HttpRequest, pk: int) -> SavedView:
        if not self.has_view_permission(request):
            raise PermissionDenied
        if as_id(pk) is None:
            raise Http404
        view: Any = get_object_or_404(views_as_rows(request), pk=pk)
        if not self._may_change(request, view):
            raise PermissionDenied
        return view

    def _form_page(self, request: HttpRequest, view: SavedView, title: str) -> HttpResponse:
        preference = preference_of(request)
        form = SavedViewForm(
            request.POST if request.method == "POST" else None,
            instance=view,
            may_share=self.has_change_permission(request),
            initial={"is_default": view.pk is not None and preference.default_view_id == view.pk},
        )
        if request.method == "POST" and form.is_valid():
            form.save()
            if form.cleaned_data["is_default"]:
                preference.default_view = view
            elif preference.default_view_id == view.pk:
                preference.default_view = None
            if "is_default" in form.changed_data:
                preference.save()
            self.message_user(request, _("The view “%(view)s” was saved.") % {"view": view}, messages.SUCCESS)
            return redirect(self._address(view))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "form": form,
            "media": self.media + form.media,
            "view": view,
            "shown": " ".join(view.columns),
            "back": self._address(view) if view.pk else f"../../?{view.query}",
        }
        return TemplateResponse(request, "admin/vacancies/vacancy/view_form.html", context)


def views_as_rows(request: Any) -> QuerySet[SavedView]:
    return SavedView.objects.filter(visible_to(request.user))
