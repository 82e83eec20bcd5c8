"""Measures an import of vacancies:

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.imports [COUNT]

Fills an empty database with COUNT generated vacancies (10,000), reads their items from the API and
deletes them. Then it imports the items, again with other titles and places, and again without a
change. Prints the milliseconds of CPU per vacancy, of application and database, and the versions.
"""

import argparse
import sys
from collections.abc import Iterator

from tests.benchmarks.process import analyze, cpu  # sets Django up

# isort: split

from django.core.management import call_command
from django.test import Client

from jobsite.types import JsonObject
from vacancies.exchange.importer import VacancyImporter
from vacancies.exchange.sources import SourceRow
from vacancies.models import Vacancy, Version

PAGE = 100


def items_of(client: Client, count: int) -> Iterator[JsonObject]:
    for path in ("/v1/vacancies", "/v1/vacancies/internal"):
        for number in range(1, count // PAGE + 2):
            query = f"?page[size]={PAGE}&page[number]={number}"
            yield from client.get(f"{path}{query}").json()["data"]


def changed(item: JsonObject) -> JsonObject:
    places = [{"locality": "Mons", "country": "BE"}]
    return item | {"title": f"{item['title']} (m/f)", "places": places}


def measure(what: str, items: list[JsonObject]) -> None:
    importer = VacancyImporter()
    rows = (SourceRow(f"item {number}", item) for number, item in enumerate(items))
    before = cpu()
    importer.import_rows(rows)
    own, database = (
        1000 * (end - start) / len(items) for start, end in zip(before, cpu(), strict=True)
    )
    report, versions = importer.report, Version.objects.count()
    print(
        f"{what:<10} {own:6.2f} ms, database {database:6.2f} ms, {report.created} created, "
        f"{report.updated} updated, {report.unchanged} unchanged, {report.refused} refused, "
        f"{versions} versions",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    count = parser.parse_args().count
    call_command("migrate", verbosity=0)
    if Vacancy.objects.exists():
        sys.exit("The database holds vacancies: name an empty one.")
    call_command("generate_vacancies", str(count), stdout=sys.stderr)
    found = {item["id"]: item for item in items_of(Client(SERVER_NAME="localhost"), count)}
    items = list(found.values())
    Vacancy.objects.all().delete()
    Version.objects.all().delete()
    analyze()
    measure("new", items)
    other = [changed(item) for item in items]
    measure("changed", other)
    measure("unchanged", other)


if __name__ == "__main__":
    main()
