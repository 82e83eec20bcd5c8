from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from applications import privacy
from jobsite.ops.backups.files import BackupError
from jobsite.ops.backups.manifest import counts
from jobsite.ops.backups.restore import Restored, Verified, restore, verify
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError
from jobsite.types import JsonObject


class Command(BaseCommand):
    needs_migrations = False  # it replaces and migrates the database
    help = (
        "Restore the database and the files from an archive of `backup`. Verifies the whole "
        "archive first. All users have to sign in again. Applicants erased since the backup are "
        "erased again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("archive", type=Path)
        parser.add_argument(
            "--force", action="store_true", help="replace a database that is not empty"
        )
        parser.add_argument("--check", action="store_true", help="only verify the archive")

    def handle(self, *, archive: Path, force: bool, check: bool, **options: object) -> None:
        if not archive.is_file():
            raise UsageError(f"There is no archive {str(archive)!r}.")
        try:
            if check:
                verified = verify(archive, progress=self.progress)
                return self.report("Verified, nothing was restored", verified)
            self.written = lambda: (
                "The database is the old or the restored one; some files may be restored. Run it "
                "again."
            )
            done = restore(
                archive,
                is_forced=force,
                progress=self.progress,
                erase_again=lambda: privacy.erase_again(archive.parent),
            )
        except (BackupError, DatabaseError, OSError) as error:
            raise CommandError(str(error)) from None
        lines: list[str] = []
        erased: JsonObject = dict(done.erased or {})
        if done.erased is None:
            lines.append("No erasure is recorded: repeat the erasures since the backup.")
        if erased.get("kept"):
            lines.append(
                f"{erased['kept']} applicants were not erased again: other data depends on them."
            )
        return self.report("Restored", done, lines, written=done.files, **erased)

    def report(
        self, verb: str, found: Verified | Restored, lines: Iterable[str] = (), **data: Any
    ) -> None:
        manifest = found.manifest
        rows, files = counts(manifest)
        again = f" {data['erased']} applicants erased again." if data.get("erased") else ""
        if data.get("applications"):
            again += f" {data['applications']} other applications erased again."
        self.finish(
            f"{verb}: {rows} rows and {files} files of {manifest['made_at']}, "
            f"{found.signature}.{again}",
            lines=lines,
            made_at=manifest["made_at"],
            signature=found.signature.name.lower(),
            rows=rows,
            files=files,
            **data,
        )
