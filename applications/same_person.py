"""Which applications are of one person, as conditions of queries.

They have the same account or, unless the given and the family name both differ, as in a shared
mailbox, the same address. Or a colleague joined them: then they have the same number (`person`),
and so do applications that are the same as a joined one.
"""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import F, Q, Value
from django.db.models.lookups import Exact

from jobsite.db.folding import Folded

NAMES = ("given_name", "family_name")
KEYS = ("user_id", "email_folded", *NAMES)


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
