"""Account pages: signing in and out, passwords, languages and caching."""

import re
from datetime import timedelta
from unittest.mock import Mock

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core import mail
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.test import Client

from applications import tokens
from jobsite.accounts import pages

pytestmark = pytest.mark.django_db

PASSWORD, NEW = "een-oud-geheim-7", "een-nieuw-geheim-8"
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
    return re.search("<h1>(.*)</h1>", response.text)[1]


def link(message):
    return re.search(r"https?://[^/]+(/\S+)", message.body)[1]


def choose(client, address, password=NEW):
    """Follow the link of a mail and set a password."""
    form = client.get(address, follow=True)
    return client.post(
        form.redirect_chain[-1][0], dict.fromkeys(("new_password1", "new_password2"), password)
    )


def sign_in(client, password=PASSWORD, path="/account/login", **more):
    return client.post(path, {"username": "mia", "password": password} | more)


def ask_for_reset(client, email="mia@example.org", **options):
    return client.post("/account/reset", {"email": email}, **options)


def test_pages_use_the_language_of_the_browser_and_are_never_cached(client):
    for language, headings in HEADINGS.items():
        for path, expected in zip(("login", "reset"), headings, strict=True):
            page = client.get(
                f"/account/{path}", headers={"Accept-Language": f"ja, {language};q=0.5"}
            )
            assert (heading(page), page["Content-Language"]) == (expected, language)
            assert f'<html lang="{language}">' in page.text
    for path in ("", "login", "password", "reset", "reset/sent", "reset/x/y"):
        page = client.get(f"/account/{path}")
        assert {"no-store", "private"} <= set(page["Cache-Control"].split(", ")), path
        assert {"Accept-Language", "Cookie"} <= set(page["Vary"].split(", ")), path


def test_anonymous_user_signs_in_and_is_redirected_back(mia):
    for path in ("/account/", "/account/password"):
        client = Client()
        requested = client.get(path)
        assert requested["Location"] == f"/account/login?next={path}"
        assert sign_in(client, path=requested["Location"], next=path)["Location"] == path
        assert client.get(path).status_code == 200
    for next_page in ("https://evil.example/", "//evil.example", "javascript:alert(1)"):
        assert sign_in(Client(), next=next_page)["Location"] == "/account/"
    assert sign_in(Client(enforce_csrf_checks=True)).status_code == 403


def test_password_reset_ends_sessions_and_tokens(client, mia, settings):
    settings.PUBLIC_BASE_URL = "https://jobs.example.com"
    _, token = tokens.issue(user=mia, lifetime=timedelta(days=1))
    other = Client()
    other.force_login(mia)

    ask_for_reset(client, "MIA@example.org", headers={"Accept-Language": "nl"})

    [message] = mail.outbox
    assert (message.to, message.subject) == (["mia@example.org"], "Een nieuw wachtwoord")
    assert "https://jobs.example.com/account/reset/" in message.body
    address = link(message)
    assert choose(client, address)["Location"] == "/account/login"
    assert other.get("/v1/user/applications").status_code == 401
    by_token = client.get("/v1/user/applications", headers={"Authorization": f"Bearer {token}"})
    assert by_token.status_code == 401
    used = client.get(address)  # offers to ask for another one
    assert (heading(used), "new_password1" in used.text) == ("A new password", False)
    mia.refresh_from_db()
    assert mia.check_password(NEW)


def test_colleague_resets_a_forgotten_password_from_the_admin(client, settings):
    """A reset ends a lockout."""
    settings.AXES_FAILURE_LIMIT = 2
    User.objects.create_user("an", "an@example.org", PASSWORD, is_staff=True)
    page = client.get("/admin/login/").text
    assert re.search(r'<a [^>]*href="/account/reset">Forgot password\?</a>', page)
    data = {"username": "an", "password": "wrong", "next": "/admin/"}
    assert [client.post("/admin/login/", data).status_code for _ in range(2)] == [200, 429]

    ask_for_reset(client, "an@example.org")
    done = choose(client, link(mail.outbox[0]))

    assert (done.status_code, done["Location"]) == (302, "/admin/")
    assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"  # signs nobody in
    signed_in = client.post("/admin/login/", data | {"password": NEW})
    assert (signed_in.status_code, signed_in["Location"]) == (302, "/admin/")


def test_reset_does_not_reveal_whether_an_account_exists(client, mia, monkeypatch, caplog):
    jan = User.objects.create_user("jan", "jan@example.org")  # imported: without a password
    User.objects.create_user("boss", "boss@example.org", is_staff=True)
    for name, is_staff in (("gone", False), ("an", True)):
        User.objects.create_user(
            name, f"{name}@example.org", PASSWORD, is_active=False, is_staff=is_staff
        )
    names = ("mia", "nobody", "gone", "an", "boss", "jan")

    answers = [ask_for_reset(client, f"{name}@example.org") for name in names]

    found = [(answer.status_code, answer["Location"], answer.content) for answer in answers]
    assert found == [(302, "/account/reset/sent", b"")] * len(names)
    assert [message.to for message in mail.outbox] == [["mia@example.org"], ["jan@example.org"]]
    choose(client, link(mail.outbox[1]))
    jan.refresh_from_db()
    assert jan.check_password(NEW)

    refuse = Mock(side_effect=OSError("550 <mia@example.org> unknown"))
    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    assert ask_for_reset(client).status_code == 302
    assert caplog.messages == ["A password reset mail was not sent: OSError."]
    assert "mia@" not in caplog.text


