"""The versions of the public content while it is being written to, and the check of a response
against them.

A response is right if it is, to the last id, link and number, that of one version that was not
replaced too long ago. tests/chaos/oracle.py says what the lists hold.
"""

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from tests.chaos import oracle
from tests.chaos.config import APPLICANT, BASE, MAX_STALENESS

max_staleness = MAX_STALENESS
RENAMED = 40  # vacancies that the writer renames
# What an application adds to its vacancy.
APPLICATION_KEYS = ("status", "is_spontaneous", "history")
# The lists that are read: path, query.
LISTS: tuple[tuple[str, dict[str, str]], ...] = (
    *((path, {}) for path in oracle.LISTS),
    ("/v1/vacancies", {"filter[regions]": "antwerp,liege"}),
    ("/v1/vacancies/hot", {"filter[search]": "ghent", "sort": "-published_at"}),
    ("/v1/vacancies", {"sort": "published_at", "fields": "id,title,slug"}),
)
SEARCHED = (
    "title",
    "title_internal",
    "location",
    "description",
    "short_description",
    "profile",
    "offer",
    "contact",
    "company",
    "postcustom1",
)


@dataclass
class Version:
    """What the public sees from a time between `began` and `committed` on, in monotonic seconds."""

    published: tuple[int, ...]  # those of the pool, newest first
    titles: dict[int, str]  # of all vacancies that the writer changes
    began: float = 0.0
    committed: float | None = 0.0  # None until it is known


@dataclass
class ExpectedList:
    """A list of the interface. `query` precedes the page in its links."""

    path: str
    query: dict[str, str]
    base: "array[int]" = field(default_factory=lambda: array("q"))  # ids that stay, newest first
    # Ids that the list holds, before `base`, while published.
    pool: set[int] = field(default_factory=set)

    def total(self, version: Version) -> int:
        return len(self.base) + sum(pk in self.pool for pk in version.published)

    def address(self, size: int, number: int) -> str:
        return oracle.address(self.path, self.query, size, number)

    def page(self, version: Version, size: int, number: int) -> tuple[list[int], dict, dict]:
        """Return the ids, links and meta of a page."""
        first = [pk for pk in version.published if pk in self.pool]
        total = len(self.base) + len(first)
        places = oracle.places(size, number, total)
        is_ascending = self.query.get("sort") == "published_at"
        order = [total - 1 - place if is_ascending else place for place in places]
        ids = [
            first[place] if place < len(first) else self.base[place - len(first)] for place in order
        ]
        return ids, *oracle.links_and_meta(BASE, self.path, self.query, size, number, total)


