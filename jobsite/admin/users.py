"""The admin of groups; jobsite/office/user.py has that of users."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db.models import ManyToManyField, QuerySet
from django.forms import ModelMultipleChoiceField
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from jobsite.accounts import roles
from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.types import UserRequest

admin.site.unregister([User, Group])


def view_on_site(request: HttpRequest, content_type_id: str, object_id: str) -> HttpResponse:
    """Django's redirect, only for rows that the user may view:
    it would reveal that others exist.
    """
    kind = ContentType.objects.filter(pk__in=[as_id(content_type_id)]).first()
    page: Any = admin.site._registry.get(kind.model_class()) if kind else None  # type: ignore[arg-type]
    row = page and page.get_object(request, object_id)
    if (
        not row
        or not page.has_view_permission(request, row)
        or not hasattr(row, "get_absolute_url")
    ):
        raise Http404
    return HttpResponseRedirect(row.get_absolute_url())


def permission_label(permission: Permission) -> str:
    """Return the name of `permission` in the active language. The database has it in English."""
    labels = {
        "add": gettext("Can add %(model)s"),
        "change": gettext("Can change %(model)s"),
        "delete": gettext("Can delete %(model)s"),
        "view": gettext("Can view %(model)s"),
    }
    kind = permission.content_type
    action, _, model = permission.codename.partition("_")
    is_own = model == kind.model and action in labels  # not a permission of Meta.permissions
    words = labels[action] % {"model": kind.name} if is_own else gettext(permission.name)
    return f"{kind} | {words}"


class PermissionsAdmin(JobsiteAdmin):
    """An admin page with a choice of permissions: those of the user."""

    def formfield_for_manytomany(
        self, db_field: ManyToManyField, request: UserRequest, **kwargs: object
    ) -> ModelMultipleChoiceField | None:
        if db_field.related_model is Permission:
            kwargs["queryset"] = roles.held_by(request.user).select_related("content_type")
        field = super().formfield_for_manytomany(db_field, request, **kwargs)
        if field and db_field.related_model is Permission:
            field.label_from_instance = permission_label
        return field


@admin.register(Group)
class GroupAdmin(BaseGroupAdmin, PermissionsAdmin):  # type: ignore[misc]
    """Users change and delete only groups that they could give to others."""

    def has_change_permission(self, request: UserRequest, obj: Group | None = None) -> bool:
        return super().has_change_permission(request, obj) and _is_grantable(request, obj)

    def has_delete_permission(self, request: UserRequest, obj: Group | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _is_grantable(request, obj)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        """Exclude other groups from bulk actions: they do not check permissions per row."""
        groups = super().get_queryset(request)
        is_action = request.method == "POST" and "action" in request.POST
        return (
            groups.filter(pk__in=roles.grantable_by(request.user).values("pk"))
            if is_action
            else groups
        )


def _is_grantable(request: UserRequest, group: Group | None) -> bool:
    return group is None or roles.grantable_by(request.user).filter(pk=group.pk).exists()
