"""Accounts in the style of the workplace."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.utils.translation import gettext
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

admin.site.unregister([User, Group])


def described(permission: Permission) -> str:
    """`permission` in the reader's language; Django keeps its name in English."""
    said = {
        "add": gettext("Can add %(model)s"),
        "change": gettext("Can change %(model)s"),
        "delete": gettext("Can delete %(model)s"),
        "view": gettext("Can view %(model)s"),
    }
    kind = permission.content_type
    action, _, model = permission.codename.partition("_")
    is_own = model == kind.model and action in said  # and not one that a model adds
    words = said[action] % {"model": kind.name} if is_own else gettext(permission.name)
    return f"{kind} | {words}"


class PermissionsAdmin(ModelAdmin):
    """A page with permissions to choose from."""

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


@admin.register(Group)
class GroupAdmin(BaseGroupAdmin, PermissionsAdmin):
    pass
