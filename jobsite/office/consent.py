"""Consent texts: a new version is added, none is ever changed.
Those of a brand are added on its page.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.forms import ModelForm
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from forms_structure.models import ConsentText
from jobsite.admin.base import JobsiteAdmin, as_id
from jobsite.types import UserRequest
from vacancies.access.brands import brands_of
from vacancies.models import Brand
from vacancies.querysets import EVERY_BRAND


class ConsentBrandFilter(admin.SimpleListFilter):
    title = _("brand")
    parameter_name = "brand"

    def lookups(self, request: UserRequest, model_admin: Any) -> list[tuple[int, str]]:  # type: ignore[override]
        numbers = ConsentText.objects.exclude(brand_number=None).order_by().values("brand_number")
        return list(brands_of(request.user).filter(pk__in=numbers).values_list("pk", "name"))

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:  # type: ignore[override]
        return queryset.filter(brand_number=as_id(self.value())) if self.value() else queryset


@admin.register(ConsentText)
class ConsentTextAdmin(JobsiteAdmin):
    list_display = ("shown_text", "purpose", "language", "brand", "version", "created_at")
    list_filter = ("purpose", "language", ConsentBrandFilter)
    readonly_fields = ("brand",)

    def get_fields(self, request: UserRequest, obj: ConsentText | None = None) -> Sequence[str]:
        return (
            *(("brand",) if obj else ()),
            "purpose",
            "language",
            "text",
            "statement_url",
            "statement_label",
        )

    def get_queryset(self, request: UserRequest) -> QuerySet:
        """The texts of the site and of the user's brands.
        Users of every brand see those of deleted ones.
        """
        name = Subquery(Brand.objects.filter(pk=OuterRef("brand_number")).values("name"))
        texts = super().get_queryset(request).annotate(brand_name=name)
        if request.user.has_perm(EVERY_BRAND):
            return texts
        return texts.filter(
            Q(brand_number=None) | Q(brand_number__in=brands_of(request.user).values("pk"))
        )

    def has_change_permission(self, request: UserRequest, obj: ConsentText | None = None) -> bool:
        return False

    def has_delete_permission(self, request: UserRequest, obj: ConsentText | None = None) -> bool:
        return False

    def save_model(
        self, request: UserRequest, obj: ConsentText, form: ModelForm, change: bool
    ) -> None:
        added = ConsentText.objects.add(**form.cleaned_data)
        obj.pk, obj.version = added.pk, added.version

    @display(description=_("Text"))
    def shown_text(self, text: ConsentText) -> str:
        return text.text or gettext("No text of its own")

    @display(description=_("Brand"))
    def brand(self, text: Any) -> str:
        if text.brand_number is None:
            return gettext("text of the site")
        return text.brand_name or gettext("deleted brand")
