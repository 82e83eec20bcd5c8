from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import ProtectedError

from applications import privacy
from applications.management import account
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError, dry_run


class Command(BaseCommand):
    help = (
        "Erase an applicant: account, applications with their record, tokens, sessions, failed sign-ins, and "
        "the name in the admin's log. There is no way back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?")
        parser.add_argument(
            "--again",
            action="store_true",
            help="erase those again who are in the ERASURE_LOG, as after a restore; `restore` does so itself",
        )
        parser.add_argument("--dry-run", action="store_true", help="report what would go, delete nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["again"] == bool(options["username"]):
            raise UsageError("Say whom to erase, or --again.")
        if options["again"]:
            return self.again(options["dry_run"])
        user = account(options["username"])
        try:
            with dry_run(options["dry_run"]):
                gone = privacy.erase(user=user, is_logged=not options["dry_run"])
        except privacy.StaffAccountError:
            raise CommandError(
                "This is a staff account: the admin's record names it. Take staff status away first."
            ) from None
        except OSError as error:
            raise CommandError(f"ERASURE_LOG cannot be written, nothing was deleted: {error}") from None
        except ProtectedError as error:
            kinds = ", ".join(sorted({str(row._meta.verbose_name_plural) for row in error.protected_objects}))
            raise CommandError(f"Something hangs on this account, nothing was deleted: {kinds}.") from None
        verb = "Dry run, nothing was deleted. Would erase" if options["dry_run"] else "Erased"
        counts: dict[str, Any] = {kind: gone[kind] for kind in privacy.KINDS}
        self.finish(
            f"{verb} an account with {gone['applications']} applications, {gone['steps']} steps, "
            f"{gone['tokens']} tokens, {gone['sessions']} sessions, {gone['failed_sign_ins']} "
            f"failed sign-ins, {gone['log_entries']} entries of the admin's log "
            f"({gone['log_entries_cleaned']} more cleaned).",
            **counts,
        )
        return None

    def again(self, is_dry: bool) -> None:
        self.written = lambda: "Accounts that were erased until then stay erased; run it again for the rest."
        with dry_run(is_dry):
            counts = privacy.erase_again()
        if counts is None:
            raise UsageError("There is no ERASURE_LOG.")
        verb = "Dry run, nothing was deleted. Would erase" if is_dry else "Erased"
        self.finish(
            f"{verb} {counts['erased']} accounts again, {counts['kept']} kept: something hangs on them.",
            ok=not counts["kept"],
            erased=counts["erased"],
            kept=counts["kept"],
        )
