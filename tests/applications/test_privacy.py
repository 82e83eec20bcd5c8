"""erase_applicant and export_applicant."""

import json
import os
import stat
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db.models import ProtectedError, Q
from django.test import Client

from applications import privacy
from applications.models import AccessLog, Application, HistoryEntry, Message, StageChange, Token
from tests.applications.makers import (
    MINE,
    bearer,
    make_application,
    make_file,
    make_stage,
    make_step,
    make_token,
    make_user,
    signed_in,
)
from tests.applications.personal_data import (
    FIRST,
    LAST,
    MAIL,
    NAME,
    dump,
    log,
    run,
    tables_containing,
)
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db


# --- Erasure -----------------------------------------------------------------------------------


def test_erasure_removes_all_data_of_the_applicant(person, caplog):
    caplog.set_level("DEBUG")
    # Tokens are stored as hashes only.
    assert all(tables_containing(marker) for marker in person if len(marker) != 64)

    other = User.objects.get(username="other")
    messages = LogEntry.objects.values_list("pk", "change_message")
    entries, accesses = (
        set(messages.filter(change_message__contains="other")),
        AccessLog.objects.count(),
    )
    before = dump()

    code, out, err = run("erase_applicant", NAME)

    assert code == 0
    assert out == (
        "Erased an account with 2 applications, 0 files, 2 emails, 0 notes, 2 steps, 0 job "
        "alerts, 1 tokens, 1 sessions, 3 failed sign-ins, 9 entries of the admin's log.\n"
    )
    # entries of the log about other rows stay as they are, and are listed
    left = {"django_admin_log"}
    assert {marker: tables_containing(marker) - left for marker in person} == {
        marker: set() for marker in person
    }
    assert entries <= set(messages.all())
    entries_left = LogEntry.objects.filter(
        Q(object_repr__icontains="zyx") | Q(change_message__contains="zyx")
    )
    kept = ", ".join(map(str, sorted(entries_left.values_list("pk", flat=True))))
    assert err == (
        "These may mention the person. Read them, and change what does:\n"
        f"  entries of the admin's log: {kept}\n"
    )
    cached = repr(cache._cache).casefold() + repr(cache._expire_info).casefold()
    assert "rate:" in cached
    output = (out + err + caplog.text).casefold()
    assert not [marker for marker in person if marker.casefold() in cached + output]
    assert not Session.objects.filter(pk=person[-1]).exists()
    assert Client(headers=bearer(person[-2])).get(MINE).status_code == 401

    # others are not affected
    after = dump()
    for table in ("vacancies_vacancy", "applications_stage", "applications_status"):
        assert after[table] == before[table]
    assert Application.objects.of(other).count() == Application.objects.count() == 2
    assert (StageChange.objects.count(), HistoryEntry.objects.count()) == (4, 2)
    assert (Token.objects.count(), Session.objects.count()) == (1, 1)
    assert AccessAttempt.objects.filter(username="other").exists()
    assert AccessLog.objects.count() == accesses  # they contain the application's id only
    assert set(User.objects.values_list("username", flat=True)) == {"other", "recruiter"}


def test_account_deletes_only_its_own_failed_sign_ins(at):
    """Whoever applies with a colleague's address, or has it in an account, does not reset their
    lockout.
    """
    colleague = make_user("boss", email="boss@example.org", is_staff=True)
    user = make_user("zyxjane", email="Boss@example.org")
    make_application(user=user, email="boss@example.org", email_folded="boss@example.org")
    for typed in ("boss", "BOSS@example.org", "zyxjane"):
        AccessAttempt.objects.create(username=typed, failures_since_start=1, attempt_time=at)

    assert [each["at"] for each in privacy.export(user=user, now=at)["failed_sign_ins"]] == [at]
    assert run("erase_applicant", "zyxjane")[0] == 0

    left = AccessAttempt.objects.order_by("pk").values_list("username", flat=True)
    assert (list(left), User.objects.get()) == (["boss", "BOSS@example.org"], colleague)


def test_staff_account_is_not_erased(at):
    for right in ("is_staff", "is_superuser"):
        user = make_user(f"zyx{right}", **{right: True})
        make_application(user=user)
        code, _, err = run("erase_applicant", user.username)
        assert (code, err.startswith("This is a staff account"), "zyx" in err) == (1, True, False)
    assert Application.objects.count() == 2


def test_unknown_account_is_a_usage_error_without_the_name():
    commands = ("erase_applicant", "export_applicant", "revoke_tokens")
    expected = dict.fromkeys(commands, (2, "", "There is no account of this name."))
    assert {command: run(command, "zyxnobody") for command in commands} == expected


