"""The admin of brands."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey, ManyToManyField, QuerySet
from django.forms import ModelChoiceField, ModelForm, ModelMultipleChoiceField
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from jobsite.admin.base import counted, counted_link
from jobsite.api.absolute_urls import host_url, is_main_host
from jobsite.office.brand_email_pages import BrandEmailPages
from jobsite.types import UserRequest
from vacancies.access.brands import brands_of, colleagues_of, forms_for
from vacancies.admin.base import ContentAdmin, thumbnail
from vacancies.choices import Fact
from vacancies.models import Brand, Vacancy
from vacancies.operations.options import values_replaced
from vacancies.querysets import EVERY_BRAND


class BrandForm(ModelForm):
    request_host = ""  # that of the admin, which is no host of a brand

    def clean_slug(self) -> str:
        """Report a value that is taken at its field. The constraint reports it above the form."""
        slug: str = self.cleaned_data["slug"]
        if slug and Brand.objects.filter(slug=slug).exclude(pk=self.instance.pk).exists():
            raise ValidationError(_("Another brand has this value."), code="unique")
        return slug

    def clean_host(self) -> str:
        """Return the host as requests have it. A pasted URL without path is corrected."""
        host = self.cleaned_data["host"].lower().removeprefix("https://").removeprefix("http://")
        host = host.removesuffix("/").removesuffix(".")
        with suppress(UnicodeError):  # the validator refuses it
            host = host.encode("idna").decode()
        known = settings.PUBLIC_BASE_URL or settings.DEBUG or host == self.initial.get("host")
        if host and not known:
            raise ValidationError(
                _("Set PUBLIC_BASE_URL first: it tells which host is the main one.")
            )
        if host and (is_main_host(host) or host == self.request_host):
            raise ValidationError(_("This is the host of the main site."), code="main")
        if host and Brand.objects.filter(host=host).exclude(pk=self.instance.pk).exists():
            raise ValidationError(_("Another brand has this host."), code="unique")
        return host

    def clean_accent(self) -> str:
        digits = self.cleaned_data["accent"].lower().removeprefix("#")
        if len(digits) == 3:
            digits = "".join(digit * 2 for digit in digits)
        return f"#{digits}" if digits else ""

    class Meta:
        widgets: ClassVar = {
            "accent": UnfoldAdminTextInputWidget(
                attrs={"data-color": _("Choose a color"), "data-example": _("Apply")}
            )
        }

    class Media:
        js = ("vacancies/color.js",)


@admin.register(Brand)
class BrandAdmin(ContentAdmin):
    page_classes = (BrandEmailPages,)
    form = BrandForm
    list_display = ("name", "small_icon", "url", "vacancy_count")
    autocomplete_fields = ("form",)
    search_fields = ("name",)
    fieldsets = (
        (None, {"fields": ("name", "description", "url", "accent", "form")}),
        (_("People"), {"fields": ("members", "requires_approval")}),
        (
            _("Icons"),
            {
                "fields": (
                    "icon_small",
                    "icon_small_url",
                    "small_icon",
                    "icon_large",
                    "icon_large_url",
                    "large_icon",
                )
            },
        ),
        (_("For developers"), {"fields": ("slug", "vacancy_url", "host", "embed")}),
    )
    readonly_fields = ("embed", "small_icon", "large_icon")

    def get_fieldsets(self, request: UserRequest, obj: Brand | None = None) -> Sequence[tuple]:
        """Members of a brand can see its applicants, and who switches approval off can publish
        alone. Only users who manage accounts can edit both.
        """
        hidden = set() if request.user.has_perm("auth.change_user") else {"members"}
        left_out = set() if settings.CAREER_SITE else {"host", "accent", "embed"}
        return [
            (name, {"fields": tuple(each for each in spec["fields"] if each not in left_out)})
            for name, spec in self.fieldsets
            if hidden.isdisjoint(spec["fields"])
        ]

    def get_readonly_fields(self, request: UserRequest, obj: Brand | None = None) -> Any:
        """Links of other sites have the value, and the host is that of a server: who works for
        some brands does not change them.
        """
        own = super().get_readonly_fields(request, obj)
        return own if request.user.has_perm(EVERY_BRAND) else (*own, "slug", "host")

    def get_form(self, request: UserRequest, *args: Any, **kwargs: Any) -> type[BrandForm]:
        # A new class for each request.
        form: type[BrandForm] = super().get_form(request, *args, **kwargs)
        form.request_host = request.get_host().lower()
        return form

    def get_queryset(self, request: UserRequest) -> QuerySet:
        """Users see their brands only, also where a brand is chosen."""
        own = brands_of(request.user).values("pk")
        count = counted(Vacancy.objects.all(), "brand")
        return super().get_queryset(request).filter(pk__in=own).annotate(vacancy_count=count)

    def save_model(self, request: UserRequest, obj: Brand, form: BrandForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "slug" in form.fields and (old := form.initial.get("slug")):  # stored queries follow it
            values_replaced.send(Brand, keyword=Fact.BRAND, new={old: obj.slug})

    def formfield_for_foreignkey(
        self, db_field: ForeignKey, request: UserRequest, **kwargs: object
    ) -> ModelChoiceField | None:
        if db_field.name == "form":
            kwargs["queryset"] = forms_for(request.user)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(
        self, db_field: ManyToManyField, request: UserRequest, **kwargs: object
    ) -> ModelMultipleChoiceField | None:
        if db_field.name == "members":  # accounts that the user may not see are not revealed
            kwargs["queryset"] = colleagues_of(request.user).filter(is_staff=True)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    @display(description=_("List for another website"))
    def embed(self, brand: Brand) -> str:
        """Return the lines to copy (jobsite/site/embed.js)."""
        if not brand.slug:  # it is being added
            return "-"
        base = host_url(brand.host) or settings.PUBLIC_BASE_URL or "https://jobs.example.com"
        lines = (
            format_html('<script type="module" src="{}/embed.js"></script>', base),
            format_html(
                '<job-vacancies filter-brand="{}" size="10"><a '
                'href="{}/jobs">{}</a></job-vacancies>',
                brand.slug,
                base,
                brand.name,
            ),
        )
        return format_html('<pre class="copy">{}</pre>', "\n".join(lines))

    @display(description=_("Current small icon"))
    def small_icon(self, brand: Brand) -> str:
        return thumbnail(brand.icon_small, brand.icon_small_url)

    @display(description=_("Current large icon"))
    def large_icon(self, brand: Brand) -> str:
        return thumbnail(brand.icon_large, brand.icon_large_url)

    @display(description=_("Vacancies"), ordering="vacancy_count")
    def vacancy_count(self, brand: Any) -> str:
        return counted_link(Vacancy, "brand", brand, brand.vacancy_count)
