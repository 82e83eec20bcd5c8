"""POST and DELETE /v1/auth/token, and what a token is worth once it is there."""

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from unittest import mock

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Sum
from django.test import Client

from applications.models import Token
from tests.applications.makers import (
    MINE,
    PASSWORD,
    bearer,
    make_application,
    make_token,
    make_user,
    signed_in,
)

pytestmark = pytest.mark.django_db

TOKEN = "/v1/auth/token"
WRONG = "The user name or the password is wrong."
ORIGIN = "https://jobs.example.org"


@pytest.fixture
def jane(at):
    return make_user("jane", email="jane@example.org")


def sign_in(client, username="jane", password=PASSWORD, **extra):
    body = {"username": username, "password": password}
    return client.post(TOKEN, body, content_type="application/json", **extra)


def problem(answer):
    """The answer's problem document: whatever went wrong, it is one, and no cache keeps it."""
    assert answer["Content-Type"] == "application/problem+json"
    assert "no-store" in answer["Cache-Control"]
    body = answer.json()
    assert body["status"] == answer.status_code
    assert body["instance"] == TOKEN
    return body


# --- Signing in --------------------------------------------------------------------------------


def test_name_and_password_give_a_token_that_works(client, jane, settings):
    settings.TIME_ZONE = "Europe/Brussels"
    make_application(user=jane)

    answer = sign_in(client)

    assert answer.status_code == 200
    assert answer["Cache-Control"] == "private, no-store"
    assert not answer.cookies
    assert list(answer.json()) == ["data"]
    data = answer.json()["data"]
    assert list(data) == ["token", "expires_at"]
    assert data["expires_at"] == "2026-04-01 11:30:15"  # 30 days later, in summer time
    assert len(data["token"]) == 64
    assert len(client.get(MINE, headers=bearer(data["token"])).json()["data"]) == 1


def test_token_is_good_until_it_expires(client, jane, settings, time_machine):
    settings.TOKEN_LIFETIME = timedelta(days=1)
    token = sign_in(client).json()["data"]["token"]
    (row,) = Token.objects.all()

    time_machine.move_to(row.expiry, tick=False)
    assert client.get(MINE, headers=bearer(token)).status_code == 200
    time_machine.move_to(row.expiry + timedelta(microseconds=1), tick=False)
    assert client.get(MINE, headers=bearer(token)).status_code == 401
    assert not Token.objects.exists()  # and is cleared away


def test_user_has_several_tokens_and_ends_one(client, jane):
    tokens = [sign_in(client).json()["data"]["token"] for _ in range(3)]

    answer = client.delete(TOKEN, headers=bearer(tokens[1]))

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Cache-Control"] == "private, no-store"
    assert [client.get(MINE, headers=bearer(token)).status_code for token in tokens] == [200, 401, 200]
    again = client.delete(TOKEN, headers=bearer(tokens[1]))
    assert (again.status_code, again["WWW-Authenticate"]) == (401, "Bearer")


def test_session_ends_no_token(jane):
    make_token(jane)

    for client in (Client(), signed_in(jane)):
        answer = client.delete(TOKEN)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert Token.objects.count() == 1


def test_session_is_not_needed_nor_looked_at_to_sign_in(jane):
    """No CSRF token is asked for: a session opens nothing here."""
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_user())

    answer = sign_in(strict)

    assert answer.status_code == 200
    assert Token.objects.get().user == jane


@pytest.mark.parametrize("header", ["Bearer " + "0" * 64, "Bearer", "Bearer \x00", "Basic ADox", "\xff"])
def test_stale_token_does_not_stop_a_new_one(client, jane, header):
    assert sign_in(client, HTTP_AUTHORIZATION=header).status_code == 200


@pytest.mark.parametrize("method", ["get", "head", "put", "patch"])
def test_other_methods_are_refused(client, method):
    answer = getattr(client, method)(TOKEN)

    assert (answer.status_code, answer["Allow"]) == (405, "POST, DELETE, OPTIONS")


def test_options_lists_the_methods(client):
    answer = client.options(TOKEN)

    assert (answer.status_code, answer["Allow"]) == (204, "POST, DELETE, OPTIONS")


def test_signing_in_is_kept_as_the_last_time(client, jane, at):
    sign_in(client)

    jane.refresh_from_db()
    assert jane.last_login == at


