"""POST and DELETE /v1/auth/token: issuing, errors, CORS and revocation."""

import gzip
import json
from datetime import timedelta
from unittest import mock

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db import connection
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


def sign_in(client, username="jane", password=PASSWORD, **extra):
    body = {"username": username, "password": password}
    return client.post(TOKEN, body, content_type="application/json", **extra)


def problem(answer):
    """Return the problem document of a response, and check that it is not cached."""
    assert answer["Content-Type"] == "application/problem+json"
    assert "no-store" in answer["Cache-Control"]
    body = answer.json()
    assert body["status"] == answer.status_code
    assert body["instance"] == TOKEN
    return body


# --- Signing in --------------------------------------------------------------------------------


def test_name_and_password_give_a_valid_token(client, jane, settings, at):
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
    jane.refresh_from_db()
    assert jane.last_login == at


def test_token_is_valid_until_it_expires(client, jane, settings, time_machine):
    settings.TOKEN_LIFETIME = timedelta(days=1)
    token = sign_in(client).json()["data"]["token"]
    (row,) = Token.objects.all()

    time_machine.move_to(row.expiry, tick=False)
    assert client.get(MINE, headers=bearer(token)).status_code == 200
    time_machine.move_to(row.expiry + timedelta(microseconds=1), tick=False)
    assert client.get(MINE, headers=bearer(token)).status_code == 401
    assert not Token.objects.exists()  # and is deleted


def test_user_can_revoke_one_of_several_tokens(client, jane):
    tokens = [sign_in(client).json()["data"]["token"] for _ in range(3)]

    answer = client.delete(TOKEN, headers=bearer(tokens[1]))

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Cache-Control"] == "private, no-store"
    assert [client.get(MINE, headers=bearer(token)).status_code for token in tokens] == [
        200,
        401,
        200,
    ]
    again = client.delete(TOKEN, headers=bearer(tokens[1]))
    assert (again.status_code, again["WWW-Authenticate"]) == (401, "Bearer")
    for other in (Client(), signed_in(jane)):  # a session revokes none
        answer = other.delete(TOKEN)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert Token.objects.count() == 2


def test_sign_in_ignores_the_session_and_invalid_tokens(client, jane):
    """No CSRF token is required, because a session gives no access here."""
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_user())
    assert sign_in(strict).status_code == 200
    assert Token.objects.get().user == jane
    for header in ("Bearer " + "0" * 64, "Bearer", "Bearer \x00", "Basic ADox", "\xff"):
        assert sign_in(client, HTTP_AUTHORIZATION=header).status_code == 200, header


def test_other_methods_are_refused(client):
    answers = {m: getattr(client, m)(TOKEN) for m in ("get", "head", "put", "patch", "options")}

    assert {
        method: (answer.status_code, answer["Allow"]) for method, answer in answers.items()
    } == {
        method: (204 if method == "options" else 405, "POST, DELETE, OPTIONS") for method in answers
    }


def test_failures_of_tokens_and_pages_are_counted_together(client, jane, settings, at):
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "3/h"

    def page(path):
        return client.post(path, {"username": "jane", "password": "wrong"}).status_code

    assert [page("/account/login"), page("/admin/login/"), sign_in(client).status_code] == [
        200,
        200,
        200,
    ]
    assert [page("/account/login"), page("/admin/login/"), sign_in(client).status_code] == [
        429,
        429,
        429,
    ]
    assert sign_in(client, REMOTE_ADDR="203.0.113.9").status_code == 200
    assert client.get("/admin/login/").status_code == 200


def test_admin_counts_the_address_of_a_trusted_proxy(client, at, settings):
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "2/h"

    def statuses(**extra):
        return [
            client.post("/admin/login/", {"username": f"u{n}"}, **extra).status_code
            for n in range(3)
        ]

    forwarded = {"HTTP_X_FORWARDED_FOR": "198.51.100.1"}
    assert statuses(**forwarded) == [200, 200, 429]
    settings.TRUSTED_PROXIES = ["127.0.0.0/8"]
    assert statuses(**forwarded) == [200, 200, 429]  # a different client address
    refused = client.post("/admin/login/", {}, headers={"Accept-Language": "nl"}, **forwarded)
    assert (refused.status_code, refused["Cache-Control"]) == (429, "no-store")
    assert 1 <= int(refused["Retry-After"]) <= 3600
    assert "te veel pogingen" in refused.text


# --- Errors ------------------------------------------------------------------------------------


def test_wrong_password_and_unknown_account_give_the_same_response(client, jane):
    make_user("inactive", is_active=False)
    User.objects.create_user("imported")  # no usable password

    responses, hashes = [], []
    for username, password in (
        *((name, "wrong") for name in ("jane", "nobody", "inactive", "imported")),
        ("imported", ""),
        *((name, PASSWORD) for name in ("inactive", "JANE", "jane@example.org")),
    ):
        with mock.patch.object(
            MD5PasswordHasher, "encode", autospec=True, side_effect=MD5PasswordHasher.encode
        ) as hashing:
            answer = sign_in(client, username, password or " ")
        responses.append((answer.status_code, answer.content, dict(answer.headers)))
        hashes.append(hashing.call_count)

    assert responses == [responses[0]] * len(responses)
    assert hashes == [1] * len(hashes)
    assert responses[0][0] == 401
    assert json.loads(responses[0][1])["detail"] == WRONG
    assert not Token.objects.exists()


