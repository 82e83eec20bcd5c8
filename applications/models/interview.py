"""Who takes part in an interview, and the addresses of calendars that show them."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from applications.models.history_entry import Interview
from jobsite.text.names import person

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class Participant(models.Model):
    """A colleague, or the applicant (`user` is null), who is invited to an interview."""

    class Reply(models.TextChoices):
        """The answer to an invitation, and its PARTSTAT in calendars."""

        NONE = "", pgettext_lazy("an invitation", "no answer yet")
        ACCEPTED = "accepted", pgettext_lazy("an invitation", "accepted")
        TENTATIVE = "tentative", pgettext_lazy("an invitation", "tentative")
        DECLINED = "declined", pgettext_lazy("an invitation", "declined")

    entry = models.ForeignKey(Interview, on_delete=models.CASCADE, related_name="participants")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    address = models.EmailField()  # that the emails go to
    sequence = models.PositiveIntegerField(default=0)  # of the latest email
    reply = models.CharField(max_length=10, choices=Reply.choices, blank=True, default=Reply.NONE)
    replied_at = models.DateTimeField(null=True, blank=True)
    # The start that the reminder was about.
    reminded_for = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("participant")
        verbose_name_plural = _("participants")
        ordering = ["pk"]
        default_permissions = ()  # whoever may change the application may invite to an interview
        constraints = [
            models.UniqueConstraint(fields=["entry", "user"], name="one_participant_per_user"),
            models.UniqueConstraint(
                fields=["entry"], condition=Q(user=None), name="one_participant_is_the_applicant"
            ),
        ]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    @property
    def name(self) -> str:
        user: User | None = self.user
        return person(user) if user else self.entry.application.display_name


class CalendarFeed(models.Model):
    """The secret address at which the calendar of a colleague reads their interviews."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret, in hexadecimal
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("calendar address")
        verbose_name_plural = _("calendar addresses")
        default_permissions = ()  # its owner only

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"
