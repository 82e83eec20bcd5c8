"""Daily statistics of applications.
They have no personal data and remain when applications are deleted.
"""

from django.db import models

from vacancies.models import DailyStatisticsBase


class DailyApplications(DailyStatisticsBase):
    """The number of applications that were received on a day, from a source."""

    source = models.CharField(max_length=200)
    received = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index(fields=["day"], name="daily_applications_day")]

    def __str__(self) -> str:
        return str(self.day)
