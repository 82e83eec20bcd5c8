"""The index of the search (vacancies/search).
Triggers record changes, `search.merge` applies them.
"""

from django.db import models


class SearchTerm(models.Model):
    """A term and the ids of the published vacancies that have it, as a serialised roaring bitmap.

    Terms that begin with "#" hold other data of the index (search/index.py).
    """

    term = models.TextField(primary_key=True)
    ids = models.BinaryField()

    def __str__(self) -> str:
        return self.term


class SearchChange(models.Model):
    """A vacancy that changed since the last merge. A vacancy can have many rows:
    writers only insert.
    """

    vacancy_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.pk}, {self.vacancy_id}"
