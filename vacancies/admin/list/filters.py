"""The filters of the vacancy changelist, beside plain columns."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter

from jobsite.admin.base import as_id
from jobsite.languages import stated, text_languages
from jobsite.text.iso_names import language_name
from jobsite.types import StrOrPromise, UserRequest
from vacancies.access.brands import brands_of
from vacancies.choices import Audience, State, VacancyStatus
from vacancies.models import VacancyText, waiting_for_approval
from vacancies.quality.warnings import CONTENT_WARNINGS, OUTDATED, closing_soon, filter_by_warning
from vacancies.querysets import VacancyQuerySet

Lookups = Sequence[tuple[str, StrOrPromise]]


class StateFilter(DropdownFilter):
    """By the current state. Archived vacancies are shown only on request."""

    title = _("status")
    parameter_name = "state"
    all_option: list[StrOrPromise] = ["", _("All except archived")]
    ALL = "all"

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> Lookups:
        return [*State.choices, (self.ALL, _("All, including archived"))]

    def queryset(self, request: UserRequest, queryset: VacancyQuerySet) -> VacancyQuerySet:
        if self.value() in State.values:
            return queryset.in_state(self.value(), at=timezone.now())
        return (
            queryset
            if self.value() == self.ALL
            else queryset.exclude(status=VacancyStatus.ARCHIVED)
        )


APPROVAL = "approval"
ENDING = "ending"
FILLED = "filled"
REASONS = [
    (APPROVAL, _("Waiting for approval")),
    (ENDING, _("Closing within a week")),
    (FILLED, _("Filled, and still public")),
    *((warning.code, warning.label) for warning in CONTENT_WARNINGS),
]


class AttentionFilter(DropdownFilter):
    """By reason to need attention, as on the dashboard."""

    title = _("needs attention")
    parameter_name = "attention"

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> Lookups:
        return [each for each in REASONS if text_languages() or each[0] != OUTDATED]

    def queryset(self, request: UserRequest, queryset: VacancyQuerySet) -> VacancyQuerySet:
        return attention(queryset, self.value())


def attention(vacancies: VacancyQuerySet, code: str | None) -> VacancyQuerySet:
    """Return the `vacancies` that need attention for the reason `code`;
    all of them for an unknown code.
    """
    now = timezone.now()
    if code == APPROVAL:
        return waiting_for_approval(vacancies)
    if code == ENDING:
        return vacancies.filter(closing_soon(at=now))
    if code == FILLED:
        return filled(vacancies.in_state(State.PUBLISHED, at=now))
    known = code in {warning.code for warning in CONTENT_WARNINGS}
    return filter_by_warning(vacancies, str(code), at=now) if known else vacancies


def filled(vacancies: VacancyQuerySet) -> VacancyQuerySet:
    """Return those of `vacancies` that are marked as filled."""
    return vacancies.filter(requisition__filled_at__isnull=False)


class BrandFilter(DropdownFilter):
    """By one of the brands of the user."""

    title = _("brand")
    parameter_name = "brand__id__exact"

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> Lookups:
        return [(str(brand.pk), brand.name) for brand in brands_of(request.user)]

    def queryset(self, request: UserRequest, queryset: VacancyQuerySet) -> VacancyQuerySet:
        brand = as_id(self.value())
        return queryset if brand is None else queryset.filter(brand=brand)


class TextFilter(DropdownFilter):
    """By the state of the texts in a language. Without further languages, there is none."""

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> Lookups:
        return [(code, capfirst(language_name(code))) for code in text_languages()]

    def queryset(self, request: UserRequest, queryset: VacancyQuerySet) -> VacancyQuerySet:
        if self.value() not in text_languages():
            return queryset
        return self.chosen(queryset, Q(language__in=stated(str(self.value()))))

    def texts(self) -> Any:
        return VacancyText.objects.filter(vacancy=OuterRef("pk"), language=self.value())

    def chosen(self, queryset: VacancyQuerySet, own: Q) -> VacancyQuerySet:
        """Return the vacancies; `own` is the condition that the language is that of the vacancy."""
        return queryset.filter(own | Exists(self.texts().filter(is_ready=True)))


class ReadyFilter(TextFilter):
    title = _("ready in")
    parameter_name = "ready"


class NotReadyFilter(TextFilter):
    title = _("not ready in")
    parameter_name = "not_ready"

    def chosen(self, queryset: VacancyQuerySet, own: Q) -> VacancyQuerySet:
        return queryset.exclude(own).exclude(Exists(self.texts().filter(is_ready=True)))


class OutdatedFilter(TextFilter):
    title = _("outdated in")
    parameter_name = "outdated"

    def chosen(self, queryset: VacancyQuerySet, own: Q) -> VacancyQuerySet:
        return queryset.filter(Exists(self.texts().outdated()))


class MineFilter(DropdownFilter):
    """By whether the user is a recruiter of the vacancy, or created it."""

    title = _("my vacancies")
    parameter_name = "mine"

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> Lookups:
        return [("1", _("Only mine"))]

    def queryset(self, request: UserRequest, queryset: VacancyQuerySet) -> VacancyQuerySet:
        return queryset.assigned_to(request.user) if self.value() == "1" else queryset


class AudienceFilter(DropdownFilter):
    title = _("audience")
    parameter_name = "audience__exact"

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> Lookups:
        return Audience.choices

    def queryset(self, request: UserRequest, queryset: VacancyQuerySet) -> VacancyQuerySet:
        return (
            queryset.filter(audience=self.value()) if self.value() in Audience.values else queryset
        )


class FeaturedFilter(DropdownFilter):
    title = _("featured")
    parameter_name = "is_hot__exact"

    def lookups(self, request: UserRequest, model_admin: ModelAdmin) -> Lookups:
        return [("1", _("Yes")), ("0", _("No"))]

    def queryset(self, request: UserRequest, queryset: VacancyQuerySet) -> VacancyQuerySet:
        return (
            queryset.filter(is_hot=self.value() == "1") if self.value() in ("0", "1") else queryset
        )
