from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from jobsite.ops import backups
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError


class Command(BaseCommand):
    help = "Write one archive of the database and the media, while the site runs. `restore` reads it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="where archives are kept, outside the media")
        parser.add_argument("--keep", type=int, metavar="N", help="then leave the newest N there")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["keep"] is not None and options["keep"] < 1:
            raise UsageError(f"--keep is 1 or more; received {options['keep']}.")
        self.written = lambda: "There is no new archive."
        try:
            made = backups.make(
                options["folder"], now=timezone.now(), keep=options["keep"], progress=self.progress
            )
        except (backups.BackupError, DatabaseError, OSError) as error:
            raise CommandError(f"There is no backup. {error}") from None
        manifest = made.manifest
        rows, size = sum(manifest["tables"].values()), made.path.stat().st_size
        files = len(manifest["parts"]) - 1
        self.finish(
            f"Backed up {rows} rows and {files} files to {made.path} ({size / 1e6:.1f} MB), "
            f"{made.signature}.",
            lines=[f"Named by the database and not there: {name}" for name in manifest["missing"]],
            archive=made.path,
            signature=made.signature.name.lower(),
            size=size,
            rows=rows,
            files=files,
            missing=manifest["missing"],
            removed=made.removed,
        )
