"""`purge`: applications, accounts and expired rows."""

import json
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db.models import ProtectedError
from django.utils import timezone

from applications.models import AccessLog, Application, HistoryEntry, Token
from applications.privacy import deletion
from tests.applications.makers import make_application, make_step, make_token, make_user
from tests.applications.personal_data import NAME, dump, log, run, tables_containing
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db


@pytest.fixture
def accounts(at, recruiter):
    """Accounts with old and recent applications, and accounts without applications."""
    year = at - timedelta(days=365)
    old = {"date_joined": year}
    for name, dates in (("stale", [year]), ("both", [year, at]), ("idle", []), ("fresh", [at])):
        user = make_user(name, **old)
        for created_at in dates:
            application = make_application(user=user, created_at=created_at)
            make_step(application)
            AccessLog.objects.create(
                actor=recruiter, application=application.pk, action="view", at=created_at
            )
            log(recruiter, application)
    assert (
        make_application(user=make_user("moved", **old), created_at=year, updated_at=at).updated_at
        == at
    )
    make_user("newcomer")
    make_user("visitor", **old, last_login=at)
    make_user("employee", **old).groups.add(Group.objects.create(name="Colleagues"))
    make_token(make_user("client", **old))
    make_user("staff", **old, is_staff=True)


def usernames():
    return set(User.objects.values_list("username", flat=True))


def test_purge_deletes_old_data_only(accounts, at):
    before = usernames()
    applications = set(Application.objects.filter(updated_at__gte=at - timedelta(days=30)))

    code, out, _ = run("purge", "--older-than", 30)

    assert (code, out) == (
        0,
        "Deleted 2 applications without a change for 30 days, 2 accounts, 0 tokens, 0 sessions, "
        "0 failed sign-ins and 0 unused files (0 bytes).\n",
    )
    assert before - usernames() == {"stale", "idle"}
    assert set(Application.objects.all()) == applications
    assert len(applications) == 3
    assert (HistoryEntry.objects.count(), AccessLog.objects.count(), LogEntry.objects.count()) == (
        2,
        2,
        2,
    )
    assert run("purge", "--older-than", 30)[1].startswith("Deleted 0 applications")


def test_dry_run_of_a_purge_changes_nothing(accounts):
    command = ("purge", "--older-than", "30", "--format", "json")
    before = dump()

    dry = json.loads(run(*command, "--dry-run")[1])

    assert dump() == before
    real = json.loads(run(*command)[1])
    assert dry.pop("summary").startswith(
        "Dry run, nothing was deleted. Would delete 2 applications"
    )
    real.pop("summary")
    assert dry == real
    assert dry["days"] == 30


def test_purge_compares_the_last_change_to_the_second(at):
    for kept, days in ((None, 30), (10, 10)):  # the period of the site, and of the vacancy
        for seconds in (-1, 0, 1):
            make_application(
                vacancy=make_vacancy(
                    title=f"{days} days {seconds:+} s", applications_kept_days=kept
                ),
                created_at=at - timedelta(days=900),
                updated_at=at - timedelta(days=days, seconds=seconds),
            )

    run("purge", "--older-than", 30)

    left = Application.objects.values_list("vacancy__title", flat=True)
    assert set(left) == {"30 days -1 s", "30 days +0 s", "10 days -1 s", "10 days +0 s"}


def test_option_overrides_the_retention_setting(settings, at, monkeypatch):
    settings.APPLICATIONS_KEPT_DAYS = 100
    monkeypatch.setattr(deletion, "BATCH", 2)
    for days in (50, *range(200, 205)):
        make_application(created_at=at - timedelta(days=days))

    assert run("purge")[1].startswith("Deleted 5 applications without a change for 100 days")
    assert run("purge", "--older-than", 40)[1].startswith("Deleted 1 applications")


@pytest.mark.parametrize("days", ["0", "-5", "99999"])
def test_purge_refuses_an_impossible_number_of_days(days, at):
    make_application(created_at=at - timedelta(days=9000))

    code, out, err = run("purge", "--older-than", days)

    assert (code, out) == (2, "")
    assert err
    assert Application.objects.exists()


def test_purge_without_a_period_deletes_what_has_expired_only(jane, at, time_machine):
    make_application(user=jane)
    make_token(jane, timedelta(days=1))
    good = make_token(jane, timedelta(days=9))
    Session.objects.create(session_key="over", session_data="", expire_date=at + timedelta(days=1))
    Session.objects.create(session_key="good", session_data="", expire_date=at + timedelta(days=9))
    AccessAttempt.objects.create(username="jane", failures_since_start=1)
    time_machine.move_to(at + timedelta(days=2), tick=False)

    code, out, _ = run("purge")

    assert (code, out) == (
        0,
        "Deleted 0 applications without a change for the period of their vacancy, 0 accounts, "
        "1 tokens, 1 sessions, 1 failed sign-ins and 0 unused files (0 bytes).\n",
    )
    assert Token.objects.get().token_key == good[:15]
    assert Session.objects.get().session_key == "good"
    assert Application.objects.exists()
    assert not AccessAttempt.objects.exists()


def test_purged_account_leaves_no_data(person, time_machine, at):
    time_machine.move_to(at + timedelta(days=400), tick=False)
    User.objects.filter(username="other").update(last_login=timezone.now())

    run("purge", "--older-than", 365)

    # entries of the log about other rows stay
    left = {marker: tables_containing(marker) - {"django_admin_log"} for marker in person}
    assert left == {marker: set() for marker in person}
    assert usernames() == {"other", "recruiter"}
    assert not AccessLog.objects.exists()


@pytest.mark.slow("many cases")
def test_old_access_log_of_an_erased_applicant_is_purged(person, at, time_machine):
    run("erase_applicant", NAME)
    assert AccessLog.objects.count() == 4
    Application.objects.update(updated_at=at + timedelta(days=399))
    time_machine.move_to(at + timedelta(days=400), tick=False)

    run("purge", "--older-than", 365)

    assert AccessLog.objects.count() == 2


def test_protected_account_is_kept_and_counted(accounts, monkeypatch):
    delete = User.delete

    def protected(self, *args, **kwargs):
        if self.username == "stale":
            raise ProtectedError("no", {self})
        return delete(self, *args, **kwargs)

    monkeypatch.setattr(User, "delete", protected)

    code, out, _ = run("purge", "--older-than", 30)

    assert code == 0
    assert out.endswith(" 1 accounts kept because other rows refer to them.\n")
    assert "stale" in usernames()
