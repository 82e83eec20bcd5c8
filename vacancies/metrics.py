"""Gauges about vacancies for Prometheus."""

from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import Sum
from django.utils import timezone
from prometheus_client.metrics_core import GaugeMetricFamily

from jobsite.models import Revision
from jobsite.ops.metrics import gauge
from vacancies.models import Audience, DailyCount, ListedVacancy, PublicationState, State, Vacancy
from vacancies.readmodel.totals import COLUMNS, NEXT_CHANGES, as_datetime

COUNT_MAX = 10_000  # rows counted for each state: more are reported as this number


def collect() -> Iterator[GaugeMetricFamily]:
    """Yield the vacancies by state and list, the revision, and the age of overdue changes of the lists."""
    now = timezone.now()
    vacancies: Any = Vacancy.objects.order_by()
    states = {
        (state.value,): vacancies.in_state(state, at=now).values("pk")[:COUNT_MAX].count()
        for state in State
        if state != State.PUBLISHED
    }
    lists = DailyCount.objects.aggregate(**{name: Sum(name, default=0) for name in COLUMNS})
    only_internal = ListedVacancy.objects.filter(
        state=PublicationState.LIVE, audience=Audience.INTERNAL
    ).values("pk")
    states[State.PUBLISHED.value,] = lists["external"] + only_internal[:COUNT_MAX].count()
    yield gauge("vacancies", f"Vacancies by state, {COUNT_MAX} for more.", ("state",), states)
    by_list = {(name,): number for name, number in lists.items()}
    yield gauge("listed", "Vacancies in each public list.", ("list",), by_list)

    number = Revision.objects.filter(pk=1).values_list("number", flat=True).first()
    yield gauge("revision", "Incremented by every change of public data.", (), {(): number or 0})

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {NEXT_CHANGES}")
        due = [at for each in cursor.fetchone() if (at := as_datetime(each))]
    overdue = (now - min(due)).total_seconds() if due else 0
    yield gauge("overdue_seconds", "Age of the oldest due change of a list.", (), {(): max(0, overdue)})
