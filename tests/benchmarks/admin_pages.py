"""Measure the pages of the admin:

    DATABASE_URL=sqlite:////tmp/pages.sqlite3 .venv/bin/python -m tests.benchmarks.admin_pages --vacancies 51

Fills an empty database, then requests every page as a superuser and as a recruiter of two of four brands.
Prints the CPU time of the process, that of its PostgreSQL backend on the same machine, and the number of
statements per page. CPU time hardly depends on other work of the machine. Exit code 1: a page takes more than
LIMIT.

To measure a page of yours, add it to `pages`: (name, path, data to post or None).
"""

import argparse
import gc
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.inbox import Statements  # sets Django up

# isort: split

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client

from jobsite.admin.roles import permissions
from vacancies.models import Brand, FilterOption, Recruiter, Vacancy, VacancyOption

LIMIT = 0.1  # seconds of CPU
LIST = "/admin/vacancies/vacancy/"
BRANDS, RECRUITERS, OPTIONS = 4, 50, 200
BATCH = 50_000  # rows per statement

# Of 20 vacancies, 2 are drafts, 1 is unpublished, 1 archived and 1 expired. The others are public, except one
# of 200 that is scheduled. One of 200 closes within the week.
COLUMNS = {
    "id": "n",
    "title": "'Nurse ' || n || ' in ' || (n %% 97)",
    "title_folded": "'nurse ' || n || ' in ' || (n %% 97)",
    "search_text": "'nurse ' || n || ' in ' || (n %% 97) || ' we care for patients in a team'",
    "description": "'<p>We care for patients in a team of ten. Number ' || n || '</p>'",
    "status": "CASE n %% 20 WHEN 0 THEN 'draft' WHEN 1 THEN 'draft' WHEN 2 THEN 'unpublished' "
              "WHEN 3 THEN 'archived' ELSE 'published' END",
    "audience": "CASE n %% 10 WHEN 0 THEN 'internal' WHEN 1 THEN 'both' ELSE 'public' END",
    "is_hot": "n %% 25 = 0",
    "is_permanent": "{false}",
    "publish_from": "CASE WHEN n %% 200 = 4 THEN {now_plus_days_30} ELSE {before} END",
    "publish_until": "CASE WHEN n %% 20 = 5 THEN {yesterday} WHEN n %% 200 = 6 THEN {now_plus_days_3} "
                     "WHEN n %% 3 = 0 THEN NULL ELSE {later} END",
    "created_at": "{before}",
    "updated_at": "{before}",
    "location": "'City ' || (n %% 97)",
    "brand_id": "1 + n %% 4",
    "head_recruiter_id": "1 + n %% 50",
}  # fmt: skip
EMPTY = (
    "title_internal", "short_description", "profile", "offer", "contact", "company", "postcustom1", "image",
    "image_url", "video", "apply_url",
)  # fmt: skip
DATES = {
    "postgresql": {
        "false": "false",
        "before": "now() - interval '40 days' - n * interval '20 seconds'",
        "later": "date_trunc('day', now()) + (30 + n %% 300) * interval '1 day'",
        "yesterday": "now() - interval '1 day'",
        "now_plus_days_3": "date_trunc('day', now()) + (1 + n %% 5) * interval '1 day'",
        "now_plus_days_30": "now() + interval '30 days'",
    },
    "sqlite": {
        "false": "0",
        "before": "strftime('%%Y-%%m-%%d %%H:%%M:%%f', julianday('now') - 40 - n / 4320.0)",
        "later": "datetime('now', 'start of day', '+' || (30 + n %% 300) || ' days')",
        "yesterday": "datetime('now', '-1 day')",
        "now_plus_days_3": "datetime('now', 'start of day', '+' || (1 + n %% 5) || ' days')",
        "now_plus_days_30": "datetime('now', '+30 days')",
    },
}


