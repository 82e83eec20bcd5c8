"""What applicants do themselves: verification, claiming, accounts, withdrawal."""

from contextlib import ExitStack
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from applications import operations
from applications.models import Application, Message, Stage, StageChange
from applications.querysets import accounts_with, folded_address
from applications.submissions import links
from tests.applications.applicants import ADDRESS, make_anonymous, stages_of
from tests.applications.makers import PASSWORD, make_application, make_stage, make_user
from tests.parallel import at_once, waiting

pytestmark = pytest.mark.django_db


def owners():
    return list(Application.objects.order_by("pk").values_list("user__username", flat=True))


@pytest.fixture
def withdrawn():
    """The only stage of this kind."""
    Stage.objects.filter(kind="withdrawn").delete()
    stage = make_stage("Gone", embargo_days=3, en="Withdrawn")
    Stage.objects.filter(pk=stage.pk).update(kind="withdrawn")
    return stage


# --- Addresses and links ------------------------------------------------------------------------


def test_similar_addresses_are_different_people():
    """Databases and Unicode consider some of these equal, mail servers do not."""
    assert folded_address("MIA@example.org") == folded_address(" mia@EXAMPLE.org ") == ADDRESS
    assert len(folded_address("\ufdfa" * 80 + "ß@x.example")) == 80 + len("ß@x.example")
    for number, (one, other) in enumerate(
        [
            ("x@strasse.example", "x@straße.example"),
            ("mike@example.org", "mi\u212ae@example.org"),  # the Kelvin sign
            ("sam@example.org", "\u017fam@example.org"),  # a long s
            ("x@file.example", "x@\ufb01le.example"),  # a ligature
            ("y@example.org", "y@\uff45xample.org"),  # full width
            ("mia@example.org", "mia+jobs@example.org"),
        ]
    ):
        make_user(email=other)
        proven, foreign = make_anonymous(one), make_anonymous(other)
        assert accounts_with(one) == []
        user = make_user(f"owner{number}")
        assert operations.claim(proven=proven, user=user, at=proven.created_at) == [proven.pk], one
        assert list(Application.objects.from_address(other)) == [foreign]
        assert owners()[-2:] == [user.username, None]


def test_nobody_has_the_empty_address():
    make_user("no-mail", email="")
    make_application()

    assert accounts_with("") == accounts_with(" ") == []
    assert not Application.objects.from_address("").exists()


def test_link_opens_its_application_for_thirty_days(at, time_machine):
    application, other = make_anonymous(), make_anonymous()
    token = links.receipt_path(application).rpartition("/")[2]

    assert links.opened_by(token) == application != other
    assert ADDRESS not in token
    time_machine.move_to(at + timedelta(days=29, hours=23), tick=False)
    assert links.opened_by(token) == application
    time_machine.move_to(at + timedelta(days=30, seconds=1), tick=False)
    assert links.opened_by(token) is None


def test_imported_application_without_a_reference_has_a_link(at):
    first, other = make_application(email=ADDRESS), make_application(email=ADDRESS)
    token = links.receipt_token(first)

    assert (links.opened_by(token), links.opened_by(links.receipt_token(other))) == (first, other)
    assert len(token.partition(":")[0]) > links.REFERENCE_MAX
    # after a restore, another application has the number
    Application.objects.filter(pk=first.pk).update(created_at=at)
    assert links.opened_by(token) is None


def test_forged_links_open_nothing():
    token = links.receipt_path(make_anonymous()).rpartition("/")[2]
    reference, time, signature = token.split(":")

    foreign = make_anonymous().reference
    forged = [
        "",
        "x",
        "\0",
        "::",
        f"{foreign}:{time}:{signature}",
        f"{reference}:{time}:",
        f"{token}a",
    ]
    forged += [
        token[:-1],
        token.lower(),
        f"{reference}:zzzzzz:{signature}",
        f"{reference}:{signature}",
    ]
    assert [links.opened_by(each) for each in forged] == [None] * len(forged)
    Application.objects.all().delete()
    assert links.opened_by(token) is None


# --- Verification and claiming ------------------------------------------------------------------


