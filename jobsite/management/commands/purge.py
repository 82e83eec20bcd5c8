from collections import Counter
from datetime import datetime

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management.base import CommandParser
from django.utils import timezone

from applications import privacy
from applications.submissions import orphans as files_of_applicants
from jobsite import private_files
from jobsite.days import days_after
from jobsite.db import transactions
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError
from jobsite.types import JsonObject
from vacancies.media import orphans

DAYS_MAX = 36_500


class Command(BaseCommand):
    help = (
        "Delete applications without a change for the retention period of the site or of their "
        "vacancy, and those added without a consent or notice in time, with all their data; "
        "applicants' accounts without applications that are as old; expired tokens, sessions, "
        "failed sign-ins, emails to colleagues and other rows that have served; then files older "
        "than a day that no row and no version of a vacancy refers to. Run it daily."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--older-than",
            type=int,
            metavar="DAYS",
            help="retention period of the site (default: the setting APPLICATIONS_KEPT_DAYS)",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="report what would be deleted, but delete nothing",
        )

    def handle(self, *, older_than: int | None, dry_run: bool, **options: object) -> None:
        now, days = timezone.now(), older_than
        if days is None:
            days = settings.APPLICATIONS_KEPT_DAYS or None
        if days is not None and not 1 <= days <= DAYS_MAX:
            raise UsageError(f"DAYS must be from 1 to {DAYS_MAX}; received {days}.")
        before = None if days is None else days_after(now, -days)
        self.written = lambda: "Some rows were deleted; run the command again for the others."
        with transactions.dry_run(dry_run):
            counts = privacy.purge(before=before, now=now)
        # After the rows: an object store that does not respond must not keep personal data.
        files, size = self._purge_files(now, is_dry=dry_run)
        verb = "Dry run, nothing was deleted. Would delete" if dry_run else "Deleted"
        totals: JsonObject = {kind: counts[kind] for kind in privacy.KINDS}
        self.finish(
            f"{verb} {_applications(counts, days)}, {counts['accounts']} accounts, "
            f"{counts['tokens']} tokens, {counts['sessions']} sessions, {counts['failed_sign_ins']} "
            f"failed sign-ins and {len(files)} unused files ({size:,} bytes).{_kept(counts)}",
            lines=files,
            days=days,
            unused_files=files,
            unused_bytes=size,
            **totals,
        )

    def _purge_files(self, now: datetime, *, is_dry: bool) -> tuple[list[str], int]:
        """Delete the files without a row. Return their names and the sum of their sizes."""
        deleted = 0
        self.written = lambda: f"Rows were deleted. {deleted} files were deleted."
        of_media = list(self.progress(orphans.orphans(at=now), unit="file"))
        of_applicants = list(self.progress(files_of_applicants.orphans(at=now), unit="file"))
        if not is_dry:
            for name, _size in of_media:
                default_storage.delete(name)
                deleted += 1
            for file in of_applicants:
                private_files.remove(file)
                deleted += 1
        names = [name for name, _size in of_media] + [file.place for file in of_applicants]
        return names, sum(size for _, size in of_media) + sum(file.size for file in of_applicants)


def _applications(counts: Counter[str], days: int | None) -> str:
    period = "the period of their vacancy" if days is None else f"{days} days"
    return f"{counts['applications']} applications without a change for {period}"


def _kept(counts: Counter[str]) -> str:
    count = counts["accounts_kept"]
    return f" {count} accounts kept because other rows refer to them." if count else ""
