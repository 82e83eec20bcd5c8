"""Export of the vacancy list, and import of the same format: dry run, differences, confirmation."""

import csv
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import BytesIO, StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import translation
from django.utils.text import capfirst
from openpyxl import Workbook, load_workbook

from jobsite.spreadsheets import writing
from tests.factories import make_brand, make_option, make_recruiter, make_vacancy
from tests.messages import messages_of
from tests.vacancies.admin.forms import LIST, VIEWER, staff, texts
from vacancies.admin.spreadsheets import pages
from vacancies.admin.spreadsheets.columns import (
    SHEET_COLUMNS,
    VacancyTable,
    headings,
)
from vacancies.admin.spreadsheets.values import Values
from vacancies.exchange.cells import CellError, joined, read_amount, split
from vacancies.models import Change, Place, Vacancy, Version

pytestmark = pytest.mark.django_db
IMPORT = f"{LIST}import/"
TITLES = [
    "ID",
    "Title",
    "Status",
    "Brand",
    "Location",
    "Regions",
    "Lead recruiter (contact)",
    "Publish from",
    "Closing date",
    "Audience",
    "Featured",
    "Continuously open",
    "Internal title",
    "Application URL",
    "Image URL",
    "Video",
]
FACTS = [
    "Reference",
    "Language of the texts",
    "Work place",
    "Places",
    "Countries for remote work",
    "Pay from",
    "Pay to",
    "Currency",
    "Pay period",
    "Pay note",
    "Show pay",
]
COLUMNS = tuple(SHEET_COLUMNS)
OTHERS = COLUMNS[COLUMNS.index("is_pay_public") + 1 : -1]  # in the order of the model
TITLES += [
    *FACTS,
    *(capfirst(Vacancy._meta.get_field(name).verbose_name) for name in OTHERS),
    "Last change",
]


PLACES = (
    {
        "street": "Kaai 1",
        "postal_code": "9000",
        "locality": "Ghent",
        "country": "BE",
        "latitude": 51,
        "longitude": 3.5,
        "position": 0,
    },
    {"locality": "Antwerp", "country": "BE", "position": 1},
    {"kind": "applicant", "country": "NL", "position": 1},
    {"kind": "applicant", "country": "BE", "position": 0},
)


@pytest.fixture
def nurse(at) -> Vacancy:
    made = make_vacancy(
        title="Nurse",
        brand=make_brand("Mine"),
        location="Ghent",
        options={"regions": ["Antwerp", "East; West"]},
        publish_from=datetime(2026, 1, 5, 8, 0, 0, 123456, tzinfo=UTC),
        publish_until=datetime(2026, 5, 1, tzinfo=UTC),
        description="<p>Care\nfor people</p>\n",
        reference="HW-1",
        language="nl",
        work_place="hybrid",
        pay_min=3100,
        pay_max="4250.50",
        pay_currency="EUR",
        pay_period="month",
        pay_note="Gross",
        is_pay_public=False,
    )
    Place.objects.bulk_create(Place(vacancy=made, **place) for place in PLACES)
    return made


def rows_of(response: Any) -> list[list[str]]:
    text = b"".join(response.streaming_content).decode()
    return list(csv.reader(StringIO(text.removeprefix("\ufeff"))))


def exported(client: Client, ending: str = "csv", query: str = "") -> list[list[str]]:
    response = client.get(f"{LIST}export-{ending}/{query}")
    assert response.status_code == 200, response.content
    if ending == "csv":
        return rows_of(response)
    return [list(row) for row in load_workbook(BytesIO(response.content)).active.values]


def csv_file(*rows: list[Any], delimiter: str = ",", encoding: str = "utf-8") -> SimpleUploadedFile:
    text = StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return SimpleUploadedFile("vacancies.csv", text.getvalue().encode(encoding))


