"""Compares the career site with the visibility rule: pages, sitemaps, feeds, job alerts, JSON-LD.

For `audit_visibility`. The rules are from docs/decisions.md: independent of the querysets that are
checked.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from django.http.response import HttpResponseBase
from django.utils import timezone

from applications.alerts.queries import matching
from jobsite.languages import LANGUAGES, supported, text_languages
from jobsite.types import JsonObject
from vacancies.choices import Audience, State
from vacancies.fields import slug_of
from vacancies.models import Brand, Requisition, Vacancy

Get = Callable[[str, str], HttpResponseBase]  # the path and the host, "" for the main one
NEWEST = 50  # in Atom
LONG_AGO = datetime(1900, 1, 1, tzinfo=UTC)
BATCH = 500
_TEXTS = ("description", "profile", "offer", "company")
_PAGE = re.compile(r"<loc>[^<]*/jobs/([0-9]+)(?:-[^<]*)?</loc>")
_FILE = re.compile(r"<loc>https?://[^/<]+(/[^<]*)</loc>")
_ENTRY = re.compile(r"<id>[^<]*/jobs/([0-9]+)</id>")
_JOB = re.compile(r"<referencenumber><!\[CDATA\[([^\]]*)")
_POSTING = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.DOTALL)


def compare(path: str, expected: AbstractSet, seen: AbstractSet) -> Iterator[str]:
    """Yield the differences between what `path` has to show and what it shows."""
    if missing := sorted(expected - seen):
        yield f"{path}: does not show {missing[:20]}"
    if extra := sorted(seen - expected):
        yield f"{path}: shows {extra[:20]}"


class SiteAudit:
    """Compares what `get` returns with the rule at the time `at`: the pages of the vacancies `pks`,
    and lists of all. Calls `progress` for each of `pks`.
    """

    def __init__(
        self, get: Get, *, at: datetime, pks: set[int], progress: Callable[[], object]
    ) -> None:
        self.get, self.at, self.pks, self.progress = get, at, pks, progress
        self.faults: list[str] = []
        self.expected, self.seen = defaultdict[str, set](set), defaultdict[str, set](set)
        # By host: the start and the id of the public vacancies.
        self.listed: dict[str, list[tuple[datetime | None, int]]] = {}

    def differences(self) -> Iterator[str]:
        """Yield every difference between the career site, as visitors see it, and the visibility
        rule.
        """
        hosts = Brand.objects.exclude(host="").values_list("host", flat=True)
        self.listed = {host: [] for host in ("", *hosts)}
        for vacancy in self.vacancies():
            if vacancy.pk in self.pks:
                self.progress()
                yield from self.compare_page(vacancy)
            if self.status(vacancy) == 200:
                self.expect_in_lists(vacancy)
        self.read_lists()
        for name in sorted(self.expected.keys() | self.seen.keys()):
            yield from compare(name, self.expected[name], self.seen[name])
        yield from self.faults

    def compare_page(self, vacancy: Vacancy) -> Iterator[str]:
        """Read the page of `vacancy`. Yield the differences of its JSON-LD."""
        answer: Any = self.get(vacancy.site_path, host_of(vacancy))
        self.expected[f"pages with status {self.status(vacancy)}"].add(vacancy.pk)
        self.seen[f"pages with status {answer.status_code}"].add(vacancy.pk)
        for posting in _POSTING.findall(answer.content.decode()):
            self.seen["JSON-LD"].add(vacancy.pk)
            yield from self.compare_times(vacancy, json.loads(posting))
        if answer.status_code == 200 and text_languages():
            yield from self.compare_languages(vacancy)

    def compare_languages(self, vacancy: Vacancy) -> Iterator[str]:
        """Read the page of the public `vacancy` in each language. One that is not ready leads to
        that in its own language, without a word of it.
        """
        for text in vacancy.translations.all():
            if text.language in LANGUAGES and text.language != supported(vacancy.shown_language):
                is_shown = text.is_ready and text.language in text_languages()
                named = "-".join(filter(None, (str(vacancy.pk), slug_of(str(text)))))
                answer: Any = self.get(f"/{text.language}/jobs/{named}", host_of(vacancy))
                name = f"{text.language} pages with status"
                self.expected[f"{name} {200 if is_shown else 301}"].add(vacancy.pk)
                self.seen[f"{name} {answer.status_code}"].add(vacancy.pk)
                if not is_shown and not answer.get("Location", "").endswith(vacancy.site_path):
                    yield f"{answer['Location']}: shows a translation of {vacancy.pk}"

    def expect_in_lists(self, vacancy: Vacancy) -> None:
        """Note what has to contain the public `vacancy`."""
        pk = vacancy.pk
        if not Requisition.of(vacancy).is_for_open_applications:
            self.expected["job alerts"].add(pk)
        sites, countries = self.count_places(vacancy)
        remote = countries if vacancy.work_place == "remote" else 0
        is_described = any(getattr(vacancy, name) for name in _TEXTS)
        if (
            pk in self.pks
            and is_described
            and (remote if vacancy.work_place == "remote" else sites)
        ):
            self.expected["JSON-LD"].add(pk)
        jobs = sites or remote
        self.expected["/feeds/indeed.xml"] |= {f"{pk}-{number}" for number in range(1, jobs + 1)}
        if not (vacancy.brand and vacancy.brand.vacancy_url):
            self.listed[host_of(vacancy)].append((vacancy.publish_from, pk))

    def read_lists(self) -> None:
        everything = "", None
        news, _starts = matching({everything}, since=LONG_AGO, at=self.at)
        self.seen["job alerts"] = set(news[everything])
        self.seen["/feeds/indeed.xml"] = set(_JOB.findall(self.xml("/feeds/indeed.xml", "")))
        for host, rows in self.listed.items():
            newest = sorted(rows, reverse=True)[:NEWEST]
            self.expected[f"{host}/sitemap.xml"] = {pk for _, pk in rows}
            self.expected[f"{host}/jobs.atom"] = {pk for _, pk in newest}
            files = _FILE.findall(self.xml("/sitemap.xml", host))
            self.seen[f"{host}/sitemap.xml"] = {
                int(pk) for path in files for pk in _PAGE.findall(self.xml(path, host))
            }
            self.seen[f"{host}/jobs.atom"] = set(
                map(int, _ENTRY.findall(self.xml("/jobs.atom", host)))
            )

    def vacancies(self) -> Iterator[Vacancy]:
        rows = (
            Vacancy.objects.select_related("brand", "requisition")
            .prefetch_related("places", *(["translations"] if text_languages() else []))
            .order_by("pk")
        )
        last = 0
        while batch := list(rows.filter(pk__gt=last)[:BATCH]):
            yield from batch
            last = batch[-1].pk

    def status(self, vacancy: Vacancy) -> int:
        """Return the status of the page of `vacancy`."""
        state = vacancy.state_at(self.at)
        if vacancy.audience == Audience.INTERNAL or state in (State.DRAFT, State.SCHEDULED):
            return 404
        if state is State.PUBLISHED:
            return 200
        return 410 if vacancy.publish_from and vacancy.publish_from <= self.at else 404

    def count_places(self, vacancy: Vacancy) -> tuple[int, int]:
        """Return the number of places of work and of countries for remote work. A vacancy for open
        applications is no job, and has none."""
        if Requisition.of(vacancy).is_for_open_applications:
            return 0, 0
        kinds = [place.kind for place in vacancy.places.all()]
        return kinds.count("site"), kinds.count("applicant")

    def compare_times(self, vacancy: Vacancy, posting: JsonObject) -> Iterator[str]:
        times = {"datePosted": vacancy.publish_from, "validThrough": vacancy.publish_until}
        for name, at in times.items():
            expected = timezone.localtime(at).isoformat(timespec="seconds") if at else None
            if posting.get(name) != expected:
                yield f"JSON-LD of {vacancy.pk}: {name} is {posting.get(name)}, not {expected}"

    def xml(self, path: str, host: str) -> str:
        """Return the document at `path`, or "" if there is none."""
        answer: Any = self.get(path, host)
        if answer.status_code != 200:
            self.faults.append(f"{host}{path}: answered {answer.status_code}")
            return ""
        content: bytes = answer.getvalue()
        try:
            ElementTree.fromstring(content)
        except ElementTree.ParseError as error:
            self.faults.append(f"{host}{path}: {error}")
        return content.decode()


def host_of(vacancy: Vacancy) -> str:
    """Return the host whose career site has `vacancy`, "" for the main one."""
    return vacancy.brand.host if vacancy.brand else ""
