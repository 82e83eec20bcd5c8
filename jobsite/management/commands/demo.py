"""`manage.py demo`: a job site to look at, with content and accounts, in one command."""

import argparse
import socket
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.core.management import CommandError, call_command
from django.core.management.base import CommandParser
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from jobsite.admin import roles
from jobsite.demo import content
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import unapplied
from vacancies.models import Brand, Vacancy

HOST = "127.0.0.1"
ACCOUNTS = {  # name, which is the password too: what it may do, for the summary
    "admin": "superuser, sees and changes everything",
    "editor": "writes the vacancies of every brand in the admin",
    "recruiter": "writes those of two brands in the admin",
    "applicant": "applied to four vacancies: sign in at /account/login, or POST /v1/auth/token",
    "employee": "colleague, for INTERNAL_ACCESS=authenticated: manage.py issue_token employee",
}
ROLES = {"editor": "Editor", "recruiter": "Recruiter"}
LINKS = {
    "Admin": "admin:index",
    "API documentation": "docs",
    "OpenAPI document": "openapi",
    "Vacancies": "v1:vacancy-list",
    "Hot vacancies": "v1:vacancy-hot",
    "Hot internal vacancies": "v1:vacancy-hot-internal",
    "Filters": "v1:filter-list",
    "Vacancies (v0.1)": "v0_1:vacancy-list",
    "Internal vacancies (v0.1)": "v0_1:vacancy-internal",
}
QUERIES = (
    ("v1:vacancy-hot", "page[size]=2"),
    ("v1:vacancy-list", "filter[regions]=antwerp,liege&fields=title,regions&sort=title"),
    ("v1:filter-list", "filter[search]=python"),
)


def port(text: str) -> int:
    """Return the TCP port that `text` names, or raise the error argparse turns into a usage message."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a whole number from 1 to 65535.")
    return int(text)


class Command(BaseCommand):
    help = "Fill the job site with demo content and accounts, print where to look, and serve it."
    needs_migrations = False  # it runs them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="Prepare and print only.")
        parser.add_argument("--port", type=port, default=8000, help="Port to serve at (8000).")

    def handle(self, *, no_serve: bool, port: int, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError("The demo needs DEBUG on: its passwords are public.")
        if not no_serve:
            ensure_free(port)
        self.written = lambda: "Tables may have been made; no content was. Run it again."
        unapplied()  # says so, where there can be no database
        call_command("migrate", verbosity=0)
        try:
            made = content.load(at=timezone.now())
        except OSError as error:  # uploads
            raise CommandError(f"MEDIA_ROOT cannot be written to: {error}") from None
        self.written = lambda: "The vacancies were made, accounts and applications were not. Run it again."
        with transaction.atomic():  # the applications come with the account, or not at all
            accounts = create_accounts()
            if "applicant" in accounts:
                applicant = User.objects.get(username="applicant")
                made["applications"] = content.load_applications(user=applicant, at=timezone.now())
        self.written = lambda: "All of the demo was made."
        base = f"http://{HOST}:{port}"
        self.finish(
            summary(made, accounts, base, is_served=not no_serve), url=base, made=made, accounts=accounts
        )
        self.stdout.flush()  # a pipe would hold it back for as long as the server runs
        if not no_serve:
            call_command("runserver", f"{HOST}:{port}", use_reloader=False)


def ensure_free(port: int) -> None:
    """Raise a CommandError when nothing can listen at `port`."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server: TIME_WAIT is no obstacle
        try:
            probe.bind((HOST, port))
        except OSError as error:
            reason = f"Cannot serve at port {port} ({error.strerror}); name another one with --port."
            raise CommandError(reason) from error


def create_accounts() -> list[str]:
    """Create the accounts that are missing, each with its name as its password; return their names."""
    known = set(User.objects.filter(username__in=ACCOUNTS).values_list("username", flat=True))
    missing = [name for name in ACCOUNTS if name not in known]
    roles.create()
    for name in missing:
        email = f"{name}@example.org"
        if name == "admin":
            User.objects.create_superuser(name, email, name)
            continue
        person = {"first_name": "Mia", "last_name": "Maes"} if name == "applicant" else {}
        user = User.objects.create_user(name, email, name, is_staff=name in ROLES, **person)
        if user.is_staff:
            user.groups.add(Group.objects.get(name=ROLES[name]))
            if name == "recruiter":
                user.brands.set(Brand.objects.order_by("pk")[:2])
        elif name == "employee":
            user.user_permissions.set(Permission.objects.filter(codename="see_internal"))
    return missing


def summary(made: dict[str, int], accounts: list[str], base: str, *, is_served: bool) -> str:
    """Return what is there, where to look and how to sign in, as text for a terminal."""
    counts = ", ".join(f"{count} {kind}" for kind, count in made.items() if count)
    lines = [f"Made {counts}." if counts else "The demo content is there already; nothing was changed.", ""]
    lines += [f"  {label + ':':<27}{base}{reverse(name)}" for label, name in LINKS.items()]
    if newest := Vacancy.objects.published().external().newest_first().first():
        address = reverse("v1:single-vacancy-form", args=[newest.pk])
        lines.append(f"  {'An application form:':<27}{base}{address}")
    lines += ["", "Sign in with user name / password:"]
    for name, purpose in ACCOUNTS.items():
        age = "" if name in accounts else " (there already, password as you left it)"
        lines.append(f"  {f'{name} / {name}':<27}{purpose}{age}")
    lines += ["", "Try:"]
    lines += [f"  curl -gs '{base}{reverse(name)}?{query}'" for name, query in QUERIES]
    if not is_served:
        lines += ["", "Nothing is served yet: run it without --no-serve."]
    return "\n".join([*lines, ""])
