"""Bringing vacancies in from another service: items of v1 become rows, and the same again changes nothing.

What the source says about content wins. What a recruiter decided here about publication stays.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice, pairwise
from typing import Any

from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from rest_framework import serializers

from vacancies.fields import sanitise
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
    free_value,
)
from vacancies.sources import Row
from vacancies.vocabulary import Keyword

BATCH = 100
TEXTS = ("description", "short_description", "profile", "offer", "contact", "company", "postcustom1")
# How v0.1 and mixed hot lists call the vocabularies that hold one value there.
SINGULAR = {
    "type": Keyword.TYPES,
    "contract_type": Keyword.CONTRACT_TYPES,
    "work_regime": Keyword.WORK_REGIMES,
}


class _Text(serializers.CharField):
    """Text exactly as it came; null is as good as none."""

    def __init__(self, **kwargs: Any) -> None:
        defaults = {"required": False, "allow_null": True, "allow_blank": True, "trim_whitespace": False}
        super().__init__(**defaults | kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is not None and data is not serializers.empty and not isinstance(data, str):
            self.fail("invalid")  # DRF would make text of a number
        return super().run_validation(data) or ""


class _Url(serializers.URLField):
    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True, allow_blank=True, max_length=1000)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return super().run_validation(data) or ""


class _Labels(serializers.ListField):
    """Labels in order; a single one as text, as v0.1 has it, and null are understood too."""

    child = _Text(max_length=200, allow_blank=False, allow_null=False)

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def run_validation(self, data: Any = serializers.empty) -> list[str]:
        return list(dict.fromkeys(super().run_validation([data] if isinstance(data, str) else data) or ()))


class _Moment(serializers.DateTimeField):
    def __init__(self) -> None:
        super().__init__(required=False, input_formats=["%Y-%m-%d %H:%M:%S"])


class _Icons(serializers.Serializer):
    small = _Url()
    large = _Url()


class _Brand(serializers.Serializer):
    name = _Text(max_length=200, required=True, allow_null=False, allow_blank=False)
    description = _Text()
    icons = _Icons(required=False, allow_null=True)
    url = _Url()


class _Attachment(serializers.Serializer):
    name = _Text(max_length=200)
    path = serializers.URLField(max_length=1000)


class _Recruiter(serializers.Serializer):
    id = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    name = _Text(max_length=200, required=True, allow_null=False, allow_blank=False)
    function = _Text(max_length=200)
    email = serializers.EmailField(required=False, allow_null=True, allow_blank=True)
    phone = _Text(max_length=50)
    image = _Url()


class ItemShape(serializers.Serializer):
    """An item of the interface, v1 or v0.1, as it comes from a source."""

    id = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    title = _Text(max_length=300, required=True, allow_null=False, allow_blank=False)
    title_internal = _Text(max_length=300)
    slug = _Text()
    brand = _Brand(required=False, allow_null=True)
    is_hot = serializers.BooleanField(required=False, default=False)
    is_permanent = serializers.BooleanField(required=False, default=False)
    vars().update({name: _Labels() for name in (*Keyword.values, *SINGULAR)})
    location = _Text(max_length=200)
    vars().update({name: _Text() for name in TEXTS})
    image = _Url()
    video = _Text(max_length=1000)
    attachments = _Attachment(many=True, required=False, allow_null=True)
    head_recruiter = _Recruiter(required=False, allow_null=True)
    recruiters = _Recruiter(many=True, required=False, allow_null=True)
    created_at = _Moment()
    updated_at = _Moment()
    published_at = _Moment()


@dataclass
class Report:
    """What an import did, by count and in words."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    drafts: list[str] = field(default_factory=list)  # landed, but not published, and why
    failed: list[str] = field(default_factory=list)  # not landed, and why
    notes: list[str] = field(default_factory=list)  # landed with a difference

    @property
    def total(self) -> int:
        return self.created + self.updated + self.unchanged + len(self.failed)


