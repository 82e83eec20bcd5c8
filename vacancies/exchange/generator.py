"""Bulk generation of varied, realistic vacancies, for load tests and for a full admin."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count as numbers
from itertools import islice
from random import Random

from django.db import reset_queries, transaction
from django.db.models import Max
from django.utils.text import slugify

from jobsite.text.html import CleanHtml, sanitise
from jobsite.types import JsonObject
from vacancies.choices import Audience, Keyword, PlaceKind, VacancyStatus, WorkPlace
from vacancies.facts.cities import find_city
from vacancies.facts.employment_types import employment_type_of
from vacancies.models import (
    Brand,
    Filter,
    FilterOption,
    Place,
    Recruiter,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)

BATCH = 2000
DAYS = 430  # range of the publication dates

GROUPS = {
    "Care": ["Nurse", "Physiotherapist", "Radiographer", "Care Assistant", "Midwife", "Pharmacist"],
    "Technology": [
        "Software Engineer",
        "Data Analyst",
        "Network Engineer",
        "Test Automation Engineer",
    ],
    "Logistics": [
        "Warehouse Operator",
        "Forklift Driver",
        "Transport Planner",
        "Customs Declarant",
    ],
    "Education": ["Primary School Teacher", "Lecturer in Mathematics", "Special Needs Coach"],
    "Construction": [
        "Site Manager",
        "Bricklayer",
        "Crane Operator",
        "Estimator",
        "Électricien résidentiel",
    ],
    "Finance": ["Accountant", "Payroll Officer", "Internal Auditor", "Credit Controller"],
    "Hospitality": [
        "Chef de partie",
        "Sommelier",
        "Front Office Manager",
        "Housekeeping Supervisor",
    ],
    "Public service": [
        "Policy Officer",
        "Urban Planner",
        "Inspector",
        "Dossierbeheerder burgerzaken",
    ],
}
LEVELS = ["", "Junior ", "Senior ", "Lead ", "Deputy ", "Trainee "]
TOWNS = {
    "Antwerp": ["Antwerp", "Mechelen", "Turnhout"],
    "East Flanders": ["Ghent", "Aalst", "Sint-Niklaas"],
    "West Flanders": ["Bruges", "Kortrijk", "Ostend"],
    "Flemish Brabant": ["Leuven", "Vilvoorde"],
    "Limburg": ["Hasselt", "Genk"],
    "Brussels": ["Brussels", "Anderlecht", "Schaerbeek"],
    "Hainaut": ["Mons", "Charleroi", "Tournai"],
    "Liège": ["Liège", "Verviers", "Seraing"],
    "Namur": ["Namur", "Dinant"],
    "Luxembourg": ["Arlon", "Bastogne"],
    "Walloon Brabant": ["Wavre", "Nivelles"],
}
VOCABULARY = {
    Keyword.CONTRACT_TYPES: ["Permanent", "Fixed term", "Temporary", "Freelance", "Internship"],
    Keyword.WORK_REGIMES: [
        "Full-time",
        "Part-time 80%",
        "Part-time 50%",
        "Shifts",
        "Nights",
        "Weekends",
    ],
    Keyword.JOBCUSTOM1: ["0-2 years", "3-5 years", "6-10 years", "10+ years"],
    Keyword.JOBCUSTOM2: ["Dutch", "French", "English", "German", "Spanish"],
    Keyword.JOBCUSTOM3: ["Bachelor", "Master", "Secondary school", "No diploma needed"],
    Keyword.JOBCUSTOM4: [
        "Company car",
        "Bike lease",
        "Meal vouchers",
        "Hospital insurance",
        "Remote work",
    ],
}
PAY = {  # a month, in euros, for somebody who starts
    "Care": 2900,
    "Technology": 3300,
    "Logistics": 2500,
    "Education": 2850,
    "Construction": 2700,
    "Finance": 3000,
    "Hospitality": 2300,
    "Public service": 2800,
}
# Of a month, and rounded to.
PERIODS = {"month": (1, 50), "year": (13.92, 500), "hour": (1 / 164.67, 0.25)}
PAY_NOTES = [
    "Gross, plus meal vouchers",
    "Gross, joint committee 200",
    "Gross, depends on your experience",
]
# Others: none.
AT_HOME = {"Technology": 0.8, "Finance": 0.6, "Public service": 0.5, "Education": 0.2}
STREETS = [
    "Stationsstraat",
    "Rue de la Gare",
    "Kerkstraat",
    "Rue Neuve",
    "Industrieweg",
    "Marktplein",
]
LENGTHS = {  # minimum and maximum number of sentences
    "description": (4, 12),
    "profile": (4, 12),
    "offer": (2, 5),
    "company": (2, 4),
    "short_description": (1, 1),
}
BRANDS = [
    "Northwind Group",
    "Lumen Care",
    "Maas & Zonen",
    "Atelier Révolution",
    "Stadswerk",
    "Contoso Talent",
]
NAMES = [
    "An Peeters",
    "Bruno Lefèvre",
    "Chloé Martin",
    "Dirk Jacobs",
    "Elif Yılmaz",
    "Femke de Groot",
]
SENTENCES = [
    "You plan the week together with four colleagues and see it through.",
    "Our patients, pupils and customers come from the neighbourhood, and so do most of us.",
    "You keep an eye on quality and say so when something can be done better.",
    "In the first month a mentor walks along with you, from the early shift to the last report.",
    "You work with modern tools and the time to learn them.",
    "Safety comes first: you stop the work whenever it is needed, and nobody asks you why.",
    "You report to the head of the department, who has done this job before you.",
    "Twice a year you choose a course, and we keep the day free.",
    "You write clearly, in the language that your reader speaks best.",
    "A driving licence is handy; a bicycle gets you here as well.",
    "We decide within two weeks after the first conversation.",
    "You know the regulations, or learn them quickly with our help.",
]


def generate(count: int, *, seed: int, at: datetime) -> Iterator[int]:
    """Create `count` vacancies that are published at `at`, one transaction per batch, and yield the
    size of each batch. The same seed gives the same content.
    """
    random = Random(seed)
    pools = {name: _texts(random, *sentences) for name, sentences in LENGTHS.items()}
    with transaction.atomic():
        # Ids: rows of ids are made faster.
        options = {key: option.pk for key, option in _options().items()}
        brands = [Brand.objects.get_or_create(name=name)[0] for name in BRANDS]
        recruiters = [Recruiter.objects.get_or_create(name=name)[0] for name in NAMES]
        # So that no reference occurs twice.
        newest = Vacancy.objects.aggregate(pk=Max("pk"))["pk"] or 0
    rows = (_vacancy(random, pools, brands, recruiters, at) for _ in range(count))
    facts = Facts(seed, first=newest + 1)
    while batch := list(islice(rows, BATCH)):
        places = [facts.add(vacancy, labels) for vacancy, labels in batch]
        with transaction.atomic():
            vacancies = Vacancy.objects.bulk_create([vacancy for vacancy, _ in batch])
            VacancyOption.objects.bulk_create(
                VacancyOption(
                    vacancy_id=vacancy.pk, option_id=options[keyword, label], position=position
                )
                for vacancy, (_, labels) in zip(vacancies, batch, strict=True)
                for position, (keyword, label) in enumerate(labels)
            )
            VacancyRecruiter.objects.bulk_create(
                VacancyRecruiter(
                    vacancy_id=vacancy.pk, recruiter=random.choice(recruiters), position=0
                )
                for vacancy in vacancies
                if random.random() < 0.3
            )
            Place.objects.bulk_create(
                Place(vacancy_id=vacancy.pk, **place)
                for vacancy, of_vacancy in zip(vacancies, places, strict=True)
                for place in of_vacancy
            )
        reset_queries()  # DEBUG keeps every query: gigabytes
        yield len(batch)


class Facts:
    """Reference, work place, places and pay. They have random numbers of their own: the columns
    that were there first are the same for a seed in each release.
    """

    def __init__(self, seed: int, *, first: int) -> None:
        self.random = Random(f"facts {seed}")
        self.numbers = numbers(first)
        found = {town: find_city(town, "BE") for towns in TOWNS.values() for town in towns}
        self.cities: dict[str, JsonObject] = {
            town: {
                "locality": town,
                "region": city.region,
                "country": "BE",
                "latitude": Decimal(str(city.latitude)),
                "longitude": Decimal(str(city.longitude)),
            }
            for town, city in found.items()
            if city
        }

    def add(self, vacancy: Vacancy, labels: list[tuple[Keyword, str]]) -> list[JsonObject]:
        """Set the facts of an unsaved vacancy, and return the values of its places."""
        random, group = self.random.random, labels[0][1]
        number = next(self.numbers)
        vacancy.reference = f"{vacancy.created_at:%Y}-{number:06}" if random() < 0.7 else ""
        vacancy.language = "en"  # of SENTENCES
        at_home = random()
        if at_home < 0.9:  # the others do not say it
            share = AT_HOME.get(group, 0)
            is_remote = at_home < share / 4
            vacancy.work_place = (
                WorkPlace.REMOTE
                if is_remote
                else WorkPlace.HYBRID
                if at_home < share
                else WorkPlace.ONSITE
            )
        if random() < 0.6:
            self._set_pay(vacancy, PAY[group])
        if vacancy.work_place == WorkPlace.REMOTE:
            codes = ["BE", "NL", "FR", "LU"][: 1 + int(random() * 4)]
            return [
                {"kind": PlaceKind.APPLICANT, "position": n, "country": code}
                for n, code in enumerate(codes)
            ]
        towns = [vacancy.location] if vacancy.location else []
        towns += [
            TOWNS[label][0] for keyword, label in labels[3:4] if keyword == Keyword.REGIONS
        ]  # of another region
        places = [
            self.cities[town] | {"position": n}
            for n, town in enumerate(towns)
            if town in self.cities
        ]
        if places and random() < 0.5:
            street = STREETS[int(random() * len(STREETS))]
            places[0]["street"] = f"{street} {1 + int(random() * 200)}"
        return places

    def _set_pay(self, vacancy: Vacancy, month: int) -> None:
        random = self.random.random
        period = "month" if random() < 0.7 else "year" if random() < 0.5 else "hour"
        times, step = PERIODS[period]
        low = month * (1 + random() * 0.4) * times
        vacancy.pay_min, vacancy.pay_max = (
            Decimal(str(round(amount / step) * step))
            for amount in (low, low * (1.1 + random() * 0.4))
        )
        if random() < 0.2:
            vacancy.pay_max = None
        vacancy.pay_currency, vacancy.pay_period = "EUR", period
        vacancy.pay_note = PAY_NOTES[int(random() * len(PAY_NOTES))] if random() < 0.5 else ""
        vacancy.is_pay_public = random() < 0.9


def _texts(random: Random, low: int, high: int) -> list[CleanHtml]:
    """Return texts of `low` to `high` sentences, as paragraphs and lists."""
    pool = []
    for _ in range(120):
        chosen = [random.choice(SENTENCES) for _ in range(random.randint(low, high))]
        half = len(chosen) // 2
        items = "".join(f"<li>{sentence}</li>" for sentence in chosen[half:])
        lead = "".join(f"<p>{sentence}</p>" for sentence in chosen[:half])
        pool.append(sanitise(f"{lead}<ul>{items}</ul>" if half else f"<p>{chosen[0]}</p>"))
    return pool


def _options() -> dict[tuple[Keyword, str], FilterOption]:
    """Return the generator's options by keyword and label. Missing ones are created."""
    wanted = VOCABULARY | {
        Keyword.FUNCTIONGROUP: list(GROUPS),
        Keyword.TYPES: [role for roles in GROUPS.values() for role in roles],
        Keyword.REGIONS: list(TOWNS),
    }
    options = {}
    Filter.objects.switch_on_unused()
    for f in Filter.objects.prefetch_related("options"):
        known = {option.label: option for option in f.options.all()}
        for label in wanted[Keyword(f.keyword)]:
            if label not in known:
                known[label] = f.add_option(label, beside=known.values())
                known[label].employment_type = employment_type_of(label)
                known[label].save()
            options[Keyword(f.keyword), label] = known[label]
    return options


