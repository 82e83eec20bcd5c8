import json
import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from applications import privacy
from applications.management import add_person, describe_person, find_person
from jobsite.ops.commands import Command as BaseCommand


class Command(BaseCommand):
    help = (
        "Export all data about an applicant as JSON to stdout or a file. The access log "
        "records the export."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_person(parser)
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="a new file, readable by its owner only"
        )
        parser.add_argument(
            "--files", action="store_true", help="include the content of files, in base64"
        )

    def handle(self, *args: object, **options: Any) -> None:
        user, address = find_person(options)
        data = privacy.export(
            user=user, address=address, now=timezone.now(), has_content=options["files"]
        )
        text = json.dumps(data, ensure_ascii=False, indent=2, default=str)
        path: Path | None = options["output"]
        if path is None:
            self.stdout.write(text)
            return
        try:
            with open(
                os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
            ) as file:
                file.write(f"{text}\n")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.") from error
        count = len(data["applications"])
        self.finish(
            f"Exported {describe_person(user)} {count} applications.", file=path, applications=count
        )