def xlsx_file(*rows: list[Any]) -> SimpleUploadedFile:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    file = BytesIO()
    book.save(file)
    return SimpleUploadedFile("vacancies.xlsx", file.getvalue())


def upload(client: Client, file: SimpleUploadedFile) -> Any:
    return client.post(IMPORT, {"file": file})


def confirm(client: Client, shown: Any) -> Any:
    return client.post(IMPORT, {"plan": shown.context["plan"]})


def errors(response: Any) -> list[tuple[int, str, str, str]]:
    return [
        (result.number, error.column, error.received, error.message)
        for result in response.context["wrong"]
        for error in result.errors
    ]


def changes(response: Any) -> dict[str, str]:
    [result] = [*response.context["new"], *response.context["changed"]]
    return {each.label: each.marked for each in result.differences}


# --- export ---


def test_export_has_the_fields_of_the_form(anna, nurse):
    heading, row = exported(anna)
    assert heading == TITLES
    assert row == [
        str(nurse.pk),
        "Nurse",
        "Published",
        "Mine",
        "Ghent",
        'Antwerp; "East; West"',
        "An Peeters",
        "2026-01-05 08:00:00",
        "2026-04-30",
        "Public sites",
        "no",
        "no",
        "",
        "",
        "",
        "",
        "HW-1",
        "nl",
        "Hybrid",
        "Kaai 1 | 9000 | Ghent |  | BE; Antwerp | BE",
        "BE; NL",
        "3100",
        "4250.5",
        "EUR",
        "per month",
        "Gross",
        "no",
        *(nurse.description if name == "description" else "" for name in OTHERS),
        "2026-03-02 08:30:15",
    ]

    heading, row = exported(anna, "xlsx")  # with dates and numbers
    assert heading == TITLES
    assert row[0] == nurse.pk
    assert row[7:9] == [datetime(2026, 1, 5, 8), datetime(2026, 4, 30)]
    [template] = load_workbook(BytesIO(anna.get(f"{LIST}import-template/").content)).active.values
    assert list(template) == TITLES[:-1]
    assert f'href="{LIST}import/"' in anna.get(LIST).content.decode()
    assert f'href="{LIST}import-template/"' in anna.get(IMPORT).content.decode()


def test_export_has_what_the_list_shows(anna, nurse, monkeypatch):
    make_vacancy(title="Baker", status="draft")
    make_vacancy(title="Archived", status="archived")

    assert [row[1] for row in exported(anna)] == ["Title", "Baker", "Nurse"]
    assert [row[1] for row in exported(anna, query="?state=draft")] == ["Title", "Baker"]
    assert [row[1] for row in exported(anna, query="?q=nurse&o=1")] == ["Title", "Nurse"]
    ticked = anna.post(LIST, {"action": "export_csv", "_selected_action": [nurse.pk]})
    assert [row[1] for row in rows_of(ticked)] == ["Title", "Nurse"]
    assert (
        anna.get(f"{LIST}export-csv/?brand__id__exact=x&search_text__regex=.*").status_code == 400
    )
    monkeypatch.setattr(pages, "XLSX_MAX", 0)
    refusal = "An XLSX file has at most 0 vacancies. Export as CSV, or use the filters."
    assert messages_of(anna.get(f"{LIST}export-xlsx/"))[-1] == refusal


def test_query_count_of_an_export(nurse, django_assert_max_num_queries):
    pks, found = [make_vacancy(options={"regions": ["Ghent"]}).pk for _ in range(3)], []
    for chosen in (pks[:1], pks):
        with django_assert_max_num_queries(10) as queries:
            list(writing.csv_lines(VacancyTable(chosen, "en").batches()))
        found.append(len(queries))
    assert found[0] == found[1]


def test_labels_of_a_cell_are_the_same_again():
    for labels in (["A"], ["A", "B"], ["A; B", 'C "D"', "E"], []):
        assert split(joined(labels)) == labels