def _vacancy(
    random: Random,
    pools: dict[str, list[CleanHtml]],
    brands: list[Brand],
    recruiters: list[Recruiter],
    at: datetime,
) -> tuple[Vacancy, list[tuple[Keyword, str]]]:
    """Return an unsaved vacancy and its (keyword, label) pairs in order."""
    group = random.choice(list(GROUPS))
    role = random.choice(GROUPS[group])
    regions = random.sample(list(TOWNS), k=min(len(TOWNS), 1 + int(random.expovariate(1.5))))
    town = random.choice(TOWNS[regions[0]])
    publish_from = at - timedelta(seconds=random.randint(1, DAYS * 86400))
    until = at + timedelta(days=random.randint(1, 90)) if random.random() < 0.6 else None
    title = f"{random.choice(LEVELS)}{role} in {town}"
    texts: dict[str, str] = {name: random.choice(pool) for name, pool in pools.items()}
    vacancy = Vacancy(
        title=title,
        title_internal=f"{title} [{random.randint(10000, 99999)}]" if random.random() < 0.5 else "",
        brand=random.choice(brands),
        head_recruiter=random.choice(recruiters),
        is_hot=random.random() < 0.08,
        is_permanent=until is None and random.random() < 0.3,
        location=town if random.random() < 0.9 else "",
        # Not drawn, so that the same seed still makes the same vacancies.
        apply_url="" if publish_from.second else f"https://apply.example.com/{slugify(title)}",
        audience=random.choices(list(Audience), weights=(85, 7, 8))[0],
        status=VacancyStatus.PUBLISHED,
        publish_from=publish_from,
        publish_until=until,
        created_at=publish_from - timedelta(hours=random.randint(0, 72)),
        updated_at=publish_from,
        **texts,
    )
    labels = [(Keyword.FUNCTIONGROUP, group), (Keyword.TYPES, role)]
    labels += [(Keyword.REGIONS, region) for region in regions]
    for keyword, choices in VOCABULARY.items():
        labels += [(keyword, label) for label in random.sample(choices, k=random.randint(0, 2))]
    return vacancy, labels
