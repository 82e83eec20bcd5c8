"""import_vacancies: what came in comes out, the same again changes nothing, bad rows lose no good ones."""

import copy
import json
import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tests.factories import make_recruiter, make_vacancy
from tests.services import Instance
from vacancies.models import Attachment, Brand, Filter, Recruiter, Vacancy, VacancyOption, VacancyRecruiter
from vacancies.sources import Service

pytestmark = pytest.mark.django_db

FULL = json.loads((Path(__file__).parent.parent / "contract/v1/vacancy-full.json").read_text())["data"]
# A folder with vacancies.v1.json and internal.v1.json of another service.
REAL_DATA = os.environ.get("REAL_DATA")


def run(*words, **options):
    """Return (exit code, summary) of import_vacancies."""
    out, err = StringIO(), StringIO()
    try:
        call_command("import_vacancies", *map(str, words), stdout=out, stderr=err, **options)
    except SystemExit as stop:
        return stop.code, out.getvalue().strip(), err.getvalue().splitlines()
    return 0, out.getvalue().strip(), err.getvalue().splitlines()


def write(folder, items, name="items.json"):
    path = folder / name
    path.write_text(json.dumps({"data": items}))
    return path


def items(count, **values):
    """Different items, all of them like FULL."""
    made = []
    for number in range(1, count + 1):
        item = copy.deepcopy(FULL) | {
            "id": 1000 + number,
            "title": f"Job {number}",
            "slug": f"job-{number}-({1000 + number})",
        }
        made.append(item | values)
    return made


def snapshot():
    """Every row that an import could touch."""
    models = (Vacancy, VacancyOption, VacancyRecruiter, Attachment, Brand, Recruiter, Filter)
    return [list(model.objects.order_by("pk").values()) for model in models]


def served(client, pk):
    return client.get(f"/v1/vacancies/{pk}").content.decode()


def as_body(item):
    return json.dumps({"data": item}, separators=(",", ":"), ensure_ascii=False)


@pytest.fixture(autouse=True)
def all_filters(filters, settings):
    Filter.objects.update(is_active=False)
    settings.TIME_ZONE = "Europe/Brussels"


def test_item_comes_out_as_it_came_in(client, tmp_path):
    code, summary, lines = run(write(tmp_path, [FULL]))

    assert (code, lines) == (0, [])
    assert summary == "1 vacancies: 1 created, 0 updated, 0 unchanged, 0 failed, 0 left as drafts."
    assert served(client, 101) == as_body(FULL)
    assert client.get("/v1/vacancies").json()["data"] == [FULL]
    assert Filter.objects.filter(is_active=True).count() == 9


def test_same_again_changes_nothing_and_says_so(tmp_path):
    path = write(tmp_path, items(3))
    run(path)
    before = snapshot()

    code, summary, lines = run(path)

    assert (code, summary, lines) == (
        0,
        "Nothing changed: 3 vacancies are here as their source has them.",
        [],
    )
    assert snapshot() == before


def test_broken_rows_are_named_and_lose_no_good_ones(client, tmp_path):
    rows = items(100)
    rows[4]["title"] = ""
    del rows[17]["id"]
    rows[33]["image"] = "javascript:alert(1)"
    rows[60]["recruiters"][1]["name"] = 7
    rows[99] = "nothing"

    code, summary, lines = run(write(tmp_path, rows))

    assert (code, summary) == (
        1,
        "100 vacancies: 95 created, 0 updated, 0 unchanged, 5 failed, 0 left as drafts.",
    )
    assert lines == [
        "failed: items.json row 5 (id 1005): title: This field may not be blank.",
        "failed: items.json row 18 (id None): id: This field is required.",
        "failed: items.json row 34 (id 1034): image: Enter a valid URL.",
        "failed: items.json row 61 (id 1061): recruiters.1.name: Not a valid string.",
        "failed: items.json row 100 (id None): Invalid data. Expected a dictionary, but got str.",
    ]
    assert client.get("/v1/vacancies").json()["meta"]["total"] == 95


def test_row_that_the_database_refuses_is_reported(tmp_path, monkeypatch):
    rows = items(3)
    rows[1]["id"] = rows[0]["id"]

    code, _, lines = run(write(tmp_path, rows))

    assert (code, Vacancy.objects.count()) == (1, 2)
    assert lines == ["failed: items.json row 2 (id 1001): this id came before in the same source."]


def test_internal_file_and_public_file_meet_in_both(tmp_path):
    both, internal, public = items(3)
    public_file, internal_file = (
        write(tmp_path, [both, public], "p.json"),
        write(tmp_path, [both, internal], "i.json"),
    )

    for _ in range(2):  # the second round changes nothing
        run(public_file)
        run(internal_file, "--internal")

    assert dict(Vacancy.objects.values_list("pk", "audience")) == {
        1001: "both",
        1002: "internal",
        1003: "public",
    }
    assert run(public_file)[1].startswith("Nothing changed")


