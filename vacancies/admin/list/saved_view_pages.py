"""The pages of saved views and of the columns:
what a user can store about the list of vacancies.
"""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.admin.views.main import PAGE_VAR
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse, HttpResponseNotAllowed, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.db.transactions import retry_on_conflict
from jobsite.types import UserRequest
from vacancies.admin.list.change_list import EDIT_VAR, VIEW_VAR
from vacancies.models import ListPreference, SavedView

LONGEST = 2000  # characters of a query
TOO_LONG = gettext_lazy("This list has too many filters for a view.")
ALL = "all"  # the value of `view` that means no saved view
MANAGE = "vacancies.change_savedview"  # others' shared views, for instance of a colleague who left


def preference_of(user: User) -> ListPreference:
    """Return what the user has chosen."""
    rows = ListPreference.objects.select_related("default_view")
    return rows.filter(user=user.pk).first() or ListPreference(user=user)


def may_change(user: User, view: SavedView) -> bool:
    return view.owner_id == user.pk or (view.is_shared and user.has_perm(MANAGE))


def visible_to(user: User) -> Q:
    return Q(page="vacancies.vacancy") & (Q(owner=user.pk) | Q(is_shared=True))


def views_of(user: User) -> QuerySet[SavedView]:
    """Return the views that the user may open."""
    return SavedView.objects.filter(visible_to(user)).select_related("owner")


def chosen_view(request: UserRequest) -> SavedView | None:
    """Return the view that the address names, if the user may open it."""
    pk = as_id(request.GET.get(VIEW_VAR))
    return views_of(request.user).filter(pk=pk).first() if pk else None


def remember(request: UserRequest, **values: object) -> None:
    """Store what the user has chosen."""
    ListPreference.objects.update_or_create(user_id=request.user.pk, defaults=values)


def address_of(view: SavedView) -> str:
    query = "&".join(filter(None, (view.query, urlencode({VIEW_VAR: view.pk}))))
    return f"{reverse('admin:vacancies_vacancy_changelist')}?{query}"


def stored_query(text: str) -> str:
    """Return the filters and the order of the query string `text`, in a fixed order."""
    query = QueryDict(text.removeprefix("?"), mutable=True)
    for name in (VIEW_VAR, EDIT_VAR, PAGE_VAR, "_popup", "_to_field", "e", "all"):
        query.pop(name, None)
    pairs = [
        (name, value) for name, values in sorted(query.lists()) for value in sorted(values) if value
    ]
    return urlencode(pairs)


