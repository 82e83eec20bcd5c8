"""Codes of a second factor, and passkeys, where the extra is switched on.

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
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from fido2 import webauthn
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode

from applications.mail.links import invitation_token
from applications.models import Invitation
from applications.operations.invitations import invite
from jobsite.accounts import pages, roles
from tests.applications.makers import MINE, PASSWORD, make_user
from tests.factories import make_brand
from tests.jobsite.accounts import extra
from tests.jobsite.accounts.extra import ADMIN, code, enter, is_in, request_token, with_app

pytestmark = pytest.mark.django_db

RECOVERY = ("/recovery", "/recovery/new", "/recovery/file")

anna = pytest.fixture(extra.make_anna)
required = pytest.fixture(extra.require_factor)


def test_password_is_enough_without_a_factor_where_it_is_optional(client, anna):
    assert client.get(ADMIN)["Location"] == "/admin/login/?next=/admin/"
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/account/login?next=%2Fadmin%2F"
    for path in ("factors", "factors/app", "factors/recovery", "passkeys", "passkeys/add"):
        assert client.get(f"/account/{path}")["Location"].startswith("/account/login")
    for path in ("signup", "signup/", "email/", "password/set/", "3rdparty/", "oidc/signup"):
        assert client.get(f"/account/{path}").status_code == 404  # nobody makes an account

    assert enter(client)["Location"] == ADMIN
    assert is_in(client)
    # Secrets.
    for model in ("mfa/authenticator", "socialaccount/socialaccount", "account/emailaddress"):
        assert client.get(f"/admin/{model}/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_whole_way_from_setting_up_to_signing_in_with_a_code(client, anna, required):
    """Required: the workplace stays closed until a factor is there;
    then it asks for it at each sign-in.
    """
    assert enter(client)["Location"] == ADMIN
    assert client.get(ADMIN)["Location"] == "/account/factors"
    assert "The admin requires a second factor" in client.get("/account/factors").text

    page = client.get("/account/factors/app")
    secret = re.search(
        r'id="authenticator_secret"[^>]*value="(\w+)"|value="([A-Z2-7]{16,})"', page.text
    )
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


def test_new_password_does_not_replace_the_second_factor(client, anna, mailoutbox, monkeypatch):
    monkeypatch.setattr(pages, "in_background", lambda work: work())
    secret = with_app(anna)
    client.post("/account/reset", {"email": "anna@example.org"})
    address = re.search(r"/account/reset/\S+", mailoutbox[0].body)[0]
    form = client.get(address, follow=True).redirect_chain[-1][0]
    new = "een-nieuw-geheim-8"
    assert client.post(form, {"new_password1": new, "new_password2": new})["Location"] == ADMIN
    assert not is_in(client)
    assert enter(client, password=new)["Location"] == "/account/factors/code"
    assert not is_in(client)
    assert client.post("/account/factors/code", {"code": code(secret)})["Location"] == ADMIN


def invited(anna):
    roles.create()
    now = timezone.now()
    invitation = invite(
        invitation=Invitation(
            email="noor@example.org",
            first_name="Noor",
            last_name="Peeters",
            role=Group.objects.get(name="Recruiter"),
            language="en",
            author=anna,
        ),
        brands=[make_brand()],
        at=now,
    )
    return reverse("invitation", args=[invitation_token(invitation)])


@pytest.mark.django_db(transaction=True)
def test_invited_colleague_sets_a_factor_up_first(client, anna, required):
    words = dict.fromkeys(("new_password1", "new_password2"), "een-nieuw-geheim-8")
    assert client.post(invited(anna), words)["Location"] == ADMIN
    assert client.get(ADMIN)["Location"] == "/account/factors"


def test_invited_colleague_signs_in_at_the_provider_only(client, anna):
    path = invited(anna)
    assert "Accept, and sign in with Example Login" in client.get(path).text
    assert client.post(path, {"provider": "1"})["Location"] == "/account/login?next=/admin/"
    noor = User.objects.get(email="noor@example.org")
    assert (noor.is_staff, noor.has_usable_password()) == (True, False)
    assert not is_in(client)  # the provider has to know the person


def test_codes_are_good_once(client, anna):
    now = code(with_app(anna))
    recovery = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    for each in (now, recovery):
        for expected in ("/admin/", None):
            someone = Client()
            enter(someone)
            assert someone.post("/account/factors/code", {"code": each}).get("Location") == expected


def wrong_codes(client, times, path="/account/factors/code"):
    return [client.post(path, {"code": f"{number:06}"}).status_code for number in range(times)]


def test_five_wrong_codes_in_a_row_end_the_session(client, anna):
    """Or the pending sign-in."""
    enter(client)
    secret = with_app(anna)
    path = "/account/factors/confirm"
    assert wrong_codes(client, 4, path) == [200] * 4
    client.post(path, {"code": code(secret)})
    assert is_in(client)
    assert wrong_codes(client, 5, path) == [200] * 4 + [302]
    assert client.get("/account/")["Location"].startswith("/account/login")

    other, path, right = (
        Client(REMOTE_ADDR="203.0.113.9"),
        "/account/factors/code",
        {"code": code(secret, 1)},
    )
    enter(other)
    assert wrong_codes(other, 5) == [200] * 4 + [302]
    assert other.post(path, right)["Location"] == "/account/login"
    enter(other)
    assert other.post(path, right)["Location"] == ADMIN


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

    assert (
        client.post("/account/confirm", {"password": PASSWORD, "next": ADMIN})["Location"] == ADMIN
    )
    confirmed = client.post("/account/factors/confirm", {"code": code(secret, 1), "next": ADMIN})
    assert confirmed["Location"] == ADMIN
    again = Client()
    enter(again)
    assert again.post("/account/factors/code", {"code": code(secret, -1)})["Location"] == ADMIN


def test_right_password_without_its_code_is_no_failed_sign_in(client, anna):
    session = Client()
    enter(session)
    with_app(anna)
    for _ in range(12):
        assert enter(client)["Location"] == "/account/factors/code"
        assert request_token(client, "anna").status_code == 401
    assert not AccessAttempt.objects.exists()

    # A wrong password where it is confirmed counts.
    statuses = [
        session.post("/account/confirm", {"password": "wrong"}).status_code for _ in range(10)
    ]
    assert statuses == [200] * 9 + [429]
    assert enter(Client()).status_code == 429


@pytest.mark.parametrize("kind", ["app", "passkey"])
def test_factor_is_removed_only_after_it_was_confirmed(client, anna, kind, time_machine):
    """A browser that is left open just after the sign-in is not enough."""
    now = time.time()
    time_machine.move_to(now, tick=False)
    secret = with_app(anna)
    passkey = Authenticator.objects.create(
        user=anna, type="webauthn", data={"name": "k", "credential": {}}
    )
    path = (
        "/account/factors/app/remove" if kind == "app" else f"/account/passkeys/{passkey.pk}/remove"
    )
    enter(client)
    client.post("/account/factors/code", {"code": code(secret)})
    assert is_in(client)

    requested, confirm = client.get(path), "/account/factors/confirm?next="
    assert requested["Location"] == f"{confirm}{quote(path, safe='')}"
    assert client.post(path)["Location"] == f"{confirm}%2Faccount%2Ffactors"
    client.post("/account/confirm", {"password": PASSWORD, "next": path})  # no factor
    assert client.post(path)["Location"] == f"{confirm}%2Faccount%2Ffactors"
    assert Authenticator.objects.count() == 3

    assert (
        client.post(requested["Location"], {"code": code(secret, 1), "next": path})["Location"]
        == path
    )
    time_machine.move_to(now + 301, tick=False)
    assert client.post(path)["Location"].startswith("/account/factors/confirm")
    client.post(requested["Location"], {"code": code(secret), "next": path})
    client.post(path)
    left = ["recovery_codes", "webauthn"] if kind == "app" else ["recovery_codes", "totp"]
    assert sorted(Authenticator.objects.values_list("type", flat=True)) == left
    assert client.get(path).status_code == 404


def test_session_from_before_the_factor_is_asked_for_it(client, anna):
    enter(client)
    assert is_in(client)
    secret = with_app(anna)

    requested = client.get("/admin/auth/user/")

    assert requested["Location"] == "/account/factors/confirm?next=%2Fadmin%2Fauth%2Fuser%2F"
    confirmed = client.post(
        requested["Location"], {"code": code(secret), "next": "/admin/auth/user/"}
    )
    assert confirmed["Location"] == "/admin/auth/user/"
    assert is_in(client)


def test_password_alone_neither_shows_nor_changes_factors(client, anna):
    """The session is older than the factor:
    its password would give away the codes, or the factor.
    """
    enter(client)
    secret = with_app(anna)
    factors = [f"/account/factors{end}" for end in ("", "/app", "/app/remove", *RECOVERY)]
    for path in (*factors, "/account/passkeys", "/account/passkeys/add"):
        assert client.get(path)["Location"].startswith("/account/factors/confirm?next="), path
        assert (
            client.post(path)["Location"] == "/account/factors/confirm?next=%2Faccount%2Ffactors"
        ), path
    assert Authenticator.objects.count() == 2

    client.post("/account/factors/confirm", {"code": code(secret), "next": ADMIN})
    assert client.get("/account/factors/recovery").status_code == 200


def test_admin_page_signs_nobody_in_by_a_password_alone(client, anna, settings):
    """A colleague who is in, and knows the password of somebody with more rights."""
    with_app(anna)
    User.objects.create_user("bob", "bob@example.org", PASSWORD, is_staff=True)
    enter(client, "bob")

    answer = client.post("/admin/login/?next=/admin/", {"username": "anna", "password": PASSWORD})

    assert answer["Location"] == "/account/login"
    assert client.get("/account/").context["user"].get_username() == "bob"
    settings.SECOND_FACTOR = "required"
    client.force_login(User.objects.get(username="bob"))  # a session that Django made by itself
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


def test_sign_in_that_is_not_fresh_is_proved_again_before_factors_change(
    client, anna, time_machine
):
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


def test_pages_look_like_the_site_and_speak_its_languages(client, anna):
    enter(client)
    # no script but those of files, and data
    inline = re.compile(r"<script(?![^>]*(src=|application/json))|\son\w+=|\sstyle=")
    admin = {
        "nl": "het beheer",
        "fr": "l’administration",
        "de": "Zur Verwaltung",
        "en": "Go to the admin",
    }
    for language, words in admin.items():
        for path in ("factors", "factors/app", "passkeys", "passkeys/add"):
            page = client.get(f"/account/{path}", headers={"Accept-Language": language})
            expected = (f'<html lang="{language}">', "jobsite/account", words)
            assert (page.status_code, [text for text in expected if text not in page.text]) == (
                200,
                [],
            ), path
            assert "no-store" in page["Cache-Control"]
            assert "'unsafe" not in page["Content-Security-Policy"]
            assert not inline.search(page.text), path


def test_passkeys_are_offered(client, anna):
    def offered():
        return client.get("/account/passkeys/login", headers={"Accept": "application/json"}).json()

    assert 'id="passkey_login"' in client.get("/account/login").text
    assert offered()["request_options"]["publicKey"]["userVerification"] == "required"
    with_app(anna)
    enter(client)  # a password that waits for its code does not stand in the way
    client.get("/account/login")
    assert offered() != {}
    strange = (
        "",
        "x",
        "[]",
        "7",
        '{"id": "x"}',
        '{"response": {"userHandle": "MQ"}}',
        "{}",
        "[" * 100_000,
    )
    for credential in strange:
        refused = client.post("/account/passkeys/login", {"credential": credential})
        assert (refused.status_code in (200, 302), is_in(client)) == (True, False)


SITE, FRAMED = "https://testserver", " in a frame of another site"
STRANGE = (
    "https://sub.testserver",
    "https://testserver:8443",
    "http://testserver",
    "https://testserver.example",
    "https://testserver/",
    "null",
    "",
    SITE + FRAMED,
)


class Phone:
    """A passkey: a key pair that signs what a page of `origin` asks for."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = b"a credential"

    def answer(self, client, kind, origin, **response):
        challenge = websafe_decode(client.session["mfa.webauthn.state"]["challenge"])
        is_framed = origin.endswith(FRAMED)
        origin = origin.removesuffix(FRAMED)
        self.data = webauthn.CollectedClientData.create(
            kind, challenge, origin, cross_origin=is_framed
        )
        name, response = (
            websafe_encode(self.id),
            {"clientDataJSON": websafe_encode(self.data)} | response,
        )
        known = {"type": "public-key", "clientExtensionResults": {"credProps": {"rk": True}}}
        return json.dumps(known | {"id": name, "rawId": name, "response": response})

    def about(self, flags, *credential):
        return webauthn.AuthenticatorData.create(
            sha256(b"testserver").digest(), flags, 0, *credential
        )

    def registered(self, client, origin):
        public = ES256.from_cryptography_key(self.key.public_key())
        credential = webauthn.AttestedCredentialData.create(webauthn.Aaguid.NONE, self.id, public)
        attestation = webauthn.AttestationObject.create("none", self.about(0x45, credential), {})
        attestation = websafe_encode(attestation)
        return self.answer(client, "webauthn.create", origin, attestationObject=attestation)

    def signed(self, client, origin, user):
        about = self.about(0x05)
        self.answer(client, "webauthn.get", origin)
        response = {
            "authenticatorData": about,
            "signature": self.key.sign(about + self.data.hash, ec.ECDSA(hashes.SHA256())),
            "userHandle": user_pk_to_url_str(user).encode(),
        }
        encoded = {name: websafe_encode(value) for name, value in response.items()}
        return self.answer(client, "webauthn.get", origin, **encoded)


@pytest.mark.parametrize("is_lax", [False, True])
def test_passkey_is_good_on_pages_of_this_origin_only(client, anna, settings, is_lax):
    """Whatever a browser lets pages of a subdomain or of another port do;
    in development too (`is_lax`).
    """
    settings.PUBLIC_BASE_URL, settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = SITE, is_lax
    phone = Phone()
    enter(client)

    for origin in (*STRANGE, SITE):
        client.get("/account/passkeys/add")
        posted = {
            "name": "phone",
            "credential": phone.registered(client, origin),
            "passwordless": "on",
        }
        added = client.post("/account/passkeys/add", posted)
        assert (added.status_code, Authenticator.objects.filter(type="webauthn").count()) == (
            (302, 1) if origin == SITE else (200, 0)
        ), origin

    for origin in (*STRANGE, SITE):
        browser = Client(
            headers={"Host": f"testserver:{urlsplit(origin).port}"} if "8443" in origin else {}
        )
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
