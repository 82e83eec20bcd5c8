"""Tags of applications: words of the recruiters of a brand."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from applications.models.application import Application
from vacancies.models import Brand


class Tag(models.Model):
    """A word that recruiters of a brand mark applications with. For recruiters only."""

    NAME_MAX = 40

    brand = models.ForeignKey(
        Brand, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    name = models.CharField(_("name"), max_length=NAME_MAX)
    folded = models.CharField(max_length=2 * NAME_MAX)  # without case and accents

    class Meta:
        verbose_name = _("tag")
        verbose_name_plural = _("tags")
        default_permissions = ()  # whoever may change applications may use it
        ordering = ["folded", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["brand", "folded"], name="one_tag_per_brand"),
            models.UniqueConstraint(
                fields=["folded"], condition=Q(brand=None), name="one_tag_without_brand"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ApplicationTag(models.Model):
    """A tag of an application."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="tag_links")
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="links")

    class Meta:
        verbose_name = _("tag of an application")
        verbose_name_plural = _("tags of applications")
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["application", "tag"], name="application_tag_once")
        ]

    def __str__(self) -> str:
        return f"{self.application_id} {self.tag_id}"
