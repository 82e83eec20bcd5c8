"""The admin of users and groups."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from jobsite.admin.base import JobsiteAdmin, as_id

admin.site.unregister([User, Group])


def view_on_site(request: HttpRequest, content_type_id: str, object_id: str) -> HttpResponse:
    """Django's redirect, only for rows that the user may view: it would reveal that others exist."""
    kind = ContentType.objects.filter(pk__in=[as_id(content_type_id)]).first()
    page: Any = admin.site._registry.get(kind.model_class()) if kind else None  # type: ignore[arg-type]
    row = page and page.get_object(request, object_id)
    if not row or not page.has_view_permission(request, row) or not hasattr(row, "get_absolute_url"):
        raise Http404
    return HttpResponseRedirect(row.get_absolute_url())


def described(permission: Permission) -> str:
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
    """An admin page with a choice of permissions."""

    def formfield_for_manytomany(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        field: Any = super().formfield_for_manytomany(db_field, request, **kwargs)
        if field and db_field.related_model is Permission:
            field.label_from_instance = described
        return field


@admin.register(User)
class UserAdmin(BaseUserAdmin, PermissionsAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Only superusers can grant superuser status and single permissions."""
        own = () if request.user.is_superuser else ("is_superuser", "user_permissions")
        return (*super().get_readonly_fields(request, obj), *own)

    def may_touch(self, request: HttpRequest, obj: User | None) -> bool:
        return request.user.is_superuser or not (obj and obj.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and self.may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self.may_touch(request, obj)

    def get_queryset(self, request: HttpRequest) -> Any:
        """Exclude superusers from bulk actions: they do not check permissions per row."""
        users = super().get_queryset(request)
        is_action = request.method == "POST" and "action" in request.POST
        return users if request.user.is_superuser or not is_action else users.filter(is_superuser=False)


@admin.register(Group)
class GroupAdmin(BaseGroupAdmin, PermissionsAdmin):
    pass
