"""What changed in the public lists: tables that only triggers write (vacancies/feed)."""

from django.db import models


class FeedEntry(models.Model):
    """A vacancy that changed in the last CHANGES_KEPT_DAYS while it was published, or by being
    published. Its row names the last change.
    """

    vacancy_id = models.BigIntegerField(primary_key=True)
    mark = models.BigIntegerField()  # of the commit (jobsite.models.Commit)
    # Clients may have read it in that list. They stay set until the row is deleted.
    was_external = models.BooleanField()
    was_internal = models.BooleanField()
    has_moved = models.BooleanField()  # it is gone from the list of the brand that it was in

    class Meta:
        indexes = [models.Index(fields=["mark", "vacancy_id"], name="feed_entry_mark")]

    def __str__(self) -> str:
        return str(self.vacancy_id)


class TouchKind(models.TextChoices):
    OPTION = "option"
    BRAND = "brand"
    RECRUITER = "recruiter"
    ALL = "all"


class FeedTouch(models.Model):
    """A change of a row that the items of many vacancies show. Readers find these vacancies."""

    mark = models.BigIntegerField(db_index=True)
    kind = models.CharField(max_length=10, choices=TouchKind.choices)
    object_id = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"


class FeedFormat(models.Model):
    """The format of the items that clients of the feed have, in one row."""

    version = models.CharField(max_length=40)

    def __str__(self) -> str:
        return self.version
