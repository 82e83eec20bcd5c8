"""import_vacancies: what came in comes out, the same again changes nothing, bad rows lose no good ones."""

import copy
import json
import os
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import ClassVar

import pytest
import urllib3
from django.core.management import CommandError, call_command
from django.db import DatabaseError
from tqdm import tqdm

from jobsite.ops import commands
from tests.factories import make_recruiter, make_vacancy
from tests.servers import Instance
from vacancies.exchange.importer import Importer
from vacancies.exchange.sources import Service
from vacancies.management import import_command
from vacancies.models import Attachment, Brand, Filter, Recruiter, Vacancy, VacancyOption, VacancyRecruiter

pytestmark = pytest.mark.django_db

FULL = json.loads((Path(__file__).parents[2] / "contract/v1/vacancy-full.json").read_text())["data"]
# A folder with vacancies.v1.json and internal.v1.json of another service.
REAL_DATA = os.environ.get("REAL_DATA")


def run(*words, command="import_vacancies", **options):
    """Return (exit code, summary, lines of standard error) of a command that imports."""
    out, err = StringIO(), StringIO()
    try:
        call_command(command, *map(str, words), stdout=out, stderr=err, **options)
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
    assert summary == (
        "1 vacancies: 1 created, 0 updated, 0 unchanged, 0 refused, 0 left as drafts. "
        "4 brands and recruiters created or updated."
    )
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

    assert code == 1
    assert summary.startswith("100 vacancies: 95 created, 0 updated, 0 unchanged, 5 refused, 0 left")
    assert lines == [
        "failed: items.json row 5 (id 1005): title: This field may not be blank.",
        "failed: items.json row 18 (id None): id: This field is required.",
        "failed: items.json row 34 (id 1034): image: Enter a valid URL.",
        "failed: items.json row 61 (id 1061): recruiters.1.name: Not a valid string.",
        "failed: items.json row 100 (id None): Invalid data. Expected a dictionary, but got str.",
    ]
    assert client.get("/v1/vacancies").json()["meta"]["total"] == 95


def test_id_that_comes_twice_is_refused(tmp_path):
    rows = items(3)
    rows[1]["id"] = rows[0]["id"]

    code, _, lines = run(write(tmp_path, rows))

    assert (code, Vacancy.objects.count()) == (1, 2)
    assert lines == [
        "failed: items.json row 2 (id 1001): this id came before in the same source, with other content."
    ]


def test_row_that_the_database_refuses_loses_no_other(tmp_path, monkeypatch):
    save = Vacancy.save

    def refuse_one(self, *args, **kwargs):
        save(self, *args, **kwargs)
        if self.pk == 1002:
            raise DatabaseError("no room")

    monkeypatch.setattr(Vacancy, "save", refuse_one)

    code, summary, lines = run(write(tmp_path, items(3)))

    assert (code, sorted(Vacancy.objects.values_list("pk", flat=True))) == (1, [1001, 1003])
    assert summary.startswith("3 vacancies: 2 created, 0 updated, 0 unchanged, 1 refused")
    assert lines == ["failed: items.json row 2 (id 1002): no room"]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"id": 2**63 - 1}, "id: Ensure this value is less than or equal to 9007199254740991."),
        ({"id": "x"}, "id: A valid integer is required."),
        ({"id": [1]}, "id: A valid integer is required."),
        ({"created_at": "0001-01-01 00:00:00"}, "created_at: Not between the years 1900 and 2200."),
        ({"created_at": "9999-12-31 23:59:59"}, "created_at: Not between the years 1900 and 2200."),
        (
            {"created_at": "2026-03-29 02:30:00"},
            "created_at: There is no such time in the time zone Europe/Brussels; "
            "is TIME_ZONE that of the source?",
        ),
        ({"image": "ftp://x.example/a.jpg"}, "image: Enter a valid URL."),
        ({"attachments": [{"name": "a", "path": "//x.example/a"}]}, "attachments.0.path: Enter a valid URL."),
        ({"video": "javascript:alert(1)"}, "video: Enter an http or https URL, or the ID of a video."),
        ({"regions": [1]}, "regions.0: Not a valid string."),
        ({"functiongroup": ["a", "b"]}, "functiongroup: Ensure this field has no more than 1 elements."),
        ({"title": "a\0b"}, "title: Null characters are not allowed."),
        ({"is_hot": "yes"}, 'is_hot: Must be true or false; received "yes".'),
        ({"is_permanent": 1}, "is_permanent: Must be true or false; received 1."),
        (
            {"created_at": "2150-01-01 00:00:00"},
            "created_at: Lies in the future; received 2150-01-01 00:00:00. "
            "Is Europe/Brussels the time zone of the source?",
        ),
        (
            {"published_at": "2026-02-01 00:00:00", "publish_until": "2026-01-31"},
            "publish_until: Must be after the moment at which the vacancy appears.",
        ),
    ],
)
def test_value_that_could_not_be_served_is_refused(tmp_path, values, reason):
    code, _, lines = run(write(tmp_path, items(1, **values)))

    assert (code, lines, Vacancy.objects.count()) == (
        1, [f"failed: items.json row 1 (id {values.get('id', 1001)}): {reason}"], 0,
    )  # fmt: skip


