"""import_vacancies: what an import leaves alone, what it changes on the way in, and how it reports that."""

import gzip
import json
from datetime import UTC, date, datetime

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.utils import timezone

from tests.servers import stub_server
from tests.vacancies.exchange.test_import import (  # noqa: F401
    FULL,
    all_filters,
    as_body,
    items,
    run,
    served,
    snapshot,
    write,
)
from vacancies import operations
from vacancies.choices import Keyword
from vacancies.exchange.importer import Importer
from vacancies.exchange.sources import Row
from vacancies.fields import html_fields
from vacancies.history.versions import record, record_drift
from vacancies.models import Brand, Recruiter, Vacancy

pytestmark = pytest.mark.django_db

WHO = "items.json row 1 (id 1001):"


def one(client, pk=1001):
    return client.get(f"/v1/vacancies/{pk}").json()["data"]


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# --- missing keys, and empty values ---


def test_missing_key_changes_nothing(client, tmp_path):
    run(write(tmp_path, [FULL]))
    before = snapshot()

    for key in sorted(FULL.keys() - {"id"}):
        item = {name: value for name, value in FULL.items() if name != key}
        code, summary, lines = run(write(tmp_path, [item]))

        assert (key, code, lines, served(client, 101)) == (key, 0, [], as_body(FULL))
        assert summary == "Nothing changed: 1 vacancies are here as their source has them."
        assert snapshot() == before, key


def test_item_with_nothing_but_an_id_and_a_text_changes_that_text(client, tmp_path):
    run(write(tmp_path, [FULL]))

    code, _, lines = run(
        write(tmp_path, [{"id": 101, "offer": "<p>New</p>", "updated_at": FULL["updated_at"]}])
    )

    assert (code, lines) == (0, [])
    assert served(client, 101) == as_body(FULL | {"offer": "<p>New</p>"})


def test_new_item_without_a_title_is_refused(tmp_path):
    assert run(write(tmp_path, [{"id": 7}]))[::2] == (
        1,
        ["failed: items.json row 1 (id 7): title: This field is required."],
    )


@pytest.mark.parametrize("empty", [None, [], ""])
def test_empty_value_empties_the_field(client, tmp_path, empty):
    run(write(tmp_path, [FULL]))
    keys = [keyword.value for keyword in Keyword] if empty != "" else []
    keys += ["recruiters"] if empty != "" else []
    keys += [*html_fields(Vacancy), "location", "image", "video"] if empty != [] else []
    item = FULL | dict.fromkeys(keys, empty)
    if empty is None:
        item |= {"attachments": None, "is_hot": None}

    code, _, lines = run(write(tmp_path, [item]))

    shown = one(client, 101)
    assert (code, lines) == (0, [])
    assert {key: shown[key] for key in keys if shown[key]} == {}
    assert ("attachments" in shown, shown["is_hot"]) == (
        empty is not None,
        FULL["is_hot"] and empty is not None,
    )


def test_missing_key_of_a_brand_or_recruiter_changes_nothing(client, tmp_path):
    run(write(tmp_path, [FULL]))
    brand = {"name": FULL["brand"]["name"]}
    head = {key: FULL["head_recruiter"][key] for key in ("id", "name")}

    assert run(write(tmp_path, [FULL | {"brand": brand, "head_recruiter": head}]))[2] == []
    assert served(client, 101) == as_body(FULL)

    brand |= {"description": None, "icons": None}
    run(write(tmp_path, [FULL | {"brand": brand}]))
    assert Brand.objects.values_list("description", "icon_small_url", "url").get() == (
        "", "", FULL["brand"]["url"],
    )  # fmt: skip


def test_null_empties_the_head_of_a_draft(tmp_path):
    run(write(tmp_path, items(1, brand=None)))
    assert Vacancy.objects.get().head_recruiter is not None

    run(write(tmp_path, items(1, brand=None, head_recruiter=None)))

    assert Vacancy.objects.get().head_recruiter is None


# --- when a publication ends ---


