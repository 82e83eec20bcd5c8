"""Two users save the same vacancy: what does not overlap is merged, the rest is chosen on a page
that works without JavaScript.
"""

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django.asserts import assertContains

from tests.conftest import NOW
from tests.factories import make_recruiter
from tests.messages import messages_of
from tests.vacancies.admin.forms import contained, opened, page, picture, posted_by, saved
from vacancies.admin.edit.form_input import parse_post_data
from vacancies.models import Attachment, Autosave, Vacancy, VacancyOption, VacancyRecruiter

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]


def keys(response: Any) -> list[str]:
    return [row["overlap"].key for row in response.context["overlaps"]]


def inputs(response: Any) -> dict[str, Any]:
    """What the page with the choices posts if nothing is chosen."""
    html = response.content.decode()
    html = html[html.index('class="panel-form"') : html.index('id="discard"')]
    data: dict[str, Any] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', html):
        data.setdefault(unescape(name), []).append(unescape(value))
    return data


def resolve(client: Client, vacancy: Vacancy, response: Any, **choices: str) -> Any:
    data = inputs(response) | {f"_choice-{key}": value for key, value in choices.items()}
    return client.post(page(vacancy), data | {"_continue": "1"})


# --- what the page started from ---


def test_page_contains_what_a_browser_posts_from_the_untouched_form(anna, vacancy, regions):
    VacancyOption.objects.create(vacancy=vacancy, option=regions[1])
    VacancyRecruiter.objects.create(vacancy=vacancy, recruiter=make_recruiter("Els"), position=3)
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    Vacancy.objects.update(is_hot=True)

    response = anna.get(page(vacancy))
    form = posted_by(response.text)

    def comparable(data: dict[str, Any]) -> dict[str, list[str]]:
        lists = {
            name: value if isinstance(value, list) else [value] for name, value in data.items()
        }
        texts = {
            name: [text.replace("\r\n", "\n") for text in values] for name, values in lists.items()
        }
        return {
            name: values
            for name, values in texts.items()
            if any(values)
            and not re.search(r"__prefix__|_FORMS$|^(csrf|base$|page$|initial-)", name)
        }

    base = parse_post_data(form["base"])
    assert base is not None
    assert comparable(base) == comparable(form)
    # As other tests read it.
    assert comparable(contained(response.context_data)) == comparable(form)


# --- merged ---


def test_changes_of_different_fields_are_merged(anna, bob, vacancy, regions):
    mine = opened(anna, page(vacancy))
    theirs = opened(bob, page(vacancy))
    change = {
        "location": "Ghent",
        "regions": [regions[2].pk, regions[0].pk],
        "last_day": "2198-07-31",
    }
    assert saved(bob.post(page(vacancy), theirs | change))

    response = anna.post(
        page(vacancy), mine | {"title": "Night nurse", "is_hot": "on", "_continue": "1"}
    )

    assert saved(response)
    assert "Merged with the changes of Bob Maes: Regions, Location, Closing date." in messages_of(
        response
    )
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.is_hot, vacancy.location) == ("Night nurse", True, "Ghent")
    chosen = vacancy.choices.order_by("position").values_list("option", flat=True)
    assert list(chosen) == [regions[2].pk, regions[0].pk]
    assert opened(anna, page(vacancy))["last_day"] == "2198-07-31"


def test_saves_within_one_second_are_merged(
    anna: Client, vacancy: Vacancy, time_machine: Any
) -> None:
    time_machine.move_to(NOW + timedelta(milliseconds=2), tick=False)
    Vacancy.objects.update(updated_at=NOW)
    mine = opened(anna, page(vacancy))
    Vacancy.objects.update(location="Ghent", updated_at=NOW + timedelta(milliseconds=1))

    assert saved(anna.post(page(vacancy), mine | {"title": "Night nurse"}))

    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.location) == ("Night nurse", "Ghent")


@pytest.mark.slow("opens several pages of the admin")
def test_rows_of_both_are_kept(anna: Client, bob: Client, vacancy: Vacancy) -> None:
    for name in ("one", "two", "three"):
        Attachment.objects.create(vacancy=vacancy, name=name, url=f"https://acme.test/{name}")
    els, tom, jan = (make_recruiter(name) for name in ("Els", "Tom", "Jan"))
    mine, theirs = opened(anna, page(vacancy)), opened(bob, page(vacancy))

    def added(index: int, name: str, recruiter: Any) -> dict[str, Any]:
        return {
            "attachments-TOTAL_FORMS": "4",
            "attachments-3-name": name,
            "attachments-3-url": f"https://acme.test/{name}",
            "recruiter_links-0-recruiter": recruiter.pk,
        }

    both = {
        "title": "Night nurse",
        "recruiter_links-TOTAL_FORMS": "2",
        "recruiter_links-1-recruiter": jan.pk,
    }
    of_bob = (
        {"attachments-0-DELETE": "on", "attachments-1-name": "two by Bob"}
        | added(3, "bob", els)
        | both
    )
    of_anna = {"attachments-2-name": "three by Anna"} | added(3, "anna", tom) | both
    assert saved(bob.post(page(vacancy), theirs | of_bob))

    assert saved(anna.post(page(vacancy), mine | of_anna))

    names = list(vacancy.attachments.order_by("position", "pk").values_list("name", flat=True))
    assert sorted(names) == ["anna", "bob", "three by Anna", "two by Bob"]
    recruiters = [link.recruiter for link in vacancy.recruiter_links.all()]
    assert (len(recruiters), set(recruiters)) == (3, {els, tom, jan})  # what both added, once
    vacancy.refresh_from_db()
    assert vacancy.title == "Night nurse"


