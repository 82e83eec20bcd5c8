"""What the dispatcher does for job alerts every morning:
tell new vacancies, ask old alerts to confirm.
"""

from collections import defaultdict
from datetime import date, datetime, timedelta
from itertools import islice

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from pyroaring import BitMap64

from applications.alerts.mail import NewsEmails, queue_renewal
from applications.alerts.queries import matching
from applications.mail.daily import morning
from applications.models import JobAlert, Message, ToldVacancy
from vacancies.models import Vacancy

BATCH = 500  # alerts in a transaction
VACANCIES_MAX = 20  # shown in an email, which links to the others
# A vacancy that began earlier, but was saved or approved since, is told too.
BEGAN_BEFORE = timedelta(days=7)
RENEWED_WITHIN = timedelta(days=30)


def due(at: datetime) -> Q:
    """Match the alerts that have not been looked at since this morning, or since Monday morning."""
    today = morning(at)
    monday = today - timedelta(days=today.weekday())
    daily = Q(frequency=JobAlert.Frequency.DAILY, told_at__lt=today)
    return (daily | Q(frequency=JobAlert.Frequency.WEEKLY, told_at__lt=monday)) & ~Q(
        confirmed_at=None
    )


class JobAlerts:
    """Looks at the due alerts, BATCH at a time. Implements `jobsite.dispatch.Job`.

    An email, its rows of told vacancies and `told_at` are one transaction, so that a vacancy is
    told once.
    """

    def __init__(self, base_url: str = "") -> None:
        self.base_url = base_url
        self._day: date | None = None
        self._waiting: list[int] = []

    def next_due(self, at: datetime) -> tuple[list[int], datetime] | None:
        """Return the ids of alerts to look at, and `at`."""
        if not settings.CAREER_SITE or at < morning(at):
            return None
        if self._day != (day := morning(at).date()):
            # equal queries together, so that a batch has few
            rows = JobAlert.objects.filter(due(at)).order_by("query", "brand", "pk")
            self._waiting = list(rows.values_list("pk", flat=True))
            self._day = day
        return (self._waiting[-BATCH:], at) if self._waiting else None

    def run(self, item: tuple[list[int], datetime]) -> str:
        pks, at = item
        rows = JobAlert.objects.filter(due(at), pk__in=pks)
        found = list(rows)
        if found:
            since = min(alert.told_at for alert in found) - BEGAN_BEFORE
            news, starts = matching(
                {(alert.query, alert.brand_id) for alert in found}, since=since, at=at
            )
            with transaction.atomic():
                # Locked and read again: its owner may have ended one.
                alerts = list(
                    rows.select_for_update(of=("self",))
                    .select_related("brand__mail")
                    .order_by("pk")
                )
                _tell(alerts, news, starts, base_url=self.base_url, at=at)
        del self._waiting[-len(pks) :]
        return "alerts looked at"


def _tell(
    alerts: list[JobAlert],
    news: dict[tuple[str, int | None], list[int]],
    starts: dict[int, datetime],
    *,
    base_url: str,
    at: datetime,
) -> None:
    """Queue the emails of `alerts` about their `news`, and mark what they told:
    also what they only count.
    """
    chosen = _not_told_yet(alerts, news, starts, at=at)
    shown = Vacancy.objects.with_related({"title", "location", "brand", "url"})
    vacancies = shown.in_bulk({pk for pks in chosen.values() for pk in pks[:VACANCIES_MAX]})
    emails = NewsEmails(base_url=base_url, at=at)
    by_id = {alert.pk: alert for alert in alerts}
    Message.objects.bulk_create(
        emails.email(
            by_id[alert], [vacancies[pk] for pk in pks[:VACANCIES_MAX] if pk in vacancies], len(pks)
        )
        for alert, pks in chosen.items()
    )
    marks = (
        ToldVacancy(alert_id=alert, vacancy_id=pk) for alert, pks in chosen.items() for pk in pks
    )
    while some := list(islice(marks, 10_000)):
        ToldVacancy.objects.bulk_create(some)
    JobAlert.objects.filter(pk__in=[alert.pk for alert in alerts]).update(told_at=at)
    for alert in alerts:
        if alert.ends_at <= at:
            _ask(alert, base_url=base_url, at=at)


def _not_told_yet(
    alerts: list[JobAlert],
    news: dict[tuple[str, int | None], list[int]],
    starts: dict[int, datetime],
    *,
    at: datetime,
) -> dict[int, list[int]]:
    """Return the vacancies among the `news` that each alert has not told yet, by the id of the
    alert.
    """
    hopeful = [alert for alert in alerts if news.get((alert.query, alert.brand_id))]
    told: dict[int, BitMap64] = defaultdict(BitMap64)
    rows = ToldVacancy.objects.filter(alert__in=hopeful).values_list("alert", "vacancy")
    for alert_id, vacancy in rows.iterator(chunk_size=5000):
        told[alert_id].add(vacancy)
    # one may have been deleted meanwhile
    new = Vacancy.objects.filter(publish_from__gte=min(starts.values(), default=at)).order_by()
    existing = BitMap64(new.values_list("pk", flat=True))
    chosen: dict[int, list[int]] = {}
    for alert in hopeful:
        since, fresh = alert.told_at - BEGAN_BEFORE, existing - told[alert.pk]
        if pks := [
            pk for pk in news[alert.query, alert.brand_id] if pk in fresh and starts[pk] > since
        ]:
            chosen[alert.pk] = pks
    return chosen


def _ask(alert: JobAlert, *, base_url: str, at: datetime) -> None:
    """Ask the owner of `alert` to confirm it again. Until then, it tells nothing."""
    alert.confirmed_at, alert.ends_at = None, at + RENEWED_WITHIN
    alert.save(update_fields=["confirmed_at", "ends_at"])
    queue_renewal(alert, base_url=base_url, at=at)
