"""Bringing vacancies in from another service: items of v1 become rows, and the same again changes nothing.

What the source says about content wins. What a recruiter decided here about publication stays.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice, pairwise
from typing import Any

from django.conf import settings
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from jobsite.html_conversion import convert, is_escaped, unescaped
from vacancies.choices import Keyword
from vacancies.exchange.fields import Remark, faults
from vacancies.exchange.reports import Report as BaseReport
from vacancies.exchange.serializers import SINGULAR, TEXTS, ItemSerializer
from vacancies.exchange.sources import InvalidLine, Row, repeated_key
from vacancies.models import (
    Attachment,
    Audience,
    Brand,
    Change,
    Filter,
    FilterOption,
    Recruiter,
    Status,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
    Version,
)

BATCH = 100
MOVE = timedelta(microseconds=1)
CLOCK_SKEW = timedelta(minutes=5)
FINAL = ("publish_until", "audience")  # decisions of recruiters that an import leaves alone


@dataclass
class Report(BaseReport):
    """What an import did, by count and in words."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    expired: int = 0  # created, but over by their publish_until
    moved: int = 0  # to another place in the lists, to keep the order of the source
    related: int = 0  # brands and recruiters that were created or updated

    @property
    def drafts(self) -> list[str]:
        return self._lines("draft")

    @property
    def total(self) -> int:
        return self.created + self.updated + self.unchanged + self.refused

    @property
    def has_changed(self) -> bool:
        return bool(self.created or self.updated or self.moved or self.related)

    def data(self) -> dict[str, Any]:
        return super().data() | {"drafts": self.drafts}


class _RowRefusedError(Exception):
    """A row that cannot be imported as it is; nothing of it is kept."""

    def __init__(self, remark: Remark) -> None:
        super().__init__(str(remark))
        self.remark = remark


class _ChangedError(Exception):
    """Somebody saved the vacancy since it was read: a save would undo that, since it writes every column."""


