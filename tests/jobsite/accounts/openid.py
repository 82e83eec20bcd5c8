"""OpenID Connect, as it is where the extra is switched on.

tests/jobsite/accounts/test_second_factor.py runs this file in a process of its own.
"""

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.test import Client

from tests.applications.makers import make_user
from tests.jobsite.accounts import extra
from tests.jobsite.accounts.extra import ADMIN, COLLEAGUE, come_from, is_in

pytestmark = pytest.mark.django_db

WELL_KNOWN = "/.well-known/openid-configuration"

anna = pytest.fixture(extra.make_anna)
required = pytest.fixture(extra.require_factor)
identity_provider = pytest.fixture(extra.serve_provider)


def test_colleague_comes_in_by_a_verified_address_and_from_then_on_by_name(
    client, anna, required, identity_provider
):
    """The provider sees to its own second factor."""
    before = User.objects.values_list("password", "is_staff", "is_superuser").get()
    arrived = come_from(
        client, identity_provider, **COLLEAGUE, name="Anna Peeters", phone_number="\0"
    )
    assert arrived["Location"] == ADMIN
    assert is_in(client)
    kept = SocialAccount.objects.values_list("uid", "provider", "extra_data")
    # Nothing of the person but the identifier.
    assert list(kept) == [(COLLEAGUE["sub"], "oidc", {})]
    assert User.objects.values_list("password", "is_staff", "is_superuser").get() == before

    User.objects.update(email="other@example.org")
    again = Client()
    assert come_from(again, identity_provider, **COLLEAGUE)["Location"] == ADMIN
    assert is_in(again)

    come_from(client, identity_provider, **COLLEAGUE)
    User.objects.update(is_active=False)
    assert not is_in(client)
    come_from(other := Client(), identity_provider, **COLLEAGUE)
    assert not is_in(other)


def test_factor_of_this_site_is_asked_for_after_another_site_too(client, anna, identity_provider):
    extra.with_app(anna)
    assert come_from(client, identity_provider, **COLLEAGUE)["Location"] == "/account/factors/code"
    assert not is_in(client)


def test_stranger_is_refused_and_no_account_is_made(client, anna, identity_provider, settings):
    make_user("gone", email="gone@example.org", is_active=False)
    make_user("two", email="two@example.org")
    make_user("three", email="TWO@example.org")
    verified = ("nobody@example.org", "gone@example.org", "two@example.org", "")
    of_another_type = ([], ["anna@example.org"], {"a": 1}, 7, True, "x" * 5000, "no address")
    persons = [
        *({"email": email, "email_verified": True} for email in verified + of_another_type),
        *({"email": "anna@example.org", "email_verified": value} for value in (False, "false")),
        {"email": "anna@example.org"},
        {},
    ]
    for person in persons:
        refused = come_from(client, identity_provider, sub="1", **person)
        assert (refused.status_code, "No account on this site" in refused.text) == (403, True), (
            person
        )
        assert not is_in(client)
    settings.OIDC_EMAIL_DOMAINS = ["example.org"]
    for email in (
        "anna@example.org.evil.example",
        "anna@evil.example",
        '"a@example.org"@evil.example',
    ):
        User.objects.filter(pk=anna.pk).update(email=email)
        assert come_from(client, identity_provider, sub="1", email=email).status_code == 403
    assert User.objects.count() == 4
    assert not SocialAccount.objects.exists()


def test_answer_that_nobody_asked_for_is_refused(client, anna, identity_provider):
    identity_provider.person = COLLEAGUE
    for query in ("code=c&state=made-up", "code=c", "error=access_denied", ""):
        client.get(f"/account/oidc/callback?{query}")
        assert not is_in(client)


def test_subject_is_a_text_of_up_to_255_characters(client, anna, identity_provider):
    for subject in (
        None,
        "",
        [],
        ["1"],
        {},
        0,
        7,
        True,
        "s" * 256,
        "s" * 5000,
        "é",
        "a\0b",
        "a\nb",
    ):
        answer = come_from(client, identity_provider, **COLLEAGUE | {"sub": subject})
        assert (answer.status_code, is_in(client)) == (403, False), subject
    assert not SocialAccount.objects.exists()
    for subject in ("x", "s" * 191, "s" * 192, "s" * 255, "auth0|5f7c8ec7c33c6c004bbafe82"):
        SocialAccount.objects.all().delete()
        for browser in (Client(), Client()):  # the second time it is known
            arrived = come_from(browser, identity_provider, **COLLEAGUE | {"sub": subject})
            assert (arrived["Location"], is_in(browser)) == (ADMIN, True), subject
        # Somebody else, to whom the address was handed on.
        another = COLLEAGUE | {"sub": f"{subject[:-1]}y"}
        assert come_from(Client(), identity_provider, **another).status_code == 403, subject


