"""CPU of PUT in the management interface: an equal body, and a changed one, in a new database with
`--vacancies` generated ones. `python -m tests.benchmarks.integration`; DATABASE_URL names the
server.
"""

import argparse
import os
import statistics
import time

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
    django.setup()

from django.conf import settings
from django.core.management import call_command
from django.test.utils import setup_databases, teardown_databases

from tests.factories import make_brand, make_option, make_recruiter
from tests.vacancies.manage.client import Api, make_integration


def milliseconds(api: Api, bodies: list[dict[str, object]], expected: list[str]) -> float:
    """Return the median of the CPU of this process for a PUT of each of `bodies`."""
    found = []
    for body in bodies:
        start = time.process_time()
        answer = api.put("B-1", body)
        found.append(time.process_time() - start)
        assert answer.json()["changed"] == expected, answer.content
    return statistics.median(found) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vacancies", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=200)
    options = parser.parse_args()
    old = setup_databases(verbosity=0, interactive=False)
    settings.INTEGRATION_RATE = "off"
    settings.ALLOWED_HOSTS = ["testserver"]
    if options.vacancies:
        call_command("generate_vacancies", str(options.vacancies), verbosity=0)
    make_brand("Acme")
    make_option("regions", "Ghent")
    make_recruiter("An Peeters", email="an@acme.example")
    api = Api(make_integration())
    texts = dict.fromkeys(("description", "profile", "offer"), "<p>Some words of a text.</p>" * 40)
    body = texts | {
        "title": "Welder",
        "regions": ["Ghent"],
        "head_recruiter": {"email": "an@acme.example"},
        "places": [{"locality": "Ghent", "country": "BE"}],
        "publication": {"state": "public"},
    }
    api.put("B-1", body)
    equal = milliseconds(api, [body] * options.requests, [])
    changed = [body | {"title": f"Welder {n}"} for n in range(options.requests)]
    print(f"PUT of an equal vacancy: {equal:.1f} ms CPU")
    print(f"PUT of a changed vacancy: {milliseconds(api, changed, ['title']):.1f} ms CPU")
    teardown_databases(old, verbosity=0)


if __name__ == "__main__":
    main()
