"""Import of vacancies: items of API v1 become rows. Importing the same items again changes nothing.

The source decides the content of a vacancy. Recruiters decide its publication: an import keeps what
they set. A service publishes what it lists. A file may state the publication of each vacancy.
"""

import hashlib
import json
from collections.abc import Iterable
from copy import copy
from datetime import datetime
from functools import partial
from itertools import islice

from django.conf import settings
from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from jobsite.types import JsonObject
from vacancies.choices import Audience, Keyword, PlaceKind, State, VacancyStatus
from vacancies.dates import last_day
from vacancies.exchange.comparison import (
    ENDS,
    addresses,
    as_shown,
    attachment_pairs,
    column_values,
    different_keys,
    end_key,
    set_by_recruiters,
)
from vacancies.exchange.fields import Remark, format_value
from vacancies.exchange.item_reader import CLOCK_SKEW, ItemReader
from vacancies.exchange.option_types import ImportOption, OptionTypes
from vacancies.exchange.related import RelatedRows
from vacancies.exchange.reports import VacancyReport
from vacancies.exchange.serializers import FileStatus
from vacancies.exchange.sources import SourceRow
from vacancies.models import (
    Attachment,
    Filter,
    Place,
    Recruiter,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
    needs_approval,
)
from vacancies.search.merge import merge_if_due

BATCH = 100
MERGE_EVERY = 20  # batches
NEEDS_APPROVAL = "The vacancy is public and its brand publishes with approval only. Not changed."


class _RowRefusedError(Exception):
    """A row that cannot be imported. Its savepoint is rolled back."""

    def __init__(self, remark: Remark) -> None:
        super().__init__(str(remark))
        self.remark = remark


class _ChangedError(Exception):
    """The vacancy was saved since it was read. Saving would overwrite every column of it."""


