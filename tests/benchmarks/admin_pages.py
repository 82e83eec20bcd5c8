"""Measure pages of the admin:

    DATABASE_URL=sqlite:////tmp/pages.sqlite3 .venv/bin/python -m tests.benchmarks.admin_pages
    --vacancies 51

Fills an empty database, then requests every page of the groups (see GROUPS) as a superuser and as a
recruiter: of two of the six large brands or, for the search, of one with a hundredth of the
vacancies. Prints the CPU time of the process, that of its PostgreSQL backend on the same machine,
and the number of statements per page. CPU time hardly depends on other work of the machine. Exit
code 1: a page takes more than LIMIT.

Repetitions have different depths of the call stack, because Python 3.11 maps and unmaps memory at
each call that crosses 16 kB of frames: up to 30 ms, at one depth.
"""

import argparse
import gc
import random
import secrets
import statistics
import sys
from datetime import timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from tests.benchmarks.process import LIMIT, analyze, cpu, execute, signed_in  # sets Django up

# isort: split

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from applications import models
from applications.models.application import new_reference
from forms_structure.models import Form
from jobsite.accounts.roles import permissions
from jobsite.demo.generator import generate
from vacancies.models import Brand, Vacancy, VacancyOption

LIST, INBOX = "/admin/vacancies/vacancy/", "/admin/applications/application/"
BASE = 20_000  # vacancies that are generated; the others are copies
BATCH = 2_000  # applications per transaction
BUSY = 2_000  # applications of one vacancy
GIVEN = ("Mia", "Jan", "Noor", "Élise", "Lars", "Zoë", "Tom", "Anna", "Jürgen", "Fatima")
FAMILY = (
    "Maes",
    "Peeters",
    "Janssens",
    "Dubois",
    "Müller",
    "El Amrani",
    "De Smet",
    "Willems",
    "Claes",
)
MOTIVATION = "I have ten years of experience and like to work with people. " * 8
FIELDS = [
    ("text", "first_name", "First name"),
    ("email", "email", "E-mail"),
    ("textarea", "motivation", "Why you?"),
]
SEARCHES = (
    "nurse",
    "senior nurse",
    "zebra",
    "nurse zebra",
    "ghent",
    "it",
    "n",
    "xq",
    "xylophone",
    "777777",
    "mia maes",
    "jan",
    "a77777@example.org",
    "form",
    "brand 7",
)
BULK = ("confirm all", "CSV of all")  # their time grows with the number of applications

Page = tuple[str, str, dict[str, Any] | None]  # name, path, data to post or None


