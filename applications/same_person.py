"""Which applications are of one person, as conditions of queries.

They have the same account or, unless the given and the family name both differ, as in a shared
mailbox, the same address. Or a colleague joined them: then they have the same number (`person`),
and so do applications that are the same as a joined one.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import F, Q, QuerySet, Value
from django.db.models.lookups import Exact

from jobsite.db.folding import Folded, fold

NAMES = ("given_name", "family_name")
KEYS = ("user_id", "email_folded", *NAMES)


class Keys(NamedTuple):
    """What says of which person an application is."""

    pk: int
    user_id: int | None
    email_folded: str
    given_name: str
    family_name: str
    person: int | None


def linked(value: Callable[[str], Any]) -> list[Q]:
    """Return the conditions of a row with the account, or with the address and a name, of another.
    `value` returns a column of the other.
    """
    found = []
    if account := value("user_id"):
        found.append(Q(user=account))
    if address := value("email_folded"):
        named = reduce(or_, (_is_named(column, value(column)) for column in NAMES))
        found.append(Q(email_folded=address, email_folded__gt="") & named)
    return found


def _is_named(column: str, name: str) -> Q:
    """Whether `column` is the `name`, without case and accents, or one of both is empty."""
    same = Exact(Folded(F(column)), Folded(Value(name)))
    return Q(**{column: ""}) | Q(Exact(Value(name), Value(""))) | Q(same)


def of_person(rows: Any, application: Any) -> Any:
    """Return those of `rows` that are of the person of `application`, and it."""
    own = reduce(or_, linked(lambda name: getattr(application, name)), Q(pk=application.pk))
    numbers = set(rows.filter(own).exclude(person=None).order_by().values_list("person", flat=True))
    if not numbers:
        return rows.filter(own)
    joined = rows.filter(person__in=numbers).order_by().values(*KEYS).distinct()
    same = (Q() | reduce(or_, linked(each.get), Q(person__in=numbers)) for each in joined)
    return rows.filter(reduce(or_, same, own))


class People:
    """Applications, to ask whether one of them is of the person of another. Persons are those of the
    applications `scope`. In memory, because SQL would look each up several times.
    """

    def __init__(self, scope: QuerySet, rows: Iterable[Keys] = ()) -> None:
        self._pks: set[int] = set()
        self._users: set[int] = set()
        self._numbers: set[int] = set()
        self._by_address: dict[str, list[Keys]] = {}
        self._joined: dict[int | str, list[Keys]] = {}  # by account and address
        self._of_number: dict[int, list[Keys]] = {}
        for row in keys_of(scope.exclude(person=None)):
            self._of_number.setdefault(row.person or 0, []).append(row)
            keys: tuple[int | str | None, ...] = (row.user_id, row.email_folded)
            for key in keys:
                if key:
                    self._joined.setdefault(key, []).append(row)
        for row in rows:
            self.add(row)

    def add(self, row: Keys) -> None:
        self._pks.add(row.pk)
        if row.user_id:
            self._users.add(row.user_id)
        if row.person:
            self._numbers.add(row.person)
        if row.email_folded:
            self._by_address.setdefault(row.email_folded, []).append(row)

    def has(self, row: Keys) -> bool:
        """Return whether one that was added is of the person of `row`."""
        if self._has_linked(row):
            return True
        numbers = {row.person} if row.person else set()
        for key in (row.user_id, row.email_folded):
            if key and key in self._joined:
                linked_ones = (each for each in self._joined[key] if is_linked(each, row))
                numbers |= {each.person for each in linked_ones if each.person}
        return any(
            number in self._numbers or any(map(self._has_linked, self._of_number.get(number, ())))
            for number in numbers
        )

    def _has_linked(self, row: Keys) -> bool:
        if row.pk in self._pks or row.user_id in self._users:
            return True
        same = self._by_address.get(row.email_folded)
        return same is not None and any(is_linked(row, each) for each in same)


def keys_of(rows: QuerySet) -> Iterator[Keys]:
    found = rows.values_list("pk", *KEYS, "person", named=False)
    return map(Keys._make, found.iterator(chunk_size=5000))


def newest_of_each(rows: QuerySet, scope: QuerySet, without: QuerySet | None = None) -> list[int]:
    """Return the ids of those of `rows` that are the newest ones of their persons, the newest first,
    but none of a person with one of the applications `without`. See `People` for `scope`.
    """
    found, newer = [], People(scope)
    left_out = People(scope, keys_of(without)) if without is not None else None
    for row in keys_of(rows.order_by("-created_at", "-pk")):
        if not newer.has(row) and not (left_out and left_out.has(row)):
            found.append(row.pk)
        newer.add(row)
    return found


def groups(rows: QuerySet, of: Iterable[Any]) -> dict[int, list[Any]]:
    """Return those of `rows` that are of the person of each application in `of`, by its id, the
    newest first. In three queries, however many there are.
    """
    wanted = list(of)
    found = {each.pk: each for each in _with_keys(rows, wanted)}
    if numbers := {each.person for each in found.values()} - {None}:
        joined = list(rows.filter(person__in=numbers))
        found |= {each.pk: each for each in (*joined, *_with_keys(rows, joined))}
    newest = sorted(found.values(), key=lambda each: (each.created_at, each.pk), reverse=True)
    return {each.pk: list(_group(each, newest)) for each in wanted}


def _with_keys(rows: QuerySet, wanted: list[Any]) -> QuerySet:
    """Return those of `rows` with an account, address or id of `wanted`."""
    users, addresses = ({getattr(each, name) for each in wanted} for name in KEYS[:2])
    return rows.filter(
        Q(pk__in=[each.pk for each in wanted])
        | Q(user__in=users - {None})
        | Q(email_folded__in=addresses - {""})
    )


def _group(application: Any, rows: list[Any]) -> Iterator[Any]:
    own = {each.pk: each for each in rows if is_linked(each, application)}
    numbers = {each.person for each in own.values()} - {None}
    joined = [each for each in rows if each.person in numbers]
    for each in rows:
        if each.pk in own or any(is_linked(each, other) for other in joined):
            yield each


def is_linked(one: Any, other: Any) -> bool:
    """Whether both are of one person as `linked` says, or are one."""
    if one.pk == other.pk or (one.user_id and one.user_id == other.user_id):
        return True
    if not one.email_folded or one.email_folded != other.email_folded:
        return False
    pairs = ((getattr(one, name), getattr(other, name)) for name in NAMES)
    return any(not (a and b) or fold(a) == fold(b) for a, b in pairs)
