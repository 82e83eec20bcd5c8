from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from jobsite.ops import backups
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError


class Command(BaseCommand):
    needs_migrations = False  # it replaces the database, and migrates it
    help = (
        "Put database and media back as an archive of `backup` has them. Nothing is touched unless all of "
        "the archive is as it was written. Everybody has to sign in again; applicants erased since the "
        "backup are erased again (ERASURE_LOG)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("archive", type=Path)
        parser.add_argument("--force", action="store_true", help="replace a database that is not empty")
        parser.add_argument("--check", action="store_true", help="only look whether the archive is whole")

    def handle(self, *args: Any, **options: Any) -> None:
        archive = options["archive"]
        if not archive.is_file():
            raise UsageError(f"There is no archive {str(archive)!r}.")
        try:
            if options["check"]:
                checked = backups.check(archive, progress=self.progress)
                return self.report("Whole, nothing was restored", checked)
            self.written = lambda: (
                "The database is as it was, or as the archive has it; files of the archive may be there "
                "already. Run it again."
            )
            done = backups.restore(archive, is_forced=options["force"], progress=self.progress)
        except (backups.BackupError, DatabaseError, OSError) as error:
            raise CommandError(str(error)) from None
        lines: list[str] = []
        again: dict[str, int] = dict(done.again or {})
        if done.again is None:
            lines.append("There is no ERASURE_LOG here: repeat what was erased since the backup.")
        if again.get("kept"):
            lines.append(f"{again['kept']} applicants are to be erased again, but something hangs on them.")
        return self.report("Restored", done, lines, written=done.files, **again)

    def report(
        self, verb: str, found: backups.Checked | backups.Restored, lines: Iterable[str] = (), **data: Any
    ) -> None:
        manifest = found.manifest
        rows, files = sum(manifest["tables"].values()), len(manifest["parts"]) - 1
        again = f" {data['erased']} applicants erased again." if data.get("erased") else ""
        self.finish(
            f"{verb}: {rows} rows and {files} files of {manifest['made_at']}, {found.signature}.{again}",
            lines=lines,
            made_at=manifest["made_at"],
            signature=found.signature.name.lower(),
            rows=rows,
            files=files,
            **data,
        )
