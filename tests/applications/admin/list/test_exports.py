"""Exports of applications: columns, formulas, what is logged, and what leaks."""

import csv
from datetime import timedelta
from io import BytesIO, StringIO
from zipfile import ZipFile

import pytest
from django.utils.html import strip_tags

from applications import exports
from applications.admin.application import ApplicationAdmin
from applications.models import AccessLog, Application
from jobsite.spreadsheets import writing
from tests.applications.admin.conftest import FOREIGN, apply, staff
from tests.applications.makers import make_file, make_submission

pytestmark = pytest.mark.django_db
LIST = "/admin/applications/application/"
OWN = [
    "Number",
    "Reference",
    "Applied",
    "Vacancy",
    "Number of the vacancy",
    "Stage",
    "Name",
    "E-mail address",
    "Telephone number",
    "Language",
    "Rating",
    "New",
    "Applied again",
    "Withdrawn",
    "Source",
    "Reason",
]


def csv_rows(response):
    text = b"".join(response.streaming_content).decode()
    assert text.startswith("\ufeff")
    return list(csv.reader(StringIO(text.removeprefix("\ufeff"))))


def exported(client, *applications, kind="csv", **query):
    data = {"action": f"export_{kind}", "_selected_action": [each.pk for each in applications]}
    return client.post(f"{LIST}?{'&'.join(f'{k}={v}' for k, v in query.items())}", data)


@pytest.fixture
def mia(office, at):
    submission = make_submission(
        office.own,
        {"first_name": "Mia", "experience": "yes", "where": "=1+1\nthere", "extra": "kept"},
    )
    make_file(submission, "cv.pdf")
    return office.own


def test_answers_are_columns(office, mia, at):
    response = exported(office.anna, mia)

    heading, row = csv_rows(response)
    assert heading == [
        *OWN,
        "First name",
        "E-mail address (email)",
        "Telephone number (phone)",
        "Do you have experience?",
        "Where?",
        "Your CV",
        "I agree.",
        "Other values",
    ]
    assert row == [
        str(mia.pk),
        "7K3QX9WD",
        "2026-03-02 08:30:15",
        "Nurse",
        str(mia.vacancy_id),
        "New",
        "Mia",
        "mia@example.org",
        "",
        "en",
        "",
        "yes",
        "",
        "",
        "",
        "",
        "Mia",
        "",
        "",
        "Yes, I have",
        "'=1+1\nthere",
        "cv.pdf",
        "",
        "extra: kept",
    ]
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="applications-2026-03-02.csv"'
    assert "no-store" in response["Cache-Control"]


def test_forms_share_the_column_of_a_field(office, mia, at):
    other = apply(office.own.vacancy, "Jan", created_at=at)
    field = {"name": "first_name", "type": "text", "label": "Voornaam", "required": True}
    own = {"name": "licence", "type": "text", "label": "Stage", "required": True}
    make_submission(
        other, {"first_name": "Jan", "licence": "B"}, [{"title": "", "fields": [field, own]}]
    )
    without = apply(office.own.vacancy, "Zoë", created_at=at - timedelta(days=9))

    heading, *rows = csv_rows(exported(office.anna, mia, other, without))

    assert heading[16:19] == ["Voornaam", "Stage (licence)", "E-mail address (email)"]
    # In the order of the list.
    assert [row[16:18] for row in rows] == [["Jan", "B"], ["Mia", ""], ["", ""]]
    assert {len(row) for row in rows} == {len(heading)}


def test_formulas_are_text_in_csv(office, mia):
    Application.objects.update(phone='@HYPERLINK("https://evil.example")')

    _heading, row = csv_rows(exported(office.anna, mia))

    assert row[8] == """'@HYPERLINK("https://evil.example")"""
    texts = {f"{start}A1": f"'{start}A1" for start in "=+-@\t\r"}
    texts |= {each: each for each in ("a=1", " =1", "", "1-2", 5)}
    assert {each: writing.without_formula(each) for each in texts} == texts


def test_xlsx_has_texts_and_neither_formulas_nor_links(office, mia):
    Application.objects.filter(pk=mia.pk).update(
        given_name="=1+1", family_name="\x0b\ufffe", phone="https://evil.example", rating=3
    )

    response = exported(office.anna, mia, kind="xlsx")

    with ZipFile(BytesIO(response.content)) as book:
        names = book.namelist()
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        texts = book.read("xl/sharedStrings.xml").decode()
    assert "<f>" not in sheet
    assert "hyperlink" not in sheet
    assert not [name for name in names if "rels" in name and "worksheets" in name]
    assert '<c r="K2"><v>3</v></c>' in sheet
    for text in ("=1+1", "https://evil.example", "Yes, I have", "Do you have experience?"):
        assert text in strip_tags(texts)
    assert response["Content-Disposition"].endswith('.xlsx"')


def test_every_exported_application_is_logged(office, mia, at):
    apply(office.own.vacancy, "Jan")

    for kind in ("csv", "xlsx"):
        exported(office.anna, mia, office.foreign, kind=kind)

    log = AccessLog.objects.order_by("pk").values_list("actor__username", "application", "action")
    assert list(log) == [("anna", mia.pk, "export")] * 2


def test_filtered_applications_of_all_pages_are_exported(office, mia, monkeypatch):
    monkeypatch.setattr(ApplicationAdmin, "list_per_page", 2)
    for number in range(6):
        apply(office.own.vacancy, f"Jan {number}", is_repeated=number % 2 == 0)
    chosen = {"action": "export_csv", "_selected_action": [mia.pk], "select_across": "1"}

    _heading, *rows = csv_rows(office.anna.post(f"{LIST}?mark=repeated", chosen))

    assert len(rows) == 3
    text = b"".join(office.anna.post(LIST, chosen).streaming_content).decode()
    assert ("Mia" in text, FOREIGN in text) == (True, False)


def test_exports_need_a_permission_of_their_own(office, mia):
    """An auditor opens each application, but does not take all of them away in a file."""
    auditor = staff("auditor", "Auditor")
    assert auditor.get(f"{LIST}{mia.pk}/change/").status_code == 200

    offered = {
        kind for kind in ("csv", "xlsx") if f"export_{kind}" in auditor.get(LIST).content.decode()
    }
    for kind in ("csv", "xlsx"):
        exported(auditor, mia, kind=kind)

    assert (offered, AccessLog.objects.filter(action="export").count()) == (set(), 0)


def test_batches_leave_out_erased_rows_and_take_the_same_queries(
    office, mia, django_assert_max_num_queries
):
    (heading,), rows = exports.ApplicationTable([mia.pk, 0], "nl").batches()
    assert ("Vacature" in heading, len(rows)) == (True, 1)

    made = [apply(office.own.vacancy, f"Jan {number}") for number in range(2)]
    for application in made:
        make_file(make_submission(application, {"first_name": "Jan"}))
    counts = set()
    for pks in ([mia.pk], [mia.pk, *(each.pk for each in made)]):
        with django_assert_max_num_queries(5) as queries:
            "".join(writing.csv_lines(exports.ApplicationTable(pks, "en").batches()))
        counts.add(len(queries))
    assert len(counts) == 1
