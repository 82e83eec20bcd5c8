"""Filters and their options: edit, add in place, delete, merge."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.asserts import assertContains

from tests.conftest import NOW
from tests.factories import make_filter, make_option, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, errors, opened, page, saved, staff
from vacancies.history.versions import record
from vacancies.models import (
    Approval,
    Autosave,
    Change,
    Filter,
    FilterOption,
    SavedView,
    Vacancy,
    VacancyOption,
    VacancyTemplate,
)
from vacancies.operations import options

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]
OPTIONS = "/admin/vacancies/filteroption/"


# --- on the page of a filter ---


def option_form(filter: Filter, rows: list[dict[str, Any]], initial: int) -> dict[str, Any]:
    data = {"label": filter.label, "position": "0"}
    data |= {"options-TOTAL_FORMS": len(rows), "options-INITIAL_FORMS": initial}
    return data | {
        f"options-{n}-{name}": value for n, row in enumerate(rows) for name, value in row.items()
    }


def post_options(client: Client, filter: Filter, *new: dict[str, Any], **of_first: str) -> Any:
    """Post the page of a filter with its options, other values of the first
    one, and new options.
    """
    names = ("id", "label", "value", "position")
    stored = [
        dict(zip(names, row, strict=True)) for row in filter.options.values_list("pk", *names[1:])
    ]
    if stored:
        stored[0] |= of_first
    url = f"/admin/vacancies/filter/{filter.pk}/change/"
    return client.post(url, option_form(filter, [*stored, *new], len(stored)))


def test_option_in_use_is_not_deleted_and_says_why(
    anna: Client, vacancy: Vacancy, regions: list
) -> None:
    VacancyOption.objects.create(vacancy=vacancy, option=regions[0])
    response = post_options(anna, regions[0].filter, DELETE="on")
    assertContains(
        response,
        "“Antwerp” cannot be deleted: a vacancy uses it. Switch it off, merge it with another "
        "one, or rename it.",
    )
    assert list(regions[0].filter.options.values_list("label", flat=True)) == [
        "Antwerp",
        "Ghent",
        "Leuven",
    ]


def test_new_options_go_last_and_get_values_of_their_own(anna: Client, regions: list) -> None:
    filter = regions[0].filter
    new = [{"label": label, "value": "", "position": ""} for label in ("C++", "C#")]
    assert saved(post_options(anna, filter, *new))
    found = list(filter.options.values_list("label", "value", "position"))
    assert found[3:] == [("C++", "c", 3), ("C#", "c-2", 4)]

    twice = post_options(anna, Filter.objects.get(keyword="types"), *[new[0]] * 2)
    assertContains(twice, "Another option of this filter already uses this.")
    assert not FilterOption.objects.filter(filter__keyword="types").exists()


def test_filter_is_switched_off_in_the_list(anna: Client) -> None:
    make_vacancy(options={"regions": ["Ghent"], "types": ["Nurse"]})
    rows = [Filter.objects.get(keyword="regions"), *Filter.objects.exclude(keyword="regions")]
    data = {"form-TOTAL_FORMS": len(rows), "form-INITIAL_FORMS": len(rows), "_save": "Save"}
    data |= {
        f"form-{n}-{name}": getattr(row, name)
        for n, row in enumerate(rows)
        for name in ("id", "position")
    }
    data |= {f"form-{n}-is_active": "on" for n in range(1, len(rows))}
    assert saved(anna.post("/admin/vacancies/filter/", data))
    offered = [
        each["keyword"] for each in anna.get("/v1/filters").json()["data"] if each["id"] <= 100
    ]
    assert offered == ["types"]


# --- added in place ---


def make_in_place(client: Client, keyword: str, label: str) -> tuple[int, dict[str, Any]]:
    response = client.post(
        f"/admin/vacancies/filter/{make_filter(keyword).pk}/option/", {"label": label}
    )
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


def test_invalid_option_label_is_refused_with_a_message(anna: Client) -> None:
    for label in ("", "   ", "\0", "x" * 201):
        status, answer = make_in_place(anna, "regions", label)
        assert (status, list(answer)) == (400, ["error"])
        assert answer["error"]
    assert not FilterOption.objects.exists()


def test_option_of_an_unknown_filter_is_not_found(anna: Client) -> None:
    for nothing in ("0", "9" * 30):
        assert (
            anna.post(f"/admin/vacancies/filter/{nothing}/option/", {"label": "Ghent"}).status_code
            == 404
        )
    assert not FilterOption.objects.exists()


# --- switched off, deleted, merged ---


@pytest.mark.slow("opens and saves the form several times")
def test_inactive_option_stays_on_its_vacancies_and_cannot_be_chosen(anna: Client) -> None:
    off, on = (
        make_option("regions", "Old name", is_active=False),
        make_option("regions", "New name"),
    )
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
    assert (status, answer) == (
        400,
        {"error": "“Old name” is switched off. Choose another option."},
    )
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

    pks = [used.pk, twice.pk, free.pk]
    many = anna.post(OPTIONS, {"action": "delete_selected", "_selected_action": pks, "post": "yes"})
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
    first, second = (
        make_vacancy(options={"regions": labels}) for labels in (["Gent"], ["Gent", "Leuven"])
    )
    picked = {
        "action": "merge",
        "_selected_action": [ghent.pk, gent.pk],
        "select_across": "0",
        "index": "0",
    }

    requested = anna.post(OPTIONS, picked)

    assert requested.context["form"].fields["into"].initial == gent.pk  # the one in use
    assert FilterOption.objects.count() == 3
    assert anna.post(OPTIONS, picked | {"confirmed": "1", "into": other.pk}).context["form"].errors
    done = anna.post(OPTIONS, picked | {"confirmed": "1", "into": ghent.pk})
    assert messages_of(done) == ["“Gent” was replaced by “Ghent” in 2 vacancies."]
    carried = [
        list(vacancy.choices.order_by("position").values_list("option__label", flat=True))
        for vacancy in (first, second)
    ]
    assert carried == [["Ghent"], ["Ghent", "Leuven"]]


def test_merge_replaces_options_in_what_refers_to_them(anna: Client) -> None:
    ghent, gent, other = (make_option("regions", label) for label in ("Ghent", "Gent", "Leuven"))
    waiting = Approval.objects.create(
        vacancy=make_vacancy(), submitted_at=NOW, changes={"regions": [[gent.pk, "Gent"]]}
    )
    content = {
        "regions": [[other.pk, "Leuven"], [gent.pk, "Gent"], [ghent.pk, "Ghent"]],
        "title": "Cook",
    }
    template = VacancyTemplate.objects.create(name="Cook", content=content)
    queries = f"brand=3&option={gent.pk}&option={ghent.pk}", f"option={other.pk}&state=draft"
    views = [SavedView.objects.create(name=query, query=query) for query in queries]

    typed = Autosave.objects.create(
        user=User.objects.create_user("ed"),
        saved_at=NOW,
        data={"title": ["Cook"], "regions": [str(gent.pk), str(other.pk), str(ghent.pk)]},
    )

    options.merge_options(into=ghent, others=[gent])

    for row in (waiting, template, typed, *views):
        row.refresh_from_db()
    assert typed.data == {"title": ["Cook"], "regions": [str(ghent.pk), str(other.pk)]}
    assert waiting.changes == {"regions": [[ghent.pk, "Ghent"]]}
    assert template.content == {
        "regions": [[other.pk, "Leuven"], [ghent.pk, "Ghent"]],
        "title": "Cook",
    }
    assert [view.query for view in views] == [f"brand=3&option={ghent.pk}", queries[1]]


def test_merge_of_all_matching_options_covers_all_pages(anna: Client) -> None:
    """The list shows 50 rows. "Select all" includes the next pages, also after the confirmation."""
    options = [make_option("regions", f"Region {number:02}") for number in range(60)]
    shown = [option.pk for option in options[:50]]
    query = f"{OPTIONS}?filter__id__exact={options[0].filter_id}"
    picked = {"action": "merge", "_selected_action": shown, "select_across": "1", "index": "0"}
    requested = anna.post(query, picked)
    assert len(requested.context["sections"][0].rows) == 60
    hidden = re.findall(
        r'<input type="hidden" name="([\w-]+)" value="(\w*)"', requested.content.decode()
    )
    again: dict[str, list[str]] = {}
    for name, value in hidden:
        again.setdefault(name, []).append(value)

    anna.post(query, again | {"into": [str(options[0].pk)]})

    assert [option.label for option in FilterOption.objects.all()] == ["Region 00"]


def test_merge_needs_several_options_of_one_filter(anna: Client) -> None:
    options = [make_option("regions", "Ghent").pk, make_option("types", "Nurse").pk]
    for picked in (options[:1], options):
        done = anna.post(OPTIONS, {"action": "merge", "_selected_action": picked})
        assert messages_of(done)[-1] == "Choose 2 to 100 options of one filter."
        assert FilterOption.objects.count() == 2


def test_merge_needs_the_delete_permission() -> None:
    options = [make_option("regions", label).pk for label in ("Ghent", "Gent")]
    client = staff("editor", "view_filteroption", "change_filteroption", "add_filteroption")
    picked = {"action": "merge", "_selected_action": options}
    client.post(OPTIONS, picked | {"confirmed": "1", "into": options[0]})
    assert FilterOption.objects.count() == 2


def test_restore_reports_a_merged_option(anna: Client) -> None:
    vacancy = make_vacancy(options={"regions": ["Gent", "Leuven"]})
    version = record(vacancy, Change.CREATED, author=None, at=NOW)
    options.merge_options(
        into=make_option("regions", "Ghent"), others=[make_option("regions", "Gent")]
    )
    response = anna.post(f"{LIST}{vacancy.pk}/versions/{version.pk}/")
    assert "Not restored because they no longer exist: Gent." in messages_of(response)
    assert list(VacancyOption.objects.values_list("option__label", flat=True)) == ["Leuven"]
