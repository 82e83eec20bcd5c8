import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands.migrate import Command as BaseCommand
from django.db import OperationalError, connections
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import LockNotAvailable

from jobsite.db.autodetector import Autodetector
from jobsite.db.history import missing_parts

PAUSE = 1  # seconds between two attempts, for the transactions that had to wait


class Command(BaseCommand):
    help = (
        f"{BaseCommand.help} On PostgreSQL, limits the time that it waits for a lock, and "
        "tries again."
    )
    autodetector = Autodetector

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--lock-timeout",
            type=int,
            default=200,
            metavar="MS",
            help=(
                "how long to wait for a table in use, which blocks all later transactions; 0 "
                "for no limit"
            ),
        )
        parser.add_argument(
            "--tries", type=int, default=60, metavar="N", help="attempts, one second apart"
        )

    def handle(self, *args: object, **options: Any) -> None:
        connection = connections[options["database"]]
        if missing := missing_parts(MigrationRecorder(connection).applied_migrations()):
            raise CommandError(
                f"The database lacks {missing[0]} and {len(missing) - 1} other migrations of the "
                "code before 1.0.0. Run `migrate` of that code first: see "
                "docs/operations/upgrade.md."
            )
        timeout, tries = options.pop("lock_timeout"), options.pop("tries")
        if connection.vendor != "postgresql":
            super().handle(*args, **options)
            return
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            (before,) = cursor.fetchone()
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [str(timeout)])
        try:
            for left in reversed(range(tries)):
                try:
                    super().handle(*args, **options)
                    break
                except (
                    OperationalError
                ) as error:  # applied migrations are recorded, the current one is repeated
                    if not isinstance(error.__cause__, LockNotAvailable):
                        raise
                    if not left:
                        raise CommandError(
                            "A table was in use at every attempt. Run it again."
                        ) from error
                    self.stderr.write("A table is in use: trying again.")
                time.sleep(PAUSE)
        finally:
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('lock_timeout', %s, false)", [before])
