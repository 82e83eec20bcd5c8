"""import_vacancies: round trip, idempotence, and refusals."""

import copy
import json
import os
from functools import partial
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError

from tests.factories import make_recruiter, make_vacancy
from tests.vacancies import commands
from vacancies.choices import Keyword
from vacancies.exchange import importer
from vacancies.fields import slug_of
from vacancies.history.versions import record, record_drift
from vacancies.models import (
    Attachment,
    Brand,
    Filter,
    FilterOption,
    Place,
    Recruiter,
    Vacancy,
    VacancyOption,
    VacancyRecruiter,
)

pytestmark = pytest.mark.django_db

FULL = json.loads((Path(__file__).parents[2] / "contract/v1/vacancy-full.json").read_text())["data"]
FULL["url"] = None  # of the brand, which no item contains
# Keys of the publication, which items of this API have, and tests of publication set.
PUBLICATION = ("published_at", "closes_at", "closing_date")
# A folder with vacancies.v1.json and internal.v1.json of another service.
REAL_DATA = os.environ.get("REAL_DATA")


run = partial(commands.run, "import_vacancies")


def write(folder, items, name="items.json"):
    path = folder / name
    path.write_text(json.dumps({"data": items}))
    return path


def items(count, **values):
    """Return `count` different items like FULL, without PUBLICATION."""
    made = []
    for number in range(1, count + 1):
        item = copy.deepcopy(FULL) | {
            "id": 1000 + number,
            "title": f"Job {number}",
            "slug": f"job-{number}-({1000 + number})",
            "reference": f"HW-{number}",
        }
        for key in PUBLICATION:
            del item[key]
        made.append(item | values)
    return made


def snapshot():
    """Return every row that an import can change."""
    models = (
        Vacancy,
        VacancyOption,
        VacancyRecruiter,
        Place,
        Attachment,
        Brand,
        Recruiter,
        Filter,
        FilterOption,
    )
    return [list(model.objects.order_by("pk").values()) for model in models]


def served(client, pk):
    return client.get(f"/v1/vacancies/{pk}").content.decode()


def as_body(item):
    return json.dumps({"data": item}, separators=(",", ":"), ensure_ascii=False)


@pytest.fixture(autouse=True)
def all_filters(filters, settings):
    Filter.objects.update(is_active=False)
    settings.TIME_ZONE = "Europe/Brussels"


def test_imported_item_is_served_unchanged(client, tmp_path):
    code, summary, lines = run(write(tmp_path, [FULL]))

    assert (code, lines) == (0, [])
    assert summary == (
        "1 vacancies: 1 created, 0 updated, 0 unchanged, 0 refused, 0 left as drafts. 4 brands "
        "and recruiters created or updated. 2 options received their employment type."
    )
    assert served(client, 101) == as_body(FULL)
    assert client.get("/v1/vacancies").json()["data"] == [FULL]
    assert Filter.objects.filter(is_active=True).count() == 9


def test_import_is_idempotent(tmp_path):
    path = write(tmp_path, items(3))
    run(path)
    before = snapshot()

    code, summary, lines = run(path)

    assert (code, summary, lines) == (
        0,
        "Nothing changed: 3 vacancies are the same as in the source.",
        [],
    )
    assert snapshot() == before
    assert (make_vacancy().pk > 1003, make_recruiter("New").pk > 23) == (True, True)  # free ids

    run(write(tmp_path, items(1, title="Zebra")))
    assert Vacancy.objects.filter(search_text__contains="zebra").get().title_folded == "zebra"
    assert not Vacancy.objects.filter(search_text__contains="job 1").filter(pk=1001).exists()