class Importer:
    """Lands rows in batches, one transaction each; a bad row is reported and loses no good one.

    `recruiter` heads the vacancies that come without a head.
    """

    def __init__(self, *, recruiter: Recruiter | None = None) -> None:
        self.recruiter = recruiter
        self.report = Report()
        self.now = timezone.now()
        self._brands: dict[str, Brand] = {}
        self._recruiters: dict[Any, Recruiter] = {}
        self._filters = {f.keyword: f for f in Filter.objects.all()}
        self._options: dict[str, dict[str, FilterOption]] = {}
        self._unknown_keys: set[str] = set()

    def land(self, rows: Iterable[Row]) -> None:
        """Create or update the vacancies of `rows`; `report` says what came of them."""
        rows = iter(rows)
        seen: set[int] = set()
        while batch := list(islice(rows, BATCH)):
            with transaction.atomic():
                self._land_batch(batch, seen)
        with connection.cursor() as cursor:  # ids came along: the next new row must get a free one
            for statement in connection.ops.sequence_reset_sql(no_style(), [Vacancy, Recruiter]):
                cursor.execute(statement)

    def keep_order(self, orders: Iterable[list[int]]) -> int:
        """Move publish_from of vacancies just enough that lists of ours have the order of `orders`, lists
        of ids; return how many moved. Later never means before created_at: a moment that a recruiter
        changed here stays."""
        lists = [ids for ids in orders if ids]
        known = {
            v.pk: v
            for ids in lists
            for v in Vacancy.objects.filter(pk__in=ids).only("created_at", "publish_from")
        }
        moment = {pk: min(v.created_at, self.now) for pk, v in known.items()}
        for _ in range(10):  # a vacancy may be in both lists: settle them together
            before = dict(moment)
            for ids in lists:
                for older, newer in pairwise(pk for pk in reversed(ids) if pk in known):
                    if (moment[newer], newer) < (moment[older], older):
                        moment[newer] = moment[older] + timedelta(microseconds=newer < older)
            if moment == before:
                break
        moved = [
            pk for pk, v in known.items()
            if v.publish_from == min(v.created_at, self.now) and moment[pk] != v.publish_from
        ]  # fmt: skip
        with transaction.atomic():
            for pk in moved:
                Vacancy.objects.filter(pk=pk).update(publish_from=moment[pk])
        return len(moved)

    def _land_batch(self, batch: list[Row], seen: set[int]) -> None:
        checked = [(row, item) for row in batch if (item := self._checked(row)) is not None]
        existing = Vacancy.objects.with_related().in_bulk([item["id"] for _, item in checked])
        for row, item in checked:
            if item["id"] in seen:
                self.report.failed.append(
                    f"{row.name} (id {item['id']}): this id came before in the same source."
                )
                continue
            seen.add(item["id"])
            try:
                with transaction.atomic():
                    self._land_item(row, item, existing.get(item["id"]))
            except DatabaseError as error:
                self._forget()
                self.report.failed.append(f"{row.name} (id {item['id']}): {error}")

    def _checked(self, row: Row) -> dict[str, Any] | None:
        """Return the item of `row` in our terms, or None when it is refused and reported."""
        shape = ItemShape(data=row.item)
        if not shape.is_valid():
            pk = row.item.get("id") if isinstance(row.item, dict) else None
            reasons = "; ".join(_flatten(shape.errors))
            self.report.failed.append(f"{row.name} (id {pk}): {reasons}")
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
            clean = sanitise(item.get(name, ""))
            if clean != item.get(name, ""):
                self.report.notes.append(
                    f"{row.name} (id {item['id']}): {name}: markup that is not allowed was removed"
                )
            item[name] = clean
        return item

    def _land_item(self, row: Row, item: dict[str, Any], vacancy: Vacancy | None) -> None:
        head = self._recruiter(item["head_recruiter"]) if item.get("head_recruiter") else self.recruiter
        brand = self._brand(item["brand"]) if item.get("brand") else None
        is_new = vacancy is None
        if vacancy is None:
            vacancy = Vacancy(pk=item["id"], created_at=item.get("created_at", self.now))
            vacancy.ordered_choices, vacancy.ordered_recruiter_links, attachments = [], [], []
        else:
            attachments = list(vacancy.attachments.all())
        was_missing = not is_new and vacancy.missing_to_publish()

        internal_title = item.get("title_internal", "")
        wanted = {name: item[name] for name in ("title", "is_hot", "is_permanent", *TEXTS)} | {
            "title_internal": "" if internal_title == item["title"] else internal_title,
            "location": item.get("location", ""),
            "image_url": item.get("image", ""),
            "video": item.get("video", ""),
            "brand_id": brand and brand.pk,
            "head_recruiter_id": head.pk if head else vacancy.head_recruiter_id,
            "created_at": item.get("created_at", vacancy.created_at),
            "updated_at": item.get("updated_at", vacancy.updated_at if not is_new else self.now),
            "audience": _audience(row, vacancy.audience if not is_new else None),
        }
        changed = {name for name, value in wanted.items() if getattr(vacancy, name) != value}
        for name in changed:
            setattr(vacancy, name, wanted[name])
        missing = vacancy.missing_to_publish()
        if (is_new or was_missing) and not missing and vacancy.status == Status.DRAFT:
            vacancy.status = Status.PUBLISHED
            vacancy.publish_from = min(item.get("published_at", vacancy.created_at), self.now)
            changed.add("status")
        if missing and vacancy.status == Status.DRAFT:
            self.report.drafts.append(f"{row.name} (id {item['id']}): a draft: {' '.join(missing.values())}")
        if is_new or changed:
            vacancy.save(force_insert=is_new)

        options = [self._option(keyword, label) for keyword in Keyword for label in item.get(keyword, ())]
        if [c.option_id for c in vacancy.ordered_choices] != [option.pk for option in options]:
            changed.add("options")
            vacancy.choices.all().delete()
            VacancyOption.objects.bulk_create(
                VacancyOption(vacancy=vacancy, option=option, position=n) for n, option in enumerate(options)
            )
        recruiters = list(dict.fromkeys(self._recruiter(data) for data in item.get("recruiters") or ()))
        if [link.recruiter_id for link in vacancy.ordered_recruiter_links] != [r.pk for r in recruiters]:
            changed.add("recruiters")
            vacancy.recruiter_links.all().delete()
            VacancyRecruiter.objects.bulk_create(
                VacancyRecruiter(vacancy=vacancy, recruiter=r, position=n) for n, r in enumerate(recruiters)
            )
        elsewhere = [(data["name"], data["path"]) for data in item.get("attachments") or ()]
        if [(a.name, a.url) for a in attachments if a.url] != elsewhere:
            changed.add("attachments")
            vacancy.attachments.exclude(url="").delete()
            Attachment.objects.bulk_create(
                Attachment(vacancy=vacancy, name=name, url=url, position=n)
                for n, (name, url) in enumerate(elsewhere)
            )

        if (slug := item.get("slug")) and slug != vacancy.slug and (is_new or "title" in changed):
            self.report.notes.append(f"{row.name}: slug {slug} becomes {vacancy.slug}")
        if is_new:
            self.report.created += 1
        elif changed:
            self.report.updated += 1
        else:
            self.report.unchanged += 1

    def _brand(self, data: dict[str, Any]) -> Brand:
        if data["name"] not in self._brands:
            icons = data.get("icons") or {}
            self._brands[data["name"]] = _as_source(
                Brand.objects.filter(name=data["name"]).first() or Brand(name=data["name"]),
                description=sanitise(data.get("description", "")),
                url=data.get("url", ""),
                icon_small_url=icons.get("small", ""),
                icon_large_url=icons.get("large", ""),
            )
        return self._brands[data["name"]]

    def _recruiter(self, data: dict[str, Any]) -> Recruiter:
        key = data.get("id") or data["name"]
        if key not in self._recruiters:
            same = {"pk": data["id"]} if data.get("id") else {"name": data["name"]}
            recruiter = Recruiter.objects.filter(**same).order_by("pk").first() or Recruiter(**same)
            # Contact data that the source shows is public; data that it hides is not ours to erase.
            email, phone = data.get("email") or "", data.get("phone", "")
            self._recruiters[key] = _as_source(
                recruiter,
                name=data["name"],
                function=data.get("function", ""),
                email=email or recruiter.email,
                is_email_public=bool(email),
                phone=phone or recruiter.phone,
                is_phone_public=bool(phone),
                image_url=data.get("image", ""),
            )
        return self._recruiters[key]

    def _option(self, keyword: Keyword, label: str) -> FilterOption:
        if keyword not in self._options:
            known = FilterOption.objects.filter(filter=self._filters[keyword])
            self._options[keyword] = {option.label: option for option in known}
        options = self._options[keyword]
        if label not in options:
            value = free_value(label, {option.value for option in options.values()})
            options[label] = FilterOption.objects.create(
                filter=self._filters[keyword], label=label, value=value
            )
        return options[label]

    def _forget(self) -> None:
        """Drop what may have been rolled back with a failed row."""
        self._brands, self._recruiters, self._options = {}, {}, {}


