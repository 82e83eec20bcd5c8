"""What sessions and tokens may do before and after the second factor, where the extra is switched
on.

tests/jobsite/accounts/test_second_factor.py runs this file in a process of its own: which apps are
installed is decided when the settings are read.
"""

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client

from jobsite.accounts.sign_in import has_factor
from tests.applications.makers import MINE, PASSWORD, bearer, make_token, make_user
from tests.factories import make_insider
from tests.jobsite.accounts import extra
from tests.jobsite.accounts.extra import ADMIN, COLLEAGUE, code, come_from, enter, is_in, with_app
from tests.vacancies.media.test_media import files_of, status, with_files

pytestmark = pytest.mark.django_db
anna = pytest.fixture(extra.make_anna)
required = pytest.fixture(extra.require_factor)
identity_provider = pytest.fixture(extra.serve_provider)


INTERNAL = ("/v0.1/vacancies/internal", "/v1/vacancies/hot/internal")


@pytest.mark.parametrize("mode", ["optional", "required"])
def test_factor_opens_internal_lists_and_files_and_the_password_alone_does_not(
    client, anna, settings, mode
):
    settings.SECOND_FACTOR, settings.INTERNAL_ACCESS = mode, "authenticated"
    draft, internal = with_files(status="draft"), with_files(audience="internal", is_hot=True)
    single = f"/v1/vacancies/{internal.pk}"
    files = [f"/media/{name}" for each in (draft, internal) for name in files_of(each)]

    def statuses(client, **extra):
        return [
            status(client, address, **extra)
            for address in (*INTERNAL, single, f"{single}/form", *files)
        ]

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


def test_staff_without_a_factor_are_outsiders_where_it_is_required(
    client, anna, required, settings
):
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
    secret = re.search(
        r'id="authenticator_secret"[^>]*value="(\w+)"|value="([A-Z2-7]{16,})"', page.text
    )
    thief = copy(client)

    client.post("/account/factors/app", {"code": code(next(filter(None, secret.groups())))})

    assert (opens(client), opens(thief)) == ([200, 200, 200], [302, 302, 401])
    assert not Session.objects.filter(pk=thief.cookies["sessionid"].value).exists()


def test_session_key_changes_when_the_password_or_the_factor_is_confirmed(
    client, anna, time_machine
):
    """A confirmed password lets factors be changed."""
    enter(client)
    time_machine.move_to(time.time() + 301)
    thief = copy(client)
    client.post("/account/confirm", {"password": PASSWORD, "next": "/account/factors/app"})
    assert client.get("/account/factors/app").status_code == 200
    assert thief.get("/account/factors/app")["Location"].startswith("/account/login")

    secret = with_app(anna)
    thief = copy(client)
    assert opens(thief) == [302, 302, 200]  # a password-only session
    client.post("/account/factors/confirm", {"code": code(secret), "next": ADMIN})
    assert (opens(client), opens(thief)) == ([200, 200, 200], [302, 302, 401])


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


@pytest.mark.parametrize("way", ["password", "provider"])
def test_new_password_ends_a_sign_in_that_waits_for_its_code(client, anna, identity_provider, way):
    secret = with_app(anna)
    codes = Authenticator.objects.get(type="recovery_codes").wrap()
    if way == "password":
        enter(client)
    else:
        come_from(client, identity_provider, **COLLEAGUE)
    path = "/account/factors/code"
    assert client.get(path).status_code == 200
    anna.set_password("another battery staple 8")
    anna.save()

    for _ in range(2):
        for each in (code(secret), codes.get_unused_codes()[0]):
            assert client.post(path, {"code": each})["Location"] == "/account/login"
        assert client.get(path)["Location"] == "/account/login"

    assert opens(client) == [302, 302, 401]
    assert len(codes.get_unused_codes()) == 10  # none was used up


def test_account_that_is_gone_has_no_sign_in_that_waits(anna):
    secret = with_app(anna)
    for end in (lambda: User.objects.update(is_active=False), lambda: User.objects.all().delete()):
        User.objects.update(is_active=True)
        enter(client := Client())
        assert client.get("/account/factors/code").status_code == 200
        end()
        assert (
            client.post("/account/factors/code", {"code": code(secret)})["Location"]
            == "/account/login"
        )


def test_password_alone_gives_no_token_to_who_has_a_factor(client, anna, settings):
    assert extra.request_token(client, "anna").status_code == 200
    settings.SECOND_FACTOR = "required"  # of staff
    make_user("jan")
    assert [extra.request_token(client, name).status_code for name in ("anna", "jan")] == [401, 200]
    settings.SECOND_FACTOR = "optional"
    with_app(anna)

    refused = extra.request_token(client, "anna")

    assert refused.status_code == 401
    assert (
        refused.json()["detail"] == "This account needs a second factor: a password is not enough."
    )
    assert client.get(MINE, headers=bearer(make_token(anna))).status_code == 200  # by issue_token


def test_command_takes_factors_and_identities_away(
    client, anna, identity_provider, required, capsys
):
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
        "2 factors and 1 identities removed, 3 sessions ended. A second factor has to be set up "
        "before using the admin.\n"
    )
    enter(client)
    assert client.get(ADMIN)["Location"] == "/account/factors"
    with pytest.raises(CommandError):
        call_command("reset_sign_in", "nobody")