def test_invalid_members_of_the_body_are_reported(client, jane):
    for body, refused in (
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
    ):
        answer = client.post(TOKEN, json.dumps(body), content_type="application/json")
        assert answer.status_code == 400, body
        errors = problem(answer)["errors"]
        assert {error["parameter"] for error in errors} == refused, body
        assert all(error["detail"] for error in errors), body
        assert "dictionary" not in answer.text, body  # a text for Python's developers
        assert "zyxsecret" not in answer.text


def test_body_that_is_not_json_is_a_400(client, jane):
    for body in (
        b"{",
        b"\xff\xfe",
        b"\x00",
        b'{"username": "\xff"}',
        b"username=jane&password=x",
        b"NaN",
        b"-",
        b"[" * 30_000,
        b'{"a":' * 10_000,
        b"1" * 5000,
        b'{"username": Infinity}',
        b"\xef\xbb\xbf{}",
        b'{"username": "' + b"x" * 3_000_000 + b'"}',
    ):
        answer = client.post(TOKEN, body, content_type="application/json")
        assert (answer.status_code, bool(problem(answer))) == (400, True), body[:60]
        assert "line 1" not in answer.text, body[:60]  # a text of Python
    packed = gzip.compress(b'{"username": "jane", "password": "x"}')
    answer = client.post(
        TOKEN, packed, content_type="application/json", headers={"Content-Encoding": "gzip"}
    )
    assert (answer.status_code, "must not be compressed" in answer.text) == (415, True)
    for length in (None, "0", "-1", "abc", "9" * 30):
        extra = {} if length is None else {"CONTENT_LENGTH": length}
        answer = client.generic(
            "POST", TOKEN, b"{}" if length else b"", "application/json", **extra
        )
        assert (answer.status_code, bool(problem(answer))) == (400, True), length
    query = f"username=jane&password={PASSWORD}"
    answer = client.post(f"{TOKEN}?{query}", {}, content_type="application/json")
    assert (answer.status_code, PASSWORD in answer.text) == (400, False)


def test_other_content_types_are_refused(client, jane):
    body = f"username=jane&password={PASSWORD}".encode()

    for content_type in (
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "text/html",
        "application/xml",
        "",
        "nonsense",
        "application/json-seq",
        "*/*",
        "a/b/c",
        "application/octet-stream",
    ):
        answer = client.generic("POST", TOKEN, body, content_type)
        assert answer.status_code in (400, 415), content_type
        problem(answer)
    assert not Token.objects.exists()


# --- Storage of tokens -------------------------------------------------------------------------


def test_token_table_has_no_usable_token(client, jane):
    token = sign_in(client).json()["data"]["token"]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {Token._meta.db_table}")
        stored = [str(value) for row in cursor.fetchall() for value in row]

    assert token not in " ".join(stored)
    assert not any(
        client.get(MINE, headers=bearer(value)).status_code == 200
        for value in stored
        if value.isalnum()
    )
    assert client.get(MINE, headers=bearer(token[:15])).status_code == 401  # the stored prefix
    assert client.get(MINE, headers=bearer(token[:15] + "0" * 49)).status_code == 401
    assert client.get(MINE, headers=bearer(token)).status_code == 200


# --- Other origins -----------------------------------------------------------------------------


def test_preflight_allows_a_token(client):
    for path, method, names in (
        (MINE, "GET", "authorization"),
        (TOKEN, "POST", "content-type"),
        (TOKEN, "DELETE", "authorization"),
    ):
        asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": names}
        answer = client.options(path, headers={"Origin": ORIGIN} | asked)
        assert answer.status_code == 200, (path, method)
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert names in answer["Access-Control-Allow-Headers"]
        assert method in answer["Access-Control-Allow-Methods"]
        assert "Access-Control-Allow-Credentials" not in answer


def test_cross_origin_page_can_use_a_token_but_no_session(client, jane):
    """A browser exposes a response to a request with cookies only with Allow-Credentials and the
    name of the origin. No response has both.
    """
    token = bearer(make_token(jane))

    for answer in (
        client.get(MINE, headers=token | {"Origin": ORIGIN}),
        client.get(MINE, headers={"Origin": ORIGIN}),  # the page must be able to read the 401
        sign_in(client, HTTP_ORIGIN=ORIGIN),
        sign_in(client, password="wrong", HTTP_ORIGIN=ORIGIN),
    ):
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer
    answer = signed_in(jane).get(MINE, headers={"Origin": ORIGIN})
    assert (answer.status_code, "Access-Control-Allow-Credentials" in answer) == (200, False)
    assert answer.get("Access-Control-Allow-Origin") in ("*", None)


# --- revoke_tokens -----------------------------------------------------------------------------


def test_command_revokes_all_tokens_of_a_user(client, jane, capsys):
    tokens = [make_token(jane) for _ in range(2)]
    other = make_token(make_user("other"))

    call_command("revoke_tokens", "jane")

    assert capsys.readouterr().out == "Revoked 2 tokens.\n"
    statuses = [client.get(MINE, headers=bearer(token)).status_code for token in (*tokens, other)]
    assert statuses == [401, 401, 200]
    call_command("revoke_tokens", "jane", "--format", "json")
    assert json.loads(capsys.readouterr().out) == {"summary": "Revoked 0 tokens.", "tokens": 0}


def test_token_that_somebody_of_every_brand_deletes_is_revoked(client, jane, recruiter):
    token, url = make_token(jane), "/admin/applications/token/"
    reader = User.objects.create_user("anna", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_token"))
    assert "jane" not in signed_in(reader).get(url).text
    root = signed_in(recruiter)
    shown = root.get(url).text
    assert ("jane" in shown, token in shown) == (True, False)

    root.post(f"{url}{Token.objects.get().pk}/delete/", {"post": "yes"})
    assert client.get(MINE, headers=bearer(token)).status_code == 401
