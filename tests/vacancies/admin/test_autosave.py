"""Unsaved input of the form of a vacancy: kept, restored, discarded;
and who else has the form open.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from jobsite.serving.revision import read_state
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from tests.vacancies.admin.forms import ADD, LIST, NO_ROWS, errors, opened, page, saved
from vacancies.history.versions import read_content
from vacancies.models import (
    Attachment,
    Autosave,
    Presence,
    Vacancy,
    VacancyOption,
    VacancyTemplate,
    purge_unsaved,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]

RESTORED = "Unsaved changes from"


def user_of(client: Client) -> User:
    return User.objects.get(pk=client.session["_auth_user_id"])


def autosave(
    client: Client, vacancy: Vacancy | None, data: dict[str, Any], window: str = "w1"
) -> Any:
    own = {"_user": client.session.get("_auth_user_id", ""), "_window": window}
    return client.post(f"{LIST}{vacancy.pk if vacancy else 0}/autosave/", data | own)


def discard(client: Client, vacancy: Vacancy | None, key: str) -> Any:
    return client.post(f"{LIST}{vacancy.pk if vacancy else 0}/discard/", {"page": key})


def kept(client: Client) -> list[Any]:
    return list(Autosave.objects.filter(user=user_of(client), data__isnull=False))


# --- keep and restore ---


def test_unsaved_input_is_restored_for_its_user(anna, bob, vacancy, regions):
    Attachment.objects.create(vacancy=vacancy, name="a.pdf", url="https://acme.test/a.pdf")
    els = make_recruiter("Els")
    form = opened(anna, page(vacancy)) | {
        "title": "",
        "description": "<p>Half a sen",
        "regions": [regions[1].pk],
        "is_hot": "on",
        "last_day": "31 of",
        "attachments-0-DELETE": "on",
        "recruiter_links-TOTAL_FORMS": "1",
        "recruiter_links-0-recruiter": els.pk,
        "_files": ["image=photo.png"],
    }
    before, revision = read_content(vacancy), read_state()

    assert autosave(anna, vacancy, form).json() == {"notices": []}

    assert (read_content(vacancy), read_state()) == (before, revision)
    response = anna.get(page(vacancy))
    for text in (RESTORED, "Discard", "Els", "Choose these files again: photo.png."):
        assertContains(response, text)
    assert errors(response) == {}  # the user is not done
    restored = opened(anna, page(vacancy))
    for name in ("title", "is_hot", "last_day", "page", "version", "base", "attachments-0-DELETE"):
        assert restored[name] == form[name], name
    assert restored["description"] == "<p>Half a sen"
    assert restored["regions"] == [str(regions[1].pk)]
    assert restored["recruiter_links-0-recruiter"] == [str(els.pk)]
    assert opened(bob, page(vacancy))["title"] == "Nurse"


@pytest.mark.slow("opens several pages of the admin")
def test_restored_input_is_saved_once(anna: Client, vacancy: Vacancy) -> None:
    form = opened(anna, page(vacancy))
    autosave(anna, vacancy, form | {"title": "Head nurse"})
    autosave(anna, vacancy, {"page": form["page"], "_unchanged": "1"})  # it was changed back
    assert kept(anna) == []
    autosave(anna, vacancy, form | {"title": "Night nurse"})

    assert saved(anna.post(page(vacancy), opened(anna, page(vacancy))))

    autosave(anna, vacancy, form | {"title": "Too late"})
    vacancy.refresh_from_db()
    assert (vacancy.title, kept(anna)) == ("Night nurse", [])
    assertNotContains(anna.get(page(vacancy)), RESTORED)


@pytest.mark.slow("opens several pages of the admin")
def test_new_vacancy_is_restored(anna: Client, brand: Any) -> None:
    form = {**NO_ROWS, **opened(anna, ADD), "title": "Nurse"}

    autosave(anna, None, form)

    assert opened(anna, f"{ADD}?brand={brand.pk}")["title"] == ""  # given values are not replaced
    restored = opened(anna, ADD)
    assert (restored["title"], restored["page"]) == ("Nurse", form["page"])
    assert saved(anna.post(ADD, restored))
    assert (Vacancy.objects.get().title, kept(anna)) == ("Nurse", [])
    assert opened(anna, ADD)["title"] == ""


@pytest.mark.slow("opens many pages")
def test_refused_save_is_kept(anna: Client, vacancy: Vacancy) -> None:
    """Also without JavaScript."""
    response = anna.post(
        page(vacancy), opened(anna, page(vacancy)) | {"title": "", "location": "Ghent"}
    )
    assert list(errors(response)) == ["title"]
    assert opened(anna, page(vacancy))["location"] == "Ghent"


@pytest.mark.slow("opens several pages of the admin")
def test_discarded_input_does_not_come_back(anna: Client, vacancy: Vacancy) -> None:
    form = opened(anna, page(vacancy)) | {"title": "Night nurse"}
    autosave(anna, vacancy, form)

    assert discard(anna, vacancy, form["page"])["Location"] == page(vacancy)
    autosave(anna, vacancy, form)  # was still on its way

    assert kept(anna) == []
    assert opened(anna, page(vacancy))["title"] == "Nurse"
    assert f'data-settled="{form["page"]}"' in anna.get(page(vacancy)).content.decode()


@pytest.mark.slow("opens several pages of the admin")
def test_saved_input_does_not_come_back_after_a_save_on_another_computer(anna, vacancy):
    """The first computer still has a copy of what it saved:
    it opened the list, which removes none.
    """
    first = opened(anna, page(vacancy)) | {"title": "First"}
    autosave(anna, vacancy, first)
    assert saved(anna.post(page(vacancy), first))
    second = opened(anna, page(vacancy)) | {"title": "Second"}
    assert saved(anna.post(page(vacancy), second))
    autosave(anna, vacancy, opened(anna, page(vacancy)) | {"title": "Third"})

    shown = anna.get(page(vacancy)).content.decode()
    assert f'data-settled="{first["page"]} {second["page"]}"' in shown  # of which no copy is sent
    autosave(anna, vacancy, first)
    assert opened(anna, page(vacancy))["title"] == "Third"
    assert purge_unsaved(now=timezone.now() + timedelta(days=31)) == 1
    assert 'data-settled=""' in anna.get(page(vacancy)).content.decode()


def test_input_of_an_edited_template_does_not_come_back(anna: Client) -> None:
    template = VacancyTemplate.objects.create(name="Care", content={"title": "Nurse"})
    url = f"{ADD}?template={template.pk}&edit=1"
    data = opened(anna, url) | {"title": "Carer"}
    autosave(anna, None, data)
    assert saved(anna.post(url, data))
    template.refresh_from_db()
    assert (template.content["title"], Vacancy.objects.count(), kept(anna)) == ("Carer", 0, [])
    assertContains(anna.get(url), f'data-settled="{data["page"]}"')


@pytest.mark.slow("opens many pages")
def test_save_keeps_the_input_of_another_window(anna: Client, vacancy: Vacancy) -> None:
    first, second = opened(anna, page(vacancy)), opened(anna, page(vacancy))
    autosave(anna, vacancy, second | {"title": "Second"})

    assert saved(anna.post(page(vacancy), first | {"location": "Ghent"}))

    restored = opened(anna, page(vacancy))
    assert (restored["title"], restored["location"]) == ("Second", "Ghent")


@pytest.mark.slow("opens several pages of the admin")
def test_input_is_merged_with_what_was_saved_meanwhile(
    anna: Client, bob: Client, vacancy: Vacancy
) -> None:
    autosave(anna, vacancy, opened(anna, page(vacancy)) | {"title": "Night nurse"})
    assert saved(bob.post(page(vacancy), opened(bob, page(vacancy)) | {"location": "Ghent"}))

    response = anna.get(page(vacancy))

    assertContains(response, "Merged with the changes of Bob Maes: Location.")
    form = opened(anna, page(vacancy))
    assert (form["title"], form["location"]) == ("Night nurse", "Ghent")
    assert saved(anna.post(page(vacancy), form))
    vacancy.refresh_from_db()
    assert (vacancy.title, vacancy.location) == ("Night nurse", "Ghent")


@pytest.mark.slow("opens many pages")
def test_input_that_conflicts_is_compared_before_it_is_restored(anna, bob, vacancy):
    form = opened(anna, page(vacancy)) | {"title": "Night nurse"}
    autosave(anna, vacancy, form)
    assert saved(bob.post(page(vacancy), opened(bob, page(vacancy)) | {"title": "Head nurse"}))

    response = anna.get(page(vacancy))

    assert response.status_code == 200
    assert [row["overlap"].key for row in response.context["overlaps"]] == ["title"]
    discard(anna, vacancy, form["page"])
    assert opened(anna, page(vacancy))["title"] == "Head nurse"


# --- access and limits ---


def test_other_user_in_the_same_browser_stores_nothing(
    anna: Client, bob: Client, vacancy: Vacancy
) -> None:
    data = opened(anna, page(vacancy)) | {"_user": user_of(anna).pk, "_window": "w"}
    response = bob.post(f"{LIST}{vacancy.pk}/autosave/", data)
    assert (response.status_code, response.json()) == (
        409,
        {"error": "You are signed in as Bob Maes now."},
    )
    assert Autosave.objects.count() == Presence.objects.count() == 0


def test_csrf_token_is_required(anna: Client, vacancy: Vacancy) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(user_of(anna))

    assert (
        strict.post(f"{LIST}{vacancy.pk}/autosave/", {"_user": user_of(anna).pk}).status_code == 403
    )


def test_too_long_input_is_refused(anna: Client, vacancy: Vacancy) -> None:
    response = autosave(anna, vacancy, opened(anna, page(vacancy)) | {"title": "x" * 1_000_001})

    assert response.status_code == 413
    assert response.json() == {"error": "This is too long to be kept on the server."}


INVALID = (
    ("brand", "x", 400),
    ("attachments-TOTAL_FORMS", "x", 200),
    ("attachments-TOTAL_FORMS", "99999", 200),
    ("attachments-INITIAL_FORMS", "9", 200),
    ("base", "[", 200),
    ("version", "x", 200),
    ("title", "a\0b", 200),
    ("status", "nonsense", 200),
    ("regions", "99999", 200),
    ("publish_from_0", "x", 200),
)


@pytest.mark.slow("opens the form for each value")
def test_invalid_input_breaks_no_page(anna: Client, vacancy: Vacancy) -> None:
    form, found = opened(anna, page(vacancy)), []
    for name, value, expected in INVALID:
        status = autosave(anna, vacancy, form | {name: value}).status_code
        shown = anna.get(page(vacancy)).status_code
        if (status, shown) != (expected, 200):
            found.append((name, value, status, shown))
    assert found == []


@pytest.mark.slow("opens several pages of the admin")
def test_form_takes_no_more_queries_with_more_rows(anna, vacancy, django_assert_max_num_queries):
    found = []
    for numbers in ((0,), (1, 2)):
        for number in numbers:
            option = make_option("regions", f"Region {number}")
            VacancyOption.objects.create(vacancy=vacancy, option=option)
            Attachment.objects.create(vacancy=vacancy, name="a", url="https://acme.test/a")
        anna.get(page(vacancy))
        with django_assert_max_num_queries(23) as queries:
            anna.get(page(vacancy))
        found.append(len(queries))
    assert found[0] == found[1]


# --- presence ---


def notices(client: Client, vacancy: Vacancy, window: str = "w1", **data: Any) -> list[str]:
    return autosave(client, vacancy, data, window).json()["notices"]


def test_others_who_edit_are_named(anna: Client, bob: Client, vacancy: Vacancy) -> None:
    notices(bob, make_vacancy(brand=make_brand("Other")))  # another vacancy
    assert notices(anna, vacancy) == []
    at = timezone.localtime(Presence.objects.get(user=user_of(anna)).opened_at)

    assert notices(bob, vacancy) == [f"Anna Peeters has been editing since {at:%H:%M}."]

    assert notices(bob, vacancy, _closed="1") == []
    for window in ("w2", "w1"):
        assert notices(anna, vacancy, window) == ["You have this page open in another window."]


def test_presence_expires(anna: Client, bob: Client, vacancy: Vacancy) -> None:
    notices(bob, vacancy)
    hour = timedelta(hours=1)
    Presence.objects.update(opened_at=timezone.now() - hour, seen_at=timezone.now() - hour)

    assert notices(anna, vacancy) == []

    assert len(notices(bob, vacancy)) == 1
    assert Presence.objects.get(user=user_of(bob)).opened_at > timezone.now() - hour


def test_save_by_another_user_is_reported(anna: Client, bob: Client, vacancy: Vacancy) -> None:
    form = opened(anna, page(vacancy))
    assert saved(bob.post(page(vacancy), opened(bob, page(vacancy)) | {"location": "Ghent"}))

    [notice] = notices(anna, vacancy, _version=form["version"])

    vacancy.refresh_from_db()
    time = f"{timezone.localtime(vacancy.updated_at):%H:%M}"
    text = f"Bob Maes saved this vacancy at {time}. Your changes are compared when you save."
    assert notice == text


# --- purge ---


def test_old_input_is_purged(anna: Client, vacancy: Vacancy) -> None:
    """It outlives the vacancy, which can be restored from its history."""
    autosave(anna, vacancy, opened(anna, page(vacancy)) | {"title": "Night nurse"})
    now = timezone.now()

    assert purge_unsaved(now=now + timedelta(days=29)) == 0
    assert (Presence.objects.count(), len(kept(anna))) == (0, 1)
    vacancy.delete()
    assert (len(kept(anna)), anna.get(page(vacancy)).status_code) == (1, 302)
    assert purge_unsaved(now=now + timedelta(days=31)) == 1
    assert Autosave.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_autosave_outside_of_a_transaction(anna: Client, vacancy: Vacancy) -> None:
    """Tests run in a transaction; requests do not, and locking a row needs one."""
    form = opened(anna, page(vacancy))

    assert autosave(anna, vacancy, form | {"title": "Night nurse"}).status_code == 200
    assert discard(anna, vacancy, form["page"]).status_code == 302
    assert saved(anna.post(page(vacancy), form | {"location": "Ghent"}))
