"""The admin of tokens and the access log."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from applications.models import AccessLog, Application, Token
from jobsite.admin.base import JobsiteAdmin
from vacancies.admin.brand_access import within
from vacancies.querysets import EVERY_BRAND


class ReadOnlyAdmin(JobsiteAdmin):
    """A read-only admin page."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    """Deleting a token revokes it."""

    fields = ("user", "created", "expiry")
    list_display = ("user", "created", "expiry")
    list_select_related = ("user",)
    search_fields = ("user__username",)

    def get_queryset(self, request: HttpRequest) -> Any:
        """Accounts belong to no brand, so users of some brands see no tokens."""
        tokens = super().get_queryset(request)
        return tokens if request.user.has_perm(EVERY_BRAND) else tokens.none()


@admin.register(AccessLog)
class AccessLogAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "what", "application")
    list_select_related = ("actor",)
    list_filter = ("action",)
    show_full_result_count = False
    search_fields = ("actor__username", "=application")

    @display(description=_("What"), ordering="action")
    def what(self, entry: AccessLog) -> str:
        return entry.get_action_display()

    def get_queryset(self, request: HttpRequest) -> Any:
        """Users of some brands see the access to their applicants. Erased applications belong to no brand."""
        entries = super().get_queryset(request)
        if request.user.has_perm(EVERY_BRAND):
            return entries
        own = within(request.user, Application.objects.all(), "vacancy")
        return entries.filter(application__in=own.order_by().values("pk"))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
