"""Measure the pages of the inbox:

    DATABASE_URL=sqlite:////tmp/inbox.sqlite3 .venv/bin/python -m tests.benchmarks.inbox --applications 20000

Fills an empty database, then requests every page as a recruiter of two of four brands and as a superuser.
Prints the CPU time of the process and the number of statements per page. Exit code 1: a page takes more than
LIMIT. On PostgreSQL, the time in the database is added, because it is spent in another process.
"""

import argparse
import gc
import os
import random
import statistics
import sys
import time
from datetime import timedelta
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobsite.settings")
os.environ.setdefault("RATE_LIMIT", "off")

import django

django.setup()

from django.contrib.auth.models import Permission, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from applications.models import (  # noqa: E402
    Application,
    FormSnapshot,
    HistoryEntry,
    MailTemplate,
    Stage,
    StageChange,
    Submission,
    SubmissionFile,
)
from applications.models.application import new_reference  # noqa: E402
from vacancies.models import Brand, Vacancy  # noqa: E402

LIMIT = 0.1  # seconds of CPU
BATCH = 2_000
LIST = "/admin/applications/application/"
GIVEN = ("Mia", "Jan", "Noor", "Élise", "Lars", "Zoë", "Tom", "Anna", "Jürgen", "Fatima")
FAMILY = ("Maes", "Peeters", "Janssens", "Dubois", "Müller", "El Amrani", "De Smet", "Willems", "Claes")
MOTIVATION = "I have ten years of experience and like to work with people. " * 8
SECTIONS = [
    {
        "title": "About you",
        "description": "",
        "fields": [
            {"type": "text", "name": "first_name", "label": "First name", "required": True},
            {"type": "email", "name": "email", "label": "E-mail", "required": True},
            {"type": "textarea", "name": "motivation", "label": "Why you?", "required": False},
        ],
    }
]


def fill(count: int, vacancies: int) -> None:
    """Create `count` applications to `vacancies` vacancies of four brands. Three quarters are anonymous."""
    dice = random.Random(16)  # the same content in every run
    now = timezone.now()
    brands = [Brand.objects.create(name=f"Brand {number}") for number in range(4)]
    Vacancy.objects.bulk_create(
        Vacancy(title=f"{dice.choice(('Nurse', 'Driver', 'Baker'))} {number}", brand=brands[number % 4],
                description="<p>Work.</p>" * 50, status="draft", created_at=now, updated_at=now)
        for number in range(vacancies)
    )  # fmt: skip
    jobs = list(Vacancy.objects.values_list("pk", flat=True))
    stages = list(Stage.objects.all())
    MailTemplate.objects.create(name="Thanks", subject_en="Thank you", body_en="Thank you for applying.")
    snapshot = FormSnapshot.objects.create(digest="benchmark", sections=SECTIONS)
    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        users = User.objects.bulk_create(
            User(username=f"applicant{number}", email=f"a{number}@example.org",
                 first_name=dice.choice(GIVEN), last_name=dice.choice(FAMILY))
            for number in numbers if number % 4 == 0
        )  # fmt: skip
        owners = iter(users)
        rows = []
        for number in numbers:
            at = now - timedelta(minutes=dice.randrange(60 * 24 * 180))
            address = f"a{number}@example.org"
            rows.append(
                Application(
                    user=next(owners) if number % 4 == 0 else None, vacancy_id=dice.choice(jobs),
                    reference=new_reference(), given_name=dice.choice(GIVEN), family_name=dice.choice(FAMILY),
                    email=address, email_folded=address, created_at=at, updated_at=at,
                    is_repeated=number % 20 == 0, rating=dice.choice((None, None, 1, 2, 3, 4, 5)),
                    read_at=None if dice.random() < 0.3 else at,
                    withdrawn_at=at if number % 50 == 0 else None,
                )
            )  # fmt: skip
        rows = Application.objects.bulk_create(rows)
        changes = []
        for row in rows:
            for step in range(dice.choice((1, 1, 2, 3))):
                stage = stages[0] if step == 0 else dice.choice(stages)
                changes.append(
                    StageChange(application=row, stage=stage, at=row.created_at + timedelta(days=step))
                )
        StageChange.objects.bulk_create(changes)
        HistoryEntry.objects.bulk_create(
            HistoryEntry(application=row, name="Interview", planned_at=now + timedelta(days=3))
            for row in rows
            if row.pk % 5 == 0
        )
        submissions = Submission.objects.bulk_create(
            Submission(
                application=row, snapshot=snapshot, consent_text="Yes", consent_version=1,
                consented_at=row.created_at, fingerprint=f"{row.pk}",
                values={"first_name": row.given_name, "email": row.email, "motivation": MOTIVATION},
            )
            for row in rows
        )  # fmt: skip
        SubmissionFile.objects.bulk_create(
            SubmissionFile(submission=submission, field="cv", original_name="cv.pdf", size=1, kind="pdf",
                           path=f"{submission.pk}-{number}", sha256="0" * 64)
            for submission in submissions for number in range(dice.choice((0, 1, 2)))
        )  # fmt: skip
    recruiter = User.objects.create_user("recruiter", is_staff=True)
    recruiter.user_permissions.set(Permission.objects.filter(content_type__app_label="applications"))
    recruiter.brands.set(brands[:2])
    User.objects.create_superuser("root")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    else:
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