def test_sign_in_counts_for_the_rate_limit(client, jane, settings, at):
    settings.RATE_LIMIT = "2/h"

    answers = [sign_in(client) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2]["Retry-After"]) > 0


def test_passwords_for_tokens_and_on_pages_are_counted_together_by_address(client, jane, settings, at):
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "3/h"

    def page(path):
        return client.post(path, {"username": "jane", "password": "wrong"}).status_code

    assert [page("/account/login"), page("/admin/login/"), sign_in(client).status_code] == [200, 200, 200]
    refused = [page("/account/login"), page("/admin/login/"), sign_in(client).status_code]
    assert refused == [429, 429, 429]
    assert sign_in(client, REMOTE_ADDR="203.0.113.9").status_code == 200
    assert client.get("/admin/login/").status_code == 200


def test_page_of_the_admin_counts_the_address_that_a_trusted_proxy_tells(client, at, settings):
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "2/h"

    def statuses(**extra):
        return [client.post("/admin/login/", {"username": f"u{n}"}, **extra).status_code for n in range(3)]

    made_up = {"HTTP_X_FORWARDED_FOR": "198.51.100.1"}
    assert statuses(**made_up) == [200, 200, 429]
    settings.TRUSTED_PROXIES = ["127.0.0.0/8"]
    assert statuses(**made_up) == [200, 200, 429]  # another address than the one before
    told = client.post("/admin/login/", {}, headers={"Accept-Language": "nl"}, **made_up)
    assert (told.status_code, told["Cache-Control"]) == (429, "no-store")
    assert 1 <= int(told["Retry-After"]) <= 3600
    assert "te veel pogingen" in told.text


# --- What is wrong -----------------------------------------------------------------------------


def test_wrong_password_and_unknown_account_are_the_same(client, jane):
    make_user("inactive", is_active=False)
    User.objects.create_user("imported")  # without a password that could be used

    told, hashes = [], []
    for username, password in (
        ("jane", "wrong"),
        ("nobody", "wrong"),
        ("inactive", "wrong"),
        ("inactive", PASSWORD),
        ("imported", ""),
        ("imported", "wrong"),
        ("JANE", PASSWORD),
        ("jane@example.org", PASSWORD),
    ):
        with mock.patch.object(
            MD5PasswordHasher, "encode", autospec=True, side_effect=MD5PasswordHasher.encode
        ) as hashing:
            answer = sign_in(client, username, password or " ")
        told.append((answer.status_code, answer.content, dict(answer.headers)))
        hashes.append(hashing.call_count)

    assert told == [told[0]] * len(told)
    assert hashes == [1] * len(hashes)
    assert told[0][0] == 401
    assert json.loads(told[0][1])["detail"] == WRONG
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({}, {"username", "password"}),
        ({"username": "jane"}, {"password"}),
        ({"password": "x"}, {"username"}),
        ({"username": None, "password": None}, {"username", "password"}),
        ({"username": "", "password": ""}, {"username", "password"}),
        ({"username": ["jane"], "password": {"a": 1}}, {"username", "password"}),
        ({"username": True, "password": "x"}, {"username"}),
        ({"username": "x" * 151, "password": "x"}, {"username"}),
        ({"username": "jane", "password": "x" * 4097}, {"password"}),
        ({"username": "ja\x00ne", "password": "x"}, {"username"}),
        ({"username": "jane", "password": "\x00"}, {"password"}),
        ({"username": "\ud800", "password": "x"}, {"username"}),
        ({"username": "jane", "password": "zyxsecret\udfff"}, {"password"}),
        ([], {"non_field_errors"}),
        ([{"username": "jane", "password": "x"}], {"non_field_errors"}),
        ("jane", {"non_field_errors"}),
        (None, {"non_field_errors"}),
        (7, {"non_field_errors"}),
        (False, {"non_field_errors"}),
    ],
)
def test_body_that_is_off_is_told_by_member(client, jane, body, refused):
    answer = client.post(TOKEN, json.dumps(body), content_type="application/json")

    assert answer.status_code == 400
    errors = problem(answer)["errors"]
    assert {error["parameter"] for error in errors} == refused
    assert all(error["detail"] for error in errors)
    assert "zyxsecret" not in answer.text


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"\xff\xfe", b"\x00", b'{"username": "\xff"}', b"username=jane&password=x", b"NaN", b"-",
        b"[" * 30_000, b'{"a":' * 10_000, b"1" * 5000, b'{"username": Infinity}', b"\xef\xbb\xbf{}",
    ],
)  # fmt: skip
def test_body_that_is_no_json_is_a_400(client, body):
    answer = client.post(TOKEN, body, content_type="application/json")

    assert answer.status_code == 400
    problem(answer)


