"""Concurrent submissions and decisions: one of them counts."""

from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from tests.parallel import at_once
from vacancies.models import Approval, Vacancy, Version
from vacancies.operations.approval_decisions import approve, fingerprint, submit_for_approval
from vacancies.operations.approval_requests import RequestConflictError, request_approval, send_back

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("filters")]


@pytest.fixture
def draft() -> Vacancy:
    brand = make_brand("Strict", requires_approval=True)
    return make_vacancy(brand=brand, status="draft", publish_from=None)


@pytest.fixture
def people() -> list[User]:
    return [User.objects.create_superuser(name) for name in ("ed", "lea", "zoe")]


@pytest.mark.parametrize("_", range(3))
def test_one_of_two_decisions_counts(draft: Vacancy, people: list[User], _: int) -> None:
    ed, lea, zoe = people
    approval = request_approval(draft, {"status": "published"}, at=NOW, author=ed)
    seen = fingerprint(draft, approval)
    found = at_once(
        partial(approve, vacancy=draft, seen=seen, at=NOW, author=lea),
        partial(send_back, vacancy=draft, note="No", at=NOW, author=zoe),
    )
    assert [isinstance(each, ValidationError) for each in found].count(True) == 1
    [approval] = Approval.objects.all()
    is_public = Vacancy.objects.get().status == "published"
    assert (approval.outcome, is_public) in (("approved", True), ("sent_back", False))
    assert Version.objects.filter(change="published").count() == is_public


@pytest.mark.parametrize("_", range(3))
def test_one_of_two_submissions_counts(draft: Vacancy, people: list[User], _: int) -> None:
    rows = Vacancy.objects.filter(pk=draft.pk)
    found: list[Any] = at_once(
        *(partial(submit_for_approval, vacancies=rows, at=NOW, author=each) for each in people[:2])
    )
    assert sorted(len(each.done) for each in found) == [0, 1]
    assert Approval.objects.count() == 1


def test_concurrent_changes_of_a_public_vacancy_are_both_kept(people: list[User]) -> None:
    vacancy = make_vacancy(brand=make_brand("Strict", requires_approval=True))
    changes: Any = ({"title": "A"}, {"location": "B"})
    at_once(
        *(
            partial(request_approval, vacancy, each, at=NOW, author=author)
            for each, author in zip(changes, people[:2], strict=True)
        )
    )
    assert Approval.objects.waiting().get().changes == {"title": "A", "location": "B"}


def test_one_of_two_concurrent_changes_of_a_field_is_refused(people: list[User]) -> None:
    vacancy = make_vacancy(brand=make_brand("Strict", requires_approval=True))
    found: list[Any] = at_once(
        *(
            partial(request_approval, vacancy, {"title": each.username}, at=NOW, author=each)
            for each in people[:2]
        )
    )
    assert [isinstance(each, RequestConflictError) for each in found].count(True) == 1
    waiting = Approval.objects.get()
    assert waiting.changes == {"title": waiting.submitted_by.username}
