"""import_vacancies: missing keys, converted values, sources and reports."""

import gzip
import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.db import models
from django.utils import timezone

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
from vacancies.choices import Keyword
from vacancies.exchange.columns import COLUMNS
from vacancies.exchange.importer import VacancyImporter
from vacancies.exchange.sources import SourceRow
from vacancies.history.versions import content_at, read_content
from vacancies.models import Brand, Change, Vacancy, Version
from vacancies.operations import publication

pytestmark = pytest.mark.django_db

WHO = "items.json row 1 (id 1001):"


def one(client, pk=1001):
    return client.get(f"/v1/vacancies/{pk}").json()["data"]


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_import_records_versions_of_what_it_changes(tmp_path):
    for offer in (FULL["offer"], FULL["offer"], "<p>New</p>"):
        run(write(tmp_path, [FULL | {"offer": offer}]))
    new, changed = Version.objects.order_by("pk")
    assert {new.change, changed.change} == {Change.EXTERNAL}
    assert changed.content == {"offer": "<p>New</p>"}
    assert content_at(changed) == read_content(Vacancy.objects.get())

    run(write(tmp_path, [FULL]))  # versions of imports are not taken for decisions of recruiters
    assert Vacancy.objects.get().offer == FULL["offer"]


def test_equal_references_within_a_file_are_refused(tmp_path):
    _, summary, [line] = run(write(tmp_path, items(3, reference="A")[:2] + items(3)[2:]))
    assert summary.startswith("3 vacancies: 2 created, 0 updated, 0 unchanged, 1 refused")
    assert line.startswith("failed: items.json row 2 (id 1002): reference: Must occur once per")
    assert line.endswith('"A" is the reference of vacancy 1001.')


# --- missing keys, and empty values ---


@pytest.mark.slow("imports several times")
@pytest.mark.each_database
def test_missing_key_changes_nothing(client, tmp_path):
    run(write(tmp_path, [FULL]))
    before = snapshot()

    for key in sorted(FULL.keys() - {"id"}):
        item = {name: value for name, value in FULL.items() if name != key}
        code, summary, lines = run(write(tmp_path, [item]))

        assert (key, code, lines, served(client, 101)) == (key, 0, [], as_body(FULL))
        assert summary == "Nothing changed: 1 vacancies are the same as in the source."
        assert snapshot() == before, key


def test_partial_item_changes_its_keys_only(client, tmp_path):
    run(write(tmp_path, [FULL]))
    new = {"id": 101, "offer": "<p>New</p>", "updated_at": FULL["updated_at"]}

    code, _, lines = run(write(tmp_path, [new, {"id": 7}]))

    assert (code, lines) == (1, ["failed: items.json row 2 (id 7): title: This field is required."])
    assert served(client, 101) == as_body(FULL | {"offer": "<p>New</p>"})


@pytest.mark.parametrize("empty", [None, [], ""])
def test_empty_value_clears_the_field(client, tmp_path, empty):
    run(write(tmp_path, [FULL]))
    keys = [keyword.value for keyword in Keyword] if empty != "" else []
    keys += ["recruiters", "places", "remote_countries", "employment_types"] if empty != "" else []
    if empty != []:
        kind: Any = models.Field if empty is None else (models.CharField, models.TextField)
        keys += ["image", *(each.name for each in COLUMNS if each.blank and isinstance(each, kind))]
    item = FULL | dict.fromkeys(keys, empty)
    if empty is None:
        item |= {"attachments": None, "is_hot": None, "pay": None}

    code, _, lines = run(write(tmp_path, [item]))

    shown = one(client, 101)
    assert (code, lines) == (0, [])
    assert shown["language"] == "en"  # of the site
    assert {key: shown[key] for key in {*keys} - {"language"} if shown[key]} == {}
    assert (shown["pay"] is None) == (empty is None)
    is_given = empty is not None
    assert ("attachments" in shown, shown["is_hot"]) == (is_given, FULL["is_hot"] and is_given)


