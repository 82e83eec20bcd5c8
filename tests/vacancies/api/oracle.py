"""A plain implementation of the public lists and of single vacancies, as the expected responses of
tests.

It reads every published vacancy, filters, sorts and pages them in Python, and serializes those of
the page. It uses no list queryset, read model, stored item or cache of the site.
"""

import math
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, quote

from django.conf import settings
from django.test import RequestFactory
from rest_framework.renderers import JSONRenderer

from tests.vacancies.api.search_oracle import search
from vacancies.api import v0_1
from vacancies.api.v1.serializers import VacancySerializer
from vacancies.api.v1.vacancies import VacancyViewSet
from vacancies.models import Place, Vacancy, VacancyOption

PUBLIC, INTERNAL = ("public", "both"), ("internal", "both")
# path: serializer, audiences, hot vacancies only
LISTS: dict[str, tuple[Any, tuple[str, str], bool]] = {
    "/v1/vacancies": (VacancySerializer, PUBLIC, False),
    "/v1/vacancies/hot": (VacancySerializer, PUBLIC, True),
    "/v1/vacancies/internal": (VacancySerializer, INTERNAL, False),
    "/v1/vacancies/hot/internal": (VacancySerializer, INTERNAL, True),
    "/v0.1/vacancies": (v0_1.VacancySerializer, PUBLIC, False),
    "/v0.1/vacancies/internal": (v0_1.VacancySerializer, INTERNAL, False),
}
SINGLE = re.compile(r"/v1/vacancies/([0-9]+)")


def is_public(vacancy: Vacancy, at: datetime) -> bool:
    start, end = vacancy.publish_from, vacancy.publish_until
    return (
        vacancy.status == "published"
        and start is not None
        and start <= at
        and (end is None or at < end)
    )


def _is_in(keys: str) -> Callable[[Any], set[str]]:
    return lambda item: {item[keys]} if isinstance(item[keys], str) else set(item[keys] or ())


# The values of a vacancy by name of the filter, from its item in v1.
FACTS: dict[str, Callable[[Any], set[str]]] = {
    "country": lambda item: {p["country"] for p in item["places"]} | {*item["remote_countries"]},
    "work_place": _is_in("work_place"),
    "employment_types": _is_in("employment_types"),
    "language": _is_in("languages"),
}


def position(latitude: float, longitude: float) -> tuple[float, float, float]:
    """Return the place of a point on a sphere of radius 1."""
    north, east = math.radians(latitude), math.radians(longitude)
    return math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)


def chord(km: float) -> float:
    """Return how far points of `position` are apart whose great circle is `km` long."""
    return 2 * math.sin(km / 6371.0088 / 2)