@pytest.mark.parametrize("key", ["publish_until", "closes_at"])
def test_expired_item_is_not_public(client, tmp_path, key):
    rows = items(2, created_at="2024-01-01 09:00:00")
    rows[0][key] = "2024-02-01 12:00:00"
    rows[1][key] = "2190-02-01 12:00:00"
    path = write(tmp_path, rows)

    code, summary, lines = run(path)

    assert (code, lines) == (0, [])
    assert "2 created" in summary
    assert " 1 of those created are expired." in summary
    assert [item["id"] for item in client.get("/v1/vacancies").json()["data"]] == [1002]
    assert client.get("/v1/vacancies/1001").status_code == 404
    assert run(path)[1].startswith("Nothing changed")


@pytest.mark.parametrize(
    ("value", "until"),
    [
        ("2026-05-31", datetime(2026, 5, 31, 22, tzinfo=UTC)),  # the end of that day in Brussels
        ("2026-10-25", datetime(2026, 10, 25, 23, tzinfo=UTC)),  # a day of 25 hours
        ("2026-05-31 18:00:00", datetime(2026, 5, 31, 16, tzinfo=UTC)),
        ("2026-05-31T18:00:00+00:00", datetime(2026, 5, 31, 18, tzinfo=UTC)),
        (None, None),
    ],
)
def test_end_of_publication_is_read(tmp_path, value, until):
    run(write(tmp_path, items(1, publish_until=value)))

    assert Vacancy.objects.get().publish_until == until


def test_end_follows_the_source_until_a_recruiter_decides(tmp_path):
    run(write(tmp_path, items(1, publish_until="2190-01-01")))
    run(write(tmp_path, items(1, publish_until=None)))
    assert Vacancy.objects.get().publish_until is None
    run(write(tmp_path, items(1, publish_until="2190-01-01")))
    mine = datetime(2190, 12, 31, 23, tzinfo=UTC)  # the end of that day in Brussels
    anna = User.objects.create_user("anna")
    operations.extend(vacancies=Vacancy.objects.all(), day=date(2190, 12, 31), at=timezone.now(), author=anna)

    code, _, lines = run(write(tmp_path, items(1, publish_until="2190-01-01")))

    assert (code, Vacancy.objects.get().publish_until) == (0, mine)
    assert lines == [f"note: {WHO} publish_until: differs from what a recruiter decided here; left as is"]


# --- changed and refused texts ---


def test_video_and_table_of_a_text_are_kept_and_named(client, tmp_path):
    text = "<p>Hi</p><iframe src='https://v.example/1'></iframe><table><tr><td>a</td><td>b</td></tr></table>"

    code, _, lines = run(write(tmp_path, items(1, offer=text, profile="It&#39;s R&D<br/>x")))

    assert (code, lines) == (
        0,
        [
            f"note: {WHO} offer: 1 <iframe> became a link to https://v.example/1",
            f"note: {WHO} offer: 1 <table> became paragraphs, one for each row",
        ],
    )
    assert one(client)["offer"] == (
        '<p>Hi</p><p><a href="https://v.example/1">https://v.example/1</a></p><p>a | b</p>'
    )


def test_escaped_html_is_refused_and_read_with_an_option(client, tmp_path):
    brand = FULL["brand"] | {"description": "&lt;p&gt;We&lt;/p&gt;"}
    path = write(tmp_path, items(1, description="&lt;p&gt;R&amp;amp;D&lt;/p&gt;", brand=brand))
    text = "Holds HTML that is escaped, such as &lt;p&gt;; read it with --unescape-html."

    assert run(path)[::2] == (
        1,
        [f"failed: {WHO} description: {text}; brand.description: {text}"],
    )
    assert not Vacancy.objects.exists()

    assert run(path, "--unescape-html")[::2] == (0, [])
    assert one(client)["description"] == "<p>R&amp;D</p>"
    assert Brand.objects.get().description == "<p>We</p>"


@pytest.mark.parametrize(
    ("title", "stored", "note"),
    [
        (
            "Nurse\n(nights)\r\n",
            "Nurse (nights)",
            r'line breaks became spaces; received "Nurse\n(nights)\r\n"',
        ),
        ("Nurse \u202etxt.exe", "Nurse txt.exe", "removed U+202E, which cannot be seen"),
        ("Nu\x07rse", "Nurse", "removed U+0007, which cannot be seen"),
    ],
)
def test_title_becomes_one_plain_line(tmp_path, title, stored, note):
    path = write(tmp_path, items(1, title=title, slug=None))

    code, _, lines = run(path)

    assert (code, lines) == (0, [f"note: {WHO} title: {note}"])
    assert Vacancy.objects.get().title == stored
    assert run(path)[1].startswith("Nothing changed")


