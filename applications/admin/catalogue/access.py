"""The admin of tokens and the access log."""

from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter, TextFilter
from unfold.decorators import display

from applications.models import AccessLog, Application, Token
from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import UserRequest
from vacancies.access.brands import colleagues_of
from vacancies.querysets import EVERY_BRAND


class ReadOnlyAdmin(JobsiteAdmin):
    """A read-only admin page."""

    def has_add_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Token)
class TokenAdmin(ReadOnlyAdmin):
    """Deleting a token revokes it."""

    fields = ("user", "created", "expiry")
    list_display = ("user", "created", "expiry")
    list_select_related = ("user",)
    search_fields = ("user__username",)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        """Accounts belong to no brand, so users of some brands see no tokens."""
        tokens = super().get_queryset(request)
        return tokens if request.user.has_perm(EVERY_BRAND) else tokens.none()


class PersonFilter(DropdownFilter):
    """By a colleague whom the user may see."""

    title = _("person")
    parameter_name = "actor"

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        rows = visible_users(request).filter(is_staff=True)
        return sorted(
            ((str(user.pk), person(user)) for user in rows), key=lambda each: each[1].casefold()
        )

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        pk = as_id(self.value())
        return queryset if pk is None else queryset.filter(actor=pk)


class ApplicationFilter(TextFilter):
    """By the number of an application, which may be deleted."""

    title = _("application number")
    parameter_name = "application"

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        pk = as_id(self.value())
        return queryset if pk is None else queryset.filter(application=pk)


@admin.register(AccessLog)
class AccessLogAdmin(ReadOnlyAdmin):
    fields = ("time", "who", "what", "record")
    readonly_fields = fields
    list_display = ("time", "who", "what", "record")
    list_display_links = ("time",)
    list_select_related = ("actor",)
    list_filter = (PersonFilter, ApplicationFilter, "action")
    show_full_result_count = False
    search_fields = ("actor__username", "actor__first_name", "actor__last_name", "=application")

    def get_queryset(self, request: UserRequest) -> QuerySet:
        """Users of some brands see the access to their applicants.
        Erased applications belong to no brand.
        """
        entries = super().get_queryset(request)
        if request.user.has_perm(EVERY_BRAND):
            return entries
        own = Application.objects.visible_to(request.user)
        return entries.filter(application__in=own.order_by().values("pk"))

    def has_delete_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return False

    # --- names and links: for the rows of a page at once ---

    def get_changelist_instance(self, request: UserRequest) -> ChangeList:
        changelist = super().get_changelist_instance(request)
        changelist.result_list = add_links(request, list(changelist.result_list))
        return changelist

    def get_object(
        self, request: UserRequest, object_id: str, from_field: str | None = None
    ) -> AccessLog | None:
        entry = super().get_object(request, object_id, from_field)
        return add_links(request, [entry])[0] if entry else None

    @display(description=pgettext_lazy("date and time", "Time"), ordering="at")
    def time(self, entry: AccessLog) -> str:
        return format_datetime(entry.at)

    @display(description=_("Person"), ordering="actor__last_name")
    def who(self, entry: Any) -> str:
        if entry.actor is None:
            return gettext("A command, or a deleted account")
        return _linked(entry.actor_url, person(entry.actor))

    @display(description=_("What"), ordering="action")
    def what(self, entry: AccessLog) -> str:
        return entry.get_action_display()

    @display(description=_("Application"), ordering="application")
    def record(self, entry: Any) -> str:
        if entry.found is None:
            return str(Application(pk=entry.application))
        text = f"{entry.found.display_name}: {entry.found.vacancy.title}"
        url = reverse("admin:applications_application_change", args=[entry.application])
        return _linked(url, text)


def visible_users(request: UserRequest) -> QuerySet[User]:
    return (
        colleagues_of(request.user)
        if request.user.has_perm("auth.view_user")
        else User.objects.none()
    )


def add_links(request: UserRequest, entries: list[Any]) -> list[Any]:
    """Add to each entry the URL of its person, or "" if the user may not see it; and its
    application, or None if it is deleted or the user may not see it. Return the entries.
    """
    actors = visible_users(request).filter(
        pk__in={each.actor_id for each in entries if each.actor_id}
    )
    shown = set(actors.values_list("pk", flat=True))
    found: dict[int, Application] = {}
    if request.user.has_perm("applications.view_application"):
        rows = Application.objects.filter(pk__in={each.application for each in entries})
        own = rows.select_related("user", "vacancy").visible_to(request.user)
        found = {row.pk: row for row in own.only(*NAMES)}
    for each in entries:
        each.actor_url = (
            reverse("admin:auth_user_change", args=[each.actor_id])
            if each.actor_id in shown
            else ""
        )
        each.found = found.get(each.application)
    return entries


NAMES = (
    "given_name",
    "family_name",
    "email",
    "vacancy__title",
    "user__first_name",
    "user__last_name",
    "user__username",
)


def _linked(url: str, text: str) -> str:
    return format_html('<a class="text-link" href="{}">{}</a>', url, text) if url else text