def fill(count: int) -> None:
    """Create `count` vacancies and the accounts.
    A million objects would take an hour, so most are copies.
    """
    now, day = timezone.now(), timedelta(days=1)
    for _ in generate(min(count, BASE), seed=1, at=now):
        pass
    first = Vacancy.objects.order_by("pk").values_list("pk", flat=True)[0]
    for copy in range(1, -(-count // BASE)):
        size = min(BASE, count - copy * BASE)
        with transaction.atomic():
            for model, key in ((Vacancy, "id"), (VacancyOption, "vacancy_id")):
                moved = {"id": copy * 20 * BASE, key: copy * BASE}  # at most 20 options each
                columns = [field.column for field in model._meta.concrete_fields]
                values = ", ".join(
                    f"{name} + {moved[name]}" if name in moved else name for name in columns
                )
                execute(
                    f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) SELECT {values} "
                    f"FROM {model._meta.db_table} WHERE {key} >= %s AND {key} < %s",
                    [first, first + size],
                )
        print(f"{(copy + 1) * BASE} vacancies", file=sys.stderr)
    Form.objects.bulk_create(Form(name=f"Form {n}", structure=[]) for n in range(200))
    small = [Brand.objects.create(name=f"Brand {n}") for n in range(100)]
    # Of 20 vacancies, 2 are drafts, 1 is unpublished, 1 archived and 1 expired. The others are
    # public, except one of 200 that is scheduled. One of 200 closes within the week.
    for remainder, divisor, values in (
        (0, 10, {"status": "draft"}),
        (2, 20, {"status": "unpublished"}),
        (3, 20, {"status": "archived"}),
        (5, 20, {"publish_from": now - 40 * day, "publish_until": now - day}),
        (4, 200, {"publish_from": now + 30 * day, "publish_until": None}),
        (6, 200, {"publish_until": now + 3 * day}),
        (7, 10, {"brand_id": small[0].pk + F("pk") % 100}),  # a hundredth each
        (8, 100_000, {"title": "Zebra", "title_folded": "zebra", "search_text": "zebra"}),
    ):
        Vacancy.objects.annotate(place=F("pk") % divisor).filter(place=remainder).update(**values)
    for name, brands in (("recruiter", Brand.objects.order_by("pk")[:2]), ("small", small[7:8])):
        recruiter = User.objects.create_user(name, is_staff=True)
        recruiter.user_permissions.set(permissions("Recruiter"))
        recruiter.brands.set(brands)
    User.objects.create_superuser("root")
    analyze()


def fill_inbox(count: int) -> None:
    """Create `count` applications. Three quarters are anonymous."""
    dice, now = random.Random(16), timezone.now()  # the same content in every run
    jobs = list(Vacancy.objects.values_list("pk", flat=True))
    recruiter = User.objects.get(username="recruiter")
    own = Vacancy.objects.filter(brand__members=recruiter, status="published").order_by("pk")
    busy = own.values_list("pk", flat=True)[0]
    tags = [
        models.Tag.objects.create(name=name, folded=name) for name in ("languages", "night shifts")
    ]
    models.Stage.objects.filter(position=1).update(remind_days=14)
    stages = list(models.Stage.objects.all())
    reasons = list(models.Reason.objects.filter(kind="rejected"))
    models.MailTemplate.objects.create(name="Thanks", subject_en="Thank you", body_en="Thank you.")
    fields = [
        {"type": kind, "name": name, "label": label, "required": False}
        for kind, name, label in FIELDS
    ]
    sections = [{"title": "About you", "description": "", "fields": fields}]
    snapshot = models.FormSnapshot.objects.create(digest="benchmark", sections=sections)

    def application(number: int, user: User | None) -> models.Application:
        at = now - timedelta(minutes=dice.randrange(60 * 24 * 180))
        person = number - number % 10 if number % 10 > 6 else number  # 7 people of 10 applications
        address = f"a{person}@example.org"
        return models.Application(
            user=user,
            vacancy_id=dice.choice(jobs) if number >= BUSY else busy,
            reference=new_reference(),
            given_name=GIVEN[person % 101 % 10],
            family_name=FAMILY[person % 103 % 9],
            email=address,
            email_folded=address,
            person=person // 200 * 2 + 1 if person % 200 < 2 else None,  # joined pairs
            created_at=at,
            updated_at=at,
            is_repeated=number % 20 == 0,
            rating=dice.choice((None, None, 1, 2, 3, 4, 5)),
            read_at=None if dice.random() < 0.3 else at,
            withdrawn_at=at if number % 50 == 0 else None,
            owner=None if number % 3 else recruiter,
        )

    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        users = User.objects.bulk_create(
            User(
                username=f"applicant{number}",
                email=f"a{number}@example.org",
                first_name=dice.choice(GIVEN),
                last_name=dice.choice(FAMILY),
            )
            for number in numbers
            if number % 4 == 0
        )
        owners = iter(users)
        rows = models.Application.objects.bulk_create(
            application(number, None if number % 4 else next(owners)) for number in numbers
        )
        models.StageChange.objects.bulk_create(
            models.StageChange(
                application=row,
                at=row.created_at + timedelta(days=step),
                stage=stage,
                reason=dice.choice(reasons) if stage.kind == "rejected" else None,
            )
            for row in rows
            for step in range(dice.choice((1, 1, 2, 3)))
            for stage in [dice.choice(stages) if step else stages[0]]
        )
        models.ApplicationTag.objects.bulk_create(
            models.ApplicationTag(application=row, tag=tags[row.pk % 2])
            for row in rows
            if row.pk % 3 == 0
        )
        models.Message.objects.bulk_create(
            models.Message(
                application=row,
                kind="template",
                state="sent",
                recipient=None,
                finished_at=row.created_at + timedelta(days=2),
            )
            for row in rows
            if row.pk % 2 == 0
        )
        models.HistoryEntry.objects.bulk_create(
            models.HistoryEntry(
                application=row, name="Interview", planned_at=now + timedelta(days=3)
            )
            for row in rows
            if row.pk % 5 == 0
        )
        submissions = models.Submission.objects.bulk_create(
            models.Submission(
                application=row,
                snapshot=snapshot,
                consent_text="Yes",
                consent_version=1,
                consented_at=row.created_at,
                fingerprint=f"{row.pk}",
                values={"first_name": row.given_name, "email": row.email, "motivation": MOTIVATION},
            )
            for row in rows
        )
        models.SubmissionFile.objects.bulk_create(
            models.SubmissionFile(
                submission=submission,
                field="cv",
                original_name="cv.pdf",
                size=1,
                kind="pdf",
                path=f"{submission.pk}-{number}",
                sha256="0" * 64,
            )
            for submission in submissions
            for number in range(dice.choice((0, 1, 2)))
        )
    interviews = models.HistoryEntry.objects.bulk_create(
        models.HistoryEntry(
            application=application,
            name="Interview",
            uid=secrets.token_hex(16),
            zone="Europe/Brussels",
            planned_at=now + timedelta(hours=hour),
            ends_at=now + timedelta(hours=hour + 1),
            place="Kerkstraat 12, Gent",
            video_url="https://meet.example/abc",
        )
        for hour, application in enumerate(models.Application.objects.filter(vacancy=busy)[:500])
    )
    models.Participant.objects.bulk_create(
        models.Participant(entry=each, user=recruiter) for each in interviews
    )
    models.CalendarFeed.objects.create(user=recruiter, digest=sha256(b"benchmark").hexdigest())
    analyze()


def workflow() -> list[Page]:
    """The pages that recruiters use every day."""
    mine = Vacancy.objects.filter(brand__members__username="recruiter")
    last = max(1, mine.exclude(status="archived").count() // 50)
    own = mine.filter(status="published").order_by("pk")[0]
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
        ("applications", INBOX, None),
    ]


def start() -> list[Page]:
    """The start page with its figures, and the reports."""
    since = timezone.now().date() - timedelta(days=365)
    return [
        ("start page", "/admin/", None),
        ("week", "/admin/?calendar=week", None),
        ("day", "/admin/?calendar=day", None),
        ("reports, 90 days", f"{LIST}reports/", None),
        ("year by region", f"{LIST}reports/?by=regions&since={since}", None),
    ]


def inbox() -> list[Page]:
    count = models.Application.objects.count()
    busy = models.Application.objects.order_by("pk").values_list("vacancy_id", flat=True)[0]
    new = models.Stage.objects.order_by("position")[0]
    rejected = models.Stage.objects.get(kind="rejected")
    reason = models.Reason.objects.filter(kind="rejected")[0]
    own = models.Application.objects.filter(vacancy__brand__members__username="recruiter").order_by(
        "pk"
    )[0]
    everything = {"select_across": "1", "index": "0", "_selected_action": ["1"]}
    return [
        ("list", INBOX, None),
        ("middle", f"{INBOX}?p={count // 100 + 1}", None),
        ("vacancy", f"{INBOX}?vacancy__id__exact={busy}", None),
        ("first stage", f"{INBOX}?stage={new.pk}", None),
        ("rejected", f"{INBOX}?stage={rejected.pk}", None),
        ("last week", f"{INBOX}?age=7", None),
        ("unread", f"{INBOX}?read=no", None),
        ("applied again", f"{INBOX}?mark=repeated", None),
        ("rating", f"{INBOX}?rating=4", None),
        ("mine", f"{INBOX}?owner=me", None),
        ("nobody's", f"{INBOX}?owner=nobody", None),
        ("tag", f"{INBOX}?tag=languages", None),
        ("reason", f"{INBOX}?reason={reason.pk}", None),
        ("no decision", f"{INBOX}?decision=none", None),
        ("too long", f"{INBOX}?waiting=long", None),
        ("search a name", f"{INBOX}?q=maes", None),
        ("search a misspelt name", f"{INBOX}?q=jansens", None),
        ("search two words", f"{INBOX}?q=mia+nurse", None),
        ("search an address", f"{INBOX}?q=a1234@example.org", None),
        ("search nothing", f"{INBOX}?q=zzzzz", None),
        ("by stage", f"{INBOX}?o=4", None),
        ("by next step", f"{INBOX}?o=6", None),
        ("application", f"{INBOX}{own.pk}/change/", None),
        ("from a filter", f"{INBOX}{own.pk}/change/?_changelist_filters=read%3Dno", None),
        ("confirm all", INBOX, {"action": f"move_to_{rejected.pk}"} | everything),
        ("board", f"{INBOX}board/", None),
        ("board of a vacancy", f"{INBOX}board/?vacancy__id__exact={busy}", None),
        ("CSV of all", INBOX, {"action": "export_csv"} | everything),
        ("calendar of 500", reverse("calendar-feed", args=["benchmark"]), None),
    ]


def candidates() -> list[Page]:
    path = reverse("admin:applications_candidate_changelist")
    stage = models.Stage.objects.get(kind="hired")
    queries = {
        "list": "",
        "middle": "?p=500",
        "tag": "?tag=languages",
        "stage reached": f"?reached={stage.pk}",
        "contacted": "?contact=30",
        "not contacted": "?contact=older90",
        "search a name": "?q=maes",
        "search a misspelt name": "?q=jansens",
        "search two words": "?q=mia+nurse",
        "search a tag": "?q=languages",
        "search nothing": "?q=zzzzz",
    }
    return [(name, f"{path}{query}", None) for name, query in queries.items()]


def search() -> list[Page]:
    return [
        (f"search {each}", f"/admin/search/?q={quote(each)}&part=results", None)
        for each in SEARCHES
    ]


def daily() -> list[Page]:
    """Twelve pages, one of each kind."""
    by_name = {name: (path, data) for name, path, data in (*workflow(), *inbox(), *search())}
    names = ("start page", "vacancies", "new vacancy", "history", "applications", "application")
    return [
        ("form of a vacancy", workflow()[8][1], None),
        *((name, *by_name[name]) for name in (*names, "board", "search nurse")),
        ("reports", f"{LIST}reports/", None),
        *((name, *by_name[name]) for name in BULK),
    ]


GROUPS = {
    "daily": daily,
    "workflow": workflow,
    "start": start,
    "inbox": inbox,
    "candidates": candidates,
    "search": search,
}


def measure(
    client: Client, path: str, data: dict[str, Any] | None, repeats: int
) -> tuple[Any, ...]:
    """Return the medians of the CPU of this process and of the backend, the number of statements,
    and the size of the response.
    """
    taken, statements = [], []

    def count(call: Any, sql: str, *more: Any) -> Any:
        statements.append(sql)
        return call(sql, *more)

    def request(depth: int) -> tuple[Any, int]:
        if depth:
            return request(depth - 1)
        response: Any = client.get(path) if data is None else client.post(path, data)
        parts = response.streaming_content if response.streaming else [response.content]
        return response, sum(map(len, parts))

    for repeat in range(repeats):
        gc.collect()
        statements.clear()
        before = cpu()
        with connection.execute_wrapper(count):
            response, size = request(11 * repeat)
        taken.append([now - then for now, then in zip(cpu(), before, strict=True)])
        if response.status_code != 200:
            sys.exit(f"{path}: {response.status_code}")
    return *map(statistics.median, zip(*taken, strict=True)), len(statements), size


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("groups", nargs="*", choices=GROUPS, default="workflow", help="of pages")
    options.add_argument(
        "--vacancies", type=int, default=20_000, help="to create in an empty database"
    )
    options.add_argument("--applications", type=int, default=20_000, help="to create for the inbox")
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--only", default="", help="pages with this in their name")
    given = options.parse_args()
    groups = [given.groups] if isinstance(given.groups, str) else given.groups
    settings.DEBUG, settings.ALLOWED_HOSTS = False, ["localhost"]  # DEBUG keeps every statement
    call_command("migrate", verbosity=0)
    if not Vacancy.objects.exists():
        fill(given.vacancies)
    if {"daily", "inbox", "candidates", "search"}.intersection(
        groups
    ) and not models.Application.objects.exists():
        fill_inbox(given.applications)
    if connection.vendor == "postgresql":  # the CPU of parallel workers would not be counted
        execute("SET max_parallel_workers_per_gather = 0")
    if "start" in groups:
        before = sum(cpu())
        call_command("update_statistics")
        print(f"update_statistics: CPU {sum(cpu()) - before:.1f} s")
    print(f"{connection.vendor}, {Vacancy.objects.count()} vacancies")
    slow = 0
    for name, group in [(name, group) for group in groups for name in ("recruiter", "root")]:
        user = User.objects.get(
            username="small" if (group, name) == ("search", "recruiter") else name
        )
        client = signed_in(user)
        client.get(LIST)  # warms templates
        for page, path, data in GROUPS[group]():
            if given.only not in page:
                continue
            own, theirs, statements, size = measure(client, path, data, given.repeats)
            is_slow = own + theirs > LIMIT and page not in BULK
            slow += is_slow
            taken = f"{1000 * own:8.1f} ms + {1000 * theirs:8.1f} ms in the database"
            rest = f"{statements:3} statements {size // 1024:5} kB{'  SLOW' * is_slow}"
            print(f"{user.username:9} {page:20} {taken} {rest}", flush=True)
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
