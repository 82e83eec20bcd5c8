"""The filters of the list of candidates: of a person, any application counts. The list shows the
newest one of those that the filters leave (list.py).
"""

from datetime import timedelta

from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter

from applications.admin.candidates.contact import contacted_since
from applications.admin.candidates.scope import own_applications
from applications.admin.list.filters import OLDER, PoolFilter, StageFilter, TagFilter
from applications.models import StageChange, without_undone
from jobsite.admin.base import as_id
from jobsite.types import StrOrPromise, UserRequest


class ReachedFilter(StageFilter):
    """By a stage that an application is in or was in."""

    title = _("stage reached")
    parameter_name = "reached"

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        stage = as_id(self.value())
        if stage is None:
            return queryset
        reached = StageChange.objects.filter(stage=stage).order_by()
        found = queryset.filter(pk__in=reached.values("application"))
        return found.exclude(pk__in=_undone(stage, reached))


def _undone(stage: int, reached: QuerySet) -> list[int]:
    """Return the ids of the applications whose moves to `stage` were all undone."""
    undos = StageChange.objects.filter(is_undo=True).order_by().values("application")
    rows = StageChange.objects.filter(application__in=reached.values("application"))
    changes: dict[int, list[StageChange]] = {}
    for each in rows.filter(application__in=undos).order_by("at", "pk"):
        changes.setdefault(each.application_id, []).append(each)
    return [
        pk
        for pk, own in changes.items()
        if all(each.stage_id != stage for each in without_undone(own))
    ]


class ContactFilter(DropdownFilter):
    """By the last contact with the person, about any application. Persons with an application in
    `left_out` are not listed.
    """

    left_out: QuerySet | None = None
    title = _("last contact")
    parameter_name = "contact"

    def lookups(
        self, request: UserRequest, model_admin: ModelAdmin
    ) -> list[tuple[str, StrOrPromise]]:
        return [
            ("7", _("Last 7 days")),
            ("30", _("Last 30 days")),
            (f"{OLDER}90", _("Older than 90 days")),
            (f"{OLDER}180", _("Older than 180 days")),
            (f"{OLDER}365", _("Older than 365 days")),
        ]

    def queryset(self, request: UserRequest, queryset: QuerySet) -> QuerySet:
        chosen, at = self.value() or "", timezone.now()
        if chosen not in dict(self.lookup_choices):
            return queryset
        since = at - timedelta(days=int(chosen.removeprefix(OLDER)))
        if not chosen.startswith(OLDER):
            return contacted_since(queryset, since, at=at)
        self.left_out = contacted_since(own_applications(request.user), since, at=at)
        return queryset.exclude(pk__in=self.left_out.order_by().values("pk"))


FILTERS = (PoolFilter, TagFilter, ReachedFilter, ContactFilter)
