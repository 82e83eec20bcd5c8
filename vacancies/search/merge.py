"""Merges what changed into the base of the index, so that processes have less to read."""

import secrets
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, transaction
from django.utils import timezone
from pyroaring import BitMap64

from jobsite.languages import site_language
from jobsite.serving import replica
from vacancies.models import SearchChange, SearchTerm, Status, Vacancy
from vacancies.search.index import TEXTS, Base, is_due
from vacancies.search.terms import WORDS, Entry, read_entries
from vacancies.search.words import STEMMERS, key

BLOCK = 10_000  # vacancies whose terms are in memory


def merge(*, always: bool = True, anew: bool = False) -> bool:
    """Merge all changes; without `always`, only if they are many. With `anew`, make the index again, for
    example after `loaddata`. Return False if another transaction merges, or in a transaction."""
    if connection.in_atomic_block:
        return False
    with suppress(DatabaseError), replica.reading(DEFAULT_DB_ALIAS), transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                # Before the snapshot, which begins with the first query.
                cursor.execute("LOCK TABLE vacancies_searchterm IN SHARE ROW EXCLUSIVE MODE NOWAIT")
        base = Base.read()
        if anew or base.language not in ("", site_language()):
            _forget()
            base = Base()
        changes = dict(SearchChange.objects.values_list("pk", "vacancy_id"))
        if changes and (always or is_due(base, len(changes))):
            _Merge(set(changes.values())).run()
            _delete(SearchChange, list(changes))
        return True
    return False


def _forget() -> None:
    """Delete the base: every vacancy counts as changed."""
    SearchTerm.objects.all().delete()
    SearchChange.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO vacancies_searchchange (vacancy_id) SELECT id FROM vacancies_vacancy")


def _delete(model: Any, pks: list) -> None:
    for start in range(0, len(pks), BLOCK):
        model.objects.filter(pk__in=pks[start : start + BLOCK]).delete()


class _Merge:
    def __init__(self, pks: set[int]) -> None:
        self.pks, self.gone = pks, BitMap64(pks)
        self.now = timezone.now()
        self.added: dict[str, BitMap64] = {}
        self.words: dict[str, set[str]] = {code: set() for code in (*STEMMERS, "")}
        self.titles: set[str] = set()
        self.starts: list[tuple[int, int]] = []

    def run(self) -> None:
        todo = sorted(self.pks)
        for start in range(0, len(todo), BLOCK):
            self._add(read_entries(todo[start : start + BLOCK]))
        expired = Vacancy.objects.filter(status=Status.PUBLISHED, publish_until__lte=self.now).order_by()
        self.added["e"] = BitMap64(expired.values_list("pk", flat=True))
        known = self._write_bitmaps()
        self._write_texts(known)
        size = self._write_order()
        base = Base(secrets.randbits(53), self.now, size, site_language())
        self._write([SearchTerm(term="#base", ids=base.dump())])

    def _add(self, entries: dict[int, Entry]) -> None:
        by_term: dict[str, list[int]] = {}
        for pk, entry in entries.items():
            for term in entry.terms:
                by_term.setdefault(term, []).append(pk)
            self.words[entry.language] |= entry.words
            self.titles |= entry.title_words
            self.starts.append((-entry.start, -pk))
        for term, pks in by_term.items():
            new = BitMap64(pks)
            self.added[term] = self.added[term] | new if term in self.added else new

    def _write_bitmaps(self) -> set[str]:
        """Write the bitmaps that change, and return the words that a vacancy has."""
        known: set[str] = set()
        changed: list[tuple[str, BitMap64]] = []
        empty: list[str] = []
        for term, ids in self._stored():
            before = BitMap64.deserialize(ids)
            added = self.added.pop(term, None)
            if added is not None or before.intersect(self.gone):
                after = added or BitMap64()
                if term != "e":
                    after = before - self.gone | after
                if not after:
                    empty.append(term)
                    continue
                changed.append((term, after))
            if term[0] in WORDS:
                known.add(term[1:])
        known.update(term[1:] for term in self.added if term[0] in WORDS)
        self._write(_row(term, ids) for term, ids in (*changed, *self.added.items()))
        _delete(SearchTerm, empty)
        return known

    @staticmethod
    def _stored() -> Iterator[tuple[str, bytes]]:
        """Yield all terms, with little memory and without models: there are hundreds of thousands."""
        with connection.chunked_cursor() as cursor:
            cursor.execute("SELECT term, ids FROM vacancies_searchterm WHERE term NOT LIKE '#%'")
            while rows := cursor.fetchmany(BLOCK):
                yield from rows

    def _write_texts(self, known: set[str]) -> None:
        """Write the vocabulary: the words of before that a vacancy still has, and the new ones."""
        before = {
            name: bytes(ids).decode().split("\n")[1:-1]
            for name, ids in SearchTerm.objects.filter(pk__in=TEXTS).values_list("pk", "ids")
        }
        texts = {"#titles": (self.titles | set(before.get("#titles", ()))) & known}
        for code, words in self.words.items():
            texts[f"#words:{code}"] = words = (words | set(before.get(f"#words:{code}", ()))) & known
            by_key: dict[str, list[str]] = {}
            for word in sorted(words) if code else ():
                by_key.setdefault(key(word, code), []).append(word)
            texts[f"#keys:{code}"] = {"\t".join([own, *forms, ""]) for own, forms in by_key.items()}
        self._write(
            SearchTerm(term=name, ids="\n".join(["", *sorted(lines), ""]).encode())
            for name, lines in texts.items()
        )

    def _write_order(self) -> int:
        """Write the ids, newest first, and return their number."""
        rows = dict(SearchTerm.objects.filter(pk__in=["#ids", "#starts"]).values_list("pk", "ids"))
        ids, starts = (array("q", bytes(rows.get(name, b""))) for name in ("#ids", "#starts"))
        order = [(-at, -pk) for at, pk in zip(starts, ids, strict=True) if pk not in self.pks]
        order = sorted(order + self.starts)
        self._write([
            SearchTerm(term="#ids", ids=array("q", [-pk for _, pk in order]).tobytes()),
            SearchTerm(term="#starts", ids=array("q", [-at for at, _ in order]).tobytes()),
        ])  # fmt: skip
        return len(order)

    def _write(self, rows: Iterable[SearchTerm]) -> None:
        SearchTerm.objects.bulk_create(
            rows, batch_size=500, update_conflicts=True, unique_fields=["term"], update_fields=["ids"]
        )


def _row(term: str, ids: BitMap64) -> SearchTerm:
    ids.run_optimize()
    return SearchTerm(term=term, ids=ids.serialize())
