"""Creates rows and files from content.json, once. Later changes by recruiters are kept."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from io import BytesIO
from pathlib import Path

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from PIL import Image, ImageColor, ImageDraw, ImageFont

from applications.models import Stage, StageChange, Task
from applications.operations import create_application
from forms_structure import operations
from forms_structure.models import ConsentText, Form
from jobsite.api.openapi import example
from jobsite.demo.translations import translate
from jobsite.types import JsonObject
from vacancies.api import schema
from vacancies.choices import PlaceKind, VacancyStatus
from vacancies.dates import end_of_day
from vacancies.exchange.columns import COLUMNS
from vacancies.facts.cities import find_city
from vacancies.models import (
    Attachment,
    Brand,
    BrandLink,
    Filter,
    FilterOption,
    Place,
    Recruiter,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
    VacancyText,
)
from vacancies.models.vacancy_text import digest_of, texts_of

CONTENT = Path(__file__).with_name("content.json")
KINDS = ("brands", "recruiters", "filters", "options", "vacancies", "attachments", "forms")
WHITE, INK = "#ffffff", "#1f2937"
A4 = (827, 1169)  # pixels at 100 per inch
# Keys of a vacancy in content.json that are not fields of the model.
NOT_FIELDS = (
    "brand",
    "appears",
    "last_day",
    "head_recruiter",
    "recruiters",
    "options",
    "places",
    "remote_countries",
    "image",
    "attachments",
    "translations",
)

Row = JsonObject
Colour = tuple[int, ...]


def load(*, at: datetime, progress: Callable[[list[Row]], Iterable[Row]] = list) -> dict[str, int]:
    """Create the demo content, with datetimes relative to `at`. Return the number of rows by kind.
    `progress` yields the vacancies, and may show how many are created.

    Does nothing if one of its vacancies exists. Existing brands and recruiters of the same name, and
    options of the same value or label, are used and not changed.
    """
    content = read()
    made = Counter(dict.fromkeys(KINDS, 0))
    if Vacancy.objects.filter(title__in=[row["title"] for row in content["vacancies"]]).exists():
        return dict(made)
    with transaction.atomic():
        related = Related(
            _brands(content["brands"], made),
            _recruiters(content["recruiters"], made),
            make_options(content["filters"], made),
        )
        colours = {row["name"]: row["colour"] for row in content["brands"]}
        examples = _examples(content["vacancies"])
        for number, row in enumerate(progress(content["vacancies"])):
            given = row if number % 2 else examples | row
            vacancy = related.vacancy(given, at.replace(second=0, microsecond=0))
            if "image" in row:
                drawn = header(row["image"], colours[row["brand"]])
                vacancy.image.save(f"{row['image']}.jpg", drawn, save=False)
            vacancy.save()
            related.save([(vacancy, row)])
            VacancyText.objects.bulk_create(translations(vacancy, row))
            for position, file in enumerate(row.get("attachments", ())):
                _attachment(vacancy, file, position).save()
                made["attachments"] += 1
            made["vacancies"] += 1
        _forms(content, related.brands, made)
        translate()
    return dict(made)


def read() -> Row:
    return json.loads(CONTENT.read_text(encoding="utf-8"))


@dataclass
class Related:
    """The rows that vacancies refer to, by name."""

    brands: dict[str, Brand]
    recruiters: dict[str, Recruiter]
    options: dict[tuple[str, str], FilterOption]

    def vacancy(self, row: Row, now: datetime) -> Vacancy:
        """Return the unsaved vacancy of `row`."""
        vacancy = _vacancy(row, now)
        if "brand" in row:
            vacancy.brand = self.brands[row["brand"]]
        if "head_recruiter" in row:
            vacancy.head_recruiter = self.recruiters[row["head_recruiter"]]
        return vacancy

    def save(self, pairs: Sequence[tuple[Vacancy, Row]]) -> None:
        """Create the options, recruiters and places of saved vacancies."""
        VacancyOption.objects.bulk_create(
            # Ids: rows of ids are made faster.
            VacancyOption(vacancy_id=vacancy.pk, option_id=option.pk, position=position)
            for vacancy, row in pairs
            for keyword, labels in row.get("options", {}).items()
            for position, option in enumerate(self.options[keyword, label] for label in labels)
        )
        VacancyRecruiter.objects.bulk_create(
            VacancyRecruiter(vacancy=vacancy, recruiter=self.recruiters[name], position=position)
            for vacancy, row in pairs
            for position, name in enumerate(row.get("recruiters", ()))
        )
        Place.objects.bulk_create(place for pair in pairs for place in _places(*pair))


# --- Rows --------------------------------------------------------------------------------------


def _brands(rows: list[Row], made: Counter[str]) -> dict[str, Brand]:
    brands = {brand.name: brand for brand in Brand.objects.all()}
    for row in rows:
        if row["name"] in brands:
            continue
        own = {field: value for field, value in row.items() if field not in ("colour", "initials")}
        brand = brands[row["name"]] = Brand(**own)
        for field, size in ((brand.icon_small, 64), (brand.icon_large, 256)):
            drawn = icon(row["initials"], row["colour"], size)
            field.save(f"{slugify(brand.name)}-{size}.png", drawn, save=False)
        brand.save()
        made["brands"] += 1
    return brands


def _recruiters(rows: list[Row], made: Counter[str]) -> dict[str, Recruiter]:
    # Names are not unique: use the oldest row.
    recruiters = {recruiter.name: recruiter for recruiter in Recruiter.objects.order_by("-pk")}
    for row in rows:
        if row["name"] in recruiters:
            continue
        recruiter = Recruiter(**{field: value for field, value in row.items() if field != "avatar"})
        if "avatar" in row:
            recruiter.image.save(
                f"{slugify(recruiter.name)}.png", avatar(row["avatar"]), save=False
            )
        recruiter.save()
        recruiters[recruiter.name] = recruiter
        made["recruiters"] += 1
    return recruiters


def make_options(rows: list[Row], made: Counter[str]) -> dict[tuple[str, str], FilterOption]:
    """Return the options by keyword and label. A filter that has options already is not changed."""
    options = {}
    for position, row in enumerate(rows):
        shown = {"label": row["label"], "is_active": row["is_active"], "position": position}
        filter_, _ = Filter.objects.get_or_create(keyword=row["keyword"], defaults=shown)
        found = list(filter_.options.all())
        if not found:
            Filter.objects.filter(pk=filter_.pk).update(**shown)
            made["filters"] += 1
        by_name = {option.value: option for option in found} | {
            option.label: option for option in found
        }
        for place, label in enumerate(row["options"]):
            value = slugify(label)
            option = by_name.get(label) or by_name.get(value)
            if not option:
                kind = row.get("employment_types", {}).get(label, "")
                option = filter_.options.create(
                    label=label, value=value, position=place, employment_type=kind
                )
                made["options"] += 1
            options[row["keyword"], label] = option
    return options


def _forms(content: Row, brands: dict[str, Brand], made: Counter[str]) -> None:
    """Create the consent texts, the links and the forms, and assign the forms. An existing default
    form stays the default.
    """
    for row in content["consents"]:
        if not ConsentText.objects.filter(language=row["language"]).exists():
            ConsentText.objects.add(**row)
    for row in content["links"]:
        BrandLink.objects.get_or_create(**row | {"brand": brands.get(row.get("brand", ""))})
    forms: dict[str, Form] = {}
    for row in content["forms"]:
        form = forms[row["name"]] = operations.create(
            name=row["name"],
            structure=row["structure"],
            language=row["language"],
            extends=forms.get(row.get("extends")),
            is_default=row.get("is_default", False) and not Form.objects.default().exists(),
            origin="demo",
        )
        if "brand" in row:
            Brand.objects.filter(pk=brands[row["brand"]].pk).update(form=form)
        Vacancy.objects.filter(title=row.get("vacancy")).update(form=form)
        made["forms"] += 1


def load_applications(*, user: User, at: datetime) -> int:
    """Create the demo applications of `user`, unless there are some. Return their number."""
    if user.applications.exists():
        return 0
    at, made = at.replace(second=0, microsecond=0), 0
    stages = {stage.name: stage for stage in Stage.objects.all()}
    for row in read()["applications"]:
        vacancy = Vacancy.objects.filter(title=row["vacancy"]).first()
        if vacancy is None:
            continue
        application = create_application(
            user=user,
            vacancy=vacancy,
            at=at + timedelta(**row["received"]),
            is_spontaneous=row.get("is_spontaneous", False),
        )
        StageChange.objects.bulk_create(
            StageChange(application=application, stage=stages[name], at=at + timedelta(**delay))
            for name, delay in row["stages"]
            if name in stages
        )
        Task.objects.bulk_create(
            Task(
                application=application,
                name=step["name"],
                result=step.get("result", ""),
                planned_at=at + timedelta(**step["planned"]),
                is_visible=step["is_visible"],
                created_at=application.created_at,
                updated_at=application.created_at,
            )
            for step in row.get("steps", ())
        )
        made += 1
    return made


def translations(vacancy: Vacancy, row: Row) -> Iterator[VacancyText]:
    """Yield the unsaved texts of `vacancy` in other languages."""
    for language, values in row.get("translations", {}).items():
        is_ready = values.pop("ready")
        yield VacancyText(
            vacancy=vacancy,
            language=language,
            texts=values,
            is_ready=is_ready,
            based_on=digest_of(texts_of(vacancy)) if is_ready else "",
        )


def _examples(rows: list[Row]) -> Row:
    """Return the API's examples of columns that none of `rows` sets, such as a new one."""
    names = {column.name for column in COLUMNS}.intersection(schema.VACANCY).difference(*rows)
    return example(schema.VACANCY, names)


