"""Account pages: signing in and out, passwords, languages and caching."""

import re
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client

from applications import tokens
from jobsite.accounts import pages

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
    """Run background work in the request."""
    monkeypatch.setattr(pages, "in_background", lambda work: work())


@pytest.fixture
def mia():
    return User.objects.create_user("mia", "mia@example.org", PASSWORD)


def heading(response):
    return re.search("<h1>(.*)</h1>", response.content.decode())[1]


def link(message):
    return re.search(r"https?://[^/]+(/\S+)", message.body)[1]


def choose(client, address, password=NEW):
    """Follow the link of a mail and set a password."""
    form = client.get(address, follow=True)
    posted = {"new_password1": password, "new_password2": password}
    return client.post(form.redirect_chain[-1][0], posted)


@pytest.mark.parametrize("language", HEADINGS)
def test_pages_use_the_language_of_the_browser(client, language):
    for path, expected in zip(("login", "reset"), HEADINGS[language], strict=True):
        page = client.get(f"/account/{path}", headers={"Accept-Language": f"ja, {language};q=0.5"})
        assert (heading(page), page["Content-Language"]) == (expected, language)
        assert f'<html lang="{language}">' in page.content.decode()


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_never_cached(client, path):
    page = client.get(f"/account/{path}")
    assert "no-store" in page["Cache-Control"]
    assert "private" in page["Cache-Control"]
    assert {"Accept-Language", "Cookie"} <= set(page["Vary"].split(", "))


@pytest.mark.parametrize("path", ["", "password"])
def test_anonymous_user_signs_in_and_is_redirected_back(client, mia, path):
    requested = client.get(f"/account/{path}")
    assert requested["Location"] == f"/account/login?next=/account/{path}"

    signed_in = client.post(
        requested["Location"], {"username": "mia", "password": PASSWORD, "next": f"/account/{path}"}
    )
    assert signed_in["Location"] == f"/account/{path}"
    assert client.get(f"/account/{path}").status_code == 200


@pytest.mark.parametrize("next_page", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_signing_in_redirects_to_no_other_site(client, mia, next_page):
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


def test_password_reset_ends_sessions_and_tokens(client, mia, settings):
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


def test_password_reset_ends_a_lockout(client, mia, settings):
    settings.AXES_FAILURE_LIMIT = 2
    for _ in range(2):
        answer = client.post("/account/login", {"username": "mia", "password": "wrong"})
    assert answer.status_code == 429

    client.post("/account/reset", {"email": "mia@example.org"})
    choose(client, link(mail.outbox[0]))

    signed_in = client.post("/account/login", {"username": "mia", "password": NEW})
    assert signed_in["Location"] == "/account/"


def test_colleague_resets_a_forgotten_password_from_the_admin(client, settings):
    settings.AXES_FAILURE_LIMIT = 2
    User.objects.create_user("an", "an@example.org", PASSWORD, is_staff=True)
    page = client.get("/admin/login/").content.decode()
    assert re.search(r'<a [^>]*href="/account/reset">Forgot password\?</a>', page)
    data = {"username": "an", "password": "wrong", "next": "/admin/"}
    answers = [client.post("/admin/login/", data).status_code for _ in range(2)]
    assert answers == [200, 429]

    client.post("/account/reset", {"email": "an@example.org"})
    done = choose(client, link(mail.outbox[0]))

    assert (done.status_code, done["Location"]) == (302, "/admin/")
    assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"  # signs nobody in
    signed_in = client.post("/admin/login/", data | {"password": NEW})
    assert (signed_in.status_code, signed_in["Location"]) == (302, "/admin/")


def test_deactivated_colleague_gets_no_reset(client):
    User.objects.create_user("an", "an@example.org", PASSWORD, is_staff=True, is_active=False)
    assert client.post("/account/reset", {"email": "an@example.org"})["Location"] == "/account/reset/sent"
    assert mail.outbox == []


def test_imported_account_can_set_its_first_password(client):
    jan = User.objects.create_user("jan", "jan@example.org")
    User.objects.create_user("boss", "boss@example.org", is_staff=True)

    for address in ("jan@example.org", "boss@example.org"):
        client.post("/account/reset", {"email": address})

    [message] = mail.outbox
    choose(client, link(message))
    jan.refresh_from_db()
    assert jan.check_password(NEW)


@pytest.mark.parametrize("email", ["nobody@example.org", "gone@example.org"])
def test_reset_does_not_reveal_whether_an_account_exists(client, mia, email):
    User.objects.create_user("gone", "gone@example.org", PASSWORD, is_active=False)

    answers = [client.post("/account/reset", {"email": each}) for each in ("mia@example.org", email)]

    first, second = ((a.status_code, a["Location"], a.content) for a in answers)
    assert first == second == (302, "/account/reset/sent", b"")
    assert [message.to for message in mail.outbox] == [["mia@example.org"]]


def test_rejected_mail_address_is_not_logged(client, mia, monkeypatch, caplog):
    def refuse(message):
        raise OSError("550 <mia@example.org> unknown")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)

    assert client.post("/account/reset", {"email": "mia@example.org"}).status_code == 302

    assert [record.getMessage() for record in caplog.records] == [
        "A password reset mail was not sent: OSError."
    ]
    assert "mia@" not in caplog.text