def test_changed_content_is_found_and_sorted_by_what_it_says_now(client, tmp_path):
    run(write(tmp_path, items(1, title="Alpha")))
    run(write(tmp_path, items(1, title="Zebra")))

    assert Vacancy.objects.search("zebra").exists()
    assert not Vacancy.objects.search("alpha").exists()
    assert Vacancy.objects.get().title_folded == "zebra"


def test_source_without_brands_or_heads_takes_none_away(client, tmp_path):
    run(write(tmp_path, [FULL]))
    make_recruiter("Stand-in")

    code, _, lines = run(
        write(tmp_path, [FULL | {"brand": None, "head_recruiter": None}]), "--recruiter", "Stand-in"
    )

    kept = "is empty in the source; a published vacancy needs one, so it was left as it is"
    assert (code, lines) == (
        0,
        [
            f"note: items.json row 1 (id 101): brand: {kept}",
            f"note: items.json row 1 (id 101): head_recruiter: {kept}",
        ],
    )
    assert served(client, 101) == as_body(FULL)


def test_draft_goes_out_once_nothing_is_missing_but_not_one_that_was_made_a_draft_here(
    client, tmp_path, settings
):
    path = write(tmp_path, items(2, brand=None))
    run(path)
    settings.MULTI_BRANDING = False
    run(path)
    assert client.get("/v1/vacancies").json()["meta"]["total"] == 2

    Vacancy.objects.filter(pk=1001).update(status="draft", head_recruiter=None)
    run(path)

    assert [item["id"] for item in client.get("/v1/vacancies").json()["data"]] == [1002]


def test_items_that_differ_about_a_brand_or_recruiter_are_told(tmp_path):
    rows = items(2)
    rows[1]["brand"]["url"] = "https://other.example.com"
    rows[1]["head_recruiter"]["phone"] = "+32 9 999"

    _, _, lines = run(write(tmp_path, rows))

    who = "note: items.json row 2 (id 1002):"
    assert lines == [
        f"{who} brand 'Ziekenhuis Sint-Elisabeth' differs from that of earlier items",
        f"{who} recruiter 'Noor Peeters' differs from that of earlier items",
    ]


def test_renamed_recruiter_is_no_nothing(tmp_path):
    run(write(tmp_path, items(1)))
    rows = items(1)
    rows[0]["head_recruiter"]["name"] = "Noor Janssens"

    assert run(write(tmp_path, rows))[1].endswith(
        "0 left as drafts. 1 brands and recruiters created or updated."
    )


def test_what_is_internal_here_is_not_opened_by_a_public_file(tmp_path):
    path = write(tmp_path, items(1))
    run(path)
    Vacancy.objects.update(audience="internal")

    code, _, lines = run(path)

    assert (code, Vacancy.objects.get().audience) == (0, "internal")
    assert lines == [
        "note: items.json row 1 (id 1001): public in the source; "
        "it stays internal here until a recruiter opens it"
    ]


def test_failing_source_leaves_no_trace(tmp_path):
    before = snapshot()

    run(tmp_path / "nothing.json")

    assert snapshot() == before


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
    assert code == 0
    assert summary.startswith("1 vacancies: 1 created, 0 updated, 0 unchanged, 0 refused, 1 left as drafts.")
    assert lines == [
        "draft: items.json row 1 (id 1001): a draft: A vacancy needs a lead recruiter to be published."
    ]
    assert client.get("/v1/vacancies/1001").status_code == 404

    make_recruiter("Stand-in")
    assert run(path, "--recruiter", "Stand-in")[1].startswith("1 vacancies: 0 created, 1 updated")
    assert client.get("/v1/vacancies/1001").json()["data"]["head_recruiter"]["name"] == "Stand-in"
    assert run(path)[1].startswith("Nothing changed")


