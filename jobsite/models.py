"""The one row by which every process knows whether what it keeps is still what is stored."""

from django.db import models


class Revision(models.Model):
    """A number that every transaction raises, by committing, that changed something the public sees,
    whichever way it was written: triggers see to it (jobsite/serving/revision.py)."""

    # Below zero while migrations run on SQLite, whose triggers are away then: nothing is kept meanwhile.
    number = models.BigIntegerField(default=0)
    # The same for what many pages share: names of options, brands, recruiters, forms.
    shared = models.BigIntegerField(default=0, db_default=0)
    # Up to which moment what appears and vanishes by the clock is written down, in microseconds since 1970.
    settled = models.BigIntegerField(default=0, db_default=0)

    def __str__(self) -> str:
        return str(self.number)