def test_reset_mails_to_one_account_are_limited(client, mia, at, time_machine):
    """Three an hour by default, whatever the address of the client; other accounts are not affected."""
    User.objects.create_user("bob", "bob@example.org", PASSWORD)

    def ask(email, number):
        return client.post("/account/reset", {"email": email}, REMOTE_ADDR=f"203.0.113.{number}")

    answers = {(a.status_code, a["Location"]) for a in (ask("mia@example.org", n) for n in range(5))}
    assert answers == {(302, "/account/reset/sent")}
    ask("MIA@example.org", 6)
    ask("bob@example.org", 6)
    assert [message.to[0] for message in mail.outbox] == ["mia@example.org"] * 3 + ["bob@example.org"]
    assert choose(client, link(mail.outbox[0]))["Location"] == "/account/login"  # they still work

    time_machine.move_to(at + timedelta(hours=1), tick=False)
    ask("mia@example.org", 7)
    assert len(mail.outbox) == 5


def test_limit_of_reset_mails_is_configurable(client, mia, settings):
    for rate, expected in (("1/hour", 1), ("off", 4)):
        settings.RESET_MAIL_RATE = rate
        mail.outbox.clear()
        for _ in range(4):
            client.post("/account/reset", {"email": "mia@example.org"})
        assert len(mail.outbox) == expected


@pytest.mark.parametrize(
    ("public", "is_debug", "host", "expected"),
    [
        ("", False, "testserver", "http://testserver"),
        ("", False, "testserver:4444", "http://testserver"),
        ("", False, "TESTSERVER:80", "http://testserver"),
        ("", False, "[::1]:4444", "http://[::1]"),
        ("", True, "localhost:8001", "http://localhost:8001"),  # as `make demo` serves it
        ("https://jobs.example.com:8443/x", False, "testserver:4444", "https://jobs.example.com:8443/x"),
    ],
)
def test_link_in_a_mail_does_not_repeat_the_port_of_the_client(
    client, mia, settings, public, is_debug, host, expected
):
    settings.PUBLIC_BASE_URL, settings.DEBUG = public, is_debug
    settings.ALLOWED_HOSTS = ["testserver", "localhost", "[::1]"]

    client.post("/account/reset", {"email": "mia@example.org"}, headers={"Host": host})

    [message] = mail.outbox
    assert re.findall(r"(\S+)/account/reset/\S+", message.body) == [expected]
    assert ":4444" not in message.body


def test_invalid_host_sends_no_mail(client, mia):
    refused = client.post("/account/reset", {"email": "mia@example.org"}, headers={"Host": "evil.example"})
    assert (refused.status_code, mail.outbox) == (400, [])


def test_posts_from_one_address_are_limited_for_all_accounts(client, settings, at):
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "3/min"
    cache.clear()
    answers = [
        client.post("/account/login", {"username": f"user{n}", "password": "x"}).status_code for n in range(4)
    ]

    assert answers == [200, 200, 200, 429]
    refused = client.post("/account/reset", {"email": "a@example.org"}, headers={"Accept-Language": "de"})
    assert (refused.status_code, heading(refused)) == (429, "Vorübergehend gesperrt")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert client.get("/account/login").status_code == 200


def test_invalid_new_password_is_a_field_error(client, mia):
    client.force_login(mia)
    posted = {"old_password": "wrong", "new_password1": "123", "new_password2": "1234"}

    page = client.post("/account/password", posted).content.decode()

    assert 'role="alert"' in page
    assert page.count('class="errorlist"') >= 2
    mia.refresh_from_db()
    assert mia.check_password(PASSWORD)


@pytest.mark.parametrize("path", ["/account/password", "/admin/password_change/"])
def test_wrong_old_passwords_count_as_failed_sign_ins(client, mia, path):
    """Someone at an unattended browser cannot try passwords without limit."""
    mia.is_staff = True
    mia.save()
    client.force_login(mia)
    fields = {"new_password1": NEW, "new_password2": NEW}

    statuses = [client.post(path, {"old_password": f"no {n}"} | fields).status_code for n in range(10)]

    assert statuses == [200] * 9 + [429]
    locked = client.post(path, {"old_password": PASSWORD} | fields)
    assert (locked.status_code, "Retry-After" in locked) == (429, True)
    assert client.post("/account/login", {"username": "mia", "password": PASSWORD}).status_code == 429
    mia.refresh_from_db()
    assert mia.check_password(PASSWORD)
    client.defaults["REMOTE_ADDR"] = "203.0.113.9"
    assert client.post(path, {"old_password": PASSWORD} | fields).status_code == 302
    mia.refresh_from_db()
    assert mia.check_password(NEW)


def test_correct_old_password_is_not_a_failed_sign_in(client, mia):
    client.force_login(mia)
    posted = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert client.post("/account/password", posted)["Location"] == "/account/"
    assert not AccessAttempt.objects.exists()
