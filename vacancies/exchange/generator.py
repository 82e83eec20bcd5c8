"""Bulk generation of varied, realistic vacancies, for load tests and for a full admin."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from random import Random

from django.db import reset_queries, transaction
from django.utils.text import slugify

from jobsite.text.html import CleanHtml, sanitise
from vacancies.choices import Keyword
from vacancies.models import (
    Audience,
    Brand,
    Filter,
    FilterOption,
    Recruiter,
    Status,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)
from vacancies.search.merge import merge

BATCH = 2000
DAYS = 430  # range of the publication dates

GROUPS = {
    "Care": ["Nurse", "Physiotherapist", "Radiographer", "Care Assistant", "Midwife", "Pharmacist"],
    "Technology": ["Software Engineer", "Data Analyst", "Network Engineer", "Test Automation Engineer"],
    "Logistics": ["Warehouse Operator", "Forklift Driver", "Transport Planner", "Customs Declarant"],
    "Education": ["Primary School Teacher", "Lecturer in Mathematics", "Special Needs Coach"],
    "Construction": ["Site Manager", "Bricklayer", "Crane Operator", "Estimator", "Électricien résidentiel"],
    "Finance": ["Accountant", "Payroll Officer", "Internal Auditor", "Credit Controller"],
    "Hospitality": ["Chef de partie", "Sommelier", "Front Office Manager", "Housekeeping Supervisor"],
    "Public service": ["Policy Officer", "Urban Planner", "Inspector", "Dossierbeheerder burgerzaken"],
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
    Keyword.WORK_REGIMES: ["Full-time", "Part-time 80%", "Part-time 50%", "Shifts", "Nights", "Weekends"],
    Keyword.JOBCUSTOM1: ["0-2 years", "3-5 years", "6-10 years", "10+ years"],
    Keyword.JOBCUSTOM2: ["Dutch", "French", "English", "German", "Spanish"],
    Keyword.JOBCUSTOM3: ["Bachelor", "Master", "Secondary school", "No diploma needed"],
    Keyword.JOBCUSTOM4: ["Company car", "Bike lease", "Meal vouchers", "Hospital insurance", "Remote work"],
}
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
NAMES = ["An Peeters", "Bruno Lefèvre", "Chloé Martin", "Dirk Jacobs", "Elif Yılmaz", "Femke de Groot"]
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
    """Create `count` vacancies that are published at `at`, one transaction per batch, and yield the size of
    each batch. The same seed gives the same content."""
    random = Random(seed)
    pools = {name: _texts(random, *sentences) for name, sentences in LENGTHS.items()}
    with transaction.atomic():
        options = _options()
        brands = [Brand.objects.get_or_create(name=name)[0] for name in BRANDS]
        recruiters = [Recruiter.objects.get_or_create(name=name)[0] for name in NAMES]
    rows = (_vacancy(random, pools, brands, recruiters, at) for _ in range(count))
    made = 0
    while batch := list(islice(rows, BATCH)):
        with transaction.atomic():
            vacancies = Vacancy.objects.bulk_create([vacancy for vacancy, _ in batch])
            VacancyOption.objects.bulk_create(
                VacancyOption(vacancy=vacancy, option=options[keyword, label], position=position)
                for vacancy, (_, labels) in zip(vacancies, batch, strict=True)
                for position, (keyword, label) in enumerate(labels)
            )
            VacancyRecruiter.objects.bulk_create(
                VacancyRecruiter(vacancy=vacancy, recruiter=random.choice(recruiters), position=0)
                for vacancy in vacancies
                if random.random() < 0.3
            )
        reset_queries()  # DEBUG keeps every query: gigabytes
        made += len(batch)
        if made == count:
            merge()
        yield len(batch)


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
        status=Status.PUBLISHED,
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