def test_invalid_rows_are_reported_and_others_are_imported(client, tmp_path):
    rows = items(12)
    rows[1]["id"] = rows[0]["id"]
    rows[4]["title"] = ""
    del rows[5]["id"]
    rows[6]["image"] = "javascript:alert(1)"
    rows[7]["recruiters"][1]["name"] = 7
    rows[11] = "nothing"

    code, summary, lines = run(write(tmp_path, rows))

    assert code == 1
    assert summary.startswith("12 vacancies: 6 created, 0 updated, 0 unchanged, 6 refused, 0 left")
    repeated = "An earlier item of the same source has this id and other content."
    assert sorted(lines) == sorted(
        [
            f"failed: items.json row 2 (id 1001): {repeated}",
            "failed: items.json row 5 (id 1005): title: This field may not be blank.",
            "failed: items.json row 6 (id None): id: This field is required.",
            "failed: items.json row 7 (id 1007): image: Enter a valid URL.",
            "failed: items.json row 8 (id 1008): recruiters.1.name: Not a valid string.",
            (
                "failed: items.json row 12 (id None): Invalid data. Expected a dictionary, but got "
                "str."
            ),
        ]
    )
    assert client.get("/v1/vacancies").json()["meta"]["total"] == 6


def test_database_error_refuses_one_row(tmp_path, monkeypatch):
    insert = importer.insert

    def refuse_one(new):
        new = list(new)
        insert(new)
        if 1002 in [vacancy.pk for vacancy, _ in new]:
            raise DatabaseError("no room")

    monkeypatch.setattr(importer, "insert", refuse_one)

    code, summary, lines = run(write(tmp_path, items(3)))

    assert (code, sorted(Vacancy.objects.values_list("pk", flat=True))) == (1, [1001, 1003])
    assert summary.startswith("3 vacancies: 2 created, 0 updated, 0 unchanged, 1 refused")
    assert lines == ["failed: items.json row 2 (id 1002): no room"]


INVALID = (
    ({"id": 2**63 - 1}, "id: Ensure this value is less than or equal to 9007199254740991."),
    ({"id": "x"}, "id: A valid integer is required."),
    ({"id": [1]}, "id: A valid integer is required."),
    ({"created_at": "0001-01-01 00:00:00"}, "created_at: Must be between the years 1900 and 2200."),
    ({"created_at": "9999-12-31 23:59:59"}, "created_at: Must be between the years 1900 and 2200."),
    (
        {"created_at": "2026-03-29 02:30:00"},
        "created_at: Does not exist in the time zone Europe/Brussels. Is TIME_ZONE the time zone "
        "of the source?",
    ),
    ({"image": "ftp://x.example/a.jpg"}, "image: Enter a valid URL."),
    (
        {"attachments": [{"name": "a", "path": "//x.example/a"}]},
        "attachments.0.path: Enter a valid URL.",
    ),
    ({"video": "javascript:alert(1)"}, "video: Enter an http or https URL, or the ID of a video."),
    ({"regions": [1]}, "regions.0: Not a valid string."),
    (
        {"functiongroup": ["a", "b"]},
        "functiongroup: Ensure this field has no more than 1 elements.",
    ),
    ({"title": "a\0b"}, "title: Null characters are not allowed."),
    ({"is_hot": "yes"}, 'is_hot: Must be true or false; received "yes".'),
    ({"is_permanent": 1}, "is_permanent: Must be true or false; received 1."),
    (
        {"created_at": "2150-01-01 00:00:00"},
        "created_at: Is in the future; received 2150-01-01 00:00:00. Is Europe/Brussels the time "
        "zone of the source?",
    ),
    (
        {"published_at": "2026-02-01 00:00:00", "publish_until": "2026-01-31"},
        "publish_until: Must be after the start of publication.",
    ),
)


def test_invalid_values_are_refused(tmp_path):
    rows = [item | values for item, (values, _) in zip(items(len(INVALID)), INVALID, strict=True)]

    code, _, lines = run(write(tmp_path, rows))

    assert (code, Vacancy.objects.count()) == (1, 0)
    assert lines == [
        f"failed: items.json row {number} (id {row['id']}): {reason}"
        for number, (row, (_, reason)) in enumerate(zip(rows, INVALID, strict=True), start=1)
    ]