def expected(target: str, at: datetime, host: str = "testserver") -> tuple[int, bytes]:
    """Return the status and body of the response to `target`, a path with a query, at that time. A
    404 has no body here.
    """
    path, _, text = target.partition("?")
    request = RequestFactory(SERVER_NAME=host).get(path)
    base = settings.PUBLIC_BASE_URL or f"http://{host}"
    if single := SINGLE.fullmatch(path):
        pk = int(single[1])
        if not any(is_public(v, at) for v in Vacancy.objects.filter(pk=pk)):
            return 404, b""
        [item] = _serialized(VacancySerializer, [pk], request, _parsed(text).get("language", ""))
        return 200, _json({"data": item})
    query = _parsed(text)
    serializer = LISTS[path][0]
    pks, suggestions = _members(path, query, at)
    size, number = min(int(query.get("page[size]", 20)), 100), int(query.get("page[number]", 1))
    start, last = (number - 1) * size, max(1, (len(pks) + size - 1) // size)
    page = pks[start : start + size]
    items = _serialized(serializer, page, request, query.get("language", ""))
    if "fields" in query:
        names = [name for name in serializer.Meta.fields if name in query["fields"].split(",")]
        items = [{name: item[name] for name in names if name in item} for item in items]
    names = (*VacancyViewSet.query_names, "language")
    kept = {name: query[name] for name in names if name in query}
    others = "".join(
        f"{quote(name, safe='')}={quote(value, safe='')}&" for name, value in kept.items()
    )

    def link(page_number: int) -> str:
        return f"{base}{path}?{others}page%5Bsize%5D={size}&page%5Bnumber%5D={page_number}"

    links = {
        "first": link(1),
        "last": link(last),
        "prev": link(min(number - 1, last)) if number > 1 else None,
        "next": link(number + 1) if number < last else None,
    }
    meta = {
        "current_page": number,
        "from": start + 1 if page else None,
        "last_page": last,
        "path": base + path,
        "per_page": size,
        "to": start + len(page) if page else None,
        "total": len(pks),
        **({"suggestions": suggestions} if "filter[search]" in query and not pks else {}),
    }
    return 200, _json({"data": items, "links": links, "meta": meta})


def _parsed(text: str) -> dict[str, str]:
    """Return the parameters, the values of repeated ones and of those with []
    joined with commas.
    """
    query: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        plain = name.removesuffix("[]")
        query[plain] = f"{query[plain]},{value}" if plain in query else value
    return query


def _members(path: str, query: dict[str, str], at: datetime) -> tuple[list[int], list[str]]:
    """Return the ids of all pages of the list, in order, and what the search proposes."""
    _serializer, audiences, is_hot = LISTS[path]
    columns = ("status", "audience", "is_hot", "publish_from", "publish_until", "title_folded")
    found = [
        v
        for v in Vacancy.objects.filter(status="published").only(*columns)
        if is_public(v, at) and v.audience in audiences and (v.is_hot or not is_hot)
    ]
    live = [v.pk for v in found]
    for name, value in query.items():
        if name in ("filter[search]", "language"):
            continue
        if name == "filter[near]":
            *point, km = map(float, value.split(","))
            sites: Any = Place.objects.exclude(latitude=None).values_list(
                "vacancy", "latitude", "longitude"
            )
            near = {
                pk
                for pk, *at in sites
                if math.dist(position(*point), position(*map(float, at))) <= chord(km)
            }
            found = [v for v in found if v.pk in near]
        elif name == "filter[brand]":
            slugs = dict(Vacancy.objects.values_list("pk", "brand__slug"))
            found = [v for v in found if slugs[v.pk] in value.split(",")]
        elif (fact := name[7:-1]) in FACTS:
            items = _serialized(VacancySerializer, [v.pk for v in found], RequestFactory().get("/"))
            chosen_pks = {item["id"] for item in items if FACTS[fact](item) & {*value.split(",")}}
            found = [v for v in found if v.pk in chosen_pks]
        elif name.startswith("filter["):
            chosen = VacancyOption.objects.filter(option__filter__keyword=name[7:-1])
            pairs = set(chosen.values_list("vacancy", "option__value"))
            found = [
                v for v in found if any((v.pk, option) in pairs for option in value.split(","))
            ]
    scores, suggestions = {}, []
    if "filter[search]" in query:
        scores, suggestions = search(query["filter[search]"], live, [v.pk for v in found])
        found = [v for v in found if v.pk in scores]
    newest = sorted(found, key=lambda v: (v.publish_from, v.pk), reverse=True)
    match query.get("sort", "relevance" if scores else ""):
        case "relevance":
            newest.sort(key=lambda v: -scores.get(v.pk, 0))
        case "published_at":
            newest = newest[::-1]
        case "title" | "-title" as order:
            newest = sorted(found, key=lambda v: v.pk, reverse=True)
            newest.sort(key=lambda v: v.title_folded, reverse=order == "-title")
        case "closes_at" | "-closes_at" as order:
            newest = sorted(found, key=lambda v: v.pk, reverse=True)
            newest.sort(key=lambda v: v.publish_until or at, reverse=order == "-closes_at")
            newest.sort(key=lambda v: v.publish_until is None)
    return [v.pk for v in newest], suggestions


def _serialized(serializer: Any, pks: list[int], request: Any, language: str = "") -> list[Any]:
    by_id = {v.pk: v for v in Vacancy.objects.with_related().filter(pk__in=pks)}
    context = {"request": request, "language": language}
    return [serializer(by_id[pk], context=context).data for pk in pks if pk in by_id]


def _json(content: Any) -> bytes:
    return JSONRenderer().render(content)
