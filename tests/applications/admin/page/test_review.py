"""The review: a fixed series of applications, whose rating and stage are saved at once."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from applications.admin.page.review import MAX, page_in_series
from applications.models import AccessLog, Application
from tests.applications.admin.conftest import apply, staff
from tests.applications.applicants import stages_of
from tests.applications.makers import make_file, make_submission
from tests.factories import make_vacancy
from tests.messages import messages_of

pytestmark = pytest.mark.django_db

LIST = "/admin/applications/application/"
FRAGMENT = {"X-Fragment": "review"}
JSON = {"Accept": "application/json"}


@pytest.fixture
def series(office):
    """The ids of Mia's, Tom's and Noor's application."""
    others = [
        apply(office.own.vacancy, name, f"{name}@example.org", stage=office.new)
        for name in ("Tom", "Noor")
    ]
    return [office.own.pk, *(each.pk for each in others)]


def page(pk, name="change"):
    return f"{LIST}{pk}/{name}/"


def series_of(response):
    """Return the ids of the series that `response` leads to."""
    filters = parse_qs(urlsplit(response.url).query)["_changelist_filters"][0]
    return [int(pk) for pk in parse_qs(filters)["review"][0].split("-")]


def in_series(pk, pks):
    return page_in_series([pk, *pks]).replace(f"review%3D{pk}-", "review%3D", 1)


# --- the series --------------------------------------------------------------------------------


def test_review_of_a_vacancy_a_filter_a_search_or_a_selection(office, series):
    mia, tom, noor = series
    elsewhere = apply(make_vacancy(title="Baker", brand=office.brand), stage=office.new)
    Application.objects.filter(pk=tom).update(rating=4)
    for query, expected in {
        f"?vacancy__id__exact={office.own.vacancy_id}": [noor, tom, mia],
        f"?vacancy__id__exact={office.own.vacancy_id}&o=1": [noor, tom, mia],
        "?rating=4": [tom],
        "?q=tom": [tom],
        "": [elsewhere.pk, noor, tom, mia],
        "?rating=nonsense&page=99": [elsewhere.pk, noor, tom, mia],
    }.items():
        response = office.anna.get(f"{LIST}review/{query}")
        assert (query, series_of(response)) == (query, expected)
        assert urlsplit(response.url).path == page(expected[0])
    data = {"action": "review_selected", "_selected_action": [mia, noor, office.foreign.pk]}
    assert series_of(office.anna.post(LIST, data)) == [noor, mia]


def test_review_of_nothing_and_of_too_much_is_said(office, monkeypatch):
    response = office.anna.get(f"{LIST}review/?rating=5", follow=True)
    assert messages_of(response) == ["No applications."]
    assert MAX == 200
    monkeypatch.setattr("applications.admin.page.review.MAX", 1)
    apply(office.own.vacancy, stage=office.new)
    response = office.anna.get(f"{LIST}review/", follow=True)
    assert messages_of(response) == ["This review has the first 1 applications of the list."]
    assertContains(response, "1 of 1")


def test_page_of_a_series_has_its_place_and_neighbours(office, series):
    mia, tom, noor = series
    gone = apply(office.own.vacancy, stage=office.new)
    shown = in_series(tom, [noor, gone.pk, office.foreign.pk, tom, mia])
    gone.delete()
    make_file(make_submission(Application.objects.get(pk=tom), {"cv": "x"}))
    response = office.anna.get(shown)
    place = response.context["review"]
    assert (place.number, place.count, place.before, place.after) == (2, 3, noor, mia)
    for text in (
        "2 of 3",
        f'href="{page(mia)}?_changelist_filters=review%3D{noor}-',
        'class="panel-card review-files"',
    ):
        assertContains(response, text)
    assertNotContains(response, "nav-sidebar")
    assertNotContains(office.anna.get(in_series(tom, [mia])), 'class="panel application review"')
    response = office.anna.get(f"{LIST}?review={noor}-{mia}-{office.foreign.pk}")
    assert {row.pk for row in response.context["cl"].result_list} == {mia, noor}
    assertContains(response, "3 applications")


def test_page_fetched_ahead_is_logged_but_not_read_until_it_is_shown(office, series):
    mia = Application.objects.filter(pk=series[0])
    response = office.anna.get(in_series(series[0], series), headers=FRAGMENT)
    assert response.content.decode().lstrip().startswith("<p")
    assertContains(response, f'data-read="{page(series[0], "read")}"')
    assert AccessLog.objects.filter(application=series[0], action="view").count() == 1
    assert mia.get().read_at is None
    assert office.anna.post(page(series[0], "read")).json() == {}
    assert mia.get().read_at is not None
    assertNotContains(office.anna.get(in_series(series[0], series), headers=FRAGMENT), "data-read")


# --- saving ------------------------------------------------------------------------------------


def test_rating_is_saved_at_once(office, series):
    mia = Application.objects.filter(pk=series[0])
    for sent, rating, message in (("4", 4, "rated 4/5."), ("", None, "not rated.")):
        response = office.anna.post(page(series[0], "rate"), {"rating": sent}, headers=JSON)
        assert response.json() == {"message": message}
        assert mia.get().rating == rating
        assert AccessLog.objects.latest("pk").action == "change"
    assert mia.get().updated_at == timezone.now()
    assert LogEntry.objects.latest("pk").get_change_message() == "Changed Rating."
    query = in_series(series[0], series).partition("?")[2]
    response = office.anna.post(f"{page(series[0], 'rate')}?{query}", {"rating": "5"})
    assert response.url == f"{page(series[0])}?{query}"
    response = office.anna.get(response.url)
    assertContains(response, 'value="5" data-key="5" aria-pressed="true"')


@pytest.mark.parametrize("rating", ["0", "6", "x", "1.5", "9" * 30])
def test_invalid_rating_is_refused(office, rating):
    response = office.anna.post(page(office.own.pk, "rate"), {"rating": rating})
    assert response.status_code == 400
    office.own.refresh_from_db()
    assert office.own.rating is None


def test_only_who_may_change_the_application_rates_and_reads_it(office, series):
    reader = staff("vera", "", brands=[office.brand])
    shown = in_series(series[0], series)
    for client, pk, status in ((office.anna, office.foreign.pk, 404), (reader, series[0], 403)):
        for name in ("rate", "read"):
            assert client.post(page(pk, name), {"rating": "1"}).status_code == status
    assert reader.get(f"{LIST}review/").status_code == 403
    assert reader.get(shown).status_code == 403
    assert office.anna.get(page(series[0], "rate")).status_code == 404
    assert set(Application.objects.values_list("rating", "read_at")) == {(None, None)}


def test_stage_is_moved_by_the_page_of_a_series(office, series):
    shown = in_series(series[0], series)
    context = office.anna.get(shown).context
    data = {
        "applications": str(context["selection"]),
        "back": context["page_url"],
        "stage": office.rejected.pk,
    }
    assert context["page_url"] == shown
    response = office.anna.post(f"{LIST}move/", data)
    assertContains(response, "1 application moves to “Rejected”")
    response = office.anna.post(f"{LIST}move/", data | {"confirmed": "1"})
    assert response.url == shown
    assert stages_of(office.own) == ["New", "Rejected"]
    response = office.anna.get(shown)
    assertContains(response, "Undo: Rejected")
    assertNotContains(response, "Reject…")
