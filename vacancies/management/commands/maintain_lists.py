from time import sleep
from typing import Any

from jobsite.ops.commands import Command as BaseCommand
from vacancies.api.rendered_items import note_format
from vacancies.api.versions import stored_versions
from vacancies.readmodel.maintenance import balance, delete_unused_items, mark_expired
from vacancies.readmodel.totals import is_maintained
from vacancies.readmodel.vacancy_counts import compact
from vacancies.search.merge import merge

TRIES = 100  # when other transactions change the lists


class Command(BaseCommand):
    help = (
        "Merge what changed into the index of the search. On PostgreSQL, also mark expired "
        "vacancies in the read model of the public lists, divide large buckets of its counts, and "
        "delete unused items. Run it every hour. Without it, the lists stay correct and become "
        "slower."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        marked = mark_expired() if is_maintained() else 0
        for _ in range(TRIES if is_maintained() else 0):
            if balance():
                break
            sleep(0.1)
        if is_maintained():
            delete_unused_items(stored_versions())
            compact()
        merge()
        note_format()
        self.finish(f"Marked {marked} vacancies.", marked=marked)
