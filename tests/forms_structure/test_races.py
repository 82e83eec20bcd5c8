"""Concurrent writes of forms and consent texts."""

from functools import partial
from typing import Any

import pytest

from forms_structure import operations
from forms_structure.models import ConsentText, Form, Snapshot
from tests.parallel import at_once

pytestmark = pytest.mark.django_db(transaction=True)
REPEATS = range(2)  # threads do not meet in every run
MANY = 6


@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_consent_texts_get_different_versions(_: int) -> None:
    add = partial(
        ConsentText.objects.add, language="en", statement_url="https://acme.example/privacy"
    )

    rows = at_once(*(partial(add, text=f"I agree {n}.") for n in range(MANY)))

    found = dict(ConsentText.objects.values_list("version", "text"))
    assert found == {row.version: row.text for row in rows}
    assert sorted(found) == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_forms_of_one_name_get_different_names(_: int) -> None:
    rows = at_once(*[partial(operations.create, name="Form", structure=[])] * MANY)

    names = ["Form", *(f"Form ({n})" for n in range(2, MANY + 1))]
    assert sorted(row.name for row in rows) == names
    assert sorted(Form.objects.values_list("name", flat=True)) == names


@pytest.mark.parametrize("has_one", [True, False])
def test_concurrent_choices_of_the_default_form_leave_one(has_one: bool) -> None:
    if has_one:
        operations.create(name="Old", structure=[], is_default=True)
    forms = [operations.create(name=f"Form {n}", structure=[]) for n in range(3)]

    outcomes = at_once(*(partial(operations.make_default, form=form) for form in forms))

    assert outcomes == [None] * 3
    assert Form.objects.default().get() in forms


@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_saves_of_one_revision_give_one_conflict(_: int) -> None:
    form = operations.create(name="Form", structure=[])

    def save(name: str) -> Any:
        seen = Form.objects.get(pk=form.pk)
        return operations.save(seen, operations.FormEdit([], revision=form.revision, name=name))

    outcomes = at_once(*(partial(save, name) for name in ("A", "B", "C")))

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["FormConflictError"] * 2 + [
        "bool"
    ]
    form.refresh_from_db()
    assert (form.name, form.revision) == (("A", "B", "C")[outcomes.index(True)], 2)
    assert sorted(Snapshot.objects.values_list("revision", flat=True)) == [1, 2]
