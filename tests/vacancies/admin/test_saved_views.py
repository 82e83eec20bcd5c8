"""Saved views of the list of vacancies."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.asserts import assertContains, assertNotContains

from jobsite.serving.revision import fetch
from tests.factories import make_brand, make_option, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, listed, staff
from vacancies.models import ListPreference, SavedView

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("filters")]

ADD = f"{LIST}views/add/"


def view_page(view: SavedView) -> str:
    return f"{LIST}views/{view.pk}/"


def save_view(client: Client, name: str = "Drafts of mine", **data: Any) -> SavedView:
    sent = {"name": name, "query": "state=draft", "shown": "state location"} | data
    assert client.post(ADD, sent).status_code == 302
    return SavedView.objects.get(name=name)


def parameters(response: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(response["Location"]).query)


def test_view_keeps_filters_order_and_columns(anna: Client) -> None:
    draft = make_vacancy(status="draft", location="Ghent")
    make_vacancy()

    view = save_view(
        anna, query="state=draft&o=-state&p=7&view=3&edit=1&q=", shown="state location"
    )

    assert view.query == "o=-state&state=draft"
    assert (view.columns, view.is_shared, view.owner.get_username()) == (
        ["state", "location"],
        False,
        "anna",
    )
    opened = anna.get(f"{LIST}?view={view.pk}")
    assert parameters(opened) == {"o": ["-state"], "state": ["draft"], "view": [str(view.pk)]}
    page = anna.get(opened["Location"])
    assert [row.pk for row in page.context["cl"].result_list] == [draft.pk]
    assert page.context["shown_columns"] == ("state", "location")
    assertContains(page, 'aria-current="page">Drafts of mine')
    assertNotContains(page, "Save “Drafts of mine”")


def test_view_saves_other_filters_and_columns(anna: Client) -> None:
    view = save_view(anna)
    changed = f"{LIST}?state=expired&view={view.pk}"
    assertContains(anna.get(changed), "Save “Drafts of mine”")

    anna.post(view_page(view), {"query": "state=expired&o=title", "shown": "state brand"})

    view.refresh_from_db()
    assert (view.query, view.columns) == ("o=title&state=expired", ["state", "brand"])
    anna.post(f"{LIST}list-preference/", {"columns": ["", "brand"], "view": view.pk})
    view.refresh_from_db()
    assert view.columns == ["brand"]


def test_view_is_renamed_and_deleted(anna: Client) -> None:
    view = save_view(anna)
    anna.post(view_page(view), {"name": " New   name "})
    view.refresh_from_db()
    assert (view.name, view.query) == ("New name", "state=draft")
    assert anna.get(f"{view_page(view)}delete/").status_code == 405

    response = anna.post(f"{view_page(view)}delete/", follow=True)

    assert messages_of(response)[-1] == "The view “New name” was deleted."
    assert SavedView.objects.count() == 0


def test_view_needs_a_name_of_its_own(anna: Client) -> None:
    save_view(anna)
    for name in ("", "  ", "x" * 81, "Drafts of mine"):
        response = anna.post(ADD, {"name": name, "query": "state=expired"})
        assert (response.status_code, list(response.context["form"].errors)) == (200, ["name"])
        assertContains(response, 'value="state=expired"')  # not lost
    assert SavedView.objects.count() == 1


def test_default_view_opens_the_list(anna: Client) -> None:
    view = save_view(anna, is_default="on")
    assert parameters(anna.get(LIST))["view"] == [str(view.pk)]
    assert anna.get(f"{LIST}?view=all").status_code == 200
    assert anna.get(f"{LIST}?state=expired").status_code == 200
    assert 'name="is_default" ' in anna.get(view_page(view)).content.decode()
    anna.post(view_page(view), {"name": view.name})
    assert anna.get(LIST).status_code == 200
    view.delete()
    assert anna.get(LIST).status_code == 200


def test_private_view_is_not_found_by_others(anna: Client, colleague: Client) -> None:
    view = save_view(anna)
    for response in (
        colleague.get(view_page(view)),
        colleague.post(view_page(view), {"name": "Mine now"}),
        colleague.post(f"{view_page(view)}delete/"),
    ):
        assert response.status_code == 404
    response = colleague.get(f"{LIST}?view={view.pk}", follow=True)
    assert messages_of(response) == ["This view no longer exists, or is not shared."]
    assertNotContains(response, "Drafts of mine")
    view.refresh_from_db()
    assert view.name == "Drafts of mine"


def test_shared_view_is_used_but_not_changed_by_others(anna: Client, colleague: Client) -> None:
    view = save_view(anna, is_shared="on", query="state=all")
    mine = make_vacancy(brand=make_brand("Mine"))
    make_vacancy(brand=make_brand("Other"), title="Secret")

    assertContains(colleague.get(f"{LIST}?state=all&view={view.pk}"), "shared by Anna Peeters")
    assert listed(colleague, f"{LIST}?state=all&view={view.pk}") == {mine.pk}  # brand scoping stays
    for response in (
        colleague.get(view_page(view)),
        colleague.post(view_page(view), {"name": "x"}),
        colleague.post(f"{view_page(view)}delete/"),
    ):
        assert response.status_code == 403
    colleague.post(f"{LIST}list-preference/", {"columns": ["", "brand"], "view": view.pk})
    view.refresh_from_db()
    assert (view.name, view.columns) == ("Drafts of mine", ["state", "location"])


def test_only_those_who_change_vacancies_share_views() -> None:
    viewer = staff("viewer", "view_vacancy")
    assert save_view(viewer, is_shared="on").is_shared is False
    assertNotContains(viewer.get(ADD), "is_shared")


def test_shared_view_of_a_deleted_colleague_remains(anna: Client, colleague: Client) -> None:
    private = save_view(colleague, "Private")
    shared = save_view(colleague, "Shared", is_shared="on")
    User.objects.get(username="colleague").delete()

    assert list(SavedView.objects.values_list("name", "owner")) == [("Shared", None)]
    assertContains(anna.get(LIST), "Shared")
    anna.post(view_page(shared), {"name": "Ours", "is_shared": "on"})  # an administrator
    shared.refresh_from_db()
    assert shared.name == "Ours"
    assert anna.post(f"{view_page(shared)}delete/").status_code == 302
    assert not SavedView.objects.filter(pk__in=[private.pk, shared.pk]).exists()


def test_default_view_that_is_no_longer_shared_is_ignored(anna: Client, colleague: Client) -> None:
    view = save_view(anna, is_shared="on")
    user = User.objects.get(username="colleague")
    ListPreference.objects.create(user=user, default_view=view)
    assert parameters(colleague.get(LIST))["view"] == [str(view.pk)]
    SavedView.objects.update(is_shared=False)
    assert colleague.get(LIST).status_code == 200


@pytest.mark.slow("opens several pages of the admin")
def test_view_that_is_unknown_or_has_invalid_filters_gives_a_message(anna: Client) -> None:
    view = SavedView.objects.create(owner=User.objects.get(username="anna"), name="Old")
    text = "The filters of the view “Old” are no longer valid. All vacancies are shown."
    unknown = "This view no longer exists, or is not shared."
    for query, expected in (
        *(
            (f"{each}&view={view.pk}", text)
            for each in ("title__regex=(", "publish_until__year=99999", "brand=x", "nonsense=1")
        ),
        *((f"view={each}", unknown) for each in ("", "0", "abc", "9" * 20, "1%00", "-1")),
    ):
        SavedView.objects.update(query=query.partition("&")[0])
        response = anna.get(f"{LIST}?{query}", follow=True)
        assert (response.status_code, messages_of(response)) == (200, [expected]), query


def test_view_with_a_deleted_option_finds_nothing_and_says_so(anna: Client) -> None:
    make_vacancy()
    option = make_option("regions", "Antwerp")
    view = save_view(anna, query=f"option={option.pk}")
    option.delete()
    response = anna.get(f"{LIST}?view={view.pk}", follow=True)
    text = "The filter “option” asks for something that no longer exists. Choose again."
    assert messages_of(response)[-1] == text
    assert response.context["cl"].result_count == 0


def test_views_do_not_raise_the_revision(anna: Client) -> None:
    before = fetch("SELECT number FROM jobsite_revision")
    view = save_view(anna, is_default="on")
    anna.post(f"{LIST}list-preference/", {"columns": ["", "brand"]})
    anna.post(f"{view_page(view)}delete/")
    assert fetch("SELECT number FROM jobsite_revision") == before


def test_shortcuts_are_switched_off_per_user(anna: Client) -> None:
    assertContains(anna.get(LIST), 'data-shortcuts="on"')
    for sent, expected in (("off", "off"), ("nonsense", "off"), ("on", "on")):
        anna.post(f"{LIST}list-preference/", {"shortcuts": sent})
        assertContains(anna.get(LIST), f'data-shortcuts="{expected}"')


def test_tabs_are_translated(anna: Client) -> None:
    """The tab is not the version of a text that somebody else changed too, which is also "Mine"."""
    assertContains(anna.get(LIST, headers={"Accept-Language": "nl"}), ">Mijn vacatures<")
