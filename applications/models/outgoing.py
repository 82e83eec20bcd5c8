"""Which applications changed, for the systems that read them. Only triggers write this table
(applications/manage).
"""

from datetime import timedelta

from django.db import models


class Outgoing(models.Model):
    """The last change of an application for the readers of a brand that it is or was in. It has no
    personal data, and remains when the application is erased.
    """

    KEPT = timedelta(days=90)

    application = models.BigIntegerField()  # no foreign key
    brand = models.BigIntegerField()  # 0: none
    mark = models.BigIntegerField()  # of the transaction; on SQLite, a number that grows
    is_gone = models.BooleanField()  # erased, or moved to another brand
    at = models.DateTimeField()
    # The mark at which the readers of the brand could first read it; 0: not known any more. None:
    # its applicant has yet to agree, so they never could.
    entered = models.BigIntegerField(null=True, db_default=0)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["application", "brand"], name="outgoing_once_per_brand")
        ]
        indexes = [
            models.Index(fields=["brand", "mark", "application"], name="outgoing_by_mark"),
            models.Index(fields=["at"], name="outgoing_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.application} {self.mark}"
