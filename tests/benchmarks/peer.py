"""A peer without Django: the list of v1 with FastAPI, asyncpg, orjson and SQL by hand, on
PostgreSQL. With STORED_TOTAL it reads the total from a row instead of counting. The project does
not depend on it.
"""

import os
import re
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import orjson
from fastapi import FastAPI, Query, Response

KEYWORDS = [
    "types",
    "contract_types",
    "work_regimes",
    "regions",
    "jobcustom1_values",
    "jobcustom2_values",
    "jobcustom3_values",
    "jobcustom4_values",
]
COLUMNS = (Path(__file__).parents[1] / "contract/columns.txt").read_text()
TEXTS = ["location", "video", *re.findall(r"^(\w+): v1,.*page \(text\)", COLUMNS, re.MULTILINE)]
ADDRESS = ("street", "postal_code", "locality", "region", "country", "latitude", "longitude")
EMPLOYMENT_TYPES = (
    "FULL_TIME",
    "PART_TIME",
    "CONTRACTOR",
    "TEMPORARY",
    "INTERN",
    "VOLUNTEER",
    "PER_DIEM",
    "OTHER",
)
SHOWN = """status = 'published' AND audience IN ('public', 'both') AND publish_from <= now()
           AND (publish_until IS NULL OR publish_until > now())"""
COUNT = f"SELECT count(*) FROM vacancies_vacancy WHERE {SHOWN}"
STORE = f"CREATE TABLE IF NOT EXISTS benchmark_total AS {COUNT}"
TOTAL = "SELECT count FROM benchmark_total" if os.environ.get("STORED_TOTAL") else COUNT
PERSON = """{0}.id {0}_id, {0}.name {0}_name, {0}.function {0}_function, {0}.image_url {0}_image,
            CASE WHEN {0}.is_email_public THEN {0}.email END {0}_email,
            CASE WHEN {0}.is_phone_public THEN {0}.phone END {0}_phone"""
PAGE = f"""
    SELECT v.id, title, title_internal, is_hot, is_permanent, {", ".join(f"v.{name}" for name in TEXTS)},
           v.image_url, v.apply_url, updated_at, created_at, reference, language, work_place, publish_from,
           publish_until, is_pay_public, pay_min, pay_max, pay_currency, pay_period, pay_note, b.vacancy_url,
           b.name brand_name, b.description brand_description, b.icon_small_url, b.icon_large_url,
           b.url brand_url, {PERSON.format("head")}
    FROM (SELECT id FROM vacancies_vacancy WHERE {SHOWN}
          ORDER BY publish_from DESC, id DESC LIMIT $1 OFFSET $2) page
    JOIN vacancies_vacancy v USING (id) LEFT JOIN vacancies_brand b ON b.id = brand_id
    JOIN vacancies_recruiter head ON head.id = head_recruiter_id ORDER BY publish_from DESC, v.id DESC"""
LABELS = """
    SELECT vacancy_id, keyword, o.label, o.employment_type FROM vacancies_vacancyoption c
    JOIN vacancies_filteroption o ON o.id = option_id JOIN vacancies_filter f ON f.id = filter_id
    WHERE vacancy_id = ANY($1) ORDER BY c.position, c.id"""
PEOPLE = f"""
    SELECT vacancy_id, {PERSON.format("head")} FROM vacancies_vacancyrecruiter link
    JOIN vacancies_recruiter head ON head.id = recruiter_id
    WHERE vacancy_id = ANY($1) ORDER BY link.position, link.id"""
PLACES = """
    SELECT vacancy_id, kind, street, postal_code, locality, region, country, latitude, longitude
    FROM vacancies_place WHERE vacancy_id = ANY($1) ORDER BY position, id"""
