"""Tables of the whole site: the revision of the public content, records of erasures and roles, and
how the jobs of the dispatcher go.
"""

from django.db import models
from django.utils import timezone


class Revision(models.Model):
    """A number that every transaction raises at commit if it changed something that the public
    sees.

    Triggers raise it, so that bulk updates and plain SQL count too (jobsite/serving/revision.py).
    """

    number = models.BigIntegerField(default=0)
    # The same for rows that many pages share: option labels, brands, recruiters, forms.
    shared = models.BigIntegerField(default=0, db_default=0)
    # PostgreSQL's system identifier and timeline at the last change. With others, a new epoch
    # begins: both numbers jump, so that none is reused that a lost server gave out (migration
    # 0002).
    timeline = models.CharField(max_length=40, default="", db_default="")

    def __str__(self) -> str:
        return str(self.number)


class Commit(models.Model):
    """A transaction that changed what a feed shows, and the revision that it raised.

    Triggers write the rows. `mark` is what they know before the revision is raised: on PostgreSQL
    a hash of the transaction's id and timeline, on SQLite the number.
    """

    number = models.BigIntegerField(primary_key=True)
    mark = models.BigIntegerField(unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.number)


class CursorGap(models.Model):
    """Revisions of which this database does not know what they changed, `after` < n < `before`: a
    server lost them at a failover, a backup is older, or the rows were deleted.
    """

    after = models.BigIntegerField()
    before = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.after} to {self.before}"


class Erasure(models.Model):
    """An account or an application that was erased, as a hash. A restore erases it again if the
    backup still contains it (applications/privacy/erasures.py).
    """

    digest = models.CharField(max_length=64, primary_key=True)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.digest[:8]


class JobRun(models.Model):
    """How a job of the dispatcher goes (jobsite/dispatch.py), stored every half a minute."""

    name = models.CharField(max_length=100, primary_key=True)
    # Its last item, or search that found none.
    completed_at = models.DateTimeField(default=timezone.now)
    failed_at = models.DateTimeField(null=True)  # its last error, whatever came after
    error = models.CharField(max_length=200, default="")  # without personal data
    # How often it had which outcome, "error" if it raised one.
    outcomes = models.JSONField(default=dict)
    # What it has read until, in its own terms.
    position = models.CharField(max_length=200, default="")

    def __str__(self) -> str:
        return self.name


class GivenPermissions(models.Model):
    """The permissions that `create_roles` gave a role last. The next run knows from them what the
    site added or removed (jobsite/accounts/roles.py).
    """

    role = models.CharField(max_length=150, primary_key=True)  # the name of its group
    names = models.JSONField(default=list)  # such as vacancies.add_vacancy

    def __str__(self) -> str:
        return self.role