def test_repeated_key_refuses_its_row_only(tmp_path):
    good, bad = items(2)
    text = json.dumps(bad).replace('"title":', '"title": "Other", "title":')
    path = tmp_path / "items.json"
    path.write_text(f"[{json.dumps(good)}, {text}]")

    assert run(path)[::2] == (
        1,
        ["failed: items.json row 2 (id 1002): title: occurs more than once in this item."],
    )
    assert list(Vacancy.objects.values_list("pk", flat=True)) == [1001]


# --- the same item twice ---


def test_exact_duplicate_is_a_note(tmp_path):
    [item] = items(1)

    code, summary, lines = run(write(tmp_path, [item, dict(reversed(item.items()))]))

    assert (code, lines) == (
        0,
        ["note: items.json row 2 (id 1001): the same item came before in the same source"],
    )
    assert summary.startswith("2 vacancies: 1 created, 0 updated, 1 unchanged, 0 refused")


@pytest.mark.parametrize("first", ["public", "internal"])
def test_content_of_the_first_of_a_public_and_an_internal_file_counts(tmp_path, first):
    [public] = items(1)
    internal = public | {"title": "Other", "regions": ["Elsewhere"], "brand": FULL["brand"] | {"url": None}}
    steps = [
        (write(tmp_path, [public], "public.json"),),
        (write(tmp_path, [internal], "internal.json"), "--internal"),
    ]
    if first == "internal":
        steps.reverse()

    run(*steps[0])
    brand_before = Brand.objects.values().get()
    for _ in range(2):
        code, _, lines = run(*steps[1])
        assert code == 0
        assert lines[0] == (
            f"note: {steps[1][0].name} row 1 (id 1001): differs from the file that was imported first, "
            "which counts: title, regions"
        )
        assert run(*steps[0])[0] == 0

    vacancy = Vacancy.objects.with_related().get()
    wanted = public if first == "public" else internal
    assert (vacancy.title, vacancy.labels(Keyword.REGIONS)) == (wanted["title"], wanted["regions"])
    assert vacancy.audience == {"public": "both", "internal": "internal"}[first]
    assert Brand.objects.values().get() == brand_before


def test_equal_items_of_a_public_and_an_internal_file_say_nothing(tmp_path):
    public = write(tmp_path, items(1))
    run(public)

    assert run(public, "--internal")[::2] == (0, [])
    assert Vacancy.objects.get().audience == "both"


def test_audience_that_a_recruiter_changed_does_not_stop_the_source(tmp_path):
    run(write(tmp_path, items(1)))
    vacancy = Vacancy.objects.get()
    record_drift(vacancy, at=vacancy.created_at)
    Vacancy.objects.update(audience="internal")
    record(vacancy, "changed", author=User.objects.create_user("anna"), at=vacancy.created_at)

    run(write(tmp_path, items(1, location="Elsewhere")))

    assert Vacancy.objects.values_list("audience", "location").get() == ("internal", "Elsewhere")


# --- the report ---


def test_report_has_what_was_refused_and_changed(tmp_path):
    rows = items(3)
    rows[0]["offer"] = "<p>x<img src=a></p>"
    rows[1] |= {"is_hot": "yes", "location": 7}
    rows[2]["head_recruiter"] = None
    report = tmp_path / "report.jsonl"

    assert run(write(tmp_path, rows), "--report", report)[0] == 1

    assert [tuple(each.values()) for each in records(report)] == [
        ("note", "items.json row 1", 1001, "offer", "markup_removed", "removed 1 <img>"),
        (
            "failed", "items.json row 2", 1002, "is_hot", "invalid",
            'Must be true or false; received "yes".',
        ),
        ("failed", "items.json row 2", 1002, "location", "invalid", "Not a valid string."),
        (
            "draft", "items.json row 3", 1003, "", "draft",
            "a draft: A vacancy needs a lead recruiter to be published.",
        ),
    ]  # fmt: skip
    assert list(records(report)[0]) == ["kind", "row", "id", "field", "code", "message"]


