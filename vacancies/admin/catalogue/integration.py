"""Integrations and their tokens, for administrators."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminIntegerFieldWidget

from jobsite.admin.base import JobsiteAdmin, RowsInline, as_id
from jobsite.admin.pages import AdminPages
from jobsite.types import UserRequest
from vacancies.manage.tokens import create_integration, issue_token
from vacancies.models import Integration, IntegrationScope, IntegrationToken
from vacancies.querysets import EVERY_BRAND


def scope_choices() -> list[tuple[str, str]]:
    return [(scope.value, f"{scope.value}: {scope.label}") for scope in IntegrationScope]


class IntegrationForm(forms.ModelForm):
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes"),
        choices=scope_choices,  # in the language of each request
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        required=False,
    )


class TokenForm(forms.Form):
    days = forms.IntegerField(
        label=gettext_lazy("Valid for (days)"),
        min_value=1,
        max_value=IntegrationToken.MAX_AGE.days,
        initial=IntegrationToken.AGE.days,
        widget=UnfoldAdminIntegerFieldWidget,
    )


class TokenPages(AdminPages):
    """The page that issues a token and shows it once."""

    def urls(self) -> list[URLPattern]:
        return self.object_urls({"token": self.token_view})

    def token_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        rows = self.admin.get_queryset(request)
        integration = get_object_or_404(rows, pk=as_id(object_id) or 0)
        if not self.admin.has_change_permission(request, integration):
            raise PermissionDenied
        form = TokenForm(request.POST if request.method == "POST" else None)
        text = ""
        if form.is_valid():
            age = timedelta(days=form.cleaned_data["days"])
            try:
                token, text = issue_token(integration, at=timezone.now(), age=age)
            except ValidationError as error:
                form.add_error(None, error)
            else:
                message = [{"added": {"name": str(token._meta.verbose_name), "object": str(token)}}]
                self.admin.log_change(request, integration, message)
        context = self.context(
            request, _("New token"), form=form, integration=integration, token=text
        )
        response = TemplateResponse(request, "admin/vacancies/integration_token.html", context)
        response["Cache-Control"] = "private, no-store"
        return response


class TokenInline(RowsInline):
    """Deleting a row revokes the token."""

    model = IntegrationToken
    verbose_name_plural = gettext_lazy("tokens: delete one to revoke it")
    fields = readonly_fields = ("start", "created_at", "expires_at", "last_used_at")
    max_num = 0

    def has_add_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("vacancies.view_integration")

    def has_change_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("vacancies.change_integration")

    has_delete_permission = has_change_permission


@admin.register(Integration)
class IntegrationAdmin(JobsiteAdmin):
    """An integration is switched off instead of deleted. Only users of every brand see them."""

    page_classes = (TokenPages,)
    form = IntegrationForm
    fields = ("name", "is_enabled", "scopes", "every_brand", "brands", "new_token")
    readonly_fields = ("new_token",)
    filter_horizontal = ("brands",)
    list_display = ("name", "scope_names", "is_enabled")
    search_fields = ("name",)
    inlines = (TokenInline,)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        rows = super().get_queryset(request)
        return rows if request.user.has_perm(EVERY_BRAND) else rows.none()

    def has_add_permission(self, request: UserRequest) -> bool:
        return super().has_add_permission(request) and request.user.has_perm(EVERY_BRAND)

    def has_delete_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return False

    def save_model(self, request: UserRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            create_integration(obj, author=request.user)
            return
        super().save_model(request, obj, form, change)
        type(obj.user).objects.filter(pk=obj.user_id).update(first_name=obj.name)

    def response_post_save_add(self, request: UserRequest, obj: Any) -> HttpResponse:
        return redirect("admin:vacancies_integration_change", obj.pk)  # which has *New token…*

    @display(description=gettext_lazy("Scopes"))
    def scope_names(self, integration: Integration) -> str:
        return ", ".join(integration.scopes) or "-"

    @display(description=gettext_lazy("Token"))
    def new_token(self, integration: Integration) -> str:
        if integration.pk is None:
            return _("Save the integration first.")
        url = reverse("admin:vacancies_integration_token", args=[integration.pk])
        return format_html('<a class="text-link" href="{}">{}</a>', url, _("New token…"))
