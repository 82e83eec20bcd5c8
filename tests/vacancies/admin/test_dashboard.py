"""The dashboard of the admin."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.conftest import NOW
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from tests.vacancies.admin.forms import listed, staff
from vacancies.choices import State
from vacancies.history.versions import record
from vacancies.models import Change, Vacancy
from vacancies.statistics import counts
from vacancies.statistics.recording import record_days

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]

DAY = timedelta(days=1)


def make_every_kind(**values: Any) -> None:
    """Vacancies in each state. For each reason to need attention, a public vacancy and one that is
    not public any more.
    """
    head = make_recruiter("Reachable", email="jan@acme.test", is_email_public=True)
    make_option("regions", "Ghent", employment_type="FULL_TIME")
    make_option("regions", "Antwerp")
    fine = {
        "head_recruiter": head,
        "image_url": "https://images.acme.test/a.png",
        "publish_from": NOW - 9 * DAY,
        "options": {"regions": ["Ghent"]},
        "places": ({"locality": "Ghent", "country": "BE"},),
        "pay_min": 10,
        "pay_currency": "EUR",
        "pay_period": "hour",
    }
    for begin in (NOW - DAY, NOW + DAY):
        make_vacancy(**fine | {"publish_from": begin} | values)
    for status in ("draft", "unpublished", "archived"):
        make_vacancy(**fine | {"status": status} | values)
    flaws: list[dict[str, Any]] = [
        {"description": ""},
        {"image_url": ""},
        {"head_recruiter": make_recruiter("Silent", email="silent@acme.test")},
        {"is_hot": True, "publish_until": NOW + 3 * DAY},
        {"is_permanent": True, "publish_until": NOW + 30 * DAY},
        {"title": "NURSE WANTED"},
        {"title_internal": "Nurse (confidential)"},
        {"options": {}},
        {"pay_min": None, "pay_currency": "", "pay_period": ""},
        {"places": ()},
        {"options": {"regions": ["Antwerp"]}},
    ]
    for flaw in flaws:
        make_vacancy(**fine | flaw | values)
        make_vacancy(**fine | flaw | {"publish_until": NOW - DAY} | values)


def attention(context: Any) -> list[dict[str, Any]]:
    """The vacancies that need attention: those that close are above, in what there is to do."""
    above = [part for part in context["to_do"] if part.title == "Closing within a week"]
    first = [{"label": part.title, "count": part.count, "url": part.url} for part in above]
    return [*first, *context["attention"]]


@pytest.mark.slow("counts every kind of vacancy for two users")
@pytest.mark.parametrize("who", ["anna", "colleague"])
def test_dashboard_counts_match_the_linked_lists(
    request: Any, at: datetime, settings: Any, who: str
) -> None:
    settings.PAY_REQUIRED_IN = ["BE"]
    client: Client = request.getfixturevalue(who)
    make_every_kind(brand=make_brand("Mine"))
    make_every_kind(brand=make_brand("Other"))

    context = client.get("/admin/").context

    tiles = [*context["states"], *attention(context)]
    assert len(context["states"]) == 4
    assert len(attention(context)) == 13
    own = set(Vacancy.objects.filter(brand__name="Mine").values_list("pk", flat=True))
    for tile in tiles:
        found = listed(client, tile["url"])
        assert str(len(found)) == tile["count"] != "0"
        assert found <= own if who == "colleague" else found - own
    for tile in context["states"]:
        found = Vacancy.objects.in_bulk(listed(client, tile["url"])).values()
        assert {vacancy.state for vacancy in found} == {tile["state"]}
    html = client.get("/admin/").content.decode()
    for tile in tiles:
        assert f'href="{tile["url"].replace("&", "&amp;")}"' in html


def test_dashboard_counts_each_reason_for_public_vacancies_only(
    anna: Client, at: datetime, settings: Any
) -> None:
    settings.PAY_REQUIRED_IN = ["BE"]
    make_every_kind()

    context = anna.get("/admin/").context

    counts = {str(each["label"]): each["count"] for each in attention(context)}
    assert counts == {
        "Closing within a week": "1",
        "No description": "1",
        "No image": "1",
        "No contact information": "1",
        "Featured, but closing soon": "1",
        "Continuously open, but with a closing date": "1",
        "Title in capitals": "1",
        "Internal wording in the internal title": "1",
        "No filter options": "1",
        "Nobody can apply": "13",
        "No pay, but its country requires it": "1",
        "Not shown by Google": "1",
        "No employment type": "1",
    }
    assert {str(each["state"]): each["count"] for each in context["states"]} == {
        "published": "12",
        "scheduled": "1",
        "draft": "1",
        "expired": "11",
    }


def test_dashboard_of_many_vacancies_shows_stored_counts(anna, at, monkeypatch):
    monkeypatch.setattr(counts, "MAX_COUNTED", 2)
    for _ in range(3):
        make_vacancy(status="draft")
    counts.update_counts(at=NOW)
    Vacancy.objects.update(status="archived")

    response = anna.get("/admin/")

    assert {each["state"]: each["count"] for each in response.context["states"]} == {
        State.PUBLISHED: "",
        State.SCHEDULED: "",
        State.DRAFT: "3",
        State.EXPIRED: "",
    }
    assert "Counted at 2 Mar 2026, 09:30." in response.content.decode()


def test_dashboard_shows_trends_of_own_brands(
    anna: Client, colleague: Client, at: datetime
) -> None:
    for name in ("Mine", "Other"):
        make_vacancy(
            brand=make_brand(name), publish_from=NOW - 20 * DAY, publish_until=NOW - 5 * DAY
        )
        make_vacancy(brand=make_brand(name), publish_from=NOW - 10 * DAY)
    record_days(at=NOW)

    seen = []
    for client in (anna, colleague):
        context = client.get("/admin/").context
        published = next(each for each in context["states"] if each["state"] == State.PUBLISHED)
        seen.append(
            (
                published["trend"]["text"],
                [(each["label"], each["count"]) for each in context["trends"]],
            )
        )

    assert seen == [
        (
            "from 0 to 2, lowest 0, highest 4",
            [("Went live in 90 days", "4"), ("Closed in 90 days", "2")],
        ),
        (
            "from 0 to 1, lowest 0, highest 2",
            [("Went live in 90 days", "2"), ("Closed in 90 days", "1")],
        ),
    ]


def test_dashboard_without_recorded_days_or_permission_says_so(anna: Client) -> None:
    make_vacancy(title="Secret")
    response = anna.get("/admin/")
    assert response.context["trends"] == []
    assert "Figures of the last 90 days appear after the first night." in response.content.decode()

    response = staff("accounts").get("/admin/")
    assert "states" not in response.context
    assert b"Secret" not in response.content


def test_dashboard_shows_the_last_change_of_existing_vacancies(
    anna: Client, colleague: Client
) -> None:
    author = User.objects.get(username="anna")
    names = ("Mine", "Other", "Mine", "Mine")
    mine, other, gone, moved = (make_vacancy(brand=make_brand(name)) for name in names)
    for vacancy in (mine, moved, gone, other, mine):
        record(vacancy, Change.RESTORED, author=author, at=NOW)
    record(mine, Change.EXTERNAL, author=None, at=NOW)
    gone.delete()
    Vacancy.objects.filter(pk=moved.pk).update(brand=other.brand)

    seen = [
        [
            (each["vacancy"].pk, each["version"].change)
            for each in client.get("/admin/").context["latest"]
        ]
        for client in (anna, colleague)
    ]

    expected = [(each.pk, "restored") for each in (mine, other, moved)]
    assert seen == [expected, expected[:1]]


@pytest.mark.slow("builds many rows")
@pytest.mark.parametrize("who", ["anna", "colleague"])
def test_dashboard_query_count_does_not_depend_on_the_rows(
    request, django_assert_max_num_queries, who
):
    client: Client = request.getfixturevalue(who)
    found = []
    for rows in (1, 2):  # 1 and 3 of each kind
        for _ in range(rows):
            author = User.objects.create_user(f"author {User.objects.count()}")
            for days in (-1, 1):
                begin, end = timezone.now() + days * DAY, timezone.now() + 3 * DAY
                vacancy = make_vacancy(
                    brand=make_brand("Mine"), publish_from=begin, publish_until=end
                )
                record(vacancy, Change.CREATED, author=author, at=NOW)
        client.get("/admin/")
        with django_assert_max_num_queries(27) as queries:
            client.get("/admin/")
        found.append(len(queries))
    assert found[0] == found[1]