def test_null_brand_or_head_of_a_published_vacancy_is_kept(client, tmp_path):
    run(write(tmp_path, [FULL]))
    make_recruiter("Stand-in")
    path = write(tmp_path, [FULL | {"brand": None, "head_recruiter": None}])

    code, _, lines = run(path, "--recruiter", "Stand-in")

    kept = "is empty in the source, but a published vacancy requires it; not changed"
    keys = ("brand", "head_recruiter")
    assert (code, lines) == (0, [f"note: items.json row 1 (id 101): {key}: {kept}" for key in keys])
    assert served(client, 101) == as_body(FULL)


def test_imported_draft_is_published_when_complete(client, tmp_path, settings):
    path = write(tmp_path, items(2, brand=None))
    run(path)
    run(write(tmp_path, items(1, brand=None, head_recruiter=None), "none.json"))
    assert Vacancy.objects.get(pk=1001).head_recruiter is None
    settings.MULTI_BRANDING = False
    run(path)
    assert client.get("/v1/vacancies").json()["meta"]["total"] == 2

    Vacancy.objects.filter(pk=1001).update(status="draft", head_recruiter=None)
    run(path)

    assert [item["id"] for item in client.get("/v1/vacancies").json()["data"]] == [1002]


def test_contradictory_brands_and_recruiters_are_reported(tmp_path):
    rows = items(2)
    rows[1]["brand"]["url"] = "https://other.example.com"
    rows[1]["head_recruiter"]["phone"] = "+32 9 999"
    assert run(write(tmp_path, rows))[2] == [
        f"note: items.json row 2 (id 1002): {text} differs from that of earlier items"
        for text in ("brand 'Ziekenhuis Sint-Elisabeth'", "recruiter 'Noor Peeters'")
    ]

    renamed = items(1)
    renamed[0]["head_recruiter"]["name"] = "Noor Janssens"
    assert run(write(tmp_path, renamed))[1].endswith(" 1 brands and recruiters created or updated.")


def test_labels_that_differ_in_case_or_spaces_are_merged(client, tmp_path):
    rows = items(3)
    for row, regions, brand in zip(
        rows,
        (["Gent"], ["Aalst", "Liège", "Gent ", "gent"], [" Île de RÉ", "GENT", "Lie\u0300ge"]),
        ("Zorg", "zorg ", "ZORG"),
        strict=True,
    ):
        row |= {"regions": regions, "brand": FULL["brand"] | {"name": brand}}
    path = write(tmp_path, rows)

    code, _, lines = run(path)

    assert (code, lines) == (
        0,
        [
            (
                f"note: items.json row {row} (id {1000 + row}): {kind} {received!r} was merged with "
                f"{stored!r}"
            )
            for row, kind, received, stored in (
                (2, "brand", "zorg ", "Zorg"),
                (2, "regions", "Gent ", "Gent"),
                (2, "regions", "gent", "Gent"),
                (3, "brand", "ZORG", "Zorg"),
                (3, "regions", " Île de RÉ", "Île de RÉ"),
                (3, "regions", "GENT", "Gent"),
                (3, "regions", "Lie\u0300ge", "Liège"),
            )
        ],
    )
    shown = {item["id"]: item["regions"] for item in client.get("/v1/vacancies").json()["data"]}
    assert shown == {
        1001: ["Gent"],
        1002: ["Aalst", "Liège", "Gent"],
        1003: ["Île de RÉ", "Gent", "Liège"],
    }
    assert Brand.objects.get().name == "Zorg"
    assert run(path)[1].startswith("Nothing changed")

    # An option that has exactly this label is used; the other kind of file compares in the same
    # way.
    gent = FilterOption.objects.get(label="Gent")
    FilterOption.objects.create(filter=gent.filter, label="GENT", value="gent-2")
    [first, *_, new] = items(4, regions=["GENT"], brand={"name": "zorg"})
    code, _, lines = run(write(tmp_path, [first, new], "i.json"), "--internal")
    assert lines == ["note: i.json row 2 (id 1004): brand 'zorg' was merged with 'Zorg'"]
    assert Vacancy.objects.get(pk=1004).options.filter(filter=gent.filter).get().label == "GENT"


