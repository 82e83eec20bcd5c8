"""Counts of vacancies by block of ids, brand and status, which triggers maintain."""

import random
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import Count, F, Sum

from tests.factories import make_brand, make_vacancy
from tests.parallel import at_once
from tests.vacancies.readmodel.helpers import on_postgresql
from vacancies.models import Vacancy, VacancyCount
from vacancies.readmodel.maintenance import rebuild
from vacancies.readmodel.vacancy_counts import by_block, compact, recount

pytestmark = [on_postgresql, pytest.mark.django_db]


def stored() -> dict[tuple[Any, ...], int]:
    rows = VacancyCount.objects.values_list("block", "brand", "status").annotate(total=Sum("count"))
    return {tuple(key): total for *key, total in rows.order_by() if total}


def counted() -> dict[tuple[Any, ...], int]:
    rows = Vacancy.objects.annotate(block=F("pk") / VacancyCount.BLOCK)
    groups = rows.values_list("block", "brand", "status").annotate(total=Count("pk")).order_by()
    return {tuple(key): total for *key, total in groups}


def test_random_changes_keep_the_counts() -> None:
    dice = random.Random(193)
    brands: list[Any] = [None, make_brand("A"), make_brand("B")]
    statuses = ("draft", "published", "unpublished", "archived")
    for step in range(60):
        rows = Vacancy.objects.order_by("?")
        match dice.randrange(7):
            case 0 | 1:
                made = make_vacancy(status=dice.choice(statuses))
                Vacancy.objects.filter(pk=made.pk).update(brand=dice.choice(brands))
            case 2:
                pk = dice.choice((9_998, 10_001, 25_000)) + step
                Vacancy.objects.create(pk=pk, title="Far", brand=dice.choice(brands))
            case 3:
                Vacancy.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[:3])).update(
                    status=dice.choice(("draft", "archived")), brand=dice.choice(brands)
                )
            case 4:
                for vacancy in rows[:1]:
                    vacancy.title = "Changed"
                    vacancy.save()
            case 5:
                Vacancy.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[:2])).delete()
            case 6:
                dice.choice((compact, recount, rebuild))()
        assert stored() == counted(), step
    compact()
    assert VacancyCount.objects.count() == len(counted())


def test_change_of_other_fields_or_a_rolled_back_one_adds_no_row() -> None:
    vacancy = make_vacancy()
    before = VacancyCount.objects.count()
    vacancy.title = "Another title"
    vacancy.save()
    Vacancy.objects.update(is_hot=True)
    with transaction.atomic():
        make_vacancy()
        transaction.set_rollback(True)
    assert (VacancyCount.objects.count(), stored()) == (before, counted())
    for _ in range(5):
        make_vacancy(status="draft")
    assert VacancyCount.objects.count() > len(counted())
    call_command("maintain_lists", verbosity=0)
    assert (VacancyCount.objects.count(), stored()) == (len(counted()), counted())


def test_blocks_are_listed_newest_first() -> None:
    for pk in (5, 6, 10_000, 39_999):
        Vacancy.objects.create(pk=pk, title="Nurse")
    assert by_block(VacancyCount.objects.all()) == [(3, 1), (1, 1), (0, 2)]


@pytest.mark.django_db(transaction=True)
def test_flush_and_new_vacancies_count_from_zero() -> None:
    make_vacancy()
    call_command("flush", interactive=False, verbosity=0)
    assert stored() == {}
    Vacancy.objects.create(title="Nurse")
    assert stored() == counted()


@pytest.mark.django_db(transaction=True)
def test_compacting_during_writes_loses_nothing() -> None:
    brand = make_brand("A")

    def write() -> None:
        for number in range(20):
            vacancy = Vacancy.objects.create(title=f"{number}", brand=brand)
            if number % 3 == 0:
                vacancy.delete()

    def tidy() -> None:
        for number in range(10):
            (recount if number % 4 == 0 else compact)()

    at_once(write, write, tidy, tidy)
    assert stored() == counted()
