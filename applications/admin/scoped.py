"""Lists of rows that belong to an application. Those of others are excluded."""

from django.db.models import QuerySet

from applications.querysets import of_visible
from jobsite.admin.base import JobsiteAdmin
from jobsite.types import UserRequest


class ScopedAdmin(JobsiteAdmin):
    application = "application"  # the lookup that leads there; "" for applications themselves

    def get_queryset(self, request: UserRequest) -> QuerySet:
        return of_visible(super().get_queryset(request), request.user, self.application)
