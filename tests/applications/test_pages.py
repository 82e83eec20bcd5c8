"""The pages of an account: signing in and out, a new password, in the reader's language, kept by no cache."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client

from applications import pages, tokens

pytestmark = pytest.mark.django_db

PASSWORD, NEW = "een-oud-geheim-7", "een-nieuw-geheim-8"
PAGES = ("", "login", "password", "reset", "reset/sent", "reset/x/y")
HEADINGS = {
    "en": ("Sign in", "A new password"),
    "nl": ("Aanmelden", "Een nieuw wachtwoord"),
    "fr": ("Se connecter", "Un nouveau mot de passe"),
    "de": ("Anmelden", "Ein neues Passwort"),
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """What runs beside the request runs in it."""
    monkeypatch.setattr(pages, "in_background", lambda work: work())


@pytest.fixture
def mia():
    return User.objects.create_user("mia", "mia@example.org", PASSWORD)


def heading(response):
    return re.search("<h1>(.*)</h1>", response.content.decode())[1]


def link(message):
    return re.search(r"https?://[^/]+(/\S+)", message.body)[1]


def choose(client, address, password=NEW):
    """Follow the link of a mail and choose a password."""
    form = client.get(address, follow=True)
    posted = {"new_password1": password, "new_password2": password}
    return client.post(form.redirect_chain[-1][0], posted)


@pytest.mark.parametrize("language", HEADINGS)
def test_pages_speak_the_language_of_the_reader(client, language):
    for path, expected in zip(("login", "reset"), HEADINGS[language], strict=True):
        page = client.get(f"/account/{path}", headers={"Accept-Language": f"ja, {language};q=0.5"})
        assert (heading(page), page["Content-Language"]) == (expected, language)
        assert f'<html lang="{language}">' in page.content.decode()


@pytest.mark.parametrize("path", PAGES)
def test_no_cache_keeps_a_page(client, path):
    page = client.get(f"/account/{path}")
    assert "no-store" in page["Cache-Control"]
    assert "private" in page["Cache-Control"]
    assert {"Accept-Language", "Cookie"} <= set(page["Vary"].split(", "))


@pytest.mark.parametrize("path", ["", "password"])
def test_stranger_is_asked_to_sign_in_and_comes_back(client, mia, path):
    asked = client.get(f"/account/{path}")
    assert asked["Location"] == f"/account/login?next=/account/{path}"

    signed_in = client.post(
        asked["Location"], {"username": "mia", "password": PASSWORD, "next": f"/account/{path}"}
    )
    assert signed_in["Location"] == f"/account/{path}"
    assert client.get(f"/account/{path}").status_code == 200


@pytest.mark.parametrize("next_page", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_signing_in_leads_to_no_other_site(client, mia, next_page):
    posted = {"username": "mia", "password": PASSWORD, "next": next_page}
    assert client.post("/account/login", posted)["Location"] == "/account/"


def test_session_reads_the_applications_until_signing_out(client, mia):
    client.post("/account/login", {"username": "mia", "password": PASSWORD})
    assert client.get("/v1/user/applications").json() == {"data": []}

    assert client.get("/account/logout").status_code == 405
    client.post("/account/logout")
    assert client.get("/v1/user/applications").status_code == 401


def test_pages_need_the_csrf_token(mia):
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/account/login", {"username": "mia", "password": PASSWORD}).status_code == 403


def test_new_password_by_mail_ends_what_the_old_one_opened(client, mia, settings):
    settings.PUBLIC_BASE_URL = "https://jobs.example.com"
    _, token = tokens.issue(user=mia, lifetime=timedelta(days=1))
    other = Client()
    other.force_login(mia)

    client.post("/account/reset", {"email": "MIA@example.org"}, headers={"Accept-Language": "nl"})

    [message] = mail.outbox
    assert (message.to, message.subject) == (["mia@example.org"], "Een nieuw wachtwoord")
    assert "https://jobs.example.com/account/reset/" in message.body
    address = link(message)
    assert choose(client, address)["Location"] == "/account/login"
    assert other.get("/v1/user/applications").status_code == 401
    assert (
        client.get("/v1/user/applications", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    )
    assert heading(client.get(address)) == "A new password"  # used: offers to ask for another one
    assert "new_password1" not in client.get(address).content.decode()
    mia.refresh_from_db()
    assert mia.check_password(NEW)


def test_new_password_by_mail_lets_one_in_again_who_was_locked_out(client, mia, settings):
    settings.AXES_FAILURE_LIMIT = 2
    for _ in range(2):
        answer = client.post("/account/login", {"username": "mia", "password": "wrong"})
    assert answer.status_code == 429

    client.post("/account/reset", {"email": "mia@example.org"})
    choose(client, link(mail.outbox[0]))

    signed_in = client.post("/account/login", {"username": "mia", "password": NEW})
    assert signed_in["Location"] == "/account/"


def test_account_of_an_import_may_choose_its_first_password(client):
    jan = User.objects.create_user("jan", "jan@example.org")
    User.objects.create_user("boss", "boss@example.org", is_staff=True)

    for address in ("jan@example.org", "boss@example.org"):
        client.post("/account/reset", {"email": address})

    [message] = mail.outbox
    choose(client, link(message))
    jan.refresh_from_db()
    assert jan.check_password(NEW)


@pytest.mark.parametrize("email", ["nobody@example.org", "gone@example.org"])
def test_reset_answers_the_same_whether_there_is_an_account(client, mia, email):
    User.objects.create_user("gone", "gone@example.org", PASSWORD, is_active=False)

    answers = [client.post("/account/reset", {"email": each}) for each in ("mia@example.org", email)]

    first, second = ((a.status_code, a["Location"], a.content) for a in answers)
    assert first == second == (302, "/account/reset/sent", b"")
    assert [message.to for message in mail.outbox] == [["mia@example.org"]]


def test_address_that_the_mail_server_refuses_is_not_logged(client, mia, monkeypatch, caplog):
    def refuse(message):
        raise OSError("550 <mia@example.org> unknown")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)

    assert client.post("/account/reset", {"email": "mia@example.org"}).status_code == 302

    assert [record.getMessage() for record in caplog.records] == [
        "A link for a new password was not sent: OSError."
    ]
    assert "mia@" not in caplog.text


def test_posts_from_one_address_are_limited_whatever_the_name(client, settings):
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "3/min"
    cache.clear()
    answers = [
        client.post("/account/login", {"username": f"user{n}", "password": "x"}).status_code for n in range(4)
    ]

    assert answers == [200, 200, 200, 429]
    refused = client.post("/account/reset", {"email": "a@example.org"}, headers={"Accept-Language": "de"})
    assert (refused.status_code, heading(refused)) == (429, "Eine Weile gesperrt")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert client.get("/account/login").status_code == 200


def test_wrong_new_passwords_are_told_at_their_field(client, mia):
    client.force_login(mia)
    posted = {"old_password": "wrong", "new_password1": "123", "new_password2": "1234"}

    page = client.post("/account/password", posted).content.decode()

    assert 'role="alert"' in page
    assert page.count('class="errorlist"') >= 2
    mia.refresh_from_db()
    assert mia.check_password(PASSWORD)
