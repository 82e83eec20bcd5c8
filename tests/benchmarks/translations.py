"""Measures what translations of all vacancies cost: two databases with the same vacancies, one of
them with texts in three other languages.

    python -m tests.benchmarks.translations [--vacancies 100000] [--turns 15]

A process reads each database, the one with `language=fr`; they take turns. Prints the milliseconds
of CPU of application and database for one request, the median of the turns, and their ratio.
Requests are calls without a server. `--folder` keeps the databases for the next run.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median

from tests.benchmarks.read_path import ENV, process
from tests.servers import Postgres

LIST = "/v1/vacancies?page[size]=20"
# Path, and the most that translations may cost. A cached list is in the memory of the process.
CASES = {
    "cached list": (LIST, 1.05),
    "cold list": (f"{LIST}&page[number]=%d", 1.2),
    "filtered list": ("/v1/vacancies?filter[regions]=antwerp&page[number]=%d", 1.1),
    "/v1/filters": ("/v1/filters", 1.1),
    "search": ("/v1/vacancies?filter[search]=manager&page[number]=%d", 1.3),
}
REQUESTS = {"cached list": 100}
LANGUAGES = "nl,fr,de"


def serve() -> None:
    """Measure the cases that are read from the input."""
    from tests.benchmarks.process import cpu, execute  # sets Django up

    # isort: split

    from django.conf import settings

    from jobsite import wsgi
    from tests.wsgi import ask
    from vacancies.api.process_cache import process

    execute("SET max_parallel_workers_per_gather = 0")  # nobody would count their CPU

    def read(path: str) -> None:
        if settings.TEXT_LANGUAGES:
            path += f"{'&' if '?' in path else '?'}language=fr"
        status = ask(wsgi.application, path)[0]
        assert status.startswith("200"), (path, status)

    for line in sys.stdin:
        name, number = line.strip().split(":")
        path = CASES[name][0].replace("%d", number)
        read(path)  # stores the items
        requests, start = REQUESTS.get(name, 1), cpu()
        for _ in range(requests):
            if name not in REQUESTS:
                wsgi._django.entries.clear()
                process.id_lists.clear()
            read(path)
        taken = sum(end - begin for begin, end in zip(start, cpu(), strict=True))
        print(taken * 1000 / requests, flush=True)


def translate() -> None:
    """Give all vacancies ready texts in each language."""
    from tests.benchmarks.process import analyze  # sets Django up

    # isort: split

    from jobsite.demo.content import read, translations
    from jobsite.demo.generator import Rows
    from vacancies.models import Vacancy, VacancyText
    from vacancies.search.merge import merge

    rows = Rows(Random(1), read())
    pks = [*Vacancy.objects.order_by("pk").values_list("pk", flat=True)]
    for start in range(0, len(pks), 1000):
        VacancyText.objects.bulk_create(
            text
            for vacancy in Vacancy.objects.filter(pk__in=pks[start : start + 1000])
            for code in LANGUAGES.split(",")
            for text in translations(
                vacancy, {"translations": {code: rows.translation(code, vacancy.location)}}
            )
        )
    merge()
    analyze()


def environments(server: Postgres, vacancies: int) -> list[dict[str, str]]:
    """Return the environment of each database, which has `vacancies`."""
    found = []
    made = server.sql("SELECT string_agg(datname, ' ') FROM pg_database").split()
    steps = {
        "one": ("", "", ["tests.benchmarks.content", "fill", str(vacancies)]),
        "four": (LANGUAGES, "TEMPLATE one", ["tests.benchmarks.translations", "--translate"]),
    }
    for name, (languages, template, words) in steps.items():
        server.database = "postgres"
        if name not in made:
            server.sql(f"CREATE DATABASE {name} {template}")
        server.database = name
        own = {"DATABASE_URL": server.url, "TEXT_LANGUAGES": languages}
        found.append(os.environ | ENV | own)
        if name not in made:
            subprocess.run([sys.executable, "-m", *words], env=found[-1], check=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--vacancies", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--folder", type=Path)
    for name in ("--serve", "--translate"):
        parser.add_argument(name, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve or options.translate:
        serve() if options.serve else translate()
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        place = options.folder or Path(folder) / "data"
        with Postgres(place, shared_buffers="512MB") as server:
            one, four = environments(server, options.vacancies)
            command = [sys.executable, "-m", "tests.benchmarks.translations", "--serve"]
            with process(command, env=one) as before, process(command, env=four) as after:
                print("| case | one language | four | ratio | target |\n|---|--:|--:|--:|--:|")
                for name, (_path, target) in CASES.items():
                    rows = [
                        (before(f"{name}:{turn + 1}"), after(f"{name}:{turn + 1}"))
                        for turn in range(options.turns)
                    ]
                    first, second = (median(each) for each in zip(*rows, strict=True))
                    ratio = median(mine / own for own, mine in rows)
                    cells = f"{first:.2f} | {second:.2f} | {ratio:.2f} | {target}"
                    print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
