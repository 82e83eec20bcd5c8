"""Daily statistics of applications.
They have no personal data and remain when applications are deleted.
"""

from django.db import models

from vacancies.models import DailyStatisticsBase


class DailyApplications(DailyStatisticsBase):
    """The number of applications that were received on a day, from a source. Rows with an option
    are not divided by source.
    """

    source = models.CharField(max_length=200)
    received = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index(fields=["option", "day"], name="daily_applications_option")]

    def __str__(self) -> str:
        return str(self.day)