def fill(count: int) -> None:
    """Create `count` vacancies of four brands with SQL, because a million objects would take an hour."""
    for number in range(1, BRANDS + 1):
        Brand.objects.create(pk=number, name=f"Brand {number}")
    for number in range(1, RECRUITERS + 1):
        Recruiter.objects.create(pk=number, name=f"Recruiter {number}", email=f"r{number}@example.org")
    filter_id = 1
    options = FilterOption.objects.bulk_create(
        FilterOption(filter_id=filter_id, label=f"Option {number}", value=f"option-{number}", position=number)
        for number in range(OPTIONS)
    )
    columns = COLUMNS | dict.fromkeys(EMPTY, "''")
    values = ", ".join(columns.values()).format_map(DATES[connection.vendor])
    first_option = options[0].pk
    for start in range(1, count + 1, BATCH):
        bounds = [start, min(start + BATCH - 1, count)]
        with connection.cursor() as cursor:
            numbers = (
                "WITH numbers AS (SELECT generate_series(%s::bigint, %s) AS n) "
                if connection.vendor == "postgresql"
                else "WITH RECURSIVE numbers(n) AS (SELECT %s UNION ALL SELECT n+1 FROM numbers WHERE n<%s) "
            )
            into = f"INSERT INTO {Vacancy._meta.db_table} ({', '.join(columns)}) "
            cursor.execute(
                f"{into}{numbers}SELECT {values} FROM numbers"
                if connection.vendor == "postgresql"
                else f"{into}SELECT * FROM ({numbers}SELECT {values} FROM numbers)",
                bounds,
            )
            links = f"INSERT INTO {VacancyOption._meta.db_table} (vacancy_id, option_id, position) "
            cursor.execute(
                f"{links}SELECT id, {first_option} + id %% {OPTIONS}, 0 FROM {Vacancy._meta.db_table} "
                "WHERE id BETWEEN %s AND %s",
                bounds,
            )
        if sys.stderr.isatty():
            print(f"\r{bounds[1]}", end="", file=sys.stderr)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [Vacancy._meta.db_table, count]
            )
    recruiter = User.objects.create_user("recruiter", is_staff=True, email="r1@example.org")
    recruiter.user_permissions.set(permissions("Recruiter"))
    recruiter.brands.set(Brand.objects.filter(pk__lte=2))
    User.objects.create_superuser("root", email="r2@example.org")


def analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def pages(count: int) -> list[tuple[str, str, dict[str, Any] | None]]:
    """Return (name, path, data to post or None) of every page."""
    last = max(1, Vacancy.objects.exclude(status="archived").filter(brand__lte=2).count() // 50)
    own = Vacancy.objects.filter(brand=1, status="published").order_by("pk")[0]
    return [
        ("start page", "/admin/", None),
        ("vacancies", LIST, None),
        ("vacancies, page 2", f"{LIST}?p=2", None),
        ("vacancies, middle", f"{LIST}?p={last // 2 or 1}", None),
        ("vacancies, last page", f"{LIST}?p={last}", None),
        ("published", f"{LIST}?state=published", None),
        ("drafts", f"{LIST}?state=draft", None),
        ("closing this week", f"{LIST}?attention=ending", None),
        ("vacancy", f"{LIST}{own.pk}/change/", None),
        ("new vacancy", f"{LIST}add/", None),
        ("history", f"{LIST}{own.pk}/history/", None),
        ("applications", "/admin/applications/application/", None),
    ]


def backend_cpu() -> float:
    """Return the seconds of CPU that the PostgreSQL backend of the connection has taken; 0 without one."""
    if connection.vendor != "postgresql":
        return 0.0
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def measure(
    client: Client, path: str, data: dict[str, Any] | None, repeats: int
) -> tuple[float, float, Any, int]:
    """Return the medians of the CPU of this process and of the backend, the statements, and the size."""
    own, theirs = [], []
    for _ in range(repeats):
        gc.collect()
        statements = Statements()
        before, start = backend_cpu(), time.process_time()
        with connection.execute_wrapper(statements):
            response = client.get(path) if data is None else client.post(path, data)
            size = len(b"".join(response.streaming_content) if response.streaming else response.content)
        own.append(time.process_time() - start)
        theirs.append(backend_cpu() - before)
        if response.status_code != 200:
            sys.exit(f"{path}: {response.status_code}")
    return statistics.median(own), statistics.median(theirs), statements, size


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--vacancies", type=int, default=20_000, help="to create in an empty database")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--only", default="", help="pages whose name contains this")
    options.add_argument("--sql", action="store_true", help="show the slowest statement of each page")
    given = options.parse_args()
    call_command("migrate", verbosity=0)
    if not Vacancy.objects.exists():
        start = time.perf_counter()
        fill(given.vacancies)
        analyze()
        print(f"filled in {time.perf_counter() - start:.0f} s")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # the CPU of parallel workers would not be counted
            cursor.execute("SET max_parallel_workers_per_gather = 0")
    count = Vacancy.objects.count()
    print(f"{connection.vendor}, {count} vacancies")
    slow = 0
    for name in ("recruiter", "root"):
        client = Client(SERVER_NAME="localhost")
        client.force_login(User.objects.get(username=name))
        client.get(LIST)  # warms templates
        for page, path, data in pages(count):
            if given.only not in page:
                continue
            own, theirs, statements, size = measure(client, path, data, given.repeats)
            is_slow = own + theirs > LIMIT
            slow += is_slow
            line = (
                f"{name:10} {page:24} {own * 1000:8.1f} ms + {theirs * 1000:8.1f} ms in the database  "
                f"{statements.count:3} statements  {size // 1024:5} kB"
            )
            print(f"{line}  SLOW" if is_slow else line, flush=True)
            if given.sql:
                taken, sql = max(statements.slow)
                print(f"    {taken * 1000:.1f} ms: {sql[:3000]}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
