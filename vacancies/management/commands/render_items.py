from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Exists, OuterRef
from rest_framework.serializers import BaseSerializer

from jobsite.ops.commands import Command as BaseCommand
from jobsite.serving.revision import snapshot
from vacancies.api.rendered_items import note_format, render, store, stored_version
from vacancies.api.versions import LIST_VIEWS
from vacancies.models import ListedVacancy, RenderedItem
from vacancies.readmodel.maintenance import rebuild
from vacancies.readmodel.totals import is_maintained
from vacancies.search.merge import merge

BATCH = 500


class Command(BaseCommand):
    help = (
        "Render the API items of published vacancies that are not rendered yet. Otherwise their "
        "first reader renders them. Run it after an import or an upgrade. SQLite has no rendered "
        "items."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--rebuild",
            action="store_true",
            help="rebuild the list read model, its counts and the index of the search first, as "
            "needed after loaddata",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        made = 0
        self.written = lambda: f"{made} items were rendered."
        if options["rebuild"]:
            if is_maintained():
                rebuild()
            merge(anew=True)
        for view in LIST_VIEWS:
            version = view.item_version
            with self.progress(total=ListedVacancy.objects.count(), unit=f" of {version}") as bar:
                last = 0
                while pks := self.batch(after=last):
                    last = pks[-1]
                    made += self.render(view.serializer_class, version, pks)
                    bar.update(len(pks))
        note_format()
        self.finish(f"Rendered {made} items.", made=made)

    def batch(self, *, after: int) -> list[int]:
        listed = ListedVacancy.objects.filter(pk__gt=after, is_expired=False).order_by("pk")
        return list(listed.values_list("pk", flat=True)[:BATCH])

    def render(self, serializer_class: type[BaseSerializer], version: str, pks: list[int]) -> int:
        """Render and store the missing items of the vacancies `pks`. Return their number."""
        with snapshot():
            stored = RenderedItem.objects.filter(
                vacancy=OuterRef("pk"),
                version=stored_version(version),
                row_version=OuterRef("row_version"),
            )
            listed = ListedVacancy.objects.filter(~Exists(stored), pk__in=pks)
            missing = dict(listed.values_list("pk", "row_version"))
            made = render(serializer_class, missing) if missing else {}
        return store(version, {pk: (missing[pk], item) for pk, item in made.items()}) if made else 0
