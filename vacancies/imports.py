"""Bringing vacancies in from another service: items of v1 become rows, and the same again changes nothing.

What the source says about content wins. What a recruiter decided here about publication stays.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain, islice, pairwise
from typing import Any

from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from jobsite.html import sanitise
from vacancies.items import SINGULAR, TEXTS, ItemShape
from vacancies.models import (
    Attachment,
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
from vacancies.shapes import flatten
from vacancies.sources import Row
from vacancies.vocabulary import Keyword

BATCH = 100
MOVE = timedelta(microseconds=1)


@dataclass
class Report:
    """What an import did, by count and in words."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    moved: int = 0  # to another place in the lists, to keep the order of the source
    related: int = 0  # brands and recruiters that were created or updated
    refused: int = 0  # rows that did not land
    drafts: list[str] = field(default_factory=list)  # landed, but not published, and why
    failed: list[str] = field(default_factory=list)  # what did not land, and why
    notes: list[str] = field(default_factory=list)  # landed with a difference

    @property
    def total(self) -> int:
        return self.created + self.updated + self.unchanged + self.refused

    @property
    def has_changed(self) -> bool:
        return bool(self.created or self.updated or self.moved or self.related)


class Importer:
    """Lands rows in batches, one transaction each; a bad row is reported and loses no good one.

    `recruiter` heads the vacancies that come without a head.
    """

    def __init__(self, *, recruiter: Recruiter | None = None) -> None:
        self.recruiter = recruiter
        self.report = Report()
        self.now = timezone.now()
        self._filters = {f.keyword: f for f in Filter.objects.all()}
        self._unknown_keys: set[str] = set()
        self._forget()

    def land(self, rows: Iterable[Row]) -> None:
        """Create or update the vacancies of `rows`, which are one source; `report` says what came of them."""
        rows = iter(rows)
        seen: set[int] = set()
        while batch := list(islice(rows, BATCH)):
            with transaction.atomic():
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
            self.report.notes.append(
                "the lists of the source contradict each other: their order was not kept"
            )
            return
        moved = [pk for pk in known if moments[pk] != known[pk]]
        with transaction.atomic():
            for pk in moved:
                Vacancy.objects.filter(pk=pk).update(publish_from=moments[pk])
        self.report.moved += len(moved)

    def _land_batch(self, batch: list[Row], seen: set[int]) -> None:
        checked = [(row, item) for row in batch if (item := self._checked(row)) is not None]
        vacancies = Vacancy.objects.with_related().defer(None)  # a save writes the folded columns too
        existing = vacancies.in_bulk([item["id"] for _, item in checked])
        for row, item in checked:
            if item["id"] in seen:
                self._refuse(row, item["id"], "this id came before in the same source.")
                continue
            seen.add(item["id"])
            try:
                with transaction.atomic():
                    self._land_item(row, item, existing.get(item["id"]))
            except DatabaseError as error:
                self._forget()
                self._refuse(row, item["id"], str(error))

    def _refuse(self, row: Row, pk: Any, reason: str) -> None:
        self.report.refused += 1
        self.report.failed.append(f"{row.name} (id {pk}): {reason}")

    def _checked(self, row: Row) -> dict[str, Any] | None:
        """Return the item of `row` in our terms, or None when it is refused and reported."""
        shape = ItemShape(data=row.item)
        if not shape.is_valid():
            pk = row.item.get("id") if isinstance(row.item, dict) else None
            self._refuse(row, pk, "; ".join(flatten(shape.errors)))
            return None
        item = dict(shape.validated_data)
        for singular, keyword in SINGULAR.items():
            labels = item.pop(singular, [])
            item[keyword] = item.get(keyword) or labels
        if unknown := row.item.keys() - shape.fields.keys() - self._unknown_keys:
            self._unknown_keys |= unknown
            self.report.notes.append(
                f"{row.name}: keys that we have no place for: {', '.join(sorted(unknown))}"
            )
        for name in TEXTS:
            text = item.get(name, "").replace("\r\n", "\n")
            item[name] = sanitise(text)
            if item[name] != text:
                self._note(row, item, f"{name}: markup that is not allowed was removed")
        return item

    def _note(self, row: Row, item: dict[str, Any], text: str) -> None:
        self.report.notes.append(f"{row.name} (id {item['id']}): {text}")

    def _land_item(self, row: Row, item: dict[str, Any], vacancy: Vacancy | None) -> None:
        is_new = vacancy is None
        if vacancy is None:
            vacancy = Vacancy(pk=item["id"], created_at=item.get("created_at", self.now))
            vacancy.ordered_choices, vacancy.ordered_recruiter_links, attachments = [], [], []
        else:
            attachments = list(vacancy.attachments.all())

        internal_title = item.get("title_internal", "")
        wanted = {name: item[name] for name in ("title", "is_hot", "is_permanent", *TEXTS)} | {
            "title_internal": "" if internal_title == item["title"] else internal_title,
            "location": item.get("location", ""),
            "image_url": item.get("image", ""),
            "video": item.get("video", ""),
            "created_at": item.get("created_at", vacancy.created_at),
            "audience": self._audience(row, item, None if is_new else vacancy.audience),
        }
        # What a source does not show is no reason to lose what is here: it may have no brands at all.
        if item.get("brand"):
            wanted["brand"] = self._brand(row, item, item["brand"])
        if item.get("head_recruiter"):
            wanted["head_recruiter"] = self._recruiter(row, item, item["head_recruiter"])
        elif self.recruiter and not vacancy.head_recruiter_id:
            wanted["head_recruiter"] = self.recruiter
        changed = {name for name, value in wanted.items() if getattr(vacancy, name) != value}
        for name in changed:
            setattr(vacancy, name, wanted[name])

        options = [self._option(keyword, label) for keyword in Keyword for label in item.get(keyword, ())]
        if [choice.option_id for choice in vacancy.ordered_choices] != [option.pk for option in options]:
            changed.add("options")
        people = [self._recruiter(row, item, data) for data in item.get("recruiters") or ()]
        recruiters = list(dict.fromkeys(people))
        if [link.recruiter_id for link in vacancy.ordered_recruiter_links] != [r.pk for r in recruiters]:
            changed.add("recruiters")
        elsewhere = [(data["name"], data["path"]) for data in item.get("attachments") or ()]
        if [(a.name, a.url) for a in attachments if a.url] != elsewhere:
            changed.add("attachments")

        # Without a moment it never was online here: an import left it as a draft.
        if vacancy.status == Status.DRAFT and vacancy.publish_from is None:
            if missing := vacancy.missing_to_publish():
                self.report.drafts.append(
                    f"{row.name} (id {item['id']}): a draft: {' '.join(missing.values())}"
                )
            else:
                vacancy.status = Status.PUBLISHED
                vacancy.publish_from = min(item.get("published_at", vacancy.created_at), self.now)
                changed.add("status")
        updated_at = item.get("updated_at", self.now if changed else vacancy.updated_at)
        if vacancy.updated_at != updated_at:
            vacancy.updated_at = updated_at
            changed.add("updated_at")

        if is_new or changed:
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
            self._note(row, item, f"slug {slug} becomes {vacancy.slug}")
        if is_new:
            self.report.created += 1
        elif changed:
            self.report.updated += 1
        else:
            self.report.unchanged += 1

    def _audience(self, row: Row, item: dict[str, Any], current: str | None) -> str:
        """Who may see it: whom the source shows it to. One that is here keeps its audience, but what is
        public may become internal too; the other way round a recruiter has to decide."""
        if current is None:
            if row.is_internal:
                return Audience.BOTH if row.is_external else Audience.INTERNAL
            return Audience.PUBLIC
        if current == Audience.INTERNAL and row.is_external:
            self._note(row, item, "public in the source; it stays internal here until a recruiter opens it")
        return Audience.BOTH if current == Audience.PUBLIC and row.is_internal else current

    def _brand(self, row: Row, item: dict[str, Any], data: dict[str, Any]) -> Brand:
        icons = data.get("icons") or {}
        return self._as_source(
            ("brand", data["name"]),
            lambda: Brand.objects.filter(name=data["name"]).first() or Brand(name=data["name"]),
            lambda brand: {
                "description": sanitise(data.get("description", "")),
                "url": data.get("url", ""),
                "icon_small_url": icons.get("small", ""),
                "icon_large_url": icons.get("large", ""),
            },
            lambda: self._note(row, item, f"brand {data['name']!r} differs from that of earlier items"),
        )

    def _recruiter(self, row: Row, item: dict[str, Any], data: dict[str, Any]) -> Recruiter:
        same = {"pk": data["id"]} if data.get("id") else {"name": data["name"]}
        email, phone = data.get("email") or "", data.get("phone", "")
        return self._as_source(
            ("recruiter", *same.values()),
            lambda: Recruiter.objects.filter(**same).order_by("pk").first() or Recruiter(**same),
            # Contact data that the source shows is public; data that it hides is not ours to erase.
            lambda recruiter: {
                "name": data["name"],
                "function": data.get("function", ""),
                "email": email or recruiter.email,
                "is_email_public": bool(email),
                "phone": phone or recruiter.phone,
                "is_phone_public": bool(phone),
                "image_url": data.get("image", ""),
            },
            lambda: self._note(row, item, f"recruiter {data['name']!r} differs from that of earlier items"),
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