class Importer:
    """Lands rows in batches, one transaction each; a bad row is reported and loses no good one.

    `recruiter` heads the vacancies that come without a head. `unescape` reads HTML that was escaped once too
    often; without it, such rows are refused.
    """

    def __init__(self, *, recruiter: Recruiter | None = None, unescape: bool = False) -> None:
        self.recruiter = recruiter
        self.unescape = unescape
        self.report = Report()
        self.now = timezone.now()
        self._filters = {f.keyword: f for f in Filter.objects.all()}
        self._unknown_keys: set[str] = set()
        self._forget()

    def import_rows(self, rows: Iterable[Row]) -> None:
        """Create or update the vacancies of `rows`, which are one source; `report` says what came of them.

        Each batch is whole or not there, whatever interrupts it.
        """
        rows = iter(rows)
        seen: dict[int, str] = {}
        while batch := list(islice(rows, BATCH)):
            with self.report.batch(), transaction.atomic():
                Filter.objects.switch_on_unused()
                self._land_batch(batch, seen)
                with connection.cursor() as cursor:  # ids came along: the next new row must get a free one
                    for statement in connection.ops.sequence_reset_sql(no_style(), [Vacancy, Recruiter]):
                        cursor.execute(statement)

    def keep_order(self, orders: Iterable[list[int]]) -> None:
        """Move publish_from of vacancies up by the least that gives our lists the order of `orders`, lists
        of ids, newest first.

        A moment that a recruiter chose here is whole seconds and not that of creation: it stays, and
        bounds nothing. Ours have a fraction of a second once they were moved.
        """
        listed = set(chain(*orders))
        rows = Vacancy.objects.values_list("pk", "publish_from", "created_at")
        known = {
            pk: moment
            for pk, moment, created_at in rows.iterator()
            if pk in listed and moment and (moment.microsecond or moment == created_at)
        }
        moments = dict(known)
        lists = [[pk for pk in reversed(ids) if pk in known] for ids in orders]
        for _ in range(len(known) + 1):  # a vacancy may be in both lists; each round only ever moves up
            settled = True
            for older, newer in chain(*map(pairwise, lists)):
                if (moments[newer], newer) < (moments[older], older):
                    moments[newer] = moments[older] + MOVE
                    settled = False
            if settled:
                break
        else:
            text = "the lists of the source contradict each other: their order was not kept"
            self.report.add("note", "", Remark("", "order", text))
            return
        moved = [pk for pk in known if moments[pk] != known[pk]]
        with transaction.atomic():
            for pk in moved:
                # Not where a recruiter chose another moment since it was read.
                unchanged = Vacancy.objects.filter(pk=pk, publish_from=known[pk])
                self.report.moved += unchanged.update(publish_from=moments[pk])

    def _land_batch(self, batch: list[Row], seen: dict[int, str]) -> None:
        self._options.clear()  # somebody may have merged or deleted some since the last batch
        checked = [(row, item) for row in batch if (item := self._checked(row)) is not None]
        vacancies = Vacancy.objects.with_related().defer(None)  # a save writes the folded columns too
        existing = vacancies.in_bulk([item["id"] for _, item in checked])
        self._decided = _decided_here(existing)
        for row, item in checked:
            digest = _digest(row.item)
            if item["id"] in seen:
                if seen[item["id"]] == digest:
                    self._note(row, item, "", "duplicate", "the same item came before in the same source")
                    self.report.unchanged += 1
                else:
                    text = "this id came before in the same source, with other content."
                    self._refuse(row, item["id"], Remark("", "duplicate", text))
                continue
            seen[item["id"]] = digest
            try:
                try:
                    with transaction.atomic():
                        self._land_item(row, item, existing.get(item["id"]))
                except _ChangedError:
                    self._forget()
                    with transaction.atomic():
                        locked = vacancies.select_for_update(of=("self",)).filter(pk=item["id"])
                        self._land_item(row, item, locked.first())
            except _RowRefusedError as refusal:
                self._forget()
                self._refuse(row, item["id"], refusal.remark)
            except DatabaseError as error:
                self._forget()
                self._refuse(row, item["id"], Remark("", "database", str(error)))

    def _refuse(self, row: Row, pk: Any, *remarks: Remark) -> None:
        self.report.refuse(row.name, *remarks, id=pk, is_id_shown=True)

    def _checked(self, row: Row) -> dict[str, Any] | None:
        """Return the item of `row` in our terms, or None when it is refused and reported."""
        if isinstance(row.item, InvalidLine):
            self._refuse(row, None, Remark("", "json", row.item.reason))
            return None
        changes: list[Remark] = []
        shape = ItemSerializer(data=row.item, context={"zone": row.zone, "changes": changes})
        pk = row.item.get("id") if isinstance(row.item, dict) else None
        if (key := repeated_key(row.item)) is not None:
            self._refuse(row, pk, Remark(str(key), "repeated_key", "occurs more than once in this item."))
            return None
        if not shape.is_valid():
            self._refuse(row, pk, *faults(shape.errors))
            return None
        item = dict(shape.validated_data)
        if wrong := [*self._convert_texts(item, changes), *_in_the_future(row, item)]:
            self._refuse(row, pk, *wrong)
            return None
        for singular, keyword in SINGULAR.items():
            if singular in item:
                labels = item.pop(singular)
                item[keyword] = item.get(keyword) or labels
        if unknown := row.item.keys() - shape.fields.keys() - self._unknown_keys:
            self._unknown_keys |= unknown
            text = f"keys that we have no place for: {', '.join(sorted(unknown))}"
            self.report.add("note", row.name, Remark("", "unknown_keys", text), id=item["id"])
        for change in changes:
            self._note(row, item, change.field, change.code, change.message)
        return item

    def _convert_texts(self, item: dict[str, Any], changes: list[Remark]) -> list[Remark]:
        """Make the HTML texts of `item` what is stored, and add what is lost by that to `changes`. Return
        what keeps the item from being imported."""
        wrong = []
        places = [(item, name, name) for name in TEXTS]
        if item.get("brand"):
            places.append((item["brand"], "description", "brand.description"))
        for values, name, path in places:
            if name not in values:
                continue
            text = values[name]
            if is_escaped(text):
                if not self.unescape:
                    message = "Holds HTML that is escaped, such as &lt;p&gt;; read it with --unescape-html."
                    wrong.append(Remark(path, "escaped_html", message))
                    continue
                text = unescaped(text)
            values[name], alterations = convert(text)
            changes += (Remark(path, each.code, each.message) for each in alterations)
        return wrong

    def _note(self, row: Row, item: dict[str, Any], field: str, code: str, text: str) -> None:
        self.report.add("note", row.name, Remark(field, code, text), id=item["id"], is_id_shown=True)

    def _land_item(self, row: Row, item: dict[str, Any], vacancy: Vacancy | None) -> None:
        is_new = vacancy is None
        known_at = vacancy and vacancy.updated_at
        if vacancy is None:
            if "title" not in item:
                raise _RowRefusedError(Remark("title", "required", "This field is required."))
            vacancy = Vacancy(pk=item["id"], created_at=item.get("created_at", self.now))
            vacancy.ordered_choices, vacancy.ordered_recruiter_links, attachments = [], [], []
        else:
            attachments = list(vacancy.attachments.all())
            if self._is_of_another_file(row, vacancy):
                self._land_audience(row, item, vacancy, attachments)
                return

        wanted = _plain_values(item, vacancy)
        wanted["audience"] = self._audience(row, item, None if is_new else vacancy.audience)
        if "publish_until" in item or "closes_at" in item:
            wanted["publish_until"] = self._publish_until(row, item, vacancy)
        wanted |= self._people(row, item, vacancy)
        changed = {name for name, value in wanted.items() if getattr(vacancy, name) != value}
        for name in changed:
            setattr(vacancy, name, wanted[name])

        options = []
        for keyword in Keyword:
            known = [c.option for c in vacancy.ordered_choices if c.option.filter.keyword == keyword]
            chosen = [self._option(keyword, label) for label in item[keyword]] if keyword in item else known
            options += chosen
            if [option.pk for option in chosen] != [option.pk for option in known]:
                changed.add("options")
        if "recruiters" in item:
            people = [self._recruiter(row, item, data) for data in item["recruiters"] or ()]
            recruiters = list(dict.fromkeys(people))
            if [link.recruiter_id for link in vacancy.ordered_recruiter_links] != [r.pk for r in recruiters]:
                changed.add("recruiters")
        if "attachments" in item:
            elsewhere = _attachments(item)
            if [(a.name, a.url) for a in attachments if a.url] != elsewhere:
                changed.add("attachments")

        # Without a moment it never was online here: an import left it as a draft.
        if vacancy.status == Status.DRAFT and vacancy.publish_from is None:
            if missing := vacancy.missing_to_publish():
                remarks = [Remark("", "draft", f"a draft: {' '.join(missing.values())}")]
                self.report.add("draft", row.name, *remarks, id=item["id"], is_id_shown=True)
            else:
                self._publish(row, item, vacancy)
                changed.add("status")
        if vacancy.publish_until and vacancy.publish_from and vacancy.publish_until <= vacancy.publish_from:
            field = "publish_until" if item.get("publish_until") else "closes_at"
            raise _RowRefusedError(
                Remark(field, "range", "Must be after the moment at which the vacancy appears.")
            )
        updated_at = item.get("updated_at", self.now if changed else vacancy.updated_at)
        if vacancy.updated_at != updated_at:
            vacancy.updated_at = updated_at
            changed.add("updated_at")

        if is_new or changed:
            if not is_new:
                rows = Vacancy.objects.select_for_update().filter(pk=vacancy.pk)
                if rows.values_list("updated_at", flat=True).first() != known_at:
                    raise _ChangedError
            vacancy.save(force_insert=is_new)
        if "options" in changed:
            vacancy.choices.all().delete()
            VacancyOption.objects.bulk_create(
                VacancyOption(vacancy=vacancy, option=option, position=n) for n, option in enumerate(options)
            )
        if "recruiters" in changed:
            vacancy.recruiter_links.all().delete()
            VacancyRecruiter.objects.bulk_create(
                VacancyRecruiter(vacancy=vacancy, recruiter=r, position=n) for n, r in enumerate(recruiters)
            )
        if "attachments" in changed:
            vacancy.attachments.exclude(url="").delete()
            Attachment.objects.bulk_create(
                Attachment(vacancy=vacancy, name=name, url=url, position=n)
                for n, (name, url) in enumerate(elsewhere)
            )

        if (slug := item.get("slug")) and slug != vacancy.slug and (is_new or "title" in changed):
            self._note(row, item, "", "slug", f"slug {slug} becomes {vacancy.slug}")
        if is_new:
            self.report.created += 1
            self.report.expired += bool(vacancy.publish_until and vacancy.publish_until <= self.now)
        elif changed:
            self.report.updated += 1
        else:
            self.report.unchanged += 1

    def _publish(self, row: Row, item: dict[str, Any], vacancy: Vacancy) -> None:
        appeared_at = item.get("published_at") or vacancy.created_at
        if appeared_at > self.now + CLOCK_SKEW:
            text = "lies in the future; the source shows the vacancy, so it is published now"
            self._note(row, item, "published_at", "future", text)
        vacancy.status = Status.PUBLISHED
        vacancy.publish_from = min(appeared_at, self.now)

    def _publish_until(self, row: Row, item: dict[str, Any], vacancy: Vacancy) -> datetime | None:
        """The end of the publication: that of the source, unless a recruiter decided it here."""
        names = [name for name in ("publish_until", "closes_at") if name in item]
        ends = [item[name] for name in names]
        if len(set(ends)) > 1:
            self._note(row, item, "closes_at", "contradiction", "differs from publish_until, which was taken")
        if vacancy.pk in self._decided["publish_until"]:
            if vacancy.publish_until != ends[0]:
                self._note(
                    row, item, names[0], "kept", "differs from what a recruiter decided here; left as is"
                )
            return vacancy.publish_until
        return ends[0]

    def _people(self, row: Row, item: dict[str, Any], vacancy: Vacancy) -> dict[str, Any]:
        """Who the vacancy is of: its brand and head recruiter, as far as the source says. Null empties
        them, unless the vacancy is published and could not be without."""
        wanted: dict[str, Any] = {}
        if item.get("brand"):
            wanted["brand"] = self._brand(row, item, item["brand"])
        if item.get("head_recruiter"):
            wanted["head_recruiter"] = self._recruiter(row, item, item["head_recruiter"])
        is_published = vacancy.status == Status.PUBLISHED
        for name in ("brand", "head_recruiter"):
            if name not in item or item[name] or not getattr(vacancy, name):
                continue
            if is_published and (name == "head_recruiter" or settings.MULTI_BRANDING):
                text = "is empty in the source; a published vacancy needs one, so it was left as it is"
                self._note(row, item, name, "kept", text)
            else:
                wanted[name] = None
        if self.recruiter and not wanted.get("head_recruiter", vacancy.head_recruiter):
            wanted["head_recruiter"] = self.recruiter
        return wanted

    def _is_of_another_file(self, row: Row, vacancy: Vacancy) -> bool:
        """Whether the content of `vacancy` came from a file of the other kind, public or internal. The first
        file decides the content, so that the order of later imports does not matter. A recruiter who
        changed the audience hides which file was first; then each file is taken at its word."""
        if row.is_from_service or vacancy.pk in self._decided["audience"]:
            return False
        return row.is_external == (vacancy.audience == Audience.INTERNAL)

    def _land_audience(
        self, row: Row, item: dict[str, Any], vacancy: Vacancy, attachments: list[Attachment]
    ) -> None:
        """Keep the content of `vacancy`, which another file decided; report the difference."""
        if different := _differences(item, vacancy, attachments):
            text = f"differs from the file that was imported first, which counts: {', '.join(different)}"
            self._note(row, item, "", "content_differs", text)
        audience = self._audience(row, item, vacancy.audience)
        if audience == vacancy.audience:
            self.report.unchanged += 1
            return
        vacancy.audience = audience
        vacancy.save()
        self.report.updated += 1

    def _audience(self, row: Row, item: dict[str, Any], current: str | None) -> str:
        """Who may see it: whom the source shows it to. One that is here keeps its audience, but what is
        public may become internal too; the other way round a recruiter has to decide."""
        if current is None:
            if row.is_internal:
                return Audience.BOTH if row.is_external else Audience.INTERNAL
            return Audience.PUBLIC
        if current == Audience.INTERNAL and row.is_external:
            text = "public in the source; it stays internal here until a recruiter opens it"
            self._note(row, item, "", "audience", text)
        return Audience.BOTH if current == Audience.PUBLIC and row.is_internal else current

    def _brand(self, row: Row, item: dict[str, Any], data: dict[str, Any]) -> Brand:
        values: dict[str, Any] = {name: data[name] for name in ("description", "url") if name in data}
        if "icons" in data:
            icons = data["icons"] or {"small": "", "large": ""}
            values |= {f"icon_{size}_url": icons[size] for size in ("small", "large") if size in icons}
        return self._as_source(
            ("brand", data["name"]),
            lambda: Brand.objects.filter(name=data["name"]).first() or Brand(name=data["name"]),
            lambda brand: values,
            lambda: self._note(
                row, item, "", "brand_differs", f"brand {data['name']!r} differs from that of earlier items"
            ),
        )

    def _recruiter(self, row: Row, item: dict[str, Any], data: dict[str, Any]) -> Recruiter:
        same = {"pk": data["id"]} if data.get("id") else {"name": data["name"]}

        def wanted(recruiter: Recruiter) -> dict[str, Any]:
            values = {"name": data["name"]}
            values |= {
                name: data[key]
                for key, name in (("function", "function"), ("image", "image_url"))
                if key in data
            }
            # Contact data that the source shows is public; data that it hides is not ours to erase.
            for name in ("email", "phone"):
                if name in data:
                    value = data[name] or ""
                    values |= {name: value or getattr(recruiter, name), f"is_{name}_public": bool(value)}
            return values

        return self._as_source(
            ("recruiter", *same.values()),
            lambda: Recruiter.objects.filter(**same).order_by("pk").first() or Recruiter(**same),
            wanted,
            lambda: self._note(
                row,
                item,
                "",
                "recruiter_differs",
                f"recruiter {data['name']!r} differs from that of earlier items",
            ),
        )

    def _as_source(
        self,
        key: tuple[Any, ...],
        find: Callable[[], Any],
        wanted: Callable[[Any], dict[str, Any]],
        on_difference: Callable[[], None],
    ) -> Any:
        """Return the row that `find` gives, with the `wanted` values. The first item of a source decides
        them; `on_difference` is told of a later one that has others."""
        if instance := self._related.get(key):
            if any(getattr(instance, name) != value for name, value in wanted(instance).items()):
                on_difference()
            return instance
        instance = find()
        values = wanted(instance)
        if instance._state.adding or any(getattr(instance, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(instance, name, value)
            instance.save()
            self.report.related += 1
        self._related[key] = instance
        return instance

    def _option(self, keyword: Keyword, label: str) -> FilterOption:
        if keyword not in self._options:
            known = FilterOption.objects.filter(filter=self._filters[keyword])
            self._options[keyword] = {option.label: option for option in known}
        options = self._options[keyword]
        if label not in options:
            options[label] = self._filters[keyword].add_option(label, beside=options.values())
        return options[label]

    def _forget(self) -> None:
        """Drop what may have been rolled back with a failed row."""
        self._related: dict[tuple[Any, ...], Any] = {}
        self._options: dict[str, dict[str, FilterOption]] = {}


def _plain_values(item: dict[str, Any], vacancy: Vacancy) -> dict[str, Any]:
    """The values of `item` that are columns of `vacancy`, by column; what it does not have stays."""
    names = ("title", "is_hot", "is_permanent", "location", "video", "created_at", *TEXTS)
    values = {name: item[name] for name in names if name in item}
    if "image" in item:
        values["image_url"] = item["image"]
    if "title_internal" in item:
        title = item.get("title", vacancy.title)
        values["title_internal"] = "" if item["title_internal"] == title else item["title_internal"]
    return values


def _attachments(item: dict[str, Any]) -> list[tuple[str, str]]:
    return [(data.get("name", ""), data["path"]) for data in item["attachments"] or ()]


def _differences(item: dict[str, Any], vacancy: Vacancy, attachments: list[Attachment]) -> list[str]:
    """The keys of `item` that `vacancy` has another value for."""
    different = [
        name for name, value in _plain_values(item, vacancy).items() if getattr(vacancy, name) != value
    ]
    here: dict[str, Any] = {keyword.value: vacancy.labels(keyword) for keyword in Keyword}
    for name in ("brand", "head_recruiter"):
        here[name] = getattr(vacancy, name) and getattr(vacancy, name).name
    here["recruiters"] = [link.recruiter.name for link in vacancy.ordered_recruiter_links]
    here["attachments"] = [(a.name, a.url) for a in attachments if a.url]
    for name, value in here.items():
        if name not in item:
            continue
        there: Any = item[name]
        if name == "recruiters":
            there = list(dict.fromkeys(data["name"] for data in there or ()))
        elif name == "attachments":
            there = _attachments(item)
        elif name in ("brand", "head_recruiter"):
            there = there and there["name"]
        if there != value:
            different.append(name)
    for name in ("updated_at", "publish_until"):
        if name in item and item[name] != getattr(vacancy, name):
            different.append(name)
    return different


def _in_the_future(row: Row, item: dict[str, Any]) -> list[Remark]:
    if "created_at" not in item or item["created_at"] <= timezone.now() + CLOCK_SKEW:
        return []
    zone = row.zone or timezone.get_current_timezone()
    text = f"Lies in the future; received {row.item['created_at']}. Is {zone} the time zone of the source?"
    return [Remark("created_at", "future", text)]


def _digest(item: Any) -> str:
    return hashlib.sha256(json.dumps(item, sort_keys=True).encode()).hexdigest()


def _decided_here(pks: Iterable[int]) -> dict[str, set[int]]:
    """Return, by column of FINAL, the vacancies whose value somebody decided in the workplace."""
    versions = Version.objects.filter(vacancy__in=list(pks)).exclude(change=Change.FOUND)
    return {
        name: set(versions.filter(content__has_key=name).values_list("vacancy_id", flat=True))
        for name in FINAL
    }
