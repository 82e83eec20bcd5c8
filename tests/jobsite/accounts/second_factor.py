"""A second factor and passkeys, as they are where the extra is switched on.

tests/jobsite/accounts/test_second_factor.py runs this file in a process of its own: which apps are
installed is decided when the settings are read.
"""

import json
import re
import time
from hashlib import sha256
from urllib.parse import quote, urlsplit

import pytest
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from axes.models import AccessAttempt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from jobsite.accounts.sign_in import has_factor
from tests.applications.makers import MINE, PASSWORD, bearer, make_token, make_user
from tests.factories import make_insider
from tests.jobsite.accounts.extra import (
    ADMIN,
    COLLEAGUE,
    code,
    come_from,
    enter,
    is_in,
    make_anna,
    require_factor,
    serve_provider,
    with_app,
)
from tests.vacancies.test_media import files_of, status, with_files

pytestmark = pytest.mark.django_db

anna = pytest.fixture(make_anna)
required = pytest.fixture(require_factor)
identity_provider = pytest.fixture(serve_provider)

TOKEN = "/v1/auth/token"


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
    assert "The admin requires a second factor" in client.get("/account/factors").text

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


def wrong_codes(client, times, path="/account/factors/code"):
    return [client.post(path, {"code": f"{number:06}"}).status_code for number in range(times)]


def test_five_wrong_codes_in_a_row_end_the_pending_sign_in(client, anna):
    secret = with_app(anna)
    enter(client)

    assert wrong_codes(client, 5) == [200] * 4 + [302]

    assert client.post("/account/factors/code", {"code": code(secret)})["Location"] == "/account/login"
    enter(client)
    assert client.post("/account/factors/code", {"code": code(secret)})["Location"] == ADMIN


def test_five_wrong_codes_in_a_row_end_the_session(client, anna):
    enter(client)
    secret = with_app(anna)
    path = "/account/factors/confirm"
    assert wrong_codes(client, 4, path) == [200] * 4
    client.post(path, {"code": code(secret)})
    assert is_in(client)

    assert wrong_codes(client, 5, path) == [200] * 4 + [302]

    assert client.get("/account/")["Location"].startswith("/account/login")


def test_tenth_wrong_code_locks_the_account_at_the_address_out(client, anna, settings):
    """Signing in again with the password starts no new count, and neither does another account."""
    secret = with_app(anna)
    other = with_app(User.objects.create_user("bob", password=PASSWORD, is_staff=True))
    enter(client)
    assert wrong_codes(client, 5) == [200] * 4 + [302]
    bob = Client()
    enter(bob, "bob")
    bob.post("/account/factors/code", {"code": code(other)})
    assert is_in(bob)

    enter(client)
    assert wrong_codes(client, 5) == [200] * 4 + [429]

    locked = enter(client)
    assert (locked.status_code, int(locked["Retry-After"]) in range(890, 901)) == (429, True)
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    assert enter(elsewhere)["Location"] == "/account/factors/code"
    assert elsewhere.post("/account/factors/code", {"code": code(secret)})["Location"] == ADMIN


def test_who_knows_the_password_cannot_lock_the_owner_out(client, anna, time_machine):
    """Neither of the sign-in, nor of the pages that ask again, wherever the codes are wrong."""
    time_machine.move_to(time.time(), tick=False)
    secret = with_app(anna)
    enter(client)
    client.post("/account/factors/code", {"code": code(secret)})
    for number in range(2):
        thief = Client(REMOTE_ADDR=f"203.0.113.{number}")
        for _ in range(3):
            enter(thief)
            wrong_codes(thief, 5)

    assert client.post("/account/confirm", {"password": PASSWORD, "next": ADMIN})["Location"] == ADMIN
    confirmed = client.post("/account/factors/confirm", {"code": code(secret, 1), "next": ADMIN})
    assert confirmed["Location"] == ADMIN
    again = Client()
    enter(again)
    assert again.post("/account/factors/code", {"code": code(secret, -1)})["Location"] == ADMIN


def test_right_password_without_its_code_is_no_failed_sign_in(client, anna):
    with_app(anna)
    for _ in range(12):
        assert enter(client)["Location"] == "/account/factors/code"
        assert sign_in(client, "anna").status_code == 401
    assert not AccessAttempt.objects.exists()


def test_wrong_password_where_it_is_confirmed_counts(client, anna):
    enter(client)
    statuses = [client.post("/account/confirm", {"password": "wrong"}).status_code for _ in range(10)]
    assert statuses == [200] * 9 + [429]
    assert enter(Client()).status_code == 429


