from typing import Any

from django.core.management.base import CommandParser

from applications import privacy, tokens
from jobsite.commands import Command as BaseCommand
from jobsite.commands import UsageError


class Command(BaseCommand):
    help = "End all bearer tokens of a user at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            user = privacy.find(username=options["username"])
        except privacy.NoSuchAccountError as error:
            raise UsageError(str(error)) from None
        count = tokens.revoke(user=user)
        self.finish(f"{count} tokens ended.", tokens=count)
