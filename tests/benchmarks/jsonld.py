"""Checks the JSON-LD of many vacancies: valid, and absent only where a required property is
missing.

    export DATABASE_URL=sqlite:////tmp/jsonld.sqlite3
    python -m tests.benchmarks.jsonld [COUNT] [--real FILE ...]

Fills an empty database with COUNT generated vacancies (10,000) and the items of the files. Items
without a place are checked a second time, with the one that `location` names. Our JSON Schema and,
once per place, @adobe/structured-data-validator check every block.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.benchmarks.process import connection  # sets Django up

# isort: split

from django.core.management import call_command
from django.test import RequestFactory

from jobsite.site.jsonld import TEXTS, job_posting, with_requirements
from tests.jobsite.site.postings import faults, second_opinion
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.models import Place, Recruiter, Vacancy
from vacancies.querysets import VacancyQuerySet

BATCH = 500


def check(title: str, vacancies: VacancyQuerySet) -> None:
    counts, opinions = Counter[str](), Counter[str]()
    rows = with_requirements(vacancies.external()).with_related().order_by("pk")
    serializer = VacancySerializer(
        context={"request": RequestFactory(SERVER_NAME="localhost").get("/")}
    )
    last = 0
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        found = []
        for row in batch:
            item = serializer.to_representation(row)
            posting = job_posting(item, row, takes_applications=row.pk % 2 == 0)
            is_complete = any(item[name] for name in TEXTS) and bool(
                item["remote_countries"] if item["work_place"] == "remote" else item["places"]
            )
            counts["with a block"] += posting is not None
            counts["without a block"] += posting is None
            counts["with or without by mistake"] += (posting is not None) != is_complete
            found += [posting] if posting else []
        opinions.update(fault for posting in found for fault in faults(posting))
        counts["invalid by our schema"] += sum(bool(faults(posting)) for posting in found)
        counts["invalid by Adobe's validator"] += sum(map(bool, second_opinion(found)))
    print(f"{title}: {counts.total()} ", dict(counts), dict(opinions))


def give_places() -> None:
    """Give each vacancy without a place the one that its location names, such as "Memphis,
    Tennessee".
    """
    Place.objects.bulk_create(_places(Vacancy.objects.filter(places=None, location__contains=", ")))


def _places(vacancies: VacancyQuerySet) -> Iterator[Place]:
    for vacancy in vacancies:
        locality, _comma, region = vacancy.location.partition(", ")
        yield Place(vacancy=vacancy, locality=locality[:100], region=region[:100], country="US")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    parser.add_argument("--real", nargs="*", default=[])
    options: Any = parser.parse_args()
    call_command("migrate", verbosity=0)
    if Vacancy.objects.exists():
        sys.exit(
            f"The database {connection.settings_dict['NAME']} holds vacancies: name another one."
        )
    call_command("generate_vacancies", str(options.count), stdout=sys.stderr)
    generated = list(Vacancy.objects.values_list("pk", flat=True))
    check("Generated", Vacancy.objects.all())
    if options.real:
        recruiter = str(Recruiter.objects.earliest("pk").pk)  # of items without one
        call_command("import_vacancies", *options.real, "--recruiter", recruiter, stdout=sys.stderr)
        real = Vacancy.objects.exclude(pk__in=generated)
        check("Real", real)
        give_places()
        check("Real, with a place", real)


if __name__ == "__main__":
    main()