@pytest.mark.slow("opens many pages")
def test_file_of_a_merged_row_is_stored(anna: Client, bob: Client, vacancy: Vacancy) -> None:
    mine, theirs = opened(anna, page(vacancy)), opened(bob, page(vacancy))
    row = {"attachments-TOTAL_FORMS": "1", "attachments-0-name": "map"}
    assert saved(
        bob.post(page(vacancy), theirs | row | {"attachments-0-url": "https://acme.test/map"})
    )
    paper = SimpleUploadedFile("a.pdf", b"%PDF-1.4")

    response = anna.post(
        page(vacancy), mine | row | {"attachments-0-name": "paper", "attachments-0-file": paper}
    )

    assert saved(response)
    rows = {each.name: (bool(each.file), each.url) for each in vacancy.attachments.all()}
    assert rows == {"map": (False, "https://acme.test/map"), "paper": (True, "")}


# --- chosen ---


@pytest.fixture
def conflict(anna: Client, bob: Client, vacancy: Vacancy) -> Any:
    """Both changed title and description; Bob also the location, Anna also "featured"."""
    mine, theirs = opened(anna, page(vacancy)), opened(bob, page(vacancy))
    texts = {"title": "Bob's nurse", "description": "<p>Care by Bob</p>", "location": "Ghent"}
    assert saved(bob.post(page(vacancy), theirs | texts))
    texts = {"title": "Anna's nurse", "description": "<p>Care by Anna</p>", "is_hot": "on"}
    return anna.post(page(vacancy), mine | texts | {"_continue": "Save"})


def test_overlapping_fields_are_compared(conflict: Any, vacancy: Vacancy) -> None:
    assert conflict.status_code == 409
    assert keys(conflict) == ["title", "description"]
    assert conflict.context["from_theirs"] == ["Location"]
    assertContains(conflict, "Bob Maes saved this vacancy on", status_code=409)
    title, description = conflict.context["overlaps"]
    assert (title["mine"], title["theirs"]) == (
        "<div><del>Nurse</del> <ins>Anna&#x27;s nurse</ins></div>",
        "<div><del>Nurse</del> <ins>Bob&#x27;s nurse</ins></div>",
    )
    assert description["mine"] == "<div><del>Care for people</del> <ins>Care by Anna</ins></div>"
    vacancy.refresh_from_db()
    assert vacancy.title == "Bob's nurse"


@pytest.mark.slow("opens many pages")
def test_chosen_texts_are_saved(anna: Client, vacancy: Vacancy, conflict: Any) -> None:
    response = resolve(anna, vacancy, conflict, title="mine", description="theirs")

    assert saved(response)
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.description) == ("Anna's nurse", "<p>Care by Bob</p>")
    assert (vacancy.location, vacancy.is_hot) == ("Ghent", True)
    assert not Autosave.objects.filter(data__isnull=False, user__username="anna").exists()


@pytest.mark.slow("opens and saves the form several times")
def test_missing_choice_is_asked_again(anna: Client, vacancy: Vacancy, conflict: Any) -> None:
    for choices in ({}, {"title": "mine"}, {"title": "mine", "description": "nobody's"}):
        response = resolve(anna, vacancy, conflict, **choices)
        assertContains(response, "Not saved yet: choose a text for each field.", status_code=409)
        decisions = [row["overlap"].decision for row in response.context["overlaps"]]
        assert decisions == [choices.get("title", ""), ""]
        vacancy.refresh_from_db()
        assert vacancy.title == "Bob's nurse"


@pytest.mark.slow("opens many pages")
def test_third_save_asks_again(anna: Client, bob: Client, vacancy: Vacancy, conflict: Any) -> None:
    assert saved(bob.post(page(vacancy), opened(bob, page(vacancy)) | {"title": "Bob's second"}))

    response = resolve(anna, vacancy, conflict, title="theirs", description="mine")

    assert response.status_code == 409
    assert [row["overlap"].decision for row in response.context["overlaps"]] == ["", ""]
    assert "Bob&#x27;s second" in response.context["overlaps"][0]["theirs"]
    assert saved(resolve(anna, vacancy, response, title="theirs", description="mine"))
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.description) == ("Bob's second", "<p>Care by Anna</p>")