def test_what_a_recruiter_set_is_kept(client, tmp_path):
    run(write(tmp_path, items(3)))
    one, two, three = Vacancy.objects.order_by("pk")
    Vacancy.objects.filter(pk=one.pk).update(audience="internal")
    Vacancy.objects.filter(pk=two.pk).update(status="unpublished")
    record_drift(three, at=three.created_at)
    Vacancy.objects.filter(pk=three.pk).update(audience="internal")
    three.refresh_from_db()
    record(three, "changed", author=User.objects.create_user("anna"), at=three.created_at)

    rows = items(3, location="Elsewhere")
    rows[0]["location"] = FULL["location"]
    code, _, lines = run(write(tmp_path, rows))

    assert code == 0
    assert lines[0] == (
        "note: items.json row 1 (id 1001): is public in the source and internal here; a recruiter "
        "can make it public"
    )
    assert list(Vacancy.objects.order_by("pk").values_list("audience", "status", "location")) == [
        ("internal", "published", FULL["location"]),
        ("public", "unpublished", "Elsewhere"),
        ("internal", "published", "Elsewhere"),
    ]
    assert client.get("/v1/vacancies/1002").status_code == 404


def test_item_of_a_public_and_an_internal_file_has_both_audiences(tmp_path):
    both, internal, public = items(3)
    public_file = write(tmp_path, [both, public], "p.json")
    internal_file = write(tmp_path, [both, internal], "i.json")

    for _ in range(2):  # the second round changes nothing
        run(public_file)
        run(internal_file, "--internal")

    found = dict(Vacancy.objects.values_list("pk", "audience"))
    assert found == {1001: "both", 1002: "internal", 1003: "public"}
    assert run(public_file)[1].startswith("Nothing changed")


def test_item_without_a_head_recruiter_is_imported_as_a_draft(client, tmp_path):
    path = write(tmp_path, items(1, head_recruiter=None))

    code, summary, lines = run(path)
    assert code == 0
    assert summary.startswith(
        "1 vacancies: 1 created, 0 updated, 0 unchanged, 0 refused, 1 left as drafts."
    )
    assert lines == [
        "draft: items.json row 1 (id 1001): imported as a draft: A vacancy needs a lead recruiter "
        "to be published."
    ]
    assert client.get("/v1/vacancies/1001").status_code == 404

    make_recruiter("Stand-in")
    assert run(path, "--recruiter", "Stand-in")[1].startswith("1 vacancies: 0 created, 1 updated")
    assert client.get("/v1/vacancies/1001").json()["data"]["head_recruiter"]["name"] == "Stand-in"
    assert run(path)[1].startswith("Nothing changed")


def test_private_contact_data_is_kept(tmp_path):
    make_recruiter("Sam Öz", pk=23, email="sam@example.org")
    run(write(tmp_path, [FULL]))
    found = Recruiter.objects.values_list(
        "email", "is_email_public", "phone", "is_phone_public"
    ).get(pk=23)
    assert found == ("sam@example.org", False, "+32 3 556", True)

    head = Recruiter.objects.filter(pk=FULL["head_recruiter"]["id"])
    before = head.values().get()
    run(write(tmp_path, [FULL | {"head_recruiter": FULL["head_recruiter"] | {"email": None}}]))
    assert head.values().get() == before | {"is_email_public": False}


def test_v0_1_items_and_unknown_keys_are_accepted(client, tmp_path):
    item = {
        "id": 7,
        "title": "Old",
        "type": "Nurse",
        "contract_type": None,
        "regions": ["Ghent"],
        "no_such_key": 3,
        "language": "en",
        "head_recruiter": {"name": "X"},
        "brand": {"name": "B"},
        "created_at": "2020-02-02 10:00:00",
    }

    code, _, lines = run(write(tmp_path, [item]))

    assert (code, lines) == (0, ["note: items.json row 1: unknown keys were ignored: no_such_key"])
    body = client.get("/v1/vacancies/7").json()["data"]
    found = (body["types"], body["contract_types"], body["created_at"])
    assert found == (["Nurse"], None, "2020-02-02 10:00:00")


