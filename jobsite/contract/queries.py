"""Checks of the parameters `sort`, `fields`, `filter[search]` and `filter[near]`, and of list
parameters.
"""

import math
import re
from itertools import islice
from typing import Any

from jobsite.contract.lists import SIZE, PagedList, expect_problem
from jobsite.contract.service import CheckedService

SAMPLE = 3  # vacancies that are searched for
KM = 25  # radius of the circles in which vacancies are looked for
_WORD = re.compile(r"[^\W_]+")


def sorting(service: CheckedService, public: PagedList) -> None:
    """Check that each sort order contains the same vacancies, in that order."""
    report, path = service.report, public.path
    orders: dict[str, list[Any]] = {}
    for key in ("published_at", "-published_at", "title", "-title", "closes_at", "-closes_at"):
        if public.page({"sort": key}, size=1) is None:
            return
        if public.is_whole and len(public.ids) <= 2000:
            walked = PagedList(service, path, public.schema, max_pages=20)
            walked.walk(query={"sort": key, "fields": "id,title"}, is_sparse=True)
            orders[key] = list(walked.titles.items())
    if not orders:
        report.skip(f"{path}: sort orders of a list that was not read to its end.")
        return
    ids = {key: [id_ for id_, _ in order] for key, order in orders.items()}
    for key in ids:
        report.expect(
            sorted(ids[key]) == sorted(public.ids),
            path,
            f"sort={key} to hold the same vacancies",
            ids[key][:10],
        )
    report.expect(
        ids["-published_at"] == public.ids,
        path,
        "sort=-published_at to be the usual order",
        ids["-published_at"][:10],
    )
    report.expect(
        ids["published_at"] == public.ids[::-1],
        path,
        "sort=published_at to turn it round",
        ids["published_at"][:10],
    )
    for key in ("title", "-title"):
        # The order of letters outside ASCII is not specified; the others are compared without case.
        titles = [" ".join(title.casefold().split()) for _, title in orders[key] if title.isascii()]
        report.expect(
            titles == sorted(titles, reverse=key == "-title"),
            path,
            f"sort={key} to be that order",
            titles,
        )
    for key in ("closes_at", "-closes_at"):
        ends = [public.items[id_].get("closes_at") for id_ in ids[key] if id_ in public.items]
        dated = sorted(filter(None, ends), reverse=key == "-closes_at")
        wanted = [*dated, *[None] * (len(ends) - len(dated))]
        report.expect(
            ends == wanted, path, f"sort={key} to be that order, without an end last", ends
        )


def fields(service: CheckedService, public: PagedList) -> None:
    """Check that `fields` limits the keys of items and does not change their values."""
    for requested, keys in (
        ("id,title,slug", ["id", "title", "slug"]),
        ("slug,id", ["id", "slug"]),
    ):
        body = public.page({"fields": requested}, size=SAMPLE)
        for item in (body or {}).get("data", []):
            service.report.expect(
                list(item) == keys,
                public.path,
                f"fields={requested} to leave {', '.join(keys)}",
                list(item),
            )
            whole = public.items.get(item.get("id"), item)
            same = all(item.get(key) == whole.get(key) for key in keys)
            service.report.expect(same, public.path, f"fields={requested} to change no value", item)


def list_parameters(service: CheckedService, public: PagedList) -> None:
    """Check that repeated parameters, and names that end with [], equal a comma-separated list."""
    for name, values in (
        ("fields", ("id", "title")),
        ("filter[regions]", ("antwerp", "ghent")),
        ("filter[country]", ("BE", "NL")),
    ):
        comma = public.request([(name, ",".join(values)), (SIZE, "1")]).json()
        for sent in (name, f"{name}[]"):
            repeated = public.request([*((sent, value) for value in values), (SIZE, "1")]).json()
            service.report.expect(
                comma is not None and repeated == comma,
                public.path,
                f"{sent} given twice to be the comma list of {name}",
                repeated,
            )


def near(service: CheckedService, public: PagedList) -> None:
    """Check that `filter[near]` finds vacancies at their places, and no vacancy that is farther
    away.
    """
    located = [(id_, points) for id_, item in public.items.items() if (points := _points(item))]
    if not located:
        service.report.skip(f"{public.path}: no place has coordinates.")
    for id_, points in located[:SAMPLE]:
        centre = points[0]
        value = f"{centre[0]:.6f},{centre[1]:.6f},{KM}"
        body = public.page({"filter[near]": value}, size=100)
        if body is None:
            continue
        found = [hit.get("id") for hit in body["data"]]
        is_found = id_ in found or body["meta"]["total"] > 100
        service.report.expect(
            is_found, public.path, "filter[near] to find a vacancy at its place", found
        )
        for hit in body["data"]:
            distances = [_distance(centre, point) for point in _points(hit)]
            service.report.expect(
                distances and min(distances) < KM + 0.01,
                public.path,
                "filter[near] to list vacancies with a place in the circle",
                {"id": hit.get("id"), "km": distances},
            )
    for text in ("", "51,4", "NaN,4,25", "91,4,25", "51,4,501", "51,4,25,1"):
        response = service.request(public.path, {"filter[near]": text})
        expect_problem(
            service.report,
            public.path,
            response,
            400,
            f"filter[near]={text}",
            parameter="filter[near]",
        )


def _points(item: Any) -> list[tuple[float, float]]:
    """Return latitude and longitude of the places of a vacancy that have both."""
    places: Any = item.get("places")
    pairs: list[Any] = [
        (place.get("latitude"), place.get("longitude"))
        for place in (places if isinstance(places, list) else ())
        if isinstance(place, dict)
    ]
    return [pair for pair in pairs if all(isinstance(each, int | float) for each in pair)]


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the kilometres of the great circle between two points."""
    (north, east), (other_north, other_east) = (map(math.radians, point) for point in (a, b))
    half = math.sin((other_north - north) / 2) ** 2
    half += math.cos(north) * math.cos(other_north) * math.sin((other_east - east) / 2) ** 2
    return 2 * 6371.0088 * math.asin(min(1, math.sqrt(half)))


def search(service: CheckedService, public: PagedList) -> None:
    """Check that search finds vacancies by the words of their title."""
    for id_, item in islice(public.items.items(), SAMPLE):
        title = item.get("title")
        if (
            not isinstance(title, str)
            or len(title) > 200
            or not 1 <= len(_WORD.findall(title)) <= 20
        ):
            continue
        body = public.page({"filter[search]": title}, size=100)
        if body and body["meta"]["total"] <= 100:
            found = [hit.get("id") for hit in body["data"]]
            service.report.expect(
                id_ in found, public.path, f"filter[search] to find a title ({title!r})", found
            )
    for text in ("", " ", "x" * 201):
        response = service.request(public.path, {"filter[search]": text})
        expect_problem(
            service.report,
            public.path,
            response,
            400,
            f"a search for {text[:5]!r} of {len(text)} characters",
            parameter="filter[search]",
        )
