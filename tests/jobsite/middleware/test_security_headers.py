"""Security headers of every kind of response."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware
from django.test import Client
from django.views.static import serve

from jobsite.middleware.security_headers import SecurityHeadersMiddleware
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from tests.applications.makers import MINE, PASSWORD, bearer, make_token, make_user
from tests.factories import make_vacancy
from tests.wsgi import ask
from vacancies.api.fast_path import FastPath
from vacancies.previews import token_for

pytestmark = pytest.mark.django_db

NOTHING = {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'",
           "frame-ancestors": "'none'", "sandbox": ""}  # fmt: skip
ACCOUNT = NOTHING | {"form-action": "'self'", "script-src": "'self'", "style-src": "'self'",
                     "img-src": "'self' data:", "connect-src": "'self'"}  # fmt: skip
del ACCOUNT["sandbox"]
PROBLEM = "application/problem+json"


@pytest.fixture
def colleague(db):
    client = Client()
    client.force_login(User.objects.create_superuser("anna", password=PASSWORD))
    return client


def policy(answer):
    parts = (part.strip().partition(" ") for part in answer["Content-Security-Policy"].split(";"))
    return {name: value for name, _, value in parts}


def is_whole(answer, *, page=False):
    """Return the headers that every response has."""
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] in ("DENY", "SAMEORIGIN")[: 1 + page]
    assert answer["Referrer-Policy"] in ("same-origin", "no-referrer")
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == ("same-origin" if page else "cross-origin")
    assert ("camera=()" in answer.get("Permissions-Policy", "")) == page
    assert "Server" not in answer
    assert "X-Powered-By" not in answer
    content_type = answer.get("Content-Type", "")
    assert not content_type.startswith("text/") or "charset" in content_type.lower()  # ASVS 4.1.1


# --- API and files -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "content_type"),
    [
        ("/v1/vacancies", 200, "application/json"),
        ("/v0.1/vacancies", 200, "application/json"),
        ("/v1/filters", 200, "application/json"),
        ("/v1/vacancies/{pk}", 200, "application/json"),
        ("/v1/vacancies/{pk}/form", 200, "application/json"),
        ("/v1/vacancies/{pk}/form/schema", 200, "application/json"),
        ("/openapi.json", 200, "application/json"),
        ("/v1/vacancies?fields=nonsense", 400, PROBLEM),
        ("/v1/vacancies/999999", 404, PROBLEM),
        ("/v1/nothing", 404, PROBLEM),
        ("/v1/vacancies/", 404, PROBLEM),
        ("/v1/user/applications", 401, PROBLEM),
        ("/v1/auth/token", 405, PROBLEM),
        ("/", 302, "text/html"),
        ("/nothing", 404, "text/html"),
    ],
)
@pytest.mark.parametrize("method", ["get", "head"])
def test_responses_that_are_not_pages_may_load_nothing(client, filters, path, status, content_type, method):
    answer = getattr(client, method)(path.format(pk=make_vacancy().pk))

    assert answer.status_code == status
    assert answer["Content-Type"].startswith(content_type)
    assert policy(answer) == NOTHING
    is_whole(answer)


def test_errors_of_middleware_have_the_headers(client, settings):
    for answer in (
        client.get("/v1/vacancies", headers={"host": "evil.example"}),
        client.get("/nothing", headers={"host": "evil.example"}),
        client.options("/v1/vacancies", headers={"origin": "https://x.example"}),
        client.post("/v1/auth/token", "x", content_type="application/json"),
        client.get(MINE, headers=bearer(make_token(make_user()))),
    ):
        assert policy(answer) == NOTHING
        is_whole(answer)


@pytest.mark.parametrize("path", ["/docs", "/docs?script="])
def test_304_of_the_documentation_keeps_its_policy(client, path):
    """A browser replaces the stored policy by that of the 304, and would block the page."""
    first = client.get(path)

    again = client.get(path, headers={"If-None-Match": first["ETag"]})

    assert again.status_code == 304
    assert again["Content-Security-Policy"] == first["Content-Security-Policy"]
    assert "img-src 'self'" in first["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/v1/vacancies", "/v0.1/vacancies", "/v1/filters"])
def test_cached_responses_have_the_headers(wsgi, at, filters, settings, path):
    """From the views, the fast path, the response cache, and as 304."""
    from jobsite.wsgi import _bare

    make_vacancy()
    _, view, _ = ask(_bare, path)
    settings.BODY_CACHE_MB = 1
    bodies = ResponseCache(_bare, read_state, FastPath())
    _, cold, _ = ask(bodies, path)
    _, warm, _ = ask(bodies, path)
    status, unchanged, _ = ask(bodies, path, HTTP_IF_NONE_MATCH=warm["ETag"])
    bare_status, bare_unchanged, _ = ask(_bare, path, HTTP_IF_NONE_MATCH=warm["ETag"])

    assert cold == warm == view
    assert status.startswith("304")
    assert bare_status.startswith("304")
    for answer in (unchanged, bare_unchanged):
        assert policy(answer) == NOTHING
        is_whole(answer)


def test_media_may_load_nothing(rf, client, settings, tmp_path):
    """Served by runserver; in production by nginx (deploy/nginx.conf)."""
    name = default_storage.save("x.svg", ContentFile(b"<svg onload='alert(1)'/>"))
    view = lambda request: serve(request, name, settings.MEDIA_ROOT)  # noqa: E731
    answer = SecurityMiddleware(XFrameOptionsMiddleware(SecurityHeadersMiddleware(view)))(
        rf.get(f"/media/{name}")
    )

    assert policy(answer) == NOTHING
    is_whole(answer)
    answer.close()


def test_static_files_may_load_nothing(client):
    answer = client.get("/static/jobsite/account.css")

    assert policy(answer) == NOTHING
    is_whole(answer)
    b"".join(answer)
    answer.close()


# --- Pages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "login", "password", "reset", "reset/sent", "reset/x/y", "nothing"])
def test_account_pages_load_scripts_and_styles_of_this_site_only(client, path):
    answer = client.get(f"/account/{path}")

    assert policy(answer) == ACCOUNT
    is_whole(answer, page=True)


def test_locked_page_has_the_headers(client, settings, at):
    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "1/h"
    for _ in range(2):
        answer = client.post("/account/login", {})
    assert answer.status_code == 429
    assert policy(answer) == ACCOUNT
    is_whole(answer, page=True)


@pytest.mark.parametrize("is_there", [True, False])
def test_preview_loads_only_images_from_other_sites(client, filters, is_there):
    answer = client.get(f"/preview/{token_for(make_vacancy().pk) if is_there else 'x'}")

    found = policy(answer)
    assert "unsafe" not in str(found)
    assert (found["default-src"], found["form-action"], found["base-uri"]) == ("'none'",) * 3
    assert found["script-src"] == found["style-src"] == "'self'"
    is_whole(answer, page=True)


def test_documentation_loads_nothing_from_other_sites(client):
    answer = client.get("/docs")

    found = policy(answer)
    assert found["default-src"] == found["base-uri"] == "'none'"
    assert (found["script-src"], found["connect-src"]) == ("'self'", "'self'")
    is_whole(answer, page=True)


@pytest.mark.slow("opens many pages of the admin")
def test_admin_runs_no_inline_script(colleague, filters):
    """Except the theme's expressions, and one import map, by its digest."""
    pk = make_vacancy().pk
    for path in (
        "", "login/", "vacancies/vacancy/", "vacancies/vacancy/add/", f"vacancies/vacancy/{pk}/change/",
        "vacancies/vacancy/deleted/", "forms_structure/form/", "vacancies/filter/", "vacancies/brand/add/",
        "vacancies/recruiter/", "applications/application/", "applications/token/", "auth/user/",
        "auth/user/add/", "password_change/", "jsi18n/", "texts.js", "nothing/",
    ):  # fmt: skip
        answer = colleague.get(f"/admin/{path}")

        found = policy(answer)
        assert found["default-src"] == found["base-uri"] == "'none'", path
        scripts = found["script-src"].split()
        assert scripts[:2] == ["'self'", "'unsafe-eval'"], path
        assert [script[:8] for script in scripts[2:]] == ["'sha256-"], path
        assert found["style-src"] == "'self' 'unsafe-inline'", path
        to_us = ("form-action", "connect-src", "frame-src", "frame-ancestors")
        assert {found[name] for name in to_us} == {"'self'"}, path
        assert found.pop("img-src") == "* data: blob:", path
        assert "*" not in str(found), path
        assert "https:" not in str(found), path
        is_whole(answer, page=True)


