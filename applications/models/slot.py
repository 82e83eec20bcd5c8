"""Times that applicants choose from."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from applications.models.application import Application
from applications.models.history_entry import Interview
from jobsite.fields import WebURLField
from vacancies.models import Vacancy


class SlotSet(models.Model):
    """Times for interviews of a vacancy, and what all of these have."""

    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="+")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    colleagues = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    name = models.CharField(max_length=200)
    minutes = models.PositiveSmallIntegerField()
    zone = models.CharField(max_length=64)
    place = models.CharField(max_length=300, blank=True, default="")
    video_url = WebURLField(max_length=500)
    details = models.TextField(max_length=2000, blank=True, default="")
    # Until so many hours before its start, a time can be chosen, and given up for another one.
    notice_hours = models.PositiveSmallIntegerField(
        default=24, validators=[MaxValueValidator(24 * 14)]
    )
    closes_at = models.DateTimeField()

    class Meta:
        verbose_name = _("times to choose from")
        verbose_name_plural = _("times to choose from")
        default_permissions = ()  # whoever may change the applications may offer times

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    @property
    def last_day(self) -> date:
        """The day until whose end a time can be chosen, in the time zone of the interviews."""
        return (self.closes_at - timedelta(microseconds=1)).astimezone(ZoneInfo(self.zone)).date()


class Offer(models.Model):
    """An application whose applicant may choose one of the times, and the interview that this
    became.
    """

    set = models.ForeignKey(SlotSet, on_delete=models.CASCADE, related_name="offers")
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="offers")
    entry = models.ForeignKey(
        Interview, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        verbose_name = _("offer of times")
        verbose_name_plural = _("offers of times")
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["set", "application"], name="one_offer_per_set")
        ]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"


class Slot(models.Model):
    """One of the times. It is free while no `offer` has it."""

    set = models.ForeignKey(SlotSet, on_delete=models.CASCADE, related_name="slots")
    starts_at = models.DateTimeField()
    offer = models.OneToOneField(
        Offer, on_delete=models.SET_NULL, null=True, blank=True, related_name="slot"
    )

    class Meta:
        verbose_name = _("time to choose")
        verbose_name_plural = _("times to choose")
        ordering = ["starts_at", "pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["set", "starts_at"], name="one_slot_per_time")
        ]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    @property
    def ends_at(self) -> datetime:
        return self.starts_at + timedelta(minutes=self.set.minutes)
