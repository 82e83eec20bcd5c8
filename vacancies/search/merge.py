"""Merges what changed into the base of the index, so that processes have less to read."""

import secrets
from array import array
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.utils import timezone
from pyroaring import BitMap64

from jobsite.serving import replica
from jobsite.serving.revision import bump
from vacancies.choices import VacancyStatus
from vacancies.models import SearchChange, SearchTerm, Vacancy
from vacancies.search.index import FORMAT, ORDERS, TEXTS, TEXTS_MAX, Base, languages, reorder
from vacancies.search.terms import PUBLISHED, WORDS, Bitmaps, read_facts, read_texts
from vacancies.search.words import STEMMERS, key

# At 100,000 vacancies a merge takes 2 s, and a change that is not merged 0.3 ms of each new
# process.
CHANGES_MIN = 200
BLOCK = 20_000  # vacancies whose terms are in memory
ROWS = 10_000  # of a query


def is_due() -> bool:
    """Whether there are so many changes that they should be merged, or the
    index must be made anew.
    """
    base = Base.read()
    limit = min(max(CHANGES_MIN, base.size // 200), TEXTS_MAX)
    return base.is_outdated or len(SearchChange.objects.values_list("pk")[: limit + 1]) > limit


def merge(*, anew: bool = False) -> None:
    """Merge all changes. With `anew`, make the index again, for example after `loaddata`. In a
    transaction, do nothing: it could not see what others have committed."""
    if connection.in_atomic_block:
        return
    with replica.reading(DEFAULT_DB_ALIAS), transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                # Before the snapshot, which begins with the first query.
                cursor.execute("LOCK TABLE vacancies_searchterm IN SHARE ROW EXCLUSIVE MODE")
        if anew or Base.read().is_outdated:
            _forget()
        changes = dict(SearchChange.objects.values_list("pk", "vacancy_id"))
        if changes:
            _Merge().run(sorted(set(changes.values())))
            _delete(SearchChange, list(changes))
    # Processes did not search all texts. In the transaction, any writer could refuse the number.
    if len(changes) > TEXTS_MAX:
        bump(DEFAULT_DB_ALIAS)


def merge_if_due() -> None:
    """Merge the changes if they are many."""
    if is_due():
        merge()


class MergeJob:
    """A job of the dispatcher: readers then have few changes to read."""

    def next_due(self, at: datetime) -> bool | None:
        return is_due() or None

    def run(self, item: bool) -> str:
        merge()
        return "merged"


def _forget() -> None:
    """Delete the base: every vacancy counts as changed."""
    SearchTerm.objects.all().delete()
    SearchChange.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO vacancies_searchchange (vacancy_id) SELECT id FROM vacancies_vacancy"
        )


def _delete(model: Any, pks: list) -> None:
    for start in range(0, len(pks), ROWS):
        model.objects.filter(pk__in=pks[start : start + ROWS]).delete()


class _Merge:
    def __init__(self) -> None:
        self.now = timezone.now()
        self.words: dict[str, set[str]] = {code: set() for code in (*STEMMERS, "")}
        self.titles: set[str] = set()
        self.published = BitMap64()

    def run(self, pks: list[int]) -> None:
        known: set[str] = set()
        for start in range(0, len(pks), BLOCK):
            block = BitMap64(pks[start : start + BLOCK])
            known = self._write_bitmaps(block, self._read(block))
        expired = Vacancy.objects.filter(
            status=VacancyStatus.PUBLISHED, publish_until__lte=self.now
        ).order_by()
        self._write([_row("e", BitMap64(expired.values_list("pk", flat=True)))])
        self._write_texts(known)
        size = self._write_orders(BitMap64(pks))
        base = Base([FORMAT, secrets.randbits(53)], self.now, size, languages())
        self._write([SearchTerm(term="#base", ids=base.dump())])

    def _read(self, pks: BitMap64) -> Bitmaps:
        """Return those of the vacancies that are published, by term."""
        facts = read_facts(pks, expired_at=None)
        published = facts.pop(PUBLISHED, BitMap64())
        texts = read_texts(published)
        for code, words in texts.words.items():
            self.words[code] |= words
        self.titles |= texts.titles
        self.published |= published
        return facts | texts.bitmaps

    def _write_bitmaps(self, gone: BitMap64, added: Bitmaps) -> set[str]:
        """Write the bitmaps that change, and return the words that a vacancy has."""
        known: set[str] = set()
        changed: list[tuple[str, BitMap64]] = []
        empty: list[str] = []
        for term, ids in self._stored():
            before, new = BitMap64.deserialize(ids), added.pop(term, BitMap64())
            if new or before.intersect(gone):
                after = before - gone | new
                if not after:
                    empty.append(term)
                    continue
                changed.append((term, after))
            if term[0] in WORDS:
                known.add(term[1:])
        known.update(term[1:] for term in added if term[0] in WORDS)
        self._write(_row(term, ids) for term, ids in changed)
        self._write(_row(term, pks) for term, pks in added.items())
        _delete(SearchTerm, empty)
        return known

    @staticmethod
    def _stored() -> Iterator[tuple[str, bytes]]:
        """Yield all terms, with little memory and without models:
        there are hundreds of thousands.
        """
        with connection.chunked_cursor() as cursor:
            cursor.execute(
                "SELECT term, ids FROM vacancies_searchterm WHERE term NOT LIKE '#%' AND term <> "
                "'e'"
            )
            while rows := cursor.fetchmany(ROWS):
                yield from rows

    def _write_texts(self, known: set[str]) -> None:
        """Write the vocabulary: the words of before that a vacancy still has, and the new ones."""
        before = {
            name: bytes(ids).decode().split("\n")[1:-1]
            for name, ids in SearchTerm.objects.filter(pk__in=TEXTS).values_list("pk", "ids")
        }
        texts = {"#titles": (self.titles | set(before.get("#titles", ()))) & known}
        for code, words in self.words.items():
            texts[f"#words:{code}"] = words = (
                words | set(before.get(f"#words:{code}", ()))
            ) & known
            by_key: dict[str, list[str]] = {}
            for word in sorted(words) if code else ():
                by_key.setdefault(key(word, code), []).append(word)
            texts[f"#keys:{code}"] = {"\t".join([own, *forms, ""]) for own, forms in by_key.items()}
        self._write(
            SearchTerm(term=name, ids="\n".join(["", *sorted(lines), ""]).encode())
            for name, lines in texts.items()
        )

    def _write_orders(self, gone: BitMap64) -> int:
        """Write the ids of all published vacancies in each order, and return their number."""
        rows = dict(SearchTerm.objects.filter(pk__startswith="#order:").values_list("pk", "ids"))
        size = 0
        for sort in ORDERS:
            before = array("q", bytes(rows.get("#order:" + sort, b"")))
            order = reorder(before, sort, gone, self.published)
            self._write([SearchTerm(term="#order:" + sort, ids=order.tobytes())])
            size = len(order)
        return size

    def _write(self, rows: Iterable[SearchTerm]) -> None:
        SearchTerm.objects.bulk_create(
            rows,
            batch_size=500,
            update_conflicts=True,
            unique_fields=["term"],
            update_fields=["ids"],
        )


def _row(term: str, ids: BitMap64) -> SearchTerm:
    ids.run_optimize()
    return SearchTerm(term=term, ids=ids.serialize())