class SavedViewForm(forms.ModelForm):
    is_default = forms.BooleanField(
        label=gettext_lazy("Open the list with this view"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
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
        own = SavedView.objects.filter(owner=self.instance.owner_id, name=name).exclude(
            pk=self.instance.pk
        )
        if self.instance.owner_id and own.exists():
            raise forms.ValidationError(_("You already have a view with this name."))
        return name

    def clean(self) -> dict[str, object] | None:
        if len(self.instance.query) > LONGEST:
            raise forms.ValidationError(TOO_LONG)
        return super().clean()


class SavedViewPages(AdminPages):
    """What a user can store about the list: views, columns, shortcuts."""

    def urls(self) -> list[URLPattern]:
        return [
            self.url("list-preference/", self.preference_view, "list_preference"),
            self.url("views/add/", self.add_view_view, "view_add"),
            self.url("views/<int:pk>/", self.change_view_view, "view_change"),
            self.url("views/<int:pk>/delete/", self.delete_view_view, "view_delete"),
        ]

    def _posted(self, request: UserRequest) -> HttpResponse | None:
        """Return the response to a request that is not a POST of a user who may see the list."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseNotAllowed(["POST"]) if request.method != "POST" else None

    def _back(self, request: UserRequest) -> str:
        """Return the address of the list that the form was sent from."""
        own = reverse("admin:vacancies_vacancy_changelist")
        back = request.POST.get("back", "")
        is_ours = back.startswith(own) and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
        return back if is_ours and back != own else f"{own}?{VIEW_VAR}={ALL}"

    def preference_view(self, request: UserRequest) -> HttpResponse:
        """POST `columns`, of the view `view` if the user may change it; or `shortcuts`:
        "on" or "off".
        """
        if refused := self._posted(request):
            return refused
        if request.POST.get("shortcuts") in ("on", "off"):
            remember(request, has_shortcuts=request.POST["shortcuts"] == "on")
        back = self._back(request)
        if "columns" in request.POST:
            sent = request.POST.getlist("columns")
            chosen = [name for name in self.admin.offered_columns(request) if name in sent]
            view = self._visible(request, request.POST.get("view"))
            if view and may_change(request.user, view):
                view.columns = chosen
                view.save(update_fields=["columns"])
            else:
                remember(request, columns=chosen)
                if view:  # out of a colleague's view, which has its own columns
                    address, _mark, query = back.partition("?")
                    back = f"{address}?{'&'.join(filter(None, (stored_query(query), f'{VIEW_VAR}={ALL}')))}"
        return redirect(back)

    def _visible(self, request: UserRequest, pk: object) -> SavedView | None:
        return views_of(request.user).filter(pk__in=[as_id(pk)]).first()

    def add_view_view(self, request: UserRequest) -> HttpResponse:
        """GET asks for the name of a view of `query` with the columns `shown`. POST saves it."""
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        sent = request.POST if request.method == "POST" else request.GET
        view = SavedView(owner_id=request.user.pk)
        self._set_query(request, view, sent)
        # Of two requests at the same time, the second one gets the error at the name.
        return retry_on_conflict(lambda: self._form_page(request, view, _("Save view")))

    def change_view_view(self, request: UserRequest, pk: int) -> HttpResponse:
        """Rename and share a view, make it the default one, or (`query` posted) store other
        filters.
        """
        view = self._view_or_404(request, pk)
        if request.method == "POST" and "query" in request.POST:
            self._set_query(request, view, request.POST)
            if len(view.query) > LONGEST:
                self.admin.message_user(request, TOO_LONG, messages.ERROR)
                return redirect(f"{reverse('admin:vacancies_vacancy_changelist')}?{view.query}")
            view.save(update_fields=["query", "columns"])
            return self._saved(request, view)
        return retry_on_conflict(lambda: self._form_page(request, view, _("Change view")))

    def delete_view_view(self, request: UserRequest, pk: int) -> HttpResponse:
        if refused := self._posted(request):
            return refused
        view = self._view_or_404(request, pk)
        view.delete()
        self.admin.message_user(
            request, _("The view “%(view)s” was deleted.") % {"view": view}, messages.SUCCESS
        )
        return redirect(f"{reverse('admin:vacancies_vacancy_changelist')}?{VIEW_VAR}={ALL}")

    def _set_query(self, request: UserRequest, view: SavedView, sent: QueryDict) -> None:
        offered = self.admin.offered_columns(request)
        view.columns = [name for name in sent.get("shown", "").split() if name in offered]
        view.query = stored_query(sent.get("query", ""))

    def _saved(self, request: UserRequest, view: SavedView) -> HttpResponse:
        text = _("The view “%(view)s” was saved.") % {"view": view}
        self.admin.message_user(request, text, messages.SUCCESS)
        return redirect(address_of(view))

    def _view_or_404(self, request: UserRequest, pk: int) -> SavedView:
        if not self.admin.has_view_permission(request):
            raise PermissionDenied
        if as_id(pk) is None:
            raise Http404
        view = get_object_or_404(SavedView.objects.filter(visible_to(request.user)), pk=pk)
        if not may_change(request.user, view):
            raise PermissionDenied
        return view

    def _form_page(self, request: UserRequest, view: SavedView, title: str) -> HttpResponse:
        preference = preference_of(request.user)
        form = SavedViewForm(
            request.POST if request.method == "POST" else None,
            instance=view,
            may_share=self.admin.has_change_permission(request),
            initial={"is_default": view.pk is not None and preference.default_view_id == view.pk},
        )
        if request.method == "POST" and form.is_valid():
            form.save()
            if "is_default" in form.changed_data:
                remember(request, default_view=view if form.cleaned_data["is_default"] else None)
            return self._saved(request, view)
        context = self.context(
            request,
            title,
            form=form,
            view=view,
            shown=" ".join(view.columns),
            back=address_of(view) if view.pk else f"../../?{view.query}",
        )
        return TemplateResponse(request, "admin/vacancies/vacancy/list/view_form.html", context)
