"""CPU of the list of applications with teams, and of the statistics of hiring:

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 100000
    python -m tests.benchmarks.hiring --applications 200000
    python -m tests.benchmarks.hiring --applications 1000000 statistics

Adds applications of the last three years, most of them anonymous, until there are so many.
"""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from statistics import median
from unittest.mock import patch

from tests.benchmarks.admin_pages import INBOX, LIST, measure
from tests.benchmarks.process import analyze, connection, cpu, execute, signed_in

# isort: split

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from applications import models
from applications.querysets import ApplicationQuerySet
from jobsite.accounts.roles import permissions
from vacancies.models import Brand, TeamMember, Vacancy
from vacancies.querysets import EVERY_BRAND

DAYS, MOVED = 1095, 2_000  # of the applications; of a day
_APPLICATIONS = """INSERT INTO applications_application (vacancy_id, reference, given_name,
  family_name, email, email_folded, is_spontaneous, created_at, updated_at)
  SELECT (ARRAY(SELECT id FROM vacancies_vacancy ORDER BY id))[1 + n * 7919 %% %s],
    'B' || lpad(to_hex(n), 11, '0'), 'Mia' || n %% 97, 'Maes' || n %% 991,
    'a' || n || '@example.org', 'a' || n || '@example.org', false, at, at
  FROM (SELECT n, now() - interval '1 minute' * (n %% %s * 1440 + n %% 1440) AS at
    FROM generate_series(%s::bigint, %s) AS n) AS numbers"""
# Each has the first stage, half a second one, and a quarter a third one.
_CHANGES = """INSERT INTO applications_stagechange (application_id, stage_id, at,
  is_exempt_from_embargo) SELECT id, (ARRAY(SELECT id FROM applications_stage ORDER BY position))
    [CASE step WHEN 0 THEN 1 ELSE 2 + (id + step) %% 6 END], created_at + interval '2 days' * step,
  true FROM applications_application, generate_series(0, 2) AS step
  WHERE id > %s AND (step = 0 OR id %% 4 = 0 OR step = 1 AND id %% 2 = 0)"""
_SUBMISSIONS = """INSERT INTO applications_submission (application_id, "values", snapshot_id,
  consent_text, consent_version, consented_at, source, fingerprint)
  SELECT id, '{}', %s, 'Yes', 1, created_at, (ARRAY['', 'linkedin', 'vdab', 'indeed'])[1 + id %% 4],
  id FROM applications_application WHERE id > %s"""


def fill(count: int) -> None:
    known = models.Application.objects.count()
    last = models.Application.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    if known >= count:
        return
    shape, _ = models.FormSnapshot.objects.get_or_create(digest="benchmark", sections=[])
    execute(_APPLICATIONS, [Vacancy.objects.count(), DAYS, known + 1, count])
    execute(_CHANGES, [last])
    execute(_SUBMISSIONS, [shape.pk, last])
    analyze()


def person(name: str, role: str) -> User:
    user, _ = User.objects.get_or_create(username=name, is_staff=True)
    user.user_permissions.set(permissions(role))
    return user


def editable(rows: ApplicationQuerySet, user: User) -> ApplicationQuerySet:
    """`visible_to` as it was before teams."""
    if user.has_perm(EVERY_BRAND):
        return rows
    return rows.filter(vacancy__in=Vacancy.objects.editable_by(user).values("pk"))


def lists(repeats: int) -> None:
    manager = person("benchmark-manager", "Hiring manager")
    if not manager.teams.exists():
        for vacancy in Vacancy.objects.order_by("pk")[:5]:
            TeamMember.objects.create(vacancy=vacancy, user=manager)
    recruiter = person("benchmark-recruiter", "Recruiter")
    recruiter.brands.set(Brand.objects.order_by("pk")[:2])
    client = signed_in(manager)
    for page in ("", "?q=mia"):
        client.get(INBOX + page)
        own, theirs, statements, _ = measure(client, INBOX + page, None, repeats)
        text = f"{1000 * own:.0f} + {1000 * theirs:.0f} ms, {statements} statements | 100 ms"
        print(f"| list of a member of 5 vacancies {page} | {text} |", flush=True)
    client, found = signed_in(recruiter), []
    for _turn in range(3 * repeats):
        pair = []
        for is_before in (False, True):
            rule = editable if is_before else ApplicationQuerySet.visible_to
            with patch.object(ApplicationQuerySet, "visible_to", rule):
                client.get(INBOX)
                pair.append(sum(measure(client, INBOX, None, 2)[:2]))
        found.append(pair[0] / pair[1])
    print(f"| list of a recruiter, before teams = 1 | {median(found):.3f} | 1.02 |", flush=True)


def timed(act: Callable[[], object]) -> str:
    start, before = time.perf_counter(), sum(cpu())
    act()
    return f"{time.perf_counter() - start:.1f} s, CPU {sum(cpu()) - before:.1f} s"


def statistics(repeats: int) -> None:
    first = timed(lambda: call_command("update_statistics"))
    print(f"| first run of update_statistics | {first} | - |", flush=True)
    stage = models.Stage.objects.filter(kind="rejected")[0]
    at, pks = timezone.now(), models.Application.objects.order_by("?").values_list("pk", flat=True)
    moved = list(pks[:MOVED])
    models.StageChange.objects.bulk_create(
        models.StageChange(application_id=pk, stage=stage, at=at) for pk in moved
    )
    models.Application.objects.filter(pk__in=moved).update(updated_at=at)
    nightly = timed(lambda: call_command("update_statistics"))
    print(f"| run after {MOVED} moves | {nightly} | 60 s |", flush=True)
    root, _ = User.objects.get_or_create(username="root", is_staff=True, is_superuser=True)
    client, since = signed_in(root), timezone.now().date() - timedelta(days=365)
    path = f"{LIST}reports/?since={since}"
    client.get(path)
    own, theirs, statements, _ = measure(client, path, None, repeats)
    text = f"{1000 * own:.0f} + {1000 * theirs:.0f} ms, {statements} statements"
    print(f"| report of 12 months | {text} | 300 ms |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    groups = {"lists": lists, "statistics": statistics}
    parser.add_argument("groups", nargs="*", choices=[*groups, []], default=[])
    parser.add_argument("--applications", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if connection.vendor != "postgresql":
        sys.exit("Set DATABASE_URL to a database on PostgreSQL.")
    settings.DEBUG, settings.ALLOWED_HOSTS = False, ["localhost"]
    fill(options.applications)
    execute("SET max_parallel_workers_per_gather = 0")  # their CPU would not be counted
    print("| figure | measured | to reach |\n|---|--:|--:|")
    for name in options.groups or groups:
        groups[name](options.repeats)


if __name__ == "__main__":
    main()
