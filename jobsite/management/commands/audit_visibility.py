import logging
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from django.conf import settings
from django.core.management.base import CommandParser
from django.http.response import HttpResponseBase
from django.test import Client, override_settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from jobsite.api.caching import REQUEST_TIME
from jobsite.languages import site_language
from jobsite.ops.commands import Command as BaseCommand
from jobsite.ops.commands import UsageError
from jobsite.site.audit import SiteAudit, compare
from jobsite.types import JsonObject
from vacancies.choices import Audience, State
from vacancies.models import Brand, Filter, Place, Vacancy, VacancyOption

# The rule of each list, from docs/decisions.md: independent of the querysets that are checked.
LISTS = {
    "/v1/vacancies": lambda v: v.audience != Audience.INTERNAL,
    "/v1/vacancies/hot": lambda v: v.is_hot and v.audience != Audience.INTERNAL,
    "/v1/vacancies/internal": lambda v: v.audience != Audience.PUBLIC,
    "/v1/vacancies/hot/internal": lambda v: v.is_hot and v.audience != Audience.PUBLIC,
    "/v1/vacancies/changes": lambda v: v.audience != Audience.INTERNAL,
    "/v1/vacancies/internal/changes": lambda v: v.audience != Audience.PUBLIC,
    "/v0.1/vacancies": lambda v: v.audience != Audience.INTERNAL,
    "/v0.1/vacancies/internal": lambda v: v.audience != Audience.PUBLIC,
}
OptionCount = tuple[str, str, int]  # keyword of the filter, value, number of vacancies
# Paths of one vacancy: all are visible, or none.
SINGLES = ("/v1/vacancies/{id}", "/v1/vacancies/{id}/form", "/v1/vacancies/{id}/form/schema")


