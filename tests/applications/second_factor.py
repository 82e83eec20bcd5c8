"""A second factor, passkeys and OpenID Connect, as they are where the extra is switched on.

tests/applications/test_second_factor.py runs this file in a process of its own: which apps are installed is
decided when the settings are read.
"""

import json
import re
import threading
import time
from base64 import urlsafe_b64encode
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from allauth.socialaccount.models import SocialAccount
from django.conf import settings as site
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from tests.applications.makers import MINE, PASSWORD, bearer, make_token, make_user

pytestmark = pytest.mark.django_db

TOKEN = "/v1/auth/token"
ADMIN = "/admin/"
PORT = (
    urlsplit(site.OIDC_ISSUER).port or 0
)  # of the identity provider; nothing listens there before a test does


# --- People ------------------------------------------------------------------------------------


@pytest.fixture
def anna(db):
    return User.objects.create_superuser("anna", "anna@example.org", PASSWORD)


@pytest.fixture
def required(settings):
    settings.SECOND_FACTOR = "required"


def enter(client, name="anna", then=ADMIN, password=PASSWORD):
    return client.post(f"/account/login?next={then}", {"username": name, "password": password, "next": then})


def code(secret: str, step: int = 0) -> str:
    """What the app on the phone shows, `step` periods from now."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + step))


def with_app(user) -> str:
    """Give `user` an app; return its secret."""
    secret = "JBSWY3DPEHPK3PXP"
    TOTP.activate(user, secret)
    RecoveryCodes.activate(user)
    return secret


def is_in(client) -> bool:
    return client.get(ADMIN).status_code == 200


# --- A code ------------------------------------------------------------------------------------


def test_password_is_enough_without_a_factor_where_it_is_optional(client, anna):
    assert client.get(ADMIN)["Location"] == "/admin/login/?next=/admin/"
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/account/login?next=%2Fadmin%2F"

    assert enter(client)["Location"] == ADMIN
    assert is_in(client)


@pytest.mark.django_db(transaction=True)
def test_whole_way_from_setting_up_to_signing_in_with_a_code(client, anna, required):
    """Required: the workplace stays closed until a factor is there; then it asks for it at each sign-in."""
    assert enter(client)["Location"] == ADMIN
    assert client.get(ADMIN)["Location"] == "/account/factors"
    assert "The workplace asks for a second factor" in client.get("/account/factors").text

    page = client.get("/account/factors/app")
    secret = re.search(r'id="authenticator_secret"[^>]*value="(\w+)"|value="([A-Z2-7]{16,})"', page.text)
    secret = next(group for group in secret.groups() if group)
    assert "data:image/svg+xml;base64," in page.text
    wrong = client.post("/account/factors/app", {"code": "000000"})
    assert (wrong.status_code, is_in(client)) == (200, False)
    done = client.post("/account/factors/app", {"code": code(secret)})
    assert done["Location"] == "/account/factors/recovery"
    assert len(re.findall(r"\b\d{8}\b", client.get(done["Location"]).text)) == 10
    assert is_in(client)

    other = Client()
    assert enter(other)["Location"] == "/account/factors/code"
    assert not is_in(other)
    assert other.get(MINE).status_code == 401  # not half signed in either
    assert other.post("/account/factors/code", {"code": "123456"}).status_code == 200
    assert not is_in(other)
    before = other.cookies["sessionid"].value
    assert other.post("/account/factors/code", {"code": code(secret, 1)})["Location"] == ADMIN
    assert other.cookies["sessionid"].value != before
    assert is_in(other)


def test_code_is_good_once(client, anna):
    secret = with_app(anna)
    now = code(secret)
    for expected in ("/admin/", None):
        someone = Client()
        enter(someone)
        answer = someone.post("/account/factors/code", {"code": now})
        assert answer.get("Location") == expected


def test_recovery_code_is_good_once(client, anna):
    with_app(anna)
    first = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    for expected in ("/admin/", None):
        someone = Client()
        enter(someone)
        answer = someone.post("/account/factors/code", {"code": first})
        assert answer.get("Location") == expected


def test_codes_cannot_be_guessed_for_long(client, anna):
    secret = with_app(anna)
    enter(client)
    for number in range(8):
        client.post("/account/factors/code", {"code": f"{number:06}"})

    assert "Location" not in client.post("/account/factors/code", {"code": code(secret)})
    assert not is_in(client)


def test_locked_account_gets_no_further(client, anna, settings):
    settings.AXES_FAILURE_LIMIT = 3
    with_app(anna)
    for _ in range(3):
        refused = enter(client, password="wrong")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) in range(890, 901)
    assert enter(client).status_code == 429


def test_session_from_before_the_factor_is_asked_for_it(client, anna):
    enter(client)
    assert is_in(client)
    with_app(anna)

    asked = client.get("/admin/auth/user/")

    assert asked["Location"] == "/account/factors/confirm?next=%2Fadmin%2Fauth%2Fuser%2F"
    posted = {"code": code("JBSWY3DPEHPK3PXP"), "next": "/admin/auth/user/"}
    confirmed = client.post(asked["Location"], posted)
    assert confirmed["Location"] == "/admin/auth/user/"
    assert is_in(client)


@pytest.mark.parametrize(
    "path", ["", "/app", "/app/remove", "/recovery", "/recovery/new", "/recovery/file", "keys", "keys/add"]
)
def test_password_alone_neither_shows_nor_changes_factors(client, anna, path):
    """The session is older than the factor: its password would give away the codes, or the factor."""
    enter(client)
    with_app(anna)
    path = f"/account/{'pass' if path.startswith('keys') else 'factors'}{path}"

    assert client.get(path)["Location"].startswith("/account/factors/confirm?next=")
    assert client.post(path)["Location"] == "/account/factors/confirm?next=%2Faccount%2Ffactors"
    assert Authenticator.objects.count() == 2

    client.post("/account/factors/confirm", {"code": code("JBSWY3DPEHPK3PXP"), "next": path})
    assert client.get("/account/factors/recovery").status_code == 200


def test_admin_page_signs_nobody_in_by_a_password_alone(client, anna):
    """A colleague who is in, and knows the password of somebody with more rights."""
    with_app(anna)
    User.objects.create_user("bob", "bob@example.org", PASSWORD, is_staff=True)
    enter(client, "bob")

    answer = client.post("/admin/login/?next=/admin/", {"username": "anna", "password": PASSWORD})

    assert answer["Location"] == "/account/login"
    assert client.get("/account/").context["user"].get_username() == "bob"


def test_session_that_django_made_by_itself_is_no_way_round(client, anna, required):
    client.force_login(anna)
    assert client.get(ADMIN)["Location"] == "/account/factors"
    assert client.post("/admin/auth/user/add/")["Location"] == "/account/factors"


def test_applicant_is_asked_for_nothing_more(client, required):
    make_user("jan")
    assert enter(client, "jan", "/account/")["Location"] == "/account/"
    assert client.get(MINE).status_code == 200
    assert client.get("/admin/login/?next=/admin/").status_code == 403


def test_signing_in_leads_to_no_other_site(client, anna):
    secret = with_app(anna)
    enter(client, then="https://evil.example/")
    answer = client.post("/account/factors/code?next=https://evil.example/", {"code": code(secret)})
    assert answer["Location"].startswith("/")


def test_sign_in_that_is_not_fresh_is_proved_again_before_factors_change(client, anna, time_machine):
    now = time.time()
    time_machine.move_to(now, tick=False)
    enter(client)
    assert client.get("/account/factors/app").status_code == 200
    time_machine.move_to(now + 301, tick=False)

    asked = client.get("/account/factors/app")

    assert asked["Location"].startswith("/account/confirm?next=")
    assert client.post(asked["Location"], {"password": "wrong"}).status_code == 200
    assert client.get("/account/factors/app").status_code == 302
    client.post(asked["Location"], {"password": PASSWORD})
    assert client.get("/account/factors/app").status_code == 200


@pytest.mark.parametrize("path", ["factors", "factors/app", "factors/recovery", "passkeys", "passkeys/add"])
def test_stranger_is_asked_to_sign_in(client, path):
    assert client.get(f"/account/{path}")["Location"].startswith("/account/login")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("nl", "Naar de werkplek"),
        ("fr", "Vers l’espace de travail"),
        ("de", "Zum Arbeitsplatz"),
        ("en", "To the workplace"),
    ],
)
def test_pages_look_like_the_site_and_speak_its_languages(client, anna, language, words):
    enter(client)
    for path in ("factors", "factors/app", "passkeys", "passkeys/add"):
        page = client.get(f"/account/{path}", headers={"Accept-Language": language})
        assert page.status_code == 200, path
        assert f'<html lang="{language}">' in page.text
        assert "jobsite/account" in page.text
        assert words in page.text
        assert "no-store" in page["Cache-Control"]
        assert "'unsafe" not in page["Content-Security-Policy"]
        # no script but those of files, and data
        assert not re.search(r"<script(?![^>]*(src=|application/json))|\son\w+=|\sstyle=", page.text), path


def test_secrets_are_on_no_page_of_the_workplace(client, anna):
    enter(client)
    for model in ("mfa/authenticator", "socialaccount/socialaccount", "account/emailaddress"):
        assert client.get(f"/admin/{model}/").status_code == 404


def test_nobody_makes_an_account(client):
    for path in ("signup", "signup/", "email/", "password/set/", "3rdparty/", "oidc/signup"):
        assert client.get(f"/account/{path}").status_code == 404


# --- Tokens ------------------------------------------------------------------------------------


def sign_in(client, name):
    return client.post(TOKEN, {"username": name, "password": PASSWORD}, content_type="application/json")


def test_password_alone_gives_no_token_to_who_has_a_factor(client, anna):
    assert sign_in(client, "anna").status_code == 200
    with_app(anna)

    refused = sign_in(client, "anna")

    assert refused.status_code == 401
    assert refused.json()["detail"] == "This account needs a second factor: a password is not enough."
    assert client.get(MINE, headers=bearer(make_token(anna))).status_code == 200  # by issue_token


def test_password_alone_gives_no_token_to_staff_where_it_is_required(client, anna, required):
    make_user("jan")
    assert sign_in(client, "anna").status_code == 401
    assert sign_in(client, "jan").status_code == 200


# --- A passkey ---------------------------------------------------------------------------------


def test_passkeys_are_offered(client, anna):
    page = client.get("/account/login")
    assert 'id="passkey_login"' in page.text
    options = client.get("/account/passkeys/login", headers={"Accept": "application/json"}).json()
    assert options["request_options"]["publicKey"]["userVerification"] == "required"
    with_app(anna)
    enter(client)  # a password that waits for its code does not stand in the way
    client.get("/account/login")
    assert client.get("/account/passkeys/login", headers={"Accept": "application/json"}).json() != {}
    strange = ("", "x", "[]", "7", '{"id": "x"}', '{"response": {"userHandle": "MQ"}}', "{}", "[" * 100_000)
    for credential in strange:
        refused = client.post("/account/passkeys/login", {"credential": credential})
        assert refused.status_code in (200, 302)
        assert not is_in(client)


# --- OpenID Connect ----------------------------------------------------------------------------


class Provider(BaseHTTPRequestHandler):
    """As little of an identity provider as the code flow needs; `person` is who signs in there."""

    person: dict = {}
    asked: dict = {}

    def do_GET(self):
        base = f"http://127.0.0.1:{PORT}"
        url = urlsplit(self.path)
        if url.path == "/.well-known/openid-configuration":
            self.say(
                {
                    "issuer": base,
                    "authorization_endpoint": f"{base}/authorize",
                    "token_endpoint": f"{base}/token",
                    "userinfo_endpoint": f"{base}/userinfo",
                    "jwks_uri": f"{base}/keys",
                    "token_endpoint_auth_methods_supported": ["client_secret_post"],
                }
            )
        elif url.path == "/userinfo":
            self.say(self.person)

    def do_POST(self):
        posted = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        digest = urlsafe_b64encode(sha256(posted["code_verifier"][0].encode()).digest()).decode().rstrip("=")
        is_right = posted["client_secret"] == ["a secret"] and digest == self.asked["code_challenge"][0]
        self.say({"access_token": "t", "token_type": "Bearer"} if is_right else {"error": "invalid_grant"})

    def say(self, data):
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextmanager
def provider():
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Provider)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def identity_provider():
    with provider():
        yield Provider


def come_from(client, identity_provider, then=ADMIN, **person):
    """Follow the button, sign in there as `person`, and come back."""
    left = client.get(f"/account/oidc/login?next={then}")
    identity_provider.asked = parse_qs(urlsplit(left["Location"]).query)
    identity_provider.person = person
    state = identity_provider.asked["state"][0]
    return client.get(f"/account/oidc/callback?code=c&state={state}")


COLLEAGUE = {"sub": "248289761001", "email": "Anna@example.org", "email_verified": True}


def test_colleague_comes_in_by_a_verified_address_and_from_then_on_by_name(client, anna, identity_provider):
    before = User.objects.values_list("password", "is_staff", "is_superuser").get()
    assert come_from(client, identity_provider, **COLLEAGUE)["Location"] == ADMIN
    assert is_in(client)
    assert SocialAccount.objects.get().uid == COLLEAGUE["sub"]
    assert User.objects.values_list("password", "is_staff", "is_superuser").get() == before

    User.objects.update(email="other@example.org")
    again = Client()
    assert come_from(again, identity_provider, **COLLEAGUE)["Location"] == ADMIN
    assert is_in(again)


def test_provider_sees_to_its_own_second_factor(client, anna, required, identity_provider):
    come_from(client, identity_provider, **COLLEAGUE)
    assert is_in(client)


def test_factor_of_this_site_is_asked_for_after_another_site_too(client, anna, identity_provider):
    with_app(anna)
    assert come_from(client, identity_provider, **COLLEAGUE)["Location"] == "/account/factors/code"
    assert not is_in(client)


@pytest.mark.parametrize(
    "person",
    [
        {"sub": "1", "email": "nobody@example.org", "email_verified": True},
        {"sub": "1", "email": "anna@example.org", "email_verified": False},
        {"sub": "1", "email": "anna@example.org", "email_verified": "false"},
        {"sub": "1", "email": "anna@example.org"},
        {"sub": "1"},
        {"sub": "1", "email": "gone@example.org", "email_verified": True},
        {"sub": "1", "email": "two@example.org", "email_verified": True},
        {"sub": "1", "email": "", "email_verified": True},
    ],
)
def test_stranger_is_refused_and_no_account_is_made(client, anna, identity_provider, person):
    make_user("gone", email="gone@example.org", is_active=False)
    make_user("two", email="two@example.org")
    make_user("three", email="TWO@example.org")

    refused = come_from(client, identity_provider, **person)

    assert refused.status_code == 403
    assert "No account here" in refused.text
    assert not is_in(client)
    assert User.objects.count() == 4
    assert not SocialAccount.objects.exists()


def test_address_that_was_handed_on_opens_nothing(client, anna, identity_provider):
    come_from(Client(), identity_provider, **COLLEAGUE)
    assert come_from(client, identity_provider, **COLLEAGUE | {"sub": "2"}).status_code == 403


def test_deactivated_account_stays_out(client, anna, identity_provider):
    come_from(client, identity_provider, **COLLEAGUE)
    User.objects.update(is_active=False)
    assert not is_in(client)
    come_from(other := Client(), identity_provider, **COLLEAGUE)
    assert not is_in(other)


def test_answer_that_nobody_asked_for_is_refused(client, anna, identity_provider):
    identity_provider.person = COLLEAGUE
    for query in ("code=c&state=made-up", "code=c", "error=access_denied", ""):
        client.get(f"/account/oidc/callback?{query}")
        assert not is_in(client)


def test_provider_that_is_away_is_no_failure(client, anna):
    page = client.get("/account/oidc/login")
    assert page.status_code == 503
    assert "Example Login does not answer" in page.text
    assert "Example Login" in client.get("/account/login").text


# --- Lost phones -------------------------------------------------------------------------------


def test_command_takes_factors_and_identities_away(client, anna, identity_provider, required, capsys):
    come_from(Client(), identity_provider, **COLLEAGUE)
    with_app(anna)

    call_command("reset_sign_in", "anna")

    assert capsys.readouterr().out == (
        "2 factors and 1 identities removed. One has to be set up before the workplace opens.\n"
    )
    enter(client)
    assert client.get(ADMIN)["Location"] == "/account/factors"
    with pytest.raises(CommandError):
        call_command("reset_sign_in", "nobody")
