"""Templates for new vacancies."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from vacancies.models.catalogue import Brand
from vacancies.querysets import EVERY_BRAND, own_brand


class TemplateQuerySet(models.QuerySet):
    def usable_by(self, user: User) -> Self:
        """Templates of the brands of `user`, and those for all brands."""
        if user.has_perm(EVERY_BRAND):
            return self.all()
        return self.filter(own_brand(user) | Q(brand=None))


class VacancyTemplate(models.Model):
    """The content with which a new vacancy starts, without status and dates. It is JSON and not the
    row of a vacancy, which every list, count and filter would have to leave out.
    """

    name = models.CharField(_("name"), max_length=200)
    brand = models.ForeignKey(
        Brand,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text=_(
            "Who sees the template: the recruiters of this brand. If empty, all recruiters."
        ),
        verbose_name=_("brand"),
    )
    # As Version.content, without the publication.
    content = models.JSONField(_("content"), default=dict)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        verbose_name=_("updated by"),
    )
    updated_at = models.DateTimeField(_("updated at"), default=timezone.now)

    objects = TemplateQuerySet.as_manager()

    class Meta:
        verbose_name = _("vacancy template")
        verbose_name_plural = _("vacancy templates")
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["name", "brand"],
                name="one_template_per_name",
                violation_error_message=_("There is a template with this name."),
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(brand=None),
                name="one_shared_template_per_name",
                violation_error_message=_("There is a template with this name."),
            ),
        ]

    def __str__(self) -> str:
        return self.name
