from datetime import timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import CommandParser

from applications import tokens
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError

DAYS_MAX = 3650


class Command(BaseCommand):
    help = (
        "Issue a bearer token for a user, and print nothing but the token. Only its hash is stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--days", type=int, help="days until it expires (TOKEN_DAYS)")

    def handle(self, *, username: str, days: int | None, **options: object) -> None:
        days = settings.TOKEN_LIFETIME.days if days is None else days
        if not 1 <= days <= DAYS_MAX:
            raise UsageError(f"--days must be from 1 to {DAYS_MAX}; received {days}.")
        users = get_user_model().objects.filter(username=username, is_active=True)
        if (user := users.first()) is None:
            raise UsageError(f"There is no active user {username!r}.")
        _, token = tokens.issue(user=user, lifetime=timedelta(days=days))
        self.finish(token, token=token)
