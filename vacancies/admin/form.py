"""Application forms, with the vacancies that use them."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import display

from forms_structure.admin.form import FormAdmin as BaseFormAdmin
from forms_structure.models import Form
from jobsite.workplace import as_id, counted
from vacancies.models import Brand, Vacancy
from vacancies.querysets import VacancyQuerySet

SHOWN = 10


@admin.register(Form)
class FormAdmin(BaseFormAdmin):
    list_display = ("name", "is_default", "language", "extends", "vacancy_count", "brand_count", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Form]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                vacancy_count=counted(Vacancy.objects.all(), "form"),
                brand_count=counted(Brand.objects.all(), "form"),
            )
        )

    @display(description="Vacancies", ordering="vacancy_count")
    def vacancy_count(self, form: Any) -> str:
        url = reverse("admin:vacancies_vacancy_changelist")
        return format_html(
            '<a class="text-link" href="{}?form__id__exact={}">{}</a>', url, form.pk, form.vacancy_count
        )

    @display(description="Brands", ordering="brand_count")
    def brand_count(self, form: Any) -> int:
        return form.brand_count

    def use(self, request: HttpRequest, form: Form) -> dict[str, Any]:
        vacancies = served_by(form)
        may_see = request.user.has_perm("vacancies.view_vacancy")
        some = vacancies.only("title").order_by("-pk")[:SHOWN] if may_see else ()
        return {
            "total": vacancies.count(),
            "published": vacancies.published(at=timezone.now()).count(),
            "some": [{"label": vacancy.title, "url": address(vacancy)} for vacancy in some],
        }

    def is_public(self, form: Form) -> bool:
        return served_by(form).published(at=timezone.now()).exists()

    def user(self, request: HttpRequest, key: Any) -> dict[str, Any] | None:
        pk = as_id(key) if request.user.has_perm("vacancies.view_vacancy") else None
        vacancy = Vacancy.objects.filter(pk__in=[pk]).first()
        return {"id": vacancy.pk, "label": vacancy.title, "url": address(vacancy)} if vacancy else None

    def give(self, request: HttpRequest, form: Form, key: Any) -> None:
        if not request.user.has_perm("vacancies.change_vacancy"):
            raise PermissionDenied
        Vacancy.objects.filter(pk=key).update(form=form, updated_at=timezone.now())


def served_by(form: Form) -> VacancyQuerySet:
    """The vacancies whose applicants get `form`, whole or as a part of one that extends it."""
    return Vacancy.objects.with_form().filter(
        Q(served_form_id=form.pk) | Q(served_form_id__in=form.extensions.values("pk"))
    )


def address(vacancy: Vacancy) -> str:
    return reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])
