from typing import Any

from django.core.files.storage import default_storage
from django.core.management.base import CommandParser
from django.utils import timezone

from jobsite.ops.commands import Command as BaseCommand
from vacancies.media import orphans


class Command(BaseCommand):
    help = "Delete uploaded files that no row and no version of a vacancy references."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="list the files, but delete nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        files = list(self.progress(orphans(at=timezone.now()), unit="file"))
        deleted = 0
        self.written = lambda: f"{deleted} files were deleted."
        if not options["dry_run"]:
            for name, _size in files:
                default_storage.delete(name)
                deleted += 1
        size = sum(size for _name, size in files)
        self.finish(
            f"{'Would delete' if options['dry_run'] else 'Deleted'} {len(files)} files, {size:,} bytes.",
            lines=[name for name, _size in files],
            deleted=deleted,
            bytes=size,
            files=[name for name, _size in files],
        )
