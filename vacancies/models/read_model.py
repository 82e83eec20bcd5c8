"""The read model of the public lists. Triggers maintain it (vacancies/readmodel)."""

from django.db import models
from django.db.models import F, Q

from vacancies.models.vacancy import Audience, Vacancy


class PublicationState(models.IntegerChoices):
    """Where a published vacancy stood when the clock was last written down."""

    AHEAD = 0
    LISTED = 1
    OVER = 2


IS_LISTED = Q(phase=PublicationState.LISTED)
FOR_PUBLIC = Q(audience__in=(Audience.PUBLIC, Audience.BOTH))
FOR_INTERNAL = Q(audience__in=(Audience.INTERNAL, Audience.BOTH))
# What is in each list of the interface; `vacancies.readmodel.listing.LISTS` says the same to triggers.
LISTED = {
    "external": IS_LISTED & FOR_PUBLIC,
    "hot": IS_LISTED & FOR_PUBLIC & Q(is_hot=True),
    "internal": IS_LISTED & FOR_INTERNAL,
    "hot_internal": IS_LISTED & FOR_INTERNAL & Q(is_hot=True),
}
NEWEST = (F("publish_from").desc(), F("vacancy").desc())


class ListedVacancy(models.Model):
    """What the public reads of a vacancy whose status is published: what its place in the lists depends on,
    and its item as each version of the interface shows it, made when first asked for. Triggers keep it in
    step with the vacancy, whoever writes that (vacancies/readmodel/listing.py)."""

    vacancy = models.OneToOneField(
        Vacancy, on_delete=models.DO_NOTHING, db_constraint=False, primary_key=True, related_name="+"
    )
    audience = models.CharField(max_length=10)
    is_hot = models.BooleanField()
    publish_from = models.DateTimeField()
    publish_until = models.DateTimeField(null=True)
    phase = models.SmallIntegerField(choices=PublicationState.choices)
    brand_id = models.BigIntegerField(null=True)
    form_id = models.BigIntegerField(null=True)
    stamp = models.BigIntegerField()  # another one after every change of what the items show
    v1 = models.BinaryField(null=True)
    v0_1 = models.BinaryField(null=True)

    class Meta:
        indexes = [
            *(models.Index(*NEWEST, condition=rule, name=f"listed_{name}") for name, rule in LISTED.items()),
            models.Index("audience", "is_hot", "publish_from", condition=Q(phase=0), name="listing_appears"),
            models.Index("audience", "is_hot", "publish_until", condition=IS_LISTED, name="listing_vanishes"),
        ]

    def __str__(self) -> str:
        return str(self.vacancy_id)


class DailyCount(models.Model):
    """How many vacancies that went out on one day (of 1970's first, in UTC) are in each list. On PostgreSQL
    the rows of a day add up: writers only add rows, so that they never wait for each other."""

    day = models.IntegerField()
    external = models.IntegerField()
    hot = models.IntegerField()
    internal = models.IntegerField()
    hot_internal = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["day"], name="tally_day")]

    def __str__(self) -> str:
        return str(self.day)
