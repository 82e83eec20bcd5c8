"""The read model of the public lists. Triggers maintain it (vacancies/readmodel)."""

from django.db import models
from django.db.models import F, Q

from vacancies.models.vacancy import Vacancy
from vacancies.querysets import VacancyList


class PublicationState(models.IntegerChoices):
    """The state of a published vacancy when the due changes were last applied."""

    SCHEDULED = 0
    LIVE = 1
    EXPIRED = 2


NEWEST = (F("publish_from").desc(), F("vacancy").desc())


class ListedVacancyQuerySet(models.QuerySet):
    def live(self, vacancy_list: VacancyList) -> "ListedVacancyQuerySet":
        """The rows of one list of the interface, newest first."""
        return self.filter(_live(vacancy_list)).order_by(*NEWEST)


def _live(vacancy_list: VacancyList) -> Q:
    return Q(state=PublicationState.LIVE) & vacancy_list.condition


class ListedVacancy(models.Model):
    """The row of the read model for a vacancy whose status is published.

    It has the columns that decide the place in the lists, and the rendered item of each version of the
    interface. Items are rendered lazily. Triggers update the row in the transaction that changes the vacancy.
    """

    vacancy = models.OneToOneField(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, primary_key=True, related_name="+"
    )
    audience = models.CharField(max_length=10)
    is_hot = models.BooleanField()
    publish_from = models.DateTimeField()
    publish_until = models.DateTimeField(null=True)
    state = models.SmallIntegerField(choices=PublicationState.choices)
    brand_id = models.BigIntegerField(null=True)
    form_id = models.BigIntegerField(null=True)
    row_version = models.BigIntegerField()  # changes whenever the content of the items changes
    v1 = models.BinaryField(null=True)
    v0_1 = models.BinaryField(null=True)

    objects = ListedVacancyQuerySet.as_manager()

    class Meta:
        indexes = [
            *(
                models.Index(*NEWEST, condition=_live(each), name=f"listed_{each.column}")
                for each in VacancyList
            ),
            models.Index(
                "audience",
                "is_hot",
                "publish_from",
                condition=Q(state=PublicationState.SCHEDULED),
                name="listed_next_start",
            ),
            models.Index(
                "audience",
                "is_hot",
                "publish_until",
                condition=Q(state=PublicationState.LIVE),
                name="listed_next_end",
            ),
        ]

    def __str__(self) -> str:
        return str(self.vacancy_id)


class DailyCount(models.Model):
    """The number of live vacancies in each list by the day of `publish_from` (days since 1970-01-01 UTC).

    A day has one row on SQLite. On PostgreSQL it can have many rows, which are summed: writers only insert,
    so that they do not block each other.
    """

    day = models.IntegerField()
    external = models.IntegerField()
    hot = models.IntegerField()
    internal = models.IntegerField()
    hot_internal = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["day"], name="daily_count_day")]

    def __str__(self) -> str:
        return str(self.day)