class Command(BaseCommand):
    help = (
        "Prove that lists, single vacancies, forms, filters and the career site agree on every "
        "vacancy at a given time. Compares the responses for an outsider and an insider with the "
        "visibility rule."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--at", help="ISO 8601 time in the site's time zone (now)")
        parser.add_argument(
            "--sample", type=int, help="all lists, but the pages of so many vacancies"
        )

    def handle(self, *, at: str | None, sample: int | None, **options: object) -> None:
        self.at = self._parse_at(at)
        fields = ("audience", "is_hot", "status", "publish_from", "publish_until", "updated_at")
        vacancies = Vacancy.objects.only(*fields).order_by("pk")
        self.vacancies = {vacancy.pk: vacancy for vacancy in vacancies.iterator()}
        sampled = self._sample(sample)
        shown = [v for v in self.vacancies.values() if v.state_at(self.at) is State.PUBLISHED]
        hidden_from_outsiders = sum(
            v.audience == Audience.INTERNAL for v in shown if v.pk in self.pks
        )
        self.client = Client(raise_request_exception=True)
        rounds = 2 if settings.CAREER_SITE else 1
        total = rounds * len(self.pks) + hidden_from_outsiders
        self.bar = self.progress(total=total, unit="vacancy")
        breaches = self._breaches(shown)
        summary = (
            f"{sampled}{len(self.vacancies)} vacancies at "
            f"{timezone.localtime(self.at):%Y-%m-%d %H:%M:%S}, {len(shown)} of them published: "
            f"{len(breaches) or 'no'} disagreements."
        )
        self.finish(
            summary, ok=not breaches, lines=breaches, breaches=breaches, published=len(shown)
        )

    def _breaches(self, shown: list[Vacancy]) -> list[str]:
        # Most of these requests are a 404.
        logging.getLogger("django.request").setLevel(logging.ERROR)
        # By whole names: without PUBLIC_BASE_URL, other spellings of a host get no sitemap and no
        # feed.
        hosts = ["*", "testserver", *Brand.objects.exclude(host="").values_list("host", flat=True)]
        with self.bar, override_settings(ALLOWED_HOSTS=hosts, RATE_LIMIT="off"):
            with override_settings(INTERNAL_ACCESS="public"):
                breaches = [f"insider: {breach}" for breach in self._audit(shown, insider=True)]
            with override_settings(INTERNAL_ACCESS="network", INTERNAL_NETWORKS=[]):
                breaches += [f"outsider: {breach}" for breach in self._audit(shown, insider=False)]
            if settings.CAREER_SITE:
                self.bar.set_description("career site")
                site = SiteAudit(self._page, at=self.at, pks=self.pks, progress=self.bar.update)
                breaches += [f"career site: {breach}" for breach in site.differences()]
        return breaches

    def _sample(self, count: int | None) -> str:
        """Choose the vacancies whose pages are requested: all, or `count`: half of them those that
        changed last, the others at random. Return the begin of the summary.
        """
        self.pks = set(self.vacancies)
        if count is None or count >= len(self.pks):
            return ""
        if count < 1:
            raise UsageError(f"--sample must be 1 or more; received {count}.")
        newest = sorted(self.pks, key=lambda pk: self.vacancies[pk].updated_at, reverse=True)
        part = -(-count // 2)
        self.pks = {*newest[:part], *random.sample(newest[part:], count - part)}
        return f"A sample of {count} of "

    def _parse_at(self, text: str | None) -> datetime:
        if text is None:
            return timezone.now()
        try:
            at = parse_datetime(text) or parse_datetime(f"{text}T00:00:00")
        except ValueError:
            at = None
        if at is None or not 1900 <= at.year <= 2200:
            raise UsageError(f"--at must be a time such as 2026-12-24T18:00; received {text!r}.")
        return at if timezone.is_aware(at) else timezone.make_aware(at)

    def _audit(self, shown: list[Vacancy], *, insider: bool) -> Iterator[str]:
        """Yield every difference between the responses and the visibility rule."""
        self.who = "insider" if insider else "outsider"
        yield from self._audit_lists(shown, insider=insider)
        if insider:
            pks, expected = self.pks, {v.pk for v in shown} & self.pks
        else:  # they see a subset of what insiders see: check only the internal vacancies
            pks, expected = (
                {v.pk for v in shown if v.audience == Audience.INTERNAL} & self.pks,
                set(),
            )
        yield from self._audit_singles(pks, expected)
        self.bar.set_description(f"{self.who}: filters")
        public = {v.pk for v in shown if v.audience != Audience.INTERNAL}
        yield from compare("/v1/filters", self._filter_counts(public), self._served_counts())

    def _audit_lists(self, shown: list[Vacancy], *, insider: bool) -> Iterator[str]:
        for path, belongs in LISTS.items():
            self.bar.set_description(f"{self.who}: {path}")
            if "internal" in path and not insider:
                if (status := self._get(path)[0]) != 403:
                    yield f"{path}: answered {status}, not 403"
                continue
            yield from compare(path, {v.pk for v in shown if belongs(v)}, set(self._walk(path)))

    def _audit_singles(self, pks: set[int], expected: set[int]) -> Iterator[str]:
        """Request the vacancies `pks`, of which those `expected` have a page."""
        self.bar.set_description(f"{self.who}: each vacancy")
        seen: dict[str, set[int]] = {path: set() for path in SINGLES}
        for pk in sorted(pks):
            self.bar.update()
            for path in SINGLES:
                if self._get(path.replace("{id}", str(pk)))[0] == 200:
                    seen[path].add(pk)
        for path, ids in seen.items():
            yield from compare(path, expected, ids)

    def _filter_counts(self, public: set[int]) -> set[OptionCount]:
        """Return the counts of the options that the vacancies `public` have."""
        counts: Counter[tuple[str, str]] = Counter()
        for f in Filter.objects.filter(is_active=True):
            chosen = VacancyOption.objects.filter(option__filter=f)
            for pk, value in chosen.values_list("vacancy_id", "option__value"):
                counts[f.keyword, value] += pk in public
        for keyword, pairs in self._facts():
            counts += Counter((keyword, value) for pk, value in {*pairs} if value and pk in public)
        return {(*key, count) for key, count in counts.items() if count}

    def _served_counts(self) -> set[OptionCount]:
        return {
            (f["keyword"], option["value"], option["count"])
            for f in self._get("/v1/filters")[1]["data"]
            for option in f["options"]
        }

    def _facts(self) -> Iterator[tuple[str, Iterable[tuple[int, str]]]]:
        """Yield the keyword of each filter by a fact, with pairs of a vacancy and a value."""
        yield "brand", Vacancy.objects.values_list("pk", "brand__slug")
        yield "country", Place.objects.values_list("vacancy_id", "country")
        yield "work_place", Vacancy.objects.values_list("pk", "work_place")
        types = VacancyOption.objects.values_list("vacancy_id", "option__employment_type")
        yield "employment_types", types
        languages = Vacancy.objects.values_list("pk", "language")
        yield "language", ((pk, language or site_language()) for pk, language in languages)

    def _walk(self, path: str) -> Iterator[int]:
        if path.endswith("/changes"):
            yield from self._follow(path)
            return
        page = last = 1
        while page <= last:
            query: dict[str, str | int] = {"page[size]": 100, "page[number]": page}
            if path.startswith("/v1/"):
                query["fields"] = "id"
            _, content = self._get(path, query)
            yield from (item["id"] for item in content["data"])
            page, last = page + 1, content["meta"]["last_page"]

    def _follow(self, path: str) -> Iterator[int]:
        """Yield the ids of a client that follows the feed at `path` from its beginning."""
        found: set[int] = set()
        query: dict[str, str | int] = {"page[size]": 1000, "fields": "id"}
        more = True
        while more:
            _, content = self._get(path, query)
            for change in content["data"]:
                act = found.add if change["change"] == "upsert" else found.discard
                act(change["id"])
            more, query["since"] = content["meta"]["more"], content["meta"]["cursor"]
        yield from found

    def _get(
        self, path: str, query: Mapping[str, str | int] | None = None
    ) -> tuple[int, JsonObject]:
        """Return the status of the response at the time of the audit, and its content if it is
        200.
        """
        at: JsonObject = {REQUEST_TIME: self.at}
        answer = self.client.get(path, query, secure=True, **at)
        return answer.status_code, answer.json() if answer.status_code == 200 else {}

    def _page(self, path: str, host: str) -> HttpResponseBase:
        at: JsonObject = {REQUEST_TIME: self.at}
        headers = {"host": host} if host else None
        return self.client.get(path, secure=True, headers=headers, **at)
