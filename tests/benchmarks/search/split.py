"""A second split: queries that were written before they were run, on vacancies in four languages.

    .venv/bin/python -m tests.benchmarks.search.split

The ids of a query are what the visitor looks for; all others have no relevance.
"""

import json
import os

os.environ["DATABASE_URL"] = "sqlite:///:memory:"

from tests.benchmarks.search import __main__ as judged  # sets Django up

# isort: split

from django.core.management import call_command

from tests.benchmarks.search import data, measure
from vacancies.search.merge import merge


def main() -> None:
    call_command("migrate", verbosity=0)
    content = json.loads((data.HERE / "split.json").read_text())
    documents = [
        data.Document(
            n + 1,
            language,
            title,
            "",
            "",
            place,
            {},
            {"description": f"<p>{text}</p>"},
            "2026-01-01",
        )
        for n, (language, title, place, text) in enumerate(content["vacancies"])
    ]
    judged.fill(
        [each._replace(published_at="2026-01-01T00:00Z", brand="Acme") for each in documents]
    )
    merge()
    queries = [
        data.Query(language, text, {n + 1: 3 for n in found})
        for language, text, found in content["queries"]
        if found
    ]
    print(measure.HEADER)
    print(measure.report("second split", queries, judged.find))
    for query in queries:
        found = judged.find(query.text)
        if (score := measure.ndcg(found, query.grades)) < 0.999 or len(found) > 2 * len(
            query.grades
        ):
            titles = [documents[pk - 1].title for pk in found[:5]]
            print(f"{score:.2f} {query.text!r}: {titles}")


if __name__ == "__main__":
    main()
