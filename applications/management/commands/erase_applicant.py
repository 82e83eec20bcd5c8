from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import ProtectedError

from applications import privacy
from applications.management import account
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError, dry_run


class Command(BaseCommand):
    help = (
        "Erase an applicant: account, applications with their history, tokens, sessions, failed sign-ins, "
        "and the name in the admin's log. This cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", nargs="?")
        parser.add_argument(
            "--again",
            action="store_true",
            help="erase the applicants of ERASURE_LOG again after a restore; `restore` does this",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="report what would be deleted, but delete nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["again"] == bool(options["username"]):
            raise UsageError("Pass a user name or --again.")
        if options["again"]:
            return self.again(options["dry_run"])
        user = account(options["username"])
        try:
            with dry_run(options["dry_run"]):
                counts = privacy.erase(user=user, is_logged=not options["dry_run"])
        except privacy.StaffAccountError:
            raise CommandError(
                "This is a staff account, which the admin's log names. Remove its staff status first."
            ) from None
        except OSError as error:
            raise CommandError(f"Cannot write ERASURE_LOG; nothing was deleted: {error}") from None
        except ProtectedError as error:
            kinds = ", ".join(sorted({str(row._meta.verbose_name_plural) for row in error.protected_objects}))
            raise CommandError(f"Other rows refer to this account; nothing was deleted: {kinds}.") from None
        verb = "Dry run, nothing was deleted. Would erase" if options["dry_run"] else "Erased"
        totals: dict[str, Any] = {kind: counts[kind] for kind in privacy.KINDS}
        self.finish(
            f"{verb} an account with {counts['applications']} applications, {counts['steps']} steps, "
            f"{counts['tokens']} tokens, {counts['sessions']} sessions, {counts['failed_sign_ins']} "
            f"failed sign-ins, {counts['log_entries']} entries of the admin's log "
            f"({counts['log_entries_cleaned']} more cleaned).",
            **totals,
        )
        return None

    def again(self, is_dry: bool) -> None:
        self.written = lambda: "Some accounts were erased; run the command again for the others."
        with dry_run(is_dry):
            counts = privacy.erase_again()
        if counts is None:
            raise UsageError("There is no ERASURE_LOG.")
        verb = "Dry run, nothing was deleted. Would erase" if is_dry else "Erased"
        self.finish(
            f"{verb} {counts['erased']} accounts again, {counts['kept']} kept: other rows refer to them.",
            ok=not counts["kept"],
            erased=counts["erased"],
            kept=counts["kept"],
        )
