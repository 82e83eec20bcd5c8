"""The admin of users: their roles, brands and last sign-in."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, QuerySet
from django.forms import BaseFormSet, ModelForm
from django.http import HttpResponse
from django.template.response import TemplateResponse
from django.utils import translation
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm, UserCreationForm

from jobsite.accounts import roles
from jobsite.admin.base import action_parameters, as_id
from jobsite.admin.confirmation import ActionRow, ActionSection, ask, is_confirmed
from jobsite.admin.users import PermissionsAdmin
from jobsite.languages import site_language
from jobsite.office.invitations import InvitationPages, open_invitations
from jobsite.office.user_forms import UserForm, is_colleague
from jobsite.text.formats import format_datetime
from jobsite.text.names import person
from jobsite.types import Context, StrOrPromise, UserRequest
from vacancies.access.brands import brands_of, colleagues_of, manageable_by
from vacancies.admin.list.filters import BrandFilter

MAX_NAMES = 100  # accounts that a confirmation lists


class KindFilter(admin.SimpleListFilter):
    """Colleagues by default: there are many more applicants."""

    title = _("kind")
    parameter_name = "kind"
    APPLICANTS, ALL = "applicants", "all"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [(self.APPLICANTS, _("Applicants and others")), (self.ALL, _("All"))]

    def choices(self, changelist: ChangeList) -> Iterator[Mapping[str, object]]:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("Colleagues")}
        yield from others

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        if self.value() == self.ALL:
            return queryset
        return queryset.filter(is_staff=self.value() != self.APPLICANTS)


class RoleFilter(DropdownFilter):
    title = _("role")
    parameter_name = "role"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [(str(group.pk), roles.label(group)) for group in Group.objects.order_by("name")]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        pk = as_id(self.value())
        return queryset if pk is None else queryset.filter(groups=pk)


class MemberFilter(BrandFilter):
    parameter_name = "brand"

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        pk = as_id(self.value())
        return queryset if pk is None else queryset.filter(brands=pk)


@admin.register(User)
class UserAdmin(BaseUserAdmin, PermissionsAdmin):  # type: ignore[misc]  # get_actions of Django 6.1
    """Colleagues are invited instead of added.
    Superusers can still add an account, as for a program.
    """

    page_classes = (InvitationPages,)
    list_before_template = "admin/auth/user/invitations.html"
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    form = UserForm
    list_display = ("who", "email", "role_names", "brand_names", "last_sign_in", "is_active")
    list_filter = (KindFilter, RoleFilter, MemberFilter, "is_active")
    filter_horizontal = ("user_permissions",)
    ordering = ("last_name", "first_name", "username")
    actions = ("deactivate", "activate")
    readonly_fields = ("who", "role_names", "brand_names", "last_sign_in", "joined")

    # --- who sees and changes whom ---

    def get_queryset(self, request: UserRequest) -> QuerySet[User]:
        """Users of some brands see the members of these. Exclude accounts that they may not change
        from bulk actions, which do not check permissions per row.
        """
        rows = super().get_queryset(request).filter(pk__in=colleagues_of(request.user).values("pk"))
        if request.method == "POST" and "action" in request.POST:
            rows = rows.filter(pk__in=manageable_by(request.user).values("pk"))
        own = Prefetch("brands", brands_of(request.user))
        return rows.prefetch_related(own, Prefetch("groups", Group.objects.order_by("name")))

    def has_change_permission(self, request: UserRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_manage(request, obj)

    def has_delete_permission(self, request: UserRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_manage(request, obj)

    # --- invitations ---

    def changelist_view(
        self, request: UserRequest, extra_context: Context | None = None
    ) -> HttpResponse:
        may = self.has_add_permission(request)
        context = {"may_invite": may, "invitations": open_invitations(request) if may else []}
        return super().changelist_view(request, context | (extra_context or {}))

    def add_view(
        self, request: UserRequest, form_url: str = "", extra_context: Context | None = None
    ) -> HttpResponse:
        if "account" in request.GET and request.user.is_superuser:
            return super().add_view(request, form_url, extra_context)
        return InvitationPages(self).invite_view(request)

    # --- the form ---

    def user_change_password(
        self, request: UserRequest, id: str, form_url: str = ""
    ) -> HttpResponse:
        """Only superusers set passwords of others. Everybody else chooses their own, by email."""
        if not request.user.is_superuser:
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    def get_fieldsets(self, request: UserRequest, obj: User | None = None) -> Any:
        if obj is None:
            return self.add_fieldsets
        may = self.has_change_permission(request, obj)
        names = ("first_name", "last_name") if may else ("who",)
        access = ("groups", "brands") if may else ("role_names", "brand_names")
        parts: list[tuple[StrOrPromise | None, dict[str, object]]] = [
            (None, {"fields": (*names, "email", "username", "is_active")}),
            (_("Roles and brands"), {"fields": access}),
            (_("Sign-in"), {"fields": ("last_sign_in", "joined")}),
        ]
        if request.user.is_superuser:
            advanced = ("password", "is_staff", "is_superuser", "user_permissions")
            parts.append((_("Advanced"), {"fields": advanced, "classes": ("collapse",)}))
        return parts

    def get_readonly_fields(self, request: UserRequest, obj: User | None = None) -> Any:
        """Whoever changes an address can then reset the password and act as that colleague."""
        own = super().get_readonly_fields(request, obj)
        return own if obj is None or request.user.is_superuser else (*own, "email", "username")

    def get_form(self, request: UserRequest, obj: User | None = None, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, **kwargs)
        form.request = request
        return form

    def save_model(self, request: UserRequest, obj: User, form: ModelForm, change: bool) -> None:
        if change:
            obj.is_staff = is_colleague(obj, form.cleaned_data)
        super().save_model(request, obj, form, change)

    def save_related(
        self, request: UserRequest, form: ModelForm, formsets: Iterable[BaseFormSet], change: bool
    ) -> None:
        super().save_related(request, form, formsets, change)
        if "brands" in form.changed_data:
            form.instance.brands.set(form.cleaned_data["brands"])

    # --- columns ---

    @display(description=_("Name"), ordering="last_name")
    def who(self, user: User) -> str:
        return person(user)

    @display(description=_("Roles"))
    def role_names(self, user: User) -> str:
        names = [gettext("Superuser")] if user.is_superuser else []
        return ", ".join([*names, *map(roles.label, user.groups.all())]) or "-"

    @display(description=_("Brands"))
    def brand_names(self, user: User) -> str:
        return ", ".join(str(brand) for brand in user.brands.all()) or "-"

    @display(description=_("Last sign-in"), ordering="last_login")
    def last_sign_in(self, user: User) -> str:
        return format_datetime(user.last_login) if user.last_login else gettext("Never")

    @display(description=_("Account since"))
    def joined(self, user: User) -> str:
        return format_datetime(user.date_joined)

    # --- actions ---

    @action(description=_("Deactivate"), permissions=["change"])
    def deactivate(self, request: UserRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        chosen = queryset.filter(is_active=True).exclude(pk=request.user.pk or 0)
        if is_confirmed(request):
            self._set_active(request, chosen, False)
            return None
        names = [person(user) for user in chosen[:MAX_NAMES]]
        count = chosen.count()
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "title": gettext("Deactivate"),
            "names": names,
            "count": count,
            "more": count - len(names),
            "unchanged": queryset.count() - count,
            "repeated": action_parameters(request),
        }
        return TemplateResponse(request, "admin/auth/user/deactivate.html", context)

    @action(description=_("Activate"), permissions=["change"])
    def activate(self, request: UserRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        chosen = queryset.filter(is_active=False)
        if is_confirmed(request):
            self._set_active(request, chosen, True)
            return None
        listed = [ActionRow(person(user)) for user in chosen]
        return ask(
            self,
            request,
            label=gettext("Activate"),
            icon="person_check",
            is_refused=not listed,
            text=gettext("They can sign in again, with the roles and brands that they had."),
            sections=[ActionSection(gettext("Users"), listed)] if listed else [],
        )

    def _set_active(self, request: UserRequest, users: QuerySet[User], is_active: bool) -> None:
        changed = User.objects.filter(pk__in=list(users.order_by().values_list("pk", flat=True)))
        count = changed.update(is_active=is_active)
        with translation.override(site_language()):  # stored, and read by all users
            stored = gettext("Activated.") if is_active else gettext("Deactivated.")
        LogEntry.objects.log_actions(request.user.pk, changed, CHANGE, stored)  # type: ignore[arg-type]
        text = (
            ngettext("%(count)d user was activated.", "%(count)d users were activated.", count)
            if is_active
            else ngettext(
                "%(count)d user was deactivated.", "%(count)d users were deactivated.", count
            )
        )
        self.message_user(
            request, text % {"count": count}, messages.SUCCESS if count else messages.WARNING
        )


def _may_manage(request: UserRequest, user: User | None) -> bool:
    return user is None or manageable_by(request.user).filter(pk=user.pk).exists()