def test_account_claims_the_applications_of_the_address_only(at):
    mine, upper = make_anonymous(verified_at=None), make_anonymous("MIA@example.ORG")
    make_anonymous("bob@example.org")
    make_anonymous(user=make_user("other"))  # in an account already
    make_application(user=make_user("imported", email=ADDRESS))
    mia = make_user("mia", email="elsewhere@example.org")

    assert operations.claim(proven=mine, user=mia, at=at) == [mine.pk, upper.pk]

    assert owners() == ["mia", "mia", None, "other", "imported"]
    mine.refresh_from_db()
    assert mine.verified_at == at
    operations.verify(application=mine, at=at + timedelta(days=1))
    mine.refresh_from_db()
    assert mine.verified_at == at  # the first one is kept
    assert operations.claim(proven=mine, user=make_user("late"), at=at) == []
    assert owners()[:2] == ["mia", "mia"]


def test_new_account_has_the_address_and_the_applications(at):
    application = make_anonymous("Mia@Example.org")
    make_anonymous("mia@example.org")

    user = operations.create_account(proven=application, password=PASSWORD, at=at)

    user.refresh_from_db()
    assert (user.username, user.email) == ("mia@example.org", "Mia@Example.org")
    assert (user.get_full_name(), user.is_staff, user.is_active) == ("Mia Maes", False, True)
    assert user.check_password(PASSWORD)
    assert owners() == ["mia@example.org"] * 2


@pytest.mark.parametrize("values", [{"email": "MIA@example.org"}, {"username": ADDRESS}])
def test_second_account_of_an_address_is_not_created(at, values):
    application = make_anonymous()
    user = make_user(values.pop("username", "first"), **values)

    with pytest.raises(operations.AccountExistsError):
        operations.create_account(proven=application, password=PASSWORD, at=at)
    assert (User.objects.count(), owners()) == (1, [None])

    User.objects.filter(pk=user.pk).delete()
    with pytest.raises(User.DoesNotExist):
        operations.claim(proven=application, user=user, at=at)
    assert owners() == [None]
    long = f"{'a' * 60}@{'b' * 60}.{'c' * 60}.example"  # too long for a user name
    assert operations.new_account(make_anonymous(long)) is None


# --- Withdrawal -----------------------------------------------------------------------------------


def test_withdrawal_moves_the_application_and_queues_an_email(at, withdrawn):
    application = make_anonymous(stage=make_stage("Inbox"))

    assert (
        operations.withdraw_application(
            application=application, base_url="https://x.example", at=at
        )
        is True
    )

    application = Application.objects.with_visible_status().get()
    assert (application.withdrawn_at, application.updated_at) == (at, at)
    assert stages_of(application) == ["Inbox", "Gone"]
    assert StageChange.objects.get(stage=withdrawn).author is None
    assert application.visible_status(at=at) == withdrawn.status  # without its embargo
    message = Message.objects.get()
    assert (message.kind, message.to, message.application) == ("withdrawal", ADDRESS, application)

    assert (
        operations.withdraw_application(application=application, at=at + timedelta(hours=1))
        is False
    )
    application.refresh_from_db()
    assert application.withdrawn_at == at
    assert (Message.objects.count(), len(stages_of(application))) == (1, 2)
    imported = make_application(user=make_user("imported", email=""))
    assert operations.withdraw_application(application=imported, at=at) is True
    assert Message.objects.count() == 1


@pytest.mark.parametrize("kind", ["hired", "rejected"])
def test_result_that_the_applicant_knows_stays_and_one_under_embargo_does_not_show(
    at, withdrawn, kind
):
    end, secret = make_stage("End"), make_stage("Secret", embargo_days=5)
    Stage.objects.filter(pk__in=[end.pk, secret.pk]).update(kind=kind)
    application = make_anonymous(stage=end)
    with pytest.raises(operations.DecidedError):
        operations.withdraw_application(application=application, at=at)
    assert (stages_of(application), Message.objects.count()) == (["End"], 0)

    application = make_anonymous(stage=make_stage("Inbox"))
    StageChange.objects.create(application=application, stage=secret, at=at)
    shown = Application.objects.with_visible_status().filter(pk=application.pk)
    assert shown.get().is_withdrawable(at=at)
    assert operations.withdraw_application(application=application, at=at) is True
    found = {shown.get().visible_status(at=moment) for moment in (at, at + timedelta(days=30))}
    assert found == {withdrawn.status}


