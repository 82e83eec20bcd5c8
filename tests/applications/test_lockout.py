"""Lockout after wrong passwords, for tokens and pages."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Sum
from django.test import Client

from applications.models import Token
from jobsite.accounts import lockout
from tests.applications.makers import MINE, PASSWORD, bearer, make_token, make_user, signed_in
from tests.applications.test_auth import problem, sign_in

pytestmark = pytest.mark.django_db


def fail(client, times, username="jane", **extra):
    return [sign_in(client, username, f"wrong {n}", **extra).status_code for n in range(times)]


def test_tenth_wrong_password_locks_the_account_for_the_address(client, jane, caplog):
    token, session = make_token(jane), signed_in(jane)
    assert fail(client, 10) == [401] * 9 + [429]

    answer = sign_in(client)  # the right one

    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    assert problem(answer)["detail"] == "Too many wrong passwords. Try again in 15 minutes."
    assert Token.objects.count() == 1
    assert [text for text in ("jane", "wrong 1") if text in caplog.text] == []
    assert (
        client.get(MINE, headers=bearer(token)).status_code == session.get(MINE).status_code == 200
    )


def test_unknown_account_is_locked_too(client, jane):
    outcomes = {name: fail(client, 11, name) for name in ("jane", "nobody")}

    assert outcomes["jane"] == outcomes["nobody"] == [401] * 9 + [429] * 2
    bodies = {sign_in(client, name).content for name in outcomes}
    assert len(bodies) == 1


def test_other_addresses_and_accounts_are_not_affected(client, jane, settings):
    def status(address, name="jane", **extra):
        return sign_in(client, name, REMOTE_ADDR=address, **extra).status_code

    make_user("other")
    names = "HTTP_X_FORWARDED_FOR", "HTTP_USER_AGENT"
    forged = [dict(zip(names, (f"198.51.100.{n}", f"Browser {n}"), strict=True)) for n in range(11)]
    statuses = [fail(client, 1, REMOTE_ADDR="203.0.113.9", **headers)[0] for headers in forged]
    assert statuses == [401] * 9 + [429] * 2
    assert status("203.0.113.9") == 429
    assert [status(address) for address in ("203.0.113.10", "2001:db8::1")] == [200, 200]
    assert status("203.0.113.9", "other") == 200

    settings.TRUSTED_PROXIES = ["127.0.0.0/8"]
    fail(client, 11, **forged[1])
    assert [status("127.0.0.1", **forged[number]) for number in (1, 2)] == [429, 200]


def test_client_without_an_address_is_not_a_server_error(client, jane):
    for address in ("", "unknown", "not an address"):
        assert fail(client, 1, REMOTE_ADDR=address) == [401], address
        assert sign_in(client, REMOTE_ADDR=address).status_code == 200, address


def test_success_resets_the_failures(client, jane):
    assert fail(client, 9) == [401] * 9
    assert sign_in(client).status_code == 200
    assert not AccessAttempt.objects.exists()
    assert fail(client, 9) == [401] * 9


def test_lockout_response_has_the_remaining_time_until_it_expires(client, jane, at, time_machine):
    fail(client, 10)
    cases = ((0, "900", "15 minutes"), (61, "839", "14 minutes"), (880.5, "20", "1 minute."))
    for later, seconds, remaining in cases:
        time_machine.move_to(at + timedelta(seconds=later), tick=False)
        answer = client.post("/account/login", {"username": "jane", "password": PASSWORD})
        assert (answer.status_code, answer["Retry-After"]) == (429, seconds)
        assert remaining in answer.text
        assert sign_in(client)["Retry-After"] == seconds
    fail(client, 5)  # attempts during a lockout do not extend it
    for seconds, status in ((899, 429), (901, 200)):
        time_machine.move_to(at + timedelta(seconds=seconds), tick=False)
        assert sign_in(client).status_code == status


def test_remaining_time_with_several_browsers(client, jane, at, time_machine):
    """Each browser has its own count, which expires."""
    fail(client, 7, HTTP_USER_AGENT="one")
    time_machine.move_to(at + timedelta(minutes=10), tick=False)
    fail(client, 5, HTTP_USER_AGENT="two")

    assert sign_in(client)["Retry-After"] == "300"
    time_machine.move_to(at + timedelta(minutes=15, seconds=1), tick=False)
    assert sign_in(client).status_code == 200


def test_lockout_applies_to_the_admin(client, jane):
    root = User.objects.create_superuser("root", password=PASSWORD)

    def enter(password, **extra):
        return client.post("/admin/login/", {"username": "root", "password": password}, **extra)

    statuses = [enter(f"wrong {n}").status_code for n in range(10)]
    locked = enter(PASSWORD)

    assert statuses == [200] * 9 + [429]
    assert (locked.status_code, locked["Retry-After"]) == (429, "900")
    assert locked["Content-Type"].startswith("text/html")
    assert "no-store" in locked["Cache-Control"]
    assert "15" in locked.text
    assert sign_in(client, root.username).status_code == 429  # one count for both
    assert enter(PASSWORD, REMOTE_ADDR="203.0.113.9").status_code == 302


def test_stored_failures_have_no_password(client, jane):
    fail(client, 2)
    client.post("/admin/login/?next=/admin/", {"username": "jane", "password": "wrong zyx"})

    stored = str(list(AccessAttempt.objects.values()))

    assert "jane" in stored
    assert "wrong" not in stored


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("browsers", [1, 12])
def test_parallel_attempts_do_not_exceed_the_limit(client, monkeypatch, browsers):
    """Twelve concurrent attempts after eight failures: two passwords are checked. These two wait
    until the others are refused, so that all twelve overlap.
    """
    make_user("jane")
    assert fail(client, 8) == [401] * 8
    checked, answered, are_refused = [], count(1), threading.Event()
    verify = MD5PasswordHasher.verify

    def wait_and_verify(self, password, encoded):
        checked.append(password)
        are_refused.wait(timeout=10)
        return verify(self, password, encoded)

    monkeypatch.setattr(MD5PasswordHasher, "verify", wait_and_verify)

    def attempt(number):
        try:
            browser = f"Browser {number % browsers}"
            status = sign_in(
                Client(), password=f"wrong {number}", HTTP_USER_AGENT=browser
            ).status_code
            if next(answered) == 10:
                are_refused.set()
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        statuses = sorted(pool.map(attempt, range(12)))

    assert len(checked) == 2
    # The first to fail may see the other one's attempt.
    assert statuses in ([401] + [429] * 11, [429] * 12)
    assert AccessAttempt.objects.aggregate(Sum("failures_since_start")) == {
        "failures_since_start__sum": 10
    }
    assert sign_in(client).status_code == 429


@pytest.mark.django_db(transaction=True)
def test_parallel_sign_ins_with_the_right_password_all_succeed(client):
    make_user("jane")

    def attempt(number):
        try:
            return sign_in(Client(), HTTP_USER_AGENT=f"Browser {number}").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(attempt, range(6))) == [200] * 6
    assert not AccessAttempt.objects.exists()


def test_attempts_of_an_account_and_address_wait_for_each_other(client, jane, monkeypatch):
    """Locked when an attempt is counted, and when it fails;
    in a transaction, which releases the lock.
    """
    locks = []
    before = len(connection.savepoint_ids)

    def lock(name):
        locks.append((name, len(connection.savepoint_ids) > before))

    monkeypatch.setattr(lockout, "lock_transaction", lock)
    assert fail(client, 1) == [401]
    assert len(set(locks)) == 1 < len(locks)
    assert locks[0] == ("axes jane 127.0.0.1", True)
    assert not AccessAttempt.objects.filter(user_agent__startswith="attempt ").exists()
