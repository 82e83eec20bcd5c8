import logging
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser
from django.test import Client, override_settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from jobsite.commands import Command as BaseCommand
from jobsite.commands import UsageError
from vacancies.models import Audience, Filter, State, Vacancy, VacancyOption

# What each list promises, by the words of docs/decisions.md and not by the querysets it checks.
LISTS = {
    "/v1/vacancies": lambda v: v.audience != Audience.INTERNAL,
    "/v1/vacancies/hot": lambda v: v.is_hot and v.audience != Audience.INTERNAL,
    "/v1/vacancies/hot/internal": lambda v: v.is_hot and v.audience != Audience.PUBLIC,
    "/v0.1/vacancies": lambda v: v.audience != Audience.INTERNAL,
    "/v0.1/vacancies/internal": lambda v: v.audience != Audience.PUBLIC,
}
# What is asked about each vacancy: all of them show, or none.
SINGLES = ("/v1/vacancies/{id}", "/v1/vacancies/{id}/form", "/v1/vacancies/{id}/form/schema")


class Command(BaseCommand):
    help = (
        "Prove that lists, singles, forms and filters agree on every vacancy at a moment: each is asked for "
        "what it shows, as an outsider and as an insider, and compared with the rule applied by hand."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--at", help="ISO time in the site's time zone; now when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        self.at = self._moment(options["at"])
        vacancies = Vacancy.objects.only("audience", "is_hot", "status", "publish_from", "publish_until")
        self.vacancies = {vacancy.pk: vacancy for vacancy in vacancies.order_by("pk").iterator()}
        shown = [v for v in self.vacancies.values() if v.state_at(self.at) is State.PUBLISHED]
        self.bar = self.progress(total=len(self.vacancies), unit="vacancy")
        logging.getLogger("django.request").setLevel(logging.ERROR)  # a 404 is what most of these ask for
        with self.bar, override_settings(ALLOWED_HOSTS=["*"], RATE_LIMIT="off"):
            with override_settings(INTERNAL_ACCESS="public"):
                breaches = [f"insider: {breach}" for breach in self._audit(shown, insider=True)]
            with override_settings(INTERNAL_ACCESS="network", INTERNAL_NETWORKS=[]):
                breaches += [f"outsider: {breach}" for breach in self._audit(shown, insider=False)]
        summary = (
            f"{len(self.vacancies)} vacancies at {timezone.localtime(self.at):%Y-%m-%d %H:%M:%S}, "
            f"{len(shown)} of them published: {len(breaches) or 'no'} disagreements."
        )
        self.finish(summary, ok=not breaches, lines=breaches, breaches=breaches, published=len(shown))

    def _moment(self, text: str | None) -> datetime:
        if text is None:
            return timezone.now()
        try:
            moment = parse_datetime(text) or parse_datetime(f"{text}T00:00:00")
        except ValueError:
            moment = None
        if moment is None or not 1900 <= moment.year <= 2200:
            raise UsageError(f"--at must be a time such as 2026-12-24T18:00; received {text!r}.")
        return moment if timezone.is_aware(moment) else timezone.make_aware(moment)

    def _audit(self, shown: list[Vacancy], *, insider: bool) -> Iterator[str]:
        """Yield every disagreement between what the service shows and what it should."""
        self.client = Client(raise_request_exception=True)
        for path, belongs in LISTS.items():
            if path.endswith("internal") and not insider:
                if (status := self._get(path).status_code) != 403:
                    yield f"{path}: answered {status}, not 403"
                continue
            yield from self._compare(path, {v.pk for v in shown if belongs(v)}, set(self._walk(path)))
        external = [v for v in shown if v.audience != Audience.INTERNAL]
        # What is hidden from insiders is hidden from outsiders: only the rest can differ.
        asked = self.vacancies if insider else {v.pk for v in shown if v.audience == Audience.INTERNAL}
        seen: dict[str, set[Any]] = {path: set() for path in SINGLES}
        for pk in asked:
            self.bar.update()
            for path in SINGLES:
                if self._get(path.replace("{id}", str(pk))).status_code == 200:
                    seen[path].add(pk)
        for path in SINGLES:
            yield from self._compare(path, {v.pk for v in shown} if insider else set(), seen[path])
        yield from self._compare("/v1/filters", *self._filter_counts(external))

    def _compare(self, path: str, expected: set[Any], seen: set[Any]) -> Iterator[str]:
        if missing := sorted(expected - seen):
            yield f"{path}: does not show {missing[:20]}"
        if extra := sorted(seen - expected):
            yield f"{path}: shows {extra[:20]}"

    def _filter_counts(self, external: list[Vacancy]) -> tuple[set[Any], set[Any]]:
        """Return (keyword, value, count) of every option in use, counted by hand, and as served."""
        public = {v.pk for v in external}
        counts: Counter[tuple[str, str]] = Counter()
        for f in Filter.objects.filter(is_active=True):
            chosen = VacancyOption.objects.filter(option__filter=f)
            for pk, value in chosen.values_list("vacancy_id", "option__value"):
                counts[f.keyword, value] += pk in public
        served = {
            (f["keyword"], option["value"], option["count"])
            for f in self._get("/v1/filters").json()["data"]
            for option in f["options"]
        }
        return {(*key, count) for key, count in counts.items() if count}, served

    def _walk(self, path: str) -> Iterator[int]:
        page = last = 1
        while page <= last:
            content = self._get(path, {"page[size]": 100, "page[number]": page}).json()
            yield from (item["id"] for item in content["data"])
            page, last = page + 1, content["meta"]["last_page"]

    def _get(self, path: str, query: dict[str, Any] | None = None) -> Any:
        extra: dict[str, Any] = {"jobsite.at": self.at}
        return self.client.get(path, query, secure=True, **extra)