def test_missing_key_of_a_brand_or_recruiter_changes_nothing(client, tmp_path):
    run(write(tmp_path, [FULL]))
    brand = {"name": FULL["brand"]["name"]}
    head = {key: FULL["head_recruiter"][key] for key in ("id", "name")}

    assert run(write(tmp_path, [FULL | {"brand": brand, "head_recruiter": head}]))[2] == []
    assert served(client, 101) == as_body(FULL)

    brand |= {"description": None, "icons": None}
    run(write(tmp_path, [FULL | {"brand": brand}]))
    stored = Brand.objects.values_list("description", "icon_small_url", "url").get()
    assert stored == ("", "", FULL["brand"]["url"])


# --- states ---

FUTURE = "2190-01-01 12:00:00"
STATES = (
    ({"status": "draft"}, "draft"),
    ({"status": "draft", "published_at": "2026-01-01 12:00:00"}, "draft"),
    ({"status": "scheduled", "published_at": FUTURE}, "scheduled"),
    ({"status": "published", "published_at": FUTURE}, "scheduled"),
    ({"published_at": FUTURE}, "scheduled"),
    ({"status": "scheduled", "published_at": "2026-01-01 12:00:00"}, "published"),
    ({"status": "published"}, "published"),
    ({"status": "closed", "head_recruiter": None}, "unpublished"),
    ({"status": "published", "publish_until": "2026-04-01"}, "expired"),
)


def states():
    return [vacancy.state for vacancy in Vacancy.objects.order_by("pk")]


def test_file_states_whether_a_vacancy_is_public(client, tmp_path):
    rows = [item | values for item, (values, _) in zip(items(len(STATES)), STATES, strict=True)]
    path = write(tmp_path, rows)

    code, summary, lines = run(path)

    later = "published_at: is in the future; the vacancy is public from then on"
    assert (code, lines) == (
        0,
        [f"note: items.json row {n} (id {1000 + n}): {later}" for n in (4, 5)],
    )
    assert summary.startswith(
        "9 vacancies: 9 created, 0 updated, 0 unchanged, 0 refused, 0 left as drafts. "
    )
    assert "6 of them are drafts, scheduled or closed in the source." in summary
    assert states() == [state for _, state in STATES]
    assert sorted(item["id"] for item in client.get("/v1/vacancies").json()["data"]) == [1006, 1007]
    assert run(path)[1].startswith("Nothing changed")


@pytest.mark.slow("imports nine times")
def test_state_follows_the_file_until_a_recruiter_sets_it(tmp_path):
    scheduled = {"status": "scheduled", "published_at": FUTURE}
    for values, state in (
        ({"status": "draft"}, "draft"),
        ({"status": "published"}, "published"),
        (scheduled, "scheduled"),
        ({"published_at": "2026-03-01 12:00:00"}, "published"),
        ({}, "published"),
        ({"status": "closed"}, "unpublished"),
        ({}, "unpublished"),
        ({"status": "published"}, "published"),
    ):
        run(write(tmp_path, items(1, **values)))
        assert states() == [state], values

    publication.unpublish(vacancies=Vacancy.objects.all(), at=timezone.now())
    code, _, lines = run(write(tmp_path, items(1, status="published")))

    assert (code, states()) == (0, ["unpublished"])
    assert lines == [f"note: {WHO} status: differs from what a recruiter set here; not changed"]


def test_draft_of_one_file_does_not_join_the_lists_of_the_other(tmp_path):
    run(write(tmp_path, items(1)))

    code, _, lines = run(write(tmp_path, items(1, status="draft"), "i.json"), "--internal")

    assert (code, Vacancy.objects.get().audience) == (0, "public")
    assert lines == [
        "note: i.json row 1 (id 1001): status: is draft in this file; the audience was not changed"
    ]


