"""Statistics for the start page and the reports. `manage.py update_statistics` records them."""

from typing import Self

from django.contrib.auth.models import User
from django.db import models

from vacancies.models.catalogue import Brand
from vacancies.models.vacancy import Vacancy
from vacancies.querysets import own_brand

SOURCE_MAX = 200  # characters of the name of a source


class StatisticsQuerySet(models.QuerySet):
    def visible_to(self, user: User) -> Self:
        """The statistics of the brands that `user` works for."""
        return self.filter(own_brand(user))


def outlived_brand() -> models.ForeignKey:
    """Return the column of the brand that statistics are about, and outlive."""
    return models.ForeignKey(
        Brand,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        null=True,
        related_name="+",
    )


class DailyStatisticsBase(models.Model):
    """Statistics of a day (in the site's time zone) and a brand, which they outlive."""

    day = models.DateField()
    brand = outlived_brand()

    objects = StatisticsQuerySet.as_manager()

    class Meta:
        abstract = True


class DailyVacancies(DailyStatisticsBase):
    """The vacancies of a day: how many were live at its end, went live and closed."""

    live = models.PositiveIntegerField()
    went_live = models.PositiveIntegerField()
    closed = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index(fields=["day"], name="daily_vacancies_day")]

    def __str__(self) -> str:
        return str(self.day)


class StateCount(models.Model):
    """The number of vacancies of a brand in a state, or with a reason to need
    attention (`code`).
    """

    brand = models.ForeignKey(
        Brand, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    code = models.CharField(max_length=30)
    count = models.PositiveIntegerField()
    counted_at = models.DateTimeField()

    objects = StatisticsQuerySet.as_manager()

    def __str__(self) -> str:
        return self.code


class DailyVisits(models.Model):
    """How often the page of a vacancy was viewed on a day (in the site's time zone) by visitors of
    a source, and how often they opened its application form. `vacancies.statistics.visits` counts.
    """

    day = models.DateField()
    vacancy = models.ForeignKey(Vacancy, on_delete=models.CASCADE, related_name="+")
    source = models.CharField(max_length=SOURCE_MAX)
    views = models.PositiveIntegerField(default=0, db_default=0)
    started = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["day", "vacancy", "source"], name="daily_visits_unique")
        ]

    def __str__(self) -> str:
        return str(self.day)
