"""Processes that write until they are killed, and print what was committed. Killed ones are
replaced.

    python -m tests.chaos.durability_writer set-up          create vacancies and a recruiter
    python -m tests.chaos.durability_writer write WRITERS   each writes to ten vacancies of its own
    python -m tests.chaos.durability_writer read            print the content as JSON

The lines of `write` are "pid WRITER PID", "saved PK NUMBER" and "error TEXT".
"""

import json
import os
import sys
import time

import tests.chaos.set_up  # noqa: F401

# isort: split

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from tests.chaos import oracle
from tests.chaos.config import PASSWORD, RECRUITER
from vacancies.models import Vacancy, VacancyOption
from vacancies.operations import publication

MARK = " #"


def set_up() -> None:
    call_command("migrate", verbosity=0)
    if not os.path.exists(settings.STATIC_ROOT):
        call_command("collectstatic", interactive=False, verbosity=0)
    call_command("generate_vacancies", "60", stdout=sys.stderr)
    User.objects.create_superuser(RECRUITER, password=PASSWORD)
    print(json.dumps(list(Vacancy.objects.order_by("pk").values_list("pk", flat=True))))


def write(writer: int) -> None:
    """Rename, and publish or unpublish, with the related rows, in one transaction."""
    number = 0
    while True:
        number += 1
        try:
            pks = Vacancy.objects.order_by("pk").values_list("pk", flat=True)[
                10 * writer : 10 * writer + 10
            ]
            with transaction.atomic():
                vacancy = Vacancy.objects.select_for_update().get(pk=pks[number % 10])
                title, _, last = vacancy.title.partition(MARK)
                vacancy.title, now = f"{title}{MARK}{(mine := int(last or 0) + 1)}", timezone.now()
                vacancy.save()
                one = Vacancy.objects.filter(pk=vacancy.pk)
                (publication.publish if mine % 2 else publication.unpublish)(vacancies=one, at=now)
                VacancyOption.objects.filter(vacancy=vacancy).update(position=mine)
            os.write(1, f"saved {vacancy.pk} {mine}\n".encode())
        except DatabaseError as error:
            os.write(1, f"error {str(error).splitlines()[0]}\n".encode())
            connection.close()
            time.sleep(0.1)


def supervise(writers: int) -> None:
    """Fork writers, and replace those that are killed: a fork need not import Django again."""
    free, busy = list(range(writers)), dict[int, int]()
    while True:
        for writer in free:
            if not (pid := os.fork()):
                write(writer)
            busy[pid] = writer
            os.write(1, f"pid {writer} {pid}\n".encode())
        free = [busy.pop(os.wait()[0])]


def read() -> None:
    """Print the content, and whether the public list holds what it must."""
    integrity = "ok"  # otherwise PostgreSQL would not have started
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            integrity = cursor.execute("PRAGMA integrity_check").fetchone()[0]
    now, vacancies = timezone.now(), Vacancy.objects.all()
    partial = [
        vacancy.pk
        for vacancy in Vacancy.objects.filter(title__contains=MARK).prefetch_related("choices")
        if any(
            link.position != int(vacancy.title.partition(MARK)[2]) for link in vacancy.choices.all()
        )
    ]
    path = "/v1/vacancies"
    expected = sorted(
        (each.pk, each.title) for each in vacancies if oracle.is_listed(path, each, now)
    )
    shown, page = [], 1
    while page:
        query = {"fields": "id,title", "page[size]": 100, "page[number]": page}
        body = json.loads(Client(headers={"host": "jobs.test"}).get(path, query).content)
        shown += [(item["id"], item["title"]) for item in body["data"]]
        page = page + 1 if body["links"]["next"] else 0
    found = {"partial": partial, "integrity": integrity, "is_listed": sorted(shown) == expected}
    numbers = {each.pk: int(each.title.partition(MARK)[2] or 0) for each in vacancies}
    print(json.dumps(found | {"numbers": numbers}))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["set-up"]:
            set_up()
        case ["write", writers]:
            supervise(int(writers))
        case ["read"]:
            read()
