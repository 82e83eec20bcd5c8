import time
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from jobsite.demo.generator import generate
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError, uninterrupted
from vacancies.search.merge import merge_if_due


class Command(BaseCommand):
    help = "Create N varied, published vacancies in bulk, for tests and benchmarks."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("count", type=int, metavar="N")
        parser.add_argument(
            "--seed", type=int, default=1, help="the same seed gives the same content"
        )

    def handle(self, *args: object, **options: Any) -> None:
        count = options["count"]
        if not 1 <= count <= 10_000_000:
            raise UsageError(f"N must be from 1 to 10000000; received {count}.")
        start, done = time.monotonic(), 0
        self.written = lambda: f"{done} vacancies were created."
        with self.progress(total=count, unit="vacancy") as bar:
            batches = generate(count, seed=options["seed"], at=timezone.now())
            while done < count:
                with uninterrupted():
                    size = next(batches)
                    done += size
                bar.update(size)
            merge_if_due()
        seconds = time.monotonic() - start
        self.finish(
            f"Created {count} vacancies in {seconds:.1f} s ({count / seconds:.0f} a second).",
            created=count,
            seconds=round(seconds, 1),
        )
