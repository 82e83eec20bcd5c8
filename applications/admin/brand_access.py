"""The access log, and brand scoping for pages where nothing is added by hand."""

from typing import Any

from django.http import HttpRequest

from applications.models import Access, AccessLog
from vacancies.admin.brand_access import BrandScopedAdmin


def log_access(user: Any, action: Access, *pks: int) -> None:
    """Log that `user` did `action` with the applications `pks`."""
    AccessLog.objects.bulk_create(AccessLog(actor=user, application=pk, action=action) for pk in pks)


class BrandScopedNoAddAdmin(BrandScopedAdmin):
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
