"""Whose applications a recruiter may see: those to vacancies of the own brands."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from applications.models import Access, AccessLog
from jobsite.workplace import WorkplaceAdmin, as_id

EVERY_BRAND = "vacancies.work_for_every_brand"


def within(user: Any, rows: QuerySet, vacancy: str) -> QuerySet:
    """Return those of `rows` whose vacancy, reached through `vacancy`, is of a brand of `user`."""
    if user.has_perm(EVERY_BRAND):
        return rows
    return rows.filter(**{f"{vacancy}__brand__in": user.brands.all()})


def record(user: Any, action: Access, *pks: int) -> None:
    """Add to the access log that `user` did `action` with the applications `pks`."""
    AccessLog.objects.bulk_create(AccessLog(actor=user, application=pk, action=action) for pk in pks)


class WalledAdmin(WorkplaceAdmin):
    """A page of rows that belong to a vacancy: those of other brands are not there at all."""

    vacancy = "vacancy"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return within(request.user, super().get_queryset(request), self.vacancy)

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Django looks here past `get_queryset`."""
        get_object_or_404(self.get_queryset(request), pk=as_id(object_id))
        return super().history_view(request, object_id, extra_context)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