# --- round trip ---


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_an_export_changes_nothing(anna, nurse, ending):
    Vacancy.objects.filter(pk=nurse.pk).update(title="'=1+1", contact="<p>a\r\nb</p>")
    make_vacancy(title="=2", status="draft", brand=None, head_recruiter=None, publish_from=None)
    response = anna.get(f"{LIST}export-{ending}/")
    content = response.content if ending == "xlsx" else b"".join(response.streaming_content)

    shown = upload(anna, SimpleUploadedFile("x", content))

    assert shown.status_code == 200
    assert shown.context["unchanged_count"] == 2
    assert shown.context["plan"] == ""


def test_an_export_in_another_language_changes_nothing(anna, nurse):
    text = "".join(writing.csv_lines(VacancyTable([nurse.pk], "nl").batches()))
    with translation.override("nl"):
        assert headings()["title"] in text

    shown = upload(anna, SimpleUploadedFile("x.csv", text.encode()))

    assert shown.status_code == 200
    found = [shown.context[name] for name in ("wrong", "ignored", "unchanged_count", "plan")]
    assert found == [[], [], 1, ""]


# --- changes ---


def test_changes_are_shown_and_then_imported(anna, nurse):
    make_option("regions", "Leuven")
    make_recruiter("Jan")
    row = [nurse.pk, "Night nurse", "leuven; Antwerp", "jan", "2026-06-30", "Internal only", "yes"]
    names = [
        "ID",
        "Title",
        "Regions",
        "Lead recruiter (contact)",
        "Closing date",
        "Audience",
        "Featured",
    ]

    shown = upload(anna, csv_file(names, row))

    assert changes(shown) == {
        "Title": "<div><del>Nurse</del> <ins>Night nurse</ins></div>",
        "Featured": "<div><ins>Yes</ins></div>",
        "Lead recruiter (contact)": "<div><del>An Peeters</del> <ins>Jan</ins></div>",
        "Audience": "<div><del>Public sites</del> <ins>Internal only</ins></div>",
        "Closing date": "<div>30 <del>Apr</del><ins>Jun</ins> 2026</div>",
        "Regions": "<div><ins>Leuven</ins></div><div>Antwerp</div><div><del>East; West</del></div>",
    }
    assert Vacancy.objects.get() == nurse
    assert Vacancy.objects.get().title == "Nurse"
    assert not Version.objects.exists()

    assert confirm(anna, shown)["Location"] == LIST

    vacancy = Vacancy.objects.with_related().get()
    assert vacancy.title == "Night nurse"
    assert vacancy.labels("regions") == ["Leuven", "Antwerp"]
    assert vacancy.head_recruiter.name == "Jan"
    assert vacancy.publish_until == datetime(2026, 7, 1, tzinfo=UTC)
    assert (vacancy.audience, vacancy.is_hot) == ("internal", True)
    assert vacancy.publish_from == nurse.publish_from  # to the microsecond
    assert vacancy.description == nurse.description
    version = Version.objects.latest("pk")
    assert (version.change, version.author.username) == (Change.CHANGED, "anna")


@pytest.mark.slow("opens several pages of the admin")
def test_rows_without_an_id_become_drafts(anna, brand, recruiter):
    names = ["Title", "Brand", "Lead recruiter (contact)", "Description", "Closing date", "Profile"]
    rows = [
        [f"Nurse {n}", "acme", "Jan", "First line\nsecond\n\nA & B", "2199-05-01", ""]
        for n in range(3)
    ]
    rows[1][-1] = "Wir suchen eine Pflegekraft, die gern im Team arbeitet."

    shown = upload(anna, csv_file(names, *rows))
    assert [result.notes for result in shown.context["new"]][:2] == [
        ["The language of the texts was not recognised: that of the site is assumed."],
        ["The language was guessed from the texts: German."],
    ]
    assert len(shown.context["new"]) == 3
    assert not Vacancy.objects.exists()
    assert texts(confirm(anna, shown)) == ["3 vacancies were created."]

    assert (
        Vacancy.objects.filter(status="draft", brand=brand, head_recruiter=recruiter).count() == 3
    )
    assert sorted(Vacancy.objects.values_list("language", flat=True)) == ["", "", "de"]
    assert Vacancy.objects.first().description == "<p>First line<br>second</p><p>A &amp; B</p>"
    assert set(Version.objects.values_list("change", flat=True)) == {"created"}