def test_unknown_or_invalid_state_refuses_the_row(tmp_path):
    looks = (
        "Looks like a state of the vacancy. Use status, published_at and publish_until, or "
        "remove it."
    )
    allowed = "Must be one of draft, scheduled, published, closed; received"
    refusals = [
        *(
            ({key: value}, f"{key}: {looks}")
            for key, value in (
                ("Status", "draft"),
                ("state", "open"),
                ("is_published", False),
                ("isDraft", True),
                ("active", 0),
                ("publish_from", FUTURE),
                ("validThrough", "2026-01-01"),
                ("internal", True),
                ("workflow-state", ""),
                ("approved", False),
                ("on_hold", True),
                ("end_date", "2020-01-01"),
            )
        ),
        ({"status": "Draft"}, f'status: {allowed} "Draft".'),
        ({"status": None}, f'status: {allowed} "".'),
        ({"status": 1}, f"status: {allowed} 1."),
        ({"status": "scheduled"}, "published_at: A scheduled vacancy needs it."),
    ]
    rows = [item | values for item, (values, _) in zip(items(len(refusals)), refusals, strict=True)]

    code, _, lines = run(write(tmp_path, [*rows, items(20, internal_id=3, publisher="x")[-1]]))

    assert code == 1
    assert sorted(lines) == sorted(
        [
            f"failed: items.json row {n} (id {1000 + n}): {text}"
            for n, (_, text) in enumerate(refusals, 1)
        ]
        + [
            (
                f"note: items.json row {len(rows) + 1}: unknown keys were ignored: internal_id, "
                "publisher"
            )
        ]
    )
    assert list(Vacancy.objects.values_list("pk", flat=True)) == [1020]


# --- when a publication ends ---


def test_expired_item_is_not_public(client, tmp_path):
    rows = items(4, created_at="2024-01-01 09:00:00")
    for row, key in zip(rows, ("publish_until", "closes_at") * 2, strict=True):
        row[key] = "2024-02-01 12:00:00" if row["id"] < 1003 else "2190-02-01 12:00:00"
    path = write(tmp_path, rows)

    code, summary, lines = run(path)

    assert (code, lines) == (0, [])
    assert "4 created" in summary
    assert " 2 of the created vacancies are expired." in summary
    assert sorted(item["id"] for item in client.get("/v1/vacancies").json()["data"]) == [1003, 1004]
    assert client.get("/v1/vacancies/1001").status_code == 404
    assert run(path)[1].startswith("Nothing changed")


@pytest.mark.slow("many cases")
def test_times_are_read(tmp_path):
    ends = {
        "2026-05-31": datetime(2026, 5, 31, 22, tzinfo=UTC),  # the end of that day in Brussels
        "2026-10-25": datetime(2026, 10, 25, 23, tzinfo=UTC),  # a day of 25 hours
        "2026-05-31 18:00:00": datetime(2026, 5, 31, 16, tzinfo=UTC),
        "2026-05-31T18:00:00+00:00": datetime(2026, 5, 31, 18, tzinfo=UTC),
        None: None,
    }
    begins = {
        "2026-02-01T10:00:00Z": datetime(2026, 2, 1, 10, tzinfo=UTC),
        "2026-02-01T10:00:00.250+05:30": datetime(2026, 2, 1, 4, 30, 0, 250_000, tzinfo=UTC),
        "2026-02-01T10:00:00": datetime(2026, 2, 1, 9, tzinfo=UTC),
        "2026-02-01 10:00:00": datetime(2026, 2, 1, 9, tzinfo=UTC),
    }
    for key, moments in (("publish_until", ends), ("created_at", begins)):
        rows = items(len(moments))
        for row, value in zip(rows, moments, strict=True):
            row[key] = value
        path = write(tmp_path, rows)

        assert run(path)[::2] == (0, [])

        assert list(Vacancy.objects.order_by("pk").values_list(key, flat=True)) == [
            *moments.values()
        ]
        assert run(path)[1].startswith("Nothing changed")
        Vacancy.objects.all().delete()


def test_end_follows_the_source_until_a_recruiter_sets_it(tmp_path):
    run(write(tmp_path, items(1, publish_until="2190-01-01")))
    run(write(tmp_path, items(1, publish_until=None)))
    assert Vacancy.objects.get().publish_until is None
    run(write(tmp_path, items(1, publish_until="2190-01-01")))
    mine = datetime(2190, 12, 31, 23, tzinfo=UTC)  # the end of that day in Brussels
    anna = User.objects.create_user("anna")
    publication.extend(
        vacancies=Vacancy.objects.all(), day=date(2190, 12, 31), at=timezone.now(), author=anna
    )

    code, _, lines = run(write(tmp_path, items(1, publish_until="2190-01-01")))

    assert (code, Vacancy.objects.get().publish_until) == (0, mine)
    assert lines == [
        f"note: {WHO} publish_until: differs from the value that a recruiter set here; not changed"
    ]


