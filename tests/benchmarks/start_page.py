"""Measure the start page and the reports:

    DATABASE_URL=sqlite:////tmp/start.sqlite3 .venv/bin/python -m tests.benchmarks.start_page --vacancies 51

Fills an empty database, records the figures, and requests the pages as a recruiter of two of six brands and
as a superuser. Prints the CPU time and the number of statements per page, as tests/benchmarks/inbox.py does.
All vacancies are published, which is the most that pages can have to count."""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.inbox import Statements  # sets Django up

from django.contrib.auth.models import Permission, User  # isort: skip
from django.core.management import call_command  # isort: skip
from django.db import connection, transaction  # isort: skip
from django.test import Client  # isort: skip
from django.utils import timezone  # isort: skip

from vacancies.exchange.generator import generate  # isort: skip
from vacancies.models import Brand, Vacancy, VacancyOption  # isort: skip

BASE = 20_000  # vacancies that are generated; the others are copies
PAGES = {
    "start page": "/admin/",
    "week": "/admin/?calendar=week",
    "day": "/admin/?calendar=day",
    "reports, 90 days": "/admin/vacancies/vacancy/reports/",
    "year by region": "/admin/vacancies/vacancy/reports/?by=regions&since={since}",
}


def fill(count: int) -> None:
    """Create `count` vacancies, and two accounts."""
    for _ in generate(min(count, BASE), seed=1, at=timezone.now()):
        pass
    first = Vacancy.objects.order_by("pk").values_list("pk", flat=True)[0]
    for copy in range(1, -(-count // BASE)):
        size = min(BASE, count - copy * BASE)
        with transaction.atomic(), connection.cursor() as cursor:
            for model, key in ((Vacancy, "id"), (VacancyOption, "vacancy_id")):
                moved = {"id": copy * 20 * BASE, key: copy * BASE}  # at most 20 options each
                columns = [field.column for field in model._meta.concrete_fields]
                values = ", ".join(f"{name} + {moved[name]}" if name in moved else name for name in columns)
                cursor.execute(
                    f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) "
                    f"SELECT {values} FROM {model._meta.db_table} WHERE {key} >= %s AND {key} < %s",
                    [first, first + size],
                )
        print(f"{(copy + 1) * BASE} vacancies", file=sys.stderr)
    recruiter = User.objects.create_user("recruiter", is_staff=True)
    codes = ("view_vacancy", "view_application")
    recruiter.user_permissions.set(Permission.objects.filter(codename__in=codes))
    recruiter.brands.set(Brand.objects.all()[:2])
    User.objects.create_superuser("root")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def cpu() -> float:
    """Return the CPU time of this process and of its process in PostgreSQL, which must be on this machine."""
    seconds = time.process_time()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            times = Path(f"/proc/{cursor.fetchone()[0]}/stat").read_text().rpartition(")")[2].split()
        seconds += (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def measure(client: Client, path: str, repeats: int) -> tuple[float, Statements, int]:
    """Return the mean CPU seconds, the statements of the last request, and the size of the page."""
    for _ in range(3):  # templates; PostgreSQL's and our caches
        client.get(path)
    before = cpu()
    for _ in range(repeats):
        statements = Statements()
        with connection.execute_wrapper(statements):
            response = client.get(path)
    return (cpu() - before) / repeats, statements, len(response.content)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--vacancies", type=int, default=20_000)
    options.add_argument("--repeats", type=int, default=20)
    options.add_argument("--sql", action="store_true", help="show the slowest statement of each page")
    given = options.parse_args()
    call_command("migrate", verbosity=0)
    if not Vacancy.objects.exists():
        fill(given.vacancies)
    before = cpu()
    call_command("update_figures")
    print(f"update_figures: CPU {cpu() - before:.1f} s")
    since: Any = timezone.now().date().replace(year=timezone.now().year - 1)
    for name in ("recruiter", "root"):
        client = Client(SERVER_NAME="localhost")
        client.force_login(User.objects.get(username=name))
        for page, path in PAGES.items():
            seconds, statements, size = measure(client, path.format(since=since), given.repeats)
            print(
                f"{name:10} {page:20} {seconds * 1000:7.1f} ms  {statements.count:3} statements  "
                f"{size // 1024:5} kB",
                flush=True,
            )
            if given.sql:
                slow, sql = max(statements.slow)
                print(f"    {slow * 1000:.1f} ms: {sql[:2000]}")


if __name__ == "__main__":
    main()