def test_item_without_head_lands_as_a_draft_until_somebody_heads_it(client, tmp_path):
    path = write(tmp_path, items(1, head_recruiter=None))

    code, summary, lines = run(path)
    assert (code, summary) == (
        0,
        "1 vacancies: 1 created, 0 updated, 0 unchanged, 0 failed, 1 left as drafts.",
    )
    assert lines == [
        "draft: items.json row 1 (id 1001): a draft: A vacancy needs a head recruiter to be published."
    ]
    assert client.get("/v1/vacancies/1001").status_code == 404

    make_recruiter("Stand-in")
    assert run(path, "--recruiter", "Stand-in")[1].startswith("1 vacancies: 0 created, 1 updated")
    assert client.get("/v1/vacancies/1001").json()["data"]["head_recruiter"]["name"] == "Stand-in"
    assert run(path)[1].startswith("Nothing changed")


def test_what_a_recruiter_decided_about_publication_stays(client, tmp_path):
    path = write(tmp_path, items(1))
    run(path)
    Vacancy.objects.withdraw()

    run(write(tmp_path, items(1, location="Elsewhere")))

    assert client.get("/v1/vacancies/1001").status_code == 404
    assert Vacancy.objects.get().location == "Elsewhere"


def test_hidden_contact_data_here_is_not_erased(tmp_path):
    make_recruiter("Sam Öz", pk=23, email="sam@example.org")

    run(write(tmp_path, [FULL]))

    sam = Recruiter.objects.get(pk=23)
    assert (sam.email, sam.is_email_public, sam.phone, sam.is_phone_public) == (
        "sam@example.org",
        False,
        "+32 3 556",
        True,
    )


def test_v0_1_items_and_unknown_keys_are_understood(client, tmp_path):
    item = {
        "id": 7, "title": "Old", "type": "Nurse", "contract_type": None, "regions": ["Ghent"], "salary": 3,
        "head_recruiter": {"name": "X"}, "brand": {"name": "B"}, "created_at": "2020-02-02 10:00:00",
    }  # fmt: skip

    code, _, lines = run(write(tmp_path, [item]))

    assert (code, lines) == (0, ["note: items.json row 1: keys that we have no place for: salary"])
    body = client.get("/v1/vacancies/7").json()["data"]
    assert (body["types"], body["contract_types"], body["created_at"]) == (
        ["Nurse"],
        None,
        "2020-02-02 10:00:00",
    )


def test_markup_is_sanitised_and_told(client, tmp_path):
    _, _, lines = run(write(tmp_path, items(1, description="<p onclick=x>Hi<script>1</script></p>")))

    assert lines == ["note: items.json row 1 (id 1001): description: markup that is not allowed was removed"]
    assert client.get("/v1/vacancies/1001").json()["data"]["description"] == "<p>Hi</p>"


def test_new_vacancy_gets_a_free_id_afterwards(tmp_path):
    run(write(tmp_path, items(2)))

    assert make_vacancy().pk > 1002
    assert make_recruiter("New").pk > 23


@pytest.mark.parametrize("content", ["", "{", "[1", '{"data": 3}', "3", '"x"'])
def test_file_that_holds_no_vacancies_is_refused(tmp_path, content):
    path = tmp_path / "odd.json"
    path.write_text(content)

    with pytest.raises(CommandError) as refused:
        run(path)

    assert refused.value.returncode == 1
    assert "odd.json" in str(refused.value)


def test_usage_is_checked(tmp_path):
    for words in (
        ("http://127.0.0.1:1", "--internal"),
        (tmp_path / "x.json", "--recruiter", "Nobody"),
        (tmp_path / "x.json", "--recruiter", "77"),
    ):
        with pytest.raises(CommandError) as refused:
            run(*words)
        assert refused.value.returncode == 2


def test_dry_run_writes_nothing(tmp_path):
    before = snapshot()

    code, summary, _ = run(write(tmp_path, items(120)), "--dry-run")

    assert (code, snapshot()) == (0, before)
    assert summary.startswith("Dry run, nothing was written. 120 vacancies: 120 created")


def test_json_report(tmp_path):
    _, out, lines = run(write(tmp_path, items(1)), "--format", "json")

    assert lines == []
    assert json.loads(out) | {"summary": ""} == {
        "summary": "", "created": 1, "updated": 0, "unchanged": 0, "drafts": [], "failed": [], "notes": [],
    }  # fmt: skip


def test_nothing_is_written_to_the_reading_end_of_a_pipe_but_the_summary(tmp_path, capfd):
    run(write(tmp_path, items(1)))

    assert capfd.readouterr() == ("", "")  # no progress bar where nobody looks