# --- changed and refused texts ---


def test_converted_and_removed_markup_is_reported(client, tmp_path):
    offer = "<p>Hi</p><iframe src='https://v.example/1'></iframe><table><tr><td>a</td><td>b</td></tr></table>"
    texts = {"offer": offer, "profile": "It&#39;s R&D<br/>x"}
    texts["description"] = "<p onclick=x>Hi<script>1</script></p>"

    code, _, lines = run(write(tmp_path, items(1, **texts)))

    assert (code, sorted(lines)) == (
        0,
        [
            f"note: {WHO} description: removed 1 <script>",
            f"note: {WHO} description: removed attributes: 1 onclick",
            f"note: {WHO} offer: replaced 1 <iframe> by a link to https://v.example/1",
            f"note: {WHO} offer: replaced 1 <table> by a list, one item for each row",
        ],
    )
    link = '<a href="https://v.example/1">https://v.example/1</a>'
    assert one(client)["offer"] == f"<p>Hi</p><p>{link}</p><ul><li>a: b</li></ul>"
    assert one(client)["description"] == "<p>Hi</p>"


def test_escaped_html_is_refused_or_converted(client, tmp_path):
    brand = FULL["brand"] | {"description": "&lt;p&gt;We&lt;/p&gt;"}
    path = write(tmp_path, items(1, description="&lt;p&gt;R&amp;amp;D&lt;/p&gt;", brand=brand))
    text = "Contains escaped HTML such as &lt;p&gt;; pass --unescape-html to convert it."

    assert run(path)[::2] == (1, [f"failed: {WHO} description: {text}; brand.description: {text}"])
    assert not Vacancy.objects.exists()

    assert run(path, "--unescape-html")[::2] == (0, [])
    assert one(client)["description"] == "<p>R&amp;D</p>"
    assert Brand.objects.get().description == "<p>We</p>"


def test_title_becomes_one_plain_line(tmp_path):
    spaces = r'replaced line breaks by spaces; received "Nurse\n(nights)\r\n"'
    titles = {
        "Nurse\n(nights)\r\n": ("Nurse (nights)", spaces),
        "Nurse \u202etxt.exe": ("Nurse txt.exe", "removed the invisible characters U+202E"),
        "Nu\x07rse": ("Nurse", "removed the invisible characters U+0007"),
    }
    rows = [
        item | {"title": title, "slug": None} for item, title in zip(items(3), titles, strict=True)
    ]
    path = write(tmp_path, rows)

    code, _, lines = run(path)

    assert (code, lines) == (
        0,
        [
            f"note: items.json row {number} (id {1000 + number}): title: {note}"
            for number, (_, note) in enumerate(titles.values(), start=1)
        ],
    )
    found = Vacancy.objects.order_by("pk").values_list("title", flat=True)
    assert list(found) == [stored for stored, _ in titles.values()]
    assert run(path)[1].startswith("Nothing changed")


def test_repeated_key_or_invalid_line_refuses_one_row(tmp_path):
    good, bad = items(2)
    text = json.dumps(bad).replace('"title":', '"title": "Other", "title":')
    path = tmp_path / "items.json"
    path.write_text(f"[{json.dumps(good)}, {text}]")
    refusal = "failed: items.json row 2 (id 1002): title: Occurs more than once in this item."
    assert run(path)[::2] == (1, [refusal])
    assert list(Vacancy.objects.values_list("pk", flat=True)) == [1001]

    path = tmp_path / "items.ndjson"
    path.write_text(f'{json.dumps(good)}\n{{"id": 5,\n\n{json.dumps(bad)}\n')
    code, _, [line] = run(path)
    assert (code, Vacancy.objects.count()) == (1, 2)
    assert line.startswith(
        "failed: items.ndjson row 2 (id None): not JSON (Expecting property name"
    )


# --- the same item twice ---


