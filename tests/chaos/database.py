"""The content of the site under test, written through Django in this process."""

import os
import sys
from datetime import timedelta

from tests.chaos.applicants import Site, open_vacancies
from tests.chaos.config import APPLICANT, PASSWORD, RECRUITER
from tests.servers import ROOT

OPEN = 3  # vacancies that take applications
POOL = 40  # vacancies that the writer publishes and unpublishes


def set_up(env: dict[str, str]) -> None:
    """Configure Django in this process with `env`, and without variables that
    name other servers.
    """
    os.chdir(ROOT)
    for name in ("REPLICA_URL", "CACHE_URL", "DATABASE_POOL", "DEBUG", "JOBSITE_SERVES"):
        os.environ.pop(name, None)
    os.environ.update(env)
    import django

    django.setup()


def fill(env: dict[str, str], count: int) -> tuple[str, Site]:
    """Configure Django for the primary alone and create content: `count` vacancies unless there are
    some, a form, a recruiter, an applicant, and vacancies that take applications. Return the token
    of the applicant, and those vacancies.
    """
    set_up(env)
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from applications.operations import create_application
    from applications.tokens import issue
    from vacancies.models import Vacancy

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    if not Vacancy.objects.exists():
        call_command("generate_vacancies", str(count), stdout=sys.stderr)
    make_form()
    site = open_vacancies(OPEN)
    pool()
    User.objects.filter(username=RECRUITER).delete()
    User.objects.create_superuser(RECRUITER, password=PASSWORD)
    applicant = User.objects.get_or_create(username=APPLICANT)[0]
    for vacancy in Vacancy.objects.published(at=timezone.now()).external().order_by("pk")[:3]:
        if not vacancy.applications.filter(user=applicant).exists():
            create_application(user=applicant, vacancy=vacancy, at=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    change = Vacancy.objects.next_change(after=timezone.now())
    if change and (change - timezone.now()).total_seconds() < 1800:
        sys.exit(f"Vacancies are scheduled to appear or expire at {change}. Start after that.")
    return issue(user=applicant, lifetime=timedelta(days=1))[1], site


def make_form() -> None:
    """Create the default form, unless there is one."""
    from forms_structure.models import Form
    from forms_structure.operations import create
    from forms_structure.presets import presets

    if not Form.objects.default().exists():
        sections = [preset["section"] for preset in presets("en")]
        create(name="Application", structure=sections, language="en", is_default=True)


def pool() -> list[int]:
    """Return the ids of POOL external vacancies that are not published and have no dates. Creates
    them if there are too few.
    """
    from django.utils import timezone

    from vacancies.models import Vacancy
    from vacancies.operations import publication

    external = Vacancy.objects.external().exclude(description="")
    offline = external.filter(
        status__in=["draft", "unpublished"], publish_until=None, head_recruiter__gt=0
    )
    pks = list(offline.filter(brand__gt=0).order_by("pk").values_list("pk", flat=True)[:POOL])
    now = timezone.now()
    for vacancy in external.published(at=now).newest_first()[: POOL - len(pks)]:
        pks.append(publication.duplicate(vacancy=vacancy, at=now).pk)
    Vacancy.objects.filter(pk__in=pks, publish_from__isnull=False).update(publish_from=None)
    return pks


def connect_to(url: str) -> None:
    """Let Django in this process use the database at `url`."""
    import environ
    from django.db import connections

    connections.close_all()
    for name, value in environ.Env.db_url_config(url).items():
        known = connections.settings["default"]
        known[name] = known[name] | value if name == "OPTIONS" else value
        connections["default"].settings_dict[name] = known[name]