def switch_on_unused_filters() -> None:
    """Offer the filters that nobody has touched yet: off, and without options."""
    Filter.objects.filter(options=None).update(is_active=True)


def _as_source(instance: Any, **wanted: Any) -> Any:
    """Save `instance` with the `wanted` values unless it has them."""
    if instance._state.adding or any(getattr(instance, name) != value for name, value in wanted.items()):
        for name, value in wanted.items():
            setattr(instance, name, value)
        instance.save()
    return instance


def _audience(row: Row, current: str | None) -> str:
    """Who may see it: all whom the source, or an earlier source, showed it to."""
    external = row.is_external or current in (Audience.PUBLIC, Audience.BOTH)
    internal = row.is_internal or current in (Audience.INTERNAL, Audience.BOTH)
    return Audience.BOTH if external and internal else Audience.INTERNAL if internal else Audience.PUBLIC


def _flatten(errors: Any, path: str = "") -> Iterable[str]:
    """Yield "recruiters.0.name: reason" for each of the nested `errors` of a serializer."""
    if isinstance(errors, dict):
        for name, inner in errors.items():
            at = "" if name == "non_field_errors" else f"{path}.{name}" if path else str(name)
            yield from _flatten(inner, at or path)
    elif isinstance(errors, list):
        for number, inner in enumerate(errors):
            yield from _flatten(
                inner, f"{path}.{number}" if isinstance(inner, (dict, list)) and inner else path
            )
    else:
        yield f"{path}: {errors}" if path else str(errors)
