from typing import Any

from django.core.management.base import CommandParser

from applications import tokens
from applications.management import account
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = "End all bearer tokens of a user at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        user = account(options["username"])
        count = tokens.revoke(user=user)
        self.finish(f"{count} tokens ended.", tokens=count)
