"""Filters and their options: edit, add in place, delete, merge."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django.asserts import assertContains

from tests.conftest import NOW
from tests.factories import make_filter, make_option, make_vacancy
from tests.vacancies.admin.forms import LIST, errors, messages, opened, page, saved
from vacancies import operations
from vacancies.history.versions import record
from vacancies.models import Change, Filter, FilterOption, Vacancy, VacancyOption

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
OPTIONS = "/admin/vacancies/filteroption/"


# --- on the page of a filter ---


def option_form(filter: Filter, rows: list[dict[str, Any]], initial: int) -> dict[str, Any]:
    data = {
        "label": filter.label,
        "position": "0",
        "options-TOTAL_FORMS": len(rows),
        "options-INITIAL_FORMS": initial,
    }
    for index, row in enumerate(rows):
        data |= {f"options-{index}-{name}": value for name, value in row.items()}
    return data


def test_option_in_use_is_not_deleted_and_says_why(anna: Client, vacancy: Vacancy, regions: list) -> None:
    VacancyOption.objects.create(vacancy=vacancy, option=regions[0])
    rows = [{"id": o.pk, "label": o.label, "value": o.value, "position": o.position} for o in regions]
    rows[0]["DELETE"] = "on"
    filter = regions[0].filter

    response = anna.post(f"/admin/vacancies/filter/{filter.pk}/change/", option_form(filter, rows, 3))

    assertContains(
        response,
        "“Antwerp” cannot be deleted: a vacancy uses it. Switch it off, merge it with another one, or "
        "rename it.",
    )
    assert list(filter.options.values_list("label", flat=True)) == ["Antwerp", "Ghent", "Leuven"]


def test_new_options_go_last_and_get_values_of_their_own(anna: Client, regions: list) -> None:
    filter = regions[0].filter
    rows = [{"id": o.pk, "label": o.label, "value": o.value, "position": o.position} for o in regions]
    rows += [{"label": "C++", "value": "", "position": ""}, {"label": "C#", "value": "", "position": ""}]

    assert saved(anna.post(f"/admin/vacancies/filter/{filter.pk}/change/", option_form(filter, rows, 3)))

    assert list(filter.options.values_list("label", "value", "position"))[3:] == [
        ("C++", "c", 3),
        ("C#", "c-2", 4),
    ]


def test_same_option_twice_is_refused_at_the_row(anna: Client, regions: list) -> None:
    filter = Filter.objects.get(keyword="types")
    rows = [{"label": "Nurse", "value": "", "position": ""}] * 2

    response = anna.post(f"/admin/vacancies/filter/{filter.pk}/change/", option_form(filter, rows, 0))

    assertContains(response, "Another option of this filter already uses this.")
    assert not filter.options.exists()


def test_filters_are_neither_added_nor_deleted(anna: Client) -> None:
    filter = Filter.objects.first()
    assert anna.get("/admin/vacancies/filter/add/").status_code == 403
    assert anna.post(f"/admin/vacancies/filter/{filter.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Filter.objects.count() == 9


# --- added in place ---


def make_in_place(client: Client, keyword: str, label: str) -> tuple[int, dict[str, Any]]:
    response = client.post(f"/admin/vacancies/filter/{make_filter(keyword).pk}/option/", {"label": label})
    return response.status_code, response.json()


def test_option_is_added_in_place_once(anna: Client) -> None:
    make_option("regions", "Antwerp", position=7)

    status, made = make_in_place(anna, "regions", "  East   Flanders ")

    option = FilterOption.objects.get(label="East Flanders")
    assert (status, made) == (200, {"id": option.pk, "label": "East Flanders"})
    assert (option.value, option.position, option.is_active) == ("east-flanders", 8, True)
    assert make_in_place(anna, "regions", "EAST FLANDERS") == (200, made)
    assert make_in_place(anna, "regions", "East\0 Flanders") == (200, made)
    assert make_in_place(anna, "types", "East Flanders")[1]["id"] != option.pk
    assert FilterOption.objects.filter(filter__keyword="regions").count() == 2


@pytest.mark.parametrize("label", ["", "   ", "\0", "x" * 201])
def test_invalid_option_label_is_refused_with_a_message(anna: Client, label: str) -> None:
    status, answer = make_in_place(anna, "regions", label)
    assert (status, list(answer)) == (400, ["error"])
    assert answer["error"]
    assert not FilterOption.objects.exists()


def test_new_option_gets_a_free_value(anna: Client) -> None:
    for label in ("C", "C++", "C#", "日本"):
        assert make_in_place(anna, "types", label)[0] == 200
    found = FilterOption.objects.order_by("pk").values_list("label", "value")
    assert list(found) == [("C", "c"), ("C++", "c-2"), ("C#", "c-3"), ("日本", "option")]


def test_adding_an_option_in_place_needs_the_add_permission(colleague: Client, anna: Client) -> None:
    number = make_filter("regions").pk
    assert colleague.post(f"/admin/vacancies/filter/{number}/option/", {"label": "Ghent"}).status_code == 403
    assert anna.get(f"/admin/vacancies/filter/{number}/option/").status_code == 404
    for nothing in ("0", "9" * 30):
        assert anna.post(f"/admin/vacancies/filter/{nothing}/option/", {"label": "Ghent"}).status_code == 404
    assert not FilterOption.objects.exists()


# --- switched off, deleted, merged ---


@pytest.mark.slow("opens and saves the form several times")
def test_inactive_option_stays_on_its_vacancies_and_cannot_be_chosen(anna: Client) -> None:
    off, on = make_option("regions", "Old name", is_active=False), make_option("regions", "New name")
    carrier, other = make_vacancy(options={"regions": ["Old name"]}), make_vacancy()
    offered = {
        vacancy.pk: [label for _, label in form.fields["regions"].choices]
        for vacancy in (carrier, other)
        for form in [anna.get(page(vacancy)).context["adminform"].form]
    }

    assert offered == {carrier.pk: ["New name", "Old name"], other.pk: ["New name"]}
    assert saved(anna.post(page(carrier), opened(anna, page(carrier)) | {"title": "Still"}))
    assert [choice.option for choice in carrier.choices.all()] == [off]
    refused = anna.post(page(other), opened(anna, page(other)) | {"regions": [off.pk]})
    assert list(errors(refused)) == ["regions"]
    status, answer = make_in_place(anna, "regions", "old name")
    assert (status, answer) == (400, {"error": "“Old name” is switched off. Choose another option."})
    assert saved(anna.post(page(other), opened(anna, page(other)) | {"regions": [on.pk]}))
    # public filters still find it
    assert anna.get("/v1/vacancies?filter[regions]=old-name").json()["meta"]["total"] == 1
    assert anna.get(f"/v1/vacancies/{carrier.pk}").json()["data"]["regions"] == ["Old name"]
    # once removed, it cannot be chosen again
    assert saved(anna.post(page(carrier), opened(anna, page(carrier)) | {"regions": [on.pk]}))
    refused = anna.post(page(carrier), opened(anna, page(carrier)) | {"regions": [on.pk, off.pk]})
    assert list(errors(refused)) == ["regions"]


def test_option_in_use_is_not_deleted_from_its_list_or_page(anna: Client) -> None:
    used, twice, free = (make_option("regions", label) for label in ("Ghent", "Leuven", "Free"))
    for labels in (["Ghent", "Leuven"], ["Leuven"]):
        make_vacancy(title="Unnamed", options={"regions": labels})
    way_out = "Switch it off, merge it with another one, or rename it."
    once = f"“Ghent” cannot be deleted: a vacancy uses it. {way_out}"
    more = f"“Leuven” cannot be deleted: 2 vacancies use it. {way_out}"

    many = anna.post(
        OPTIONS,
        {"action": "delete_selected", "_selected_action": [used.pk, twice.pk, free.pk], "post": "yes"},
    )
    one = anna.post(f"{OPTIONS}{used.pk}/delete/", {"post": "yes"})

    assert (many.status_code, many.context["protected"]) == (200, [once, more])
    assert (one.status_code, one.context["protected"]) == (200, [once])
    assert once in one.content.decode()
    assert b"Unnamed" not in one.content
    assert FilterOption.objects.count() == 3
    assert saved(anna.post(f"{OPTIONS}{free.pk}/delete/", {"post": "yes"}))
    assert sorted(FilterOption.objects.values_list("label", flat=True)) == ["Ghent", "Leuven"]


def test_merge_asks_which_option_to_keep_and_reports_the_count(anna: Client) -> None:
    ghent, gent, other = (make_option("regions", label) for label in ("Ghent", "Gent", "Leuven"))
    first, second = (make_vacancy(options={"regions": labels}) for labels in (["Gent"], ["Gent", "Leuven"]))
    picked = {"action": "merge", "_selected_action": [ghent.pk, gent.pk], "select_across": "0", "index": "0"}

    requested = anna.post(OPTIONS, picked)

    assert requested.context["form"].fields["into"].initial == gent.pk  # the one in use
    assert FilterOption.objects.count() == 3
    wrong = anna.post(OPTIONS, picked | {"confirmed": "1", "into": other.pk})
    assert wrong.context["form"].errors
    done = anna.post(OPTIONS, picked | {"confirmed": "1", "into": ghent.pk})
    assert messages(done) == ["“Gent” was replaced by “Ghent” in 2 vacancies."]
    carried = [
        list(vacancy.choices.order_by("position").values_list("option__label", flat=True))
        for vacancy in (first, second)
    ]
    assert carried == [["Ghent"], ["Ghent", "Leuven"]]


def test_merge_of_all_matching_options_covers_all_pages(anna: Client) -> None:
    """The list shows 50 rows. "Select all" includes the next pages, also after the confirmation."""
    options = [make_option("regions", f"Region {number:02}") for number in range(60)]
    shown = [option.pk for option in options[:50]]
    query = f"{OPTIONS}?filter__id__exact={options[0].filter_id}"
    picked = {"action": "merge", "_selected_action": shown, "select_across": "1", "index": "0"}
    requested = anna.post(query, picked)
    assert len(requested.context["sections"][0].rows) == 60
    hidden = re.findall(r'<input type="hidden" name="([\w-]+)" value="(\w*)"', requested.content.decode())
    again: dict[str, list[str]] = {}
    for name, value in hidden:
        again.setdefault(name, []).append(value)

    anna.post(query, again | {"into": [str(options[0].pk)]})

    assert [option.label for option in FilterOption.objects.all()] == ["Region 00"]


def test_merge_needs_several_options_of_one_filter(anna: Client) -> None:
    options = [make_option("regions", "Ghent").pk, make_option("types", "Nurse").pk]
    for picked in (options[:1], options):
        done = anna.post(OPTIONS, {"action": "merge", "_selected_action": picked})
        assert messages(done)[-1] == "Choose 2 to 100 options of one filter."
        assert FilterOption.objects.count() == 2


def test_merge_needs_the_delete_permission(client: Client) -> None:
    options = [make_option("regions", label) for label in ("Ghent", "Gent")]
    user = User.objects.create_user("editor", is_staff=True)
    rights = ("view_filteroption", "change_filteroption", "add_filteroption")
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client.force_login(user)
    picked = {"action": "merge", "_selected_action": [option.pk for option in options]}

    client.post(OPTIONS, picked | {"confirmed": "1", "into": options[0].pk})

    assert FilterOption.objects.count() == 2


def test_restore_reports_a_merged_option(anna: Client) -> None:
    vacancy = make_vacancy(options={"regions": ["Gent", "Leuven"]})
    version = record(vacancy, Change.CREATED, author=None, at=NOW)
    operations.merge_options(into=make_option("regions", "Ghent"), others=[make_option("regions", "Gent")])

    response = anna.post(f"{LIST}{vacancy.pk}/versions/{version.pk}/", follow=True)

    assert "Not restored because they no longer exist: Gent." in [
        str(message) for message in response.context["messages"]
    ]
    assert list(VacancyOption.objects.values_list("option__label", flat=True)) == ["Leuven"]
