"""The admin of vacancies has few base classes, and their order carries no meaning."""

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from tests.factories import make_vacancy
from tests.vacancies.admin.forms import LIST, opened, page, saved, staff
from vacancies.admin.vacancy import VacancyAdmin
from vacancies.models import Approval, Autosave, Brand, Vacancy, Version

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters", "at")]
BASES = VacancyAdmin.__bases__
APPS = ("applications", "jobsite", "vacancies")


def ours(of: type) -> list[type]:
    return [each for each in of.__mro__ if each.__module__.partition(".")[0] in APPS]


def test_few_classes() -> None:
    registered = type(admin.site.get_model_admin(Vacancy))
    assert len(BASES) <= 6
    assert len(ours(registered)) <= 8


def test_no_two_bases_define_the_same() -> None:
    shared = set.intersection(*(set(ours(base)) for base in BASES))
    found = {}
    for base in BASES:
        names = {name for each in ours(base) if each not in shared for name in vars(each)}
        found[base] = {name for name in names if not name.startswith("__")} - {"media"}  # Django adds it
    for one, other in combinations(BASES, 2):
        assert found[one] & found[other] == set()


@pytest.fixture(params=list(permutations(BASES)), ids=lambda order: "-".join(b.__name__ for b in order))
def shuffled(request: Any) -> Iterator[None]:
    """The admin with its base classes in another order."""
    VacancyAdmin.__bases__ = request.param
    yield
    VacancyAdmin.__bases__ = BASES


@pytest.mark.slow("opens several pages of the admin")
def test_the_order_of_the_bases_changes_nothing(shuffled: None, strict: Brand) -> None:
    rights = ("view_vacancy", "change_vacancy")
    ed: Client = staff("ed", *rights, brands=[strict])
    public, draft = make_vacancy(brand=strict), make_vacancy(brand=strict, status="draft", publish_from=None)
    for vacancy in (public, draft):
        data = opened(ed, page(vacancy)) | {"title": "Changed"}
        ed.post(f"{LIST}{vacancy.pk}/autosave/", data | {"_window": "w1"})
        assert saved(ed.post(page(vacancy), data))

    assert {each.pk: each.title for each in Vacancy.objects.all()} == {
        public.pk: public.title, draft.pk: "Changed"
    }  # fmt: skip
    assert [each.vacancy_id for each in Approval.objects.waiting()] == [public.pk]
    assert {each.vacancy_id for each in Version.objects.all()} == {draft.pk}
    assert Autosave.objects.count() == 2
    assert not Autosave.objects.filter(data__isnull=False).exists()
    assert len(ed.get(LIST, {"view": "all", "edit": "1"}).context["cl"].row_forms) == 2
