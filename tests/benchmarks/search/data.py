"""The vacancies and the judged queries.

The vacancies: 641 real ones in English (`../shared/data/vacancies.v1.json`, not in the repository),
and those of `corpus.json`, in Dutch, French and German. The latter are synthetic: written for this
benchmark, because no public set of real ones was found whose licence allows a copy.

`judgments.json` has the queries: language, text, and the ids of the vacancies with a relevance of 1
(related), 2 (close) and 3 (what the visitor looks for); all others have 0. They come from a rule
per query, on title, occupation, option, place, brand and text, and from reading what the searches
of `comparison.md` found. 1 and 2 are kept only where one of them found the vacancy among its first
20.
"""

import json
import re
from html import unescape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
REAL = HERE.parents[3] / "shared" / "data" / "vacancies.v1.json"
KEYWORDS = (
    "functiongroup",
    "types",
    "contract_types",
    "work_regimes",
    "regions",
    "jobcustom1_values",
    "jobcustom2_values",
    "jobcustom3_values",
    "jobcustom4_values",
)
TEXTS = (
    "description",
    "short_description",
    "profile",
    "offer",
    "contact",
    "company",
    "postcustom1",
)


class Document(NamedTuple):
    pk: int
    language: str
    title: str
    reference: str
    brand: str
    location: str
    options: dict[str, list[str]]  # labels by keyword
    texts: dict[str, str]  # HTML by field
    published_at: str  # ISO 8601

    @property
    def labels(self) -> list[str]:
        return [label for labels in self.options.values() for label in labels]

    @property
    def text(self) -> str:
        return unescape(re.sub(r"<[^>]*>", " ", " ".join(self.texts.values())))


class Query(NamedTuple):
    language: str
    text: str
    grades: dict[int, int]  # relevance of 1 to 3 by id of a vacancy


def documents() -> list[Document]:
    """Return all vacancies. Raise FileNotFoundError without `../shared`."""
    return [*map(_real, json.loads(REAL.read_text())["data"]), *_synthetic()]


def queries() -> list[Query]:
    return [
        Query(language, text, {pk: grade for grade, pks in grades.items() for pk in pks})
        for language, text, *levels in json.loads((HERE / "judgments.json").read_text())
        for grades in [dict(zip((1, 2, 3), levels, strict=True))]
    ]


def _real(item: dict) -> Document:
    options = {
        key: [item[key]] if key == "functiongroup" else item[key] for key in KEYWORDS if item[key]
    }
    return Document(
        pk=item["id"],
        language="en",
        title=item["title"],
        reference=item["title_internal"].removeprefix(item["title"]).strip(" []"),
        brand=item["brand"]["name"],
        location=item["location"],
        options=options,
        texts={key: item[key] for key in TEXTS if item.get(key)},
        published_at=item["created_at"].replace(" ", "T") + "Z",
    )


def _synthetic() -> list[Document]:
    data = json.loads((HERE / "corpus.json").read_text())
    found = []
    for item in data["vacancies"]:
        texts = {
            key: " ".join(data["sentences"][number] for number in item[key]).format(
                place=item["location"], brand=item["brand"]
            )
            for key in ("description", "profile", "offer")
        }
        keys = ("language", "title", "reference", "brand", "location", "options", "published_at")
        found.append(Document(pk=item["id"], texts=texts, **{key: item[key] for key in keys}))
    return found
