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
from django.utils import timezone

from jobsite.serving.revision import snapshot
from tests.benchmarks.search import data, measure
from vacancies.choices import Audience, Keyword, VacancyStatus
from vacancies.models import Brand, Filter, FilterOption, Recruiter, Vacancy, VacancyOption
from vacancies.querysets import VacancyList
from vacancies.search.index import SearchCache
from vacancies.search.merge import merge
from vacancies.search.query import Search
from vacancies.search.words import read_query

CACHE = SearchCache()


def fill(documents: list[data.Document]) -> None:
    """Store the vacancies, which are all public."""
    recruiter = Recruiter.objects.create(name="Recruiter")
    names = {document.brand for document in documents}
    brands = {
        brand.name: brand for brand in Brand.objects.bulk_create(Brand(name=name) for name in names)
    }
    filters = {Keyword(f.keyword): f for f in Filter.objects.all()}
    options: dict[tuple[str, str], FilterOption] = {}
    Vacancy.objects.bulk_create(
        Vacancy(
            pk=document.pk,
            title=document.title,
            title_internal=f"{document.title} [{document.reference}]",
            language=document.language,
            brand=brands[document.brand],
            location=document.location,
            head_recruiter=recruiter,
            audience=Audience.PUBLIC,
            status=VacancyStatus.PUBLISHED,
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
                    options[keyword, label] = filters[Keyword(keyword)].add_option(
                        label, beside=known
                    )
    VacancyOption.objects.bulk_create(
        VacancyOption(vacancy_id=document.pk, option=options[keyword, label], position=position)
        for document in documents
        for keyword, labels in document.options.items()
        for position, label in enumerate(labels)
    )


def find(text: str) -> list[int]:
    """Return what the search finds; if it finds nothing, what its first suggestion finds."""
    with snapshot() as state:
        index = CACHE.at(state)
        live = index.live(VacancyList.EXTERNAL, timezone.now())
        search = Search(index, live, live)
        found = search.ranked(read_query(text))
        for better in [] if found else search.suggestions(read_query(text))[:1]:
            found = search.ranked(read_query(better))
        return found.tolist()


def main() -> None:
    call_command("migrate", verbosity=0)
    fill(data.documents())
    print(measure.HEADER)
    queries = data.queries()
    print(measure.report("everything is a change", queries, find))
    merge()
    print(measure.report("merged", queries, find))


if __name__ == "__main__":
    main()
