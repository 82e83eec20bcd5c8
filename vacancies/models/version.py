"""The history of a vacancy: one version for each change."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from vacancies.models.catalogue import Brand
from vacancies.models.vacancy import Vacancy


class Change(models.TextChoices):
    """The kinds of changes to a vacancy in the admin."""

    EXTERNAL = "found", _("Changed outside the admin")
    CREATED = "created", pgettext_lazy("a vacancy", "Created")
    CHANGED = "changed", _("Changed")
    PUBLISHED = "published", _("Published")
    SCHEDULED = "scheduled", _("Scheduled")
    UNPUBLISHED = "unpublished", _("Unpublished")
    EXTENDED = "extended", _("Extended")
    ARCHIVED = "archived", _("Archived")
    DUPLICATED = "duplicated", _("Duplicated")
    RESTORED = "restored", _("Restored")
    DELETED = "deleted", _("Deleted")


class Version(models.Model):
    """A change of a vacancy: its author, time, and the new values of the changed fields. Replaying
    the versions up to one gives the vacancy at that time (docs/decisions.md #57). Versions are kept
    when the vacancy is deleted.
    """

    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, related_name="versions"
    )
    # For access by brand, also after the vacancy was deleted.
    brand = models.ForeignKey(Brand, on_delete=models.SET_NULL, null=True, related_name="+")
    change = models.CharField(max_length=20, choices=Change.choices)
    content = models.JSONField(default=dict)
    # The values of the same fields before a change that can be undone. The version before may lack
    # them.
    before = models.JSONField(null=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["-id"], condition=Q(change=Change.DELETED), name="versions_deleted"
            )
        ]
        constraints = [
            models.CheckConstraint(condition=Q(change__in=Change.values), name="change_known")
        ]

    def __str__(self) -> str:
        return f"{self.get_change_display()}: {self.vacancy_id}"
