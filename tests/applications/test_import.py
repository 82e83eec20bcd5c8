"""import_applications: idempotence, refusals, and no personal data in the output."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from applications.importer import rows
from applications.models import (
    Application,
    HistoryEntry,
    Stage,
    StageChange,
    Status,
    SubmissionFile,
)
from tests.applications.makers import MINE, PASSWORD, make_step, make_user, signed_in
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db

PERSON = {"username": "zyxjane", "email": "zyxjane@example.org"}


@pytest.fixture
def vacancy(at):
    return make_vacancy(pk=501)


@pytest.fixture(autouse=True)
def stages(db):
    """Two stages, in place of those of the migration."""
    StageChange.objects.all().delete()
    Stage.objects.all().delete()
    Status.objects.all().delete()
    for position, (name, embargo, english, dutch) in enumerate(
        (("New", 0, "Received", "Ontvangen"), ("Rejected", 2, "Not selected", "Niet weerhouden"))
    ):
        status = Status.objects.create(label_en=english, label_nl=dutch)
        Stage.objects.create(name=name, status=status, embargo_days=embargo, position=position)


def row(**values):
    return {"user": PERSON, "vacancy_id": 501, "created_at": "2026-02-01 08:00:00"} | values


@pytest.fixture
def import_rows(tmp_path, capsys):
    """Return a function that imports rows and returns the exit code, the report and the output."""

    def run(*rows, words=(), content=None):
        path = tmp_path / "applications.json"
        path.write_text(json.dumps(list(rows)) if content is None else content)
        code = 0
        try:
            call_command("import_applications", str(path), "--format", "json", *words)
        except SystemExit as stop:
            code = stop.code
        said = capsys.readouterr()
        return code, json.loads(said.out), said.out + said.err

    return run


def counts(report):
    return {name: report[name] for name in ("created", "updated", "unchanged", "refused", "users")}


def snapshot():
    return [
        list(model.objects.order_by("pk").values())
        for model in (Application, StageChange, HistoryEntry, User)
    ]


STEPS = [
    {"name": "Phone call", "result": "ok", "planned_at": "2026-02-03 10:00:00.123"},
    {"name": "Talk among us", "planned_at": "2026-02-04 10:00:00", "is_visible": False},
]


def test_imported_application_is_visible_to_its_applicant(import_rows, vacancy):
    code, report, _ = import_rows(row(status="Not selected", history=STEPS, is_spontaneous=True))

    assert code == 0
    assert counts(report) == {"created": 1, "updated": 0, "unchanged": 0, "refused": 0, "users": 1}
    (item,) = signed_in(User.objects.get()).get(MINE).json()["data"]
    assert (item["id"], item["status"], item["is_spontaneous"]) == (501, "Not selected", True)
    assert [(s["name"], s["result"], s["planned_at"]) for s in item["history"]] == [
        ("Phone call", "ok", "2026-02-03 10:00:00.123")
    ]
    assert Application.objects.get().created_at.isoformat() == "2026-02-01T08:00:00+00:00"


def test_same_again_changes_nothing(import_rows, vacancy, time_machine, at):
    rows = [
        row(status="Received", history=STEPS),
        row(stage="Rejected", created_at="2026-02-02 08:00:00"),
    ]
    import_rows(*rows)
    before = snapshot()
    time_machine.shift(86_400)

    code, report, _ = import_rows(*rows)
    assert (code, report["unchanged"], sum(counts(report).values()), snapshot()) == (
        0,
        2,
        2,
        before,
    )


def test_dry_run_reports_the_same_and_writes_nothing(import_rows, vacancy):
    rows = [row(status="Brand new status", history=STEPS), row(vacancy_id=9)]
    before = snapshot(), Status.objects.count(), Stage.objects.count()

    dry = import_rows(*rows, words=["--dry-run"])

    assert (snapshot(), Status.objects.count(), Stage.objects.count()) == before
    assert dry[1]["summary"].startswith("Dry run, nothing was written. ")
    real = import_rows(*rows)
    assert counts(dry[1]) == counts(real[1])
    assert dry[0] == real[0] == 1


def test_invalid_rows_are_reported_by_number_and_others_imported(import_rows, vacancy):
    bad = [
        *(row(vacancy_id=each) for each in (999, "abc", 10**30)),
        *(
            row(user=each)
            for each in ({"username": "zyx jane", "email": "zyx"}, None, {"username": "zyx\0"})
        ),
        *({}, "text", None),
        row(created_at="yesterday"),
        row(stage="No such stage"),
        row(history=[{"name": "", "planned_at": "x"}]),
        row(is_spontaneous="yes"),
    ]

    code, report, said = import_rows(*bad, row())

    assert code == 1
    assert counts(report) == {"created": 1, "updated": 0, "unchanged": 0, "refused": 13, "users": 1}
    assert [line.split(":")[0] for line in report["failed"]] == [
        f"applications.json row {number}" for number in range(1, 14)
    ]
    assert report["failed"][-1].endswith('is_spontaneous: Must be true or false; received "yes".')
    assert "vacancy 999 does not exist here" in report["failed"][0]
    assert "zyx" not in said
    for content in ("", "{", "{}", '"x"', "null", "[" * 100_000, "\x00"):
        code, report, _ = import_rows(content=content)
        assert (code, bool(report["failed"])) == (1, True), content[:9]


def test_status_is_matched_in_any_language_or_created_with_a_stage(import_rows, vacancy, settings):
    for n, text in enumerate(("Not selected", "niet WEERHOUDEN", "Not selected "), 1):
        import_rows(row(status=text, created_at=f"2026-02-0{n} 08:00:00"))
    latest = [application.changes.last().stage.name for application in Application.objects.all()]
    assert (latest, Status.objects.count()) == (["Rejected"] * 3, 2)

    import_rows(row(status="New", created_at="2026-02-04 08:00:00"))
    assert Status.objects.get(label_en="New").stages.get().name == "New (2)"

    settings.LANGUAGE_CODE = "nl"
    days = (("Op gesprek", 5), ("op gesprek", 6))
    rows = [row(status=text, created_at=f"2026-02-0{day} 08:00:00") for text, day in days]
    code, report, _ = import_rows(*rows)
    status = Status.objects.get(label_nl="Op gesprek")
    assert (status.label_en, status.stages.get().name) == ("", "Op gesprek")
    [note] = report["notes"]
    assert (code, "Op gesprek" in note) == (0, True)


def test_imported_status_is_exempt_from_the_embargo(import_rows, vacancy):
    """The applicant knows a `status` from the source. A `stage` is ours, with its embargo."""
    import_rows(row(status="Not selected"))
    import_rows(row(stage="Rejected", created_at="2026-02-02 08:00:00"))
    import_rows(row(created_at="2026-03-02 09:00:00"))
    import_rows(row(created_at="2026-03-02 09:00:00", stage="Rejected"))

    statuses = [item["status"] for item in signed_in(User.objects.get()).get(MINE).json()["data"]]

    # newest first: the embargo of a new stage counts from now, however old the application is
    assert statuses == ["Received", "Received", "Not selected"]


def test_change_at_the_source_is_recorded_and_dated(import_rows, vacancy, at):
    import_rows(row(status="Received"))

    _, report, _ = import_rows(row(status="Not selected", is_spontaneous=True))
    assert counts(import_rows(row())[1])["unchanged"] == 1  # a missing flag changes nothing

    application = Application.objects.get()
    assert counts(report)["updated"] == 1
    assert [change.stage.name for change in application.changes.all()] == ["New", "Rejected"]
    assert (application.updated_at, application.is_spontaneous) == (at, True)


def test_imported_steps_follow_the_source_and_own_steps_are_kept(import_rows, vacancy):
    import_rows(row(history=STEPS))
    make_step(Application.objects.get(), "Made here")

    _, report, _ = import_rows(row(history=[STEPS[0] | {"result": "excellent"}]))
    assert counts(report)["updated"] == 1
    steps = set(HistoryEntry.objects.values_list("name", "result"))
    assert steps == {("Phone call", "excellent"), ("Made here", "")}

    assert counts(import_rows(row())[1])["unchanged"] == 1  # a missing key changes nothing
    assert HistoryEntry.objects.count() == 2
    import_rows(row(history=[]))
    assert [step.name for step in HistoryEntry.objects.all()] == ["Made here"]


def test_existing_account_is_not_changed_and_an_imported_one_is_not_staff(
    import_rows, vacancy, client
):
    user = make_user("zyxjane", email="mine@example.org", first_name="Jane")
    before = User.objects.values().get()
    _, report, _ = import_rows(row(user=PERSON | {"password": "from the source", "is_staff": True}))
    assert User.objects.values().get() == before
    assert (counts(report)["users"], user.applications.count()) == (0, 1)

    claims = {"is_staff": True, "is_superuser": True, "is_active": False}
    import_rows(row(user=claims | {"username": "new", "email": "new@example.org"}))
    new = User.objects.get(username="new")
    assert (new.is_staff, new.is_superuser, new.is_active) == (False, False, True)
    assert (new.has_usable_password(), new.email) == (False, "new@example.org")

    _, _, said = import_rows(row(user={"username": "known", "password": PASSWORD}))
    body = {"username": "known", "password": PASSWORD}
    assert client.post("/v1/auth/token", body, content_type="application/json").status_code == 200
    assert PASSWORD not in said


def test_times_in_a_named_zone_are_converted(import_rows, vacancy):
    steps = [{"name": "Call", "planned_at": "2026-02-03T10:00:00+09:00"}]
    words = ["--source-time-zone", "Asia/Tokyo"]

    assert import_rows(row(history=steps), words=words)[0] == 0

    assert Application.objects.get().created_at == datetime(2026, 1, 31, 23, tzinfo=UTC)
    assert HistoryEntry.objects.get().planned_at == datetime(2026, 2, 3, 1, tzinfo=UTC)
    assert counts(import_rows(row(history=steps), words=words)[1])["unchanged"] == 1


def test_ndjson_report_and_limit_have_no_personal_data(import_rows, vacancy, tmp_path):
    report_file = tmp_path / "report.jsonl"
    rows = [
        row(history=[{"name": "zyxstep\nx", "planned_at": "2026-02-03 10:00:00"}]),
        row(vacancy_id="zyxid"),
        row(created_at="2026-02-09 08:00:00"),
    ]
    content = "\n".join(
        [*map(json.dumps, rows[:2]), json.dumps(rows[2]).replace("{", '{"user": "zyx", ', 1)]
    )

    code, report, said = import_rows(content=content, words=["--report", str(report_file)])

    assert (code, counts(report)["created"], counts(report)["refused"]) == (1, 1, 2)
    keys = ("kind", "row", "id", "field", "code", "message")
    lines = [
        ("note", 1, "history.name", "line_breaks", "replaced line breaks by spaces"),
        ("failed", 2, "vacancy_id", "invalid", "A valid integer is required."),
        ("failed", 3, "", "repeated_key", "A key occurs more than once in this row."),
    ]
    assert [json.loads(line) for line in report_file.read_text().splitlines()] == [
        dict(zip(keys, (kind, f"applications.json row {number}", None, *others), strict=True))
        for kind, number, *others in lines
    ]
    assert "zyx" not in said + report_file.read_text()
    assert import_rows(content=content, words=["--limit", "1"])[1]["unchanged"] == 1


# --- The documented format (docs/operations/import.md) ---


@pytest.fixture
def documented():
    text = (Path(__file__).parent.parent.parent / "docs/operations/import.md").read_text()
    return text.partition("## The format of import_applications\n")[2].partition("\n## ")[0]


def test_the_documented_example_is_imported(documented, import_rows):
    make_vacancy(pk=412)
    [example] = re.findall(r"```json\n(.*?)```", documented, re.DOTALL)

    code, report, _ = import_rows(content=example)

    assert (code, report["failed"], report["notes"]) == (0, [], [])
    assert counts(report) == {"created": 2, "updated": 0, "unchanged": 0, "refused": 0, "users": 1}
    assert User.objects.get().check_password("a password that she knows")
    steps = HistoryEntry.objects.order_by("planned_at").values_list("name", "is_visible")
    assert list(steps) == [("Phone call", True), ("Interview", False)]
    assert list(SubmissionFile.objects.values_list("original_name", "size")) == [("cv.txt", 13)]
    assert counts(import_rows(content=example)[1])["unchanged"] == 2


def test_every_key_is_documented(documented):
    first_cells = "".join(re.findall(r"^\| (`.*?) \|", documented, re.MULTILINE))
    containers = {"user", "history", "submission", "answers", "files", "emails", "notes"}
    keys = set(re.findall(r"[a-z_]+", first_cells)) - containers
    parts = (
        rows._Person,
        rows._Step,
        rows._Submission,
        rows._Answer,
        rows._File,
        rows._Email,
        rows._Note,
    )
    wanted = {
        name for shape in (rows.ApplicationRow, *parts) for name in shape().fields
    } - containers
    assert keys == wanted
