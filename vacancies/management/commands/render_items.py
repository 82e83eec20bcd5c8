from typing import Any

from django.core.management.base import CommandParser
from django.db.models import BinaryField, Func

from jobsite.ops.commands import Command as BaseCommand
from vacancies.api import rendered_items
from vacancies.models import ListedVacancy
from vacancies.readmodel.maintenance import rebuild

BATCH = 500


class Command(BaseCommand):
    help = (
        "Render the API items of published vacancies that are not rendered yet. Otherwise their first reader "
        "renders them. Run it after an import or an upgrade."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--rebuild",
            action="store_true",
            help="rebuild the list read model and its counts first, as needed after loaddata",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        made = 0
        self.written = lambda: f"{made} items were rendered."
        if options["rebuild"]:
            rebuild()
        for version in rendered_items.VERSIONS:
            with self.progress(total=ListedVacancy.objects.count(), unit=f" of {version}") as bar:
                last = 0
                while rows := self.batch(version, after=last):
                    last = rows[-1][0]
                    try:
                        made += len(rendered_items.render_missing(version, rows))
                    except rendered_items.ChangedError:  # concurrent write; the first reader renders it
                        self.stderr.write(f"One of the vacancies {rows[0][0]} to {last} changed; skipped.")
                    bar.update(len(rows))
        self.finish(f"Rendered {made} items.", made=made)

    def batch(self, version: str, *, after: int) -> list[tuple]:
        """The next rows: id, row version and the renderer fingerprint of the item."""
        length = rendered_items.FINGERPRINT_LENGTH
        fingerprint = Func(version, 1, length, function="SUBSTR", output_field=BinaryField())
        listed = ListedVacancy.objects.filter(pk__gt=after, is_expired=False).order_by("pk")
        rows = listed.annotate(fingerprint=fingerprint).values_list("pk", "row_version", "fingerprint")
        return list(rows[:BATCH])
