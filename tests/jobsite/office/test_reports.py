"""The reports: access, figures, exports and invalid requests."""

import csv
import re
from copy import deepcopy
from datetime import date, timedelta
from io import BytesIO, StringIO
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest
import time_machine as clock
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from applications.models import Application, DailyApplications
from applications.statistics import hiring, received
from jobsite.db.transactions import dry_run
from tests.applications.admin.conftest import apply, colleague, copy_of, staff
from tests.applications.makers import make_submission, signed_in
from tests.conftest import NOW
from tests.factories import make_brand, make_vacancy
from vacancies.models import DailyVacancies, DailyVisits, Filter, Vacancy
from vacancies.statistics.recording import record_days

pytestmark = pytest.mark.django_db

URL = "/admin/vacancies/vacancy/reports/"
DAY = timedelta(days=1)
FOREIGN = "Zyxforeign"


@pytest.fixture(scope="module")
def world_rows(office_rows: SimpleNamespace, django_db_blocker: Any) -> Any:
    """Created once per module. Each test rolls its changes back."""
    with django_db_blocker.unblock(), dry_run(True):
        with clock.travel(NOW, tick=False):
            rows = build(deepcopy(office_rows))
        yield rows


@pytest.fixture
def world(world_rows: SimpleNamespace, db: Any, at: Any) -> SimpleNamespace:
    """Two brands with vacancies and applications. `anna` works for Acme."""
    world = copy_of(world_rows)
    world.editor = signed_in(world.editor)
    return world


def build(office: SimpleNamespace) -> SimpleNamespace:
    Filter.objects.update(is_active=True)
    Application.objects.all().delete()
    office.own.vacancy.delete()
    office.foreign.vacancy.delete()
    foreign = make_brand(f"{FOREIGN} brand")
    jobs = [
        make_vacancy(
            title=f"{brand} {number}",
            brand=brand,
            publish_from=NOW - (10 + number) * DAY,
            publish_until=until,
            options={"regions": regions},
        )
        for brand, regions in ((office.brand, ["Ghent"]), (foreign, ["Ghent", f"{FOREIGN} town"]))
        for number, until in enumerate((None, NOW - 2 * DAY))
    ]
    for job in jobs:
        for number in range(3):
            source = FOREIGN if job.brand == foreign else "indeed"
            application = apply(job, stage=office.new, created_at=NOW - (3 + number) * DAY)
            make_submission(application, {}, source=source)
    record_days(at=NOW)
    received.record_days(at=NOW)
    hiring.record(since=None, at=NOW)
    office.editor = colleague("editor", "Editor")
    return office


def tables(client: Client, query: str = "") -> dict[str, list[list[Any]]]:
    response = client.get(f"{URL}{query}")
    assert response.status_code == 200
    return {table.code: table.rows for table, _exports in response.context["tables"]}


def test_reports_count_the_own_brand(world):
    found = tables(world.anna)

    assert found["live"][-1] == ["2 Mar 2026", 1]
    assert found["groups"] == [["Acme", 1, 2, 1]]
    assert found["sources"] == [["indeed", 6]]
    assert found["stages"] == [["Received", 6, 100.0, "", ""], ["New", 6, 100.0, 100.0, 0.0]]
    assert found["applications-by-group"] == [["Acme", 6]]
    assert sum(row[2] for row in found["applications"]) == 6


def test_reports_count_applications_by_vacancy_and_source_today_included(world):
    job = make_vacancy(title="Today", brand=world.brand, publish_from=NOW)
    for source in ("", "letter"):
        make_submission(apply(job, stage=world.new, created_at=NOW), {}, source=source)
    apply(job, stage=world.new, created_at=NOW)  # imported, without a submission
    call_command("update_statistics", stdout=StringIO())

    found = tables(world.anna, "?since=2026-02-28")

    first, second = Vacancy.objects.filter(title__startswith="Acme").order_by("pk")
    assert found["vacancies"] == [["Today", 3, job.pk]]
    assert found["vacancies-sources"] == [
        ["Today", "Imported", 1, job.pk],
        ["Today", "No source", 1, job.pk],
        ["Today", "Other sources", 1, job.pk],
    ]
    assert found["applications"][-1] == ["2 Mar 2026", "2 Mar 2026", 3]
    assert found["groups"] == [["Acme", 2, 1, 1]]
    assert tables(world.anna, "?until=2026-03-01")["vacancies-sources"] == [
        [first.title, "indeed", 3, first.pk],
        [second.title, "indeed", 3, second.pk],
    ]