@pytest.mark.slow("opens and saves the form several times")
def test_choice_can_be_edited_before_it_is_saved(
    anna: Client, vacancy: Vacancy, conflict: Any
) -> None:
    data = inputs(conflict) | {
        "_choice-title": "mine",
        "_choice-description": "theirs",
        "_keep_editing": "1",
    }

    assert saved(anna.post(page(vacancy), data))

    vacancy.refresh_from_db()
    assert vacancy.title == "Bob's nurse"
    form = opened(anna, page(vacancy))
    found = [form[name] for name in ("title", "description", "location")]
    assert found == ["Anna's nurse", "<p>Care by Bob</p>", "Ghent"]
    assert saved(anna.post(page(vacancy), form))
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.is_hot) == ("Anna's nurse", True)


@pytest.mark.slow("opens many pages")
def test_row_that_both_changed_is_chosen(anna: Client, bob: Client, vacancy: Vacancy) -> None:
    one, two = (
        Attachment.objects.create(
            vacancy=vacancy, name=name, url=f"https://acme.test/{name}", position=place
        )
        for place, name in enumerate(("one", "two"))
    )
    mine, theirs = opened(anna, page(vacancy)), opened(bob, page(vacancy))
    assert saved(
        bob.post(page(vacancy), theirs | {"attachments-0-name": "1", "attachments-1-DELETE": "on"})
    )

    response = anna.post(
        page(vacancy), mine | {"attachments-0-name": "I", "attachments-1-name": "II"}
    )

    assert keys(response) == [f"attachments-{one.pk}", f"attachments-{two.pk}"]
    assert response.context["overlaps"][1]["overlap"].theirs == ["Removed"]
    choices = {f"attachments-{one.pk}": "theirs", f"attachments-{two.pk}": "mine"}
    assert saved(resolve(anna, vacancy, response, **choices))
    rows = vacancy.attachments.order_by("position", "pk")
    assert list(rows.values_list("name", "url")) == [
        ("1", "https://acme.test/one"),
        ("II", "https://acme.test/two"),
    ]


@pytest.mark.slow("opens many pages")
def test_page_names_the_files_to_choose_again(anna: Client, bob: Client, vacancy: Vacancy) -> None:
    mine, theirs = opened(anna, page(vacancy)), opened(bob, page(vacancy))
    assert saved(bob.post(page(vacancy), theirs | {"title": "Bob's nurse"}))
    row = {
        "attachments-TOTAL_FORMS": "1",
        "attachments-0-file": SimpleUploadedFile("a.pdf", b"%PDF-1.4"),
    }

    response = anna.post(
        page(vacancy), mine | row | {"title": "Mine", "image": picture("b.png", "PNG", (600, 400))}
    )

    assert dict(response.context["files"]) == {"image": "b.png", "attachments-0-file": "a.pdf"}
    again = {"attachments-0-file": SimpleUploadedFile("a.pdf", b"%PDF-1.4")}
    data = inputs(response) | again | {"_choice-title": "mine"}
    assert saved(anna.post(page(vacancy), data))
    assert [bool(each.file) for each in vacancy.attachments.all()] == [True]


@pytest.mark.slow("opens and saves the form several times")
def test_page_without_its_start_asks_about_every_difference(anna, bob, vacancy):
    """A page that was opened before the upgrade, or a forged one."""
    mine, theirs = opened(anna, page(vacancy)), opened(bob, page(vacancy))
    assert saved(bob.post(page(vacancy), theirs | {"location": "Ghent"}))

    forged = {
        "version": "0001-01-01T00:00:00+14:00",
        "brand": "9" * 18,
        "attachments-TOTAL_FORMS": "9" * 5000,
    }
    for base in ("", "{", "[]", json.dumps({"title": "Nurse"}), json.dumps({"title": [1]})):
        response = anna.post(page(vacancy), mine | {"base": base, "title": "Mine"})
        assert keys(response) == ["title", "location"]
        assert anna.post(page(vacancy), mine | forged | {"base": base}).status_code == 409


def test_review_shows_the_merged_vacancy(anna: Client, bob: Client, vacancy: Vacancy) -> None:
    mine, theirs = opened(anna, page(vacancy)), opened(bob, page(vacancy))
    bob.post(page(vacancy), theirs | {"location": "Ghent"})
    url = page(vacancy).replace("/change/", "/review/")

    response = anna.post(url, mine | {"title": "Mine"})

    assert [each.name for each in response.context["differences"]] == ["title"]
    assert anna.post(url, mine | {"location": "Mine"}).status_code == 422
