"""Gauges about vacancies for Prometheus."""

from collections.abc import Iterator

from django.db.models import Min
from django.utils import timezone
from prometheus_client.metrics_core import Metric

from jobsite.ops.metrics import gauge
from jobsite.serving.revision import read_state
from vacancies.choices import Audience, State
from vacancies.models import ListedVacancy, Vacancy
from vacancies.querysets import VacancyList
from vacancies.readmodel.totals import is_maintained, read_totals

COUNT_MAX = 10_000  # rows counted for each state: more are reported as this number


def collect() -> Iterator[Metric]:
    """Yield the vacancies by state and list, the revision, and how long maintenance is overdue."""
    now = timezone.now()
    vacancies = Vacancy.objects.order_by()
    states = {
        (state.value,): vacancies.in_state(state, at=now).values("pk")[:COUNT_MAX].count()
        for state in State
        if state != State.PUBLISHED
    }
    state, published = read_state(), vacancies.published(at=now)
    if is_maintained():
        lists = read_totals(state, now=now).totals
    else:
        lists = {each: published.in_list(each).count() for each in VacancyList}
    only_internal = published.filter(audience=Audience.INTERNAL).values("pk")
    states[State.PUBLISHED.value,] = lists[VacancyList.EXTERNAL] + only_internal[:COUNT_MAX].count()
    yield gauge("vacancies", f"Vacancies by state, {COUNT_MAX} for more.", ("state",), states)
    by_list = {(each.column,): number for each, number in lists.items()}
    yield gauge("listed", "Vacancies in each public list.", ("list",), by_list)

    yield gauge("revision", "Incremented by every change of public data.", (), {(): state.number})

    due = ListedVacancy.objects.filter(is_expired=False).aggregate(at=Min("publish_until"))["at"]
    overdue = (now - due).total_seconds() if due else 0
    help_text = "Time since the first expiry that manage.py maintain_lists has not marked."
    yield gauge("overdue_seconds", help_text, (), {(): max(0, overdue)})
