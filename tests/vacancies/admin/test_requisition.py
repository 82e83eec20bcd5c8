"""The internal data of a vacancy: the box on its page, conflicts, the log, duplicates."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.db import IntegrityError, connection, transaction

from applications.privacy import possible_mentions
from jobsite.serving.revision import read_state
from tests.vacancies.admin.forms import LIST, VIEWER, page, posted_by, staff, texts
from vacancies.models import Requisition, Vacancy, Version
from vacancies.operations import publication

pytestmark = pytest.mark.django_db
RIGHTS = ("view_vacancy", "view_requisition", "change_requisition")


def box(vacancy: Vacancy) -> str:
    return f"{LIST}{vacancy.pk}/internal/"


def sent(seen="", **values):
    """What a browser sends from the box of a vacancy without internal data, except `values`."""
    values = {"client": "", "positions": 1, "note": ""} | values
    return {"seen": seen, **{f"internal-{name}": value for name, value in values.items()}}


@pytest.fixture
def anna(brand):
    return staff("anna", *RIGHTS, brands=[brand])


def test_box_saves_and_logs_the_names_of_changed_fields(anna, vacancy, at):
    version = Version.objects.count()
    empty = anna.get(page(vacancy)).content.decode()
    assert '<form method="post" action="' + box(vacancy) in empty
    assert "internal-client" not in posted_by(empty)  # of another form than that of the vacancy
    changed = sent(client="Zyx & Co", positions=3, note="Ask\r\nKim", is_filled="on")
    response = anna.post(box(vacancy), changed)
    assert (response.status_code, response["Location"]) == (302, f"{page(vacancy)}#internal")
    row = Requisition.objects.get()
    assert (row.client, row.positions, row.note, row.filled_at) == ("Zyx & Co", 3, "Ask\r\nKim", at)
    assert (row.updated_at, row.is_for_open_applications, row.criteria) == (at, False, [])
    entry = LogEntry.objects.get()
    fields = ["Client", "Positions", "Filled", "Internal note"]
    expected = {"name": "internal data", "object": "Nurse", "fields": fields}
    assert json.loads(entry.change_message) == [{"changed": expected}]
    assert (entry.object_id, entry.object_repr) == (str(vacancy.pk), "Nurse")
    shown = anna.get(page(vacancy)).content.decode()
    assert 'value="Zyx &amp; Co"' in shown
    assert "Since " in shown

    assert Version.objects.count() == version  # no version and no revision of the vacancy
    assert Vacancy.objects.get(pk=vacancy.pk).updated_at == vacancy.updated_at
    anna.post(box(vacancy), sent(row.updated_at.isoformat(), client="Zyx & Co", positions=3))
    row.refresh_from_db()
    assert (row.note, row.filled_at) == ("", None)


def test_cached_page_of_the_vacancy_ends_when_it_becomes_no_job(anna, vacancy):
    def revision() -> int:
        connection.check_constraints()  # PostgreSQL raises it at the end of a transaction
        return read_state().number

    first = revision()
    anna.post(box(vacancy), sent(client="Zyx"))
    assert revision() == first
    seen = Requisition.objects.get().updated_at.isoformat()
    anna.post(box(vacancy), sent(seen, client="Zyx", is_for_open_applications="on"))
    assert revision() > first


def test_unchanged_box_stores_nothing(anna, vacancy):
    assert texts(anna.post(box(vacancy), sent())) == ["The internal data was saved."]
    assert (Requisition.objects.count(), LogEntry.objects.count()) == (0, 0)


def test_save_of_an_old_version_is_refused_and_shows_both_texts(anna, vacancy, brand):
    """Also if both found none, or one sends no version."""
    Requisition.objects.create(vacancy=vacancy, client="Theirs <b>", positions=2)
    for seen in ("", "2020-01-01T00:00:00+00:00", "x"):
        response = anna.post(box(vacancy), sent(seen, client="Mine", positions=2))
        assert response.status_code == 409
        shown = response.content.decode()
        assert 'value="Mine"' in shown
        assert "Theirs &lt;b&gt;" in shown
        assert shown.count("Saved by the colleague") == 1  # of the one field that differs
    row = Requisition.objects.get()
    assert (row.client, LogEntry.objects.count()) == ("Theirs <b>", 0)
    again = {"seen": response.context["requisition_form"].seen, "internal-client": "Mine"}
    assert anna.post(box(vacancy), sent(positions=2) | again).status_code == 302
    assert Requisition.objects.get().client == "Mine"
    equal = anna.post(box(vacancy), sent("x", client="Mine", positions=2))  # a second click
    assert equal.status_code == 302


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"positions": 0}, "greater than or equal to 1"),
        ({"positions": 1000}, "less than or equal to 999"),
        ({"positions": "x"}, "Enter a whole number."),
        ({"client": "x" * 201}, "at most 200 characters"),
        ({"client": "a\0"}, "Null characters are not allowed."),
        ({"note": "x" * 10_001}, "at most 10000 characters"),
    ],
)
def test_invalid_box_names_the_field(anna, vacancy, values, error):
    response = anna.post(box(vacancy), sent(**values))
    [(field, [text])] = response.context["requisition_form"].errors.items()
    assert (response.status_code, field, error in text) == (422, *values, True)
    assert error in response.content.decode()
    assert not Requisition.objects.exists()


def test_database_refuses_other_numbers_of_positions(vacancy):
    for number in (0, 1000):
        with transaction.atomic(), pytest.raises(IntegrityError):
            Requisition.objects.create(vacancy=vacancy, positions=number)


@pytest.mark.slow("opens many pages")
def test_box_needs_its_permissions_and_the_brand(vacancy, colleague, brand):
    Requisition.objects.create(vacancy=vacancy, client="zyxclient")
    viewer = staff("viewer", *VIEWER, "change_vacancy")
    reader = staff("reader", *VIEWER, "view_requisition")
    stranger = staff("stranger", *RIGHTS)
    assert "zyxclient" not in viewer.get(page(vacancy)).content.decode()
    shown = reader.get(page(vacancy)).content.decode()
    assert ("zyxclient" in shown, "Save internal data" in shown) == (True, False)
    found = [client.get(box(vacancy)).status_code for client in (viewer, reader, stranger)]
    assert found == [403, 200, 404]
    posted = [
        client.post(box(vacancy), sent()).status_code for client in (viewer, reader, stranger)
    ]
    assert posted == [403, 403, 404]


def test_duplicate_has_the_client_only(vacancy, at):
    Requisition.objects.create(
        vacancy=vacancy, client="Zyx", note="Secret", positions=9, filled_at=at
    )
    copy = publication.duplicate(vacancy=vacancy, at=at)
    row = Requisition.objects.get(vacancy=copy)
    assert (row.client, row.note, row.positions, row.filled_at) == ("Zyx", "", 1, None)


def test_internal_data_may_mention_a_person(vacancy):
    row = Requisition.objects.create(vacancy=vacancy, client="Firm of Zyx Elan", note="x")
    assert possible_mentions({"zyx elan"}) == {"internal data of vacancies": [row.pk]}
