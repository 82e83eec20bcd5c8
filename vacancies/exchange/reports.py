"""Reports of imports: counts, lines for a terminal, and one record per remark for --report."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field

from jobsite.ops.commands import uninterrupted
from jobsite.types import JsonObject
from vacancies.exchange.fields import Remark
from vacancies.exchange.sources import SourceRow

REMARKS_SHOWN = 5  # of one row on a terminal; --report writes all


@dataclass(frozen=True)
class RowReport:
    """The remarks about one row of a source. `kind` is "failed" for a row that was refused, "draft"
    for one that was imported as a draft, "note" for one that was imported with changes.
    """

    kind: str
    row: str
    id: object
    remarks: tuple[Remark, ...]
    is_id_shown: bool = False

    def __str__(self) -> str:
        name = f"{self.row} (id {self.id})" if self.is_id_shown else self.row
        texts = [str(remark) for remark in self.remarks]
        if more := len(texts[REMARKS_SHOWN:]):
            texts[REMARKS_SHOWN:] = [f"and {more} more"]
        return f"{name}: {'; '.join(texts)}" if name else "; ".join(texts)

    def records(self) -> Iterator[JsonObject]:
        for remark in self.remarks:
            yield {
                "kind": self.kind,
                "row": self.row,
                "id": self.id,
                "field": remark.field,
                "code": remark.code,
                "message": remark.message,
            }


@dataclass
class ImportReport:
    """Base class of the reports. `refused` counts rows. `sink` receives the records of each batch
    when it has been committed.
    """

    refused: int = 0
    entries: list[RowReport] = field(default_factory=list)
    sink: Callable[[JsonObject], None] | None = None
    _flushed: int = 0

    @property
    def failed(self) -> list[str]:
        return self._lines("failed")

    @property
    def notes(self) -> list[str]:
        return self._lines("note")

    @property
    def total(self) -> int:
        """The number of rows that were read."""
        raise NotImplementedError

    def add(
        self, kind: str, row: str, *remarks: Remark, id: object = None, is_id_shown: bool = False
    ) -> None:
        self.entries.append(RowReport(kind, row, id, remarks, is_id_shown))

    def refuse(
        self, row: str, *remarks: Remark, id: object = None, is_id_shown: bool = False
    ) -> None:
        """Record a row that was not imported."""
        self.refused += 1
        self.add("failed", row, *remarks, id=id, is_id_shown=is_id_shown)

    def fail(self, problem: str) -> None:
        """Record a problem of a whole source."""
        self.add("failed", "", Remark("", "source", problem))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Restore the counts if the block raises, because its transaction is rolled back. Ctrl-C is
        deferred to the end of the block, so that the counts match what was committed.
        """
        with uninterrupted():
            with self.restored():
                yield
            self.flush()

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Restore the counts and the remarks if the block raises."""
        counts = {
            name: each for name, each in vars(self).items() if isinstance(each, (int, Counter))
        }
        before = deepcopy(counts)
        length = len(self.entries)
        try:
            yield
        except BaseException:
            vars(self).update(before)
            del self.entries[length:]
            raise

    def flush(self) -> None:
        """Send new records to the sink."""
        if self.sink:
            for entry in self.entries[self._flushed :]:
                for record in entry.records():
                    self.sink(record)
        self._flushed = len(self.entries)

    def data(self) -> JsonObject:
        """Return the report for `--format json`."""
        counts = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        del counts["_flushed"]
        return counts | {"failed": self.failed, "notes": self.notes}

    def _lines(self, kind: str) -> list[str]:
        return [str(entry) for entry in self.entries if entry.kind == kind]


@dataclass
class VacancyReport(ImportReport):
    """Counts and messages of an import of vacancies."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    expired: int = 0  # created with a publish_until in the past
    not_public: int = 0  # created as a draft, scheduled or closed, because the source states it
    related: int = 0  # brands and recruiters that were created or updated
    typed: int = 0  # options that received an employment type
    # Guessed, of new vacancies; "": not recognised.
    languages: Counter[str] = field(default_factory=Counter)

    @property
    def drafts(self) -> list[str]:
        return self._lines("draft")

    @property
    def total(self) -> int:
        return self.created + self.updated + self.unchanged + self.refused

    @property
    def has_changed(self) -> bool:
        return bool(self.created or self.updated or self.related or self.typed)

    def refuse(
        self, row: str, *remarks: Remark, id: object = None, is_id_shown: bool = True
    ) -> None:
        super().refuse(row, *remarks, id=id, is_id_shown=is_id_shown)

    def note(self, row: SourceRow, item: JsonObject, field: str, code: str, text: str) -> None:
        """Record that the `item` of `row` was imported with a change."""
        self.add("note", row.name, Remark(field, code, text), id=item["id"], is_id_shown=True)

    def data(self) -> JsonObject:
        return super().data() | {"drafts": self.drafts, "languages": dict(self.languages)}