@pytest.mark.slow("opens many pages")
def test_reports_show_visitors_up_to_their_applications(world, settings):
    settings.CAREER_SITE = True
    first, second, foreign = (
        Vacancy.objects.filter(title__startswith=name).order_by("pk")[number]
        for name, number in (("Acme", 0), ("Acme", 1), (FOREIGN, 0))
    )
    for source in (" Indeed ", "letter"):
        make_submission(apply(second, stage=world.new, created_at=NOW), {}, source=source)
    received.record_days(at=NOW)
    hiring.record(since=NOW.date(), at=NOW)
    for vacancy, days, source, views, started in (
        (first, 1, "", 40, 2),
        (first, 2, "indeed", 20, 5),
        (first, 1, "*", 3, 0),
        (second, 1, "indeed", 5, 0),
        (first, 400, "indeed", 7, 7),
        (foreign, 1, "indeed", 9, 9),
    ):
        DailyVisits.objects.create(
            vacancy=vacancy,
            day=(NOW - days * DAY).date(),
            source=source,
            views=views,
            started=started,
        )

    found = tables(world.anna)

    assert found["visitors-sources"] == [
        ["indeed", 25, 5, 6, 24.0],
        ["Other sources", 3, 0, 2, 66.7],
        ["No source", 40, 2, 0, 0.0],
    ]
    assert found["views-to-hire"] == [
        ["Page views", 68, ""],
        ["Applications started", 7, 10.3],
        ["Received", 8, 114.3],
        ["New", 8, 100.0],
    ]
    assert found["visitors-vacancies"] == [
        [second.title, 5, 0, 5, 100.0, second.pk],
        [first.title, 63, 7, 3, 4.8, first.pk],
    ]
    assert found["visitors-vacancies-sources"][:2] == [
        [first.title, "indeed", 20, 5, 3, 15.0, first.pk],
        [second.title, "indeed", 5, 0, 3, 60.0, second.pk],
    ]
    for query in ("", "?table=visitors-vacancies&format=csv"):
        response = world.anna.get(f"{URL}{query}")
        body = b"".join(response.streaming_content) if response.streaming else response.content
        assert FOREIGN not in body.decode()
    assert tables(world.editor, f"?brand={foreign.brand_id}")["visitors-sources"] == [
        [FOREIGN.lower(), 0, 0, 6, ""],
        ["indeed", 9, 9, 0, 0.0],
    ]


def test_reports_offer_calendar_months(world):
    found = dict(world.anna.get(f"{URL}?brand={world.brand.pk}").context["presets"])
    months = [found["This month"], found["Last month"]]
    assert months == [
        f"?brand={world.brand.pk}&since=2026-03-01&until=2026-03-02",
        f"?brand={world.brand.pk}&since=2026-02-01&until=2026-02-28",
    ]


def test_page_says_that_a_long_table_is_cut(world, monkeypatch):
    monkeypatch.setattr("jobsite.office.reporting.pages.MAX_ROWS", 1)
    text = world.anna.get(f"{URL}?until=2026-03-01").text
    assert "The first 1 of 2 rows. The files have all." in text


def test_reports_show_no_figure_of_another_brand(world):
    for query in ("", "?table=live&format=csv", "?table=sources&format=csv"):
        response = world.anna.get(f"{URL}{query}")
        body = b"".join(response.streaming_content) if response.streaming else response.content
        assert FOREIGN not in body.decode()
    foreign = DailyVacancies.objects.filter(brand__name__startswith=FOREIGN)[0].brand_id
    assert world.anna.get(f"{URL}?brand={foreign}").status_code == 400


def test_reports_of_every_brand_add_them(world):
    found = tables(world.editor)

    assert found["groups"] == [["Acme", 1, 2, 1], [f"{FOREIGN} brand", 1, 2, 1]]
    assert found["applications-by-group"] == [["Acme", 6], [f"{FOREIGN} brand", 6]]
    assert found["live"][-1] == ["2 Mar 2026", 2, 1, 1]
    assert tables(world.editor, f"?brand={world.brand.pk}")["groups"] == [["Acme", 1, 2, 1]]


def test_period_limits_the_figures(world):
    found = tables(world.anna, "?since=2026-02-26&until=2026-02-27")
    assert found["groups"] == [["Acme", 2, 0, 0]]
    assert [row[2] for row in found["applications"]] == [2, 2]

    found = tables(world.anna, "?since=2024-03-02")  # a long period in parts
    assert len(found["live"]) == len(found["applications"]) <= 60
    assert sum(row[2] for row in found["applications"]) == 6
    assert found["applications"][0][0] == "2 Mar 2024"


def test_figures_remain_when_applications_are_deleted_and_name_no_rare_source(world):
    Application.objects.all().delete()
    found = tables(world.anna)
    assert (found["sources"], found["applications-by-group"]) == ([["indeed", 6]], [["Acme", 6]])
    assert found["stages"][0][:2] == ["Received", 6]
    assert [row[:2] for row in found["vacancies"]] == [["Acme 0", 3], ["Acme 1", 3]]

    DailyApplications.objects.all().delete()
    application = apply(make_vacancy(brand=world.brand), stage=world.new, created_at=NOW - DAY)
    make_submission(application, {}, source="letter of Jan Peeters")
    received.record_days(at=NOW)
    assert tables(world.anna)["sources"] == [["Other sources", 1]]
    assert not DailyApplications.objects.filter(source__contains="Jan").exists()


