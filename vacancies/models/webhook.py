"""Webhooks: the addresses of other systems that are told when a list changes, and the attempts to
reach them (vacancies/webhooks).
"""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from jobsite.http_client import why_refused
from vacancies.models.catalogue import Brand
from vacancies.models.integration import Integration, IntegrationScope


def validate_receiver(url: str) -> None:
    """Raise ValidationError with the rule that keeps `url` from getting requests."""
    if text := why_refused(url, settings.WEBHOOK_PORTS):
        raise ValidationError(gettext(text))


class WebhookQuerySet(models.QuerySet):
    def active(self) -> Self:
        return self.filter(state=Webhook.State.ACTIVE)

    def due(self, at: datetime) -> Self:
        """Return those with a request to send at `at`."""
        return self.active().exclude(pending_id="").filter(next_at__lte=at)


class Webhook(models.Model):
    """A client of the feed that pushes: it has a cursor and, while there is something to send, the
    request and the cursor after it. A secret is not stored (vacancies/webhooks/signing.py).
    """

    class Kind(models.TextChoices):
        EVENTS = "events", _("Events")
        BUILD = "build", _("Build hook")

    class Audience(models.TextChoices):
        PUBLIC = "public", _("Public vacancies")
        INTERNAL = "internal", _("Internal vacancies")

    class State(models.TextChoices):
        ACTIVE = "active", pgettext_lazy("a webhook", "active")
        PAUSED = "paused", pgettext_lazy("a webhook", "paused")
        FAILED = "failed", pgettext_lazy("a webhook", "failed")

    name = models.CharField(_("name"), max_length=100, unique=True)
    url = models.CharField(
        _("address"),
        max_length=500,
        validators=[validate_receiver],
        help_text=_("Of the receiver: https://example.com/jobs-hook"),
    )
    kind = models.CharField(
        _("kind"),
        max_length=10,
        choices=Kind.choices,
        default=Kind.EVENTS,
        help_text=_("A build hook gets an empty request, at most one in 5 minutes."),
    )
    brand = models.ForeignKey(
        Brand,
        models.CASCADE,
        null=True,
        blank=True,
        verbose_name=_("brand"),
        help_text=_("If empty: all brands."),
    )
    audience = models.CharField(
        _("list"), max_length=10, choices=Audience.choices, default=Audience.PUBLIC
    )
    integration = models.ForeignKey(
        Integration,
        models.SET_NULL,
        null=True,
        blank=True,
        db_index=False,
        related_name="webhooks",
        verbose_name=_("integration"),
        help_text=_("It is also told about the applications that this integration may read."),
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        limit_choices_to={"is_staff": True},
        related_name="+",
        verbose_name=_("owner"),
        help_text=_("Receives an email when the receiver cannot be reached any more."),
    )
    secret_number = models.PositiveIntegerField(default=1, editable=False)
    secret_at = models.DateTimeField(null=True, editable=False)  # when the number was raised
    cursor = models.CharField(max_length=400, editable=False)
    # Of the applications. Only the app of the applications reads and writes it.
    application_cursor = models.CharField(max_length=400, default="", db_default="", editable=False)
    # What is to be sent: its event (empty: a build), the id of the request, its body, and the cursor
    # after it.
    pending_event = models.CharField(max_length=40, default="", db_default="", editable=False)
    pending_id = models.CharField(max_length=40, default="", editable=False)
    pending_body = models.TextField(default="", editable=False)
    pending_cursor = models.CharField(max_length=400, default="", editable=False)
    pending_at = models.DateTimeField(null=True, editable=False)
    state = models.CharField(
        _("status"), max_length=10, choices=State.choices, default=State.ACTIVE, editable=False
    )
    tries = models.PositiveSmallIntegerField(default=0, editable=False)  # that failed
    next_at = models.DateTimeField(null=True, editable=False)
    sent_at = models.DateTimeField(_("last sent at"), null=True, editable=False)
    told_at = models.DateTimeField(null=True, editable=False)  # the owner, that it failed

    objects = WebhookQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.integration is None:
            return
        errors = {}
        if self.kind == self.Kind.BUILD:
            errors["integration"] = gettext("A build hook is not told about applications.")
        elif IntegrationScope.APPLICATIONS not in self.integration.scopes:
            errors["integration"] = gettext("This integration may not read applications.")
        elif self.brand and not self.integration.reaches(self.brand):
            errors["brand"] = gettext("The integration does not have this brand.")
        if errors:
            raise ValidationError(errors)


class WebhookAttempt(models.Model):
    """A request of a webhook and the answer. The last KEPT of each webhook are kept."""

    KEPT, ANSWER_MAX = 100, 500

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="attempts")
    at = models.DateTimeField()
    event = models.CharField(max_length=40)  # its type, or "build"
    status = models.PositiveSmallIntegerField(null=True)  # None: no answer
    reason = models.CharField(max_length=200, default="")  # why there is none, in English
    milliseconds = models.PositiveIntegerField()
    answer = models.CharField(max_length=ANSWER_MAX, default="")  # its first characters

    class Meta:
        default_permissions = ()
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.webhook_id} {self.at}"

    @property
    def is_accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300
