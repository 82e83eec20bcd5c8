"""erase_applicant, purge_applications and export_applicant."""

import json
import os
import stat
from datetime import timedelta
from importlib import import_module
from io import StringIO

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import ProtectedError
from django.test import Client
from django.utils import timezone

from applications.models import AccessLog, Application, HistoryEntry, StageChange, Token
from applications.privacy import deletion
from tests.applications.makers import (
    MINE,
    bearer,
    make_application,
    make_stage,
    make_step,
    make_token,
    make_user,
    signed_in,
)
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db

NAME, MAIL = "zyxjane", "zyxmail@example.org"
FIRST, LAST = "Zyxélise", "Zyxpeeters"


def run(*words):
    """Return (exit code, what went to stdout, what went to stderr)."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*map(str, words), stdout=out, stderr=err)
    except SystemExit as stop:
        return stop.code, out.getvalue(), err.getvalue()
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), err.getvalue()


def dump():
    """Return every value of every table as text."""
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            found[table] = [[str(value) for value in row] for row in cursor.fetchall()]
    return found


def holding(marker):
    """Return the tables that contain `marker`, in any case and JSON escaping."""
    marks = {marker.casefold(), json.dumps(marker)[1:-1].casefold()}
    return {
        table
        for table, rows in dump().items()
        if any(mark in value.casefold() for row in rows for value in row for mark in marks)
    }


def log(user, row, message="", text=None):
    kind = ContentType.objects.get_for_model(row)
    return LogEntry.objects.create(
        user=user,
        content_type=kind,
        object_id=str(row.pk),
        object_repr=(text or str(row))[:200],
        action_flag=CHANGE,
        change_message=message,
    )


def life(name, mail, first, last, recruiter):
    """Create rows of every kind for an applicant. Return the values that identify them."""
    user = make_user(name, email=mail, first_name=first, last_name=last)
    vacancy = make_vacancy()
    for n in range(2):
        application = make_application(
            user=user, vacancy=vacancy, created_at=timezone.now() - timedelta(hours=n)
        )
        step = make_step(application, f"Talk with {first}", result=f"{last} was good")
        StageChange.objects.create(application=application, stage=make_stage(), author=recruiter)
        AccessLog.objects.create(actor=recruiter, application=application.pk, action="view")
        log(recruiter, step)
        log(recruiter, application, message=json.dumps([{"added": {"name": "step", "object": str(step)}}]))
    log(recruiter, user, message=json.dumps([{"changed": {"fields": ["Email"]}}]))
    log(
        recruiter,
        vacancy,
        message=json.dumps([{"added": {"name": "file", "object": f"for {first} {last} «{name}»"}}]),
    )
    log(recruiter, vacancy, text=f"Job of {mail.upper()}", message=f"Talked to {name}.")
    log(user, vacancy)
    token = make_token(user)
    log(recruiter, Token.objects.get(user=user))
    client = signed_in(user)
    for kwargs in ({}, {"headers": bearer(token)}):
        assert len(client.get(MINE, **kwargs).json()["data"]) == 2
    for typed in (name, mail, name.upper()):
        Client().post("/v1/auth/token", {"username": typed, "password": "x"}, content_type="application/json")
        Client().post(f"/admin/login/?next=/{typed}", {"username": typed, "password": "x"})
    return [name, mail, first, last, token[:15], token, client.cookies["sessionid"].value]


@pytest.fixture
def recruiter(db):
    return User.objects.create_superuser("recruiter")


@pytest.fixture
def person(settings, at, recruiter):
    """The values that identify a person, with another person who must not be affected."""
    settings.RATE_LIMIT = "600/min"
    life("other", "other@example.org", "Jan", "Janssens", recruiter)
    return life(NAME, MAIL, FIRST, LAST, recruiter)


# --- Erasing -----------------------------------------------------------------------------------


def test_erasure_removes_all_data_of_the_applicant(person, caplog):
    caplog.set_level("DEBUG")
    assert all(holding(mark) for mark in person if len(mark) != 64)  # the token in clear is nowhere even now

    code, out, err = run("erase_applicant", NAME)

    assert code == 0
    assert {mark: holding(mark) for mark in person} == {mark: set() for mark in person}
    kept = repr(cache._cache).casefold() + repr(cache._expire_info).casefold()
    assert "rate:" in kept
    said = (out + err + caplog.text).casefold()
    assert not [mark for mark in person if mark.casefold() in kept + said]
    assert not Session.objects.filter(pk=person[-1]).exists()
    assert Client(headers=bearer(person[-2])).get(MINE).status_code == 401


def test_erasure_does_not_affect_others(person, recruiter):
    other = User.objects.get(username="other")
    mine = Application.objects.of(User.objects.get(username=NAME)).values_list("pk", flat=True)
    entries = set(
        LogEntry.objects.filter(change_message__contains="other").values_list("pk", "change_message")
    )
    accesses = AccessLog.objects.count()
    before = dump()

    run("erase_applicant", NAME)

    after = dump()
    for table in ("vacancies_vacancy", "applications_stage", "applications_status", "axes_accesslog"):
        assert after[table] == before[table]
    assert Application.objects.of(other).count() == 2
    assert Application.objects.exclude(user=other).count() == 0 == len(mine)
    assert (StageChange.objects.count(), HistoryEntry.objects.count()) == (4, 2)
    assert (Token.objects.count(), Session.objects.count()) == (1, 1)
    assert AccessAttempt.objects.filter(username="other").exists()
    assert entries <= set(LogEntry.objects.values_list("pk", "change_message"))
    assert AccessLog.objects.count() == accesses  # on record by number only
    assert set(User.objects.values_list("username", flat=True)) == {"other", "recruiter"}


def test_log_entries_about_other_rows_are_kept_without_the_name(person, recruiter):
    run("erase_applicant", NAME)

    kept = LogEntry.objects.filter(change_message__contains="[erased]").order_by("pk")
    assert [entry.change_message for entry in kept] == [
        '[{"added": {"name": "file", "object": "for [erased] \\u00ab[erased]\\u00bb"}}]',
        "Talked to [erased].",
    ]
    assert kept[1].object_repr == "Job of [erased]"
    assert kept[0].get_change_message()


def test_name_inside_another_word_is_not_replaced(recruiter, at):
    make_user("an", email="")
    vacancy = make_vacancy(title="Anna, an-other, an@x.org, an.b and Jan; an.")
    entry = log(recruiter, vacancy, message='[{"changed": {"fields": ["Plan"]}}]')
    plain = log(recruiter, vacancy, text="Plan of Anna")

    run("erase_applicant", "an")

    entry.refresh_from_db()
    plain.refresh_from_db()
    assert entry.object_repr == "Anna, an-other, an@x.org, an.b and Jan; [erased]."
    assert entry.change_message == '[{"changed": {"fields": ["Plan"]}}]'
    assert plain.object_repr == "Plan of Anna"


def test_erasure_reports_deleted_rows(person):
    assert run("erase_applicant", NAME)[1] == (
        "Erased an account with 2 applications, 2 steps, 1 tokens, 1 sessions, 3 failed sign-ins, "
        "7 entries of the admin's log (2 more cleaned).\n"
    )


def test_dry_run_of_an_erasure_changes_nothing(person):
    before = dump()

    dry = json.loads(run("erase_applicant", NAME, "--dry-run", "--format", "json")[1])

    assert dump() == before
    real = json.loads(run("erase_applicant", NAME, "--format", "json")[1])
    assert dry.pop("summary").startswith("Dry run, nothing was deleted. Would erase an account with 2 ")
    assert real.pop("summary").startswith("Erased an account with 2 ")
    assert dry == real


@pytest.mark.parametrize("values", [{"is_staff": True}, {"is_superuser": True}])
def test_staff_account_is_not_erased(values, at):
    application = make_application(user=make_user("zyxstaff", **values))

    code, _, said = run("erase_applicant", "zyxstaff")

    assert code == 1
    assert said.startswith("This is a staff account")
    assert "zyx" not in said
    assert Application.objects.get() == application


@pytest.mark.parametrize("command", ["erase_applicant", "export_applicant", "revoke_tokens"])
def test_unknown_account_is_a_usage_error_without_the_name(command):
    code, out, said = run(command, "zyxnobody")

    assert (code, out, said) == (2, "", "There is no account of this name.")


def test_protected_account_is_kept_completely(person, monkeypatch):
    before = dump()

    def protected(self, *args, **kwargs):
        raise ProtectedError("no", {make_vacancy()})

    monkeypatch.setattr(User, "delete", protected)
    code, _, said = run("erase_applicant", NAME)

    assert (code, said) == (1, "Other rows refer to this account; nothing was deleted: vacancies.")
    after = dump()
    assert {table for table in after if after[table] != before[table]} <= {
        "vacancies_vacancy",
        "sqlite_sequence",
    }


# --- Retention ---------------------------------------------------------------------------------


@pytest.fixture
def ages(at, recruiter):
    """Applicants with an old application, with an old and a new one, and others."""
    year = at - timedelta(days=365)
    old = {"date_joined": year}
    for name, moments in (("stale", [year]), ("both", [year, at]), ("idle", []), ("fresh", [at])):
        user = make_user(name, **old)
        for moment in moments:
            application = make_application(user=user, created_at=moment)
            make_step(application)
            AccessLog.objects.create(actor=recruiter, application=application.pk, action="view", at=moment)
            log(recruiter, application)
    moved = make_application(user=make_user("moved", **old), created_at=year, updated_at=at)
    assert moved.updated_at == at
    make_user("newcomer")
    make_user("visitor", **old, last_login=at)
    make_user("employee", **old).groups.add(Group.objects.create(name="Colleagues"))
    make_token(make_user("client", **old))
    make_user("staff", **old, is_staff=True)


def names():
    return set(User.objects.values_list("username", flat=True))


def test_purge_deletes_old_data_only(ages, at):
    everybody = names()
    applications = set(Application.objects.filter(updated_at__gte=at - timedelta(days=30)))

    code, out, _ = run("purge_applications", "--older-than", 30)

    assert (code, out) == (
        0,
        "Deleted 2 applications without a change for 30 days, 2 accounts, 0 tokens.\n",
    )
    assert everybody - names() == {"stale", "idle"}
    assert set(Application.objects.all()) == applications
    assert len(applications) == 3
    assert (HistoryEntry.objects.count(), AccessLog.objects.count(), LogEntry.objects.count()) == (2, 2, 2)
    assert run("purge_applications", "--older-than", 30)[1].startswith("Deleted 0 applications")


def test_dry_run_of_a_purge_changes_nothing(ages):
    words = ("purge_applications", "--older-than", "30", "--format", "json")
    before = dump()

    dry = json.loads(run(*words, "--dry-run")[1])

    assert dump() == before
    real = json.loads(run(*words)[1])
    assert dry.pop("summary").startswith("Dry run, nothing was deleted. Would delete 2 applications")
    real.pop("summary")
    assert dry == real
    assert dry["days"] == 30


def test_purge_compares_the_last_change_to_the_second(at):
    for seconds in (-1, 0, 1):
        make_application(
            vacancy=make_vacancy(title=str(seconds)),
            created_at=at - timedelta(days=900),
            updated_at=at - timedelta(days=30, seconds=seconds),
        )

    run("purge_applications", "--older-than", 30)

    left = Application.objects.values_list("vacancy__title", flat=True)
    assert set(left) == {"-1", "0"}


def test_option_overrides_the_retention_setting(settings, at):
    settings.APPLICATIONS_KEPT_DAYS = 100
    for days in (50, 200):
        make_application(created_at=at - timedelta(days=days))

    assert run("purge_applications")[1].startswith("Deleted 1 applications without a change for 100 days")
    assert run("purge_applications", "--older-than", 40)[1].startswith("Deleted 1 applications")


@pytest.mark.parametrize(
    "words", [(), ("--older-than", "0"), ("--older-than", "-5"), ("--older-than", "99999")]
)
def test_purge_requires_a_number_of_days(settings, words, at):
    settings.APPLICATIONS_KEPT_DAYS = 0
    make_application(created_at=at - timedelta(days=9000))

    code, out, said = run("purge_applications", *words)

    assert (code, out) == (2, "")
    assert said
    assert Application.objects.exists()


def test_purge_credentials_deletes_expired_credentials_only(jane, at, time_machine):
    make_application(user=jane)
    make_token(jane, timedelta(days=1))
    good = make_token(jane, timedelta(days=9))
    Session.objects.create(session_key="over", session_data="", expire_date=at + timedelta(days=1))
    Session.objects.create(session_key="good", session_data="", expire_date=at + timedelta(days=9))
    AccessAttempt.objects.create(username="jane", failures_since_start=1)
    time_machine.move_to(at + timedelta(days=2), tick=False)

    code, out, _ = run("purge_credentials")

    assert (code, out) == (0, "Deleted 1 tokens, 1 sessions and 1 failed sign-ins that had expired.\n")
    assert Token.objects.get().token_key == good[:15]
    assert Session.objects.get().session_key == "good"
    assert Application.objects.exists()
    assert not AccessAttempt.objects.exists()


def test_expired_tokens_are_deleted(jane, at, time_machine):
    make_token(jane, timedelta(days=1))
    good = make_token(jane, timedelta(days=9))
    time_machine.move_to(at + timedelta(days=2), tick=False)

    assert run("purge_applications", "--older-than", 30)[1].endswith(" 1 tokens.\n")

    assert Token.objects.get().token_key == good[:15]


@pytest.fixture
def jane(at):
    return make_user("jane")


def test_purged_account_leaves_no_data(person, time_machine, at):
    time_machine.move_to(at + timedelta(days=400), tick=False)
    User.objects.filter(username="other").update(last_login=timezone.now())

    run("purge_applications", "--older-than", 365)

    assert {mark: holding(mark) for mark in person} == {mark: set() for mark in person}
    assert names() == {"other", "recruiter"}
    assert not AccessLog.objects.exists()


def test_old_access_log_of_an_erased_applicant_is_purged(person, at, time_machine):
    run("erase_applicant", NAME)
    assert AccessLog.objects.count() == 4
    Application.objects.update(updated_at=at + timedelta(days=399))
    time_machine.move_to(at + timedelta(days=400), tick=False)

    run("purge_applications", "--older-than", 365)

    assert AccessLog.objects.count() == 2


def test_protected_account_is_kept_and_counted(ages, monkeypatch):
    delete = User.delete

    def protected(self, *args, **kwargs):
        if self.username == "stale":
            raise ProtectedError("no", {self})
        return delete(self, *args, **kwargs)

    monkeypatch.setattr(User, "delete", protected)

    code, out, _ = run("purge_applications", "--older-than", 30)

    assert code == 0
    assert out.endswith("1 accounts, 0 tokens. 1 accounts kept because other rows refer to them.\n")
    assert "stale" in names()


def test_many_applications_are_deleted_in_batches(at, monkeypatch):
    monkeypatch.setattr(deletion, "BATCH", 2)
    user = make_user()
    for n in range(5):
        make_application(user=user, created_at=at - timedelta(days=100 + n))

    assert run("purge_applications", "--older-than", 30)[1].startswith("Deleted 5 applications")


# --- Telling -----------------------------------------------------------------------------------


def test_export_has_all_data(at, recruiter):
    user = make_user(NAME, email=MAIL, first_name=FIRST, last_name=LAST)
    vacancy = make_vacancy(title="Nurse")
    application = make_application(user=user, vacancy=vacancy, stage=make_stage("zyxstage1", en="Received"))
    rejected = make_stage("zyxstage2", en="Not selected", embargo_days=2)
    StageChange.objects.create(application=application, stage=rejected, author=recruiter, at=at)
    make_step(application, "Talk", result="good", is_visible=False)
    AccessLog.objects.create(actor=recruiter, application=application.pk, action="view", at=at)
    make_application(vacancy=make_vacancy(title="Foreign"))
    token = make_token(user)
    client = signed_in(user)
    Client().post("/v1/auth/token", {"username": MAIL, "password": "x"}, content_type="application/json")
    log(recruiter, user)

    code, out, err = run("export_applicant", NAME)

    assert (code, err) == (0, "")
    told = json.loads(out)
    hour, now = "2026-03-02 08:30:15+00:00", "2026-03-02 09:30:15+00:00"
    last_login = told["account"].pop("last_login")
    assert last_login == now
    assert told == {
        "account": {
            "username": NAME,
            "email": MAIL,
            "first_name": FIRST,
            "last_name": LAST,
            "is_active": True,
            "date_joined": now,
        },
        "applications": [
            {
                "id": application.pk,
                "vacancy": {"id": vacancy.pk, "title": "Nurse"},
                "is_spontaneous": False,
                "created_at": hour,
                "updated_at": hour,
                "statuses": [{"at": hour, "status": "Received"}],
                "history": [
                    {
                        "name": "Talk",
                        "result": "good",
                        "planned_at": hour,
                        "is_visible": False,
                        "created_at": hour,
                        "updated_at": hour,
                    }
                ],
            }
        ],
        "tokens": [{"created": now, "expiry": "2026-04-01 09:30:15+00:00"}],
        "sessions": [{"expire_date": "2026-03-02 21:30:15+00:00"}],
        "changes_of_account": [{"action_time": told["changes_of_account"][0]["action_time"]}],
        "failed_sign_ins": [{"at": now, "address": "127.0.0.1", "browser": "<unknown>"}],
        "accesses": [
            {"application": application.pk, "action": "seen", "at": now},
            {"application": application.pk, "action": "exported", "at": now},
        ],
    }
    row = Token.objects.get()
    for secret in (user.password, row.digest, row.token_key, row.password_mark, token):
        assert secret not in out
    assert client.cookies["sessionid"].value not in out
    assert "recruiter" not in out  # who looked is not the person's own data
    access = AccessLog.objects.get(action="export")
    assert (access.application, access.actor, access.at) == (application.pk, None, at)


def test_export_has_statuses_after_their_embargo(at, time_machine):
    application = make_application(user=make_user(NAME), stage=make_stage(en="Received", embargo_days=1))
    StageChange.objects.create(
        application=application, stage=make_stage(en="Not selected", embargo_days=2), at=at
    )

    def statuses():
        (told,) = json.loads(run("export_applicant", NAME)[1])["applications"]
        return [status["status"] for status in told["statuses"]]

    assert statuses() == ["Received"]
    time_machine.move_to(at + timedelta(days=2), tick=False)
    assert statuses() == ["Received", "Not selected"]


def test_exported_file_is_readable_by_its_owner_only(tmp_path, person, caplog):
    path = tmp_path / "export.json"

    code, out, err = run("export_applicant", NAME, "--output", path)

    assert (code, out, err) == (0, "Exported an account with 2 applications.\n", "")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert json.loads(path.read_text())["account"]["username"] == NAME
    assert FIRST in path.read_text()
    assert NAME not in caplog.text
    assert run("export_applicant", NAME, "--output", path)[0] == 1  # never over something
    assert run("export_applicant", NAME, "--output", tmp_path / "no" / "where")[0] == 1


def test_export_of_an_account_without_data(jane):
    told = json.loads(run("export_applicant", "jane", "--format", "json")[1])

    assert told["account"]["username"] == "jane"
    assert [value for key, value in told.items() if key != "account"] == [[]] * 6


def test_sessions_are_stored_in_the_database(settings):
    """Erasure reads the session table, so the session engine must use it."""
    engine = import_module(settings.SESSION_ENGINE)

    assert engine.SessionStore.get_model_class() is Session