@pytest.mark.parametrize("by", ["both", "the id_token", "userinfo"])
def test_domain_counts_only_where_the_provider_states_nothing(
    anna, identity_provider, settings, by
):
    settings.OIDC_EMAIL_DOMAINS = ["Example.org"]
    for stated, is_let_in in (
        ({"email_verified": True}, True),
        ({"email_verified": False}, False),
        ({"email_verified": "false"}, False),
        ({"email_verified": 0}, False),
        ({"email_verified": None}, True),
        ({}, True),
    ):
        SocialAccount.objects.all().delete()
        person = {"sub": "1", "email": "anna@example.org"}
        identity_provider.claims = stated if by == "the id_token" else {}
        identity_provider.documents = {"/userinfo": person | stated} if by == "userinfo" else {}

        answer = come_from(
            browser := Client(), identity_provider, **person | (stated if by == "both" else {})
        )

        assert (answer.status_code, is_in(browser)) == (
            (302, True) if is_let_in else (403, False)
        ), stated


@pytest.mark.parametrize(
    "query",
    [
        "auth_params=redirect_uri%3Dhttps%3A%2F%2Fevil.example%26prompt%3Dnone%26state%3Dmine%26nonce%3Dmine",
        "auth_params=client_id%3Devil",
        "scope=admin,offline_access",
        "process=connect",
        "process=redirect",
        "process=connect&action=rerequest&scope=x&auth_params=nonce%3Dmine",
    ],
)
def test_parameters_of_the_link_do_not_reach_the_provider(client, anna, identity_provider, query):
    plain, requested = (
        parse_qs(urlsplit(client.get(f"/account/oidc/login{end}")["Location"]).query)
        for end in ("", f"?{query}")
    )

    random = {"state", "nonce", "code_challenge"}
    assert {name: value for name, value in requested.items() if name not in random} == {
        "client_id": ["jobsite"],
        "redirect_uri": ["http://testserver/account/oidc/callback"],
        "scope": requested["scope"],
        "response_type": ["code"],
        "code_challenge_method": ["S256"],
    }
    assert set(requested["scope"][0].split()) == {"openid", "profile", "email"}
    assert all(len(requested[name]) == 1 and requested[name] != plain[name] for name in random)
    for signed_in in (False, True):  # connecting needs one who is
        assert (
            come_from(client, identity_provider, f"{ADMIN}&{query}", **COLLEAGUE)["Location"]
            == ADMIN
        )
        assert is_in(client), signed_in


def test_redirect_uri_does_not_repeat_the_port_of_the_request(client, identity_provider):
    left = client.get("/account/oidc/login", headers={"Host": "testserver:8443"})
    requested = parse_qs(urlsplit(left["Location"]).query)
    assert requested["redirect_uri"] == ["http://testserver/account/oidc/callback"]


HUGE = b'{"sub": "1", "x": "' + b"x" * 300_000 + b'"}'
NOT_OBJECTS = (
    b"[]",
    b'"text"',
    b"7",
    b"null",
    b"true",
    b"",
    b"{",
    b"\xff",
    b"[" * 100_000,
    b"9" * 5000,
    HUGE,
)


@pytest.mark.parametrize("path", [WELL_KNOWN, "/userinfo", "/keys", "/token"])
def test_document_of_another_type_or_size_is_no_failure(client, anna, identity_provider, path):
    for document in NOT_OBJECTS:
        identity_provider.documents = {path: document}
        if path == WELL_KNOWN:
            answer = client.get("/account/oidc/login")
        else:
            answer = come_from(client, identity_provider, **COLLEAGUE)

        assert answer.status_code in ((401, 503) if path == "/token" else (503,)), document[:10]
        assert not is_in(client)
    assert not SocialAccount.objects.exists()


def test_discovery_document_with_a_member_of_another_type_is_refused(
    client, identity_provider, caplog
):
    wrong = {
        "issuer": ["https://evil.example", None, ["x"]],
        "authorization_endpoint": [None, "javascript:alert(1)", ["x"], "http://["],
        "token_endpoint": [7, "file:///etc/passwd"],
        "jwks_uri": [""],
        "userinfo_endpoint": [{}],
        "token_endpoint_auth_methods_supported": [7],
    }
    for name, value in ((name, value) for name, values in wrong.items() for value in values):
        caplog.clear()
        identity_provider.documents = {WELL_KNOWN: extra.DISCOVERY | {name: value}}
        assert client.get("/account/oidc/login").status_code == 503, (name, value)
        assert "The identity provider's answer cannot be used: " in caplog.text, (name, value)


def test_provider_without_userinfo_is_asked_for_the_id_token_only(client, anna, identity_provider):
    discovery = {
        name: value for name, value in extra.DISCOVERY.items() if name != "userinfo_endpoint"
    }
    identity_provider.documents = {WELL_KNOWN: discovery, "/userinfo": b"no"}
    assert come_from(client, identity_provider, **COLLEAGUE)["Location"] == ADMIN
    assert is_in(client)


