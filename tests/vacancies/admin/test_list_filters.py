"""The filters of the list of vacancies by option, recruiter, brand and user, and the action
"Extend…".
"""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertContains, assertNotContains

from tests.factories import make_brand, make_filter, make_option, make_recruiter, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, ask, listed, run
from vacancies.dates import end_of_day
from vacancies.models import FilterOption, Vacancy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]

FIELD = "/admin/autocomplete/?app_label=vacancies&model_name=vacancy&field_name="
OPTIONS, RECRUITERS = f"{FIELD}options", f"{FIELD}head_recruiter"


def test_options_of_one_filter_are_alternatives_and_filters_add_up(anna: Client) -> None:
    both = make_vacancy(options={"regions": ["Antwerp"], "jobcustom1_values": ["Day"]})
    ghent = make_vacancy(options={"regions": ["Ghent"]})
    make_vacancy(options={"regions": ["Leuven"], "jobcustom1_values": ["Day"]})
    antwerp, in_ghent = make_option("regions", "Antwerp").pk, make_option("regions", "Ghent").pk
    day = make_option("jobcustom1_values", "Day").pk

    assert listed(anna, f"{LIST}?option={antwerp}") == {both.pk}
    assert listed(anna, f"{LIST}?option={antwerp}&option={in_ghent}") == {both.pk, ghent.pk}
    page = anna.get(f"{LIST}?option={antwerp}&option={in_ghent}&option={day}")
    assert [row.pk for row in page.context["cl"].result_list] == [both.pk]
    assertContains(page, f'<option value="{antwerp}" selected>Regions: Antwerp</option>', html=True)


@pytest.mark.slow("opens several pages of the admin")
def test_unknown_option_or_recruiter_finds_nothing_and_says_so(anna: Client) -> None:
    make_vacancy()
    values = {"option": ("0", "x", "1%00"), "recruiter": ("9" * 30, "999999", "-1", "x")}
    for name, value in ((name, value) for name, each in values.items() for value in each):
        response = anna.get(f"{LIST}?{name}={value}")
        assert (response.status_code, response.context["cl"].result_count) == (200, 0), (
            name,
            value,
        )
        text = f"The filter “{name}” asks for something that no longer exists. Choose again."
        assert messages_of(response) == [text], (name, value)


def test_recruiter_filter_finds_lead_and_other_recruiters(anna: Client) -> None:
    lead = make_vacancy(head_recruiter=make_recruiter("Jan"))
    other = make_vacancy(recruiters=("Jan", "Piet"))
    make_vacancy()
    jan, piet = make_recruiter("Jan").pk, make_recruiter("Piet").pk
    assert listed(anna, f"{LIST}?recruiter={jan}") == {lead.pk, other.pk}
    assert listed(anna, f"{LIST}?recruiter={piet}") == {other.pk}
    assert listed(anna, f"{LIST}?recruiter={jan}&recruiter={piet}") == {lead.pk, other.pk}


def test_mine_are_those_of_my_address_and_those_i_created(anna: Client) -> None:
    User.objects.update(email="Anna@acme.test")
    me = make_recruiter("Anna", email="anna@ACME.test")
    lead, other = make_vacancy(head_recruiter=me), make_vacancy(recruiters=("Anna",))
    make_vacancy(head_recruiter=make_recruiter("Bob", email="bob@acme.test"))
    make_vacancy(head_recruiter=make_recruiter("No address", email=""))
    copied = make_vacancy()
    run(anna, "duplicate", [copied])
    copy = Vacancy.objects.latest("pk")
    assert listed(anna, f"{LIST}?mine=1") == {lead.pk, other.pk, copy.pk}
    User.objects.update(email="")
    assert listed(anna, f"{LIST}?mine=1") == {copy.pk}
    empty = f"{LIST}?option=&recruiter=&brand__id__exact=&mine=&attention="
    assert len(listed(anna, empty)) == Vacancy.objects.count()


def test_mine_does_not_bypass_brands(colleague: Client) -> None:
    User.objects.update(email="me@acme.test")
    me = make_recruiter("Me", email="me@acme.test")
    make_vacancy(head_recruiter=me, brand=make_brand("Other"))
    mine = make_vacancy(head_recruiter=me, brand=make_brand("Mine"))
    assert listed(colleague, f"{LIST}?mine=1") == {mine.pk}


# --- search of the rows ---


@pytest.mark.slow("searches ten thousand rows")
def test_options_are_found_among_ten_thousand(
    anna: Client, django_assert_max_num_queries: Any
) -> None:
    filter = make_filter("regions", label="Region")
    FilterOption.objects.bulk_create(
        FilterOption(filter=filter, label=f"Place {number}", value=f"p{number}", position=number)
        for number in range(10_000)
    )
    anna.get(OPTIONS)
    with django_assert_max_num_queries(5):  # session, user, names, count, rows
        found = anna.get(f"{OPTIONS}&term=region+place+77").json()
    assert [row["text"] for row in found["results"]][:3] == [
        "Region: Place 77",
        "Region: Place 177",
        "Region: Place 277",
    ]
    assert (len(found["results"]), found["pagination"]) == (20, {"more": True})
    # The page of the list contains the chosen option only.
    chosen = found["results"][0]["id"]
    assertNotContains(anna.get(f"{LIST}?option={chosen}"), "Place 177")


