"""The forms of the pages of users: an invitation, and the roles and brands of an account."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from unfold.forms import UserChangeForm
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminEmailInputWidget,
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from applications.operations.applicants import USERNAME_MAX
from jobsite.accounts import roles
from jobsite.fields import PastedEmailField
from jobsite.languages import LANGUAGES, site_language
from jobsite.types import UserRequest
from vacancies.access.brands import brands_of, colleagues_of
from vacancies.models import Brand
from vacancies.querysets import EVERY_BRAND


class RoleField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Group) -> str:
        return roles.summary_of(obj)


class RolesField(forms.ModelMultipleChoiceField):
    label_from_instance = RoleField.label_from_instance


class BrandsField(forms.ModelMultipleChoiceField):
    """A choice of brands as checkboxes."""

    def __init__(self) -> None:
        super().__init__(
            Brand.objects.none(),
            label=_("Brands"),
            required=False,
            widget=UnfoldAdminCheckboxSelectMultipleWidget,
            help_text=_("Not needed for a role that works for every brand."),
        )


class InviteForm(forms.Form):
    email = PastedEmailField(  # becomes the user name
        label=_("E-mail address"), max_length=USERNAME_MAX, widget=UnfoldAdminEmailInputWidget
    )
    first_name = forms.CharField(
        label=_("First name"), max_length=150, required=False, widget=UnfoldAdminTextInputWidget
    )
    last_name = forms.CharField(
        label=_("Last name"), max_length=150, required=False, widget=UnfoldAdminTextInputWidget
    )
    role = RoleField(
        Group.objects.none(), label=_("Role"), empty_label=None, widget=UnfoldAdminRadioSelectWidget
    )
    brands = BrandsField()
    language = forms.ChoiceField(
        label=_("Language of the email"),
        choices=[(code, _(name)) for code, name in LANGUAGES.items()],
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, request: UserRequest, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"language": get_language() or site_language()})
        self.user = request.user
        own = list(choose_from(self, "role", self.user))
        if len(own) == 1:
            self.initial["brands"] = own

    def clean_email(self) -> str:
        """Mention an existing account only to those who may see it."""
        email: str = self.cleaned_data["email"]
        known = colleagues_of(self.user).filter(email__iexact=email, is_staff=True)
        if self.user.has_perm("auth.view_user") and known.exists():
            raise ValidationError(
                _("A colleague has this address already. Search in the list of users.")
            )
        return email

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        if "role" in data and "brands" in data:
            check_brands(self, [data["role"]], data["brands"])
        return data


class UserForm(UserChangeForm):
    """An account with roles and brands. The page sets `request`."""

    request: UserRequest
    groups = RolesField(
        Group.objects.none(),
        label=_("Roles"),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=_("Somebody without a role cannot open the admin."),
    )
    brands = BrandsField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = self.request.user
        choose_from(self, "groups", self.user)
        if self.instance.pk:
            self.initial["brands"] = list(self.instance.brands.all())

    def clean_is_active(self) -> bool:
        is_active: bool = self.cleaned_data["is_active"]
        if not is_active and self.instance == self.user:
            raise ValidationError(_("You cannot deactivate your own account."))
        return is_active

    def clean(self) -> dict[str, object]:
        super().clean()
        data = self.cleaned_data
        if "groups" in data and "brands" in data:
            check_brands(self, data["groups"], data["brands"])
        return data


def choose_from(form: Any, role: str, user: User) -> QuerySet[Brand]:
    """Let `form` offer the roles and brands that `user` may give. Return the brands."""
    own = brands_of(user)
    form.fields[role].queryset = roles.grantable_by(user)
    form.fields["brands"].queryset = own
    return own


def check_brands(
    form: InviteForm | UserForm, groups: Iterable[Group], brands: Iterable[Brand]
) -> None:
    """Add an error if there is no brand, but one of the `groups` is useless without one, or the
    user of the form would not see the account any more.
    """
    held = Permission.objects.filter(group__in=[group.pk for group in groups])
    codes = {
        f"{app}.{code}" for app, code in held.values_list("content_type__app_label", "codename")
    }
    is_limited = "vacancies.view_vacancy" in codes and EVERY_BRAND not in codes
    if not brands and (is_limited or not form.user.has_perm(EVERY_BRAND)):
        form.add_error("brands", _("Choose at least one brand."))


def is_colleague(user: User, data: dict[str, object]) -> bool:
    """Return whether `user` may open the admin, after the form with `data`: with a role, or as
    before with permissions of their own. Superusers can choose.
    """
    if data.get("groups") or user.is_superuser:
        return True
    return bool(data.get("is_staff", user.is_staff and user.user_permissions.exists()))
