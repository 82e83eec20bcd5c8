"""Generates many varied vacancies from the words of the demo, for load tests and a full admin."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from random import Random

from django.db import reset_queries, transaction
from django.db.models import Max
from django.utils.text import slugify

from jobsite.demo.content import Related, Row, make_options, read, translations
from jobsite.languages import text_languages
from jobsite.text.html import CleanHtml, sanitise
from vacancies.choices import Audience, WorkPlace
from vacancies.models import Brand, Recruiter, Vacancy, VacancyText

BATCH = 2000
DAYS = 430  # range of the publication dates
LEVELS = ("", "Junior ", "Senior ", "Lead ", "Deputy ", "Trainee ")
# Of a month, and rounded to.
PERIODS = {"month": (1, 50), "year": (13.92, 500), "hour": (1 / 164.67, 0.25)}
LENGTHS = {  # minimum and maximum number of sentences
    "description": (4, 12),
    "profile": (4, 12),
    "offer": (2, 5),
    "company": (2, 4),
    "short_description": (1, 1),
}
POOL = 120  # texts of each kind
SENTENCE = re.compile(r"<(?:p|li)>([^<]{20,120})</")


def generate(count: int, *, seed: int, at: datetime) -> Iterator[int]:
    """Create `count` vacancies that are published at `at`, one transaction per batch, and yield the
    size of each batch. The same seed gives the same content. With TEXT_LANGUAGES, each is ready in
    all languages.
    """
    content = read()
    rows = Rows(Random(seed), content)
    with transaction.atomic():
        related = Related(
            {name: Brand.objects.get_or_create(name=name)[0] for name in rows.brands},
            {name: _recruiter(name) for name in rows.recruiters},
            make_options(content["filters"], Counter()),
        )
    # So that no reference occurs twice.
    first = 1 + (Vacancy.objects.aggregate(pk=Max("pk"))["pk"] or 0)
    for start in range(0, count, BATCH):
        numbers = range(start, min(count, start + BATCH))
        batch = [rows.make(first + number) for number in numbers]
        with transaction.atomic():
            unsaved = [related.vacancy(row, at) for row in batch]
            vacancies = Vacancy.objects.bulk_create(unsaved)
            pairs = list(zip(vacancies, batch, strict=True))
            related.save(pairs)
            VacancyText.objects.bulk_create(
                text for vacancy, row in pairs for text in translations(vacancy, row)
            )
        reset_queries()  # DEBUG keeps every query: gigabytes
        yield len(batch)


def _recruiter(name: str) -> Recruiter:
    # Names are not unique.
    return Recruiter.objects.filter(name=name).first() or Recruiter.objects.create(name=name)


class Rows:
    """Makes rows like those of the vacancies in content.json, from the words in it."""

    def __init__(self, random: Random, content: Row) -> None:
        self.random, self.jobs, self.towns = random, content["jobs"], content["towns"]
        self.labels = {row["keyword"]: row["options"] for row in content["filters"]}
        del self.labels["functiongroup"], self.labels["regions"]  # of a job, and of a town
        self.brands = [row["name"] for row in content["brands"]]
        self.recruiters = [row["name"] for row in content["recruiters"]]
        by_language = {
            code: [row for row in content["vacancies"] if row.get("language") == code]
            for code in ("en", *text_languages())
        }
        self.texts = {code: self._pools(rows) for code, rows in by_language.items()}
        self.titles = {code: [row["title"] for row in rows] for code, rows in by_language.items()}
        self.notes = ["", *(row["pay_note"] for row in by_language["en"] if "pay_note" in row)]
        places = [place for row in content["vacancies"] for place in row.get("places", ())]
        self.streets = ["", *(place["street"] for place in places if "street" in place)]

    def _pools(self, rows: list[Row]) -> dict[str, list[CleanHtml]]:
        """Return texts of each kind, of the sentences of `rows`."""
        texts = [row.get(name, "") for row in rows for name in ("description", "profile", "offer")]
        sentences = [sentence for text in texts for sentence in SENTENCE.findall(text)]
        return {
            name: [self._text(sentences, *ends) for _ in range(POOL)]
            for name, ends in LENGTHS.items()
        }

    def translation(self, code: str, town: str) -> Row:
        """Return ready texts in another language."""
        title = f"{self.random.choice(self.titles[code])}, {town}"
        texts = {name: self.random.choice(pool) for name, pool in self.texts[code].items()}
        return {"title": title, "title_internal": title, **texts, "ready": True}

    def _text(self, sentences: list[str], low: int, high: int) -> CleanHtml:
        """Return a text of `low` to `high` sentences, as paragraphs and a list."""
        chosen = self.random.choices(sentences, k=self.random.randint(low, high))
        half = max(1, len(chosen) // 2)
        lead = "".join(f"<p>{sentence}</p>" for sentence in chosen[:half])
        items = "".join(f"<li>{sentence}</li>" for sentence in chosen[half:])
        return sanitise(f"{lead}<ul>{items}</ul>" if items else lead)

    def make(self, number: int) -> Row:
        """Return the row of vacancy `number`."""
        random = self.random
        group = random.choice(list(self.jobs))
        job = self.jobs[group]
        several = min(len(self.towns), 1 + int(random.expovariate(1.5)))
        regions = random.sample(list(self.towns), several)
        town = random.choice(self.towns[regions[0]])
        title = f"{random.choice(LEVELS)}{random.choice(job['titles'])} in {town}"
        row: Row = {
            "title": title,
            "title_internal": f"{title} [{number}]" if random.random() < 0.5 else "",
            "brand": random.choice(self.brands),
            "head_recruiter": random.choice(self.recruiters),
            "recruiters": random.sample(self.recruiters, random.random() < 0.3),
            "is_hot": random.random() < 0.08,
            "location": town if random.random() < 0.9 else "",
            "audience": random.choices(list(Audience), weights=(85, 7, 8))[0],
            "appears": {"seconds": -random.randint(1, DAYS * 86400)},
            "reference": f"{number:06}" if random.random() < 0.7 else "",
            "language": "en",
            "options": {
                keyword: random.sample(labels, 1 if keyword == "types" else random.randint(0, 2))
                for keyword, labels in self.labels.items()
            },
            **{name: random.choice(pool) for name, pool in self.texts["en"].items()},
        }
        others = [code for code in self.texts if code != "en"]
        row["translations"] = {code: self.translation(code, town) for code in others}
        row["options"] |= {"functiongroup": [group], "regions": regions}
        if random.random() < 0.6:
            row["last_day"] = random.randint(1, 90)
        else:
            row["is_permanent"] = random.random() < 0.3
        if random.random() < 1 / 60:
            row["apply_url"] = f"https://apply.example.com/{slugify(title)}"
        if random.random() < 0.6:
            row |= self._pay(job["pay"])
        at_home = random.random()
        if at_home < job["at_home"] / 4:
            countries = ["BE", "NL", "FR", "LU"][: random.randint(1, 4)]
            return row | {"work_place": WorkPlace.REMOTE, "remote_countries": countries}
        if at_home < 0.9:  # the others do not say it
            is_hybrid = at_home < job["at_home"]
            row["work_place"] = WorkPlace.HYBRID if is_hybrid else WorkPlace.ONSITE
        towns = [row["location"], *(self.towns[region][0] for region in regions[1:2])]
        row["places"] = [{"locality": town, "country": "BE"} for town in towns if town]
        if row["places"]:
            row["places"][0]["street"] = random.choice(self.streets)
        return row

    def _pay(self, month: int) -> Row:
        random = self.random
        [period] = random.choices(list(PERIODS), weights=(70, 15, 15))
        times, step = PERIODS[period]
        low = month * random.uniform(1, 1.4) * times
        high = low * random.uniform(1.1, 1.5)
        return {
            "pay_min": Decimal(str(round(low / step) * step)),
            "pay_max": Decimal(str(round(high / step) * step)) if random.random() < 0.8 else None,
            "pay_currency": "EUR",
            "pay_period": period,
            "pay_note": random.choice(self.notes),
            "is_pay_public": random.random() < 0.9,
        }