@pytest.mark.parametrize("length", [None, "0", "-1", "abc", "9" * 30])
def test_body_without_a_length_that_is_true_is_no_failure(client, length):
    extra = {} if length is None else {"CONTENT_LENGTH": length}

    answer = client.generic("POST", TOKEN, b"{}" if length else b"", "application/json", **extra)

    assert answer.status_code == 400
    problem(answer)


def test_body_that_is_huge_is_refused(client):
    answer = client.post(TOKEN, b'{"username": "' + b"x" * 3_000_000 + b'"}', content_type="application/json")

    assert answer.status_code == 400
    problem(answer)


@pytest.mark.parametrize(
    "content_type",
    [
        "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "text/html",
        "application/xml", "", "nonsense", "application/json-seq", "*/*", "a/b/c", "application/octet-stream",
    ],
)  # fmt: skip
def test_other_content_types_are_told_so(client, jane, content_type):
    body = f"username=jane&password={PASSWORD}".encode()

    answer = client.generic("POST", TOKEN, body, content_type)

    assert answer.status_code in (400, 415)
    problem(answer)
    assert not Token.objects.exists()


def test_parameters_of_json_do_not_matter(client, jane, wsgi):
    body = json.dumps({"username": "jane", "password": PASSWORD}).encode()
    for content_type in (
        "application/json; charset=rot13",
        "application/json;charset=utf-8",
        "APPLICATION/JSON",
    ):
        started = []
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": TOKEN,
            "CONTENT_TYPE": content_type,
            "CONTENT_LENGTH": str(len(body)),
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
        }
        b"".join(wsgi(environ, lambda status, headers, started=started: started.append(status)))
        assert started == ["200 OK"]


def test_credentials_in_the_query_open_nothing(client, jane):
    answer = client.post(f"{TOKEN}?username=jane&password={PASSWORD}", {}, content_type="application/json")

    assert answer.status_code == 400
    assert PASSWORD not in answer.text


# --- Too often ---------------------------------------------------------------------------------


def fail(client, times, username="jane", **extra):
    return [sign_in(client, username, f"wrong {n}", **extra).status_code for n in range(times)]


def test_tenth_wrong_password_closes_the_account_to_the_address(client, jane, caplog):
    assert fail(client, 10) == [401] * 9 + [429]

    answer = sign_in(client)  # the right one

    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert problem(answer)["detail"] == "Too many wrong passwords. Try again in 15 minutes."
    assert not Token.objects.exists()
    assert "jane" not in caplog.text
    assert "wrong 1" not in caplog.text


def test_account_that_does_not_exist_closes_alike(client, jane):
    outcomes = {name: fail(client, 11, name) for name in ("jane", "nobody")}

    assert outcomes["jane"] == outcomes["nobody"] == [401] * 9 + [429] * 2
    bodies = {sign_in(client, name).content for name in outcomes}
    assert len(bodies) == 1


def test_other_addresses_and_accounts_are_not_affected(client, jane):
    make_user("other")
    fail(client, 11, REMOTE_ADDR="203.0.113.9")

    assert sign_in(client, REMOTE_ADDR="203.0.113.9").status_code == 429
    assert sign_in(client, REMOTE_ADDR="203.0.113.10").status_code == 200
    assert sign_in(client, REMOTE_ADDR="2001:db8::1").status_code == 200
    assert sign_in(client, "other", REMOTE_ADDR="203.0.113.9").status_code == 200


def test_header_and_browser_do_not_make_another_address(client, jane):
    statuses = [
        sign_in(
            client, password="wrong", HTTP_X_FORWARDED_FOR=f"198.51.100.{n}", HTTP_USER_AGENT=f"Browser {n}"
        ).status_code
        for n in range(11)
    ]

    assert statuses == [401] * 9 + [429] * 2


