"""A place and a distance on the list of the career site:
which vacancies, under which name and address.
"""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from applications.models import JobAlert
from tests.conftest import NOW
from tests.factories import make_vacancy
from tests.jobsite.site.test_pages import canonical, get, titles
from vacancies.facts.cities import find_cities
from vacancies.models import Place

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
GHENT, BRUGES = ("51.05", "3.717"), ("51.209", "3.225")  # 38 km
NEAR_GHENT = "filter%5Bnear%5D=51.05%2C3.717%2C25"


@pytest.fixture(scope="module", autouse=True)
def files() -> None:
    """Read the files of cities, once in a process."""
    find_cities("")


@pytest.fixture(autouse=True)
def vacancies(settings: Any, time_machine: Any) -> None:
    settings.CAREER_SITE = True
    time_machine.move_to(NOW, tick=False)
    for title, (latitude, longitude) in {"Nurse": GHENT, "Cook": GHENT, "Baker": BRUGES}.items():
        vacancy = make_vacancy(title=title)
        Place.objects.create(
            vacancy=vacancy, locality="Here", country="BE", latitude=latitude, longitude=longitude
        )


def chips(body: str) -> list[str]:
    found = re.findall(r'Remove </span>(.*?)</span> <span aria-hidden="true">', body)
    return [unescape(label) for label in found]


def links(body: str) -> dict[str, str]:
    return {
        unescape(label): unescape(path)
        for path, label in re.findall(r'<a[^>]*href="([^"]*)"[^>]*>([^<]+)<', body)
    }


@pytest.mark.slow("many cases")
def test_place_is_found_in_any_language_and_named_as_it_was_typed():
    client = Client()
    for typed in ("Ghent", "Gand", "gent", "9000 Gent", "Gent, Belgium"):
        body = get(client, f"/jobs?place={typed}&km=25")
        shown = typed if "," not in typed and "9" not in typed else "Gent"
        assert (sorted(titles(body)), chips(body)) == (
            ["Cook", "Nurse"],
            [f"within 25 km of {shown}"],
        ), typed
        assert canonical(body).endswith(f"/jobs?{NEAR_GHENT}")  # one for all names
        assert "noindex" not in body
    assert len(titles(get(client, "/jobs?place=Gand&km=50"))) == 3
    assert chips(get(client, "/jobs?filter[near]=51.054,3.72,7")) == ["within 7 km of Gent"]
    assert chips(get(client, "/jobs?filter[near]=54,4,7")) == ["within 7 km of 54, 4"]  # in the sea
    assert chips(get(client, f"/jobs?{NEAR_GHENT}&place=Buy+now")) == ["within 25 km of Gent"]


def test_place_stays_in_all_links_and_can_be_removed():
    client = Client()
    body = get(client, "/jobs?place=Gand&km=25&filter[search]=nurse")
    assert titles(body) == ["Nurse"]
    assert 'value="Gand"' in body
    assert '<option value="25" selected>' in body
    assert links(body)["New vacancies by email"].endswith(f"&{NEAR_GHENT}&place=Gand")
    assert (
        'href="/jobs?filter%5Bsearch%5D=nurse" rel="nofollow"><span><span class="hidden">Remove'
        in body
    )
    body = get(client, "/jobs?place=Gand&km=25")
    assert links(body)["Closing soon"] == f"/jobs?{NEAR_GHENT}&place=Gand&sort=closes_at"
    # An empty field ends it; the distance alone changes nothing.
    for query in ("place=&km=25&filter[near]=51.05,3.717,25", "place=&km=10", "km=10", "place="):
        assert (len(titles(get(client, f"/jobs?{query}"))), query) == (3, query)


def test_ambiguous_and_unknown_places_are_told_and_keep_the_rest():
    client = Client()
    body = get(client, "/jobs?place=Halle&km=10&filter[search]=nurse")
    assert "several places called “Halle”" in body
    assert "noindex" in body
    assert titles(body) == ["Nurse"]
    path = links(body)["Halle, Flanders, Belgium"]
    assert path.startswith(
        "/jobs?filter%5Bsearch%5D=nurse&filter%5Bnear%5D=50.734%2C4.235%2C10&place=Halle"
    )
    chosen = get(client, path)
    assert chips(chosen) == ["“nurse”", "within 10 km of Halle"]
    # The next search from there does not ask again, and uses the new distance.
    again = get(client, "/jobs?filter[near]=50.734,4.235,10&place=Halle&km=100")
    assert (chips(again), len(titles(again))) == (["within 100 km of Halle"], 3)

    for text in ("Xyzzy", "<b>x", "x" * 500, "%00", "?"):
        body = get(client, "/jobs?km=10&filter[search]=nurse&place=" + text.replace("<", "%3C"))
        assert ("No place called" in body, titles(body)) == (True, ["Nurse"]), text
    assert "filter[near] must be" in unescape(get(client, "/jobs?place=Gent&km=x", status=400))


def test_alert_stores_and_shows_the_name_of_the_place():
    client = Client()
    body = get(client, "/jobs?place=Gand&km=25&filter[search]=nurse")
    page = links(body)["New vacancies by email"]
    client.post(page, {"address": "a@example.org", "frequency": "daily"})
    assert JobAlert.objects.get().query == f"{NEAR_GHENT}&filter%5Bsearch%5D=nurse&place=Gand"
    assert "at most 25 km from Gand" in get(client, page)
    assert "at most 25 km from Gent" in get(client, page.replace("Gand", "Buy+now"))