# --- Cookies and TLS in production -------------------------------------------------------------

PRODUCTION = {
    "SECRET_KEY": "x0Aq9vLr2YtK7mWc4ZpE8sNd1UgH5jBf3RiQ6oXlTbVyCk-GwPeMhJzDuS",
    "ALLOWED_HOSTS": "jobs.example.com",
    "PUBLIC_BASE_URL": "https://jobs.example.com",
    "TRUSTED_PROXIES": "127.0.0.1",
    "INTERNAL_ACCESS": "authenticated",
    "EMAIL_URL": "smtp+tls://u:p@mail.example.com:587",
    "CACHE_URL": "redis://127.0.0.1:6379/0",
    "MULTI_BRANDING": "on",
}
SHOWN = """
import json, django
from django.conf import settings
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
django.setup()
from django.test import Client
from django.core.management import call_command
from django.core import checks
from jobsite.middleware import cookies
told = {name: getattr(settings, name) for name in %r}
found = checks.run_checks(include_deployment_checks=True)
told["W"] = [each.id for each in found if each.id.startswith("security.") and not each.is_silenced()]
told["forms"] = sorted(cookies._PATTERNS)
client = Client(headers={"host": "jobs.example.com"})
# What a client says of itself is not believed: gunicorn is told the scheme by the proxies that it trusts.
for name, over in (("tls", {"secure": True}), ("plain", {}), ("said", {"HTTP_X_FORWARDED_PROTO": "https"})):
    answer = client.get("/nothing", **over)
    told[name] = answer.headers.get("Strict-Transport-Security")
page = client.get("/account/login", secure=True)
told["cookie"] = page.cookies.output()
print("told:" + json.dumps(told))
"""
NAMES = ("SESSION_COOKIE_NAME", "SESSION_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY", "SESSION_COOKIE_SAMESITE",
         "SESSION_COOKIE_PATH", "SESSION_COOKIE_DOMAIN", "SESSION_SAVE_EVERY_REQUEST", "CSRF_COOKIE_SECURE",
         "CSRF_COOKIE_SAMESITE", "SECURE_HSTS_SECONDS", "SECURE_SSL_REDIRECT",
         "SESSION_COOKIE_AGE", "LANGUAGE_COOKIE_SECURE", "SIGNED_COOKIE_LEGACY_SALT_FALLBACK")  # fmt: skip


