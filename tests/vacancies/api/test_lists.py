"""The lists: who is in them, in which order, page by page, at what cost."""

from datetime import timedelta
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.chaos import oracle
from tests.factories import make_brand, make_vacancy
from vacancies.models import Attachment, Brand, FilterOption, Place, Recruiter, Vacancy

LISTS = tuple(oracle.LISTS)

pytestmark = pytest.mark.django_db


def ids(client, path, **query):
    return [item["id"] for item in client.get(path, query).json()["data"]]


@pytest.fixture
def one_of_each(at):
    """Vacancies of every audience, hot and not, in every publication state and at its limits."""
    second = timedelta(seconds=1)
    states = [
        *({"status": status} for status in ("draft", "unpublished", "archived")),
        *({"publish_from": begins} for begins in (at - second, at, at + second)),
        *({"publish_until": ends} for ends in (at - second, at, at + second)),
    ]
    for audience, is_hot, state in product(("public", "internal", "both"), (False, True), states):
        make_vacancy(audience=audience, is_hot=is_hot, **state)
    return list(Vacancy.objects.order_by("pk"))


@pytest.mark.slow("many cases")
@pytest.mark.each_database
def test_lists_and_singles_show_what_the_oracle_says(client, at, one_of_each):
    expected = {
        path: oracle.newest_first(each for each in one_of_each if oracle.is_listed(path, each, at))
        for path in LISTS
    }

    assert {path: ids(client, path, **{"page[size]": 100}) for path in LISTS} == expected
    assert all(expected.values())
    statuses = {each.pk: client.get(f"/v1/vacancies/{each.pk}").status_code for each in one_of_each}
    assert statuses == {
        each.pk: 200 if oracle.is_published(each, at) else 404 for each in one_of_each
    }


def test_order_is_by_moment_then_id_never_by_update(client, at):
    old = make_vacancy(publish_from=at - timedelta(days=2), updated_at=at)
    same_time = make_vacancy(publish_from=at - timedelta(days=1))
    same_time_higher_id = make_vacancy(
        publish_from=at - timedelta(days=1), updated_at=at - timedelta(days=9)
    )

    assert ids(client, "/v1/vacancies") == [same_time_higher_id.pk, same_time.pk, old.pk]
    assert ids(client, "/v1/vacancies", sort="published_at") == [
        old.pk,
        same_time.pk,
        same_time_higher_id.pk,
    ]


def test_shared_rows_change_the_item_and_its_etag_but_not_updated_at(client, at, filters):
    """docs/api.md, "Keep a copy"."""
    vacancy = make_vacancy(options={"regions": ["Ghent"]}, brand=make_brand("Zorg"))
    before = client.get("/v1/vacancies")

    for model in (FilterOption, Recruiter, Brand):
        model.objects.update(**{"label" if model is FilterOption else "name": "Other"})
        after = client.get("/v1/vacancies", headers={"If-None-Match": before["ETag"]})

        [item], [old] = after.json()["data"], before.json()["data"]
        assert (after.status_code, item["updated_at"]) == (200, old["updated_at"])
        assert item != old
        before = after
    assert vacancy.updated_at == Vacancy.objects.get().updated_at


def test_title_order_is_the_same_on_every_database(client, at):
    titles = ["zebra", "Äpfel", "apple", "Zoo", "Ångström", "éclair", "10 jobs", "Apple"]
    by_id = {make_vacancy(title=title).pk: title for title in titles}

    ascending = [by_id[pk] for pk in ids(client, "/v1/vacancies", sort="title")]

    assert ascending == ["10 jobs", "Ångström", "Äpfel", "Apple", "apple", "éclair", "zebra", "Zoo"]
    descending = [by_id[pk] for pk in ids(client, "/v1/vacancies", sort="-title")]
    assert descending == [
        "Zoo",
        "zebra",
        "éclair",
        "Apple",
        "apple",
        "Äpfel",
        "Ångström",
        "10 jobs",
    ]


def make_full():
    """A vacancy that has one of everything an item can show."""
    vacancy = make_vacancy(
        audience="both",
        is_hot=True,
        options={"regions": ["Antwerp", "Ghent"], "types": ["Nurse"], "functiongroup": ["Care"]},
        recruiters=("Bo", "Cy"),
    )
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://example.org/a.pdf")
    Place.objects.create(vacancy=vacancy, locality="Ghent", country="BE")
    return vacancy


def make_many():
    """Create one full vacancy, then two more; yield the number there is after each step."""
    for count, more in ((1, 1), (3, 2)):
        for _ in range(more):
            make_full()
        yield count


def test_list_query_count_does_not_depend_on_the_page(client, at, django_assert_num_queries):
    for count in make_many():
        for path in LISTS:
            # ids, vacancies with brand and head, options, recruiters, places, attachments, next
            # change (2)
            with django_assert_num_queries(8, info=path):
                assert len(ids(client, path, **{"page[size]": 100})) == count


def test_filtered_list_takes_no_more_queries(client, at, django_assert_num_queries):
    query = {
        "filter[regions]": "ghent",
        "filter[search]": "text",
        "sort": "title",
        "page[size]": 100,
    }

    for count in make_many():
        # index: texts of changes (2), not live, the option, names of options and brands (2); ids, vacancies,
        # options, recruiters, places, attachments, next change (2)
        with django_assert_num_queries(14):
            assert len(ids(client, "/v1/vacancies", **query)) == count
        # with fields: index (6), ids, vacancies, next change (2)
        with django_assert_num_queries(10):
            assert len(ids(client, "/v1/vacancies", fields="id,title", **query)) == count


def test_single_takes_five_queries_and_shows_attachments_in_order(
    client, at, django_assert_num_queries
):
    vacancy = make_full()
    for position, name in ((9, "c"), (7, "b")):
        Attachment.objects.create(
            vacancy=vacancy, name=name, url="https://example.org/x", position=position
        )

    # vacancy with brand and head, options, recruiters, places, attachments
    with django_assert_num_queries(5):
        item = client.get(f"/v1/vacancies/{vacancy.pk}").json()["data"]
    assert [each["name"] for each in item["attachments"]] == ["a.pdf", "b", "c"]
    # ids, next change (2)
    with django_assert_num_queries(3):
        assert ids(client, "/v1/vacancies", **{"page[number]": 999_999_999}) == []


def test_query_count_of_filters_does_not_depend_on_the_vacancies(
    client, at, filters, django_assert_num_queries
):
    for _ in make_many():
        # next change (2), not live; active filters, their options, brands (2),
        # employment types of options
        with django_assert_num_queries(8):
            client.get("/v1/filters")
        # and one for each filter by options
        with django_assert_num_queries(10):
            client.get("/v1/filters", {"filter[regions]": "ghent", "filter[types]": "nurse"})
        with django_assert_num_queries(8):
            client.get("/v1/filters", {"filter[language]": "en", "filter[country]": "BE"})


def test_fields_load_only_what_they_show(client, at):
    make_vacancy(description="<p>long</p>")

    with CaptureQueriesContext(connection) as queries:
        body = client.get("/v1/vacancies", {"fields": "slug,id"}).json()

    assert [list(item) for item in body["data"]] == [["id", "slug"]]
    assert "description" not in " ".join(query["sql"] for query in queries)
