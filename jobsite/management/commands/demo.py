"""`manage.py demo`: set up and serve a job site with content and accounts."""

import argparse
import socket
import threading
from http import HTTPStatus
from io import StringIO

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.core.management.base import CommandParser
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from applications.operations.submitting import SubmissionError
from jobsite.demo import accounts, content, mail
from jobsite.demo.submissions import load_submissions
from jobsite.dispatch import Stop
from jobsite.management.commands.deliver import make_dispatcher
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import count_unapplied_migrations
from vacancies.models import Vacancy

HOST = "127.0.0.1"
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
    """Return `text` as a TCP port. Raises the error that argparse reports as a usage error."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a whole number from 1 to 65535.")
    return int(text)


class Command(BaseCommand):
    help = "Create demo content and accounts, print addresses and passwords, and serve the site."
    needs_migrations = False  # it applies them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="Do not start the server.")
        parser.add_argument("--port", type=port, default=8000, help="Port of the server (8000).")

    def handle(self, *, no_serve: bool, port: int, **options: object) -> None:
        if not settings.DEBUG:
            raise CommandError("The demo needs DEBUG on: its passwords are public.")
        base = f"http://{HOST}:{port}"
        if not no_serve:
            ensure_free(port)
        self.written = lambda: "Tables may have been created, but no content. Run it again."
        count_unapplied_migrations()  # reports an unusable database
        self.phase("Compiling the translations, and creating the tables")
        call_command("compilemessages", stdout=StringIO())
        call_command("migrate", verbosity=0)
        self.phase("Creating brands, forms, pictures and vacancies")
        try:
            created = content.load(at=timezone.now(), progress=self.progress)
        except OSError as error:  # uploads
            raise CommandError(f"MEDIA_ROOT is not writable: {error}") from None
        self.written = lambda: (
            "Vacancies were created, but no accounts and applications. Run it again."
        )
        self.phase("Creating accounts, applications and submissions")
        with transaction.atomic():  # create the account together with its applications
            new_accounts = accounts.create()
            if "applicant" in new_accounts:
                applicant = User.objects.get(username="applicant")
                created["applications"] = content.load_applications(
                    user=applicant, at=timezone.now()
                )
        try:
            created["submissions"] = load_submissions(at=timezone.now(), base_url=base)
        except SubmissionError as error:
            if error.status != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
            raise CommandError(f"PRIVATE_ROOT is not writable: {settings.PRIVATE_ROOT}") from None
        self.phase("Counting for the start page and the reports")
        call_command("update_statistics", stdout=StringIO())
        self.written = lambda: "All demo content was created."
        self.finish(
            summary(created, new_accounts, base, is_served=not no_serve),
            url=base,
            made=created,
            accounts=new_accounts,
        )
        self.stdout.flush()  # a pipe is buffered until the server stops
        if not no_serve:
            settings.CAREER_SITE = settings.APPLY_PAGES = True
            settings.TEXT_LANGUAGES = settings.TEXT_LANGUAGES or ["nl", "fr", "en", "de"]
            mail.collect()
            # a thread, which ends with the server
            threading.Thread(
                target=make_dispatcher(Stop(), base).run, name="deliver", daemon=True
            ).start()
            call_command("runserver", f"{HOST}:{port}", use_reloader=False)

    def phase(self, text: str) -> None:
        self.stderr.write(f"{text} ...")  # some phases take seconds


def ensure_free(port: int) -> None:
    """Raise CommandError if `port` is not available."""
    with socket.socket() as probe:
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # like the server, so that TIME_WAIT is ignored
        try:
            probe.bind((HOST, port))
        except OSError as error:
            reason = (
                f"Port {port} is not available ({error.strerror}); choose another one with --port."
            )
            raise CommandError(reason) from error


def mail_target() -> str:
    """Return where the emails of the demo go."""
    if settings.IS_MAIL_SENT:
        return "they are sent to the server of EMAIL_URL."
    return f"they are collected in {mail.file()}. Set EMAIL_URL to send them."


def addresses(*, is_served: bool) -> dict[str, str]:
    """Return the paths of pages, by their labels."""
    found = {"Career site": reverse("site:jobs")} if is_served or settings.CAREER_SITE else {}
    found |= {label: reverse(name) for label, name in LINKS.items()}
    if newest := Vacancy.objects.published().external().newest_first().first():
        found["An application form"] = reverse("v1:single-vacancy-form", args=[newest.pk])
        if is_served or settings.APPLY_PAGES:
            found["A page to apply"] = reverse("apply", args=[newest.pk])
    return found


def summary(created: dict[str, int], new_accounts: list[str], base: str, *, is_served: bool) -> str:
    """Return a text for a terminal: what was created, addresses and accounts."""
    counts = ", ".join(f"{count} {kind}" for kind, count in created.items() if count)
    lines = [
        f"Created {counts}." if counts else "The demo content exists already; nothing was changed.",
        "",
    ]
    for label, path in addresses(is_served=is_served).items():
        lines.append(f"  {label + ':':<27}{base}{path}")
    lines += ["", "Sign in with user name / password:"]
    for name, description in accounts.ACCOUNTS.items():
        note = "" if name in new_accounts else " (existing account, password not changed)"
        lines.append(f"  {f'{name} / {name}':<27}{description}{note}")
    lines += ["", "Try:"]
    lines += [f"  curl -gs '{base}{reverse(name)}?{query}'" for name, query in QUERIES]
    lines += ["", f"Emails: {mail_target()}"]
    if not is_served:
        lines += ["", "The server is not started: run it without --no-serve."]
    return "\n".join([*lines, ""])