def reported(**variables):
    known = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
    run = subprocess.run(
        [sys.executable, "-c", SHOWN % (NAMES,)],
        cwd=Path(site.BASE_DIR),
        env=known | {"DJANGO_SETTINGS_MODULE": "jobsite.settings"} | PRODUCTION | variables,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.partition("told:")[2])


@pytest.mark.slow("starts Django in a process")
def test_production_binds_cookies_to_the_host_and_to_tls(tmp_path):
    found = reported(STATIC_ROOT=str(tmp_path), DATABASE_URL=f"sqlite:///{tmp_path / 'x.sqlite3'}")

    assert found["SESSION_COOKIE_NAME"] == "__Host-sessionid"
    assert found["SESSION_COOKIE_SECURE"]
    assert found["SESSION_COOKIE_HTTPONLY"]
    assert found["CSRF_COOKIE_SECURE"]
    assert found["SESSION_COOKIE_SAMESITE"] == found["CSRF_COOKIE_SAMESITE"] == "Lax"
    assert (found["SESSION_COOKIE_PATH"], found["SESSION_COOKIE_DOMAIN"]) == ("/", None)  # as __Host- asks
    assert found["SESSION_SAVE_EVERY_REQUEST"] is False  # CVE-2026-35192
    assert found["SESSION_COOKIE_AGE"] == 12 * 3600
    assert found["LANGUAGE_COOKIE_SECURE"]
    assert found["SIGNED_COOKIE_LEGACY_SALT_FALLBACK"] is False
    assert found["forms"] == ["__Host-csrftoken", "__Host-sessionid"]  # a malformed one disturbs nothing
    assert "__Host-csrftoken=" in found["cookie"]
    assert "Secure" in found["cookie"]
    assert found["SECURE_SSL_REDIRECT"] is False
    assert (found["tls"], found["plain"], found["said"]) == ("max-age=31536000", None, None)
    assert found["W"] == []
