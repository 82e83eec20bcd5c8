from typing import Any

from django.core.files.storage import default_storage
from django.core.management.base import CommandParser
from django.utils import timezone

from applications.submissions import orphans as files_of_applicants
from jobsite import private_files
from jobsite.ops.commands import Command as BaseCommand
from vacancies.media import orphans


class Command(BaseCommand):
    help = (
        "Delete uploaded files that no row and no version of a vacancy references, and "
        "applicants' files "
        "without a row, if they are older than a day."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="list the files, but change nothing"
        )

    def handle(self, *args: object, **options: Any) -> None:
        now, is_dry = timezone.now(), options["dry_run"]
        deleted = 0
        self.written = lambda: f"{deleted} files were deleted."
        if not is_dry:
            files_of_applicants.complete_all()
        of_media = list(self.progress(orphans.orphans(at=now), unit="file"))
        of_applicants = list(self.progress(files_of_applicants.orphans(at=now), unit="file"))
        if not is_dry:
            for name, _size in of_media:
                default_storage.delete(name)
                deleted += 1
            for file in of_applicants:
                private_files.remove(file)
                deleted += 1
        size = sum(size for _name, size in of_media) + sum(file.size for file in of_applicants)
        names = [name for name, _size in of_media] + [file.place for file in of_applicants]
        verb = "Would delete" if is_dry else "Deleted"
        self.finish(
            f"{verb} {len(names)} files, {size:,} bytes.",
            lines=names,
            deleted=deleted,
            bytes=size,
            files=names,
        )