FILES = """
    SELECT vacancy_id, name, url FROM vacancies_attachment WHERE vacancy_id = ANY($1) ORDER BY position, id"""


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with asyncpg.create_pool(
        os.environ["DATABASE_URL"], min_size=4, max_size=4
    ) as app.state.pool:
        with suppress(asyncpg.UniqueViolationError):  # the other worker made it
            await app.state.pool.execute(STORE)
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/v1/vacancies")
async def vacancies(
    number: int = Query(1, alias="page[number]", ge=1),
    size: int = Query(20, alias="page[size]", ge=1, le=100),
) -> Response:
    async with app.state.pool.acquire() as connection:
        total = await connection.fetchval(TOTAL)
        rows = await connection.fetch(PAGE, size, (number - 1) * size)
        ids = [row["id"] for row in rows]
        labels: dict[tuple[int, str], list[str]] = {}
        for pk, keyword, label, employment_type in await connection.fetch(LABELS, ids):
            labels.setdefault((pk, keyword), []).append(label)
            labels.setdefault((pk, "employment_types"), []).append(employment_type)
        people = grouped(await connection.fetch(PEOPLE, ids), person)
        files = grouped(
            await connection.fetch(FILES, ids), lambda row: {"name": row[1], "path": row[2]}
        )
        places = grouped(await connection.fetch(PLACES, ids), lambda row: row)
    data = [item(row, labels, people, files, places.get(row["id"], [])) for row in rows]
    meta = {
        "current_page": number,
        "last_page": -(-total // size),
        "per_page": size,
        "total": total,
    }
    return Response(orjson.dumps({"data": data, "meta": meta}), media_type="application/json")


def grouped(rows: list[Any], shape: Any) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for row in rows:
        found.setdefault(row["vacancy_id"], []).append(shape(row))
    return found


def item(
    row: Any, labels: dict[tuple[int, str], list[str]], people: Any, files: Any, places: Any
) -> dict[str, Any]:
    pk, title = row["id"], row["title"]
    shown = {keyword: labels.get((pk, keyword)) for keyword in KEYWORDS}
    for keyword in KEYWORDS[3:]:
        shown[keyword] = shown[keyword] or []
    icons = {"small": row["icon_small_url"], "large": row["icon_large_url"]}
    brand = {
        "name": row["brand_name"],
        "description": row["brand_description"],
        "icons": icons,
        "url": row["brand_url"],
    }
    return {
        "id": pk,
        "title": title,
        "title_internal": row["title_internal"] or title,
        "slug": slug(title, pk),
        "brand": brand,
        "is_hot": row["is_hot"],
        "is_permanent": row["is_permanent"],
        "functiongroup": next(iter(labels.get((pk, "functiongroup"), [])), None),
        **shown,
        **{name: row[name] or None for name in TEXTS},
        "image": row["image_url"] or None,
        **({"attachments": files[pk]} if pk in files else {}),
        "head_recruiter": person(row),
        "recruiters": people.get(pk),
        "updated_at": iso_text(row["updated_at"]),
        "created_at": iso_text(row["created_at"]),
        "apply_url": row["apply_url"] or None,
        **facts(row, set(labels.get((pk, "employment_types"), [])), places),
    }


def facts(row: Any, types: set[str], places: Any) -> dict[str, Any]:
    until, url = row["publish_until"], row["vacancy_url"]
    pay = {
        name: number(row[f"pay_{name}"]) for name in ("min", "max", "currency", "period", "note")
    }
    return {
        "reference": row["reference"] or None,
        "language": row["language"] or "en",
        "work_place": row["work_place"] or None,
        "places": [
            {name: number(at[name]) for name in ADDRESS} for at in places if at["kind"] == "site"
        ],
        "remote_countries": [place["country"] for place in places if place["kind"] == "applicant"],
        "employment_types": [each for each in EMPLOYMENT_TYPES if each in types],
        "pay": pay if row["is_pay_public"] and any(pay.values()) else None,
        "published_at": iso_text(row["publish_from"]),
        "closes_at": iso_text(until) if until else None,
        "closing_date": f"{until - timedelta(microseconds=1):%Y-%m-%d}" if until else None,
        "url": f"{url}{row['id']}" if url else None,
    }


def number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return value or None


def person(row: Any) -> dict[str, Any]:
    names = ("id", "name", "function", "email", "phone", "image")
    return {name: row[f"head_{name}"] or None for name in names}


def slug(title: str, pk: int) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    words = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain.lower())).strip("-_")
    return "-".join(filter(None, (words, f"({pk})")))


def iso_text(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