def test_provider_that_is_away_or_redirects_is_no_failure(client, request, monkeypatch, caplog, db):
    page = client.get("/account/oidc/login")
    assert (page.status_code, "Example Login is not responding" in page.text) == (503, True)
    assert "Example Login" in client.get("/account/login").text

    def redirect(self):
        self.send_response(302)
        self.send_header("Location", f"{extra.ISSUER}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    request.getfixturevalue("identity_provider")
    monkeypatch.setattr(extra.Provider, "do_GET", redirect)
    assert client.get("/account/oidc/login").status_code == 503
    assert "it redirects to another address" in caplog.text


OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
LONG_AGO, SOON = 1_000_000_000, 3600


@pytest.mark.parametrize(
    ("claims", "signing", "expected"),
    [
        ({}, {}, "valid"),
        ({"aud": ["jobsite"]}, {}, "valid"),
        ({"aud": ["jobsite", "other"], "azp": "jobsite"}, {}, "valid"),
        ({"aud": ["jobsite", "other"]}, {}, "issued for another site"),
        ({"azp": "other"}, {}, "issued for another site"),
        ({"aud": "other"}, {}, "InvalidAudienceError"),
        ({"aud": None}, {}, "MissingRequiredClaimError"),
        ({"iss": "https://evil.example"}, {}, "InvalidIssuerError"),
        ({"iss": None}, {}, "MissingRequiredClaimError"),
        ({"exp": LONG_AGO}, {}, "ExpiredSignatureError"),
        ({"exp": None}, {}, "MissingRequiredClaimError"),
        ({"exp": "soon"}, {}, "DecodeError"),
        ({"exp": float("inf")}, {}, "DecodeError"),
        ({"nbf": SOON}, {}, "ImmatureSignatureError"),
        ({"iat": SOON}, {}, "ImmatureSignatureError"),
        ({"sub": "somebody else"}, {}, "about another sub"),
        ({"nonce": "another"}, {}, "the nonce differs"),
        ({"nonce": None}, {}, "the nonce differs"),
        ({"nonce": ["x"]}, {}, "the nonce differs"),
        ({}, {"key": OTHER_KEY}, "InvalidSignatureError"),
        ({}, {"headers": {"kid": "k2"}}, "names no key"),
        ({}, {"headers": {}}, "valid"),
        ({}, {"key": None, "algorithm": "none"}, "names no key"),
        (
            {},
            {"key": "a secret that is long enough to be one", "algorithm": "HS256"},
            "names no key",
        ),
        ({}, {"algorithm": "RS512"}, "names no key"),
    ],
)
def test_id_token_is_checked(anna, identity_provider, caplog, claims, signing, expected):
    """The first time, and when the person is known."""
    now = int(time.time())
    claims = {name: now + value if value == SOON else value for name, value in claims.items()}
    for is_known in (False, True):
        if is_known:
            identity_provider.claims, identity_provider.signing = {}, {}
            come_from(Client(), identity_provider, **COLLEAGUE)
            caplog.clear()
        identity_provider.claims, identity_provider.signing = claims, signing
        answer = come_from(client := Client(), identity_provider, **COLLEAGUE)
        if expected == "valid":
            assert (answer["Location"], is_in(client)) == (ADMIN, True)
        else:
            assert (answer.status_code, is_in(client)) == (403, False)
            assert expected in caplog.text


@pytest.mark.parametrize("nonce", [None, "", "None"])
def test_sign_in_without_a_nonce_of_its_own_is_refused(client, anna, identity_provider, nonce):
    requested = parse_qs(urlsplit(client.get("/account/oidc/login")["Location"]).query)
    session = client.session
    for state, _, _ in session["socialaccount_states"].values():
        del state["nonce"]
    session.save()
    identity_provider.requested, identity_provider.person = requested, COLLEAGUE
    identity_provider.claims = {"nonce": nonce}

    answer = client.get(f"/account/oidc/callback?code=c&state={requested['state'][0]}")

    assert (answer.status_code, is_in(client)) == (403, False)


def test_answer_without_an_id_token_or_its_key_is_refused(client, anna, identity_provider):
    tokens = (
        {"access_token": "t", "id_token": each}
        for each in (None, "", 7, [], "x", "x.y.z", "[" * 50)
    )
    symmetric = {"kid": "k1", "kty": "oct", "k": "AAAA"}
    keys = ([], 7, ["k1"], [{"kid": "k1"}], [symmetric], extra.key_set()["keys"] * 2)
    documents = (
        [{"/token": each} for each in tokens]
        + [{"/keys": {"keys": each}} for each in keys]
        + [{"/keys": {}}]
    )
    for identity_provider.documents in documents:
        assert come_from(client, identity_provider, **COLLEAGUE).status_code == 403, (
            identity_provider.documents
        )
        assert not is_in(client)
