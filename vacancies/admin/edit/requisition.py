"""The internal data of a vacancy: a box with its own form on the page of the vacancy, and a page
with this box for what was refused.
"""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE as CHANGED
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DEFAULT_DB_ALIAS, transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils import timezone, translation
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from jobsite.admin.base import as_id
from jobsite.admin.pages import AdminPages
from jobsite.serving.revision import bump
from jobsite.text.formats import format_datetime
from jobsite.types import Context, UserRequest
from vacancies.models import Requisition, Vacancy

VIEW, CHANGE = "vacancies.view_requisition", "vacancies.change_requisition"
CONFLICT = 409
CRITERIA_MAX, CRITERION_MAX = 12, 100  # names; characters of a name


class RequisitionForm(forms.ModelForm):
    """`seen` is the version of the row when the page was rendered. A row that a colleague saved
    meanwhile is not replaced: `conflicts` has its other values, by field.
    """

    is_filled = forms.BooleanField(
        label=gettext_lazy("filled"), required=False, widget=UnfoldBooleanWidget
    )

    criteria = forms.CharField(
        label=gettext_lazy("criteria of scorecards"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text=gettext_lazy(
            "One per line, at most 12. Interviewers give each a score from 1 to 4."
        ),
    )

    class Meta:
        model = Requisition
        fields = ("client", "positions", "note", "is_for_open_applications")
        widgets = {
            "client": UnfoldAdminTextInputWidget,
            "positions": UnfoldAdminIntegerFieldWidget(attrs={"min": 1, "max": 999}),
            "note": UnfoldAdminTextareaWidget(attrs={"rows": 4}),
            "is_for_open_applications": UnfoldBooleanWidget,
        }

    field_order = (
        "client",
        "positions",
        "is_filled",
        "note",
        "is_for_open_applications",
        "criteria",
    )

    def __init__(self, data: Any = None, *, instance: Requisition) -> None:
        self.filled_at = instance.filled_at
        # With a prefix: the form of the vacancy is on the same page.
        initial = {
            "is_filled": instance.filled_at is not None,
            "criteria": "\r\n".join(instance.criteria),
        }
        super().__init__(data, instance=instance, initial=initial, prefix="internal")
        self.seen = instance.updated_at.isoformat() if instance.pk else ""
        if self.filled_at:
            text = _("Since %(time)s.") % {"time": format_datetime(self.filled_at)}
            self.fields["is_filled"].help_text = text

    @property
    def conflicts(self) -> dict[str, str]:
        """The stored values that a save would replace although the page did not show them. Of two
        equal saves, the second one has none.
        """
        if not self.is_bound or self.data.get("seen", "") == self.seen:
            return {}
        return {name: _shown(self.initial.get(name, "")) for name in self.changed_data}

    def rows(self) -> list[Context]:
        """Return each field, with the value that a colleague stored meanwhile, None if there is
        none.
        """
        conflicts = self.conflicts
        return [
            {"field": field, "stored": conflicts.get(field.name)} for field in self.visible_fields()
        ]

    def clean_criteria(self) -> str:
        """Return one name per line, without spaces around it and without empty lines."""
        names = [
            name for line in self.cleaned_data["criteria"].splitlines() if (name := line.strip())
        ]
        if len(names) > CRITERIA_MAX:
            text = _("Enter at most %(max)d criteria; there are %(count)d.")
            raise ValidationError(text % {"max": CRITERIA_MAX, "count": len(names)})
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValidationError(_("“%(name)s” is there twice.") % {"name": twice})
        if long := next((name for name in names if len(name) > CRITERION_MAX), ""):
            text = _("“%(name)s…” is longer than %(max)d characters.")
            raise ValidationError(text % {"name": long[:20], "max": CRITERION_MAX})
        return "\n".join(names)

    def save(self, commit: bool = True) -> Requisition:
        now = timezone.now()
        self.instance.filled_at = (
            (self.filled_at or now) if self.cleaned_data["is_filled"] else None
        )
        self.instance.criteria = self.cleaned_data["criteria"].splitlines()
        self.instance.updated_at = now
        return super().save(commit)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    return str(value) or _("(empty)")


def log_fields(user: User, vacancy: Vacancy, names: Iterable[str]) -> None:
    """Log that `user` changed the fields `names` of the internal data, without their values."""
    with translation.override(None):  # translated where it is shown
        labels = [capfirst(str(RequisitionForm.base_fields[name].label)) for name in names]
        name = str(Requisition._meta.verbose_name)
    message: Any = [{"changed": {"name": name, "object": str(vacancy), "fields": labels}}]
    LogEntry.objects.log_actions(user.pk, [vacancy], CHANGED, message)


def box(user: User, vacancy: Vacancy) -> Context:
    """Return what requisition.html shows of `vacancy` to `user`: nothing without the permission."""
    if not user.has_perm(VIEW):
        return {}
    form = RequisitionForm(instance=Requisition.of(vacancy))
    return {"requisition_form": form, "may_change_requisition": user.has_perm(CHANGE)}


class RequisitionPages(AdminPages):
    def urls(self) -> list[URLPattern]:
        return [self.url("<path:object_id>/internal/", self.internal_view, "internal")]

    def internal_view(self, request: UserRequest, object_id: str) -> HttpResponse:
        """POST saves the box. What is invalid or was changed by a colleague is shown again. GET
        shows the box alone: whoever posts it after the end of the session comes here to sign in.
        """
        vacancy = get_object_or_404(self.admin.get_queryset(request), pk=as_id(object_id))
        may_change = request.user.has_perm(CHANGE)
        may = may_change if request.method == "POST" else request.user.has_perm(VIEW)
        if not (may and self.admin.has_view_permission(request, vacancy)):
            raise PermissionDenied
        back = reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])
        if request.method != "POST":
            form = RequisitionForm(instance=Requisition.of(vacancy))
        else:
            with transaction.atomic():
                # Two first saves wait for each other here, because there is no row of theirs to
                # lock.
                locked = (
                    Vacancy.objects.select_for_update(no_key=True).only("pk").get(pk=vacancy.pk)
                )
                form = RequisitionForm(request.POST, instance=Requisition.of(locked))
                if form.is_valid() and not form.conflicts:
                    self._save(request, vacancy, form)
                    return redirect(f"{back}#internal")
        context = self.context(
            request,
            _("Internal data"),
            original=vacancy,
            media=self.admin.media + form.media,
            requisition_form=form,
            may_change_requisition=may_change,
            back=back,
            is_alone=True,
        )
        status = CONFLICT if form.conflicts else 422 if form.errors else 200
        template = "admin/vacancies/vacancy/edit/internal.html"
        return TemplateResponse(request, template, context, status=status)

    def _save(self, request: UserRequest, vacancy: Vacancy, form: RequisitionForm) -> None:
        if form.has_changed():
            form.save()
            if "is_for_open_applications" in form.changed_data:
                # Caches keep the page of the vacancy, which describes a job or none.
                bump(DEFAULT_DB_ALIAS)
            log_fields(request.user, vacancy, form.changed_data)
        self.admin.message_user(request, _("The internal data was saved."), messages.SUCCESS)
