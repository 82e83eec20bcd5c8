"""Other systems, such as an HR system, that write vacancies and read applications, and their
tokens.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from vacancies.models.catalogue import Brand


class IntegrationScope(models.TextChoices):
    """What an integration may do."""

    READ = "vacancies:read", _("Read all vacancies")
    WRITE = "vacancies:write", _("Write, close and archive vacancies")
    PUBLISH = "vacancies:publish", _("Publish vacancies and change their dates")
    RECRUITERS = "recruiters:write", _("Add recruiters")
    APPLICATIONS = "applications:read", _("Read applications and their files")


class Integration(models.Model):
    """A system that uses the management interface. Its technical user, who cannot sign in, is the
    author of what it writes. It is switched off, not deleted: versions name its user.
    """

    name = models.CharField(_("name"), max_length=100, unique=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="integration",
        editable=False,
    )
    brands = models.ManyToManyField(
        Brand, blank=True, related_name="integrations", verbose_name=_("brands")
    )
    every_brand = models.BooleanField(
        _("every brand"), default=False, help_text=_("Also vacancies without a brand.")
    )
    scopes = models.JSONField(_("scopes"), default=list)
    is_enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("If off, its tokens are refused.")
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
    )

    class Meta:
        verbose_name = _("integration")
        verbose_name_plural = _("integrations")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def reaches(self, brand: Brand | None) -> bool:
        """Whether it may work with the vacancies of `brand`, None for those without one."""
        if self.every_brand:
            return True
        return brand is not None and self.brands.filter(pk=brand.pk).exists()


class IntegrationToken(models.Model):
    """A bearer token of an integration: only its hash is stored. `vacancies.manage.tokens` issues
    it.
    """

    MAX = 2  # of an integration: one to replace the other
    AGE, MAX_AGE = timedelta(days=365), timedelta(days=730)
    ENDS_SOON, UNUSED = timedelta(days=30), timedelta(days=90)

    integration = models.ForeignKey(Integration, on_delete=models.CASCADE, related_name="tokens")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    start = models.CharField(_("begins with"), max_length=8, editable=False)
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)
    expires_at = models.DateTimeField(_("expires at"), editable=False)
    last_used_at = models.DateTimeField(_("last used at"), null=True, editable=False)

    class Meta:
        verbose_name = _("token of an integration")
        verbose_name_plural = _("tokens of integrations")
        ordering = ["pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.start}…"

    @classmethod
    def to_renew(cls, *, at: datetime) -> "models.QuerySet[IntegrationToken]":
        """Return the tokens that expire soon or that nobody has used for long."""
        since = at - cls.UNUSED
        unused = models.Q(last_used_at__lt=since) | models.Q(
            last_used_at=None, created_at__lt=since
        )
        soon = models.Q(expires_at__lt=at + cls.ENDS_SOON)
        return cls._default_manager.filter(soon | unused, integration__is_enabled=True)
