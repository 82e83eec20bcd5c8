"""The database of a benchmark: `fill N` creates or completes it; `publish RATE` publishes until
SIGTERM and then prints {"published", "seconds"}.
"""

import json
import signal
import sys
import time

from tests.benchmarks.process import analyze  # sets Django up

# isort: split

from django.core.management import call_command
from django.utils import timezone

from tests.chaos.database import make_form
from vacancies.choices import VacancyStatus
from vacancies.models import Vacancy
from vacancies.operations import publication
from vacancies.querysets import VacancyQuerySet

POOL = 50  # vacancies that the writer publishes again and again; unpublished in between


def fill(count: int) -> None:
    """Create `count` published vacancies, a form for them, and the vacancies that the writer
    publishes.
    """
    call_command("migrate", verbosity=0)
    found = Vacancy.objects.filter(status=VacancyStatus.PUBLISHED).count()
    if not found:
        call_command("generate_vacancies", str(count), stdout=sys.stderr)
    elif not count <= found <= count + POOL:
        sys.exit(f"The database holds {found} published vacancies, not {count}: name another one.")
    make_form()
    made = pool()
    for vacancy in Vacancy.objects.filter(status=VacancyStatus.PUBLISHED)[: POOL - len(made)]:
        publication.duplicate(vacancy=vacancy, at=timezone.now())
    publication.unpublish(vacancies=made, at=timezone.now())
    analyze()


def pool() -> VacancyQuerySet:
    """The copies that the writer publishes, by id: looking for their titles takes a scan."""
    pks = Vacancy.objects.filter(title__startswith="Copy of ").values_list("pk", flat=True)
    return Vacancy.objects.filter(pk__in=list(pks))


def publish(rate: float) -> None:
    """Publish `rate` vacancies a second until SIGTERM."""
    copies = pool()
    pks = list(copies.values_list("pk", flat=True))
    ends: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: ends.append(number))
    start, published = time.monotonic(), 0
    while not ends:
        for pk in pks:
            time.sleep(max(0, start + published / rate - time.monotonic()))
            if ends:
                break
            publication.publish(vacancies=copies.filter(pk=pk), at=timezone.now())
            published += 1
        publication.unpublish(vacancies=copies, at=timezone.now())
    print(json.dumps({"published": published, "seconds": time.monotonic() - start}))


if __name__ == "__main__":
    verb, number = sys.argv[1:]
    fill(int(number)) if verb == "fill" else publish(float(number))