@pytest.mark.slow("opens several pages of the admin")
def test_an_import_can_be_undone(anna, nurse, brand, at):
    baker = make_vacancy(title="Baker", brand=brand, options={"regions": ["Antwerp"]})
    before = [row[:-1] for row in exported(anna)]  # without the time of the change
    names = ["id", "title", "status", "brand", "regions", "publish_until"]
    shown = upload(
        anna,
        csv_file(
            names,
            [nurse.pk, "Night nurse", "Published", "Acme", "Antwerp", "2199-05-01"],
            [baker.pk, "Cook", "Unpublished", "Acme", "", ""],
            ["", "Driver", "Draft", "Acme", "", ""],
        ),
    )

    [message] = messages_of(confirm(anna, shown))

    assert message.startswith("1 vacancy was created. 2 vacancies were changed. <button")
    url = re.search('formaction="(.*?)"', message)[1]
    Vacancy.objects.filter(title="Cook").update(
        title="Head cook", updated_at=at + timedelta(minutes=1)
    )
    undone = messages_of(anna.post(url))[1:]
    assert undone == [
        "Undone for 3 vacancies.",
        "“Head cook”: Not restored: Title. It was changed in the meantime.",
    ]
    assert [row[:-1] for row in exported(anna) if row[1] not in ("Head cook", "Baker")] == [
        row for row in before if row[1] != "Baker"
    ]
    assert not Vacancy.objects.filter(title="Driver").exists()


def test_an_import_with_new_rows_cannot_be_undone_without_permission_to_delete(at, brand):
    bea = staff("bea", "view_vacancy", "add_vacancy", "change_vacancy", brands=[brand])
    shown = upload(bea, csv_file(["title", "brand"], ["Driver", "Acme"]))
    assert messages_of(confirm(bea, shown)) == ["1 vacancy was created."]
    assert bea.post(f"{LIST}undo/{Version.objects.get().pk}/").status_code == 403


def test_a_row_may_publish(anna, brand, recruiter, at):
    names = ["title", "status", "brand", "head_recruiter", "description"]
    shown = upload(anna, csv_file(names, ["Nurse", "Published", "Acme", "Jan", "<p>Care</p>"]))
    assert confirm(anna, shown).status_code == 302
    vacancy = Vacancy.objects.get()
    assert (vacancy.status, vacancy.publish_from) == ("published", at)


@pytest.mark.slow("reads files of many programs")
def test_files_of_many_programs_are_read(anna, nurse):
    anna.cookies["django_language"] = "nl"
    text = f"sep=|\r\nID|Title|Closing date\r\n{nurse.pk}|Zoë|30/06/2026\r\n"
    names, bom = ["ID", "Title", "Closing date"], {"encoding": "utf-8-sig"}
    for title, file in (
        (
            "Nurse, night",
            csv_file(names, [nurse.pk, "Nurse, night", "30/06/2026"], delimiter=";", **bom),
        ),
        (
            "Cook, day",
            csv_file(names, [nurse.pk, "Cook, day", "30/06/2026"], delimiter="\t", **bom),
        ),
        ("Zoë", SimpleUploadedFile("x.csv", text.encode("utf-16"))),
        ("Excel", xlsx_file(names, [nurse.pk, "Excel", datetime(2026, 6, 30)])),
    ):
        Vacancy.objects.update(publish_until=None)
        confirm(anna, upload(anna, file))
        nurse.refresh_from_db()
        assert (nurse.title, nurse.publish_until) == (title, datetime(2026, 7, 1, tzinfo=UTC))

    names.append("Publish from")
    confirm(anna, upload(anna, xlsx_file(names, [nurse.pk, "Excel", "", datetime(2026, 1, 6, 9)])))
    nurse.refresh_from_db()  # an empty cell empties a value
    assert (nurse.publish_from, nurse.publish_until) == (datetime(2026, 1, 6, 9, tzinfo=UTC), None)
    for content in (b",,,\n", "\ufeff".encode()):
        shown = upload(anna, SimpleUploadedFile("v.csv", content))
        assert (shown.status_code, shown.context["file_error"]) == (400, "Het bestand is leeg.")


