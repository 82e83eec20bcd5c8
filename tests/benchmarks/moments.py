"""Runs `audit_visibility` at moments around the publication and the end of vacancies:

    export DATABASE_URL=sqlite:////tmp/moments.sqlite3 CAREER_SITE=on
    python -m tests.benchmarks.moments [--vacancies 60] [--moments 50]

Fills an empty database with generated vacancies, of which some have a brand with its own host, some
a page elsewhere, some are for open applications, and some are no longer published. Each moment is a
second before, at, or a second after the start or the end of one.
"""

import argparse
import random
import sys
from datetime import timedelta
from typing import Any

from tests.benchmarks.process import connection  # sets Django up

# isort: split

from django.core.management import call_command
from django.utils import timezone

from tests.vacancies.commands import run
from vacancies.choices import VacancyStatus
from vacancies.models import Brand, Requisition, Vacancy


def fill(count: int) -> None:
    call_command("migrate", verbosity=0)
    if Vacancy.objects.exists():
        sys.exit(
            f"The database {connection.settings_dict['NAME']} holds vacancies: name another one."
        )
    call_command("generate_vacancies", str(count), stdout=sys.stderr)
    first, second, *_others = Brand.objects.order_by("pk")
    Brand.objects.filter(pk=first.pk).update(host="jobs.first.test")
    Brand.objects.filter(pk=second.pk).update(vacancy_url="https://www.second.test/jobs/")
    now = timezone.now()
    for number, vacancy in enumerate(Vacancy.objects.order_by("pk")):
        values: dict[str, Any] = (
            {"publish_until": now + timedelta(hours=number)} if number % 2 else {}
        )
        if number % 7 == 0:
            values["status"] = (
                VacancyStatus.UNPUBLISHED,
                VacancyStatus.ARCHIVED,
                VacancyStatus.DRAFT,
            )[number % 3]
        if number % 11 == 0:
            values |= dict.fromkeys(("description", "profile", "offer", "company"), "")
        Vacancy.objects.filter(pk=vacancy.pk).update(**values)
        if number % 9 == 0:
            Requisition.objects.create(vacancy=vacancy, is_for_open_applications=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vacancies", type=int, default=60)
    parser.add_argument("--moments", type=int, default=50)
    options = parser.parse_args()
    fill(options.vacancies)
    bounds = [
        at
        for pair in Vacancy.objects.values_list("publish_from", "publish_until")
        for at in pair
        if at
    ]
    chosen = random.Random(1).choices(sorted(bounds), k=options.moments)
    failed = 0
    for number, bound in enumerate(chosen):
        at = bound + timedelta(seconds=number % 3 - 1)
        code, summary, lines = run("audit_visibility", "--at", at.isoformat())
        failed += code != 0
        print(summary, *lines, sep="\n", flush=True)
    print(f"{len(chosen)} moments, {failed} with disagreements.")


if __name__ == "__main__":
    main()
