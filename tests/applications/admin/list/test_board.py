"""The board: columns, cards, brand scoping. tests/browser/test_board.py moves cards."""

import re
from urllib.parse import quote

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.functional import empty
from pytest_django.asserts import assertContains, assertNotContains

from applications.admin.list import board
from applications.models import Application
from applications.operations import Move, move
from tests.applications.admin.conftest import FOREIGN, apply, colleague, staff
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"
BOARD = f"{LIST}board/"
NAME = re.compile(r'class="board-name"[^>]*>([^<]+)<')


def columns(client, **query):
    """Return the number and the names of each column."""
    found = client.get(BOARD, query).context["columns"]
    return {str(each.stage): (each.count, NAME.findall("".join(each.cards))) for each in found}


def test_applications_are_in_the_columns_of_their_stages(office, at):
    jan = apply(office.own.vacancy, "Jan", stage=office.new)
    apply(make_vacancy(title="Baker", brand=office.brand), "Zoë", stage=office.new)
    own, foreign = office.own.vacancy_id, office.foreign.vacancy_id
    move(Application.objects.filter(pk=jan.pk), Move(stage=office.rejected, author=None, at=at))

    everything = {"New": (2, ["Zoë", "Mia"]), "Rejected": (1, ["Jan"])}
    for chosen in ("x", "9" * 30, "-1", "", "\0"):
        assert columns(office.anna, vacancy__id__exact=chosen) == everything, chosen
    assert columns(office.anna, vacancy__id__exact=own) == everything | {"New": (1, ["Mia"])}
    assertNotContains(office.anna.get(BOARD, {"vacancy__id__exact": foreign}), FOREIGN)


def test_card_shows_age_rating_and_marks(office, at):
    Application.objects.filter(pk=office.own.pk).update(rating=4, is_repeated=True, withdrawn_at=at)

    page = office.anna.get(BOARD)

    change = office.own.changes.get().pk
    for text in (
        "1\xa0hour ago",
        "rated 4/5",
        ">New</span>",
        ">Applied again</span>",
        ">Withdrawn</span>",
        "Move Mia to",
        "data-decides",
        f'value="{office.own.pk}:{change}"',
    ):
        assertContains(page, text)
    assert "no-store" in page["Cache-Control"]


def test_long_column_links_to_the_list(office, monkeypatch):
    monkeypatch.setattr(board, "MAX_CARDS", 2)
    for number in range(4):
        apply(office.own.vacancy, f"Jan {number}", stage=office.new)

    page = office.anna.get(BOARD, {"vacancy__id__exact": office.own.vacancy_id})

    [column] = [each for each in page.context["columns"] if each.count]
    assert (column.count, len(column.cards)) == (5, 2)
    query = f"?vacancy__id__exact={office.own.vacancy_id}&stage={office.new.pk}"
    assert column.list_url == f"/admin/applications/application/{query}"
    assertContains(page, "All 5 in the list")


def test_applications_are_counted_by_the_database(office, monkeypatch):
    monkeypatch.setattr(board, "MAX_CARDS", 1)
    for number in range(4):
        apply(office.own.vacancy, f"Jan {number}", stage=office.new)

    with CaptureQueriesContext(connection) as queries:
        assert columns(office.anna)["New"] == (5, ["Jan 3"])

    own = [query["sql"] for query in queries if 'FROM "applications_application"' in query["sql"]]
    with connection.cursor() as cursor:
        read = [len(cursor.execute(sql).fetchall()) for sql in own]
    assert max(read) == 1, list(zip(read, own, strict=True))  # one stage, one card


def test_board_of_a_vacancy_counts_once_and_makes_no_filter(office):
    with CaptureQueriesContext(connection) as queries:
        page = office.anna.get(BOARD, {"vacancy__id__exact": office.own.vacancy_id})

    counted = [
        query for query in queries if re.match(r'SELECT \(SELECT "?U0"?."stage_id"', query["sql"])
    ]
    assert len(counted) == 1
    assert page.context["form"] is None
    assert page.context["available_apps"]._wrapped is empty  # not made: it is not shown


def test_auditor_sees_cards_without_forms(office):
    page = staff("auditor", "Auditor").get(BOARD)

    assertContains(page, "Mia")
    for text in ("board-move", "draggable"):
        assertNotContains(page, text)


@pytest.mark.slow("opens several pages of the admin")
def test_vacancy_leads_with_its_candidates(office, at):
    """The head is the same on the page and on the board of a vacancy."""
    jan = apply(office.own.vacancy, "Jan", stage=office.new)
    tom = apply(office.own.vacancy, "Tom", stage=office.new)
    move(Application.objects.filter(pk=jan.pk), Move(stage=office.rejected, author=None, at=at))
    apply(make_vacancy(title="Baker", brand=office.brand), "Zoë", stage=office.new)
    pk = office.own.vacancy_id
    query = f"?vacancy__id__exact={pk}"
    for url in (f"/admin/vacancies/vacancy/{pk}/change/", f"{BOARD}{query}"):
        page = office.anna.get(url)
        head = page.context["head"]
        assert head["candidates"] == {
            "url": f"{BOARD}{query}",
            "count": 3,
            "first_url": f"{LIST}{tom.pk}/change/?_changelist_filters={quote(query[1:])}",
            "by_stage": {office.new.pk: 2, office.rejected.pk: 1},
            "stages": [
                {"pk": office.new.pk, "name": "New", "count": 2},
                {"pk": office.rejected.pk, "name": "Rejected", "count": 1},
            ],
        }
        assert head["main"] is None  # it is published
        assert str(head["menu"][-1]["label"]) == "Delete…"
        assertContains(page, 'class="tabs-link"')
        assertNotContains(page, "Delete vacancy")
    assert "head" not in office.anna.get("/admin/vacancies/vacancy/add/").context
    assert office.anna.get(BOARD).context["head"] is None
    user = colleague("vera", "", office.brand)
    user.user_permissions.add(Permission.objects.get(codename="view_vacancy"))
    reader = Client()
    reader.force_login(user)
    page = reader.get(f"/admin/vacancies/vacancy/{pk}/change/")
    assert "candidates" not in page.context["head"]
    assertNotContains(page, "Review…")
