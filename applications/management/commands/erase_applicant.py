from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db.models import ProtectedError

from applications import privacy
from applications.management import add_person, describe_person, find_person
from applications.models import Application
from applications.privacy import erasures
from jobsite.db.transactions import dry_run
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError


class Command(BaseCommand):
    help = (
        "Erase an applicant: account, applications with their files, emails, notes and history, "
        "job alerts, tokens, sessions and failed sign-ins. Texts about others that may mention "
        "the person are listed and kept. This cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_person(parser)
        parser.add_argument(
            "--again",
            action="store_true",
            help="erase the recorded applicants again after a restore; `restore` does this",
        )
        parser.add_argument("--folder", type=Path, help="with --again: the folder of the archives")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="report what would be deleted, but delete nothing",
        )

    def handle(self, *args: object, **options: Any) -> None:
        check_options(options)
        if options["again"]:
            return self.again(options["dry_run"], options["folder"])
        user, address = find_person(options)
        names = privacy.names_of(user, address)
        try:
            with dry_run(options["dry_run"]):
                counts = privacy.erase(user=user, address=address, is_logged=not options["dry_run"])
                mentions = privacy.possible_mentions(names)
        except privacy.StaffAccountError:
            raise CommandError(
                "This is a staff account, which the admin's log names. Remove its staff status "
                "first."
            ) from None
        except OSError as error:
            raise CommandError(f"Cannot write ERASURE_LOG; nothing was deleted: {error}") from None
        except ProtectedError as error:
            kinds = ", ".join(
                sorted({str(row._meta.verbose_name_plural) for row in error.protected_objects})
            )
            raise CommandError(
                f"Other rows refer to this account; nothing was deleted: {kinds}."
            ) from None
        verb = "Dry run, nothing was deleted. Would erase" if options["dry_run"] else "Erased"
        totals: dict[str, Any] = {kind: counts[kind] for kind in privacy.KINDS}
        self.finish(
            f"{verb} {describe_person(user)} {counts['applications']} applications, "
            f"{counts['files']} files, {counts['emails']} emails, {counts['notes']} notes, "
            f"{counts['steps']} steps, {counts['job_alerts']} job alerts, {counts['tokens']} "
            f"tokens, {counts['sessions']} sessions, {counts['failed_sign_ins']} failed sign-ins, "
            f"{counts['log_entries']} entries of the admin's log.",
            lines=[*(self.left(user) if user and not address else ()), *self.kept(mentions)],
            possible_mentions=mentions,
            **totals,
        )
        return None

    def left(self, user: User) -> list[str]:
        """Return a hint if applications without an account have the address of `user`."""
        count = Application.objects.unclaimed(user.email).count()
        return (
            [f"{count} applications from this address belong to no account: use --email."]
            if count
            else []
        )

    def kept(self, mentions: dict[str, list[int]]) -> list[str]:
        """Return lines that name the texts about others, by number: output is logged."""
        lines = [f"  {kind}: {', '.join(map(str, pks))}" for kind, pks in mentions.items()]
        return (
            ["These may mention the person. Read them, and change what does:", *lines]
            if lines
            else []
        )

    def again(self, is_dry: bool, folder: Path | None) -> None:
        self.written = lambda: "Some accounts were erased; run the command again for the others."
        with dry_run(is_dry):
            counts = privacy.erase_again(folder)
        if counts is None:
            raise UsageError("No erasure is recorded.")
        verb = "Dry run, nothing was deleted. Would erase" if is_dry else "Erased"
        self.finish(
            f"{verb} {counts['erased']} accounts, {counts['applications']} applications and "
            f"{counts['job_alerts']} job alerts again, {counts['left_pool']} consents to the talent "
            f"pool ended, {counts['kept']} accounts kept: other rows refer to them.",
            ok=not counts["kept"],
            erased=counts["erased"],
            applications=counts["applications"],
            job_alerts=counts["job_alerts"],
            left_pool=counts["left_pool"],
            kept=counts["kept"],
        )


def check_options(options: dict[str, Any]) -> None:
    """Raise UsageError if the options do not say who is erased."""
    if sum(map(bool, (options["username"], options["email"], options["again"]))) != 1:
        raise UsageError("Pass a user name, --email or --again.")
    folder: Path | None = options["folder"]
    if folder and not (options["again"] and (folder / erasures.COPY).is_file()):
        raise UsageError(f"--folder needs --again, and a folder with a file {erasures.COPY!r}.")
