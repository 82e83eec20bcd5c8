"""The vacancies that a bulk action is about, with the time of the last change that the user saw."""

from datetime import UTC, datetime, timedelta

from django.db.models import QuerySet

from jobsite.admin import selection

MAX_SELECTED = 10_000  # vacancies that a bulk action changes
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class VacancySelection(selection.Selection):
    """Vacancies by id, with `updated_at` in microseconds."""

    parameter = "vacancies"

    @classmethod
    def of(cls, vacancies: QuerySet, limit: int | None = None) -> "VacancySelection":
        # In one order, so that two requests that lock rows wait for each other.
        rows = vacancies.order_by("pk").values_list("pk", "updated_at")[:limit]
        return cls({pk: (at - _EPOCH) // timedelta(microseconds=1) for pk, at in rows})