def test_what_a_recruiter_decided_about_publication_stays(client, tmp_path):
    path = write(tmp_path, items(1))
    run(path)
    Vacancy.objects.update(status="unpublished")

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

    assert lines == [
        "note: items.json row 1 (id 1001): description: removed 1 <script>",
        "note: items.json row 1 (id 1001): description: removed attributes: 1 onclick",
    ]
    assert client.get("/v1/vacancies/1001").json()["data"]["description"] == "<p>Hi</p>"


def test_new_vacancy_gets_a_free_id_afterwards(tmp_path):
    run(write(tmp_path, items(2)))

    assert make_vacancy().pk > 1002
    assert make_recruiter("New").pk > 23


@pytest.mark.parametrize("content", ["", "{", "[1", '{"data": 3}', "3", '"x"'])
def test_file_that_holds_no_vacancies_is_refused(tmp_path, content):
    path = tmp_path / "odd.json"
    path.write_text(content)

    code, _, lines = run(path)

    assert (code, len(lines)) == (1, 1)
    assert lines[0].startswith("failed: ")
    assert "odd.json" in lines[0]


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
        "summary": "", "created": 1, "updated": 0, "unchanged": 0, "refused": 0, "expired": 0, "moved": 0,
        "related": 4, "drafts": [], "failed": [], "notes": [],
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


@pytest.mark.slow
def test_service_is_taken_over_with_order_and_audience(client, source):
    with source.serve() as url:
        theirs = everything(lambda path: urllib3.request("GET", url + path).json()["data"])
        first, second = run(url), run(url)
        before = snapshot()
        run(url)

    assert first[:2] == (
        0,
        "130 vacancies: 130 created, 0 updated, 0 unchanged, 0 refused, 0 left as drafts. "
        "1 moved to keep the order of the source. 4 brands and recruiters created or updated.",
    )
    assert second[:2] == (0, "Nothing changed: 130 vacancies are here as their source has them.")
    assert snapshot() == before
    assert everything(lambda path: client.get(path).json()["data"]) == theirs
    assert theirs["/v1/vacancies"][0]["id"] == 1001
    audiences = Vacancy.objects.order_by("pk").values_list("audience", flat=True)
    assert list(audiences) == ["public"] * 100 + ["both"] * 10 + ["internal"] * 20


@pytest.mark.slow
def test_import_stopped_half_way_goes_on_where_it_was(source, monkeypatch):
    walk = Service.rows

    def cut(self):
        for number, row in enumerate(walk(self)):
            if number == 115:
                raise KeyboardInterrupt
            yield row

    with source.serve() as url:
        monkeypatch.setattr(Service, "rows", cut)
        interrupted = run(url)
        landed = Vacancy.objects.count()
        monkeypatch.setattr(Service, "rows", walk)
        _, summary, _ = run(url)

    assert interrupted[0] == 130
    assert interrupted[2][-1] == (
        "Interrupted. 100 vacancies were created and 0 updated; the same command again does the rest."
    )
    assert landed == 100  # a batch is whole or not there
    assert summary == (
        "130 vacancies: 30 created, 0 updated, 100 unchanged, 0 refused, 0 left as drafts. "
        "1 moved to keep the order of the source."
    )
    assert Vacancy.objects.count() == 130
    assert Vacancy.objects.external().newest_first().first().pk == 1001


@pytest.mark.slow
def test_closed_internal_list_is_told(source, monkeypatch):
    monkeypatch.setitem(source.env, "INTERNAL_ACCESS", "authenticated")
    source.manage(
        "shell",
        "-v0",
        "-c",
        "from django.contrib.auth.models import User; User.objects.create_user('eve', is_staff=True)",
    )
    token = source.manage("issue_token", "eve").stdout.strip()
    with source.serve() as url:
        code, summary, lines = run(url)
        with_token = run(url, "--token", token)

    assert (code, summary.startswith("110 vacancies: 110 created")) == (1, True)
    assert [line for line in lines if line.startswith("failed: ")] == [
        "failed: /v1/vacancies/internal: answered 401; internal vacancies were left out. "
        "Pass --token to read them."
    ]
    assert with_token[1].startswith("130 vacancies: 20 created, 10 updated, 100 unchanged")


def test_unreachable_service_is_told():
    code, _, lines = run("http://127.0.0.1:1")

    assert (code, len(lines)) == (1, 1)
    assert lines == ["failed: http://127.0.0.1:1: it cannot be reached (Connection refused)."]