class Statements:
    """Counts the statements of a request, and the time that they take."""

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0
        self.slow: list[tuple[float, str]] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        start = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            taken = time.perf_counter() - start
            self.count, self.seconds = self.count + 1, self.seconds + taken
            self.slow.append((taken, sql))


def pages() -> list[tuple[str, str, dict[str, Any] | None]]:
    """Return (name, path, data to post or None) of every page."""
    busy = Application.objects.order_by("pk").values_list("vacancy_id", flat=True)[0]
    new, rejected = Stage.objects.order_by("position")[0], Stage.objects.get(kind="rejected")
    own = Application.objects.filter(vacancy__brand__members__username="recruiter").order_by("pk")[0]
    everything = {"select_across": "1", "index": "0", "_selected_action": ["1"]}
    return [
        ("list", LIST, None),
        ("page 100", f"{LIST}?p=100", None),
        ("vacancy", f"{LIST}?vacancy__id__exact={busy}", None),
        ("first stage", f"{LIST}?stage={new.pk}", None),
        ("rejected", f"{LIST}?stage={rejected.pk}", None),
        ("last week", f"{LIST}?age=7", None),
        ("unread", f"{LIST}?read=no", None),
        ("applied again", f"{LIST}?mark=repeated", None),
        ("rating", f"{LIST}?rating=4", None),
        ("search a name", f"{LIST}?q=maes", None),
        ("search two words", f"{LIST}?q=mia+nurse", None),
        ("search an address", f"{LIST}?q=a1234@example.org", None),
        ("search nothing", f"{LIST}?q=zzzzz", None),
        ("by stage", f"{LIST}?o=4", None),
        ("by next step", f"{LIST}?o=6", None),
        ("application", f"{LIST}{own.pk}/change/", None),
        ("from a filter", f"{LIST}{own.pk}/change/?_changelist_filters=read%3Dno", None),
        ("start page", "/admin/", None),
        ("confirm all", LIST, {"action": f"move_to_{rejected.pk}"} | everything),
        ("board", f"{LIST}board/", None),
        ("board of a vacancy", f"{LIST}board/?vacancy__id__exact={busy}", None),
        ("CSV of all", LIST, {"action": "export_csv"} | everything),
    ]


BULK = ("confirm all", "CSV of all")  # their time grows with the number of applications


def measure(
    client: Client, path: str, data: dict[str, Any] | None, repeats: int
) -> tuple[float, Statements, int]:
    taken = []
    for _ in range(repeats):
        gc.collect()
        statements = Statements()
        start = time.process_time()
        with connection.execute_wrapper(statements):
            response = client.get(path) if data is None else client.post(path, data)
            size = len(b"".join(response.streaming_content) if response.streaming else response.content)
        cpu = time.process_time() - start
        if response.status_code != 200:
            sys.exit(f"{path}: {response.status_code}")
        taken.append(cpu + (statements.seconds if connection.vendor == "postgresql" else 0))
    return statistics.median(taken), statements, size


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--applications", type=int, default=20_000)
    options.add_argument("--vacancies", type=int, default=1_000)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--only", default="", help="pages whose name contains this")
    options.add_argument("--sql", action="store_true", help="show the slowest statement of each page")
    given = options.parse_args()
    call_command("migrate", verbosity=0)
    if not Application.objects.exists():
        fill(given.applications, given.vacancies)
    slow = 0
    for name in ("recruiter", "root"):
        client = Client(SERVER_NAME="localhost")
        client.force_login(User.objects.get(username=name))
        client.get(LIST)  # warms templates
        for page, path, data in pages():
            if given.only not in page:
                continue
            seconds, statements, size = measure(client, path, data, given.repeats)
            is_slow = seconds > LIMIT and page not in BULK
            slow += is_slow
            line = (
                f"{name:10} {page:20} {seconds * 1000:7.1f} ms  {statements.count:3} statements "
                f"{statements.seconds * 1000:7.1f} ms  {size // 1024:5} kB"
            )
            print(f"{line}  SLOW" if is_slow else line)
            if given.sql:
                taken, sql = max(statements.slow)
                print(f"    {taken * 1000:.1f} ms: {sql[:3000]}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
