"""Columns of rows that an earlier release wrote, a job of the dispatcher.
Pages work before it ends.
"""

from datetime import datetime

from django.db import transaction

from applications.models import Application
from applications.querysets import phone_digits

BATCH = 500


class PhoneDigits:
    """Computes `phone_digits` where it is None, from the first application on, once per process.
    Implements `jobsite.dispatch.Job`.
    """

    def __init__(self) -> None:
        self._after: int | None = 0  # None: all are computed

    def next_due(self, at: datetime) -> list[int] | None:
        if self._after is None:
            return None
        rows = Application.objects.filter(pk__gt=self._after, phone_digits=None).order_by("pk")
        pks = list(rows.values_list("pk", flat=True)[:BATCH])
        self._after = pks[-1] if pks else None
        return pks or None

    def run(self, item: list[int]) -> str:
        with transaction.atomic():
            rows = list(
                Application.objects.filter(pk__in=item)
                .order_by("pk")
                .only("phone")
                .select_for_update()
            )
            for row in rows:
                row.phone_digits = phone_digits(row.phone)
            Application.objects.bulk_update(rows, ["phone_digits"])
        return "backfill done"
