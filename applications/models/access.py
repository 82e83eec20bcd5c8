"""Access tokens and the access log."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from knox.models import AbstractAuthToken


class Token(AbstractAuthToken):
    """A bearer token of a user: its hash, its expiry, and a mark of the user's password. A change
    of password invalidates the token.
    """

    # The fields of AbstractAuthToken, with names that are translated.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="auth_token_set",
        verbose_name=_("user"),
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)
    expiry = models.DateTimeField(_("expiry"), null=True, blank=True)
    password_mark = models.CharField(max_length=64, editable=False)

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.token_key}…"


class Access(models.TextChoices):
    """The kinds of access to an application."""

    VIEW = "view", pgettext_lazy("an application", "seen")
    CHANGE = "change", pgettext_lazy("an application", "changed")
    EXPORT = "export", pgettext_lazy("an application", "exported")
    FILE = "file", pgettext_lazy("an application", "file opened")
    ERASE = "erase", pgettext_lazy("an application", "erased")


class AccessLog(models.Model):
    """An access to an application. Rows are only added. They have the application's id, so that
    they contain no personal data of an erased applicant.
    """

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        verbose_name=_("actor"),
    )
    application = models.PositiveBigIntegerField(_("application number"))
    action = models.CharField(_("action"), max_length=20, choices=Access.choices)
    at = models.DateTimeField(_("at"), default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("access")
        verbose_name_plural = pgettext_lazy("of applications", "access log")
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.get_action_display()} {self.at:%Y-%m-%d %H:%M}"