# --- from a running service ---


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Another instance with some vacancies of every audience, out of order by creation. One of them was
    published later than it was created: only the order of the list tells."""
    folder = tmp_path_factory.mktemp("source")
    instance = Instance(folder, TIME_ZONE="Europe/Brussels")
    rows = items(130)
    for number, row in enumerate(rows):
        row["created_at"] = f"2026-01-{1 + number % 28:02} 10:00:00"
    instance.manage("import_vacancies", str(write(folder, rows[:110], "public.json")))
    instance.manage("import_vacancies", "--internal", str(write(folder, rows[100:], "internal.json")))
    instance.manage(
        "shell", "-v0", "-c",
        "from vacancies.models import *; from datetime import *;"
        "Vacancy.objects.filter(pk=1001).update(publish_from=datetime(2026, 2, 1, tzinfo=UTC))",
    )  # fmt: skip
    return instance


def everything(get, paths=("/v1/vacancies", "/v1/vacancies/hot/internal", "/v0.1/vacancies/internal")):
    """All items of the lists, in order."""
    return {
        path: [item for page in range(1, 4) for item in get(f"{path}?page[size]=100&page[number]={page}")]
        for path in paths
    }


def test_service_is_taken_over_with_order_and_audience(client, source):
    with source.serve() as url:
        http = Service(url)._http
        theirs = everything(lambda path: http.request("GET", url + path).json()["data"])
        first, second = run(url), run(url)
        before = snapshot()
        run(url)

    assert first[:2] == (0, "130 vacancies: 130 created, 0 updated, 0 unchanged, 0 failed, 0 left as drafts.")
    assert second[:2] == (0, "Nothing changed: 130 vacancies are here as their source has them.")
    assert snapshot() == before
    assert everything(lambda path: client.get(path).json()["data"]) == theirs
    assert theirs["/v1/vacancies"][0]["id"] == 1001
    audiences = Vacancy.objects.order_by("pk").values_list("audience", flat=True)
    assert list(audiences) == ["public"] * 100 + ["both"] * 10 + ["internal"] * 20


def test_import_stopped_half_way_goes_on_where_it_was(source, monkeypatch):
    walk = Service.rows

    def cut(self):
        for number, row in enumerate(walk(self)):
            if number == 115:
                raise KeyboardInterrupt
            yield row

    with source.serve() as url:
        monkeypatch.setattr(Service, "rows", cut)
        with pytest.raises(KeyboardInterrupt):
            run(url)
        landed = Vacancy.objects.count()
        monkeypatch.setattr(Service, "rows", walk)
        _, summary, _ = run(url)

    assert landed == 100  # a batch is whole or not there
    assert summary == "130 vacancies: 30 created, 0 updated, 100 unchanged, 0 failed, 0 left as drafts."
    assert Vacancy.objects.count() == 130


def test_closed_internal_list_is_told(source, monkeypatch):
    monkeypatch.setitem(source.env, "INTERNAL_ACCESS", "authenticated")
    with source.serve() as url:
        code, summary, lines = run(url)

    assert (code, summary) == (
        1,
        "111 vacancies: 110 created, 0 updated, 0 unchanged, 1 failed, 0 left as drafts.",
    )
    assert lines == [
        "failed: /v0.1/vacancies/internal: answered 401; internal vacancies were left out. "
        "Pass --token to read them."
    ]


def test_unreachable_service_is_told():
    with pytest.raises(CommandError, match=r"http://127.0.0.1:1/.*refused") as refused:
        run("http://127.0.0.1:1")

    assert refused.value.returncode == 1


# --- real data ---


@pytest.mark.skipif(not REAL_DATA, reason="REAL_DATA names no folder")
def test_real_vacancies_come_out_as_they_came_in(client, settings):
    settings.TIME_ZONE = "UTC"
    files = {name: Path(REAL_DATA) / f"{name}.v1.json" for name in ("vacancies", "internal")}
    rows = {name: json.loads(path.read_text())["data"] for name, path in files.items()}

    assert run(files["vacancies"])[0] == run(files["internal"], "--internal")[0] == 0
    before = snapshot()
    assert (
        run(files["vacancies"])[1]
        == f"Nothing changed: {len(rows['vacancies'])} vacancies are here as their source has them."
    )
    assert run(files["internal"], "--internal")[1].startswith("Nothing changed")
    assert snapshot() == before

    listed = {}
    for page in range(1, 8):
        body = client.get("/v1/vacancies", {"page[size]": 100, "page[number]": page}).content.decode()
        listed |= {item["id"]: item for item in json.loads(body)["data"]}
    assert {pk: json.dumps(item) for pk, item in listed.items()} == {
        v["id"]: json.dumps(v) for v in rows["vacancies"]
    }
    for item in [*rows["vacancies"], *rows["internal"]]:
        assert served(client, item["id"]) == as_body(item)
    internal = client.get("/v0.1/vacancies/internal", {"page[size]": 100}).json()
    assert internal["meta"]["total"] == len(rows["internal"])
    assert connection.vendor in ("sqlite", "postgresql")
