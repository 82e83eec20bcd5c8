"""Which applications are of one person, as conditions of queries.

They have the same account or, unless the given and the family name both differ, as in a shared
mailbox, the same address. Or a colleague joined them: then they have the same number (`person`),
and so do applications that are the same as a joined one.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.lookups import Exact

from jobsite.db.folding import Folded

NAMES = ("given_name", "family_name")
KEYS = ("user_id", "email_folded", *NAMES)


def linked(value: Callable[[str], Any]) -> list[Q]:
    """Return the conditions of a row with the account, or with the address and a name, of another.
    `value` returns a column of the other: a value, or a reference to an outer query.
    """
    found = []
    if account := value("user_id"):
        found.append(Q(user=account))
    if address := value("email_folded"):
        named = reduce(or_, (_is_named(column, value(column)) for column in NAMES))
        found.append(Q(email_folded=address, email_folded__gt="") & named)
    return found


def _is_named(column: str, name: Any) -> Q:
    """Whether `column` is the `name`, without case and accents, or one of both is empty."""
    if isinstance(name, str):
        name = Value(name)
    same = Exact(Folded(F(column)), Folded(name))
    return Q(**{column: ""}) | Q(Exact(name, Value(""))) | Q(same)


def of_person(rows: Any, application: Any) -> Any:
    """Return those of `rows` that are of the person of `application`, and it."""
    own = reduce(or_, linked(lambda name: getattr(application, name)), Q(pk=application.pk))
    numbers = set(rows.filter(own).exclude(person=None).order_by().values_list("person", flat=True))
    if not numbers:
        return rows.filter(own)
    joined = rows.filter(person__in=numbers).order_by().values(*KEYS).distinct()
    same = (Q() | reduce(or_, linked(each.get), Q(person__in=numbers)) for each in joined)
    return rows.filter(reduce(or_, same, own))


def newest_of_each(rows: Any, scope: Any) -> Any:
    """Return those of `rows` of which no newer one is of the same person. Persons are those of the
    applications `scope`.
    """
    return rows.filter(*(~Exists(each) for each in _newer(rows.order_by(), scope.order_by())))


def _newer(rows: Any, scope: Any) -> Iterator[QuerySet]:
    """Yield queries that find something if the outer row has a newer one of its person, one for
    each index.
    """
    newer = rows.filter(_is_newer(OuterRef))
    yield from (newer.filter(each) for each in linked(OuterRef))
    if scope.exclude(person=None).exists():
        own = reduce(or_, linked(_outer(2)), Q(pk=_outer(2)("pk")))
        numbers = scope.filter(own, person__isnull=False).values("person")
        yield newer.filter(person__in=numbers)
        of_joined = rows.filter(_is_newer(_outer(2)))
        found = reduce(or_, (Q(Exists(of_joined.filter(each))) for each in linked(OuterRef)))
        yield scope.filter(found, person__in=numbers)


def _is_newer(outer: Callable[[str], Any]) -> Q:
    at, pk = outer("created_at"), outer("pk")
    return Q(created_at__gt=at) | Q(created_at=at, pk__gt=pk)


def _outer(levels: int) -> Callable[[str], Any]:
    """Return a function that refers to a column of the query so many `levels` outside."""

    def column(name: Any) -> Any:
        for _level in range(levels):
            name = OuterRef(name)
        return name

    return column
