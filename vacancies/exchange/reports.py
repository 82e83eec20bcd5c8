"""What an import did: counts, lines for people, and one record for each remark for --report."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jobsite.ops.commands import uninterrupted
from vacancies.exchange.fields import Remark

REMARKS_SHOWN = 5  # of one row on a terminal; the file of --report has all


@dataclass(frozen=True)
class Entry:
    """What there is to say about one row of a source. `kind` is "failed" for a row that was refused,
    "draft" for one that was not published, "note" for one that was changed on its way in."""

    kind: str
    row: str
    id: Any
    remarks: tuple[Remark, ...]
    is_id_shown: bool = False

    def __str__(self) -> str:
        name = f"{self.row} (id {self.id})" if self.is_id_shown else self.row
        texts = [str(remark) for remark in self.remarks]
        if more := len(texts[REMARKS_SHOWN:]):
            texts[REMARKS_SHOWN:] = [f"and {more} more"]
        return f"{name}: {'; '.join(texts)}" if name else "; ".join(texts)

    def records(self) -> Iterator[dict[str, Any]]:
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
class Report:
    """The base of each import's report. `refused` counts rows; `sink` gets the records of each batch once it
    is committed."""

    refused: int = 0
    entries: list[Entry] = field(default_factory=list)
    sink: Callable[[dict[str, Any]], None] | None = None
    _flushed: int = 0

    @property
    def failed(self) -> list[str]:
        return self._lines("failed")

    @property
    def notes(self) -> list[str]:
        return self._lines("note")

    @property
    def total(self) -> int:
        """How many rows were read."""
        raise NotImplementedError

    def add(self, kind: str, row: str, *remarks: Remark, id: Any = None, is_id_shown: bool = False) -> None:
        self.entries.append(Entry(kind, row, id, remarks, is_id_shown))

    def refuse(self, row: str, *remarks: Remark, id: Any = None, is_id_shown: bool = False) -> None:
        """Record a row that was not imported."""
        self.refused += 1
        self.add("failed", row, *remarks, id=id, is_id_shown=is_id_shown)

    def fail(self, problem: str) -> None:
        """Record a problem of a source as a whole."""
        self.add("failed", "", Remark("", "source", problem))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Take back what was counted in the block if it ends early, as its transaction is rolled back.
        Ctrl-C waits for its end, so that what is committed is counted."""
        with uninterrupted():
            before = {name: value for name, value in vars(self).items() if isinstance(value, int)}
            length = len(self.entries)
            try:
                yield
            except BaseException:
                vars(self).update(before)
                del self.entries[length:]
                raise
            self.flush()

    def flush(self) -> None:
        """Give the sink what it does not have yet."""
        if self.sink:
            for entry in self.entries[self._flushed :]:
                for record in entry.records():
                    self.sink(record)
        self._flushed = len(self.entries)

    def data(self) -> dict[str, Any]:
        """The report as `--format json` has it."""
        counts = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        del counts["_flushed"]
        return counts | {"failed": self.failed, "notes": self.notes}

    def _lines(self, kind: str) -> list[str]:
        return [str(entry) for entry in self.entries if entry.kind == kind]
