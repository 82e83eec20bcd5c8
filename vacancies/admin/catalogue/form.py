"""The admin of application forms, with the vacancies that use them."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from forms_structure.admin.form import FormAdmin as BaseFormAdmin
from forms_structure.models import Form
from jobsite.admin.base import as_id, counted, counted_link
from jobsite.types import Context, UserRequest
from vacancies.access import brands_of
from vacancies.models import Brand, Vacancy
from vacancies.operations.approval_requests import SUBMITTED
from vacancies.operations.save import save_content
from vacancies.querysets import EVERY_BRAND, VacancyQuerySet

MAX_LINKED_VACANCIES = 10


@admin.register(Form)
class FormAdmin(BaseFormAdmin):
    """Users of some brands see the forms that their brands use and unused forms. They can change the
    forms that no other brand uses (docs/decisions.md #56)."""

    list_display = ("name", "is_default", "language", "extends", "vacancy_count", "brand_count", "updated_at")

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
        return super().has_change_permission(request, obj) and (obj is None or is_own(request.user, obj))

    def has_make_default_permission(self, request: UserRequest) -> bool:
        """The site's form affects every brand."""
        return super().has_make_default_permission(request) and request.user.has_perm(EVERY_BRAND)

    def has_delete_permission(self, request: UserRequest, obj: Form | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or is_own(request.user, obj))

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
        return {"id": vacancy.pk, "label": vacancy.title, "url": address(vacancy)} if vacancy else None

    def give(self, request: UserRequest, form: Form, key: str) -> None:
        if not request.user.has_perm("vacancies.change_vacancy"):
            raise PermissionDenied
        vacancy = get_object_or_404(Vacancy.objects.select_for_update(), pk=key)
        wanted = {"form": [form.pk, str(form)]}
        if save_content(vacancy, wanted, author=request.user, at=timezone.now()).approval:
            self.message_user(request, SUBMITTED)


def forms_for(user: User) -> QuerySet[Form]:
    """Return the forms that `user` may see: the site's form, forms of their brands, and unused forms.

    A form that extends another one is visible only if the other one is.
    """
    if user.has_perm(EVERY_BRAND):
        return Form.objects.all()
    # Read once: the conditions below repeat it eight times. And not joined: a form can have many vacancies.
    in_use = Form.objects.filter(pk__in=Vacancy.objects.editable_by(user).values("form"))
    used = Q(pk__in=list(in_use.values_list("pk", flat=True))) | Q(brands__in=brands_of(user))
    ours = Form.objects.filter(used | Q(extensions__in=Form.objects.filter(used))).values("pk")
    by_vacancy, by_brand = (model.objects.filter(form=OuterRef("pk")) for model in (Vacancy, Brand))
    taken = Form.objects.filter(Exists(by_vacancy) | Exists(by_brand))
    free = Form.objects.exclude(pk__in=taken.values("pk")).exclude(extensions__in=taken.values("pk"))
    whole = Form.objects.filter(
        Q(is_default=True) | Q(pk__in=ours) | Q(pk__in=free.values("pk")), extends=None
    )
    extending = Q(pk__in=free.values("pk"), extends__in=whole.values("pk"))
    return Form.objects.filter(Q(pk__in=whole.values("pk")) | Q(pk__in=ours) | extending)


def is_own(user: User, form: Form) -> bool:
    """Return whether a change of `form` affects only the brands of `user`."""
    if user.has_perm(EVERY_BRAND):
        return True
    if form.is_default or not forms_for(user).filter(pk=form.pk).exists():
        return False
    family = [form.pk, *form.extensions.values_list("pk", flat=True)]
    own = Vacancy.objects.editable_by(user).values("pk")
    others = Vacancy.objects.filter(form__in=family).exclude(pk__in=own)
    brands = Brand.objects.filter(form__in=family).exclude(pk__in=brands_of(user).values("pk"))
    return not (others.exists() or brands.exists())


def served_by(form: Form) -> VacancyQuerySet:
    """Return the vacancies whose applicants get `form`, or a form that extends it."""
    return Vacancy.objects.with_form().filter(
        Q(served_form_id=form.pk) | Q(served_form_id__in=form.extensions.values("pk"))
    )


def address(vacancy: Vacancy) -> str:
    return reverse("admin:vacancies_vacancy_change", args=[vacancy.pk])
