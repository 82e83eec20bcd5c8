"""Measures the filters by facts beside those by options, and /v1/filters with and without the
facts:

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 100000
    python -m tests.benchmarks.facts [--one]

Fills the facts of the vacancies with SQL. With `--one`, everything is in one country, brand and
language. Prints the milliseconds of CPU of application and database: of a first request, whose ids
nobody has read yet, and of a repeated one. Requests are calls in this process; the cases take
turns. Queries run without parallel workers, whose CPU would not be counted.
"""

import argparse
from collections import defaultdict
from statistics import median
from unittest.mock import patch

from tests.benchmarks.process import analyze, connection, cpu, execute  # sets Django up

# isort: split

from django.test import Client

from vacancies.api import process_cache
from vacancies.api.v1 import filters
from vacancies.choices import EmploymentType, Fact
from vacancies.models import Brand, FilterOption
from vacancies.search.merge import merge

COUNTRIES = ("NL", "FR", "DE", "LU", "GB", "US", "ES", "IT", "PL")


def fill(is_one: bool) -> None:
    """Set the facts of all vacancies. Every third one has two places."""
    brands = list(Brand.objects.order_by("pk").values_list("pk", flat=True))
    values = {"language": "'nl'", "work_place": "'hybrid'", "brand_id": str(brands[0])}
    country, latitude, longitude = "'BE'", "51", "4"
    if not is_one:
        others = " ".join(f"WHEN {n} THEN '{code}'" for n, code in enumerate(COUNTRIES))
        country, latitude, longitude = (
            f"CASE id % 18 {others} ELSE 'BE' END",
            "40 + id % 20",
            "id % 31",
        )
        values = {
            "language": "CASE WHEN id % 1000 = 0 THEN 'de' WHEN id % 3 = 0 THEN '' ELSE 'nl' END",
            "work_place": "CASE id % 3 WHEN 0 THEN '' WHEN 1 THEN 'onsite' ELSE 'remote' END",
            "brand_id": f"{brands[0]} + id % {len(brands)}",
        }
    execute(
        f"UPDATE vacancies_vacancy SET {', '.join(f'{name} = {sql}' for name, sql in values.items())}"
    )
    execute("DELETE FROM vacancies_place")
    for position, condition in enumerate(("true", "id % 3 = 0")):
        execute(
            "INSERT INTO vacancies_place (vacancy_id, position, kind, street, postal_code, "
            f"locality, region, country, latitude, longitude) SELECT id, {position}, 'site', '', "
            f"'', 'x', '', {country}, {latitude} + id % 997 * 0.001, {longitude} + id % 991 * "
            f"0.001 * {1 + position} FROM vacancies_vacancy WHERE {condition}"
        )
    for keyword in ("contract_types", "work_regimes"):
        for n, option in enumerate(FilterOption.objects.filter(filter__keyword=keyword)):
            FilterOption.objects.filter(pk=option.pk).update(
                employment_type=EmploymentType.values[n]
            )
    merge()
    analyze()


class Measured:
    """The CPU of requests: by case, of the first and the repeated ones, in milliseconds."""

    def __init__(self) -> None:
        self.client = Client(SERVER_NAME="localhost")
        self.taken: dict[str, list[list[tuple[float, float]]]] = defaultdict(lambda: [[], []])
        self.totals: dict[str, int] = {}

    def ask(self, path: str) -> dict:
        response = self.client.get(path)
        assert response.status_code == 200, response.content
        return response.json()

    def measure(self, name: str, path: str) -> None:
        process_cache.process.id_lists.clear()
        for taken in self.taken[name]:
            before = cpu()
            body = self.ask(path)
            app, database = (1000 * (b - a) for a, b in zip(before, cpu(), strict=True))
            taken.append((app, database))
        self.totals[name] = body.get("meta", {}).get("total", "")


def cases(measured: Measured) -> dict[str, str]:
    """Return the queries of the lists:
    the most and the least frequent value of each filter, and others.
    """
    used = {each["keyword"]: each["options"] for each in measured.ask("/v1/filters")["data"]}
    found = {}
    for name in ("regions", "types", "contract_types", *map(str, Fact)):
        if options := sorted(used.get(name, ()), key=lambda option: option["count"]):
            for value in dict.fromkeys((options[-1]["value"], options[0]["value"])):
                found[f"filter[{name}]={value}"] = f"filter[{name}]={value}"
    others = (
        *(f"filter[near]=51.2,4.4,{km}" for km in (1, 25, 500)),
        "sort=title",
        "sort=closes_at",
    )
    return found | dict(zip(others, others, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--one", action="store_true", help="everything has the same values")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--keep", action="store_true", help="keep the facts of an earlier run")
    options = parser.parse_args()
    if connection.vendor == "postgresql":
        execute("SET max_parallel_workers_per_gather = 0")
    if not options.keep:
        fill(options.one)
    measured = Measured()
    queries = cases(measured)
    chosen = {"all": "", "country and region chosen": "?filter[country]=BE&filter[regions]=antwerp"}
    for _ in range(options.turns):
        for name, query in queries.items():
            measured.measure(name, f"/v1/vacancies?{query}")
        for title, query in chosen.items():
            measured.measure(f"/v1/filters, {title}", f"/v1/filters{query}")
            with patch.object(filters, "count_facts", lambda *args: []):
                measured.measure(f"/v1/filters, {title}, the nine only", f"/v1/filters{query}")
    print("| request | vacancies | first, app + database, ms | repeated |\n|---|--:|--:|--:|")
    for name, kinds in measured.taken.items():
        cells = [
            " + ".join(f"{median(part):.1f}" for part in zip(*taken, strict=True))
            for taken in kinds
        ]
        print(f"| {name} | {measured.totals[name]} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
