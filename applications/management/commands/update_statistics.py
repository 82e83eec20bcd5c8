from django.utils import timezone

from applications.models import DailyApplications
from applications.statistics import hiring, received
from jobsite.ops.commands import Command as BaseCommand
from vacancies.statistics.counts import update_counts
from vacancies.statistics.reading import last_recorded
from vacancies.statistics.recording import record_days


class Command(BaseCommand):
    help = (
        "Count vacancies for the start page, and record the statistics of each day, today "
        "included, for the reports. Run it every hour. Days that were missed are recorded by the "
        "next run."
    )

    def handle(self, *args: object, **options: object) -> None:
        at = timezone.now()
        update_counts(at=at)
        days = record_days(at=at)
        since = last_recorded(DailyApplications)
        of_applications = received.record_days(at=at)
        changed = hiring.record(since=since, at=at)
        self.finish(
            f"Recorded {days} days of vacancies and {of_applications} days of applications; "
            f"{changed} applications changed.",
            days_of_vacancies=days,
            days_of_applications=of_applications,
            changed_applications=changed,
        )