def test_file_without_vacancies_is_refused(tmp_path):
    path, before = tmp_path / "odd.json", snapshot()
    for content in (None, "", "{", "[1", '{"data": 3}', "3", '"x"'):
        if content is not None:
            path.write_text(content)
        code, _, [line] = run(path)
        assert (code, line.startswith("failed: "), "odd.json" in line) == (1, True, True), content
    assert snapshot() == before


def test_json_report_of_a_dry_run(tmp_path, capfd):
    before = snapshot()

    _, out, lines = run(write(tmp_path, items(1)), "--format", "json", "--dry-run")

    assert (lines, snapshot()) == ([], before)
    report = json.loads(out)
    assert report.pop("summary").startswith("Dry run, nothing was written. 1 vacancies: 1 created")
    assert report == {
        "created": 1,
        "updated": 0,
        "unchanged": 0,
        "refused": 0,
        "expired": 0,
        "not_public": 0,
        "related": 4,
        "typed": 2,
        "drafts": [],
        "failed": [],
        "notes": [],
        "languages": {},
    }
    assert capfd.readouterr() == ("", "")  # no progress bar without a terminal


# --- real data ---


ADDED = {
    "apply_url": None,
    "reference": None,
    "language": "en",
    "work_place": None,
    "places": [],
    "remote_countries": [],
    "employment_types": [],
    "pay": None,
    "published_at": None,
    "closes_at": None,
    "closing_date": None,
    "url": None,
}


@pytest.mark.slow("imports several times")
@pytest.mark.each_database
@pytest.mark.skipif(not REAL_DATA, reason="REAL_DATA names no folder")
def test_real_vacancies_are_served_unchanged(client, settings):
    settings.TIME_ZONE = "UTC"
    files = {name: Path(REAL_DATA) / f"{name}.v1.json" for name in ("vacancies", "internal")}
    rows = {name: json.loads(path.read_text())["data"] for name, path in files.items()}
    # Labels that differ in case or outer spaces become the first one.
    first: dict[tuple[str, str], str] = {}
    for item in (*rows["vacancies"], *rows["internal"]):
        # the source drops separators (docs/decisions.md #7)
        item["slug"] = f"{slug_of(item['title'])}-({item['id']})"
        for key, value in ADDED.items():  # the source has no such keys
            item.setdefault(key, item["created_at"] if key == "published_at" else value)
        item.setdefault("languages", [item["language"]])
        for keyword in Keyword:
            labels = [item[keyword]] if isinstance(item[keyword], str) else item[keyword] or []
            merged = [first.setdefault((keyword, x.strip().casefold()), x.strip()) for x in labels]
            if labels:
                item[keyword] = merged[0] if keyword.is_single else list(dict.fromkeys(merged))

    assert run(files["vacancies"])[0] == run(files["internal"], "--internal")[0] == 0
    before = snapshot()
    assert (
        run(files["vacancies"])[1]
        == f"Nothing changed: {len(rows['vacancies'])} vacancies are the same as in the source."
    )
    assert run(files["internal"], "--internal")[1].startswith("Nothing changed")
    assert snapshot() == before

    listed = {}
    for page in range(1, 8):
        body = client.get(
            "/v1/vacancies", {"page[size]": 100, "page[number]": page}
        ).content.decode()
        listed |= {item["id"]: item for item in json.loads(body)["data"]}
    assert {pk: json.dumps(item) for pk, item in listed.items()} == {
        v["id"]: json.dumps(v) for v in rows["vacancies"]
    }
    for item in [*rows["vacancies"], *rows["internal"]]:
        assert served(client, item["id"]) == as_body(item)
    internal = client.get("/v0.1/vacancies/internal", {"page[size]": 100}).json()
    assert internal["meta"]["total"] == len(rows["internal"])