def test_report_that_cannot_be_written_is_said_before_anything_is_imported(tmp_path):
    source = write(tmp_path, items(1))
    before = source.read_bytes()
    for report, reason in (
        (tmp_path / "missing" / "report.jsonl", "cannot be written (No such file or directory)."),
        (tmp_path, "cannot be written (Is a directory)."),
        (source, "is a source too; name another file."),
    ):
        with pytest.raises(CommandError) as refused:
            run(source, "--report", report)
        assert (refused.value.returncode, str(refused.value)) == (2, f"--report {report}: {reason}")

    assert (Vacancy.objects.count(), source.read_bytes()) == (0, before)


def test_many_notes_of_a_kind_are_shortened_on_the_terminal_and_whole_in_the_report(tmp_path):
    report = tmp_path / "report.jsonl"

    _, _, lines = run(write(tmp_path, items(25, offer="<p>x<img src=a></p>")), "--report", report)

    assert len(lines) == 21
    assert lines[-1] == "note: and 5 more like this (markup_removed); --report lists all"
    assert len(records(report)) == 25


def test_interrupt_in_a_batch_leaves_whole_batches_and_counts_only_them(tmp_path):
    importer = Importer()
    reported = []
    importer.report.sink = reported.append
    rows = [Row(f"row {n}", item) for n, item in enumerate(items(150, offer="<p>x<img src=a></p>"))]
    land = importer._land_item

    def interrupt(row, item, vacancy):
        if item["id"] == 1130:
            raise KeyboardInterrupt
        land(row, item, vacancy)

    importer._land_item = interrupt
    with pytest.raises(KeyboardInterrupt):
        importer.import_rows(rows)

    assert (Vacancy.objects.count(), importer.report.created, len(reported)) == (100, 100, 100)
    assert len(importer.report.notes) == 100
    assert Vacancy.objects.create(title="New").pk == 1101  # an id that is free, also on PostgreSQL


# --- files ---


@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("kind", ["json", "ndjson"])
def test_gzip_and_ndjson_are_read(tmp_path, kind, is_compressed):
    rows = items(3)
    text = json.dumps({"data": rows}) if kind == "json" else "\n".join([*map(json.dumps, rows), ""])
    path = tmp_path / "items"
    path.write_bytes(gzip.compress(text.encode()) if is_compressed else text.encode())

    assert run(path)[::2] == (0, [])
    assert sorted(Vacancy.objects.values_list("pk", flat=True)) == [1001, 1002, 1003]


def test_broken_line_of_ndjson_loses_no_other(tmp_path):
    first, last = map(json.dumps, items(2))
    path = tmp_path / "items.ndjson"
    path.write_text(f'{first}\n{{"id": 5,\n\n{last}\n')

    code, _, [line] = run(path)

    assert (code, Vacancy.objects.count()) == (1, 2)
    assert line.startswith("failed: items.ndjson row 2 (id None): not JSON (Expecting property name")


def test_cut_off_gzip_file_is_told(tmp_path):
    path = tmp_path / "items.gz"
    path.write_bytes(gzip.compress(json.dumps(items(1)).encode())[:-20])

    code, _, [line] = run(path)

    assert code == 1
    assert line.startswith(f"failed: {path}: is no complete gzip file (")


def test_limit_stops_after_so_many_rows(tmp_path):
    one_file, other = write(tmp_path, items(3), "a.json"), write(tmp_path, items(5)[3:], "b.json")

    assert run(one_file, other, "--limit", 4)[1].startswith("4 vacancies: 4 created")

    assert sorted(Vacancy.objects.values_list("pk", flat=True)) == [1001, 1002, 1003, 1004]
    for wrong in ("0", "-1", "x", "1.5"):
        with pytest.raises(CommandError, match="no whole number from 1"):
            run(one_file, f"--limit={wrong}")


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-02-01T10:00:00Z", datetime(2026, 2, 1, 10, tzinfo=UTC)),
        ("2026-02-01T10:00:00.250+05:30", datetime(2026, 2, 1, 4, 30, 0, 250_000, tzinfo=UTC)),
        ("2026-02-01T10:00:00", datetime(2026, 2, 1, 9, tzinfo=UTC)),
        ("2026-02-01 10:00:00", datetime(2026, 2, 1, 9, tzinfo=UTC)),
    ],
)
def test_iso_timestamps_are_read(tmp_path, value, moment):
    path = write(tmp_path, items(1, created_at=value))

    assert run(path)[::2] == (0, [])
    assert Vacancy.objects.get().created_at == moment
    assert run(path)[1].startswith("Nothing changed")


