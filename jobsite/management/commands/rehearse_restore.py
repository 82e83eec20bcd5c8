import io
from pathlib import Path
from time import perf_counter

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from applications import privacy
from jobsite.ops.backups import rehearsal
from jobsite.ops.backups.files import BackupError
from jobsite.ops.backups.manifest import counts
from jobsite.ops.backups.restore import restore
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError


class Command(BaseCommand):
    needs_migrations = False  # the archive brings its own tables
    help = (
        "Restore an archive of `backup` into a second database and temporary folders, audit it, "
        "and delete both. The site is not changed. On PostgreSQL, the second database has the "
        "suffix _drill."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("archive", type=Path)

    def handle(self, *, archive: Path, **options: object) -> None:
        if not archive.is_file():
            raise UsageError(f"There is no archive {str(archive)!r}.")
        self.written = lambda: "The site was not changed."
        started_at, audit, ok = perf_counter(), io.StringIO(), True
        try:
            with rehearsal.elsewhere():
                done = restore(
                    archive,
                    is_forced=True,  # what an interrupted rehearsal left
                    progress=self.progress,
                    erase_again=lambda: privacy.erase_again(archive.parent),
                )
                seconds = perf_counter() - started_at
                try:
                    call_command("audit_visibility", stdout=audit, stderr=audit)
                except SystemExit:
                    ok = False
        except (BackupError, DatabaseError, OSError) as error:
            raise CommandError(f"The archive cannot be restored: {error}") from None
        manifest = done.manifest
        rows, files = counts(manifest)
        *lines, agreed = audit.getvalue().strip().splitlines()
        lines += [f"Missing file that the database names: {name}" for name in manifest["missing"]]
        self.finish(
            f"Restored {rows} rows and {files} files of {manifest['made_at']} in {seconds:.0f} s, "
            f"{done.signature}. {agreed}",
            ok=ok and not manifest["missing"],
            lines=lines,
            made_at=manifest["made_at"],
            seconds=round(seconds, 1),
            rows=rows,
            files=files,
            missing=manifest["missing"],
            signature=done.signature.name.lower(),
        )
