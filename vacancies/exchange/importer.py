"""Import of vacancies: items of API v1 become rows. Importing the same items again changes nothing.

The source decides the content of a vacancy. Recruiters decide its publication: an import keeps what
they set. A service publishes what it lists. A file may state the publication of each vacancy.
"""

import hashlib
import json
from collections.abc import Iterable
from itertools import islice

from django.core.management.color import no_style
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from jobsite.types import JsonObject
from vacancies.choices import State, VacancyStatus
from vacancies.exchange.comparison import different_keys, end_key, set_by_recruiters
from vacancies.exchange.fields import Remark, format_value
from vacancies.exchange.incoming import Incoming, ItemRefusedError
from vacancies.exchange.item_reader import ItemReader
from vacancies.exchange.option_types import OptionTypes
from vacancies.exchange.publication import Publication
from vacancies.exchange.related import RelatedRows
from vacancies.exchange.reports import VacancyReport
from vacancies.exchange.serializers import FileStatus
from vacancies.exchange.sources import SourceRow
from vacancies.history.versions import record_drifts
from vacancies.models import Filter, Recruiter, Vacancy, needs_approval
from vacancies.operations.rows import insert, write
from vacancies.search.merge import merge_if_due

BATCH = 100
MERGE_EVERY = 20  # batches
NEEDS_APPROVAL = "The vacancy is public and its brand publishes with approval only. Not changed."


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
        read = [(row, item) for row in batch if (item := self._reader.read(row)) is not None]
        checked = [(row, item) for row, item in read if self._is_first(row, item, seen)]
        try:
            self._import_together(checked)
        except DatabaseError:  # because of one row, which is refused
            for row, item in checked:
                try:
                    self._import_together([(row, item)])
                except DatabaseError as error:
                    self.report.refuse(row.name, Remark("", "database", str(error)), id=item["id"])

    def _is_first(self, row: SourceRow, item: JsonObject, seen: dict[int, str]) -> bool:
        """Return whether no earlier item has the id of `item`. If one has, report it."""
        digest = hashlib.sha256(json.dumps(row.item, sort_keys=True).encode()).hexdigest()
        if item["id"] not in seen:
            seen[item["id"]] = digest
            return True
        if seen[item["id"]] == digest:
            text = "repeats an earlier item of the same source"
            self.report.note(row, item, "", "duplicate", text)
            self.report.unchanged += 1
        else:
            text = "An earlier item of the same source has this id and other content."
            self.report.refuse(row.name, Remark("", "duplicate", text), id=item["id"])
        return False

    def _import_together(self, checked: list[tuple[SourceRow, JsonObject]]) -> None:
        """Read all rows, then write what they change. If the database refuses something, raise
        DatabaseError, with nothing written or reported.
        """
        with self.report.restored(), self._rows.restored(), transaction.atomic():
            vacancies = Vacancy.objects.with_related().defer(None)  # a save needs all columns
            pks = [item["id"] for _, item in checked]
            # Locked until the batch is written, so that no recruiter's save is overwritten.
            locked = vacancies.select_related("form").select_for_update(of=("self",))
            stored = {each.pk: each for each in locked.filter(pk__in=pks).order_by("pk")}
            self._set_by_recruiters = set_by_recruiters(stored)
            found = []
            for row, item in checked:
                if row.is_part and item["id"] not in stored:  # refused as a whole
                    continue
                try:
                    with transaction.atomic():
                        found.append(self._import_item(row, item, stored.get(item["id"])))
                except ItemRefusedError as refusal:
                    self._rows.clear()
                    self.report.refuse(row.name, refusal.remark, id=item["id"])
            self._write(found)
        for incoming in found:
            if "employment_types" in incoming.item and not incoming.is_audience_only:
                self._option_types.add(incoming.row, incoming.item, incoming.options)

    def _write(self, found: list[Incoming]) -> None:
        insert((each.vacancy, each.changes) for each in found if each.stored is None)
        for each in found:
            if each.stored and each.changed:
                write(each.vacancy, each.changes)
        record_drifts([each.vacancy.pk for each in found if each.changes], at=self.now)

    def _import_item(self, row: SourceRow, item: JsonObject, stored: Vacancy | None) -> Incoming:
        """Return what `item` changes in `stored`, or its new vacancy, and report that. Raise
        ItemRefusedError.
        """
        incoming = Incoming(row, item, stored, self.now, self.report)
        publication = Publication(incoming, self._set_by_recruiters)
        if stored and publication.is_of_another_file():
            self._import_audience(incoming, stored, publication)
            return incoming
        publication.set_audience()
        publication.set_end()
        incoming.set_columns(self._rows, self.recruiter)
        if stored is None and "language" not in item:
            incoming.guess_language()
        incoming.set_rows(self._rows)
        publication.set_status()
        incoming.compare()
        self._check(incoming)
        incoming.set_updated_at()
        self._count(incoming)
        return incoming

    def _import_audience(
        self, incoming: Incoming, stored: Vacancy, publication: Publication
    ) -> None:
        """Change the audience only of `stored`, whose content another file decided. Report the
        differences.
        """
        incoming.is_audience_only = True
        item, attachments = incoming.item, list(stored.attachments.all())
        if different := different_keys(item, stored, attachments):
            text = (
                "differs from the file that was imported first; not changed: "
                f"{', '.join(different)}"
            )
            incoming.note("", "content_differs", text)
        publication.set_audience()
        status = item.get("status", FileStatus.PUBLISHED)
        if incoming.vacancy.audience != stored.audience and status != FileStatus.PUBLISHED:
            text = f"is {status} in this file; the audience was not changed"
            incoming.note("status", "kept", text)
            incoming.vacancy.audience = stored.audience
        incoming.compare()
        if needs_approval(
            before=stored, after=incoming.vacancy, changed=incoming.changed, at=self.now
        ):
            raise ItemRefusedError(Remark("", "approval", NEEDS_APPROVAL))
        self._count(incoming)

    def _check(self, incoming: Incoming) -> None:
        """Raise ItemRefusedError if the vacancy would close before it opens, has the reference of
        another one, or needs approval.
        """
        vacancy, changed = incoming.vacancy, incoming.changed
        begin, end = vacancy.publish_from, vacancy.publish_until
        if begin and end and end <= begin:
            key = end_key(incoming.item) or "published_at"
            raise ItemRefusedError(Remark(key, "range", "Must be after the start of publication."))
        if vacancy.reference and changed & {"reference", "brand"}:
            same = Vacancy.objects.filter(brand=vacancy.brand, reference=vacancy.reference)
            if other := same.exclude(pk=vacancy.pk).values_list("pk", flat=True).first():
                received = format_value(vacancy.reference)
                text = f"Must occur once per brand; {received} is the reference of vacancy {other}."
                raise ItemRefusedError(Remark("reference", "unique", text))
        if needs_approval(before=incoming.stored, after=vacancy, changed=changed, at=self.now):
            raise ItemRefusedError(Remark("", "approval", NEEDS_APPROVAL))

    def _count(self, incoming: Incoming) -> None:
        """Report what is done with the vacancy."""
        item, vacancy, report = incoming.item, incoming.vacancy, self.report
        slug, is_new = item.get("slug"), incoming.stored is None
        if slug and slug != vacancy.slug and "title" in incoming.changed:
            incoming.note("", "slug", f"the slug changed from {slug} to {vacancy.slug}")
        if is_new:
            report.created += 1
            report.expired += bool(vacancy.publish_until and vacancy.publish_until <= self.now)
            is_draft = item.get("status") == FileStatus.DRAFT
            is_hidden = is_draft or vacancy.status == VacancyStatus.UNPUBLISHED
            report.not_public += is_hidden or vacancy.state_at(self.now) == State.SCHEDULED
        elif incoming.changed:
            report.updated += 1
        else:
            report.unchanged += 1