def test_trusted_proxy_tells_the_address(client, jane, settings):
    settings.TRUSTED_PROXIES = ["127.0.0.0/8"]
    fail(client, 11, HTTP_X_FORWARDED_FOR="198.51.100.1")

    assert sign_in(client, HTTP_X_FORWARDED_FOR="198.51.100.1").status_code == 429
    assert sign_in(client, HTTP_X_FORWARDED_FOR="198.51.100.2").status_code == 200


@pytest.mark.parametrize("address", ["", "unknown", "not an address"])
def test_client_without_an_address_is_no_failure(client, jane, address):
    assert fail(client, 1, REMOTE_ADDR=address) == [401]
    assert sign_in(client, REMOTE_ADDR=address).status_code == 200


def test_success_forgets_the_failures(client, jane):
    assert fail(client, 9) == [401] * 9
    assert sign_in(client).status_code == 200
    assert not AccessAttempt.objects.exists()
    assert fail(client, 9) == [401] * 9


def test_account_opens_again_after_a_while(client, jane, at, time_machine):
    fail(client, 10)
    time_machine.move_to(at + timedelta(minutes=14, seconds=59), tick=False)
    assert sign_in(client).status_code == 429
    time_machine.move_to(at + timedelta(minutes=15, seconds=1), tick=False)
    assert sign_in(client).status_code == 200


@pytest.mark.parametrize(("later", "expected", "words"), [(0, 900, "15 minutes"), (61, 839, "14 minutes"),
                                                          (880.5, 20, "1 minute.")])  # fmt: skip
def test_locked_out_are_told_what_remains(client, jane, at, time_machine, later, expected, words):
    fail(client, 10)
    time_machine.move_to(at + timedelta(seconds=later), tick=False)

    answer = client.post("/account/login", {"username": "jane", "password": PASSWORD})

    assert (answer.status_code, answer["Retry-After"]) == (429, str(expected))
    assert words in answer.text
    assert sign_in(client)["Retry-After"] == str(expected)


def test_what_remains_is_right_with_several_browsers(client, jane, at, time_machine):
    """Each has a count of its own, which goes away by itself."""
    fail(client, 7, HTTP_USER_AGENT="one")
    time_machine.move_to(at + timedelta(minutes=10), tick=False)
    fail(client, 5, HTTP_USER_AGENT="two")

    assert sign_in(client)["Retry-After"] == "300"
    time_machine.move_to(at + timedelta(minutes=15, seconds=1), tick=False)
    assert sign_in(client).status_code == 200


def test_tries_while_closed_do_not_keep_it_closed(client, jane, at, time_machine):
    fail(client, 10)
    time_machine.move_to(at + timedelta(minutes=14), tick=False)
    fail(client, 5)
    time_machine.move_to(at + timedelta(minutes=15, seconds=1), tick=False)
    assert sign_in(client).status_code == 200


def test_token_and_session_go_on_while_the_account_is_closed(client, jane):
    token, session = make_token(jane), signed_in(jane)
    fail(client, 11)

    assert client.get(MINE, headers=bearer(token)).status_code == 200
    assert session.get(MINE).status_code == 200


def test_page_of_the_admin_closes_equally(client, jane):
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


def test_what_is_kept_of_a_failure_has_no_password(client, jane):
    fail(client, 2)
    client.post("/admin/login/?next=/admin/", {"username": "jane", "password": "wrong zyx"})

    kept = str(list(AccessAttempt.objects.values()))

    assert "jane" in kept
    assert "wrong" not in kept


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("browsers", [1, 12])
def test_parallel_attempts_do_not_exceed_the_limit(client, monkeypatch, browsers):
    """Twelve at once after eight failures: two passwords are checked. These wait until the others are
    refused, so all twelve are under way together."""
    make_user("jane")
    assert fail(client, 8) == [401] * 8
    checked, answered, are_refused = [], count(1), threading.Event()
    verify = MD5PasswordHasher.verify

    def slowly(self, password, encoded):
        checked.append(password)
        are_refused.wait(timeout=10)
        return verify(self, password, encoded)

    monkeypatch.setattr(MD5PasswordHasher, "verify", slowly)

    def attempt(number):
        try:
            browser = f"Browser {number % browsers}"
            status = sign_in(Client(), password=f"wrong {number}", HTTP_USER_AGENT=browser).status_code
            if next(answered) == 10:
                are_refused.set()
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        statuses = sorted(pool.map(attempt, range(12)))

    assert len(checked) == 2
    assert statuses in ([401] + [429] * 11, [429] * 12)  # the first to fail may see the other one's attempt
    assert AccessAttempt.objects.aggregate(Sum("failures_since_start")) == {"failures_since_start__sum": 10}
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


