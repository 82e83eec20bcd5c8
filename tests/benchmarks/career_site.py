"""What pages of the career site cost beside the responses of the API that they show:

    export DATABASE_URL=postgres://... CAREER_SITE=on
    python -m tests.benchmarks.content fill 100000
    python -m tests.benchmarks.career_site

Prints the CPU of this process in milliseconds: of a page that Django makes, and of one that the
response cache has. The cases take turns.
"""

import os
from collections import defaultdict
from statistics import median
from time import process_time

os.environ |= {"RATE_LIMIT": "off", "CAREER_SITE": "on", "ALLOWED_HOSTS": "testserver"}
os.environ.setdefault("SECRET_KEY", "benchmark-" * 6)
os.environ.setdefault("DEBUG", "off")

from jobsite.wsgi import _bare, _django  # it reads the environment

# isort: split

from django.utils import timezone

from tests.wsgi import ask
from vacancies.models import Vacancy

TURNS, CACHED = 15, 500


def cpu(application: object, path: str, number: int) -> tuple[float, int]:
    """Return the CPU milliseconds of a request to `path`, the mean of `number`, and the bytes of
    the body.
    """
    before, size = process_time(), 0
    for _ in range(number):
        status, _headers, body = ask(application, path)
        assert status == "200 OK", (path, status)
        size = len(body)
    return (process_time() - before) / number * 1000, size


def main() -> None:
    vacancy = Vacancy.objects.published(at=timezone.now()).external().newest_first()[0]
    paths = (
        "/v1/vacancies",
        "/v1/filters",
        "/jobs",
        "/jobs?filter[search]=manager",
        "/jobs?page[number]=40",
        f"/v1/vacancies/{vacancy.pk}",
        vacancy.site_path,
    )
    made, cached, sizes = defaultdict(list), defaultdict(list), {}
    for turn in range(TURNS + 1):
        for path in paths:
            time, sizes[path] = cpu(_bare, path, 1)
            if turn:  # the first one fills caches of the process
                made[path].append(time)
                cached[path].append(cpu(_django, path, CACHED)[0])
    print("| path | bytes | made, ms | cached, ms |\n|---|--:|--:|--:|")
    for path in paths:
        print(f"| {path} | {sizes[path]} | {median(made[path]):.1f} | {median(cached[path]):.3f} |")


if __name__ == "__main__":
    main()
