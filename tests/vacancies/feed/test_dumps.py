"""A dump of pg_dump in an empty cluster: cursors of the first one are exact there, or expire."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.servers import POSTGRES, ROOT, Postgres, folder_with_logs

pytestmark = [
    pytest.mark.slow("two clusters of PostgreSQL"),
    pytest.mark.skipif(not POSTGRES, reason="PostgreSQL is not installed"),
]
# Reads a line of Python at a time, and writes the value of `answer` after it as JSON.
SITE = """
import json, os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
import django
django.setup()
import logging
logging.disable()
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from tests.applications.makers import make_application
from tests.factories import make_vacancy
from tests.vacancies.manage.client import Api, make_integration
from vacancies.models import Vacancy

def poll(path):
    response = Client().get(path)
    body = response.json()
    found = [(each["id"], each.get("vacancy", {}).get("title")) for each in body.get("data", ())]
    return response.status_code, found, body.get("meta", {}).get("cursor")

for line in sys.stdin:
    answer = None
    exec(line)
    print(json.dumps(answer), flush=True)
"""


class Site:
    def __init__(self, database: Postgres) -> None:
        env = {"DATABASE_URL": database.url, "RESPONSE_CACHE_MB": "0"}
        env |= {"SECRET_KEY": "only-for-this-test-" * 4}
        env |= {"ALLOWED_HOSTS": "testserver", "PATH": "", "PYTHONPATH": str(ROOT)}
        self.process: Any = subprocess.Popen(
            [sys.executable, "-c", SITE],
            env=env,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Site":
        return self

    def __exit__(self, *args: object) -> None:
        self.process.communicate()

    def __call__(self, line: str) -> object:
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def poll(self, cursor: str) -> tuple[int, list[list[object]]]:
        status, found, _ = self(f"answer = poll('/v1/vacancies/changes?since={cursor}')")
        return status, found


def copy_with_pg_dump(source: Postgres, target: Postgres) -> None:
    dump = subprocess.run(
        [f"{POSTGRES}/pg_dump", "-d", source.url], check=True, capture_output=True
    ).stdout
    subprocess.run(
        [f"{POSTGRES}/psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", target.url],
        input=dump,
        check=True,
        capture_output=True,
    )


def test_cursors_of_the_first_cluster_are_exact_in_the_other_or_expire():
    with folder_with_logs() as path, Postgres(path / "1") as first, Postgres(path / "2") as second:
        with Site(first) as site:
            site("call_command('migrate', verbosity=0)")
            one, two = site("answer = [make_vacancy(title=each).pk for each in ('A', 'B')]")
            site("make_application(vacancy=Vacancy.objects.first())")
            token = site("api = Api(make_integration(), '-'); answer = api.token")
            _, _, old = site("answer = poll('/v1/vacancies/changes')")
            out = site("answer = api.get('applications').json()['meta']['cursor']")
            copy_with_pg_dump(first, second)
            site("Vacancy.objects.filter(title='A').update(title='Lost')")
            _, found, late = site(f"answer = poll('/v1/vacancies/changes?since={old}')")
            assert found == [[one, "Lost"]]
        with Site(second) as site:
            assert site.poll(old) == (200, [])  # nothing has changed since
            assert site.poll(late) == (200, [])  # it is later than this server
            site("Vacancy.objects.filter(title='B').update(title='New')")
            assert site.poll(old) == (200, [[two, "New"]])
            assert site.poll(late) == (410, [])
            path = f"/v1/manage/-/applications?since={out}"
            headers = f"{{'Authorization': 'Bearer {token}'}}"
            assert site(f"answer = Client().get('{path}', headers={headers}).status_code") == 410
