"""Job alerts while their dispatcher is killed: no vacancy is told twice, none is left out.

    python -m tests.chaos.alerts --alerts 100000 --vacancies 5000 [--queries 2000] [--database
    postgresql]

All vacancies are new. On two mornings, the dispatcher is killed five times while it tells them.
Prints the CPU time of the dispatchers, without the server of PostgreSQL. No email is sent. Exit
code 1: an alert told a vacancy twice, too late, or not what the list with its query has, or the CPU
time of a morning is above 5 minutes.
"""

import argparse
import os
import random
import re
import resource
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

from tests.chaos.program import parser
from tests.servers import ROOT, SYSTEM_ENV, Postgres, folder_with_logs

KILLS = 5
CPU_MAX = 300.0  # seconds, of a morning
SAMPLE = 100  # queries that are compared with the list
END = 1800.0  # seconds after which a morning is given up
_TOLD = re.compile(r"/jobs/(\d+)\S*source=alert$", re.MULTILINE)


def main() -> int:
    made = parser(__doc__, "database")
    made.add_argument("--alerts", type=int, default=100_000)
    made.add_argument("--vacancies", type=int, default=5_000)
    made.add_argument("--queries", type=int, default=2_000)
    arguments = made.parse_args()
    with folder_with_logs() as path, ExitStack() as stack:
        url = f"sqlite:///{path}/alerts.sqlite3"
        if arguments.database == "postgresql":
            url = stack.enter_context(Postgres(path / "postgres")).url
        env = {
            "DATABASE_URL": url,
            "SECRET_KEY": secrets.token_urlsafe(50),
            "CAREER_SITE": "on",
            "RATE_LIMIT": "off",
        }
        env |= {"ALLOWED_HOSTS": "jobs.example.org", "PUBLIC_BASE_URL": "https://jobs.example.org"}
        os.environ.update(env)
        return measure(arguments, env, stack.enter_context((path / "deliver.log").open("ab")))


def measure(arguments: argparse.Namespace, env: dict[str, str], log: Any) -> int:
    import tests.chaos.set_up  # noqa: F401

    # isort: split

    from django.core.management import call_command
    from django.utils import timezone

    from applications.mail.daily import morning
    from vacancies.models import Vacancy
    from vacancies.search.merge import merge

    call_command("migrate", verbosity=0)
    call_command("generate_vacancies", str(arguments.vacancies), verbosity=0)
    at, dice = timezone.now(), random.Random(31)
    first = morning(at) + timedelta(days=1, minutes=1)  # the clock of the dispatchers
    rows = list(Vacancy.objects.only("pk"))
    for row in rows:
        row.publish_from, row.publish_until = at - timedelta(seconds=dice.randrange(80_000)), None
    Vacancy.objects.bulk_update(rows, ["publish_from", "publish_until"], batch_size=500)
    merge()
    make_alerts(arguments.alerts, make_queries(arguments.queries, dice), dice, at)
    found = []
    for day in range(2):
        found += one_morning(first + timedelta(days=day), env, log, dice)
    found += mistakes()
    print(*found[:20], sep="\n")
    return bool(found)


def make_queries(count: int, dice: random.Random) -> list[str]:
    """Return different queries: words, options and places, and combinations."""
    from jobsite.api.parameters import encode
    from vacancies.filtersets import NEAR, SEARCH, filter_name
    from vacancies.models import FilterOption, Vacancy

    titles = Vacancy.objects.order_by("pk").values_list("title", flat=True)
    words = sorted({word for title in titles for word in re.findall(r"\w{4,}", title)})
    options = list(FilterOption.objects.order_by("pk").values_list("filter__keyword", "value"))
    queries: dict[str, None] = {"": None}
    while len(queries) < count:
        values = {}
        if dice.random() < 0.6:
            values[SEARCH] = " ".join(dice.sample(words, dice.choice((1, 1, 2))))
        for keyword, value in dice.sample(options, dice.choice((0, 1, 1, 2))):
            values[filter_name(keyword)] = value
        if dice.random() < 0.1:
            place = f"{dice.uniform(50, 52):.2f},{dice.uniform(3, 6):.2f}"
            values[NEAR] = f"{place},{dice.randrange(5, 100)}"
        queries[encode(dict(sorted(values.items())))] = None
    return list(queries)