# --- What a thief of the database has ----------------------------------------------------------


def test_token_table_holds_no_usable_token(client, jane):
    token = sign_in(client).json()["data"]["token"]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {Token._meta.db_table}")
        stored = [str(value) for row in cursor.fetchall() for value in row]

    assert token not in " ".join(stored)
    assert not any(
        client.get(MINE, headers=bearer(value)).status_code == 200 for value in stored if value.isalnum()
    )
    assert client.get(MINE, headers=bearer(token[:15])).status_code == 401  # what is kept of it in clear
    assert client.get(MINE, headers=bearer(token[:15] + "0" * 49)).status_code == 401
    assert client.get(MINE, headers=bearer(token)).status_code == 200


def test_token_is_in_no_log(client, jane, caplog):
    caplog.set_level("DEBUG")
    token = sign_in(client).json()["data"]["token"]
    client.get(MINE, headers=bearer(token))
    client.get(MINE, headers=bearer(token + "0"))
    messages = " ".join(
        record.getMessage() for record in caplog.records if record.name != "django.db.backends"
    )

    assert token not in messages
    assert PASSWORD not in messages
    assert "jane" not in messages


# --- Pages of other sites ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "method", "headers"),
    [(MINE, "GET", "authorization"), (TOKEN, "POST", "content-type"), (TOKEN, "DELETE", "authorization")],
)
def test_preflight_lets_a_token_through(client, path, method, headers):
    answer = client.options(
        path,
        headers={
            "Origin": ORIGIN,
            "Access-Control-Request-Method": method,
            "Access-Control-Request-Headers": headers,
        },
    )

    assert answer.status_code == 200
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert headers in answer["Access-Control-Allow-Headers"]
    assert method in answer["Access-Control-Allow-Methods"]
    assert "Access-Control-Allow-Credentials" not in answer


def test_page_of_another_origin_reads_what_a_token_opens(client, jane):
    token = make_token(jane)

    for answer in (
        client.get(MINE, headers=bearer(token) | {"Origin": ORIGIN}),
        client.get(MINE, headers={"Origin": ORIGIN}),  # the 401 too, or the page could not tell
        sign_in(client, HTTP_ORIGIN=ORIGIN),
        sign_in(client, password="wrong", HTTP_ORIGIN=ORIGIN),
    ):
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer


def test_page_of_another_origin_never_gets_what_a_session_opens(jane):
    """A browser hands out an answer to a request with cookies only if the answer says so, by
    Allow-Credentials and by name; it says neither."""
    make_application(user=jane)
    answer = signed_in(jane).get(MINE, headers={"Origin": ORIGIN})

    assert answer.status_code == 200
    assert "Access-Control-Allow-Credentials" not in answer
    assert answer.get("Access-Control-Allow-Origin") in ("*", None)


def test_site_that_names_its_origins_lets_no_other_in(client, jane, settings):
    settings.CORS_ALLOW_ALL_ORIGINS = False
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    headers = bearer(make_token(jane))

    assert client.get(MINE, headers=headers | {"Origin": ORIGIN})["Access-Control-Allow-Origin"] == ORIGIN
    assert "Access-Control-Allow-Origin" not in client.get(
        MINE, headers=headers | {"Origin": "https://evil.example"}
    )


# --- How long it lasts -------------------------------------------------------------------------


def enter(client, name="jane", path="/account/login"):
    return client.post(path, {"username": name, "password": PASSWORD})


def test_session_ends_twelve_hours_after_the_sign_in_whatever_is_done_in_it(client, jane, at, time_machine):
    enter(client)
    time_machine.move_to(at + timedelta(hours=11, minutes=59), tick=False)
    session = client.session
    session["anything"] = 1
    session.save()
    assert client.get(MINE).status_code == 200
    time_machine.move_to(at + timedelta(hours=12, seconds=1), tick=False)
    assert client.get(MINE).status_code == 401