class VacancyImporter:
    """Imports rows in batches, one transaction each. A refused row is reported; the others are
    imported.

    `recruiter` becomes the head recruiter of vacancies that have none. `unescape` converts texts
    whose HTML is escaped; without it, such rows are refused.
    """

    def __init__(self, *, recruiter: Recruiter | None = None, unescape: bool = False) -> None:
        self.recruiter = recruiter
        self.report = VacancyReport()
        self.now = timezone.now()
        self._reader = ItemReader(self.report, unescape=unescape)
        self._rows = RelatedRows(self.report)
        self._option_types = OptionTypes(self.report)

    def import_rows(self, rows: Iterable[SourceRow]) -> None:
        """Create or update the vacancies of `rows`, all of one source, and add the results to
        `report`.
        """
        rows = iter(rows)
        seen: dict[int, str] = {}
        number = 0
        while batch := list(islice(rows, BATCH)):
            number += 1
            with self.report.batch(), transaction.atomic():
                Filter.objects.switch_on_unused()
                self._import_batch(batch, seen)
                # Explicit ids were inserted: advance the sequences.
                with connection.cursor() as cursor:
                    for statement in connection.ops.sequence_reset_sql(
                        no_style(), [Vacancy, Recruiter]
                    ):
                        cursor.execute(statement)
            if number % MERGE_EVERY == 0:
                merge_if_due()
        merge_if_due()

    def set_employment_types(self) -> None:
        """Set the employment types of options that all items of the run prove, and add them to
        `report`.
        """
        with self.report.batch(), transaction.atomic():
            self._option_types.write()

    def _import_batch(self, batch: list[SourceRow], seen: dict[int, str]) -> None:
        self._rows.clear_options()
        checked = [(row, item) for row in batch if (item := self._reader.read(row)) is not None]
        vacancies = Vacancy.objects.with_related().defer(None)  # a save needs all columns
        existing = vacancies.in_bulk([item["id"] for _, item in checked])
        self._set_by_recruiters = set_by_recruiters(existing)
        for row, item in checked:
            digest = _digest(row.item)
            if item["id"] in seen:
                if seen[item["id"]] == digest:
                    self.report.note(
                        row, item, "", "duplicate", "repeats an earlier item of the same source"
                    )
                    self.report.unchanged += 1
                else:
                    text = "An earlier item of the same source has this id and other content."
                    self.report.refuse(row.name, Remark("", "duplicate", text), id=item["id"])
                continue
            seen[item["id"]] = digest
            try:
                try:
                    with transaction.atomic():
                        self._import_item(row, item, existing.get(item["id"]))
                except _ChangedError:
                    self._rows.clear()
                    with transaction.atomic():
                        locked = vacancies.select_for_update(of=("self",)).filter(pk=item["id"])
                        self._import_item(row, item, locked.first())
            except _RowRefusedError as refusal:
                self._rows.clear()
                self.report.refuse(row.name, refusal.remark, id=item["id"])
            except DatabaseError as error:
                self._rows.clear()
                self.report.refuse(row.name, Remark("", "database", str(error)), id=item["id"])

    def _import_item(self, row: SourceRow, item: JsonObject, stored: Vacancy | None) -> None:
        """Create the vacancy of `item`, or update `stored`. Raise _RowRefusedError, or
        _ChangedError if the stored one was saved since it was read.
        """
        vacancy = stored or self._new_vacancy(item)
        uploads = list(vacancy.attachments.all()) if stored else []
        if stored and self._is_of_another_file(row, stored):
            self._import_audience(row, item, stored, uploads)
            return
        before = copy(stored) if stored else None
        changed = self._set_columns(row, item, vacancy, is_new=before is None)
        if before is None and "language" not in item:
            self._guess_language(row, item, vacancy)
        options = self._options(row, item, vacancy, changed)
        recruiters = self._recruiters(row, item, vacancy, changed)
        places = _places(item, stored, changed)
        attachments = _attachments(item, uploads, changed)
        self._set_publication(row, item, vacancy, changed)
        self._check(item, before, vacancy, changed)
        updated_at = item.get("updated_at", self.now if changed else vacancy.updated_at)
        updated_at = as_shown(updated_at, vacancy.updated_at)
        if vacancy.updated_at != updated_at:
            vacancy.updated_at = updated_at
            changed.add("updated_at")
        if before is None or changed:
            _save(before, vacancy)
        _replace_children(
            vacancy,
            changed,
            options=[option.pk for option in options],
            recruiters=recruiters,
            places=places,
            attachments=attachments,
        )
        if "employment_types" in item:
            self._option_types.add(row, item, options)
        self._count(row, item, vacancy, changed, is_new=before is None)

    def _new_vacancy(self, item: JsonObject) -> Vacancy:
        if "title" not in item:
            raise _RowRefusedError(Remark("title", "required", "This field is required."))
        vacancy = Vacancy(pk=item["id"], created_at=item.get("created_at", self.now))
        vacancy.ordered_choices, vacancy.ordered_recruiter_links = [], []
        return vacancy

    def _set_columns(
        self, row: SourceRow, item: JsonObject, vacancy: Vacancy, *, is_new: bool
    ) -> set[str]:
        """Set the columns of `vacancy` that differ from `item`, and return their names."""
        wanted = column_values(item, vacancy)
        wanted["audience"] = self._audience(row, item, None if is_new else vacancy.audience)
        if end_key(item):
            wanted["publish_until"] = self._publish_until(row, item, vacancy)
        wanted |= self._people(row, item, vacancy)
        changed = {name for name, value in wanted.items() if getattr(vacancy, name) != value}
        for name in changed:
            setattr(vacancy, name, wanted[name])
        return changed

    def _guess_language(self, row: SourceRow, item: JsonObject, vacancy: Vacancy) -> None:
        """Set the language of a new vacancy to that of its texts, if it is recognised."""
        language = vacancy.recognised_language()
        self.report.languages[language] += 1
        if not language:
            text = (
                f"not stated and not recognised in the texts; {vacancy.shown_language} is assumed"
            )
            self.report.note(row, item, "language", "language_unknown", text)
        elif language != vacancy.shown_language:
            vacancy.language = language
            text = f"not stated; {language} was recognised in the texts"
            self.report.note(row, item, "language", "language_guessed", text)

    def _options(
        self, row: SourceRow, item: JsonObject, vacancy: Vacancy, changed: set[str]
    ) -> list[ImportOption]:
        """Return the options of all keywords; those that `item` does not have stay as they are."""
        note = partial(self.report.note, row, item, "")
        options: list[ImportOption] = []
        for keyword in Keyword:
            known = [
                ImportOption(choice.option_id, keyword, choice.label, choice.employment_type)
                for choice in vacancy.ordered_choices
                if choice.keyword == keyword
            ]
            chosen = known
            if keyword in item:
                rows = (self._rows.option(keyword, label, note) for label in item[keyword])
                named = (
                    ImportOption(row.pk, keyword, row.label, row.employment_type) for row in rows
                )
                chosen = list(dict.fromkeys(named))
            options += chosen
            if [option.pk for option in chosen] != [option.pk for option in known]:
                changed.add("options")
        return options

    def _recruiters(
        self, row: SourceRow, item: JsonObject, vacancy: Vacancy, changed: set[str]
    ) -> list[Recruiter]:
        if "recruiters" not in item:
            return []
        note = partial(self.report.note, row, item, "")
        people = [self._rows.recruiter(data, note) for data in item["recruiters"] or ()]
        recruiters = list(dict.fromkeys(people))
        if [link.recruiter_id for link in vacancy.ordered_recruiter_links] != [
            r.pk for r in recruiters
        ]:
            changed.add("recruiters")
        return recruiters

    def _set_publication(
        self, row: SourceRow, item: JsonObject, vacancy: Vacancy, changed: set[str]
    ) -> None:
        """Set the status of `vacancy` and the start of its publication as the source does, unless a
        recruiter decided. Add "status" to `changed` if one of them changed.
        """
        status = item.get("status")
        before = (vacancy.status, vacancy.publish_from)
        if status in (FileStatus.DRAFT, FileStatus.CLOSED):
            vacancy.status = (
                VacancyStatus.DRAFT if status == FileStatus.DRAFT else VacancyStatus.UNPUBLISHED
            )
            vacancy.publish_from = as_shown(
                item.get("published_at", vacancy.publish_from), vacancy.publish_from
            )
        # A draft without publish_from was never published here: an earlier import left it as a
        # draft.
        elif (
            status
            or before == (VacancyStatus.DRAFT, None)
            or (
                vacancy.status == VacancyStatus.PUBLISHED
                and ("published_at" in item or not row.is_from_service)
            )
        ):
            self._publish(row, item, vacancy)
        if (vacancy.status, vacancy.publish_from) == before:
            return
        if (
            vacancy.pk
            in self._set_by_recruiters["status"] | self._set_by_recruiters["publish_from"]
        ):
            key = "published_at" if vacancy.status == before[0] else "status"
            vacancy.status, vacancy.publish_from = before
            text = "differs from what a recruiter set here; not changed"
            self.report.note(row, item, key, "kept", text)
        else:
            changed.add("status")

    def _publish(self, row: SourceRow, item: JsonObject, vacancy: Vacancy) -> None:
        """Publish `vacancy` as the source does, or report why not."""
        start = as_shown(item.get("published_at"), vacancy.publish_from) or vacancy.publish_from
        if item.get("status") == FileStatus.SCHEDULED and start is None:
            raise _RowRefusedError(
                Remark("published_at", "required", "A scheduled vacancy needs it.")
            )
        start = start or vacancy.created_at
        if vacancy.state_at(self.now) in (State.PUBLISHED, State.EXPIRED) and start <= self.now:
            vacancy.publish_from = start
            return
        missing = list(vacancy.missing_to_publish().values())
        if vacancy.brand and vacancy.brand.requires_approval:
            missing.append("The brand publishes with approval only.")
        if missing:
            what = (
                "imported as a draft" if vacancy.status == VacancyStatus.DRAFT else "not published"
            )
            remarks = [Remark("", "draft", f"{what}: {' '.join(missing)}")]
            self.report.add("draft", row.name, *remarks, id=item["id"], is_id_shown=True)
            return
        if row.is_from_service:
            if start > self.now + CLOCK_SKEW:
                text = "is in the future, but the source shows the vacancy; it was published now"
                self.report.note(row, item, "published_at", "future", text)
            start = min(start, self.now)
        elif start > self.now and item.get("status") != FileStatus.SCHEDULED:
            text = "is in the future; the vacancy is public from then on"
            self.report.note(row, item, "published_at", "future", text)
        vacancy.status, vacancy.publish_from = VacancyStatus.PUBLISHED, start

    def _check(
        self, item: JsonObject, before: Vacancy | None, vacancy: Vacancy, changed: set[str]
    ) -> None:
        """Raise _RowRefusedError if `vacancy` would close before it opens, has the reference of
        another one, or needs approval.
        """
        if (
            vacancy.publish_until
            and vacancy.publish_from
            and vacancy.publish_until <= vacancy.publish_from
        ):
            text = "Must be after the start of publication."
            raise _RowRefusedError(Remark(end_key(item) or "published_at", "range", text))
        if vacancy.reference and changed & {"reference", "brand"}:
            same = Vacancy.objects.filter(brand=vacancy.brand, reference=vacancy.reference)
            if other := same.exclude(pk=vacancy.pk).values_list("pk", flat=True).first():
                received = format_value(vacancy.reference)
                text = f"Must occur once per brand; {received} is the reference of vacancy {other}."
                raise _RowRefusedError(Remark("reference", "unique", text))
        if needs_approval(before=before, after=vacancy, changed=changed, at=self.now):
            raise _RowRefusedError(Remark("", "approval", NEEDS_APPROVAL))

    def _count(
        self, row: SourceRow, item: JsonObject, vacancy: Vacancy, changed: set[str], *, is_new: bool
    ) -> None:
        """Report what was done with the vacancy."""
        if (slug := item.get("slug")) and slug != vacancy.slug and (is_new or "title" in changed):
            self.report.note(
                row, item, "", "slug", f"the slug changed from {slug} to {vacancy.slug}"
            )
        if is_new:
            self.report.created += 1
            self.report.expired += bool(vacancy.publish_until and vacancy.publish_until <= self.now)
            is_hidden = (
                item.get("status") == FileStatus.DRAFT
                or vacancy.status == VacancyStatus.UNPUBLISHED
            )
            self.report.not_public += is_hidden or vacancy.state_at(self.now) == State.SCHEDULED
        elif changed:
            self.report.updated += 1
        else:
            self.report.unchanged += 1

    def _publish_until(self, row: SourceRow, item: JsonObject, vacancy: Vacancy) -> datetime | None:
        """Return the end of publication: that of the source, unless a recruiter set it here."""
        first, *others = [name for name in ENDS if name in item]
        end = item[first]
        for name in others:
            one, other = end, item[name]
            if name == "closing_date":  # has no time
                one, other = (each and last_day(each, row.zone) for each in (one, other))
            if one != other:
                text = f"differs from {first}, which was used"
                self.report.note(row, item, name, "contradiction", text)
        end = as_shown(end, vacancy.publish_until)
        if vacancy.pk not in self._set_by_recruiters["publish_until"]:
            return end
        if vacancy.publish_until != end:
            text = "differs from the value that a recruiter set here; not changed"
            self.report.note(row, item, first, "kept", text)
        return vacancy.publish_until

    def _people(self, row: SourceRow, item: JsonObject, vacancy: Vacancy) -> JsonObject:
        """Return the brand and head recruiter, by column, if the source has them. Null removes
        them, unless the vacancy is published and requires them.
        """
        wanted: JsonObject = {}
        if item.get("brand"):
            wanted["brand"] = self._rows.brand(
                item["brand"], partial(self.report.note, row, item, "")
            )
        if item.get("head_recruiter"):
            wanted["head_recruiter"] = self._rows.recruiter(
                item["head_recruiter"], partial(self.report.note, row, item, "")
            )
        is_published = vacancy.status == VacancyStatus.PUBLISHED
        for name in ("brand", "head_recruiter"):
            if name not in item or item[name] or not getattr(vacancy, name):
                continue
            if is_published and (name == "head_recruiter" or settings.MULTI_BRANDING):
                text = "is empty in the source, but a published vacancy requires it; not changed"
                self.report.note(row, item, name, "kept", text)
            else:
                wanted[name] = None
        if self.recruiter and not wanted.get("head_recruiter", vacancy.head_recruiter):
            wanted["head_recruiter"] = self.recruiter
        return wanted

    def _is_of_another_file(self, row: SourceRow, vacancy: Vacancy) -> bool:
        """Whether the content of `vacancy` came from a file of the other kind, public or internal.

        The first file decides the content, so that later imports give the same result in any order.
        If a recruiter changed the audience, it is unknown which file was first, and each file may
        decide.
        """
        if row.is_from_service or vacancy.pk in self._set_by_recruiters["audience"]:
            return False
        return row.is_external == (vacancy.audience == Audience.INTERNAL)

    def _import_audience(
        self, row: SourceRow, item: JsonObject, vacancy: Vacancy, attachments: list[Attachment]
    ) -> None:
        """Update the audience of `vacancy`, whose content another file decided.
        Report the differences.
        """
        if different := different_keys(item, vacancy, attachments):
            text = (
                "differs from the file that was imported first; not changed: "
                f"{', '.join(different)}"
            )
            self.report.note(row, item, "", "content_differs", text)
        audience = self._audience(row, item, vacancy.audience)
        if (
            audience != vacancy.audience
            and item.get("status", FileStatus.PUBLISHED) != FileStatus.PUBLISHED
        ):
            text = f"is {item['status']} in this file; the audience was not changed"
            self.report.note(row, item, "status", "kept", text)
            audience = vacancy.audience
        if audience == vacancy.audience:
            self.report.unchanged += 1
            return
        if needs_approval(before=vacancy, after=vacancy, changed={"audience"}, at=self.now):
            raise _RowRefusedError(Remark("", "approval", NEEDS_APPROVAL))
        vacancy.audience = audience
        vacancy.save()
        self.report.updated += 1

    def _audience(self, row: SourceRow, item: JsonObject, current: str | None) -> str:
        """Return the audience: that of the source for a new vacancy, else `current`.

        A public vacancy becomes internal too if the source lists it as internal. An internal one
        does not become public: that is for a recruiter to decide.
        """
        if current is None:
            if row.is_internal:
                return Audience.BOTH if row.is_external else Audience.INTERNAL
            return Audience.PUBLIC
        if current == Audience.INTERNAL and row.is_external:
            text = "is public in the source and internal here; a recruiter can make it public"
            self.report.note(row, item, "", "audience", text)
        return Audience.BOTH if current == Audience.PUBLIC and row.is_internal else current


