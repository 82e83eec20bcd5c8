"""Measure the start page and the reports:

    DATABASE_URL=sqlite:////tmp/start.sqlite3 .venv/bin/python -m tests.benchmarks.start_page --vacancies 51

Fills an empty database, records the figures, and requests the pages as a recruiter of two of six brands and
as a superuser. Prints the CPU time and the number of statements per page, as tests/benchmarks/inbox.py does.
All vacancies are published, which is the most that pages can have to count."""

import argparse
import sys
import time
from typing import Any

from tests.benchmarks.inbox import measure  # sets Django up

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


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--vacancies", type=int, default=20_000)
    options.add_argument("--repeats", type=int, default=5)
    given = options.parse_args()
    call_command("migrate", verbosity=0)
    if not Vacancy.objects.exists():
        fill(given.vacancies)
    start, cpu = time.perf_counter(), time.process_time()
    call_command("update_figures")
    print(f"update_figures: {time.perf_counter() - start:.1f} s, CPU {time.process_time() - cpu:.1f} s")
    since: Any = timezone.now().date().replace(year=timezone.now().year - 1)
    for name in ("recruiter", "root"):
        client = Client(SERVER_NAME="localhost")
        client.force_login(User.objects.get(username=name))
        for page, path in PAGES.items():
            client.get(path.format(since=since))  # warms templates
            seconds, statements, size = measure(client, path.format(since=since), None, given.repeats)
            print(
                f"{name:10} {page:20} {seconds * 1000:7.1f} ms  {statements.count:3} statements "
                f"{statements.seconds * 1000:7.1f} ms  {size // 1024:5} kB"
            )
            slow, sql = max(statements.slow)
            print(f"    {slow * 1000:.1f} ms: {sql[:300]}")


if __name__ == "__main__":
    main()
