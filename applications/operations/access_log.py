"""The access log."""

from django.contrib.auth.models import User

from applications.models import Access, AccessLog


def log_access(user: User, action: Access, *pks: int) -> None:
    """Log that `user` did `action` with the applications `pks`."""
    AccessLog.objects.bulk_create(
        AccessLog(actor=user, application=pk, action=action) for pk in pks
    )
