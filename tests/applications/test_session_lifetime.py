"""Expiry and end of sessions."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.applications.makers import MINE, PASSWORD, bearer, make_token, signed_in
from tests.applications.test_auth import sign_in

pytestmark = pytest.mark.django_db


def enter(client, name="jane", path="/account/login"):
    return client.post(path, {"username": name, "password": PASSWORD})


def test_session_expires_twelve_hours_after_sign_in(client, jane, at, time_machine):
    enter(client)
    time_machine.move_to(at + timedelta(hours=11, minutes=59), tick=False)
    session = client.session
    session["anything"] = 1
    session.save()
    assert not sign_in(client).cookies  # a token does not extend the session
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


def test_deactivated_account_loses_access_at_once(client, jane):
    token, session = make_token(jane), signed_in(jane)
    colleague = signed_in(User.objects.create_superuser("root", password=PASSWORD))
    assert colleague.get("/admin/").status_code == 200

    User.objects.update(is_active=False)

    assert client.get(MINE, headers=bearer(token)).status_code == 401
    assert session.get(MINE).status_code == 401
    assert session.get("/account/")["Location"].startswith("/account/login")
    assert colleague.get("/admin/")["Location"].startswith("/admin/login/")
    User.objects.update(is_active=True)
    jane.delete()
    assert (
        client.get(MINE, headers=bearer(token)).status_code == session.get(MINE).status_code == 401
    )


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
