"""The applications before and after one, in the list that the user came from."""

from copy import copy
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.db.models import Q, QuerySet
from django.http import QueryDict

from applications.models import Application
from jobsite.types import UserRequest


def neighbours(
    model_admin: ModelAdmin, request: UserRequest, application: Application
) -> dict[str, int | None]:
    """Return the ids of the next newer and the next older application that the filters of the list
    have.
    """
    rows = listed(model_admin, request).order_by()
    at, pk = application.created_at, application.pk
    newer = rows.filter(Q(created_at__gt=at) | Q(created_at=at, pk__gt=pk)).order_by(
        "created_at", "pk"
    )
    older = rows.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=pk)).order_by(
        "-created_at", "-pk"
    )
    return {
        "newer": newer.values_list("pk", flat=True).first(),
        "older": older.values_list("pk", flat=True).first(),
    }


def listed(model_admin: ModelAdmin, request: UserRequest) -> QuerySet:
    """Return the rows of the list with the filters that the link to this page repeats; all that the
    user may see without filters, or with invalid ones.
    """
    filters = request.GET.get("_changelist_filters")
    changelist = changelist_of(model_admin, request, QueryDict(filters)) if filters else None
    return changelist.queryset if changelist else model_admin.get_queryset(request)


def changelist_of(model_admin: ModelAdmin, request: UserRequest, filters: QueryDict) -> Any:
    """Return the list with `filters`, or None if they are invalid."""
    of_list = copy(request)
    of_list.GET = filters  # type: ignore[assignment]
    try:
        return model_admin.get_changelist_instance(of_list)
    except (IncorrectLookupParameters, SuspiciousOperation):
        return None
