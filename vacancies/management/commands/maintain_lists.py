from time import sleep
from typing import Any

from jobsite.ops.commands import Command as BaseCommand
from vacancies.readmodel.maintenance import balance, mark_expired
from vacancies.readmodel.vacancy_counts import compact

TRIES = 100  # when other transactions change the lists


class Command(BaseCommand):
    help = (
        "Mark expired vacancies in the read model of the public lists, and divide large buckets of its "
        "counts. Run it every hour. Without it, the lists stay correct and become slower."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        marked = mark_expired()
        for _ in range(TRIES):
            if balance():
                break
            sleep(0.1)
        compact()
        self.finish(f"Marked {marked} vacancies.", marked=marked)