@pytest.mark.parametrize("kind", ["app", "passkey"])
def test_factor_is_removed_only_after_it_was_confirmed(client, anna, kind, time_machine):
    """A browser that is left open just after the sign-in is not enough."""
    now = time.time()
    time_machine.move_to(now, tick=False)
    secret = with_app(anna)
    passkey = Authenticator.objects.create(user=anna, type="webauthn", data={"name": "k", "credential": {}})
    path = "/account/factors/app/remove" if kind == "app" else f"/account/passkeys/{passkey.pk}/remove"
    enter(client)
    client.post("/account/factors/code", {"code": code(secret)})
    assert is_in(client)

    requested = client.get(path)
    assert requested["Location"] == f"/account/factors/confirm?next={quote(path, safe='')}"
    assert client.post(path)["Location"] == "/account/factors/confirm?next=%2Faccount%2Ffactors"
    client.post("/account/confirm", {"password": PASSWORD, "next": path})  # no factor
    assert client.post(path)["Location"] == "/account/factors/confirm?next=%2Faccount%2Ffactors"
    assert Authenticator.objects.count() == 3

    assert client.post(requested["Location"], {"code": code(secret, 1), "next": path})["Location"] == path
    time_machine.move_to(now + 301, tick=False)
    assert client.post(path)["Location"].startswith("/account/factors/confirm")
    client.post(requested["Location"], {"code": code(secret), "next": path})
    client.post(path)
    assert sorted(Authenticator.objects.values_list("type", flat=True)) == sorted(
        {"totp", "webauthn", "recovery_codes"} - {"totp" if kind == "app" else "webauthn"}
    )


@pytest.mark.parametrize("path", ["/account/factors/app/remove", "/account/passkeys/1/remove"])
def test_page_to_remove_a_factor_that_is_not_there_is_a_404(client, anna, path):
    enter(client)
    assert client.get(path).status_code == 404


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

    requested = client.get("/admin/auth/user/")

    assert requested["Location"] == "/account/factors/confirm?next=%2Fadmin%2Fauth%2Fuser%2F"
    posted = {"code": code("JBSWY3DPEHPK3PXP"), "next": "/admin/auth/user/"}
    confirmed = client.post(requested["Location"], posted)
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

    requested = client.get("/account/factors/app")

    assert requested["Location"].startswith("/account/confirm?next=")
    assert client.post(requested["Location"], {"password": "wrong"}).status_code == 200
    assert client.get("/account/factors/app").status_code == 302
    client.post(requested["Location"], {"password": PASSWORD})
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
        ("en", "Go to the admin"),
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


# --- Internal lists and files ------------------------------------------------------------------


INTERNAL = ("/v0.1/vacancies/internal", "/v1/vacancies/hot/internal")


@pytest.mark.parametrize("mode", ["optional", "required"])
def test_factor_opens_internal_lists_and_files_and_the_password_alone_does_not(client, anna, settings, mode):
    settings.SECOND_FACTOR, settings.INTERNAL_ACCESS = mode, "authenticated"
    draft, internal = with_files(status="draft"), with_files(audience="internal", is_hot=True)
    addresses = [
        *INTERNAL,
        f"/v1/vacancies/{internal.pk}",
        f"/v1/vacancies/{internal.pk}/form",
        *(f"/media/{name}" for each in (draft, internal) for name in files_of(each)),
    ]

    def statuses(client, **extra):
        return [status(client, address, **extra) for address in addresses]

    enter(client)
    if mode == "optional":
        assert statuses(client) == [200] * 8  # who has no factor needs none
    secret = with_app(anna)

    assert statuses(client) == [403, 403, 404, 404, 404, 404, 404, 404]
    assert statuses(Client()) == [401, 401, 404, 404, 404, 404, 404, 404]
    assert client.get(MINE).status_code == 200  # their own applications

    client.post("/account/factors/confirm", {"code": code(secret), "next": ADMIN})
    assert statuses(client) == [200] * 8

    # a token of issue_token has no factors; drafts are for sessions only
    token = statuses(Client(), headers=bearer(make_token(anna)))
    assert token == [200, 200, 200, 200, 404, 404, 200, 200]