def test_columns_that_are_unknown_are_ignored_and_named(anna, nurse):
    row = [nurse.pk, "Night nurse", "x", "<p>a</p><script>x()</script>"]
    shown = upload(anna, csv_file(["ID", "Title", "My notes", "Offer"], row))
    assert shown.context["ignored"] == ["My notes"]
    assert "Ignored columns: My notes." in shown.content.decode()
    assert len(shown.context["changed"][0].notes) == 1  # what is removed from a text


# --- facts ---


@pytest.mark.slow("opens several pages of the admin")
def test_places_keep_their_coordinates(anna, nurse):
    text = "Kaai 1 | 9000 | Ghent | | be; Kaai 2|9000|Ghent||Belgium\nDoel | België; Gand | BE"
    shown = upload(
        anna, csv_file(["ID", "Places", "remote_countries"], [nurse.pk, text, "Frankrijk; be"])
    )
    confirm(anna, shown)

    gent = (Decimal("51.05"), Decimal("3.717"))
    found = Place.objects.filter(kind="site").values_list(
        "street", "locality", "latitude", "longitude"
    )
    assert list(found) == [
        ("Kaai 1", "Ghent", Decimal(51), Decimal("3.5")),  # as it was
        ("Kaai 2", "Ghent", *gent),
        ("", "Doel", None, None),
        ("", "Gand", *gent),
    ]
    assert list(Place.objects.filter(kind="applicant").values_list("country", flat=True)) == [
        "FR",
        "BE",
    ]
    confirm(anna, upload(anna, csv_file(["ID", "Places"], [nurse.pk, ""])))
    assert not Place.objects.filter(kind="site").exists()


def test_amounts_are_read_in_each_notation():
    values = {
        "3.100,50": "3100.50",
        "3,100.50": "3100.50",
        "3 100": "3100",
        "3\u202f100,5": "3100.5",
        "2'500": "2500",
        "1.234.567": "1234567",
        "3100,5": "3100.5",
        "12.50": "12.50",
        "0,99": "0.99",
        "-5": "-5",
    }
    assert {text: read_amount(text) for text in values} == values
    for text, message in (
        ("3.100", "“3.100” can be 3100 or 3.1. Write it without a separator: 3100."),
        ("3,100", "“3,100” can be 3100 or 3.1. Write it without a separator: 3100."),
        *(
            (text, f"“{text}” is not a number. Write it as 2500 or 2500.50.")
            for text in ("€ 2500", "a", "1,2,3", "3.1000", "1.234.567.89", "12 34", "1e3", "١")
        ),
    ):
        with pytest.raises(CellError) as refused:
            read_amount(text)
        assert str(refused.value) == message


def test_wrong_places_are_errors():
    values = Values(
        SimpleNamespace(instance=Vacancy(), fields={"language": None, "remote_countries": None}), []
    )
    names = {"Places": "places", "Countries for remote work": "remote_countries"}
    names["Language of the texts"] = "language"
    for column, text, message in WRONG:
        if column in names and not message.startswith("Choose"):  # of the form
            with pytest.raises(CellError) as refused:
                values.value(names[column], text, SHEET_COLUMNS[names[column]].read)
            assert str(refused.value) == message


