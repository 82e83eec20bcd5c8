from typing import Any

from django.core.management.base import CommandParser
from django.db.models import BinaryField, Func

from jobsite.ops.commands import Command as BaseCommand
from vacancies.api import rendered_items
from vacancies.models import ListedVacancy, PublicationState
from vacancies.readmodel.listing import list_anew

BATCH = 500


class Command(BaseCommand):
    help = (
        "Make the stored items of published vacancies that lack one, as their first reader otherwise does: "
        "after an import or an upgrade, so that no crawler waits."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--anew",
            action="store_true",
            help="make the lists and their sums from nothing first, as after loaddata",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        made = 0
        self.written = lambda: f"{made} items were made."
        if options["anew"]:
            list_anew()
        for version in rendered_items.VERSIONS:
            with self.progress(total=ListedVacancy.objects.count(), unit=f" of {version}") as bar:
                last = 0
                while rows := self.batch(version, after=last):
                    last = rows[-1][0]
                    try:
                        made += len(rendered_items.fill_in(version, rows))
                    except (
                        rendered_items.ChangedError
                    ):  # by somebody who saves just now: left to the first reader
                        self.stderr.write(f"One of {rows[0][0]} to {last} is being changed.")
                    bar.update(len(rows))
        self.finish(f"Made {made} items.", made=made)

    def batch(self, version: str, *, after: int) -> list[tuple]:
        """The next listings: id, stamp and the mark of who made the item."""
        mark = Func(version, 1, 8, function="SUBSTR", output_field=BinaryField())
        listed = ListedVacancy.objects.filter(pk__gt=after, phase__lt=PublicationState.OVER).order_by("pk")
        return list(listed.annotate(mark=mark).values_list("pk", "stamp", "mark")[:BATCH])
