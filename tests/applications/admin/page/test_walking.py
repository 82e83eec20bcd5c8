"""From one application of a list to the next; rating and stage are saved at once."""

from html import escape
from urllib.parse import urlencode

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from applications.models import AccessLog, Application
from applications.operations import Move, move
from tests.applications.admin.conftest import apply, staff
from tests.applications.applicants import stages_of
from tests.factories import make_vacancy
from tests.messages import messages_of

pytestmark = pytest.mark.django_db

LIST = "/admin/applications/application/"
FRAGMENT = {"X-Fragment": "application"}
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


def in_list(pk, filters="", pks=()):
    series = {"series": "-".join(map(str, pks))} if pks else {}
    return f"{page(pk)}?{urlencode({'_changelist_filters': filters} | series)}"


def place(response):
    """Return the place of the page, and the ids before and after it."""
    found = response.context["place"]
    if found is None:
        return None
    ids = [int(url.split("/")[4]) if url else None for url in (found.before, found.after)]
    return (found.number, len(found.pks), *ids)


# --- the list ----------------------------------------------------------------------------------


@pytest.mark.slow("opens many pages")
def test_list_links_the_page_which_knows_its_place(office, series):
    """The order and the page of the list count; an address from elsewhere has no list."""
    mia, tom, noor = series
    apply(make_vacancy(title="Baker", brand=office.brand), stage=office.new)
    for pk, rating in ((mia, 1), (tom, 4), (noor, 5)):
        Application.objects.filter(pk=pk).update(rating=rating)
    vacancy = f"vacancy__id__exact={office.own.vacancy_id}"
    for filters, expected in {
        "": (3, 4, noor, mia),  # the baker is the newest
        vacancy: (2, 3, noor, mia),
        f"{vacancy}&o=-2": (2, 3, noor, mia),
        f"{vacancy}&o=6": (2, 3, mia, noor),
        "rating=4": (2, 2, noor, None),
        "rating=5": None,
        "q=tom": (1, 1, None, None),
        "p=9": None,
        "vacancy__x=1": None,
        "\0": None,
    }.items():
        assert (filters, place(office.anna.get(in_list(tom, filters)))) == (filters, expected)
    assert place(office.anna.get(page(tom))) is None
    listed = office.anna.get(f"{LIST}?{vacancy}").content.decode()
    assert f"{page(tom)}?_changelist_filters=vacancy__id__exact%3D{office.own.vacancy_id}" in listed
    assert f'{page(tom)}?_changelist_filters="' in office.anna.get(LIST).content.decode()
    board = office.anna.get(f"{LIST}board/").content.decode()
    assert f'{page(tom)}?_changelist_filters=stage%3D{office.new.pk}"' in board


def test_second_page_of_the_list_goes_on_from_there(office, series, monkeypatch):
    mia, tom, noor = series
    monkeypatch.setattr("applications.admin.application.ApplicationAdmin.list_per_page", 1)
    assert place(office.anna.get(in_list(mia, "p=2"))) == (2, 2, tom, None)
    monkeypatch.setattr("applications.admin.page.walking.MAX", 2)
    assert place(office.anna.get(in_list(noor))) == (1, 2, None, tom)


@pytest.mark.slow("opens many pages")
def test_series_stays_while_its_applications_change(office, series):
    mia, tom, noor = series
    gone = apply(office.own.vacancy, stage=office.new)
    pks = [noor, gone.pk, office.foreign.pk, tom, mia]
    gone.delete()
    Application.objects.filter(pk=tom).update(rating=4)
    response = office.anna.get(in_list(tom, "rating=none", pks))
    assert place(response) == (2, 3, noor, mia)
    kept = f"?_changelist_filters=rating%3Dnone&series={noor}-{tom}-{mia}"
    assert response.context["place"].after == f"{page(mia)}{kept}"
    assert response.context["list_url"] == f"{LIST}?rating=none"
    assertNotContains(response, "nav-sidebar")
    for name in ("email", "interview", "task", "note", "scorecard"):
        back = office.anna.get(f"{page(tom, name)}{kept}").context["back"]
        assert back.partition("#")[0] == f"{page(tom)}{kept}", name
    assert place(office.anna.get(in_list(tom, "", [mia]))) is None