def test_application_that_a_recruiter_moved_to_withdrawn_is_withdrawn(at, withdrawn):
    Stage.objects.filter(pk=withdrawn.pk).update(embargo_days=0)
    application = make_anonymous()
    operations.move(Application.objects.all(), operations.Move(stage=withdrawn, author=None, at=at))

    assert operations.withdraw_application(application=application, at=at) is False
    assert Message.objects.count() == 0


def test_reopened_application_can_be_withdrawn_again(at, withdrawn):
    application = make_anonymous(stage=make_stage("Inbox"))
    operations.withdraw_application(application=application, at=at)
    rows, later = Application.objects.all(), at + timedelta(hours=1)
    operations.move(rows, operations.Move(stage=make_stage("Again"), author=None, at=later))
    application.refresh_from_db()
    assert application.withdrawn_at is None

    assert (
        operations.withdraw_application(application=application, at=at + timedelta(hours=2)) is True
    )
    assert stages_of(application) == ["Inbox", "Gone", "Again", "Gone"]


def test_withdrawal_works_without_a_stage_for_it(at):
    Stage.objects.all().delete()
    application = make_anonymous(stage=make_stage("Inbox"))

    assert operations.withdraw_application(application=application, at=at) is True
    assert operations.withdraw_application(application=application, at=at) is False

    application.refresh_from_db()
    assert (application.withdrawn_at, stages_of(application)) == (at, ["Inbox"])


# --- Races ----------------------------------------------------------------------------------------

races = pytest.mark.django_db(transaction=True)
REPEATS = range(3 if connection.vendor == "postgresql" else 1)  # SQLite lets one write at a time


@races
@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_withdrawals_withdraw_once(withdrawn, _):
    application = make_anonymous()
    at = application.created_at + timedelta(hours=1)
    act = partial(operations.withdraw_application, application=application, at=at)

    assert sorted(at_once(*[act] * 4)) == [False, False, False, True]

    assert (len(stages_of(application)), Message.objects.count()) == (2, 1)


@races
@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_claims_give_all_applications_to_one_account(_):
    proven, *_others = [make_anonymous() for _ in range(4)]
    users = [make_user(name) for name in ("one", "two")]

    acts = [
        partial(operations.claim, proven=proven, user=user, at=proven.created_at) for user in users
    ]

    outcomes = at_once(*acts)

    assert sorted(map(len, outcomes)) == [0, 4]
    assert owners() == [users[0 if outcomes[0] else 1].username] * 4


@races
@pytest.mark.parametrize("_", REPEATS)
def test_concurrent_accounts_of_an_address_are_one(_):
    application = make_anonymous()
    act = partial(
        operations.create_account, proven=application, password=PASSWORD, at=application.created_at
    )

    outcomes = at_once(*[act] * 3)

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["AccountExistsError"] * 2 + [
        "User"
    ]
    assert owners() == [ADDRESS]


@races
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time")
def test_withdrawal_waits_for_a_recruiters_decision(withdrawn):
    """A decision that the applicant sees immediately, in a transaction that
    is not committed yet.
    """
    application = make_anonymous()
    hired = make_stage("Hired now")
    Stage.objects.filter(pk=hired.pk).update(kind="hired")
    at = application.created_at + timedelta(hours=1)
    failed = []

    def withdraw():
        try:
            operations.withdraw_application(application=application, at=at)
        except operations.DecidedError as error:
            failed.append(error)

    with ExitStack() as stack, transaction.atomic():
        operations.move(Application.objects.all(), operations.Move(stage=hired, author=None, at=at))
        stack.enter_context(waiting(withdraw))  # it ends after the commit

    assert len(failed) == 1
    assert stages_of(application)[-1] == "Hired now"
