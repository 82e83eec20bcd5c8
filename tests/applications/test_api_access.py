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
ONE = "/v1/vacancies/{pk}"
PUBLIC = [*PATHS, ONE, f"{ONE}/form", f"{ONE}/form/schema", "/v1/vacancies/4815162342"]
REFUSED = (
    "none",
    "wrong token",
    "malformed token",
    "expired token",
    "revoked token",
    "deactivated user's token",
    "deactivated user's session",
    "unknown session",
)
# credential: the status of a GET and the titles in its response
CREDENTIALS = dict.fromkeys(REFUSED, (401, None)) | {
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
    users = {
        application.user.username: application.user for application in Application.objects.all()
    }
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


def expected(status, method):
    """Return the status and the headers of a response to a credential whose
    GET returns `status`.
    """
    problem = {"Content-Type": "application/problem+json", "Cache-Control": PRIVATE}
    if method == "POST":
        return 405, {"Allow": "GET, HEAD, OPTIONS"} | problem
    if status == 401:
        return 401, {"WWW-Authenticate": "Bearer"} | problem
    if method == "OPTIONS":
        return 204, {"Allow": "GET, HEAD, OPTIONS"}
    return 200, {"Cache-Control": PRIVATE, "Content-Language": "en", "ETag": None}


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
def test_user_sees_their_own_applications_only(clients, method):
    wrong = {}
    for credential, (status, titles) in CREDENTIALS.items():
        response = clients[credential].generic(method, MINE)
        wanted, headers = expected(status, method)
        found = response.status_code, {name: response.get(name) for name in headers}
        shown = [title for title in (OWN, FOREIGN, "zyxgone") if title in response.text]
        if (
            found != (wanted, headers)
            or shown != (titles or [] if method == "GET" else [])
            or (method == "HEAD" and response.content)
            or not set(response["Vary"].split(", ")) >= VARY
            or "public" in response.get("Cache-Control", "")
        ):
            wrong[credential] = *found, shown, response["Vary"]
    assert wrong == {}


@pytest.mark.slow("many cases")
def test_credentials_do_not_change_public_responses(clients, filters):
    """Each credential on some paths:
    all paths with those of an account, in turn with the others.
    """
    pk = make_vacancy(audience="both", is_hot=True).pk
    invalid = REFUSED[1:]
    names = ("own token", "own session")

    def get(client, path):
        response = client.get(path)
        return (
            response.status_code,
            response.content,
            dict(response.headers),
            list(response.cookies),
        )

    wrong = []
    for number, path in enumerate(each.format(pk=pk) for each in PUBLIC):
        plain = get(Client(), path)
        for name in (names[number % 2], invalid[number % len(invalid)]):
            if get(clients[name], path) != plain:
                wrong.append((name, path))
    assert len(PUBLIC) >= len(invalid)  # each credential has its turn
    assert wrong == []


def test_session_is_used_with_another_authorization_scheme_but_not_with_a_wrong_token(jane):
    make_application(user=jane)

    response = signed_in(jane).get(MINE, headers={"Authorization": "Basic ADox"})

    assert (response.status_code, len(response.json()["data"])) == (200, 1)
    assert signed_in(jane).get(MINE, headers=bearer("0" * 64)).status_code == 401


def test_no_parameter_gives_access_to_more(jane):
    make_application(vacancy=make_vacancy(title=FOREIGN))
    client, statuses = signed_in(jane), {}

    for query in ("user=1", "filter[user]=1", "page[size]=1", "fields=id", "id=1"):
        response = client.get(f"{MINE}?{query}")
        assert FOREIGN not in response.text
        statuses[query] = response.status_code
    assert statuses == {
        "user=1": 200,
        "filter[user]=1": 400,
        "page[size]=1": 400,
        "fields=id": 400,
        "id=1": 200,
    }
