"""The one row that tells every process whether its caches are still valid."""

from django.db import models


class Revision(models.Model):
    """A number that every transaction raises at commit if it changed something that the public sees.

    Triggers raise it, so that bulk updates and plain SQL count too (jobsite/serving/revision.py).
    """

    number = models.BigIntegerField(default=0)
    # The same for rows that many pages share: option labels, brands, recruiters, forms.
    shared = models.BigIntegerField(default=0, db_default=0)
    # PostgreSQL's system identifier and timeline at the last change. With others, a new epoch begins: both
    # numbers jump, so that none is reused that a lost server gave out (migration 0004).
    timeline = models.CharField(max_length=40, default="", db_default="")

    def __str__(self) -> str:
        return str(self.number)
