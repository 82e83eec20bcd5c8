"""What counting visits costs:
the CPU of a cached page of a vacancy with and without it, in one process.
"""

import os
import tempfile
from statistics import median
from time import process_time

from django.core.management import call_command

ROUNDS, REQUESTS = 15, 2_000
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DATABASE_URL": f"sqlite:///{folder}/db.sqlite3", "CAREER_SITE": "on"}
        os.environ |= {
            "RATE_LIMIT": "off",
            "ALLOWED_HOSTS": "testserver",
            "SECRET_KEY": "benchmark-" * 6,
        }
        from jobsite.wsgi import Requests, _site  # it reads the environment
        from tests.wsgi import ask
        from vacancies.models import Vacancy
        from vacancies.statistics.visits import count_visit, visits

        call_command("migrate", verbosity=0)
        call_command("generate_vacancies", "1")
        path = Vacancy.objects.get().site_path
        sites = {"without": Requests(_site), "with": Requests(_site, count_visit=count_visit)}
        taken: dict[str, list[float]] = {name: [] for name in sites}
        for _ in range(ROUNDS):
            for name, site in sites.items():
                before = process_time()
                for number in range(REQUESTS):
                    status, *_rest = ask(
                        site, f"{path}?source=s{number % 5}", HTTP_USER_AGENT=BROWSER
                    )
                    assert status == "200 OK"
                taken[name].append((process_time() - before) / REQUESTS * 1e6)
        visits.write()
        visits.timer.cancel()
        visits.timer = None
        without, counted = (median(taken[name]) for name in sites)
        print(f"{without:.1f} us without, {counted:.1f} us with: {counted / without:.3f}")


if __name__ == "__main__":
    main()
