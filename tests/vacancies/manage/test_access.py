"""Who may call the management interface: the matrix of tokens, scopes, brands and requests."""

import hashlib
import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from applications.privacy import retention
from jobsite.serving.response_cache import ResponseCache
from tests.applications.makers import make_token
from tests.factories import make_brand, make_vacancy
from tests.vacancies.manage.client import EVERY_SCOPE, Api, make_integration
from vacancies.access.brands import colleagues_of
from vacancies.manage.tokens import PREFIX, digest_of, find_token, issue_token
from vacancies.models import IntegrationScope, IntegrationToken

pytestmark = pytest.mark.django_db
VACANCY = {"title": "Welder"}
# Each request: the scope that it needs, and its status with that scope.
REQUESTS: dict[tuple[str, str], tuple[IntegrationScope, int]] = {
    ("GET", "vacancies"): (IntegrationScope.READ, 200),
    ("HEAD", "vacancies"): (IntegrationScope.READ, 200),
    ("GET", "vacancies/V-1"): (IntegrationScope.READ, 200),
    ("GET", "values"): (IntegrationScope.READ, 200),
    ("GET", "applications"): (IntegrationScope.APPLICATIONS, 200),
    ("PUT", "vacancies/V-1"): (IntegrationScope.WRITE, 200),
    ("PUT", "vacancies/V-2"): (IntegrationScope.WRITE, 201),
    ("DELETE", "vacancies/V-1"): (IntegrationScope.WRITE, 204),
}