def test_reset_mails_to_one_account_are_limited(client, mia, at, time_machine, settings):
    """Three an hour by default, whatever the address of the client;
    other accounts are not affected.
    """
    User.objects.create_user("bob", "bob@example.org", PASSWORD)

    def ask(email, number):
        return ask_for_reset(client, email, REMOTE_ADDR=f"203.0.113.{number}")

    answers = {
        (a.status_code, a["Location"]) for a in (ask("mia@example.org", n) for n in range(5))
    }
    assert answers == {(302, "/account/reset/sent")}
    ask("MIA@example.org", 6)
    ask("bob@example.org", 6)
    assert [message.to[0] for message in mail.outbox] == ["mia@example.org"] * 3 + [
        "bob@example.org"
    ]
    assert choose(client, link(mail.outbox[0]))["Location"] == "/account/login"  # they still work

    time_machine.move_to(at + timedelta(hours=1), tick=False)
    ask("mia@example.org", 7)
    assert len(mail.outbox) == 5

    for settings.RESET_MAIL_RATE, expected in (("1/hour", 1), ("off", 4)):
        cache.clear()
        mail.outbox.clear()
        for _ in range(4):
            ask_for_reset(client)
        assert len(mail.outbox) == expected


def test_link_in_a_mail_does_not_repeat_the_port_of_the_client(client, mia, settings):
    settings.ALLOWED_HOSTS, settings.RESET_MAIL_RATE = ["testserver", "localhost", "[::1]"], "off"
    public = "https://jobs.example.com:8443/x"
    for settings.PUBLIC_BASE_URL, settings.DEBUG, host, expected in (
        ("", False, "testserver", ["http://testserver"]),
        ("", False, "testserver:4444", ["http://testserver"]),
        ("", False, "TESTSERVER:80", ["http://testserver"]),
        ("", False, "[::1]:4444", ["http://[::1]"]),
        ("", True, "localhost:8001", ["http://localhost:8001"]),  # as `make demo` serves it
        (public, False, "testserver:4444", [public]),
        ("", False, "evil.example", []),
    ):
        mail.outbox.clear()
        answer = ask_for_reset(client, headers={"Host": host})
        bodies = "".join(message.body for message in mail.outbox)
        assert re.findall(r"(\S+)/account/reset/\S+", bodies) == expected
        assert (answer.status_code, ":4444" in bodies) == (302 if expected else 400, False)


def test_posts_from_one_address_are_limited_for_all_accounts(client, settings, at):
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "3/min"
    cache.clear()
    answers = [sign_in(client, username=f"user{n}").status_code for n in range(4)]

    assert answers == [200, 200, 200, 429]
    refused = ask_for_reset(client, "a@example.org", headers={"Accept-Language": "de"})
    assert (refused.status_code, heading(refused)) == (429, "Vorübergehend gesperrt")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert client.get("/account/login").status_code == 200


def test_invalid_new_password_is_a_field_error(client, mia):
    client.force_login(mia)
    posted = {"old_password": "wrong", "new_password1": "123", "new_password2": "1234"}

    page = client.post("/account/password", posted).text

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

    def change(old):
        return client.post(path, {"old_password": old, "new_password1": NEW, "new_password2": NEW})

    assert [change(f"no {n}").status_code for n in range(10)] == [200] * 9 + [429]
    locked = change(PASSWORD)
    assert (locked.status_code, "Retry-After" in locked) == (429, True)
    assert sign_in(client).status_code == 429
    mia.refresh_from_db()
    assert mia.check_password(PASSWORD)
    client.defaults["REMOTE_ADDR"] = "203.0.113.9"
    assert change(PASSWORD).status_code == 302
    mia.refresh_from_db()
    assert mia.check_password(NEW)
    assert not AccessAttempt.objects.filter(
        ip_address="203.0.113.9"
    ).exists()  # the correct password is no failure


def test_password_of_the_demo_signs_in_in_development_only(client, settings):
    User.objects.create_superuser("admin", password="admin")
    posted = {"username": "admin", "password": "admin"}
    found = {}
    for settings.DEBUG in (True, False):
        token = client.post("/v1/auth/token", posted, "application/json")
        page = client.post("/admin/login/?next=/admin/", posted)
        found[settings.DEBUG] = token.status_code, page.status_code
    assert found == {True: (200, 302), False: (401, 200)}


def test_password_needs_different_characters():
    for password in ("aaaaaaaaaaaa", "abababababab", "1212 1212 1212"):
        with pytest.raises(ValidationError, match="at least 5 different characters"):
            validate_password(password)
    validate_password("correct horse battery staple")
