"""The columns and the order of the list of vacancies."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from tests.applications.makers import make_application
from tests.factories import make_brand, make_recruiter, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, changelist, staff
from vacancies.admin.list import change_list
from vacancies.models import ListPreference

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]

PREFERENCE = f"{LIST}list-preference/"
DEFAULT = ["state", "brand", "audience", "hot", "appears", "last_day", "applied"]


def columns(client: Client, url: str = LIST) -> list[str]:
    shown = client.get(url, follow=True).context["cl"].list_display
    return [name for name in shown if name not in ("action_checkbox", "title")]


def titles(client: Client, url: str) -> list[str]:
    return [row.title for row in changelist(client, url).result_list]


def test_columns_are_chosen_per_user(anna: Client, bob: Client) -> None:
    make_vacancy(location="Ghent", head_recruiter=make_recruiter("Jan"))
    assert columns(anna) == DEFAULT
    chosen = ["", "location", "recruiter", "changed", "nonsense"]
    response = anna.post(PREFERENCE, {"columns": chosen, "back": f"{LIST}?state=published"})
    assert (response.status_code, response["Location"]) == (302, f"{LIST}?state=published")
    assert columns(anna) == ["recruiter", "location", "changed"]  # in the usual order
    assertContains(anna.get(LIST), "Ghent")
    assert columns(bob) == DEFAULT


def test_columns_follow_the_choice_and_the_order(anna: Client) -> None:
    kept = anna.post(PREFERENCE, {"columns": ["", "location"], "back": f"{LIST}?o=-last_day"})
    assert kept["Location"] == f"{LIST}?o=-last_day"
    assert columns(anna, f"{LIST}?o=-last_day.changed") == ["location", "last_day", "changed"]
    for back in (
        "https://evil.example/",
        "//evil.example",
        "/admin/",
        "/admin/vacancies/vacancyevil",
        "",
    ):
        assert anna.post(PREFERENCE, {"columns": [""], "back": back})["Location"].startswith(
            f"{LIST}?"
        ), back
    assert columns(anna) == DEFAULT  # no column means the default


def test_headings_link_to_the_order_by_name(anna: Client) -> None:
    make_vacancy()
    assertContains(anna.get(f"{LIST}?state=published"), 'href="?o=last_day&amp;state=published"')
    html = anna.get(f"{LIST}?o=-last_day.title").content.decode()
    assert 'href="?o=last_day.title"' in html
    assert 'href="?o=-title.-last_day"' in html


def test_columns_are_not_changed_by_get_or_without_access(anna: Client) -> None:
    assert anna.get(PREFERENCE).status_code == 405
    assert staff("stranger").post(PREFERENCE, {"columns": ["location"]}).status_code == 403
    assert ListPreference.objects.count() == 0


def test_applications_are_a_column_for_those_who_may_see_them(colleague: Client) -> None:
    vacancy = make_vacancy(brand=make_brand("Mine"))
    make_application(vacancy=vacancy)
    colleague.post(PREFERENCE, {"columns": ["", "state", "applied"]})
    assert columns(colleague) == ["state"]
    assertNotContains(colleague.get(LIST), "vacancy__id__exact")


def test_invalid_stored_columns_are_ignored(anna: Client) -> None:
    user = User.objects.get(username="anna")
    for stored in (["gone", "location", 5], "location", {"a": 1}, 7, None):
        ListPreference.objects.update_or_create(user=user, defaults={"columns": stored or []})
        assert columns(anna) == (["location"] if isinstance(stored, list) else DEFAULT)


# --- order ---


@pytest.mark.slow("opens several pages of the admin")
def test_list_is_sorted_by_each_column(anna: Client) -> None:
    now = timezone.now()
    first = make_vacancy(
        title="äpfel",
        brand=make_brand("Zeta"),
        location="A",
        head_recruiter=make_recruiter("Ada"),
        publish_until=now + timedelta(days=9),
        updated_at=now - timedelta(days=2),
    )
    make_vacancy(
        title="Birne",
        brand=make_brand("Alfa"),
        location="B",
        head_recruiter=make_recruiter("Bo"),
        updated_at=now - timedelta(days=1),
        is_hot=True,
    )
    make_application(vacancy=first)
    anna.post(PREFERENCE, {"columns": ["", *DEFAULT, "recruiter", "location", "changed"]})
    for name in ("title", "location", "recruiter", "changed", "last_day", "hot"):
        assert titles(anna, f"{LIST}?o={name}") == ["äpfel", "Birne"], name
        assert titles(anna, f"{LIST}?o=-{name}") == ["Birne", "äpfel"], name
    for name in ("brand", "applied"):
        assert titles(anna, f"{LIST}?o={name}") == ["Birne", "äpfel"], name
        assert titles(anna, f"{LIST}?o=-{name}") == ["äpfel", "Birne"], name


def test_vacancies_without_a_closing_date_are_the_last_to_close(anna: Client) -> None:
    make_vacancy(title="Endless")
    make_vacancy(title="Soon", publish_until=timezone.now() + timedelta(days=1))
    make_vacancy(title="Later", publish_until=datetime(2099, 1, 1, tzinfo=UTC))
    assert titles(anna, f"{LIST}?o=last_day") == ["Soon", "Later", "Endless"]
    assert titles(anna, f"{LIST}?o=-last_day") == ["Endless", "Later", "Soon"]


def test_unknown_order_is_ignored(anna: Client) -> None:
    make_vacancy(title="Nurse")
    for order in ("nonsense", "99", "-", ".", "--1", "1" * 5000, "-last_day.x", "٣"):
        assert titles(anna, f"{LIST}?o={order}") == ["Nurse"], order


def test_long_list_is_not_sorted(anna: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(change_list, "SORTED", 1)
    make_vacancy(title="B", location="B")
    make_vacancy(title="A", location="A")
    anna.post(PREFERENCE, {"columns": ["", "location"]})

    for order in ("-location", "title", "last_day"):
        response = anna.get(f"{LIST}?o={order}")
        text = "Too many vacancies to sort. Filter the list to at most 1 first."
        assert messages_of(response) == [text]
        # The newest first.
        assert [row.title for row in response.context["cl"].result_list] == ["A", "B"]
    assert titles(anna, f"{LIST}?o=location&q=B") == ["B"]
