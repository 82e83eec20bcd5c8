"""Measure the search of the admin:

    DATABASE_URL=sqlite:////tmp/search.sqlite3 .venv/bin/python -m tests.benchmarks.search

Fills a migrated, empty database, then searches as a superuser and as a recruiter of one of a hundred brands.
Prints the CPU time of a search: that of this process and, on PostgreSQL on this machine, of its backend. Exit
code 1: a search takes more than LIMIT.
"""

import argparse
import sys

from tests.benchmarks.process import LIMIT, analyze, cpu, execute, signed_in  # sets Django up

# isort: split

from django.contrib.auth.models import Permission, User
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from applications.models import Application
from forms_structure.models import Form
from vacancies.models import Brand, Recruiter, Vacancy

TIMES = 10
BRANDS = 100
JOBS = ("Nurse", "Driver", "Baker", "Teacher", "Welder", "Cook", "Developer", "Cleaner", "Planner", "Guard")
GIVEN = ("Mia", "Jan", "Noor", "Elise", "Lars", "Zoe", "Tom", "Anna", "Jurgen", "Fatima")
SEARCHES = (
    "nurse", "night nurse", "zebra", "nurse zebra", "district42", "it", "n", "xq", "xylophone", "777777",
    "mia maes77", "jan", "a77777@example.org", "form", "brand 7",
)  # fmt: skip


def fill(vacancies: int, applications: int) -> None:
    now = timezone.now()
    Brand.objects.bulk_create(Brand(name=f"Brand {n}") for n in range(BRANDS))
    Form.objects.bulk_create(Form(name=f"Form {n}", structure=[]) for n in range(200))
    Recruiter.objects.bulk_create(Recruiter(name=f"{GIVEN[n % 10]} Recruiter{n}") for n in range(2_000))
    text = "<p>Work with people.</p>" * 20
    first = Vacancy.objects.create(title="First", description=text, created_at=now, updated_at=now)
    form, brand = Form.objects.order_by("pk")[0].pk, Brand.objects.order_by("pk")[0].pk
    rare = "CASE n % 100000 WHEN 7 THEN ' zebra' ELSE '' END"
    night = "CASE n % 3 WHEN 0 THEN 'Night ' ELSE '' END"
    title = f"{night} || w.word || ' district' || (n % 97) || {rare} || ' ' || n"
    _copy(first, vacancies, JOBS, title=title, title_folded=f"lower({title})",
          brand_id=f"{brand} + n % {BRANDS}", form_id=f"{form} + n % 150")  # fmt: skip
    user = User.objects.create_user("applicant")
    address = "'a' || n || '@example.org'"
    _copy(user, applications // 4, GIVEN, username="'applicant' || n", first_name="w.word", email=address)
    sent = Application.objects.create(vacancy=first, given_name="First", created_at=now)
    _copy(sent, applications, GIVEN, given_name="w.word", family_name="'Maes' || (n % 5000)", email=address,
          email_folded=address, vacancy_id=f"{first.pk} + (n * 7919) % {vacancies}", reference="'R' || n",
          )  # fmt: skip
    for statement in connection.ops.sequence_reset_sql(no_style(), [Vacancy, User, Application]):
        execute(statement)
    analyze()


def _copy(row: Model, count: int, words: tuple[str, ...], **columns: str) -> None:
    """Copy `row` `count` times with other `columns`: SQL with the number `n` and a word, w.word."""
    table = row._meta.db_table
    names = [field.column for field in row._meta.concrete_fields]
    values = {name: f"t.{name}" for name in names} | columns | {"id": f"{row.pk} + n"}
    listed = " UNION ALL ".join(f"SELECT {n} AS i, '{word}' AS word" for n, word in enumerate(words))
    counter = f"c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count})"
    numbers = f"WITH RECURSIVE {counter} SELECT n FROM c"
    if connection.vendor == "postgresql":
        execute("SET session_replication_role = replica")  # without triggers
    else:
        with connection.cursor() as cursor:
            found = cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in found:
            execute(f'DROP TRIGGER "{name}"')
    execute(
        f"INSERT INTO {table} ({', '.join(names)}) "
        f"SELECT {', '.join(values[name] for name in names)} FROM ({numbers}) AS numbers "
        f"JOIN {table} t ON t.id = {row.pk} JOIN ({listed}) AS w ON w.i = n % {len(words)}"
    )


def users() -> list[User]:
    root, _ = User.objects.get_or_create(username="root", is_superuser=True, is_staff=True)
    recruiter, _ = User.objects.get_or_create(username="recruiter", is_staff=True)
    recruiter.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    recruiter.brands.set([Brand.objects.order_by("pk")[7]])
    return [root, recruiter]


def measure(client: Client, text: str) -> tuple[float, int]:
    """Return the CPU time of a search, and the number of hits."""
    query = {"q": text, "part": "results"}
    client.get("/admin/search/", query)  # reads the permissions and the templates
    start = sum(cpu())
    for _ in range(TIMES):
        part = client.get("/admin/search/", query).content.decode()
    seconds = (sum(cpu()) - start) / TIMES
    assert 'id="site-search-all"' in part
    return seconds, part.count('role="option"') - 1  # without "All results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--vacancies", type=int, default=1_000_000)
    parser.add_argument("--applications", type=int, default=200_000)
    arguments = parser.parse_args()
    if not Vacancy.objects.exists():
        fill(arguments.vacancies, arguments.applications)
    slowest = 0.0
    print(f"{Vacancy.objects.count()} vacancies, {Application.objects.count()} applications")
    for user in users():
        client = signed_in(user)
        for text in SEARCHES:
            seconds, found = measure(client, text)
            slowest = max(slowest, seconds)
            print(f"{user.username:10} {text:20} {1000 * seconds:7.1f} ms  {found} hits", flush=True)
    return int(slowest > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
