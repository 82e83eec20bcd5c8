from django.core.management.base import CommandParser

from jobsite.accounts import roles
from jobsite.db import transactions
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = (
        "Create the roles, and add permissions that are new in this release. Changes of the "
        "site stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="print what would change, write nothing"
        )

    def handle(self, *, dry_run: bool, **options: object) -> None:
        with transactions.dry_run(dry_run):
            changes = roles.create()
        verb = "Would set" if dry_run else "Set"
        summary = f"{verb} {', '.join(changes)}." if changes else "Nothing changed."
        lines = [f"{role}: {change}" for role, found in changes.items() for change in found]
        self.finish(summary, lines=lines, changed=changes, roles=list(roles.NAMES))
