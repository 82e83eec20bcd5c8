"""Measure the relevance of the search of the public lists on judged queries:

    .venv/bin/python -m tests.benchmarks.search

Needs `../shared/data`. Uses a database in memory, or the empty one of DATABASE_URL, which it fills.
"""

import os
from datetime import datetime

os.environ.setdefault("DATABASE_URL", "sqlite:///:memory:")

from tests.benchmarks import process  # noqa: F401 - sets Django up

# isort: split

from django.core.management import call_command

from tests.benchmarks.search import data, measure
from vacancies.choices import Keyword
from vacancies.models import Audience, Brand, Filter, FilterOption, Recruiter, Status, Vacancy, VacancyOption


def fill(documents: list[data.Document]) -> None:
    """Store the vacancies, which are all public."""
    recruiter = Recruiter.objects.create(name="Recruiter")
    names = {document.brand for document in documents}
    brands = {brand.name: brand for brand in Brand.objects.bulk_create(Brand(name=name) for name in names)}
    filters = {Keyword(f.keyword): f for f in Filter.objects.all()}
    options: dict[tuple[str, str], FilterOption] = {}
    Vacancy.objects.bulk_create(
        Vacancy(
            pk=document.pk,
            title=document.title,
            title_internal=f"{document.title} [{document.reference}]",
            brand=brands[document.brand],
            location=document.location,
            head_recruiter=recruiter,
            audience=Audience.PUBLIC,
            status=Status.PUBLISHED,
            publish_from=datetime.fromisoformat(document.published_at),
            **document.texts,
        )
        for document in documents
    )
    for document in documents:
        for keyword, labels in document.options.items():
            for label in labels:
                if (keyword, label) not in options:
                    known = (option for (other, _), option in options.items() if other == keyword)
                    options[keyword, label] = filters[Keyword(keyword)].add_option(label, beside=known)
    VacancyOption.objects.bulk_create(
        VacancyOption(vacancy_id=document.pk, option=options[keyword, label], position=position)
        for document in documents
        for keyword, labels in document.options.items()
        for position, label in enumerate(labels)
    )


def newest_first(text: str) -> list[int]:
    found = Vacancy.objects.published().external().search(text)
    return list(found.newest_first().values_list("pk", flat=True)[: measure.DEPTH])


def main() -> None:
    call_command("migrate", verbosity=0)
    fill(data.documents())
    print(measure.HEADER)
    print(measure.report("parts of words, newest first", data.queries(), newest_first))


if __name__ == "__main__":
    main()