def _vacancy(row: Row, now: datetime) -> Vacancy:
    """Return the unsaved vacancy of `row`, with its fields and datetimes."""
    own = {field: value for field, value in row.items() if field not in NOT_FIELDS}
    vacancy = Vacancy(**{"status": VacancyStatus.PUBLISHED} | own)
    written = now
    if "appears" in row:
        vacancy.publish_from = now + timedelta(**row["appears"])
        written = min(vacancy.publish_from, now)
    if "last_day" in row:
        vacancy.publish_until = end_of_day(
            timezone.localtime(now).date() + timedelta(days=row["last_day"])
        )
    vacancy.created_at, vacancy.updated_at = (
        written - timedelta(hours=30),
        written - timedelta(minutes=10),
    )
    return vacancy


def _places(vacancy: Vacancy, row: Row) -> list[Place]:
    """Return the unsaved places of both kinds.
    Those of work are at the coordinates of their city.
    """
    places = [
        Place(vacancy_id=vacancy.pk, position=position, **place)
        for position, place in enumerate(row.get("places", ()))
    ]
    for place in places:
        place.latitude, place.longitude = _coordinates(place.locality, place.country)
    return places + [
        Place(vacancy_id=vacancy.pk, position=position, kind=PlaceKind.APPLICANT, country=country)
        for position, country in enumerate(row.get("remote_countries", ()))
    ]


