from pathlib import Path

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from applications import privacy
from jobsite.ops.backups.create import create
from jobsite.ops.backups.files import BackupError
from jobsite.ops.backups.manifest import counts
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError

LINES_MAX = 20  # names of missing files


class Command(BaseCommand):
    help = (
        "Write an archive of the database and the files, while the site is running. See `restore`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="folder of the archives, outside MEDIA_ROOT")
        parser.add_argument(
            "--keep", type=int, metavar="N", help="then remove all archives but the newest N"
        )

    def handle(self, *, folder: Path, keep: int | None, **options: object) -> None:
        if keep is not None and keep < 1:
            raise UsageError(f"--keep must be 1 or more; received {keep}.")
        self.written = lambda: "No archive was created."
        try:
            backup = create(folder, now=timezone.now(), keep=keep, progress=self.progress)
        except (BackupError, DatabaseError, OSError) as error:
            raise CommandError(f"No backup was created. {error}") from None
        try:
            privacy.copy_erasures(folder)
        except OSError as error:
            raise CommandError(f"The record of erasures was not copied: {error}") from None
        manifest = backup.manifest
        (rows, files), missing = counts(manifest), manifest["missing"]
        size = backup.path.stat().st_size
        lines = [f"Missing file that the database names: {name}" for name in missing[:LINES_MAX]]
        if missing:
            lines.append(f"{len(missing)} files are missing, so no older archive was removed.")
        if not backup.is_complete:
            lines.append(
                "Is the folder mounted? Check PRIVATE_ROOT and MEDIA_ROOT, and repeat the backup."
            )
        self.finish(
            f"Backed up {rows} rows and {files} files to {backup.path} ({size / 1e6:.1f} MB), "
            f"{backup.signature}.",
            ok=backup.is_complete,
            lines=lines,
            archive=backup.path,
            signature=backup.signature.name.lower(),
            size=size,
            rows=rows,
            files=files,
            missing=missing,
            removed=backup.removed,
        )
