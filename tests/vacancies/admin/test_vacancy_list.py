"""The list of vacancies: search, filters, counts, queries."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains

from jobsite.admin import id_list
from jobsite.office.vacancy import VacancyAdmin
from tests.applications.makers import make_application
from tests.factories import make_brand, make_vacancy
from tests.vacancies.admin.forms import LIST, LONG_AGO, listed
from vacancies.choices import State
from vacancies.models import Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


def test_list_query_count_does_not_depend_on_the_rows(anna, django_assert_max_num_queries):
    make_application(vacancy=make_vacancy(title="Applied to"))
    found = []
    for brands in ((), ("Brand 0", "Brand 1")):
        for name in brands:
            make_vacancy(brand=make_brand(name))
        assert "vacancy__id__exact" in anna.get(LIST).content.decode()  # content types are cached
        with django_assert_max_num_queries(12) as queries:
            response = anna.get(LIST)
        found.append(len(queries))
    assert found[0] == found[1]
    assertContains(response, "Brand 1")
    counts = {row.title: row.application_count for row in response.context["cl"].result_list}
    assert (len(counts), sum(counts.values()), counts["Applied to"]) == (3, 1, 1)


def test_list_counts_exactly_and_every_page_has_its_rows(anna: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(VacancyAdmin, "list_per_page", 2)
    monkeypatch.setattr(VacancyAdmin, "list_max_show_all", 0)
    for more in (0, 4, 1):
        for _ in range(more):
            make_vacancy()
        expected = [vacancy.pk for vacancy in Vacancy.objects.order_by("-pk")]
        found = []
        for number in range(1, -(-len(expected) // 2) + 1):
            page = anna.get(f"{LIST}?p={number}").context["cl"]
            assert page.result_count == len(expected)
            found += [row.pk for row in page.result_list]
        assert found == expected


# --- search ---


def test_search_finds_titles_texts_and_ids_whatever_the_accents(anna: Client) -> None:
    found = Vacancy.objects.create(title="Chef", description="<p>Café met keuken</p>")
    Vacancy.objects.create(title="Porter", description="<p>Hotel</p>")

    for words in ("cafe", "CAFÉ", "keuken cafe", found.pk):
        response = anna.get(LIST, {"q": words})
        assert [vacancy.title for vacancy in response.context["cl"].result_list] == ["Chef"], words


@pytest.mark.parametrize("few", [1, 500])
def test_search_finds_the_same_few_or_many(anna, monkeypatch, django_assert_max_num_queries, few):
    monkeypatch.setattr(id_list, "SORTED", few)
    found = [make_vacancy(title=f"Zebra keeper {number}") for number in range(3)]
    make_vacancy(title="Zebra archivist", status="archived")
    make_vacancy(title="Cook")
    anna.get(LIST)
    with django_assert_max_num_queries(13):
        response = anna.get(f"{LIST}?q=zebra")
    assert [row.pk for row in response.context["cl"].result_list] == [
        row.pk for row in reversed(found)
    ]
    assert response.context["cl"].result_count == 3
    assert listed(anna, f"{LIST}?q={found[1].pk}") >= {found[1].pk}
    assert listed(anna, f"{LIST}?q=qqqq") == set()


@pytest.mark.slow("opens several pages of the admin")
def test_search_lists_forms_and_the_best_hit_first(anna: Client, monkeypatch: Any) -> None:
    for title in ("Hoofdverpleegkundige", "Verpleegkundige", "Verpleegkundigen", "Kok"):
        make_vacancy(title=title, status="draft", location="Gent")
    make_vacancy(
        title="Team", status="draft", location="Gent", description="<p>Met verpleegkundigen</p>"
    )

    def titles(query: str) -> list[str]:
        return [row.title for row in anna.get(f"{LIST}?{query}").context["cl"].result_list]

    best = ["Verpleegkundigen", "Verpleegkundige", "Hoofdverpleegkundige", "Team"]
    assert titles("q=verpleegkundigen") == titles("q=gent+verpleegkundigen") == best
    assert titles("q=verpleegkundigen&o=title") == sorted(best)
    assert titles("q=verpleegkundigen&o=-title") == sorted(best, reverse=True)
    monkeypatch.setattr(VacancyAdmin, "list_per_page", 2)
    assert titles("q=verpleegkundigen") + titles("q=verpleegkundigen&p=2") == best


def test_search_for_short_words_references_and_phrases(anna: Client) -> None:
    texts = {"description": "<p>It is a night shift, with a recruiter</p>"}
    titles = (
        "Recruiter",
        "Kok",
        "R developer",
        "IT officer",
        "C++ developer",
        "Night porter, early shift",
    )
    pks = {title: make_vacancy(title=title, **texts).pk for title in titles}
    pks["Referenced"] = make_vacancy(
        title="Referenced", reference="AB-12", description="<p>ab 12</p>"
    ).pk
    expected = {
        "it": ["IT officer"],
        "r": ["R developer"],
        "c++": ["C++ developer"],
        "AB-12": ["Referenced"],
        "ab-12": ["Referenced"],
        '"early shift"': ["Night porter, early shift"],
        "%": [],
        "q": [],
        "“NIGHT shift” developer": ["C++ developer", "R developer"],
    }

    found = {text: listed(anna, f"{LIST}?{urlencode({'q': text})}") for text in expected}

    assert found == {text: {pks[title] for title in titles} for text, titles in expected.items()}


# --- filters ---


def test_state_filter_agrees_with_the_badge(anna: Client, vacancy: Vacancy) -> None:
    day, now = timedelta(days=1), timezone.now()
    make_vacancy(publish_from=now + day)
    make_vacancy(publish_from=LONG_AGO, publish_until=now - day)
    make_vacancy(publish_from=LONG_AGO, publish_until=now + day)
    for status in ("draft", "unpublished", "archived"):
        make_vacancy(status=status)
    everything = set(Vacancy.objects.all())

    for state in State:
        rows = set(anna.get(LIST, {"state": state.value}).context["cl"].result_list)
        assert rows == {vacancy for vacancy in everything if vacancy.state == state}
        assert rows


def test_archived_vacancies_are_listed_on_request(anna: Client) -> None:
    rows = {
        state: make_vacancy(title=state, status=state)
        for state in ("draft", "unpublished", "archived")
    }

    assert listed(anna, LIST) == {rows["draft"].pk, rows["unpublished"].pk}
    assert listed(anna, f"{LIST}?state=archived") == {rows["archived"].pk}
    assert listed(anna, f"{LIST}?state=all") == {row.pk for row in rows.values()}
    assert listed(anna, f"{LIST}?state=nonsense") == {rows["draft"].pk, rows["unpublished"].pk}
    assert listed(anna, f"{LIST}?q=archived") == set()


def test_list_accepts_only_the_filters_it_shows(anna: Client) -> None:
    vacancy, found = make_vacancy(), {}
    for query in (
        *("title__regex=(x%2Bx%2B)%2By", "title__regex=(", "publish_until__year=99999"),
        *(
            "search_text__contains=%00",
            "audience__exact=public",
            "is_hot__exact=1",
            "brand__id__exact=1",
        ),
        "q=a%00b",
    ):
        found[query] = anna.get(f"{LIST}?{query}", follow=True).status_code
    assert list(found.values()) == [400] * 4 + [200] * 4, found
    for value in ("nonsense", "", "ending'"):
        assert listed(anna, f"{LIST}?attention={value}") == {vacancy.pk}, value
