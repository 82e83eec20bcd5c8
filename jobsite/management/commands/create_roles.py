from typing import Any

from django.core.management.base import CommandParser

from jobsite.accounts import roles
from jobsite.db.transactions import dry_run
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = (
        "Create the roles as groups, and give them the permissions that are new in this release. "
        "What the site added to a role or removed from it stays."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="print what would change, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        with dry_run(options["dry_run"]):
            changes = roles.create()
        verb = "Would set" if options["dry_run"] else "Set"
        lines = [
            f"{role}: {sign}{name}"
            for role, change in changes.items()
            for sign, names in (("+", change.added), ("-", change.removed))
            for name in names
        ]
        self.finish(
            f"{verb} {', '.join(changes)}." if changes else "Nothing changed.",
            lines=lines,
            changed=list(changes),
            added={role: change.added for role, change in changes.items()},
            removed={role: change.removed for role, change in changes.items()},
            roles=list(roles.NAMES),
        )