def send(method: str, path: str, token: str = "", **how: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = json.dumps(VACANCY) if method == "PUT" else ""
    kind = {"content_type": "application/json"}
    client = how.pop("client", None) or Client()
    return client.generic(method, f"/v1/manage/{path}", body, headers=headers, **kind, **how)


@pytest.fixture
def brands(db) -> tuple[Any, Any]:
    own, other = make_brand("Acme"), make_brand("Other")
    for brand in (own, other):
        make_vacancy(brand=brand, reference="V-1", status="draft")
    return own, other


@pytest.mark.parametrize("scope", [*EVERY_SCOPE, ""])
@pytest.mark.parametrize("request_", REQUESTS, ids=" ".join)
def test_each_request_with_each_scope_and_brand(brands, scope, request_):
    own, _other = brands
    api = Api(make_integration(brands=(own,), scopes=(scope,) if scope else ()))
    needed, status = REQUESTS[request_]
    method, path = request_
    answer = send(method, f"acme/{path}", api.token)
    if scope == needed:
        assert answer.status_code == status
        assert answer["Cache-Control"] == "private, no-store"
        for brand in ("other", "unknown", "-", "%00"):
            assert send(method, f"{brand}/{path}", api.token).status_code == 404
    else:
        assert answer.status_code == 403
        if method != "HEAD":
            assert needed in answer.json()["detail"]


@pytest.mark.parametrize("request_", REQUESTS, ids=" ".join)
def test_everything_else_is_the_same_401(brands, request_):
    method, path = request_
    api = Api(make_integration())
    expired = Api(make_integration("Expired"))
    IntegrationToken.objects.filter(integration=expired.integration).update(
        expires_at=timezone.now()
    )
    disabled = Api(make_integration("Disabled"))
    disabled.integration.is_enabled = False
    disabled.integration.save()
    revoked = Api(make_integration("Revoked"))
    revoked.integration.tokens.all().delete()
    person = make_token(User.objects.create_superuser("root", "root@acme.example", "x"))
    wrong = api.token[:-1] + ("A" if api.token[-1] != "A" else "B")
    tokens = ["", "x", wrong, expired.token, disabled.token, revoked.token, person]
    bodies = set()
    for token in [*tokens, "\xff", f"{PREFIX}{'é' * 49}"]:
        answer = send(method, f"acme/{path}", token)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer"), token
        bodies.add(answer.content)
    session = Client()
    session.force_login(User.objects.get(username="root"))
    answer = send(method, f"acme/{path}", client=session)
    assert answer.status_code == 401
    assert bodies == {answer.content}


def test_a_second_token_works_beside_the_first_and_a_third_is_refused(brands):
    api = Api(make_integration())
    at = timezone.now()
    _, second = issue_token(api.integration, at=at)
    for token in (api.token, second):
        assert send("GET", "acme/vacancies", token).status_code == 200
    with pytest.raises(ValidationError):
        issue_token(api.integration, at=at)
    with pytest.raises(ValidationError):
        issue_token(make_integration("Other"), at=at, age=timedelta(days=731))
    api.integration.tokens.order_by("pk").first().delete()
    assert send("GET", "acme/vacancies", api.token).status_code == 401
    assert send("GET", "acme/vacancies", second).status_code == 200


def test_the_text_of_a_token_has_a_checksum_and_only_its_hash_is_stored(brands):
    api = Api(make_integration())
    assert len(api.token) == len("jsi_") + 43 + 6
    row = IntegrationToken.objects.get()
    assert row.digest == digest_of(api.token)
    assert (row.start, len(row.digest)) == (api.token[:8], len(hashlib.sha256().hexdigest()))
    for place in range(4, len(api.token)):
        other = "A" if api.token[place] != "A" else "B"
        assert digest_of(api.token[:place] + other + api.token[place + 1 :]) is None


def test_the_last_use_is_written_once_an_hour(brands):
    api, at = Api(make_integration()), timezone.now()
    uses = []
    for minutes in (0, 59, 61):
        find_token(api.token, at=at + timedelta(minutes=minutes))
        uses.append(IntegrationToken.objects.get().last_used_at - at)
    assert uses == [timedelta(), timedelta(), timedelta(minutes=61)]


def test_a_token_of_an_integration_opens_nothing_else(brands, settings):
    settings.INTERNAL_ACCESS = "authenticated"
    api = Api(make_integration())
    headers = {"Authorization": f"Bearer {api.token}"}
    for path in ("/v1/user/applications", "/v1/vacancies/internal"):
        assert Client().get(path, headers=headers).status_code == 401


def test_the_host_of_a_brand_has_no_management_interface(brands, settings):
    settings.CAREER_SITE, settings.PUBLIC_BASE_URL = True, "https://jobs.example.com"
    settings.ALLOWED_HOSTS = ["*"]
    own, _ = brands
    own.host = "jobs.acme.example"
    own.save()
    api = Api(make_integration())
    for method, path in REQUESTS:
        for host, is_main in (("jobs.example.com", True), ("jobs.acme.example", False)):
            answer = send(method, f"acme/{path}", api.token, SERVER_NAME=host)
            assert (answer.status_code == 404) != is_main
    answer = send("GET", "openapi.json", SERVER_NAME="jobs.acme.example")
    assert answer.status_code == 404


def test_the_rate_counts_per_integration(brands, settings, at):
    settings.INTEGRATION_RATE = "2/min"
    one, two = Api(make_integration("One")), Api(make_integration("Two"))
    _, second = issue_token(one.integration, at=timezone.now())
    statuses = [send("GET", "acme/values", each).status_code for each in (one.token, second) * 2]
    assert statuses == [200, 200, 429, 429]
    assert send("GET", "acme/values", two.token).status_code == 200


def test_no_cache_and_no_other_origin_gets_a_response(brands):
    api = Api(make_integration())
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/v1/manage/acme/vacancies"}
    assert ResponseCache.key(environ) is None
    for path in ("acme/vacancies", "acme/vacancies/none", "openapi.json"):
        answer = send("GET", path, api.token, HTTP_ORIGIN="https://evil.example")
        assert "Access-Control-Allow-Origin" not in answer
        assert answer["Cache-Control"] == "private, no-store"
    preflight = {"HTTP_ORIGIN": "https://evil.example", "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "PUT"}
    answer = send("OPTIONS", "acme/vacancies/V-1", **preflight)
    assert "Access-Control-Allow-Origin" not in answer


def test_purge_keeps_the_technical_user_of_an_idle_integration():
    user = make_integration().user
    User.objects.filter(pk=user.pk).update(date_joined=timezone.now() - timedelta(days=4000))
    counts = retention.purge(before=timezone.now(), now=timezone.now())
    assert User.objects.filter(pk=user.pk).exists()
    assert "accounts_kept" not in counts  # it did not try


def test_the_technical_user_cannot_sign_in_and_no_list_shows_it():
    integration = make_integration()
    user = integration.user
    assert (user.first_name, user.is_active, user.is_staff) == ("HRIS", False, False)
    assert not user.has_usable_password()
    root = User.objects.create_superuser("root")
    assert list(colleagues_of(root)) == [root]


def test_tokens_are_in_no_log(brands, caplog):
    caplog.set_level(logging.DEBUG)
    api = Api(make_integration())
    send("GET", "acme/vacancies/none", api.token)
    send("GET", "acme/vacancies/none", api.token[:-1])
    send("GET", "nowhere", api.token)
    assert api.token[4:40] not in caplog.text


# --- The admin ------------------------------------------------------------------------------------


def test_an_administrator_adds_an_integration_and_sees_its_token_once(admin_client, brands):
    own, _ = brands
    page = "/admin/vacancies/integration/add/"
    data = {
        "name": "HRIS",
        "scopes": [IntegrationScope.READ.value],
        "brands": [own.pk],
        "is_enabled": "on",
    }
    inline = {"TOTAL_FORMS": 0, "INITIAL_FORMS": 0, "MIN_NUM_FORMS": 0, "MAX_NUM_FORMS": 0}
    data |= {f"tokens-{name}": value for name, value in inline.items()}
    assert admin_client.post(page, data).status_code == 302
    row = IntegrationToken.integration.field.related_model.objects.get()
    assert (row.scopes, list(row.brands.all()), row.created_by.is_superuser) == (
        [IntegrationScope.READ],
        [own],
        True,
    )
    url = f"/admin/vacancies/integration/{row.pk}"
    assert admin_client.get(f"{url}/token/").status_code == 200
    shown = admin_client.post(f"{url}/token/", {"days": 30})
    text = shown.context["token"]
    assert text in shown.content.decode()
    assert send("GET", "acme/vacancies", text).status_code == 200
    for path in (f"{url}/change/", f"{url}/token/", f"{url}/history/"):
        assert text[8:] not in admin_client.get(path).content.decode()
    token = IntegrationToken.objects.get()
    revoke = {"tokens-TOTAL_FORMS": 1, "tokens-INITIAL_FORMS": 1, "tokens-0-id": token.pk}
    revoke |= {"tokens-0-integration": row.pk, "tokens-0-DELETE": "on", "name": "HRIS 2"}
    assert admin_client.post(f"{url}/change/", data | revoke).status_code == 302
    assert send("GET", "acme/vacancies", text).status_code == 401
    row.user.refresh_from_db()
    assert row.user.first_name == "HRIS 2"
    assert text[8:] not in admin_client.get(f"{url}/history/").content.decode()


def test_only_users_who_may_change_integrations_issue_tokens(client, brands):
    row = make_integration()
    user = User.objects.create_user("auditor", is_staff=True)
    names = ("view_integration", "work_for_every_brand")
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(user)
    url = f"/admin/vacancies/integration/{row.pk}"
    assert client.get(f"{url}/change/").status_code == 200
    assert client.post(f"{url}/token/", {"days": 30}).status_code == 403
    assert not IntegrationToken.objects.exists()


def test_the_start_page_names_tokens_that_expire_or_rest(admin_client, brands):
    soon, rests, fine = (Api(make_integration(name)) for name in ("Soon", "Rests", "Fine"))
    now = timezone.now()
    soon.integration.tokens.update(expires_at=now + timedelta(days=29))
    rests.integration.tokens.update(last_used_at=now - timedelta(days=91))
    fine.integration.tokens.update(last_used_at=now)
    page = admin_client.get("/admin/").content.decode()
    assert [name in page for name in ("Soon: jsi_", "Rests: jsi_", "Fine: jsi_")] == [
        True,
        True,
        False,
    ]


def test_the_page_of_a_vacancy_names_its_source(admin_client, brands):
    api = Api(make_integration())
    pk = api.put("V-9", VACANCY).json()["data"]["id"]
    page = admin_client.get(f"/admin/vacancies/vacancy/{pk}/change/").content.decode()
    assert "Content from HRIS; the next transfer replaces changes." in page
