"""Joining applications of one person that have neither an address nor an account in common, and
separating them again.
"""

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from applications.models import Application, PersonChange
from applications.querysets import ApplicationQuerySet
from applications.same_person import linked
from jobsite.db.locks import lock_transaction

APPLICATIONS_MAX = 500  # of a person
_LOCK = "persons"


class JoinError(Exception):
    """The applications cannot be joined: they are of two brands or too many, or gone, or colleagues
    joined each with others that the author does not see.
    """


class UndoError(Exception):
    """The change was undone already, is too old, or a later one has the same applications."""


def join(
    *, first: Application, second: Application, author: User | None, at: datetime
) -> PersonChange:
    """Join the applications to the same brand of the persons of `first` and `second`, as far as
    `author` sees them. Others that are joined with them stay so. Raise JoinError.
    """
    with transaction.atomic():
        lock_transaction(_LOCK)
        by_pk = Application.objects.select_related("vacancy").in_bulk([first.pk, second.pk])
        if by_pk.keys() != {first.pk, second.pk}:
            raise JoinError
        first, second = by_pk[first.pk], by_pk[second.pk]
        # those of other brands are never joined
        rows = _seen_by(author, first.vacancy.brand_id)
        if not rows.filter(pk=second.pk).exists():
            raise JoinError
        pks = {each.pk for each in (*rows.of_person(first), *rows.of_person(second))}
        before = _locked(Q(pk__in=pks))
        unseen = _numbers_of_unseen(before, first.vacancy.brand_id)
        is_too_much = len(before) > APPLICATIONS_MAX or len(unseen) > 1
        if is_too_much or not by_pk.keys() <= before.keys():
            raise JoinError
        number = min(unseen or before)
        return _set(before, dict.fromkeys(before, number), author, at)


def separate(*, application: Application, author: User | None, at: datetime) -> PersonChange | None:
    """Separate `application` from those that it is joined with, together with those that have its
    address or account: these show that they are of its person. Return None if it is not joined.
    """
    with transaction.atomic():
        lock_transaction(_LOCK)
        current = Application.objects.filter(pk=application.pk).first()
        if current is None or current.person is None:
            return None
        rows = _seen_by(author, current.vacancy.brand_id)
        before = _locked(Q(pk__in=rows.filter(person=current.person).values("pk")))
        own = is_linked(current) | Q(pk=current.pk)
        left = set(Application.objects.filter(own, pk__in=before).values_list("pk", flat=True))
        kept = before.keys() - left
        number = min(kept) if len(kept) > 1 else None
        number = min(_numbers_of_unseen(before, current.vacancy.brand_id), default=number)
        after = {pk: None if pk in left else number for pk in before}
        return _set(before, after, author, at)


def undo(*, change: PersonChange, at: datetime) -> None:
    """Restore what applications had before `change`. Raise UndoError."""
    with transaction.atomic():
        lock_transaction(_LOCK)
        if change.pk not in (each.pk for each in undoable(before_of(change), at=at)[:1]):
            raise UndoError
        _write({int(pk): number for pk, number in change.before.items()})
        PersonChange.objects.filter(pk=change.pk).update(undone_at=at)


def undoable(pks: Collection[int], *, at: datetime) -> list[PersonChange]:
    """Return the changes of the applications `pks` that were not undone, the latest first. The
    first one can be undone, unless a later one has others of its applications.
    """
    recent = PersonChange.objects.filter(at__gt=at - PersonChange.KEPT, undone_at=None)
    wanted = {str(pk) for pk in pks}
    return [each for each in recent.order_by("-pk") if wanted & each.before.keys()]


def before_of(change: PersonChange) -> list[int]:
    """Return the ids of the applications of `change`."""
    return [int(pk) for pk in change.before]


def is_linked(application: Application) -> Q:
    """Match applications with the address or the account of `application`."""
    found = Q(pk__in=[])
    for condition in linked(lambda name: getattr(application, name)):
        found |= condition
    return found


def _seen_by(author: User | None, brand: int | None) -> ApplicationQuerySet:
    rows: ApplicationQuerySet = Application.objects.to_brand(brand)
    return rows.visible_to(author) if author else rows


def _numbers_of_unseen(before: dict[int, int | None], brand: int | None) -> set[int]:
    """Return the numbers in `before` that other applications to `brand` have too: the author does
    not see those, and they are not changed.
    """
    rows = Application.objects.to_brand(brand).filter(person__in=set(before.values()) - {None})
    others = rows.exclude(pk__in=list(before)).order_by()
    return {number for number in others.values_list("person", flat=True) if number is not None}


def _locked(wanted: Q) -> dict[int, int | None]:
    """Return the numbers of the applications, locked, in the order of erasures."""
    rows = Application.objects.filter(wanted).order_by("pk").select_for_update(of=("self",))
    return dict(rows.values_list("pk", "person"))


def _set(
    before: dict[int, int | None], after: dict[int, int | None], author: User | None, at: datetime
) -> PersonChange:
    _write({pk: number for pk, number in after.items() if number != before[pk]})
    return PersonChange.objects.create(before=before, author=author, at=at)


def _write(numbers: dict[int, int | None]) -> None:
    for number in set(numbers.values()):
        pks = [pk for pk, each in numbers.items() if each == number]
        Application.objects.filter(pk__in=pks).update(person=number)
