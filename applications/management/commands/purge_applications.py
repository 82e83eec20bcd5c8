from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from applications import privacy
from jobsite.days import days_after
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError, dry_run

DAYS_MAX = 36_500


class Command(BaseCommand):
    help = (
        "Delete applications to which nothing has happened for so many days, applicants' accounts that have "
        "none left and are as old, and tokens and sessions that are over. Run it daily."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--older-than", type=int, metavar="DAYS", help="the setting APPLICATIONS_KEPT_DAYS when left out"
        )
        parser.add_argument("--dry-run", action="store_true", help="report what would go, delete nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        given = options["older_than"]
        days = settings.APPLICATIONS_KEPT_DAYS if given is None else given
        if given is None and not days:
            raise UsageError("Say --older-than DAYS, or set APPLICATIONS_KEPT_DAYS.")
        if not 1 <= days <= DAYS_MAX:
            raise UsageError(f"Applications are kept for 1 to {DAYS_MAX} days; received {days}.")
        now = timezone.now()
        self.written = lambda: "What was deleted until then stays deleted; run it again for the rest."
        with dry_run(options["dry_run"]):
            gone = privacy.purge(before=days_after(now, -days), now=now)
        verb = "Dry run, nothing was deleted. Would delete" if options["dry_run"] else "Deleted"
        kept = (
            f" {gone['accounts_kept']} accounts kept: something hangs on them."
            if gone["accounts_kept"]
            else ""
        )
        counts: dict[str, Any] = {kind: gone[kind] for kind in privacy.KINDS}
        self.finish(
            f"{verb} {gone['applications']} applications without a change for {days} days, "
            f"{gone['accounts']} accounts, {gone['tokens']} tokens.{kept}",
            days=days,
            **counts,
        )