def test_exact_duplicate_is_a_note(tmp_path):
    [item] = items(1)
    path = write(tmp_path, [item, dict(reversed(item.items()))])
    code, summary, lines = run(path)
    note = "note: items.json row 2 (id 1001): repeats an earlier item of the same source"
    assert (code, lines) == (0, [note])
    assert summary.startswith("2 vacancies: 1 created, 0 updated, 1 unchanged, 0 refused")
    # Equal items of two files give no note.
    assert run(write(tmp_path, [item]), "--internal")[::2] == (0, [])
    assert Vacancy.objects.get().audience == "both"


@pytest.mark.parametrize("first", ["public", "internal"])
def test_first_file_decides_the_content(tmp_path, first):
    [public] = items(1)
    internal = public | {
        "title": "Other",
        "regions": ["Elsewhere"],
        "brand": FULL["brand"] | {"url": None},
    }
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
            f"note: {steps[1][0].name} row 1 (id 1001): differs from the file that was imported "
            "first; not changed: title, regions"
        )
        assert run(*steps[0])[0] == 0

    vacancy = Vacancy.objects.with_related().get()
    wanted = public if first == "public" else internal
    assert (vacancy.title, vacancy.labels(Keyword.REGIONS)) == (wanted["title"], wanted["regions"])
    assert vacancy.audience == {"public": "both", "internal": "internal"}[first]
    assert Brand.objects.values().get() == brand_before


# --- the report ---


def test_report_file_has_refusals_and_changes(tmp_path):
    rows = items(3)
    rows[0]["offer"] = "<p>x<img src=a></p>"
    rows[1] |= {"is_hot": "yes", "location": 7}
    rows[2]["head_recruiter"] = None
    report = tmp_path / "report.jsonl"

    assert run(write(tmp_path, rows), "--report", report)[0] == 1

    assert [tuple(each.values()) for each in records(report)] == [
        ("note", "items.json row 1", 1001, "offer", "markup_removed", "removed 1 <img>"),
        (
            "failed",
            "items.json row 2",
            1002,
            "is_hot",
            "invalid",
            'Must be true or false; received "yes".',
        ),
        ("failed", "items.json row 2", 1002, "location", "invalid", "Not a valid string."),
        (
            "draft",
            "items.json row 3",
            1003,
            "",
            "draft",
            "imported as a draft: A vacancy needs a lead recruiter to be published.",
        ),
    ]
    assert list(records(report)[0]) == ["kind", "row", "id", "field", "code", "message"]


def test_wrong_arguments_are_errors_before_the_import(tmp_path):
    source = write(tmp_path, items(1))
    before, missing = source.read_bytes(), tmp_path / "missing" / "report.jsonl"
    for words, reason in (
        (
            (source, "--report", missing),
            f"--report {missing}: cannot write (No such file or directory).",
        ),
        ((source, "--report", tmp_path), f"--report {tmp_path}: cannot write (Is a directory)."),
        ((source, "--report", source), f"--report {source}: is also a source; pass another file."),
        (("http://127.0.0.1:1", "--internal"), ""),
        ((source, "--recruiter", "Nobody"), ""),
        ((source, "--recruiter", "77"), ""),
    ):
        with pytest.raises(CommandError) as refused:
            run(*words)
        assert (refused.value.returncode, str(refused.value)) == (2, reason or str(refused.value))
    assert (Vacancy.objects.count(), source.read_bytes()) == (0, before)


def test_notes_are_truncated_on_the_terminal_only(tmp_path):
    report = tmp_path / "report.jsonl"
    _, _, lines = run(write(tmp_path, items(25, offer="<p>x<img src=a></p>")), "--report", report)
    last = "note: and 5 more like this (markup_removed); --report lists all"
    assert (len(lines), lines[-1], len(records(report))) == (21, last, 25)


@pytest.mark.slow("imports several times")
@pytest.mark.each_database
def test_interrupt_rolls_back_the_current_batch():
    importer = VacancyImporter()
    reported = []
    importer.report.sink = reported.append
    rows = [
        SourceRow(f"row {n}", item)
        for n, item in enumerate(items(150, offer="<p>x<img src=a></p>"))
    ]
    land = importer._import_item

    def interrupt(row, item, vacancy):
        if item["id"] == 1130:
            raise KeyboardInterrupt
        return land(row, item, vacancy)

    importer._import_item = interrupt
    with pytest.raises(KeyboardInterrupt):
        importer.import_rows(rows)

    assert (Vacancy.objects.count(), importer.report.created, len(reported)) == (100, 100, 100)
    assert len(importer.report.notes) == 100
    assert Vacancy.objects.create(title="New").pk == 1101  # an id that is free, also on PostgreSQL


