"""Each condition of a purge or an erasure, with rows on both sides of it, and what is locked and
undone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.conf import settings as configured
from django.contrib.auth.models import Group, Permission, User
from django.db.models import QuerySet
from django.utils import timezone

from applications import privacy
from applications.models import (
    AccessLog,
    Application,
    ApplicationTag,
    ConsentRequest,
    FormSnapshot,
    Invitation,
    JobAlert,
    Message,
    Origin,
    SlotSet,
    Tag,
    Token,
    ToldVacancy,
)
from applications.operations import Move, answer, move
from applications.privacy import deletion, erasures, retention
from jobsite.models import Erasure
from tests.applications.applicants import make_anonymous
from tests.applications.makers import (
    make_application,
    make_step,
    make_token,
    make_user,
    stage_of_kind,
)
from tests.factories import make_vacancy

pytestmark = pytest.mark.django_db
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


def make_alert(at: Any, name: str, **values: Any) -> JobAlert:
    address = f"{name}@example.org"
    given = {"frequency": "daily", "language": "en", "ends_at": at + DAY, "created_at": at} | values
    return JobAlert.objects.create(address=address, address_folded=address, **given)


def make_email(at: Any, name: str, **values: Any) -> None:
    given = {
        "kind": "digest",
        "to": "a@example.org",
        "language": "en",
        "body": "",
        "finished_at": at,
    }
    Message.objects.create(subject=name, **given | values)


def names(model: Any, field: str) -> set[Any]:
    return set(model.objects.values_list(field, flat=True))


def test_applications_with_a_step_in_the_future_are_kept(at):
    old = at - 31 * DAY
    for name, planned_at, is_cancelled in (
        ("none", None, False),
        ("over", at - SECOND, False),
        ("now", at, False),
        ("coming", at + DAY, False),
        ("cancelled", at + DAY, True),
    ):
        application = make_application(created_at=old, given_name=name)
        if planned_at:
            make_step(application, planned_at=planned_at, is_cancelled=is_cancelled)
    under_way = make_application(created_at=old, given_name="under way")
    make_step(under_way, planned_at=at - DAY, ends_at=at + SECOND, uid="ab" * 16, zone="UTC")
    for name, closes_at in (("offered", at + DAY), ("offered before", at - DAY)):
        application = make_application(created_at=old, given_name=name)
        values = {
            "vacancy": application.vacancy,
            "minutes": 30,
            "zone": "UTC",
            "closes_at": closes_at,
        }
        application.offers.create(set=SlotSet.objects.create(**values))
    assert privacy.purge(before=at - 30 * DAY, now=at)["applications"] == 4
    assert names(Application, "given_name") == {"now", "coming", "under way", "offered"}


def test_tags_and_access_logs_of_deleted_applications_are_deleted(at):
    kept = make_application()
    for name, application in (
        ("in use", kept),
        ("unused", make_application(created_at=at - 31 * DAY)),
    ):
        ApplicationTag.objects.create(
            application=application, tag=Tag.objects.create(name=name, folded=name)
        )
    for pk, days in ((kept.pk, 31), (10**6, 29), (10**6, 31)):  # of deleted applications
        AccessLog.objects.create(application=pk, action="view", at=at - days * DAY)
    assert privacy.purge(before=at - 30 * DAY, now=at)["accesses"] == 1
    assert names(Tag, "name") == {"in use"}
    assert {(each.application, (at - each.at).days) for each in AccessLog.objects.all()} == {
        (kept.pk, 31),
        (10**6, 29),
    }


def test_applications_of_colleagues_are_deleted_without_a_permission(at):
    today = timezone.localdate(at)
    for name, due_on, given in (
        ("due", today - DAY, ""),
        ("today", today, ""),
        ("agreed", today - DAY, "yes"),
        ("hired", today - DAY, ""),
        ("pool", today - DAY, ""),
    ):
        purpose = "pool" if name == "pool" else "application"
        ConsentRequest.objects.create(
            application=make_application(given_name=name),
            purpose=purpose,
            text="",
            version=1,
            due_on=due_on,
            answer=given,
            answered_at=at if given else None,
        )
    for name, basis, informed_at, age in (
        ("untold", "interest", None, SECOND),
        ("in time", "interest", None, -SECOND),
        ("told", "interest", at, SECOND),
        ("applied", "request", None, SECOND),
    ):
        Origin.objects.create(
            application=make_application(given_name=name),
            channel="email",
            basis=basis,
            informed_at=informed_at,
            added_at=at - retention.INFORMED_WITHIN - age,
        )
    hired = Application.objects.filter(given_name="hired")
    move(hired, Move(stage=stage_of_kind("hired"), author=None, at=at))
    assert names(Application, "given_name") - {
        each.given_name for each in privacy.not_permitted(at)
    } == {
        "today",
        "agreed",
        "hired",
        "pool",
        "in time",
        "told",
        "applied",
    }
    assert privacy.purge(before=None, now=at)["applications"] == 2


def test_technical_rows_are_kept_until_their_end(at):
    month, week, cool_off = (
        retention.COLLEAGUE_MAIL_AGE,
        retention.ALERT_MAIL_AGE,
        configured.AXES_COOLOFF_TIME,
    )
    alert, author, role = (
        make_alert(at, "a"),
        make_user("author"),
        Group.objects.create(name="Role"),
    )
    for name, age in (("old", SECOND), ("new", -SECOND)):
        attempt = AccessAttempt.objects.create(username=name, failures_since_start=1)
        AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=at - cool_off - age)
        make_email(at - month - age, name)
        make_email(at - month - age, f"{name}, application", application=make_application())
        make_email(at - week - age, f"{name}, alert", alert=alert, kind="alert")
        Invitation.objects.create(
            email=name, role=role, author=author, language="en", sent_at=at - month - age
        )
        make_alert(at, f"{name}-unconfirmed", ends_at=at - age)
        make_alert(
            at, f"{name}-confirmed", ends_at=at - retention.NOT_ASKED_AGE - age, confirmed_at=at
        )
    make_email(None, "waiting, alert", alert=alert, kind="alert")

    counts = privacy.purge_credentials(now=at)

    kinds = (
        "failed_sign_ins",
        "emails_to_colleagues",
        "emails_of_alerts",
        "invitations",
        "job_alerts",
    )
    assert [counts[kind] for kind in kinds] == [1, 1, 1, 1, 2]
    assert names(AccessAttempt, "username") == names(Invitation, "email") == {"new"}
    assert names(Message, "subject") == {
        "new",
        "old, application",
        "new, application",
        "new, alert",
        "waiting, alert",
    }
    assert {each.address.split("@")[0] for each in JobAlert.objects.all()} == {
        "a",
        "new-unconfirmed",
        "new-confirmed",
    }


def test_alerts_forget_closed_vacancies_only(at):
    alert, age = make_alert(at, "a"), retention.TOLD_AGE
    for title, age_, until in (
        ("closed", age + SECOND, at - DAY),
        ("closed, new", age - SECOND, at - DAY),
        ("open", age + SECOND, at + DAY),
        ("endless", age + SECOND, None),
    ):
        vacancy = make_vacancy(title=title, publish_from=at - age_, publish_until=until)
        ToldVacancy.objects.create(alert=alert, vacancy=vacancy)
    privacy.purge_credentials(now=at)
    assert names(ToldVacancy, "vacancy__title") == {"closed, new", "open", "endless"}


def test_accounts_with_a_role_or_a_recent_date_are_kept(at):
    before = at - 30 * DAY
    for name, values in {
        "idle": {},
        "seen": {"last_login": before - SECOND},
        "root": {"is_superuser": True},
        "staff": {"is_staff": True},
        "new": {"date_joined": before + SECOND},
        "active": {"last_login": before + SECOND},
        "permitted": {},
        "member": {},
    }.items():
        make_user(name, **{"date_joined": before - DAY} | values)
    User.objects.get(username="permitted").user_permissions.add(Permission.objects.first())
    User.objects.get(username="member").groups.add(Group.objects.create(name="Role"))
    assert privacy.purge(before=before, now=at)["accounts"] == 2
    assert names(User, "username") == {"root", "staff", "new", "active", "permitted", "member"}


# --- erasures -------------------------------------------------------------------------------------


def test_every_erasure_is_recorded_and_repeated_after_a_restore(at):
    """The rows are stored again, as a backup has them."""
    user, alert = make_user("mia", email="mia@example.org"), make_alert(at, "an")
    own, alone = make_application(user=user), make_anonymous("bo@example.org")
    make_anonymous("mia@example.org", user=make_user("other"))
    make_alert(at, "other")
    rows = [User.objects.get(pk=user.pk), JobAlert.objects.get(pk=alert.pk)]
    rows += [Application.objects.get(pk=each.pk) for each in (own, alone)]
    kept = names(JobAlert, "pk") - {alert.pk}, names(Application, "pk") - {own.pk, alone.pk}

    privacy.erase(user=user)
    privacy.erase_alert(alert)
    privacy.erase_application(application=alone)
    assert Erasure.objects.count() == 4
    for row in rows:
        row.save(force_insert=True)
    make_user("anna")

    again = privacy.erase_again()
    assert (again["erased"], again["kept"], again["applications"], again["job_alerts"]) == (
        1,
        0,
        1,
        1,
    )
    assert (names(JobAlert, "pk"), names(Application, "pk")) == kept
    assert names(User, "username") == {"other", "anna"}
    assert Erasure.objects.count() == 4  # a repeated one is not recorded again


def test_account_that_became_staff_is_kept_after_a_restore(at):
    user = make_user("mia")
    stored = User.objects.get(pk=user.pk)
    privacy.erase(user=user)
    stored.is_staff = True
    stored.save(force_insert=True)
    assert privacy.erase_again()["kept"] == 1
    assert User.objects.filter(username="mia").exists()


def test_failed_sign_ins_go_with_the_last_row_of_a_mailbox(at):
    """Not those of a mailbox that has another application or an account."""
    make_user("owner", email="account@example.org")
    make_user("applicant2")
    for address in ("alone", "twice", "account", "claimed"):
        AccessAttempt.objects.create(username=f"{address}@example.org", failures_since_start=1)
        user = User.objects.get(username="applicant2") if address == "claimed" else None
        make_anonymous(f"{address}@example.org", user=user)
    make_anonymous("twice@example.org")
    for application in Application.objects.order_by("pk")[:4]:
        privacy.erase_application(application=application)
    assert names(AccessAttempt, "username") == {
        f"{each}@example.org" for each in ("twice", "account", "claimed")
    }


# --- locks and transactions -----------------------------------------------------------------------


@contextmanager
def locks(monkeypatch: Any) -> Iterator[list[str]]:
    """Collect the models whose rows are selected for update, on every database."""
    found: list[str] = []
    lock = QuerySet.select_for_update

    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        found.append(self.model.__name__)
        return lock(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(QuerySet, "select_for_update", recorded)
        yield found


def test_rows_are_locked_before_they_are_judged(at, monkeypatch):
    make_user("idle", date_joined=at - 99 * DAY)
    FormSnapshot.objects.create(digest="unused", sections=[])
    asked = make_application()
    ConsentRequest.objects.create(
        application=asked, purpose="application", text="", version=1, due_on=timezone.localdate(at)
    )
    for expected, action in (
        (
            ["Application"] * 2 + ["FormSnapshot", "User"],
            lambda: privacy.purge(before=at - 30 * DAY, now=at),
        ),
        (
            ["User", "Application", "JobAlert"],
            lambda: privacy.erase(user=make_user("mia"), address="a@b.be"),
        ),
        (["JobAlert"], lambda: privacy.erase_alert(make_alert(at, "an"))),
        (["Application"], lambda: answer(application=asked, is_agreed=True, at=at)),
    ):
        with locks(monkeypatch) as found:
            action()
        assert found == expected


def test_failure_undoes_the_whole_purge_and_erasure(at, monkeypatch):
    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError("no")

    user = make_user("mia", email="mia@example.org", date_joined=at - 99 * DAY)
    make_token(user)
    make_application(created_at=at - 99 * DAY, user=make_user("old"))
    alone, alert = make_anonymous("bo@example.org"), make_alert(at, "an")
    cases: list[tuple[Any, str, Callable[[], Any]]] = [
        (retention, "_not_permitted", lambda: privacy.purge(before=at - 30 * DAY, now=at)),
        (retention, "purge_unsaved", lambda: privacy.purge_credentials(now=at + 99 * DAY)),
        (erasures, "record", lambda: privacy.erase(user=user)),
        (erasures, "record", lambda: privacy.erase_alert(alert)),
        (erasures, "record", lambda: privacy.erase_application(application=alone)),
        (deletion, "_delete_log_of", lambda: privacy.erase(user=user)),
    ]

    def counts() -> list[int]:
        return [model._default_manager.count() for model in (Application, User, Token, JobAlert)]

    before = counts()
    for module, name, action in cases:
        with monkeypatch.context() as patch:
            patch.setattr(module, name, fail)
            with pytest.raises(OSError, match="no"):
                action()
        assert counts() == before, (module, name)
