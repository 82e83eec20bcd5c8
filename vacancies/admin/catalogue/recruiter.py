"""Recruiters, and which of their contact details are public."""

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from jobsite.admin.base import counted
from jobsite.types import UserRequest
from vacancies.access.brands import scope_to_brands
from vacancies.admin.base import ContentAdmin, thumbnail
from vacancies.models import Recruiter, Vacancy, VacancyRecruiter


@admin.register(Recruiter)
class RecruiterAdmin(ContentAdmin):
    list_display = ("name", "portrait", "function", "public_details", "head_count", "link_count")
    # Not the e-mail: autocomplete would confirm a hidden address.
    search_fields = ("name", "function")
    fieldsets = (
        (None, {"fields": ("name", "function")}),
        (_("Contact"), {"fields": ("email", "is_email_public", "phone", "is_phone_public")}),
        (_("Image"), {"fields": ("image", "image_url", "portrait")}),
    )
    readonly_fields = ("portrait",)

    def get_queryset(self, request: UserRequest) -> QuerySet:
        """All users see all recruiters.
        The counts include only the vacancies of the user's brands.
        """
        links = scope_to_brands(request.user, VacancyRecruiter.objects.all(), "vacancy")
        counts = {
            "head_count": counted(Vacancy.objects.editable_by(request.user), "head_recruiter"),
            "link_count": counted(links, "recruiter"),
        }
        return super().get_queryset(request).annotate(**counts)

    def has_change_permission(self, request: UserRequest, obj: Recruiter | None = None) -> bool:
        """Users of some brands cannot change a recruiter who is shown on
        vacancies of other brands.
        """
        return super().has_change_permission(request, obj) and (
            obj is None or is_own(request.user, obj)
        )

    def has_delete_permission(self, request: UserRequest, obj: Recruiter | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (
            obj is None or is_own(request.user, obj)
        )

    @display(description=_("Current image"))
    def portrait(self, recruiter: Recruiter) -> str:
        return thumbnail(recruiter.image, recruiter.image_url)

    @display(description=_("Public contact details"))
    def public_details(self, recruiter: Recruiter) -> str:
        seen = {_("e-mail"): recruiter.shown_email, _("phone"): recruiter.shown_phone}
        return ", ".join(str(name) for name, value in seen.items() if value) or "-"

    @display(description=_("Lead recruiter for"), ordering="head_count")
    def head_count(self, recruiter: Recruiter) -> int:
        return recruiter.head_count  # type: ignore[attr-defined] # annotated

    @display(description=_("Other recruiter for"), ordering="link_count")
    def link_count(self, recruiter: Recruiter) -> int:
        return recruiter.link_count  # type: ignore[attr-defined] # annotated


def is_own(user: User, recruiter: Recruiter) -> bool:
    """Return whether `recruiter` is shown only on vacancies of the brands of `user`."""
    shown = Vacancy.objects.filter(
        Q(head_recruiter=recruiter) | Q(recruiter_links__recruiter=recruiter)
    )
    return not shown.exclude(pk__in=Vacancy.objects.editable_by(user).values("pk")).exists()
