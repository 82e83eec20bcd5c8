"""Which applications are of one person, against a model without a database."""

import os
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

import pytest
from django.utils import timezone

from applications.models import Application, PersonChange
from applications.operations import joining
from applications.privacy.deletion import delete_applications
from applications.same_person import groups, newest_of_each
from jobsite.db.folding import fold
from jobsite.db.transactions import dry_run
from tests.applications.makers import make_user
from tests.factories import make_brand, make_vacancy

pytestmark = pytest.mark.django_db

SEQUENCES = int(os.environ.get("PERSON_SEQUENCES", "60"))  # 1000 take some minutes
ADDRESSES = ("", "x@example.org", "y@example.org", "z@example.org")
PEOPLE = (("Mia", "Maes"), ("MÍA", "Peeters"), ("Jan", "Peeters"), ("", ""), ("Jan", ""))


@dataclass(frozen=True)
class Row:
    brand: int
    address: str
    names: tuple[str, str]
    user: int | None
    label: object = None  # the same for joined ones

    def is_like(self, other):
        """Whether the account, or the address and a name, say that both are of one person."""
        if self.user and self.user == other.user:
            return True
        if not self.address or self.address != other.address:
            return False
        pairs = zip(self.names, other.names, strict=True)
        return any(not (a and b) or fold(a) == fold(b) for a, b in pairs)


class Model:
    """The applications by id, and the changes: what they changed, and whether they are undone."""

    def __init__(self, rows):
        self.rows, self.changes = rows, []

    def of_person(self, pk, brand=None):
        rows = {k: row for k, row in self.rows.items() if brand in (None, row.brand)}
        like = {pk} | {k for k, row in rows.items() if row.is_like(rows[pk])}
        labels = {rows[k].label for k in like} - {None}
        joined = {k for k, row in rows.items() if row.label in labels}
        more = {k for k, row in rows.items() if any(row.is_like(rows[j]) for j in joined)}
        return like | joined | more

    def newest(self):  # ids are in the order of time
        return {pk for pk in self.rows if max(self.of_person(pk)) == pk}

    def set(self, labels):
        self.changes.append([{pk: self.rows[pk].label for pk in labels}, False])
        self.write(labels)

    def write(self, labels):
        for pk, label in labels.items():
            if pk in self.rows:
                self.rows[pk] = replace(self.rows[pk], label=label)

    def join(self, a, b):
        brand = self.rows[a].brand
        if self.rows[b].brand != brand:
            return False
        self.set(dict.fromkeys(self.of_person(a, brand) | self.of_person(b, brand), object()))
        return True

    def separate(self, pk):
        own = self.rows[pk]
        if own.label is None:
            return False
        group = {k for k, row in self.rows.items() if row.label is own.label}
        left = {k for k in group if k == pk or own.is_like(self.rows[k])}
        label = object() if len(group - left) > 1 else None
        self.set({k: None if k in left else label for k in group})
        return True

    def undo(self, number):
        before, is_undone = self.changes[number]
        later = self.changes[number + 1 :]
        if is_undone or any(each.keys() & before.keys() for each, undone in later if not undone):
            return False
        self.write(before)
        self.changes[number][1] = True
        return True


def run(seed, vacancies, users):
    random, at = Random(seed), timezone.now()
    rows = {}
    for number in range(random.randint(3, 7)):
        brand = random.choice([0, 0, 1])
        given, family = random.choice(PEOPLE)
        address, user = random.choice(ADDRESSES), random.choice([None, None, None, *users])
        row = Application.objects.create(
            vacancy=vacancies[brand],
            user=user,
            given_name=given,
            family_name=family,
            email_folded=address,
            created_at=at + timedelta(minutes=number),
        )
        rows[row.pk] = Row(brand, address, (given, family), user and user.pk)
    model = Model(rows)
    for _ in range(random.randint(2, 9)):
        a, b = random.choices([*rows], k=2)
        first, second = (Application.objects.get(pk=pk) for pk in (a, b))
        act = random.choice(["join", "join", "join", "separate", "undo", "undo", "erase", "claim"])
        changes = list(PersonChange.objects.order_by("pk"))
        if act == "join":
            try:
                joining.join(first=first, second=second, author=None, at=at)
                done = True
            except joining.JoinError:
                done = False
            assert done == model.join(a, b)
        elif act == "separate":
            found = joining.separate(application=first, author=None, at=at)
            assert (found is not None) == model.separate(a)
        elif act == "undo" and changes:
            number = random.randrange(len(changes))
            try:
                joining.undo(change=changes[number], at=at)
                done = True
            except joining.UndoError:
                done = False
            assert done == model.undo(number)
        elif act == "erase" and len(rows) > 2:
            delete_applications([a])
            del rows[a]
        elif act == "claim" and first.email_folded:
            user = random.choice(users)
            free = Application.objects.filter(email_folded=first.email_folded, user=None)
            for pk in list(free.values_list("pk", flat=True)):
                rows[pk] = replace(rows[pk], user=user.pk)
            free.update(user=user)
    check(model, vacancies)


def check(model, vacancies):
    for pk in model.rows:
        row = Application.objects.get(pk=pk)
        found = Application.objects.of_person(row).values_list("pk", flat=True)
        assert set(found) == model.of_person(pk)
    every = Application.objects.all()
    assert set(newest_of_each(every, every)) == model.newest()
    found = groups(every, every)
    assert {pk: {each.pk for each in found[pk]} for pk in found} == {
        pk: model.of_person(pk) for pk in model.rows
    }
    some = [pk for pk in model.rows if pk % 3 == 0]
    assert set(newest_of_each(every, every, every.filter(pk__in=some))) == {
        pk for pk in model.newest() if not model.of_person(pk) & set(some)
    }
    # a brand sees nothing of what the other one joined or has
    own = Model({pk: row for pk, row in model.rows.items() if row.brand == 0})
    rows = Application.objects.filter(vacancy=vacancies[0])
    assert set(newest_of_each(rows, rows)) == own.newest()
    for row in rows:
        assert set(rows.of_person(row).values_list("pk", flat=True)) == own.of_person(row.pk)
    for number, label in {(row.person, model.rows[row.pk].label) for row in every}:
        assert (number is None) == (label is None)


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(6), marks=pytest.mark.each_database),
        pytest.param(
            range(6, SEQUENCES),
            marks=[pytest.mark.slow("runs many sequences"), pytest.mark.each_database],
        ),
    ],
    ids=["few", "many"],
)
def test_persons_are_as_the_model_says(at, seeds):
    vacancies = [make_vacancy(brand=make_brand(name)) for name in ("Acme", "Other")]
    users = [make_user(), make_user()]
    for seed in seeds:
        with dry_run(True):
            run(seed, vacancies, users)


def test_changes_cannot_be_undone_for_ever(at):
    vacancy = make_vacancy()
    first, second, third = (
        Application.objects.create(vacancy=vacancy, user=make_user()) for _ in range(3)
    )
    change = joining.join(first=first, second=second, author=None, at=at)
    later = joining.join(first=second, second=third, author=None, at=at)
    for wrong, when in ((change, at), (later, at + PersonChange.KEPT)):
        with pytest.raises(joining.UndoError):
            joining.undo(change=wrong, at=when)
    assert set(Application.objects.values_list("person", flat=True)) == {first.pk}
    for each in (later, change):
        joining.undo(change=each, at=at)
    assert set(Application.objects.values_list("person", flat=True)) == {None}