class VersionedOracle:
    """All versions, and each item as it was first seen: an item is the same wherever it is shown.

    `pool` are ids of vacancies that the writer publishes and unpublishes.
    """

    def __init__(self, pool: list[int]) -> None:
        from applications.models import Application
        from vacancies.models import Vacancy

        self.pool = pool
        self.lists = [ExpectedList(path, query) for path, query in LISTS]
        self._fill_lists()
        self.singles = ids = self.lists[0].base
        half = RENAMED // 2
        own = Application.objects.filter(user__username=APPLICANT).newest_first()
        self.applied = list(own.values_list("vacancy", flat=True))
        applied = set(self.applied).intersection(ids)
        self.renamed = list(
            dict.fromkeys([*applied, *ids[:half], *ids[:: max(1, len(ids) // half)]])
        )
        # By a recruiter.
        self.saved = [pk for pk in ids[half : 4 * half] if pk not in self.renamed][:5]
        written = Vacancy.objects.filter(pk__in=[*self.pool, *self.renamed])
        self.versions = [Version((), dict(written.values_list("pk", "title")))]
        self._count_options()
        self.items: dict[tuple, int] = {}
        self.forms: dict[str, bytes] = {}
        # What the applicant's list adds to its vacancies.
        self.applications: list[tuple[Any, ...]] = []

    def _fill_lists(self) -> None:
        from django.db.models import Q
        from django.utils import timezone

        from vacancies.models import Place, Vacancy, VacancyOption

        now, pool = timezone.now(), set(self.pool)
        chosen = VacancyOption.objects.filter(option__filter__keyword="regions")
        chosen = chosen.filter(option__value__in=["antwerp", "liege"])
        in_region = set(chosen.values_list("vacancy", flat=True).iterator())
        # Only one list is searched, of hot vacancies. The texts of a large database are long.
        texts = Vacancy.objects.filter(is_hot=True).values_list("pk", *SEARCHED).iterator()
        found = {pk for pk, *own in texts if oracle.matches(own, "ghent")}
        named = VacancyOption.objects.filter(option__label__icontains="ghent")
        found.update(named.values_list("vacancy", flat=True))
        sites = Place.objects.filter(Q(locality__icontains="ghent") | Q(region__icontains="ghent"))
        found.update(sites.values_list("vacancy", flat=True))
        rows = Vacancy.objects.order_by("-publish_from", "-pk").values_list(
            "pk", *oracle.FIELDS, named=True
        )
        for row in rows.iterator():
            is_published = oracle.is_published(row, now)
            if not is_published and row.pk not in pool:
                continue
            for each in self.lists:
                if not oracle.LISTS[each.path].admits(row):
                    continue
                if "filter[regions]" in each.query and row.pk not in in_region:
                    continue
                if "filter[search]" in each.query and row.pk not in found:
                    continue
                if row.pk in pool:
                    each.pool.add(row.pk)
                else:
                    each.base.append(row.pk)

    def _count_options(self) -> None:
        """Count the options of the active filters, and the facts, in the public list: what
        /v1/filters shows. The site is in English.
        """
        from vacancies.models import Place, Vacancy, VacancyOption

        public, pool = set(self.singles), set(self.pool)
        offered = VacancyOption.objects.filter(option__filter__is_active=True)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.options: list[tuple[int, tuple[str, str]]] = []  # those of the pool
        chosen = offered.values_list(
            "vacancy", "option__filter__keyword", "option__value"
        ).iterator()
        types = VacancyOption.objects.values_list("vacancy", "option__employment_type").iterator()
        facts = Vacancy.objects.values_list(
            "pk", "brand__slug", "work_place", "language"
        ).iterator()
        names = ("brand", "work_place", "language")
        countries = Place.objects.values_list("vacancy", "country").iterator()
        found = chain(
            chosen,
            {(pk, "employment_types", value) for pk, value in types if value},
            {(pk, "country", code) for pk, code in countries},
            (
                (pk, name, value)
                for pk, *own in facts
                for name, value in zip(names, own, strict=True)
            ),
        )
        for pk, keyword, value in found:
            option = keyword, value or ("en" if keyword == "language" else "")
            if pk in public and option[1]:
                self.counts[option] += 1
            elif pk in pool and option[1]:
                self.options.append((pk, option))

    def staleness(self, fits: Callable[[Version], bool], start: float, end: float) -> float | None:
        """Return how many seconds before `start` the newest version that `fits` had been replaced;
        None if no version fits.
        """
        replaced = None
        for version in reversed(list(self.versions)):
            if version.began <= end and fits(version):
                return max(0.0, start - replaced) if replaced else 0.0
            replaced = replaced if version.committed is None else version.committed
        return None

    def check(self, target: tuple, body: bytes, start: float, end: float) -> float:
        """Return how stale the response is, in seconds. `target` is what was requested from `start`
        to `end`. Raises AssertionError for a wrong one.
        """
        kind, *about = target
        if kind == "form":  # constant, except for the title of its vacancy
            body = re.sub(rb" [#*][0-9]+", b"", body)
            assert self.forms.setdefault(about[0], body) == body, "the form changed"
            return 0.0
        found = json.loads(body)
        items: list[dict[str, Any]] = [found["data"]] if kind == "single" else found["data"]
        items = [] if kind == "filters" else items
        api = "/v1/"
        if kind == "applications":
            # Each application shows its vacancy as it is now, in the shape of the lists.
            assert [item["id"] for item in items] == self.applied, "other applications"
            own = [tuple(item.pop(key, None) for key in APPLICATION_KEYS) for item in items]
            self.applications = self.applications or own
            assert self.applications == own, f"the applications changed: {own}"
        elif kind == "page":
            each, size, number = about
            api = "" if "fields" in each.query else each.path[:4]
            meta = {name: value for name, value in found["meta"].items() if name != "suggestions"}
            shown = [item["id"] for item in items], found["links"], meta
        elif kind == "filters":
            counted = {
                (f["keyword"], o["value"]): o["count"] for f in found["data"] for o in f["options"]
            }
        elif kind == "single":
            assert items[0]["id"] == about[0], f"another id: {items[0]['id']}"

        def fits(version: Version) -> bool:
            if kind == "filters":
                published = Counter(
                    option for pk, option in self.options if pk in version.published
                )
                return self.counts + published == counted
            if kind == "page" and each.page(version, size, number) != shown:
                return False
            return all(
                version.titles.get(item["id"], item["title"]) == item["title"] for item in items
            )

        for item in items:
            assert item["slug"].endswith(f"({item['id']})"), f"slug {item['slug']} of {item['id']}"
            if api:
                key, seen = (api, item["id"], item["title"], item["updated_at"]), hash(repr(item))
                assert self.items.setdefault(key, seen) == seen, (
                    f"{key} differs from its first response"
                )
        staleness = self.staleness(fits, start, end)
        detail = f"{found.get('meta')} {[(item['id'], item['title']) for item in items[:6]]}"
        assert staleness is not None, f"matches no version: {detail}"
        assert staleness < max_staleness, f"{staleness:.1f} s stale: {detail}"
        return staleness