class Odd(Service):
    """A service whose answers are made up: `lists` by path, a page of any size each."""

    lists: ClassVar[dict] = {}

    def _get(self, path, query=None):
        return self.lists.get(path, (404, {}))


def page(*data, **meta):
    return 200, {"data": list(data), "meta": {"total": len(data), "last_page": 1} | meta}


@pytest.mark.parametrize(
    "answer",
    [
        (200, {}),
        (200, {"data": 3}),
        (200, {"data": [], "meta": []}),
        (200, {"data": [], "meta": {"total": "abc", "last_page": 1}}),
        (200, {"data": [], "meta": {"total": 1, "last_page": None}}),
        (500, {}),
    ],
)
def test_answer_that_is_no_page_ends_the_source_in_words(monkeypatch, answer):
    monkeypatch.setattr(Odd, "lists", {"/v1/vacancies": answer})
    monkeypatch.setattr(import_command, "Service", Odd)

    code, _, lines = run("http://odd.example")

    assert (code, len(lines)) == (1, 1)
    assert "/v1/vacancies: page 1 is no page of a list" in lines[0]


def test_odd_items_of_a_service_are_refused_once_each(monkeypatch):
    odd = ("nothing", {}, {"id": [1]}, {"id": None}, None)
    monkeypatch.setattr(Odd, "lists", {"/v1/vacancies": page(*odd, *items(1))})
    monkeypatch.setattr(import_command, "Service", Odd)

    code, summary, lines = run("http://odd.example")

    assert (code, len(lines)) == (1, 6)  # and one about the time zone
    assert summary.startswith("6 vacancies: 1 created, 0 updated, 0 unchanged, 5 refused")


def test_bar_on_a_terminal_swallows_no_row(monkeypatch):
    class Bar(tqdm):
        def update(self, n=1):
            super().update(n)
            return True  # as it does whenever it has drawn itself anew

    monkeypatch.setattr(commands, "tqdm", Bar)
    monkeypatch.setattr(Odd, "lists", {"/v1/vacancies": page(*items(3))})
    monkeypatch.setattr(import_command, "Service", Odd)

    assert run("http://odd.example")[0] == 0
    assert Vacancy.objects.count() == 3


def ordered(*ids):
    importer = Importer()
    importer.keep_order([list(ids), []])
    return list(Vacancy.objects.newest_first().values_list("pk", flat=True)), importer.report.moved


def test_order_is_kept_when_the_source_grows(at):
    for pk in (3, 5):
        make_vacancy(pk=pk, created_at=at, publish_from=at)
    assert ordered(3, 5) == ([3, 5], 1)

    make_vacancy(pk=4, created_at=at, publish_from=at)

    assert ordered(3, 4, 5) == ([3, 4, 5], 2)
    assert ordered(3, 4, 5) == ([3, 4, 5], 0)


def test_moment_that_a_recruiter_chose_stays_and_moves_nobody(at):
    make_vacancy(pk=1, created_at=at - timedelta(days=1), publish_from=at - timedelta(days=1))
    make_vacancy(pk=2, created_at=at - timedelta(days=3), publish_from=at - timedelta(hours=1))

    assert ordered(1, 2) == ([2, 1], 0)


def test_lists_that_contradict_each_other_move_nothing(at):
    for pk in (1, 2, 3):
        make_vacancy(pk=pk, audience="both", created_at=at, publish_from=at)
    importer = Importer()

    importer.keep_order([[1, 2, 3], [2, 1]])

    assert importer.report.moved == 0
    assert importer.report.notes == [
        "the lists of the source contradict each other: their order was not kept"
    ]


def test_both_lists_keep_their_order_however_they_cross(at):
    both = [
        make_vacancy(pk=1000 - n, audience="both", created_at=at, publish_from=at).pk for n in range(0, 60, 2)
    ]
    between = [make_vacancy(pk=1000 - n, created_at=at, publish_from=at).pk for n in range(1, 60, 2)]
    external = [pk for pair in zip(sorted(both), sorted(between), strict=True) for pk in pair]
    internal = sorted(both)

    Importer().keep_order([external, internal])

    assert list(Vacancy.objects.external().newest_first().values_list("pk", flat=True)) == external
    assert list(Vacancy.objects.internal().newest_first().values_list("pk", flat=True)) == internal


# --- real data ---


@pytest.mark.once
@pytest.mark.slow
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
