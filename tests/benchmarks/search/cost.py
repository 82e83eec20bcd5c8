"""Measures searches, filtered lists and /v1/filters:

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 100000
    python -m tests.benchmarks.search.cost

Prints the milliseconds of CPU of application and database: in a new process, in one when 50
vacancies have changed since the last merge, and in a process after a change.
"""

from statistics import median
from time import process_time

from tests.benchmarks.process import connection, cpu  # sets Django up

# isort: split

from django.test import Client

from vacancies.api import process_cache
from vacancies.models import Vacancy
from vacancies.search.merge import merge

TURNS = 5
SEARCHES = {
    "rare word": "filter[search]=changed",
    "common word of titles": "filter[search]=nurse",
    "common word of texts": "filter[search]=you",
    "three words of texts": "filter[search]=you+the+week",
    "phrase of texts": 'filter[search]="shift+in+writing"',
    "typing error": "filter[search]=enginer",
    "region": "filter[regions]=antwerp",
    "three filters": "filter[regions]=antwerp&filter[types]=graduate&filter[work_regimes]=shift-work",
    "sort=title": "sort=title",
    "sort=-closes_at, region": "filter[regions]=antwerp&sort=-closes_at",
}
PATHS = {name: f"/v1/vacancies?{query}" for name, query in SEARCHES.items()} | {
    "/v1/filters": "/v1/filters",
    "/v1/filters, three filters": f"/v1/filters?{SEARCHES['three filters']}",
}


def measure(client: Client, path: str) -> tuple[float, float]:
    before = cpu()
    response = client.get(path)
    app, database = (1000 * (b - a) for a, b in zip(before, cpu(), strict=True))
    assert response.status_code == 200, response.content
    return app, database


def change(number: int) -> None:
    """Change `number` vacancies, in a transaction each."""
    for vacancy in Vacancy.objects.order_by("pk")[:number]:
        Vacancy.objects.filter(pk=vacancy.pk).update(reference=f"Changed {process_time()}")


def main() -> None:
    client = Client(SERVER_NAME="localhost")
    merge()
    print(
        f"{connection.vendor}\n| request | new process | 50 changes | after a change "
        "|\n|---|--:|--:|--:|"
    )
    for name, path in PATHS.items():
        merge()
        taken: list[list[tuple[float, float]]] = [[], [], []]
        for column, changed in enumerate((0, 50)):
            change(changed)
            for _ in range(TURNS):
                process_cache.process = process_cache.ProcessCache()
                taken[column].append(measure(client, path))
        merge()
        measure(client, path)
        for _ in range(TURNS):
            change(1)
            taken[2].append(measure(client, path))
        cells = (
            " + ".join(f"{median(part):.0f}" for part in zip(*each, strict=True)) for each in taken
        )
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