def test_selection_is_opened_one_after_the_other(office, series, monkeypatch):
    mia, _tom, noor = series
    data = {"action": "open_selected", "_selected_action": [mia, noor, office.foreign.pk]}
    response = office.anna.post(f"{LIST}?o=1", data)
    assert response.url == in_list(noor, "o=1", [noor, mia])
    monkeypatch.setattr("applications.admin.page.walking.MAX", 1)
    response = office.anna.post(LIST, data, follow=True)
    assert messages_of(response) == ["These are the first 1 applications."]
    assert place(response) == (1, 1, None, None)


def test_summary_says_what_became_of_the_series(office, series):
    mia, tom, noor = series
    at = timezone.now()
    Application.objects.filter(pk=tom).update(rating=4)
    rejected = Application.objects.filter(pk=noor)
    move(rejected, Move(stage=office.rejected, author=None, at=at))
    last = office.anna.get(in_list(mia, "q=x", [noor, tom, mia, office.foreign.pk]))
    assertContains(last, "Finish")
    response = office.anna.get(last.context["place"].end)
    assertContains(response, "3 applications: 1 rated, 1 rejected.")
    assertContains(response, f'href="{LIST}?q=x"')
    assert response.context["left_url"] == in_list(noor, "q=x", [noor, mia])
    for query in ("", "?series=x"):
        response = office.anna.get(f"{LIST}summary/{query}")
        assertContains(response, "No applications.")
        assert response.context["left_url"] == ""


def test_page_fetched_ahead_is_logged_but_not_read_until_it_is_shown(office, series):
    mia = Application.objects.filter(pk=series[0])
    response = office.anna.get(page(series[0]), headers=FRAGMENT)
    assert response.content.decode().lstrip().startswith("<p")
    assertContains(response, f'data-read="{page(series[0], "read")}"')
    assert AccessLog.objects.filter(application=series[0], action="view").count() == 1
    assert mia.get().read_at is None
    assert office.anna.post(page(series[0], "read")).json() == {}
    assert mia.get().read_at is not None
    assertNotContains(office.anna.get(page(series[0]), headers=FRAGMENT), "data-read")


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
    query = in_list(series[0], "", series).partition("?")[2]
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
    shown = page(series[0])
    for client, pk, status in ((office.anna, office.foreign.pk, 404), (reader, series[0], 403)):
        for name in ("rate", "read"):
            assert client.post(page(pk, name), {"rating": "1"}).status_code == status
    assert reader.get(f"{LIST}summary/").status_code == 403
    assert reader.get(shown).status_code == 403
    assert office.anna.get(page(series[0], "rate")).status_code == 404
    assert set(Application.objects.values_list("rating", "read_at")) == {(None, None)}


def test_stage_is_moved_by_the_page_of_a_series(office, series):
    shown, after = (in_list(pk, "", series) for pk in series[:2])
    fields = office.anna.get(shown).context["opened"].move_fields
    assert (fields["back"], fields["after"]) == (shown, after)
    data = fields | {"stage": office.rejected.pk}
    response = office.anna.post(f"{LIST}move/", data)
    assertContains(response, "1 application moves to “Rejected”")
    assertContains(response, escape(after))
    response = office.anna.post(f"{LIST}move/", data | {"confirmed": "1"})
    assert response.url == after  # whoever is rejected is read
    assert stages_of(office.own) == ["New", "Rejected"]
    response = office.anna.get(shown)
    assertContains(response, "Undo: Rejected")
    assertNotContains(response, "Reject…")
