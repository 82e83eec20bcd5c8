"""The read model of the public lists. Triggers maintain it (vacancies/readmodel)."""

from django.db import models
from django.db.models import Q

from vacancies.models.catalogue import Brand
from vacancies.models.vacancy import Vacancy
from vacancies.querysets import PublishedQuerySet, VacancyList


class ListedVacancyQuerySet(PublishedQuerySet):
    prefix = "vacancy__"


class ListedVacancy(models.Model):
    """A vacancy whose status is published: the columns that decide its place in the lists.

    On PostgreSQL, triggers replace the row in the transaction that changes the vacancy. On SQLite,
    the tables of the read model are empty.
    """

    vacancy = models.OneToOneField(
        Vacancy,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        primary_key=True,
        related_name="+",
    )
    audience = models.CharField(max_length=10)
    is_hot = models.BooleanField()
    publish_from = models.DateTimeField()
    publish_until = models.DateTimeField(null=True)
    brand_id = models.BigIntegerField(null=True)
    form_id = models.BigIntegerField(null=True)
    # Expired for five minutes when the row was written, by the clock of the database. Such rows are
    # not in the indexes of the lists, and not counted. Correct results do not depend on it
    # (readmodel/totals.py).
    is_expired = models.BooleanField()
    row_version = models.BigIntegerField()  # changes whenever the content of the items changes

    objects = ListedVacancyQuerySet.as_manager()

    class Meta:
        indexes = [
            *(
                models.Index(
                    *PublishedQuerySet.newest("vacancy"),
                    condition=Q(is_expired=False) & each.condition,
                    name=f"listed_{each.column}",
                )
                for each in VacancyList
            ),
            models.Index("publish_from", condition=Q(is_expired=False), name="listed_start"),
            models.Index("is_expired", "publish_until", name="listed_end"),
        ]

    def __str__(self) -> str:
        return str(self.vacancy_id)


class RenderedItem(models.Model):
    """The stored JSON of a vacancy in a version of the interface, which readers write.

    It is valid while `ListedVacancy` has the same `row_version` (vacancies/api/rendered_items.py).
    """

    pk = models.CompositePrimaryKey("vacancy_id", "version")
    vacancy = models.ForeignKey(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    version = models.CharField(max_length=40)
    row_version = models.BigIntegerField()
    body = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.vacancy_id}, {self.version}"


class VacancyCount(models.Model):
    """The number of vacancies of a brand with a status whose ids are in a block of `BLOCK` ids, for
    the list in the admin. As in `BucketCount`, writers only insert rows, which are summed.
    """

    BLOCK = 10_000  # also in the triggers

    block = models.BigIntegerField()  # id / BLOCK
    brand = models.ForeignKey(
        Brand,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        db_index=False,
        related_name="+",
    )
    status = models.CharField(max_length=20)
    count = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.block}, {self.status}"


class BucketCount(models.Model):
    """The number of vacancies in each list whose (publish_from, id) is in a bucket.

    A bucket starts at (`start_at`, `start_id`) and ends where the next one starts. It can have many
    rows, which are summed: writers only insert, so that they do not block each other. All rows of
    `ListedVacancy` that are not marked as expired are counted, whatever the time.
    """

    start_at = models.DateTimeField()
    start_id = models.BigIntegerField()
    external = models.IntegerField()
    hot = models.IntegerField()
    internal = models.IntegerField()
    hot_internal = models.IntegerField()

    class Meta:
        indexes = [models.Index("start_at", "start_id", name="bucket_start")]

    def __str__(self) -> str:
        return f"{self.start_at}, {self.start_id}"