@pytest.mark.slow("opens several pages of the admin")
def test_search_of_rows_needs_permission(anna: Client, colleague: Client) -> None:
    make_recruiter("Jan")
    assert anna.get(f"{RECRUITERS}&term=ja").json()["results"][0]["text"] == "Jan"
    for term in ("", "zzz", "\0", "%", "a " * 4_000, "'"):
        assert anna.get(f"{OPTIONS}&{urlencode({'term': term})}").status_code == 200, term
    name = 'name="recruiter"'
    assertContains(anna.get(LIST), name)
    assert colleague.get(RECRUITERS).status_code == 403
    assertNotContains(colleague.get(LIST), name)
    user = User.objects.get(username="colleague")
    user.user_permissions.add(Permission.objects.get(codename="view_recruiter"))
    assert colleague.get(RECRUITERS).status_code == 200


# --- the task: find and extend the vacancies that close this week ---


def make_closing(days: int, **values: Any) -> Vacancy:
    return make_vacancy(
        publish_until=end_of_day(timezone.localdate() + timedelta(days=days)), **values
    )


def ends_in(vacancy: Vacancy) -> int:
    vacancy.refresh_from_db()
    end: Any = vacancy.publish_until
    return (end - end_of_day(timezone.localdate())).days


def test_tab_lists_what_closes_this_week_first_to_close_first(anna: Client) -> None:
    rows = [make_closing(days) for days in (5, 1, 3)]
    make_closing(30)
    make_vacancy()
    page = anna.get(LIST)
    [tab] = [tab for tab in page.context["view_tabs"] if tab["label"] == "Closing this week"]
    found = anna.get(f"{LIST}{tab['url']}")
    assert [row.pk for row in found.context["cl"].result_list] == [
        rows[1].pk,
        rows[2].pk,
        rows[0].pk,
    ]
    assertContains(found, 'aria-current="page">Closing this week')


def test_extend_by_weeks_counts_from_each_closing_date(anna: Client) -> None:
    rows = [make_closing(n, title=f"Row {n}") for n in (1, 3)]
    assert ask(anna, "extend", rows).context["form"]["by"].value() == "2"
    for by, expected in (("2", [15, 17]), ("4", [43, 45])):
        assert run(anna, "extend", rows, by=by) == ["2 vacancies were extended."]
        assert [ends_in(row) for row in rows] == expected
    closed = make_closing(-40, publish_from=timezone.now() - timedelta(days=90))
    anna.post(f"{LIST}{closed.pk}/extend/", {"by": "2"})
    assert ends_in(closed) == 14  # from today


def test_extend_needs_weeks_or_a_date(anna: Client) -> None:
    vacancy = make_closing(3)
    for sent in ({}, {"by": "3"}, {"by": "-2"}, {"by": "x"}, {"by": "2", "day": "x"}):
        response = anna.post(f"{LIST}{vacancy.pk}/extend/", sent)
        assert (response.status_code, bool(response.context["form"].errors)) == (200, True), sent
    assert ends_in(vacancy) == 3
    day = timezone.localdate() + timedelta(days=100)
    anna.post(f"{LIST}{vacancy.pk}/extend/", {"by": "2", "day": day.isoformat()})
    assert ends_in(vacancy) == 100  # a date goes before weeks


def test_extend_by_weeks_keeps_the_end_of_the_day_when_the_clocks_change(
    anna: Client, settings: Any
) -> None:
    settings.TIME_ZONE = "Europe/Brussels"
    vacancy = make_vacancy(publish_until=end_of_day(datetime(2199, 3, 20).date()))
    anna.post(f"{LIST}{vacancy.pk}/extend/", {"by": "2"})
    vacancy.refresh_from_db()
    assert vacancy.publish_until == end_of_day(datetime(2199, 4, 3).date())


def test_field_for_a_vacancy_searches_titles(anna: Client) -> None:
    nurse, _baker = make_vacancy(title="Nurse"), make_vacancy(title="Baker")
    field = "app_label=applications&model_name=application&field_name=vacancy"
    response = anna.get(f"/admin/autocomplete/?{field}&term=nur")
    assert response.json()["results"] == [{"id": str(nurse.pk), "text": "Nurse"}]


def test_list_names_its_active_filters_with_the_way_to_remove_each(anna: Client) -> None:
    option = make_option("regions", "Ghent")
    query = f"state=draft&option={option.pk}&mine=2&q=x"
    found = anna.get(f"{LIST}?{query}").context["active_filters"]
    assert [(each.title, each.text, each.url) for each in found] == [
        ("status", "Draft", f"?mine=2&option={option.pk}&q=x"),
        ("option", "Regions: Ghent", "?mine=2&q=x&state=draft"),
    ]
    [alone] = anna.get(f"{LIST}?view=3&state=draft", follow=True).context["active_filters"]
    assert alone.url == "?view=all"
