"""Concurrent changes by two recruiters. SQLite serialises writes, so these run on PostgreSQL."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from tests.conftest import NOW
from tests.factories import make_filter, make_option, make_vacancy
from tests.parallel import at_once
from tests.vacancies.admin.forms import LIST, opened, page
from vacancies.history.versions import read_content, record, replay
from vacancies.models import Change, FilterOption, Vacancy, VacancyOption, Version
from vacancies.operations import options, publication

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("filters"),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time"),
]
TWICE = range(8)  # a race is not lost every time


def folded(vacancy: Vacancy) -> dict[str, Any]:
    return replay(Version.objects.filter(vacancy=vacancy.pk))


@pytest.mark.parametrize("_", TWICE)
def test_concurrent_saves_of_one_field_give_one_conflict(pair: list[Client], _: int) -> None:
    vacancy = make_vacancy(title="Nurse")
    forms = [opened(client, page(vacancy)) | {"title": f"By {n}"} for n, client in enumerate(pair)]

    answers = at_once(
        *(
            lambda c=c, f=f: c.post(page(vacancy), f).status_code
            for c, f in zip(pair, forms, strict=True)
        )
    )

    assert sorted(answers) == [302, 409]
    assert list(Version.objects.order_by("pk").values_list("change", flat=True)) == [
        "found",
        "changed",
    ]
    assert folded(vacancy) == read_content(vacancy)


@pytest.mark.parametrize("_", TWICE)
def test_concurrent_publication_actions_change_once(_: int) -> None:
    vacancy = make_vacancy()

    outcomes = at_once(
        *[lambda: publication.unpublish(vacancies=Vacancy.objects.all(), at=NOW)] * 2
    )

    assert sorted(len(outcome.done) for outcome in outcomes) == [0, 1]
    assert sorted(len(outcome.refused) for outcome in outcomes) == [0, 1]
    assert list(Version.objects.values_list("vacancy", "change")) == [(vacancy.pk, "unpublished")]


@pytest.mark.parametrize("_", TWICE)
def test_concurrent_save_and_publication_action_are_both_kept(pair: list[Client], _: int) -> None:
    vacancy = make_vacancy(title="Nurse")
    record(vacancy, Change.CREATED, author=None, at=NOW)
    form = opened(pair[0], page(vacancy)) | {"title": "Cook"}

    saving, decided = at_once(
        lambda: pair[0].post(page(vacancy), form).status_code,
        lambda: pair[1].post(f"{LIST}{vacancy.pk}/unpublish/").status_code,
    )

    vacancy.refresh_from_db()
    assert (decided, vacancy.status) == (302, "unpublished")
    assert vacancy.title == ("Cook" if saving == 302 else "Nurse")
    assert folded(vacancy) == read_content(vacancy)


@pytest.mark.parametrize("_", TWICE)
def test_concurrent_restores_create_one_vacancy(pair: list[Client], _: int) -> None:
    vacancy = make_vacancy(
        title="Nurse", options={"regions": ["Ghent", "Antwerp"]}, recruiters=("Bob",)
    )
    older = record(vacancy, Change.CREATED, author=None, at=NOW)
    version = record(vacancy, Change.DELETED, author=None, at=NOW + timedelta(hours=1))
    pk, then = vacancy.pk, read_content(vacancy)
    vacancy.delete()

    answers = at_once(
        *(
            lambda c=c, v=v: c.post(f"{LIST}{pk}/versions/{v.pk}/").status_code
            for c, v in zip(pair, (older, version), strict=True)
        )
    )

    assert answers == [302, 302]
    back = Vacancy.objects.get()
    draft = {"status": "draft", "publish_from": None, "publish_until": None}
    assert (back.pk, read_content(back)) == (pk, then | draft)
    assert folded(back) == read_content(back)


@pytest.mark.parametrize("_", TWICE)
def test_concurrently_created_option_exists_once(pair: list[Client], _: int) -> None:
    url = f"/admin/vacancies/filter/{make_filter('regions').pk}/option/"

    answers = at_once(*(lambda c=c: c.post(url, {"label": "Ghent"}).json() for c in pair))

    option = FilterOption.objects.get()
    assert answers == [{"id": option.pk, "label": "Ghent"}] * 2


@pytest.mark.parametrize("_", TWICE)
def test_concurrent_merges_leave_one_link_per_vacancy(_: int) -> None:
    vacancies = [make_vacancy(options={"regions": ["Gent", "Gand"]}) for _ in range(5)]
    into, gent, gand = (make_option("regions", label) for label in ("Ghent", "Gent", "Gand"))

    at_once(
        lambda: options.merge_options(into=into, others=[gent]),
        lambda: options.merge_options(into=into, others=[gand]),
    )

    links = VacancyOption.objects.values_list("vacancy", flat=True)
    assert sorted(links.filter(option=into)) == [vacancy.pk for vacancy in vacancies]