# --- time zones ---


def test_file_in_a_named_time_zone_is_converted(client, tmp_path):
    path = write(tmp_path, items(1, created_at="2026-02-01 10:00:00"))

    assert run(path, "--source-time-zone", "America/New_York")[::2] == (0, [])

    assert one(client)["created_at"] == "2026-02-01 16:00:00"
    assert run(path, "--source-time-zone", "America/New_York")[1].startswith("Nothing changed")
    with pytest.raises(CommandError, match="--source-time-zone Mars/Base: no such time zone"):
        run(path, "--source-time-zone", "Mars/Base")


def test_repeated_hour_is_read_as_the_first_and_told(tmp_path, time_machine):
    time_machine.move_to(datetime(2027, 1, 1, tzinfo=UTC))
    path = write(tmp_path, items(1, created_at="2026-10-25 02:30:00"))

    assert run(path)[::2] == (
        0,
        [f"note: {WHO} created_at: 2026-10-25 02:30:00 occurs twice in Europe/Brussels; the first was taken"],
    )
    assert Vacancy.objects.get().created_at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert run(path)[1].startswith("Nothing changed")


def service(*rows, internal=None, headers=None):
    """The routes of a service that shows `rows`."""

    def page(data):
        return json.dumps({"data": data, "meta": {"total": len(data), "last_page": 1}}).encode()

    query = "page%5Bsize%5D=100&page%5Bnumber%5D=1"
    routes = {f"/v1/vacancies?{query}": (200, headers or {}, page(list(rows)))}
    if internal is not None:
        routes["/v0.1/vacancies/internal?page%5Bsize%5D=1"] = (200, headers or {}, page(internal))
        routes[f"/v0.1/vacancies/internal?{query}"] = (200, headers or {}, page(internal))
    return routes


def test_times_of_a_service_are_converted_from_the_zone_that_it_states(client):
    rows = items(1, created_at="2026-02-01 10:00:00", updated_at="2026-07-01 10:00:00")
    with stub_server(service(*rows, headers={"Time-Zone": "Asia/Tokyo"})) as (url, _):
        assert run(url)[::2] == (0, [])
        assert run(url)[1].startswith("Nothing changed")

    shown = one(client)
    assert (shown["created_at"], shown["updated_at"]) == ("2026-02-01 02:00:00", "2026-07-01 03:00:00")


def test_time_that_does_not_exist_in_the_zone_of_a_service_is_refused():
    rows = items(2, created_at="2025-03-09 02:30:00")
    rows[1]["created_at"] = "2025-03-30 02:30:00"  # which does not exist here, but there
    with stub_server(service(*rows, headers={"Time-Zone": "America/New_York"})) as (url, _):
        code, _, lines = run(url)

    assert (code, lines) == (
        1,
        [
            "failed: /v1/vacancies item 1 (id 1001): created_at: There is no such time in the time zone "
            "America/New_York of the source."
        ],
    )
    assert Vacancy.objects.get().created_at == datetime(2025, 3, 30, 6, 30, tzinfo=UTC)


def test_service_without_a_time_zone_is_told_once():
    with stub_server(service(*items(3))) as (url, _):
        assert run(url)[::2] == (
            0,
            [
                f"note: {url}: states no time zone; its times were read as Europe/Brussels. "
                "Name another one with --source-time-zone"
            ],
        )
        assert run(url, "--source-time-zone", "Europe/Brussels")[::2] == (0, [])


@pytest.mark.parametrize(
    ("stated", "words", "reason"),
    [
        ("Mars/Base", (), 'states the time zone "Mars/Base", which is unknown here.'),
        ("../../etc/passwd", (), 'states the time zone "../../etc/passwd", which is unknown here.'),
        ("", (), 'states the time zone "", which is unknown here.'),
        (
            "Asia/Tokyo",
            ("--source-time-zone", "Europe/Paris"),
            "states the time zone Asia/Tokyo; --source-time-zone says Europe/Paris.",
        ),
    ],
)
def test_time_zone_that_cannot_be_used_is_refused(stated, words, reason):
    with stub_server(service(*items(1), headers={"Time-Zone": stated})) as (url, _):
        assert run(url, *words)[::2] == (1, [f"failed: {url}: {reason}"])

    assert not Vacancy.objects.exists()


