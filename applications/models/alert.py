"""Job alerts: emails about new vacancies, for whoever confirms an address."""

from django.db import models
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from vacancies.models import Brand, Vacancy

QUERY_MAX = 1000  # bytes: with the address, an index of PostgreSQL takes 2,700


class JobAlert(models.Model):
    """What somebody wants to be told. Ending it deletes the row.

    Until the owner of the mailbox confirms it, nothing is told, and `purge_credentials` deletes it
    at `ends_at`. At the `ends_at` of a confirmed one, its owner is asked to confirm it again.
    """

    class Frequency(models.TextChoices):
        DAILY = "daily", pgettext_lazy("a job alert", "Every day")
        WEEKLY = "weekly", pgettext_lazy("a job alert", "Every Monday")

    address = models.EmailField(_("e-mail address"))
    address_folded = models.CharField(max_length=254)
    query = models.CharField(max_length=QUERY_MAX, blank=True)  # canonical: alerts/queries.py
    language = models.CharField(max_length=2)
    # Of whose vacancies it tells, and in whose name; None: of all.
    brand = models.ForeignKey(
        Brand, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    frequency = models.CharField(max_length=6, choices=Frequency.choices)
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    told_at = models.DateTimeField(default=timezone.now)  # when it was confirmed or looked at last
    ends_at = models.DateTimeField()

    class Meta:
        verbose_name = _("job alert")
        verbose_name_plural = _("job alerts")
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                F("address_folded"),
                F("query"),
                F("frequency"),
                Coalesce("brand", 0),
                name="job_alert_once",
            )
        ]

    def __str__(self) -> str:
        # Without the address, because logs contain it.
        return f"{self._meta.verbose_name} {self.pk}"


class ToldVacancy(models.Model):
    """An alert has told of a vacancy, and does not tell of it again."""

    # the constraint has the index
    alert = models.ForeignKey(
        JobAlert, on_delete=models.CASCADE, related_name="told", db_index=False
    )
    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="+")

    class Meta:
        verbose_name = _("vacancy of a job alert")
        verbose_name_plural = _("vacancies of job alerts")
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["alert", "vacancy"], name="vacancy_told_once")
        ]

    def __str__(self) -> str:
        return f"{self.alert_id} {self.vacancy_id}"
