from typing import Any

from django.core.management.base import CommandParser

from applications import tokens
from applications.management import account
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = "Revoke all bearer tokens of a user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: object, **options: Any) -> None:
        user = account(options["username"])
        count = tokens.revoke(user=user)
        self.finish(f"Revoked {count} tokens.", tokens=count)
