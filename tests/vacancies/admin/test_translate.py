"""The page Translate of a filter, and what reads the labels."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.asserts import assertContains, assertNotContains

from tests.factories import make_option, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import posted_by, staff
from vacancies.models import FeedTouch, Filter, FilterOption

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


@pytest.fixture(autouse=True)
def languages(settings):
    settings.TEXT_LANGUAGES = ["fr", "de"]


@pytest.fixture
def regions() -> Filter:
    for label in ("Ghent", "Antwerp", "Bruges"):
        option = make_option("regions", label)
    return option.filter


def url_of(filter: Filter, code: str = "fr") -> str:
    return f"/admin/vacancies/filter/{filter.pk}/translate/?language={code}"


def translate(client: Client, of: Filter, code: str = "fr", **labels: str) -> Any:
    """Write these labels by the label of their options, as a browser without JavaScript."""
    url = url_of(of, code)
    data = posted_by(client.get(url).content.decode())
    pks = dict(of.options.values_list("label", "pk"))
    typed = {f"option-{pks[name]}": text for name, text in labels.items() if name in pks}
    return client.post(url, data | typed | {k: v for k, v in labels.items() if k not in pks})


def test_labels_are_translated_and_missing_ones_come_first(anna, regions):
    response = translate(anna, regions, Antwerp=" Anvers\t", filter="Régions")
    assert (response.status_code, response["Location"]) == (302, url_of(regions))
    assert "2 labels were saved." in messages_of(response)
    assert regions.options.get(label="Antwerp").translations == {"fr": "Anvers"}
    assert Filter.objects.get(pk=regions.pk).translations == {"fr": "Régions"}
    page = anna.get(url_of(regions)).content.decode()
    places = [page.index(f">{label}\n") for label in ("Bruges", "Ghent", "Antwerp")]
    assert places == sorted(places)
    assert "2 missing" in page  # French
    assert "4 missing" in page  # German
    translate(anna, regions, "de", Antwerp="Antwerpen")
    translate(anna, regions, Antwerp="")
    assert regions.options.get(label="Antwerp").translations == {"de": "Antwerpen"}


def test_wrong_labels_are_refused_and_nothing_is_written(anna, regions):
    response = translate(anna, regions, Antwerp="Bruges", Ghent="x" * 201, filter="Régions")
    assertContains(response, "Another option of this filter already uses this.", status_code=422)
    assertContains(response, "At most 200 characters; this text has 201.", status_code=422)
    assertContains(response, 'value="Bruges"', status_code=422)
    assert not FilterOption.objects.exclude(translations={}).exists()
    assert not Filter.objects.exclude(translations={}).exists()
    with pytest.raises(ValidationError):
        FilterOption(filter=regions, label="x", translations={"en-GB": "x"}).full_clean()


def test_two_translators_overwrite_nothing_of_each_other(anna, bob, regions):
    url, ghent = url_of(regions), regions.options.get(label="Ghent")
    seen = posted_by(anna.get(url).content.decode())
    translate(bob, regions, Ghent="Gand", Bruges="Bruges")
    page = anna.post(url, seen | {f"option-{ghent.pk}": "Gant", "filter": "Régions"})
    assertContains(page, "A colleague wrote “Gand” in the meantime.", status_code=422)
    assert Filter.objects.get(pk=regions.pk).translations == {}
    again = posted_by(page.content.decode())
    assert anna.post(url, again).status_code == 302
    found = dict(regions.options.values_list("label", "translations"))
    assert found == {"Ghent": {"fr": "Gant"}, "Bruges": {"fr": "Bruges"}, "Antwerp": {}}


def test_page_of_many_options_has_as_many_queries(anna, regions, django_assert_num_queries):
    anna.get(url_of(regions))
    with CaptureQueriesContext(connection) as few:
        anna.get(url_of(regions))
    for number in range(80):
        make_option("regions", f"Region {number}")
    with django_assert_num_queries(len(few)):
        assertContains(anna.get(url_of(regions)), "84 missing")


def test_page_is_for_languages_and_people_that_have_it(anna, regions, settings):
    viewer = staff("viewer", "view_filter")
    assertContains(viewer.get(url_of(regions)), "disabled")
    assert viewer.post(url_of(regions), {"filter": "x"}).status_code == 403
    for code in ("nl", "en", "EN", "x" * 2000, "%00"):
        assert anna.get(url_of(regions, code)).status_code == 404
    change = f"/admin/vacancies/filter/{regions.pk}/change/"
    assertContains(anna.get(change), url_of(regions).partition("?")[0])
    assertContains(anna.get("/admin/vacancies/filter/"), url_of(regions).partition("?")[0])
    settings.TEXT_LANGUAGES = []
    assert anna.get(url_of(regions)).status_code == 404
    assertNotContains(anna.get(change), "/translate/")
    assertNotContains(anna.get("/admin/vacancies/filter/"), "/translate/")


def test_search_finds_each_language_of_a_label(client, settings):
    option = make_option("regions", "Liège", translations={"de": "Lüttich", "it": "Padova"})
    make_vacancy(title="Nurse", options={"regions": [option.label]})
    counts = [
        client.get("/v1/vacancies", {"filter[search]": word}).json()["meta"]["total"]
        for word in ("liege", "luttich", "padova", '"liege luttich"')
    ]
    assert counts == [1, 1, 0, 0]


@pytest.mark.each_database
def test_clients_of_the_feed_learn_of_another_label(regions):
    before = FeedTouch.objects.count()
    regions.options.filter(label="Ghent").update(translations={"fr": "Gand"})
    regions.options.filter(label="Ghent").update(position=9)
    assert FeedTouch.objects.count() == before + 1