# --- addresses ---


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("ftp://jobs.example/x", "ftp: is not read; pass a file, or an http or https address."),
        ("file:///etc/passwd", "file: is not read; pass a file, or an http or https address."),
        ("http://", "is no complete address; pass for instance https://jobs.example.com"),
        ("http://x:port", "is no complete address; pass for instance https://jobs.example.com"),
        ("http://a:b@jobs.example", "holds a user name; pass a bearer token with --token instead."),
        ("http://jobs.example/v1/vacancies", "is no base URL of a service; pass http://jobs.example"),
        ("http://jobs.example/a/v0.1/vacancies/1", "is no base URL of a service; pass http://jobs.example/a"),
        ("http://jobs.example/?page=1", "is no base URL of a service; pass http://jobs.example"),
    ],
)
@pytest.mark.parametrize("command", ["import_vacancies", "import_forms"])
def test_wrong_address_is_told_in_one_line(command, source, reason):
    with pytest.raises(CommandError) as refused:
        run(source, command=command)

    assert (refused.value.returncode, str(refused.value)) == (2, f"{source}: {reason}")


def test_address_of_something_else_is_told_in_one_line():
    page = (200, {"Content-Type": "text/html"}, b"<!doctype html>")
    query = "/v1/vacancies?page%5Bsize%5D=100&page%5Bnumber%5D=1"
    with stub_server({}) as (url, _):
        assert run(url)[2] == [
            f"failed: {url}/v1/vacancies: answered 404; {url} is no base URL of a service with this "
            "interface."
        ]
    with stub_server({query: page}) as (url, _):
        assert run(url)[2] == [
            f"failed: {url}{query}: answered with text/html, which is not JSON "
            "(Expecting value: line 1 column 1 (char 0))."
        ]


@pytest.mark.parametrize("command", ["import_vacancies", "import_forms"])
def test_redirect_to_another_origin_ends_the_source(command):
    with stub_server(service(*items(1), internal=[])) as (other, seen):
        away = (302, {"Location": f"{other}/v1/vacancies?page%5Bsize%5D=100&page%5Bnumber%5D=1"}, b"")
        routes = dict.fromkeys(service(internal=[]), away)
        with stub_server(routes) as (url, _):
            code, _, [line] = run(url, "--token", "secret", command=command)

    assert (code, seen, Vacancy.objects.count()) == (1, [], 0)
    assert line.startswith(f"failed: {url}: {url}/v")
    assert f"redirects to another origin, {other}/v1/vacancies" in line


@pytest.mark.parametrize("command", ["import_vacancies", "import_forms"])
def test_host_at_a_private_address_is_refused_unless_it_is_named(monkeypatch, command):
    with stub_server(service(*items(1))) as (url, seen):
        port = url.rpartition(":")[2]
        monkeypatch.setattr(
            "jobsite.http_client.socket.getaddrinfo",
            lambda host, port, *args, **kwargs: [(2, 1, 6, "", ("127.0.0.1", port))],
        )
        named = f"http://jobs.example:{port}"

        code, _, lines = run(named, command=command)
        assert (code, seen) == (1, [])
        assert lines == [
            f"failed: {named}: jobs.example is at 127.0.0.1, which is no public address; "
            "name it with --allow-address 127.0.0.1 to read it anyway."
        ]

        run(named, "--allow-address", "127.0.0.0/8", command=command)
        assert seen
        with pytest.raises(CommandError, match="no IP address or network"):
            run(named, "--allow-address", "jobs.example", command=command)


def test_contact_data_of_a_recruiter_follows_the_keys_that_come(tmp_path):
    run(write(tmp_path, [FULL]))
    before = Recruiter.objects.filter(pk=FULL["head_recruiter"]["id"]).values().get()

    run(write(tmp_path, [FULL | {"head_recruiter": FULL["head_recruiter"] | {"email": None}}]))

    after = Recruiter.objects.filter(pk=before["id"]).values().get()
    assert after == before | {"is_email_public": False}
