"""GET /v1/user/applications: who has access, with each kind of credential."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from applications.models import Application, Token
from tests.applications.makers import (
    MINE,
    bearer,
    make_application,
    make_token,
    make_user,
    signed_in,
)
from tests.factories import make_vacancy
from tests.jobsite.api.paths import PATHS

pytestmark = pytest.mark.django_db

OWN, FOREIGN = "zyxown", "zyxforeign"
PRIVATE = "private, no-store"
VARY = {"Authorization", "Cookie", "Accept-Language"}
PUBLIC = [
    *PATHS,
    "/v1/vacancies/{pk}",
    "/v1/vacancies/{pk}/form",
    "/v1/vacancies/{pk}/form/schema",
    "/v1/vacancies/4815162342",
]
# credential: the status of a GET and the titles in its response
CREDENTIALS = {
    "none": (401, None),
    "wrong token": (401, None),
    "malformed token": (401, None),
    "expired token": (401, None),
    "revoked token": (401, None),
    "deactivated user's token": (401, None),
    "deactivated user's session": (401, None),
    "unknown session": (401, None),
    "other user's token": (200, [FOREIGN]),
    "other user's session": (200, [FOREIGN]),
    "recruiter's token": (200, []),
    "recruiter's session": (200, []),
    "own token": (200, [OWN]),
    "own session": (200, [OWN]),
}


@pytest.fixture
def clients(jane, time_machine):
    """Return a client for each credential. Each user except the recruiter has one application."""
    for user, title in ((jane, OWN), (make_user("other"), FOREIGN), (make_user("gone"), "zyxgone")):
        make_application(user=user, vacancy=make_vacancy(title=title))
    users = {application.user.username: application.user for application in Application.objects.all()}
    recruiter = make_user("recruiter", is_staff=True, is_superuser=True)
    now = datetime.now(UTC)
    time_machine.move_to(now - timedelta(days=2), tick=False)
    expired = make_token(jane, timedelta(days=1))
    time_machine.move_to(now, tick=False)
    revoked = make_token(jane)
    Token.objects.filter(token_key=revoked[:15]).delete()
    unknown = Client()
    unknown.cookies["sessionid"] = "a" * 32
    clients = {
        "none": Client(),
        "wrong token": Client(headers=bearer("0" * 64)),
        "malformed token": Client(headers=bearer("\x00\xff")),
        "expired token": Client(headers=bearer(expired)),
        "revoked token": Client(headers=bearer(revoked)),
        "deactivated user's token": Client(headers=bearer(make_token(users["gone"]))),
        "deactivated user's session": signed_in(users["gone"]),
        "unknown session": unknown,
        "other user's token": Client(headers=bearer(make_token(users["other"]))),
        "other user's session": signed_in(users["other"]),
        "recruiter's token": Client(headers=bearer(make_token(recruiter))),
        "recruiter's session": signed_in(recruiter),
        "own token": Client(headers=bearer(make_token(jane))),
        "own session": signed_in(jane),
    }
    users["gone"].is_active = False
    users["gone"].save()
    return clients


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
@pytest.mark.parametrize("credential", CREDENTIALS)
def test_user_sees_their_own_applications_only(clients, credential, method):
    status, titles = CREDENTIALS[credential]

    response = clients[credential].generic(method, MINE)

    assert set(response["Vary"].split(", ")) >= VARY
    if method == "POST":
        assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, OPTIONS")
    elif status == 401:
        assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    elif method == "OPTIONS":
        assert (response.status_code, response["Allow"]) == (204, "GET, HEAD, OPTIONS")
    else:
        assert (response.status_code, response["Cache-Control"]) == (200, PRIVATE)
        assert response["Content-Language"] == "en"
        assert "ETag" not in response
    if response.status_code >= 400:
        assert response["Content-Type"] == "application/problem+json"
        assert response["Cache-Control"] == "private, no-store"
    if method == "GET" and titles is not None:
        assert [item["title"] for item in response.json()["data"]] == titles
    else:
        assert not any(title in response.text for title in (OWN, FOREIGN, "zyxgone"))
    if method == "HEAD":
        assert response.content == b""
    assert "public" not in response.get("Cache-Control", "")


def test_new_password_ends_tokens_and_sessions(jane):
    clients = signed_in(jane), Client(headers=bearer(make_token(jane)))
    assert [client.get(MINE).status_code for client in clients] == [200, 200]

    jane.set_password("another")
    jane.save()

    assert [client.get(MINE).status_code for client in clients] == [401, 401]
    assert Client(headers=bearer(make_token(jane))).get(MINE).status_code == 200


def test_deactivation_ends_tokens_and_sessions(jane):
    clients = signed_in(jane), Client(headers=bearer(make_token(jane)))
    assert [client.get(MINE).status_code for client in clients] == [200, 200]

    jane.is_active = False
    jane.save()

    assert [client.get(MINE).status_code for client in clients] == [401, 401]


@pytest.mark.slow
@pytest.mark.parametrize("path", PUBLIC)
@pytest.mark.parametrize(
    "credential",
    [
        "wrong token",
        "malformed token",
        "expired token",
        "revoked token",
        "deactivated user's token",
        "deactivated user's session",
        "unknown session",
        "own token",
        "own session",
    ],
)
def test_credentials_do_not_change_public_responses(clients, filters, credential, path):
    path = path.format(pk=make_vacancy(audience="both", is_hot=True).pk)

    def get(client):
        response = client.get(path)
        return response.status_code, response.content, dict(response.headers), list(response.cookies)

    assert get(clients[credential]) == get(Client())


@pytest.mark.parametrize(
    "header",
    ["Bearer", "bearer", "Bearer  ", "Bearer a b", "Bearer é", "Bearer \x00", "Bearer " + "x" * 7000,
     "Bearer 0x", "Token abc", "Basic ADox", "Basic", "Digest x", "\xff", ",", "Bearer,"],
)  # fmt: skip
def test_malformed_header_is_a_401(client, header):
    response = client.get(MINE, HTTP_AUTHORIZATION=header)

    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    assert response["Content-Type"] == "application/problem+json"


def test_session_is_used_with_another_authorization_scheme(jane):
    make_application(user=jane)

    response = signed_in(jane).get(MINE, headers={"Authorization": "Basic ADox"})

    assert response.status_code == 200
    assert len(response.json()["data"]) == 1


def test_wrong_token_is_refused_despite_a_session(jane):
    assert signed_in(jane).get(MINE, headers=bearer("0" * 64)).status_code == 401


@pytest.mark.parametrize("query", ["user=1", "filter[user]=1", "page[size]=1", "fields=id", "id=1"])
def test_no_parameter_gives_access_to_more(jane, query):
    make_application(vacancy=make_vacancy(title=FOREIGN))

    response = signed_in(jane).get(f"{MINE}?{query}")

    assert FOREIGN not in response.text
    assert response.status_code == (200 if query.endswith("=1") and "[" not in query else 400)
