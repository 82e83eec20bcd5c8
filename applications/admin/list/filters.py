"""The filters of the list of applications. Invalid values filter nothing."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.admin import ModelAdmin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import AutocompleteSelectFilter, DropdownFilter

from applications.admin.moves.pages import stages
from applications.admin.page.assigning import tags_of
from applications.models import ApplicationTag, Reason
from jobsite.admin.base import as_id
from jobsite.types import StrOrPromise, UserRequest
from vacancies.models import Vacancy

OLDER = "older"


class VacancyFilter(AutocompleteSelectFilter):
    """By a vacancy, found by typing. That of another brand is neither found nor named."""

    def __init__(
        self, field: object, request: UserRequest, params: Any, *args: Any, **kwargs: Any
    ) -> None:
        sent = as_id((params.pop("vacancy__id__exact", None) or [""])[-1])
        super().__init__(field, request, params, *args, **kwargs)
        if sent is not None:
            self.lookup_val = [str(sent)]
            self.used_parameters[self.lookup_kwarg] = sent

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, object]]:
        [choice] = super().choices(changelist)
        own = Vacancy.objects.only("title").reachable_by(self.request.user)
        choice["form"].fields[self.lookup_kwarg].queryset = own
        yield choice

    def labels(self) -> list[str]:
        own = Vacancy.objects.only("title").reachable_by(self.request.user)
        return [str(vacancy) for vacancy in own.filter(pk=self.value())] if self.value() else []

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        return queryset.filter(vacancy=self.value()) if self.value() else queryset


class StageFilter(DropdownFilter):
    """By the current stage, not by earlier ones."""

    title = _("stage")
    parameter_name = "stage"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [(str(stage.pk), str(stage)) for stage in stages(request)]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        stage = as_id(self.value())
        return queryset if stage is None else queryset.filter(stage_id=stage)


class ReasonFilter(DropdownFilter):
    """By the reason of the current stage."""

    title = _("reason")
    parameter_name = "reason"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [(str(reason.pk), str(reason)) for reason in Reason.objects.all()]

    def queryset(self, request: UserRequest, queryset: Any) -> QuerySet:  # type: ignore[override]
        reason = as_id(self.value())
        return queryset if reason is None else queryset.with_reason().filter(reason_id=reason)


class AgeFilter(DropdownFilter):
    title = _("age")
    parameter_name = "age"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [
            ("1", _("Last 24 hours")),
            ("7", _("Last 7 days")),
            ("30", _("Last 30 days")),
            (f"{OLDER}30", _("Older than 30 days")),
            (f"{OLDER}90", _("Older than 90 days")),
        ]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        chosen = self.value() or ""
        if chosen not in dict(self.lookup_choices):
            return queryset
        limit = timezone.now() - timedelta(days=int(chosen.removeprefix(OLDER)))
        is_older = chosen.startswith(OLDER)
        return queryset.filter(**{"created_at__lt" if is_older else "created_at__gte": limit})


class ReadFilter(DropdownFilter):
    """By whether a recruiter has opened or marked the application."""

    title = _("new or read")
    parameter_name = "read"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [("no", _("New")), ("yes", _("Read"))]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        if self.value() not in ("yes", "no"):
            return queryset
        return queryset.filter(read_at__isnull=self.value() == "no")


class DecisionFilter(DropdownFilter):
    """By whether an application waits for a decision for a week."""

    title = _("decision")
    parameter_name = "decision"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [("none", _("None for a week"))]

    def queryset(self, request: UserRequest, queryset: Any) -> QuerySet:  # type: ignore[override]
        return undecided_before(queryset) if self.value() == "none" else queryset


def undecided_before(applications: Any) -> QuerySet:
    """Return the `applications` of which the stage decides nothing, and did
    not change for a week.
    """
    return applications.undecided_since(timezone.now() - timedelta(days=7))


class MarkFilter(DropdownFilter):
    """By what is special about an application."""

    title = _("mark")
    parameter_name = "mark"
    CONDITIONS: ClassVar[dict[str, tuple[StrOrPromise, dict[str, object]]]] = {
        "repeated": (_("Applied again"), {"is_repeated": True}),
        "withdrawn": (_("Withdrawn"), {"withdrawn_at__isnull": False}),
        "active": (_("Not withdrawn"), {"withdrawn_at__isnull": True}),
        "spontaneous": (_("Open application"), {"is_spontaneous": True}),
    }

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [(code, label) for code, (label, _condition) in self.CONDITIONS.items()]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        _label, condition = self.CONDITIONS.get(self.value() or "", ("", {}))
        return queryset.filter(**condition)


class PayFilter(DropdownFilter):
    """By whether the applicant has to know the pay before an interview, and was not told it."""

    title = pgettext_lazy("of a vacancy", "pay")
    parameter_name = "pay"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [("untold", _("Pay not told"))] if settings.PAY_TOLD_IN else []

    def queryset(self, request: UserRequest, queryset: Any) -> QuerySet:  # type: ignore[override]
        return queryset.pay_not_told() if self.value() == "untold" else queryset


class RatingFilter(DropdownFilter):
    title = _("rating")
    parameter_name = "rating"
    NONE = "none"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        at_least = [(str(n), gettext("At least %(rating)s") % {"rating": n}) for n in (5, 4, 3, 2)]
        return [*at_least, (self.NONE, _("Not rated"))]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        rating = as_id(self.value())
        if self.value() == self.NONE:
            return queryset.filter(rating=None)
        return queryset if rating is None else queryset.filter(rating__gte=rating)


class OwnerFilter(DropdownFilter):
    """By who looks after an application."""

    title = _("assigned to")
    parameter_name = "owner"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [("me", _("Mine")), ("nobody", _("Nobody"))]

    def queryset(self, request: UserRequest, queryset: Any) -> QuerySet:  # type: ignore[override]
        if self.value() == "me":
            return queryset.assigned_to(request.user)
        return queryset.assigned_to_nobody() if self.value() == "nobody" else queryset


class TagFilter(DropdownFilter):
    """By a tag, of whichever brand of the user."""

    title = _("tag")
    parameter_name = "tag"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [(folded, name) for folded, name in tags_of(request.user)]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        if not self.value():
            return queryset
        tagged = ApplicationTag.objects.filter(tag__folded=self.value())
        return queryset.filter(pk__in=tagged.values("application"))


class PoolFilter(DropdownFilter):
    """By whether an applicant is in the talent pool, or was asked and can still answer."""

    title = _("talent pool")
    parameter_name = "pool"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [("in", _("In the talent pool")), ("asked", _("Asked, no answer yet"))]

    def queryset(self, request: UserRequest, queryset: Any) -> QuerySet:  # type: ignore[override]
        if self.value() == "in":
            return queryset.in_pool()
        return queryset.asked_for_pool() if self.value() == "asked" else queryset


class WaitingFilter(DropdownFilter):
    """By whether an application is in its stage for longer than the stage allows."""

    title = _("waiting")
    parameter_name = "waiting"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [("long", _("Too long in its stage"))]

    def queryset(self, request: UserRequest, queryset: Any) -> QuerySet:  # type: ignore[override]
        return queryset.waiting_too_long(at=timezone.now()) if self.value() == "long" else queryset


FILTERS = (
    ("vacancy", VacancyFilter),
    StageFilter,
    ReasonFilter,
    AgeFilter,
    ReadFilter,
    DecisionFilter,
    WaitingFilter,
    RatingFilter,
    MarkFilter,
    PayFilter,
    OwnerFilter,
    TagFilter,
    PoolFilter,
)
JUDGED_FILTERS = (StageFilter, AgeFilter)  # of who only judges