def make_alerts(count: int, queries: list[str], dice: random.Random, at: datetime) -> None:
    """Store confirmed alerts. Some queries are popular:
    one in two alerts has one of the first fifty.
    """
    from applications.models import JobAlert

    def alert(number: int) -> JobAlert:
        popular = number % 2 and len(queries) < count
        query = dice.choice(queries[:50]) if popular else queries[number % len(queries)]
        address = f"a{number}@example.org"
        return JobAlert(
            address=address,
            address_folded=address,
            query=query,
            language=dice.choice(("en", "nl")),
            frequency="daily",
            confirmed_at=at,
            told_at=at,
            ends_at=at + timedelta(days=300),
        )

    JobAlert.objects.bulk_create(map(alert, range(count)), batch_size=2000)


def one_morning(at: datetime, env: dict[str, str], log: Any, dice: random.Random) -> list[str]:
    """Run dispatchers, one after the other, until all alerts were looked at.
    Return what is wrong.
    """
    from django.db import connection
    from django.utils import timezone

    from applications.models import JobAlert, Message

    def left() -> int:
        return JobAlert.objects.filter(told_at__lt=at).count()

    def start() -> subprocess.Popen:
        ahead = str((at - timezone.now()).total_seconds() + time.monotonic() - started)
        command = [sys.executable, "-m", "tests.chaos.mail_dispatcher", "900", ahead]
        return subprocess.Popen(command, env=SYSTEM_ENV | env, cwd=ROOT, stdout=log, stderr=log)

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    started, cpu, total = time.monotonic(), used(), left()
    kill_at = sorted(
        (dice.randrange(total // 10, total * 9 // 10) for _ in range(KILLS)), reverse=True
    )
    node, kills = start(), 0
    while (rest := left()) and time.monotonic() < started + END:
        if kills < KILLS and rest <= kill_at[kills]:
            node.send_signal(signal.SIGKILL)
            node.wait()
            kills += 1
            node = start()
        time.sleep(0.2)
    seconds = time.monotonic() - started
    node.kill()
    node.wait()
    cpu = used() - cpu
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    emails = Message.objects.filter(kind="alert").count()
    connection.close()
    print(
        f"{at:%d %b}: {total - rest} alerts, {seconds:.0f} s, {cpu:.0f} s CPU, {peak} MiB, "
        f"{kills} kills."
    )
    print(f"{emails} emails in all.")
    wrong = [f"{rest} alerts are left"] if rest else []
    return wrong + ([f"{cpu:.0f} s CPU are above {CPU_MAX:.0f}"] if cpu > CPU_MAX else [])


def mistakes() -> list[str]:
    """Return what is wrong with the emails of all mornings."""
    from django.test import Client

    from applications.alerts.job import VACANCIES_MAX
    from applications.models import JobAlert, Message, ToldVacancy

    told: dict[int, list[list[int]]] = {}
    for alert, body in (
        Message.objects.filter(kind="alert").order_by("pk").values_list("alert", "body")
    ):
        told.setdefault(alert, []).append([int(pk) for pk in _TOLD.findall(body)])
    found = []
    for alert, emails in told.items():
        times = Counter(pk for pks in emails for pk in pks)
        found += [f"alert {alert} told vacancy {pk} {n} times" for pk, n in times.items() if n > 1]
    pairs = {(alert, pk) for alert, emails in told.items() for pks in emails for pk in pks}
    marked = set(ToldVacancy.objects.values_list("alert", "vacancy").iterator())
    counts = Counter(alert for alert, _pk in marked)
    if not pairs <= marked:
        found.append("an email shows a vacancy without a row")
    client = Client()
    queries = JobAlert.objects.order_by("query").values_list("query", flat=True).distinct()
    for query in random.Random(1).sample(list(queries), min(SAMPLE, len(queries))):
        path = f"/v1/vacancies?{query}&sort=-published_at&fields=id&page[size]={VACANCIES_MAX}"
        listed = client.get(path, secure=True, headers={"host": "jobs.example.org"}).json()
        page, total = [item["id"] for item in listed["data"]], listed["meta"]["total"]
        for alert in JobAlert.objects.filter(query=query)[:20]:
            if (told.get(alert.pk, []), counts[alert.pk]) != ([page] if page else [], total):
                found.append(f"alert {alert.pk} did not tell what is listed: {query}")
    print(f"{len(marked)} vacancies were told, {len(pairs)} of them shown.")
    return found


if __name__ == "__main__":
    sys.exit(main())
