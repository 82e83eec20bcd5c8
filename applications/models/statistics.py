"""Statistics of applications. They have no personal data and remain when applications are deleted,
but for `CountedApplication`.
"""

from django.db import models
from django.db.models.functions import Coalesce

from applications.models.application import Application
from vacancies.models import DailyStatisticsBase, StatisticsQuerySet
from vacancies.models.statistics import outlived_brand


class DailyApplications(DailyStatisticsBase):
    """The number of applications to a vacancy that were received on a day, from a source."""

    # no foreign key; None: recorded by a version that did not count by vacancy
    vacancy_number = models.BigIntegerField(null=True)
    source = models.CharField(max_length=200)
    received = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index(fields=["day"], name="daily_applications_day")]

    def __str__(self) -> str:
        return str(self.day)


class DailyHiring(DailyStatisticsBase):
    """First answers to applicants, and hires, by the day of the answer and of the hire. Days are
    calendar days since the application was received. Imported applications do not count.
    """

    answered = models.IntegerField()
    days_to_answer = models.IntegerField()  # of all, added up
    answered_in_1 = models.IntegerField()
    answered_in_3 = models.IntegerField()
    answered_in_7 = models.IntegerField()
    answered_in_14 = models.IntegerField()
    hired = models.IntegerField()
    days_to_hire = models.IntegerField()
    hired_in_14 = models.IntegerField()
    hired_in_30 = models.IntegerField()
    hired_in_60 = models.IntegerField()
    hired_in_90 = models.IntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint("day", Coalesce("brand", 0), name="daily_hiring_unique")
        ]

    def __str__(self) -> str:
        return str(self.day)


class MonthlyStages(models.Model):
    """How many of the applications of a month reached a step, and after how many days."""

    RECEIVED, ANSWERED = 0, -1  # in place of the id of a stage

    month = models.DateField()  # its first day
    brand = outlived_brand()
    vacancy_number = models.BigIntegerField()  # no foreign keys
    step = models.BigIntegerField()  # the id of a stage, RECEIVED or ANSWERED
    reason = models.BigIntegerField()  # the id of the reason why it ended there, or 0
    source = models.CharField(max_length=200)
    reached = models.IntegerField()
    days = models.BigIntegerField()  # of all, added up

    objects = StatisticsQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "month",
                Coalesce("brand", 0),
                "vacancy_number",
                "step",
                "reason",
                "source",
                name="monthly_stages_unique",
            )
        ]

    def __str__(self) -> str:
        return str(self.month)


class CountedApplication(models.Model):
    """What the statistics have of an application that still exists, so that an undone move can be
    subtracted.
    """

    application = models.OneToOneField(
        Application, on_delete=models.CASCADE, primary_key=True, related_name="counted"
    )
    source = models.CharField(max_length=200)
    facts = models.JSONField()  # applications.statistics.hiring.Facts

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.pk)