# --- files ---


def test_gzip_and_ndjson_are_read(tmp_path):
    rows, path = items(3), tmp_path / "items"
    for text in (json.dumps({"data": rows}), "\n".join([*map(json.dumps, rows), ""])):
        for content in (text.encode(), gzip.compress(text.encode())):
            path.write_bytes(content)
            assert run(path)[::2] == (0, [])
            assert sorted(Vacancy.objects.values_list("pk", flat=True)) == [1001, 1002, 1003]
            Vacancy.objects.all().delete()

    path.write_bytes(gzip.compress(text.encode())[:-20])
    code, _, [line] = run(path)
    assert (code, line.startswith(f"failed: {path}: not a complete gzip file (")) == (1, True)


def test_limit_stops_after_n_rows(tmp_path):
    one_file, other = write(tmp_path, items(3), "a.json"), write(tmp_path, items(5)[3:], "b.json")

    assert run(one_file, other, "--limit", 4)[1].startswith("4 vacancies: 4 created")

    assert sorted(Vacancy.objects.values_list("pk", flat=True)) == [1001, 1002, 1003, 1004]
    for wrong in ("0", "-1", "x", "1.5"):
        with pytest.raises(CommandError, match="is not a positive whole number"):
            run(one_file, f"--limit={wrong}")


# --- time zones ---


def test_file_in_a_named_time_zone_is_converted(client, tmp_path):
    path = write(tmp_path, items(1, created_at="2026-02-01 10:00:00"))

    assert run(path, "--source-time-zone", "America/New_York")[::2] == (0, [])

    assert one(client)["created_at"] == "2026-02-01 16:00:00"
    assert run(path, "--source-time-zone", "America/New_York")[1].startswith("Nothing changed")
    with pytest.raises(CommandError, match="--source-time-zone Mars/Base: unknown time zone"):
        run(path, "--source-time-zone", "Mars/Base")


def test_ambiguous_time_is_the_first_and_reported(tmp_path, time_machine):
    time_machine.move_to(datetime(2027, 1, 1, tzinfo=UTC))
    path = write(tmp_path, items(1, created_at="2026-10-25 02:30:00"))

    note = "created_at: 2026-10-25 02:30:00 occurs twice in Europe/Brussels; used the first"
    assert run(path)[::2] == (0, [f"note: {WHO} {note}"])
    assert Vacancy.objects.get().created_at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert run(path)[1].startswith("Nothing changed")

    later = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # which the interface shows as the same time
    Vacancy.objects.update(created_at=later)
    assert run(path)[1].startswith("Nothing changed")
    assert Vacancy.objects.get().created_at == later


def test_entities_in_lines_are_converted_and_reported(tmp_path):
    icons = {"small": "https://x.test/?a=1&amp;b=2", "large": ""}
    brand = {"name": "Smith &amp; Co", "description": "", "url": "", "icons": icons}
    item = FULL | {
        "title": "R&amp;D manager",
        "brand": brand,
        "regions": ["K&ouml;ln"],
        "location": "<b>K</b>",
    }

    code, _summary, lines = run(write(tmp_path, [item]))

    vacancy = Vacancy.objects.get()
    assert (code, vacancy.title, vacancy.brand.name) == (0, "R&D manager", "Smith & Co")
    assert vacancy.brand.icon_small_url == "https://x.test/?a=1&b=2"
    assert [str(option) for option in vacancy.options.filter(filter__keyword="regions")] == ["Köln"]
    who = "items.json row 1 (id 101):"
    for note in (
        f'{who} title: converted HTML entities; received "R&amp;D manager"',
        f'{who} brand.name: converted HTML entities; received "Smith &amp; Co"',
        f'{who} location: has HTML tags, which are shown as text; received "<b>K</b>"',
    ):
        assert any(note in line for line in lines), lines
    assert run(write(tmp_path, [item]))[1].startswith("Nothing changed")