@cache
def _coordinates(locality: str, country: str) -> tuple[Decimal, Decimal] | tuple[None, None]:
    if city := find_city(locality, country):
        return Decimal(str(city.latitude)), Decimal(str(city.longitude))
    return None, None


def _attachment(vacancy: Vacancy, row: Row, position: int) -> Attachment:
    name = row["name"]
    attachment = Attachment(vacancy=vacancy, name=name, url=row.get("url", ""), position=position)
    if "text" in row:
        draw = page if name.endswith(".pdf") else plain
        attachment.file.save(name, draw(row["text"], vacancy.created_at), save=False)
    return attachment


# --- Files -------------------------------------------------------------------------------------


def icon(initials: str, colour: str, size: int) -> ContentFile:
    """Return a square PNG of `size` pixels:
    white initials on a rounded tile in the brand's colour.
    """
    big = size * 4  # drawn large and scaled down, for smooth edges
    image = Image.new("RGBA", (big, big))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((0, 0, big - 1, big - 1), big // 5, fill=colour)
    bar = (big * 0.3, big * 0.76, big * 0.7, big * 0.8)
    draw.rounded_rectangle(bar, big // 50, fill=_mixed(colour, WHITE, 0.6))
    font = ImageFont.load_default(big * 0.42)
    draw.text((big / 2, big * 0.47), initials, fill=WHITE, font=font, anchor="mm")
    return _encoded(image.resize((size, size), Image.Resampling.LANCZOS), "PNG")


def avatar(colour: str) -> ContentFile:
    """Return a square PNG of 256 pixels: head and shoulders in tints of `colour`."""
    image = Image.new("RGB", (1024, 1024), _mixed(colour, WHITE, 0.8))
    draw = ImageDraw.Draw(image)
    draw.ellipse((172, 620, 852, 1300), fill=colour)
    draw.ellipse((332, 210, 692, 570), fill=_mixed(colour, WHITE, 0.35))
    return _encoded(image.resize((256, 256), Image.Resampling.LANCZOS), "PNG")


def header(name: str, colour: str) -> ContentFile:
    """Return a JPEG of 1200x630 pixels:
    random hills below a sun, seeded by `name`, in tints of `colour`.
    """
    seeded = random.Random(name)
    size = (2400, 1260)
    top, bottom = (Image.new("RGB", size, _mixed(colour, WHITE, share)) for share in (0.45, 0.92))
    image = Image.composite(bottom, top, Image.linear_gradient("L").resize(size))
    draw = ImageDraw.Draw(image)
    x, y, radius = seeded.randint(400, 2000), seeded.randint(300, 460), seeded.randint(130, 190)
    draw.ellipse(
        (x - radius, y - radius, x + radius, y + radius), fill=_mixed(colour, "#fde68a", 0.85)
    )
    for layer, share in enumerate((0.6, 0.4, 0.2, 0.0)):
        crest = 700 + 130 * layer
        for _ in range(3):
            middle, width, height = (
                seeded.randint(*ends) for ends in ((0, 2400), (900, 1500), (100, 220))
            )
            hill = (middle - width, crest - height, middle + width, crest + 1600)
            draw.ellipse(hill, fill=_mixed(colour, WHITE, share))
    return _encoded(image.resize((1200, 630), Image.Resampling.LANCZOS), "JPEG", quality=85)


def page(lines: list[str], written: datetime) -> ContentFile:
    """Return a PDF of one page: the first line is the heading."""
    image = Image.new("RGB", A4, WHITE)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, A4[0], 14), fill=INK)
    for place, line in enumerate(lines):
        draw.text(
            (80, 90 + 32 * place), line, fill=INK, font=ImageFont.load_default(18 if place else 26)
        )
    day = written.utctimetuple()
    return _encoded(image, "PDF", resolution=100, title=lines[0], creationDate=day, modDate=day)


def plain(lines: list[str], written: datetime) -> ContentFile:
    return ContentFile("\n".join([*lines, ""]).encode())


def _mixed(colour: str, other: str, share: float) -> Colour:
    """Return `colour` with a `share` (0 to 1) of `other` in it."""
    pairs = zip(ImageColor.getrgb(colour), ImageColor.getrgb(other), strict=True)
    return tuple(round(one + (two - one) * share) for one, two in pairs)


def _encoded(image: Image.Image, kind: str, **how: object) -> ContentFile:
    file = BytesIO()
    image.save(file, kind, **how)
    return ContentFile(file.getvalue())