def test_deleted_brand_is_named(world):
    DailyVacancies.objects.filter(brand=world.brand).update(brand=987_654)

    names = [row[0] for row in tables(world.editor)["groups"]]
    assert names == ["Deleted brand", f"{FOREIGN} brand"]


@pytest.mark.slow("many cases")
def test_invalid_report_returns_400_and_names_the_field(world):
    expected = {
        "since=yesterday": "since",
        "until=2026-02-30": "until",
        "since=2026-03-03": "since",
        "since=2026-02-10&until=2026-02-09": "since",
        "since=2015-01-01": "since",
        "until=0001-01-01": "until",
        "brand=x": "brand",
        "brand=%00": "brand",
        "brand=99999999999999999999": "brand",
    }
    found = {}
    for query in expected:
        response = world.anna.get(f"{URL}?{query}")
        found[query] = response.status_code, *response.context["form"].errors
    assert found == {query: (400, field) for query, field in expected.items()}


def test_invalid_export_returns_400_with_what_is_allowed(world):
    tables = "live, groups, applications, sources, applications-by-group, vacancies"
    tables += ", vacancies-sources, first-answer, hires, stages, stages-months, stages-brands"
    tables += ", stages-vacancies, stages-sources, reasons, positions, filled"
    expected = dict.fromkeys(
        ("table=live&format=pdf", "table=live"), "format is not one of: csv, xlsx."
    )
    expected["table=x&format=csv"] = f"table is not one of: {tables}."
    answers = {query: world.anna.get(f"{URL}?{query}") for query in expected}
    found = {query: (answer.status_code, answer.text) for query, answer in answers.items()}
    assert found == {query: (400, text) for query, text in expected.items()}


def test_export_has_the_rows_of_the_page(world):
    make_brand("=cmd()", pk=world.brand.pk + 1000)
    DailyVacancies.objects.filter(brand=world.brand).update(brand=world.brand.pk + 1000)
    shown = tables(world.editor)["groups"]

    text = b"".join(world.editor.get(f"{URL}?table=groups&format=csv").streaming_content).decode(
        "utf-8-sig"
    )
    response = world.editor.get(f"{URL}?table=groups&format=xlsx")

    rows = list(csv.reader(StringIO(text)))
    assert rows[0] == [
        "Brand",
        "Published on the last date",
        "Went live",
        "Closed",
    ]
    assert ["'=cmd()", "1", "2", "1"] in rows
    with ZipFile(BytesIO(response.content)) as file:
        sheet = file.read("xl/worksheets/sheet1.xml").decode()
        texts = file.read("xl/sharedStrings.xml").decode()
    assert "<f>" not in sheet
    assert sheet.count("<row ") == 1 + len(shown)
    assert re.search(r'r="C2"[^>]*><v>2</v>', sheet)
    assert f"{FOREIGN} brand" in texts
    assert response["Content-Disposition"] == 'attachment; filename="report-groups-2026-03-02.xlsx"'


def test_user_who_may_not_view_applications_sees_those_of_vacancies(world):
    client = staff("new", brands=[make_brand("New")])  # without vacancies
    assert tables(client) == {}
    assert (
        "Nothing in this period: Published vacancies, Vacancies by brand," in client.get(URL).text
    )

    client = staff("limited", brands=[world.brand])
    group = User.objects.get(username="limited").groups.get()
    group.permissions.remove(*group.permissions.filter(codename="view_application"))

    assert list(tables(client)) == ["live", "groups"]
    assert client.get(f"{URL}?table=sources&format=csv").status_code == 400


@pytest.mark.slow("opens several pages of the admin")
def test_reports_take_the_same_queries_for_any_number_of_rows(world, django_assert_max_num_queries):
    def count(query: str) -> int:
        with django_assert_max_num_queries(40) as captured:
            world.editor.get(f"{URL}?{query}")
        return len(captured)

    world.editor.get(URL)
    few = count("")
    for number in range(2):
        make_vacancy(brand=make_brand(f"Brand {number}"), publish_from=NOW - 5 * DAY)
    DailyVacancies.objects.all().delete()
    record_days(at=NOW)
    assert count("") == few
    assert len(tables(world.editor)["groups"]) == 4


def test_command_records_counts_and_days(world):
    DailyVacancies.objects.all().delete()
    DailyApplications.objects.all().delete()
    assert "There are no figures yet." in world.anna.get(URL).text
    output = StringIO()

    call_command("update_statistics", stdout=output)

    days = (timezone.now().date() - date(2026, 2, 18)).days
    assert f"Recorded {days} days of vacancies" in output.getvalue()
    call_command("update_statistics", stdout=output)
    assert (
        "Recorded 1 days of vacancies and 1 days of applications; 0 applications"
        in output.getvalue()
    )
