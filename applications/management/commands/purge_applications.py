from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from applications import privacy
from jobsite.days import days_after
from jobsite.db.transactions import dry_run
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError

DAYS_MAX = 36_500


class Command(BaseCommand):
    help = (
        "Delete applications without a change for DAYS days, or for the days of their vacancy, "
        "and those "
        "added without a consent or notice in time, with all "
        "their data; applicants' accounts without applications that are as old; and what "
        "purge_credentials "
        "deletes. Run it daily."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--older-than",
            type=int,
            metavar="DAYS",
            help="retention period of the site (default: the setting APPLICATIONS_KEPT_DAYS)",
        )
        parser.add_argument(
            "--if-set",
            action="store_true",
            help="do nothing if neither the site nor a vacancy has a period",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="report what would be deleted, but delete nothing",
        )

    def handle(self, *args: object, **options: Any) -> None:
        days = options["older_than"]
        if days is None:
            days = settings.APPLICATIONS_KEPT_DAYS or None
        now = timezone.now()
        if (
            days is None
            and not privacy.has_own_periods()
            and not privacy.not_permitted(now).exists()
        ):
            if options["if_set"]:
                return self.finish("No retention period is set; nothing was deleted.")
            raise UsageError("Pass --older-than DAYS or set APPLICATIONS_KEPT_DAYS.")
        if days is not None and not 1 <= days <= DAYS_MAX:
            raise UsageError(f"DAYS must be from 1 to {DAYS_MAX}; received {days}.")
        before = None if days is None else days_after(now, -days)
        self.written = lambda: "Some rows were deleted; run the command again for the others."
        with dry_run(options["dry_run"]):
            counts = privacy.purge(before=before, now=now)
        verb = "Dry run, nothing was deleted. Would delete" if options["dry_run"] else "Deleted"
        kept = (
            f" {counts['accounts_kept']} accounts kept because other rows refer to them."
            if counts["accounts_kept"]
            else ""
        )
        totals: dict[str, Any] = {kind: counts[kind] for kind in privacy.KINDS}
        period = "the period of their vacancy" if days is None else f"{days} days"
        return self.finish(
            f"{verb} {counts['applications']} applications without a change for {period}, "
            f"{counts['accounts']} accounts, {counts['tokens']} tokens.{kept}",
            days=days,
            **totals,
        )
