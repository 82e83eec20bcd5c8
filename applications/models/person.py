"""People: their newest applications, and what colleagues said about which ones are of one person."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from applications.models.application import Application


class Candidate(Application):
    """The newest application of a person (applications/admin/candidates)."""

    class Meta:
        proxy = True
        verbose_name = _("candidate")
        verbose_name_plural = _("candidates")
        default_permissions = ()  # whoever may view applications, and sees all of them


class PersonChange(models.Model):
    """A colleague joined or separated applications. It has no personal data."""

    KEPT = timedelta(days=30)  # as long as it can be undone

    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)
    # `Application.person` of each application before, by id
    before = models.JSONField()
    undone_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("joined applications")
        verbose_name_plural = _("joined applications")
        default_permissions = ()  # whoever may change the applications may undo it
        indexes = [models.Index(fields=["at"], name="person_changes_by_time")]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"
