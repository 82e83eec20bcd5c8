"""The access log, and brand scoping for pages where nothing is added by hand."""

from django.contrib.auth.models import User
from django.db.models import Model

from applications.models import Access, AccessLog
from jobsite.types import UserRequest
from vacancies.admin.brand_access import BrandScopedAdmin


def log_access(user: User, action: Access, *pks: int) -> None:
    """Log that `user` did `action` with the applications `pks`."""
    AccessLog.objects.bulk_create(AccessLog(actor=user, application=pk, action=action) for pk in pks)


class BrandScopedNoAddAdmin(BrandScopedAdmin):
    def has_add_permission(self, request: UserRequest, obj: Model | None = None) -> bool:
        return False
