"""The admin of application forms, with the vacancies that use them."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from forms_structure.admin.form import FormBaseAdmin
from forms_structure.models import Form
from jobsite.admin.base import as_id, counted, counted_link
from jobsite.types import Context, UserRequest
from vacancies.access.brands import brands_of, forms_for, may_change_form
from vacancies.models import Vacancy
from vacancies.operations.approval_requests import SUBMITTED
from vacancies.operations.save import Edit, save_content
from vacancies.querysets import EVERY_BRAND, VacancyQuerySet

MAX_LINKED_VACANCIES = 10


@admin.register(Form)
class FormAdmin(FormBaseAdmin):
    """Users of some brands see the forms that their brands use and unused forms. They can change
    the forms that no other brand uses (docs/decisions.md #56).
    """

    list_display = (
        "name",
        "is_default",
        "language",
        "extends",
        "vacancy_count",
        "brand_count",
        "updated_at",
    )

    def get_queryset(self, request: UserRequest) -> QuerySet[Form]:
        own = Vacancy.objects.editable_by(request.user)
        return (
            super()
            .get_queryset(request)
            .filter(pk__in=forms_for(request.user).values("pk"))
            .annotate(
                vacancy_count=counted(own, "form"),
                brand_count=counted(brands_of(request.user), "form"),
            )
        )

    def has_change_permission(self, request: UserRequest, obj: Form | None = None) -> bool:
        return super().has_change_permission(request, obj) and (
            obj is None or may_change_form(request.user, obj)
        )

    @staticmethod
    def _is_own(request: UserRequest, form: Form | None) -> bool:
        return form is None or may_change_form(request.user, form)

    def has_make_default_permission(self, request: UserRequest) -> bool:
        """The site's form affects every brand."""
        return super().has_make_default_permission(request) and request.user.has_perm(EVERY_BRAND)

    def has_delete_permission(self, request: UserRequest, obj: Form | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (
            obj is None or may_change_form(request.user, obj)
        )

    @display(description=_("Vacancies"), ordering="vacancy_count")
    def vacancy_count(self, form: Any) -> str:
        return counted_link(Vacancy, "form", form, form.vacancy_count)

    @display(description=_("Brands"), ordering="brand_count")
    def brand_count(self, form: Any) -> int:
        return form.brand_count

    def use(self, request: UserRequest, form: Form) -> dict[str, object]:
        """Count published vacancies of all brands, and other vacancies of the user's brands."""
        vacancies = served_by(form)
        may_see = request.user.has_perm("vacancies.view_vacancy")
        own = vacancies.editable_by(request.user)
        published = vacancies.published(at=timezone.now())
        some = own.only("title").order_by("-pk")[:MAX_LINKED_VACANCIES] if may_see else ()
        return {
            "total": (own | published).count(),
            "published": published.count(),
            "some": [{"label": vacancy.title, "url": address(vacancy)} for vacancy in some],
        }

    def is_public(self, form: Form) -> bool:
        return served_by(form).published(at=timezone.now()).exists()

    def user(self, request: UserRequest, key: str) -> Context | None:
        pk = as_id(key) if request.user.has_perm("vacancies.view_vacancy") else None
        vacancy = Vacancy.objects.editable_by(request.user).filter(pk__in=[pk]).first()
        return (
            {"id": vacancy.pk, "label": vacancy.title, "url": address(vacancy)} if vacancy else None
        )

    def give(self, request: UserRequest, form: Form, key: str) -> None:
        if not request.user.has_perm("vacancies.change_vacancy"):
            raise PermissionDenied
        vacancy = get_object_or_404(Vacancy.objects.select_for_update(), pk=key)
        wanted = {"form": [form.pk, str(form)]}
        if save_content(vacancy, Edit(wanted), author=request.user, at=timezone.now()).approval:
            self.message_user(request, SUBMITTED)


def served_by(form: Form) -> VacancyQuerySet:
    """Return the vacancies whose applicants get `form`, or a form that extends it."""
    return Vacancy.objects.with_form().filter(
        Q(served_form_id=form.pk) | Q(served_form_id__in=form.extensions.values("pk"))
    )


def address(vacancy: Vacancy) -> str:
    return reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])