def test_staff_without_a_factor_are_outsiders_where_it_is_required(client, anna, required, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    insider = make_insider()  # is not staff, and has no factor
    insider.set_password(PASSWORD)
    insider.save()
    colleague = Client()
    enter(client)
    enter(colleague, "insider", "/account/")

    assert [client.get(path).status_code for path in INTERNAL] == [403, 403]
    assert [colleague.get(path).status_code for path in INTERNAL] == [200, 200]
    settings.INTERNAL_ACCESS = "public"
    assert [client.get(path).status_code for path in INTERNAL] == [200, 200]


# --- Sessions ----------------------------------------------------------------------------------


def copy(client):
    """A browser that has the session cookie that `client` has now."""
    thief = Client()
    thief.cookies["sessionid"] = client.cookies["sessionid"].value
    return thief


def opens(client):
    """What `client` gets of the workplace, the recovery codes and the applications."""
    paths = (ADMIN, "/account/factors/recovery", MINE)
    return [client.get(path).status_code for path in paths]


@pytest.mark.django_db(transaction=True)
def test_session_key_changes_when_an_app_is_set_up(client, anna, required):
    enter(client)
    page = client.get("/account/factors/app")
    secret = re.search(r'id="authenticator_secret"[^>]*value="(\w+)"|value="([A-Z2-7]{16,})"', page.text)
    thief = copy(client)

    client.post("/account/factors/app", {"code": code(next(filter(None, secret.groups())))})

    assert opens(client) == [200, 200, 200]
    assert opens(thief) == [302, 302, 401]
    assert not Session.objects.filter(pk=thief.cookies["sessionid"].value).exists()


def test_session_key_changes_when_the_factor_is_confirmed(client, anna):
    enter(client)
    secret = with_app(anna)
    thief = copy(client)
    assert opens(thief) == [302, 302, 200]  # a password-only session

    client.post("/account/factors/confirm", {"code": code(secret), "next": ADMIN})

    assert opens(client) == [200, 200, 200]
    assert opens(thief) == [302, 302, 401]


def test_session_key_changes_when_the_password_is_confirmed(client, anna, time_machine):
    """A confirmed password lets factors be changed."""
    enter(client)
    time_machine.move_to(time.time() + 301)
    thief = copy(client)

    client.post("/account/confirm", {"password": PASSWORD, "next": "/account/factors/app"})

    assert client.get("/account/factors/app").status_code == 200
    assert thief.get("/account/factors/app")["Location"].startswith("/account/login")


def test_session_key_changes_at_each_step_of_a_sign_in(client, anna):
    secret = with_app(anna)
    client.get("/account/passkeys/login", headers={"Accept": "application/json"})
    stranger = copy(client)
    enter(client)
    pending = copy(client)

    client.post("/account/factors/code", {"code": code(secret)})

    assert opens(client) == [200, 200, 200]
    for thief in (stranger, pending):
        assert opens(thief) == [302, 302, 401]
        assert thief.get("/account/factors/code")["Location"] == "/account/login"


def test_new_password_ends_a_sign_in_that_waits_for_its_code(client, anna):
    secret = with_app(anna)
    codes = Authenticator.objects.get(type="recovery_codes").wrap()
    enter(client)
    assert client.get("/account/factors/code").status_code == 200
    anna.set_password("another battery staple 8")
    anna.save()

    for path in ("/account/factors/code", "/account/factors/code"):
        for each in (code(secret), codes.get_unused_codes()[0]):
            assert client.post(path, {"code": each})["Location"] == "/account/login"
        assert client.get(path)["Location"] == "/account/login"

    assert opens(client) == [302, 302, 401]
    assert len(codes.get_unused_codes()) == 10  # none was used up


def test_new_password_ends_a_sign_in_by_a_provider_that_waits_for_its_code(client, anna, identity_provider):
    secret = with_app(anna)
    assert come_from(client, identity_provider, **COLLEAGUE)["Location"] == "/account/factors/code"
    anna.set_password("another battery staple 8")
    anna.save()

    assert client.post("/account/factors/code", {"code": code(secret)})["Location"] == "/account/login"
    assert not is_in(client)


@pytest.mark.parametrize("what", ["deactivated", "deleted"])
def test_account_that_is_gone_has_no_sign_in_that_waits(client, anna, what):
    secret = with_app(anna)
    enter(client)
    if what == "deleted":
        anna.delete()
    else:
        User.objects.update(is_active=False)

    assert client.post("/account/factors/code", {"code": code(secret)})["Location"] == "/account/login"


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


SITE = "https://testserver"
STRANGE = (
    "https://sub.testserver",
    "https://testserver:8443",
    "http://testserver",
    "https://testserver.example",
    "https://testserver/",
    "null",
    "",
)


class Phone:
    """A passkey: a key pair that signs what a page of `origin` asks for."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = b"a credential"

    def answer(self, client, kind, origin, **response):
        challenge = websafe_decode(client.session["mfa.webauthn.state"]["challenge"])
        self.data = CollectedClientData.create(kind, challenge, origin)
        extensions = {"credProps": {"rk": True}}
        name = websafe_encode(self.id)
        return json.dumps(
            {"id": name, "rawId": name, "type": "public-key", "clientExtensionResults": extensions}
            | {"response": {"clientDataJSON": websafe_encode(self.data)} | response}
        )

    def registered(self, client, origin):
        public = ES256.from_cryptography_key(self.key.public_key())
        credential = AttestedCredentialData.create(Aaguid.NONE, self.id, public)
        about = AuthenticatorData.create(sha256(b"testserver").digest(), 0x45, 0, credential)
        attestation = websafe_encode(AttestationObject.create("none", about, {}))
        return self.answer(client, "webauthn.create", origin, attestationObject=attestation)

    def signed(self, client, origin, user):
        about = AuthenticatorData.create(sha256(b"testserver").digest(), 0x05, 0)
        self.answer(client, "webauthn.get", origin)
        signature = self.key.sign(about + self.data.hash, ec.ECDSA(hashes.SHA256()))
        response = {
            "authenticatorData": websafe_encode(about),
            "signature": websafe_encode(signature),
            "userHandle": websafe_encode(user_pk_to_url_str(user).encode()),
        }
        return self.answer(client, "webauthn.get", origin, **response)


@pytest.mark.parametrize("is_lax", [False, True])
def test_passkey_is_good_on_pages_of_this_origin_only(client, anna, settings, is_lax):
    """Whatever a browser lets pages of a subdomain or of another port do; in development too (`is_lax`)."""
    settings.PUBLIC_BASE_URL, settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = SITE, is_lax
    phone = Phone()
    enter(client)

    for origin in (*STRANGE, SITE):
        client.get("/account/passkeys/add")
        posted = {"name": "phone", "credential": phone.registered(client, origin), "passwordless": "on"}
        added = client.post("/account/passkeys/add", posted)
        assert (added.status_code, Authenticator.objects.filter(type="webauthn").count()) == (
            (302, 1) if origin == SITE else (200, 0)
        ), origin

    for origin in (*STRANGE, SITE):
        browser = Client(headers={"Host": f"testserver:{urlsplit(origin).port}"} if "8443" in origin else {})
        browser.get("/account/passkeys/login", headers={"Accept": "application/json"})
        browser.post("/account/passkeys/login", {"credential": phone.signed(browser, origin, anna)})
        assert is_in(browser) == (origin == SITE), origin

    for origin in (*STRANGE, SITE):  # as a second factor, and again in a session
        browser = Client()
        assert enter(browser)["Location"] == "/account/factors/code"
        browser.get("/account/factors/code")
        browser.post("/account/factors/code", {"credential": phone.signed(browser, origin, anna)})
        assert is_in(browser) == (origin == SITE), origin
    for origin in (*STRANGE, SITE):
        browser.get("/account/passkeys/confirm")
        posted = {"credential": phone.signed(browser, origin, anna), "next": ADMIN}
        confirmed = browser.post("/account/passkeys/confirm", posted)
        assert (confirmed["Location"] == ADMIN) == (origin == SITE), origin


# --- Lost phones -------------------------------------------------------------------------------


def test_command_takes_factors_and_identities_away(client, anna, identity_provider, required, capsys):
    come_from(Client(), identity_provider, **COLLEAGUE)
    with_app(anna)
    secret = with_app(bob := User.objects.create_user("bob", password=PASSWORD, is_staff=True))
    verified, pending, others = Client(), Client(), Client()
    for browser in (verified, pending):
        enter(browser)
    enter(others, "bob")
    verified.post("/account/factors/code", {"code": code(secret)})
    assert is_in(verified)

    call_command("reset_sign_in", "anna")

    assert [verified.get(ADMIN).status_code, verified.get(MINE).status_code] == [302, 401]
    assert pending.get("/account/factors/code")["Location"] == "/account/login"
    assert others.post("/account/factors/code", {"code": code(secret)})["Location"] == ADMIN
    assert has_factor(bob)

    assert capsys.readouterr().out == (
        "2 factors and 1 identities removed, 3 sessions ended. "
        "A second factor has to be set up before using the admin.\n"
    )
    enter(client)
    assert client.get(ADMIN)["Location"] == "/account/factors"
    with pytest.raises(CommandError):
        call_command("reset_sign_in", "nobody")
