"""System checks of the virus scanner, retention and erasure (manage.py check, check --deploy)."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from applications.models import Application
from applications.submissions import antivirus
from jobsite.ops.checks import register_content_check


@register(Tags.security)
def antivirus_is_valid(**kwargs: Any) -> list[CheckMessage]:
    """Report an address of a virus scanner that cannot be used. Every file would be stored without a scan."""
    if not settings.ANTIVIRUS:
        return []
    try:
        antivirus.address()
    except ValueError as error:
        return [Error(str(error), id="jobsite.E014")]
    return []


@register_content_check
def applications_expire() -> list[CheckMessage]:
    """Report a site with applications that are never deleted, or that a backup would bring back."""
    if not Application.objects.exists():
        return []
    messages: list[CheckMessage] = []
    if not settings.APPLICATIONS_KEPT_DAYS:
        messages.append(
            Warning(
                "Applications are never deleted.",
                hint="Set APPLICATIONS_KEPT_DAYS, and run purge_applications daily (jobsite-purge.timer).",
                id="jobsite.W016",
            )
        )
    if not settings.ERASURE_LOG:
        messages.append(
            Warning(
                "Restoring a backup also restores erased applicants.",
                hint="Set ERASURE_LOG to a file beside the backups.",
                id="jobsite.W017",
            )
        )
    return messages