@pytest.mark.parametrize("path", ["/account/login", "/admin/login/"])
def test_sign_in_makes_a_new_session(client, jane, path):
    jane.is_staff = True
    jane.save()
    session = client.session
    session["before"] = 1
    session.save()
    client.cookies["sessionid"] = session.session_key

    enter(client, path=path)

    assert client.cookies["sessionid"].value != session.session_key
    assert not type(session)().exists(session.session_key)


def test_sign_out_ends_the_session_on_the_server(client, jane):
    enter(client)
    stolen = client.cookies["sessionid"].value
    client.post("/account/logout")
    thief = Client()
    thief.cookies["sessionid"] = stolen
    assert thief.get(MINE).status_code == 401


def test_token_leaves_a_session_as_long_as_it_was(client, jane, at, time_machine):
    enter(client)
    time_machine.move_to(at + timedelta(hours=11), tick=False)
    assert not sign_in(client).cookies
    time_machine.move_to(at + timedelta(hours=12, seconds=1), tick=False)
    assert client.get(MINE).status_code == 401


def test_account_that_is_deactivated_is_out_at_once(client, jane):
    token, session = make_token(jane), signed_in(jane)
    colleague = signed_in(User.objects.create_superuser("root", password=PASSWORD))
    assert colleague.get("/admin/").status_code == 200

    User.objects.update(is_active=False)

    assert client.get(MINE, headers=bearer(token)).status_code == 401
    assert session.get(MINE).status_code == 401
    assert session.get("/account/")["Location"].startswith("/account/login")
    assert colleague.get("/admin/")["Location"].startswith("/admin/login/")


def test_account_that_is_deleted_is_out_at_once(client, jane):
    token, session = make_token(jane), signed_in(jane)
    jane.delete()
    assert client.get(MINE, headers=bearer(token)).status_code == 401
    assert session.get(MINE).status_code == 401


def test_rights_that_are_taken_away_are_gone_at_once(jane):
    jane.is_staff = jane.is_superuser = True
    jane.save()
    session = signed_in(jane)
    assert session.get("/admin/auth/user/").status_code == 200
    User.objects.update(is_superuser=False)
    assert session.get("/admin/auth/user/").status_code == 403
    User.objects.update(is_staff=False)
    assert session.get("/admin/")["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("by", ["oneself", "a colleague", "a command"])
def test_new_password_ends_other_sessions_and_tokens(client, jane, by):
    new = "another battery staple 8"
    token, other, own = make_token(jane), signed_in(jane), signed_in(jane)
    fields = {"new_password1": new, "new_password2": new}
    if by == "oneself":
        own.post("/account/password", {"old_password": PASSWORD} | fields)
        assert own.get(MINE).status_code == 200
    elif by == "a colleague":
        root = signed_in(User.objects.create_superuser("root", password=PASSWORD))
        root.post(f"/admin/auth/user/{jane.pk}/password/", {"password1": new, "password2": new})
    else:
        jane.set_password(new)
        jane.save()
    jane.refresh_from_db()
    assert jane.check_password(new)

    assert other.get(MINE).status_code == 401
    assert client.get(MINE, headers=bearer(token)).status_code == 401


# --- revoke_tokens -----------------------------------------------------------------------------


def test_command_ends_all_tokens_of_a_user(client, jane, capsys):
    tokens = [make_token(jane) for _ in range(2)]
    other = make_token(make_user("other"))

    call_command("revoke_tokens", "jane")

    assert capsys.readouterr().out == "2 tokens ended.\n"
    assert [client.get(MINE, headers=bearer(token)).status_code for token in (*tokens, other)] == [
        401,
        401,
        200,
    ]
    call_command("revoke_tokens", "jane", "--format", "json")
    assert json.loads(capsys.readouterr().out) == {"summary": "0 tokens ended.", "tokens": 0}


def test_command_without_an_account_is_a_usage_error():
    with pytest.raises(CommandError) as refused:
        call_command("revoke_tokens", "zyxnobody")

    assert refused.value.returncode == 2
    assert "zyx" not in str(refused.value)


def test_times_are_those_of_the_row(client, jane, at):
    data = sign_in(client).json()["data"]

    assert datetime.strptime(data["expires_at"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) == at + timedelta(
        days=30
    )