def test_protected_account_is_kept_completely(person, monkeypatch):
    before = dump()

    def protected(self, *args, **kwargs):
        raise ProtectedError("no", {make_vacancy()})

    monkeypatch.setattr(User, "delete", protected)
    code, _, err = run("erase_applicant", NAME)

    assert (code, err) == (1, "Other rows refer to this account; nothing was deleted: vacancies.")
    after = dump()
    different = {table for table in after if after[table] != before[table]}
    assert different <= {"vacancies_vacancy", "sqlite_sequence"}


# --- Export ------------------------------------------------------------------------------------


def test_export_has_all_data(at, recruiter, time_machine):
    user = make_user(NAME, email=MAIL, first_name=FIRST, last_name=LAST)
    vacancy = make_vacancy(title="Nurse")
    application = make_application(
        user=user, vacancy=vacancy, stage=make_stage("zyxstage1", en="Received")
    )
    rejected = make_stage("zyxstage2", en="Not selected", embargo_days=2)
    StageChange.objects.create(application=application, stage=rejected, author=recruiter, at=at)
    make_step(application, "Talk", result="good", is_visible=False)
    AccessLog.objects.create(actor=recruiter, application=application.pk, action="view", at=at)
    make_application(vacancy=make_vacancy(title="Foreign"))
    email = Message.objects.create(
        application=application, kind="template", to=MAIL, language="en", subject=FIRST
    )
    make_file(email, f"{LAST}.pdf", size=1, sha256="0")
    token = make_token(user)
    client = signed_in(user)
    Client().post(
        "/v1/auth/token", {"username": MAIL, "password": "x"}, content_type="application/json"
    )
    log(recruiter, user)

    code, out, err = run("export_applicant", NAME)

    assert (code, err) == (0, "")
    exported = json.loads(out)
    hour, now = "2026-03-02 08:30:15+00:00", "2026-03-02 09:30:15+00:00"
    texts = dict.fromkeys(("given_name", "family_name", "email", "phone"), "")
    nothing = dict.fromkeys(
        ("reference", "verified_at", "withdrawn_at", "rating", "submission", "origin", "owner")
    )
    step = {"name": "Talk", "result": "good", "planned_at": hour, "is_visible": False}
    assert exported == {
        "account": {
            "username": NAME,
            "email": MAIL,
            "first_name": FIRST,
            "last_name": LAST,
            "is_active": True,
            "date_joined": now,
            "last_login": now,
        },
        "applications": [
            texts
            | nothing
            | {
                "id": application.pk,
                "vacancy": {"id": vacancy.pk, "title": "Nurse"},
                "language": "en",
                "is_spontaneous": False,
                "is_repeated": False,
                "created_at": hour,
                "updated_at": hour,
                "emails": [
                    {
                        "to": MAIL,
                        "subject": FIRST,
                        "body": "",
                        "state": "queued",
                        "queued_at": now,
                        "finished_at": None,
                        "files": [
                            {
                                "name": f"{LAST}.pdf",
                                "size": 1,
                                "kind": "pdf",
                                "sha256": "0",
                                "scan": "off",
                            }
                        ],
                    }
                ],
                "notes": [],
                "earlier_vacancies": [],
                "reasons": [],
                "scorecards": [],
                "consent_requests": [],
                "tags": [],
                "statuses": [{"at": hour, "status": "Received"}],
                "history": [step | {"created_at": hour, "updated_at": hour}],
            }
        ],
        "tokens": [{"created": now, "expiry": "2026-04-01 09:30:15+00:00"}],
        "sessions": [{"expire_date": "2026-03-02 21:30:15+00:00"}],
        "changes_of_account": [{"action_time": exported["changes_of_account"][0]["action_time"]}],
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
    assert "recruiter" not in out  # the actor is not personal data of the applicant
    access = AccessLog.objects.get(action="export")
    assert (access.application, access.actor, access.at) == (application.pk, None, at)
    time_machine.move_to(at + timedelta(days=2), tick=False)  # the end of the embargo
    [later] = json.loads(run("export_applicant", NAME)[1])["applications"]
    assert [status["status"] for status in later["statuses"]] == ["Received", "Not selected"]


def test_exported_file_is_readable_by_its_owner_only(tmp_path, caplog):
    make_user(NAME, first_name=FIRST)
    path = tmp_path / "export.json"

    code, out, err = run("export_applicant", NAME, "--output", path)

    assert (code, out, err) == (0, "Exported an account with 0 applications.\n", "")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert json.loads(path.read_text())["account"]["username"] == NAME
    assert FIRST in path.read_text()
    assert NAME not in caplog.text
    # An existing file is not overwritten.
    assert run("export_applicant", NAME, "--output", path)[0] == 1
    assert run("export_applicant", NAME, "--output", tmp_path / "no" / "where")[0] == 1