def _digest(item: object) -> str:
    return hashlib.sha256(json.dumps(item, sort_keys=True).encode()).hexdigest()


def _places(item: JsonObject, stored: Vacancy | None, changed: set[str]) -> list[Place]:
    """Return the places of both kinds;
    those of a key that `item` does not have stay as they are.
    """
    found = []
    for key, kind, known in (
        ("places", PlaceKind.SITE, addresses(stored.sites) if stored else []),
        ("remote_countries", PlaceKind.APPLICANT, stored.remote_countries if stored else []),
    ):
        wanted = item.get(key, known)
        if wanted != known:
            changed.add(key)
        for position, value in enumerate(wanted):
            address = value if kind == PlaceKind.SITE else {"country": value}
            found.append(Place(kind=kind, position=position, **address))
    return found


def _attachments(
    item: JsonObject, uploads: list[Attachment], changed: set[str]
) -> list[tuple[str, str]]:
    """Return the names and URLs of the external attachments of `item`."""
    if "attachments" not in item:
        return []
    external = attachment_pairs(item)
    if [(a.name, a.url) for a in uploads if a.url] != external:
        changed.add("attachments")
    return external


def _save(before: Vacancy | None, vacancy: Vacancy) -> None:
    """Insert `vacancy`, or update it if it is still as `before`, else raise _ChangedError."""
    if before is not None:
        rows = Vacancy.objects.select_for_update().filter(pk=vacancy.pk)
        if rows.values_list("updated_at", flat=True).first() != before.updated_at:
            raise _ChangedError
    vacancy.save(force_insert=before is None)


def _replace_children(
    vacancy: Vacancy,
    changed: set[str],
    *,
    options: list[int],
    recruiters: list[Recruiter],
    places: list[Place],
    attachments: list[tuple[str, str]],
) -> None:
    """Replace the child rows of `vacancy` that are in `changed`. Uploaded attachments are kept."""
    if "options" in changed:
        vacancy.choices.all().delete()
        VacancyOption.objects.bulk_create(
            VacancyOption(vacancy=vacancy, option_id=pk, position=n) for n, pk in enumerate(options)
        )
    if "recruiters" in changed:
        vacancy.recruiter_links.all().delete()
        VacancyRecruiter.objects.bulk_create(
            VacancyRecruiter(vacancy=vacancy, recruiter=r, position=n)
            for n, r in enumerate(recruiters)
        )
    if changed & {"places", "remote_countries"}:
        vacancy.places.all().delete()
        for place in places:
            place.vacancy = vacancy
        Place.objects.bulk_create(places)
    if "attachments" in changed:
        vacancy.attachments.exclude(url="").delete()
        Attachment.objects.bulk_create(
            Attachment(vacancy=vacancy, name=name, url=url, position=n)
            for n, (name, url) in enumerate(attachments)
        )