LONG = "“%s” has %d characters; at most %d are allowed."
SHAPE = (
    "is not a place. Write a city and a country, such as Antwerp | BE, or street | postal code | "
    "city | region | country."
)
WRONG = (
    ("Reference", "x" * 101, "Ensure this value has at most 100 characters (it has 101)."),
    ("Reference", "HW-1", "Another vacancy of this brand has this reference."),
    (
        "Language of the texts",
        "Dutsch",
        "“Dutsch” is not a language. Write its code, such as nl, or its name.",
    ),
    ("Work place", "home", "Allowed: On site, Hybrid, Remote."),
    ("Places", "Ghent", f"“Ghent” {SHAPE}"),
    ("Places", "Ghent | BE | 9000", f"“Ghent | BE | 9000” {SHAPE}"),
    ("Places", " | BE", f"“| BE” {SHAPE}"),
    ("Places", "Ghent | XX", "“XX” is not a country. Write its code, such as BE, or its name."),
    ("Places", f"{'x' * 101} | BE", LONG % ("x" * 101, 101, 100)),
    ("Places", "Ghent | BE;" * 11, "At most 10 places are allowed. These are 11."),
    (
        "Countries for remote work",
        "XX",
        "“XX” is not a country. Write its code, such as BE, or its name.",
    ),
    (
        "Countries for remote work",
        "BE;NL;FR;DE;LU;ES;IT;PT;PL;SE;FI",
        "Choose at most 10 countries: these are 11.",
    ),
    ("Pay from", "3.000", "“3.000” can be 3000 or 3. Write it without a separator: 3000."),
    ("Pay from", "-1", "Ensure this value is greater than or equal to 0."),
    (
        "Pay to",
        "12345678901",
        "Ensure that there are no more than 10 digits before the decimal point.",
    ),
    ("Pay to", "3000", "The highest pay is below the lowest."),
    ("Currency", "EURO", "“EURO” is not the code of a currency, such as EUR."),
    (
        "Pay from",
        "",
        "Pay needs an amount, a currency and a period. Without an amount, leave all empty.",
    ),
    ("Pay period", "fortnight", "Allowed: per hour, per day, per week, per month, per year."),
    ("Pay note", "x" * 301, "Ensure this value has at most 300 characters (it has 301)."),
    ("Show pay", "maybe", "Allowed: yes, no."),
)


@pytest.mark.slow("fills in a form for each wrong value")
def test_wrong_facts_are_errors_of_their_cell(anna, nurse):
    values = {"Title": "A", "Brand": "Mine", "Pay from": "3100", "Pay to": "", "Currency": "EUR"}
    values |= {"Pay period": "per month"}
    columns = [*values, *(name for name in FACTS if name not in values)]
    rows = [
        [(values | {name: text}).get(each, "") for each in columns]
        for name, text, _message in WRONG
    ]

    found = errors(upload(anna, csv_file(columns, *rows)))

    shown = {(number, column, message) for number, column, _received, message in found}
    assert [
        (number, column, message)
        for number, (column, _text, message) in enumerate(WRONG, 2)
        if (number, column, message) not in shown
    ] == []
    assert Vacancy.objects.count() == 1


# --- errors ---


