"""The applications that a bulk action is about, with the stage change that the user saw."""

from applications.models import Application
from applications.querysets import ApplicationQuerySet
from jobsite.admin import selection

NAMES = (
    "given_name",
    "family_name",
    "email",
    "withdrawn_at",
    "language",
    "reference",
    "user__username",
    "user__first_name",
    "user__last_name",
    "user__email",
    "vacancy__title",
)


class ApplicationSelection(selection.Selection):
    """Applications by id, with the id of their latest stage change, or None without one."""

    parameter = "applications"

    @classmethod
    def of(cls, applications: ApplicationQuerySet) -> "ApplicationSelection":
        rows = applications.order_by().with_latest_change().values_list("pk", "change_id")
        return cls(dict(rows))

    def rows(self) -> ApplicationQuerySet:
        return Application.objects.filter(pk__in=list(self.seen))

    def brands(self) -> set[int | None]:
        return set(self.rows().order_by().values_list("vacancy__brand", flat=True))

    def addressed(self) -> ApplicationQuerySet:
        """Return the applications with all that an email can mention."""
        return self.rows().with_stage().with_email_facts().newest_first()

    def people(self) -> ApplicationQuerySet:
        """Return the applications with what names them, and with their stage, the newest first."""
        named = self.rows().with_stage().select_related("user", "vacancy")
        return named.only("user", "vacancy", *NAMES).newest_first()