def test_errors_name_row_column_text_and_what_is_allowed(anna, nurse):
    make_option("regions", "Leuven")
    names = [
        "ID",
        "Title",
        "Regions",
        "Brand",
        "Lead recruiter (contact)",
        "Closing date",
        "Audience",
        "Featured",
        "Status",
    ]
    wrong = [nurse.pk, "", "Paris", "Nobody's", "Nobody", "03/04/2026", "All", "maybe", "Live"]
    others = (["x", "A"], [nurse.pk, "B"], [nurse.pk + 100, "C"])
    shown = upload(anna, csv_file(names, wrong, *others))

    assert shown.status_code == 400
    assert shown.context["plan"] == ""
    text = shown.content.decode()
    # Not below thousands of lines.
    assert text.index('type="file"') < text.index("“Paris” is not one of")
    found = errors(shown)
    assert [each[:3] for each in found] == [
        (2, "Regions", "Paris"),
        (2, "Brand", "Nobody's"),
        (2, "Lead recruiter (contact)", "Nobody"),
        (2, "Closing date", "03/04/2026"),
        (2, "Audience", "All"),
        (2, "Featured", "maybe"),
        (2, "Status", "Live"),
        (3, "ID", "x"),
        (4, "ID", str(nurse.pk)),
        (5, "ID", str(nurse.pk + 100)),
    ]
    texts = [each[3] for each in found]
    assert texts[0] == "“Paris” is not one of: Antwerp, East; West, Leuven."
    assert texts[1] == "Allowed: Mine."
    assert texts[2] == "Allowed: An Peeters."
    assert texts[3].startswith("Not a date. Write it as 2026-11-30")
    assert texts[4] == "Allowed: Public sites, Internal only, Public sites and internal."
    assert texts[6] == "Allowed: Draft, Published, Unpublished, Archived."
    assert texts[8] == "Row 2 has the same ID."
    nurse.refresh_from_db()
    assert nurse.title == "Nurse"


@pytest.mark.slow("opens several pages of the admin")
def test_rows_follow_the_rules_of_the_form(anna, nurse):
    names = ["ID", "Title", "Closing date"]
    rows = [[nurse.pk, "x" * 301, "2020-01-01"], ["", "", "2030-01-01"]]
    found = errors(upload(anna, csv_file(names, *rows)))
    assert [each[:2] for each in found] == [(2, "Title"), (2, "Closing date"), (3, "Title")]
    assert "300" in found[0][3]

    found = errors(upload(anna, csv_file(["Title", "Status"], ["Baker", "Published"])))
    # Not the brand.
    assert {each[1] for each in found} == {"Lead recruiter (contact)", "Description"}

    Vacancy.objects.update(publish_until=datetime(2026, 2, 1, tzinfo=UTC))
    names = ["ID", "Status", "Closing date"]
    found = errors(upload(anna, csv_file(names, [nurse.pk, "Published", "2026-01-31"])))
    assert [each[1] for each in found] == ["Status"]
    assert upload(anna, csv_file(names, [nurse.pk, "Published", "2026-08-31"])).status_code == 200

    found = errors(upload(anna, xlsx_file(["ID", "Title"], [nurse.pk, "=A2&1"])))
    assert found == [(2, "Title", "=A2&1", "Formulas are not read. Replace it by its value.")]


# --- access ---


def test_other_brands_are_not_found(colleague, nurse):
    secret = make_vacancy(title="Secret", brand=make_brand("Theirs"))
    shown = upload(colleague, csv_file(["ID", "Title"], [secret.pk, "Mine now"], [10**9, "None"]))
    assert {each[3] for each in errors(shown)} == {
        "No vacancy with this ID is among those of your brands."
    }
    assert "Secret" not in shown.content.decode()

    rows = [["ID", "Title", "Brand"], ["", "New", "Theirs"], [nurse.pk, "", "Theirs"]]
    shown = upload(colleague, csv_file(*rows))
    assert [each[:2] for each in errors(shown)] == [(2, "Brand"), (3, "Brand")]
    assert errors(shown)[0][3] == "Allowed: Mine."


def test_import_needs_the_permission_of_each_row(nurse):
    adds, changes = (
        staff("adds", *VIEWER, "add_vacancy"),
        staff("changes", *VIEWER, "change_vacancy"),
    )
    shown = upload(adds, csv_file(["ID", "Title"], [nurse.pk, "Changed"]))
    assert [each[3] for each in errors(shown)] == [
        "You do not have permission to change this vacancy."
    ]
    shown = upload(changes, csv_file(["ID", "Title"], ["", "New"]))
    assert [each[1] for each in errors(shown)] == ["ID"]


def test_a_plan_of_another_user_or_a_forged_one_is_refused(anna, colleague, nurse):
    shown = upload(anna, csv_file(["ID", "Title"], [nurse.pk, "Night nurse"]))

    assert confirm(colleague, shown).status_code == 400
    assert anna.post(IMPORT, {"plan": shown.context["plan"] + "x"}).status_code == 400
    assert Vacancy.objects.get().title == "Nurse"


# --- confirmation ---


def test_second_click_imports_nothing(anna, nurse):
    shown = upload(anna, csv_file(["Title"], ["New"]))
    confirm(anna, shown)

    assert messages_of(confirm(anna, shown))[-1] == "This file was imported already."
    assert Vacancy.objects.filter(title="New").count() == 1


@pytest.mark.slow("opens several pages of the admin")
def test_all_rows_are_imported_or_none(anna, nurse):
    names = ["ID", "Title"]
    shown = upload(anna, csv_file(names, ["", "New"], [nurse.pk, "Night nurse"]))
    Vacancy.objects.filter(pk=nurse.pk).update(title="Day nurse")

    again = confirm(anna, shown)

    assert again.status_code == 409
    assert [result.is_meanwhile_changed for result in again.context["changed"]] == [True]
    assert [result.is_meanwhile_changed for result in again.context["new"]] == [False]
    assert list(Vacancy.objects.values_list("title", flat=True)) == ["Day nurse"]
    assert not Version.objects.exists()
    assert confirm(anna, again).status_code == 302
    assert set(Vacancy.objects.values_list("title", flat=True)) == {"Night nurse", "New"}

    shown = upload(anna, csv_file(names, ["", "Newer"], [nurse.pk, "Night nurse 2"]))
    nurse.delete()
    again = confirm(anna, shown)  # a row became invalid
    assert (again.status_code, [each[1] for each in errors(again)]) == (409, ["ID"])
    assert list(Vacancy.objects.values_list("title", flat=True)) == ["New"]


@pytest.mark.slow("opens many pages")
def test_a_new_row_has_the_brand_that_the_form_preselects(colleague, nurse):
    make_brand("A second one").members.add(User.objects.get(username="colleague"))
    shown = upload(colleague, csv_file(["Title"], ["New"]))
    assert changes(shown)["Brand"] == "<div><ins>A second one</ins></div>"


def test_what_is_not_a_value_is_an_error_of_its_cell(anna, nurse):
    book = Workbook()
    book.active.append(["ID", "Title", "Location", "Minimum pay", "Reference"])
    book.active.append([nurse.pk, "#REF!", "#N/A", 2500, datetime(2026, 12, 3)])
    book.active["D2"].number_format = "#,##0 €"
    file = BytesIO()
    book.save(file)
    shown = upload(anna, SimpleUploadedFile("v.xlsx", file.getvalue()))
    assert [(number, column, text) for number, column, text, _why in errors(shown)] == [
        (2, "Title", "#REF!"),
        (2, "Location", "#N/A"),
        (2, "Reference", "2026-12-03"),
    ]


def test_entities_are_converted_with_a_note(anna, nurse):
    make_option("regions", "R&D")
    shown = upload(
        anna, csv_file(["id", "title", "regions"], [nurse.pk, "R&amp;D manager", "R&amp;D"])
    )
    assert shown.context["changed"][0].notes == [
        "HTML entities were converted: “R&amp;D manager” became “R&D manager”.",
        "HTML entities were converted: “R&amp;D” became “R&D”.",
    ]
    confirm(anna, shown)
    nurse.refresh_from_db()
    assert (nurse.title, [str(option) for option in nurse.options.all()]) == (
        "R&D manager",
        ["R&D"],
    )
