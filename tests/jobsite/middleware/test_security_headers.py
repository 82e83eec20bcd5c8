"""Security headers of every kind of response."""

import json
import subprocess
import sys
from contextlib import closing

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware
from django.views.static import serve

from jobsite.appearance import digest
from jobsite.middleware.security_headers import SecurityHeadersMiddleware
from jobsite.serving.response_cache import ResponseCache
from jobsite.serving.revision import read_state
from jobsite.wsgi import _bare
from tests.applications.makers import MINE, bearer, make_token, make_user
from tests.factories import make_vacancy
from tests.servers import ROOT, SYSTEM_ENV
from tests.wsgi import ask
from vacancies.access.previews import token_for

pytestmark = pytest.mark.django_db

NOTHING = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "sandbox": "",
}
ACCOUNT = NOTHING | {
    "form-action": "'self'",
    "script-src": "'self'",
    "style-src": f"'self' {digest()}",
    "img-src": "'self' data:",
    "connect-src": "'self'",
}
del ACCOUNT["sandbox"]


def policy(answer, *, page=False):
    """Check the headers that every response has; return its policy."""
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
    parts = (part.strip().partition(" ") for part in answer["Content-Security-Policy"].split(";"))
    return {name: value for name, _, value in parts}


def test_responses_that_are_not_pages_may_load_nothing(client, filters):
    single = f"/v1/vacancies/{make_vacancy().pk}"
    data = (
        "/v1/vacancies",
        "/v0.1/vacancies",
        "/v1/filters",
        single,
        f"{single}/form",
        f"{single}/form/schema",
    )
    problems = {
        "/v1/vacancies?fields=nonsense": 400,
        "/v1/vacancies/999999": 404,
        "/v1/nothing": 404,
        "/v1/vacancies/": 404,
        MINE: 401,
        "/v1/auth/token": 405,
    }
    expected = dict.fromkeys((*data, "/openapi.json"), (200, "application/json"))
    expected |= {path: (status, "application/problem+json") for path, status in problems.items()}
    expected |= {"/": (302, "text/html"), "/nothing": (404, "text/html")}
    for path in expected:
        for method in (client.get, client.head):
            answer = method(path)
            assert (answer.status_code, answer["Content-Type"].split(";")[0]) == expected[path], (
                path
            )
            assert policy(answer) == NOTHING, path
    for answer in (  # of middleware
        client.get("/v1/vacancies", headers={"host": "evil.example"}),
        client.get("/nothing", headers={"host": "evil.example"}),
        client.options("/v1/vacancies", headers={"origin": "https://x.example"}),
        client.post("/v1/auth/token", "x", content_type="application/json"),
        client.get(MINE, headers=bearer(make_token(make_user()))),
    ):
        assert policy(answer) == NOTHING


def test_documentation_loads_nothing_from_other_sites(client):
    """A browser replaces the stored policy by that of the 304, and would block the page."""
    for path in ("/docs", "/docs?script="):
        first = client.get(path)
        again = client.get(path, headers={"If-None-Match": first["ETag"]})
        assert again.status_code == 304
        assert again["Content-Security-Policy"] == first["Content-Security-Policy"]
        assert "img-src 'self'" in first["Content-Security-Policy"]

    found = policy(client.get("/docs"), page=True)
    assert found["default-src"] == found["base-uri"] == found["frame-ancestors"] == "'none'"
    assert found["script-src"] == found["connect-src"] == "'self'"


def test_cached_responses_have_the_headers(wsgi, at, transactional_db, filters, settings):
    """From the views, the response cache, and as 304."""
    settings.RESPONSE_CACHE_MB = 1
    make_vacancy()
    bodies = ResponseCache(_bare, read_state)
    for path in ("/v1/vacancies", "/v0.1/vacancies", "/v1/filters"):
        view, cold, warm = (ask(application, path)[1] for application in (_bare, bodies, bodies))
        assert cold == warm == view
        for application in (_bare, bodies):
            status, unchanged, _ = ask(application, path, HTTP_IF_NONE_MATCH=warm["ETag"])
            assert (status[:3], policy(unchanged)) == ("304", NOTHING)


def test_files_may_load_nothing(rf, client, settings):
    """Media are served by runserver; in production by nginx (deploy/nginx.conf)."""
    name = default_storage.save("x.svg", ContentFile(b"<svg onload='alert(1)'/>"))
    view = lambda request: serve(request, name, settings.MEDIA_ROOT)  # noqa: E731
    middleware = SecurityMiddleware(XFrameOptionsMiddleware(SecurityHeadersMiddleware(view)))
    for answer in (middleware(rf.get(f"/media/{name}")), client.get("/static/jobsite/account.css")):
        with closing(answer):
            assert policy(answer) == NOTHING
            b"".join(answer)


def test_account_pages_load_scripts_and_styles_of_this_site_only(client, settings, at, filters):
    for path in ("", "login", "password", "reset", "reset/sent", "reset/x/y", "nothing"):
        assert policy(client.get(f"/account/{path}"), page=True) == ACCOUNT, path

    settings.RATE_LIMIT, settings.SIGN_IN_RATE = "600/min", "1/h"
    _, locked = client.post("/account/login", {}), client.post("/account/login", {})
    assert (locked.status_code, policy(locked, page=True)) == (429, ACCOUNT)

    for token in (token_for(make_vacancy().pk), "x"):
        found = policy(client.get(f"/preview/{token}"), page=True)
        assert "unsafe" not in str(found)
        assert {found[name] for name in ("default-src", "form-action", "base-uri")} == {"'none'"}
        assert found["script-src"] == found["style-src"] == "'self'"


@pytest.mark.slow("opens many pages of the admin")
def test_admin_runs_no_inline_script(admin_client, filters):
    """Except the theme's expressions, and one import map, by its digest."""
    pk = make_vacancy().pk
    for path in (
        "",
        "login/",
        "vacancies/vacancy/",
        "vacancies/vacancy/add/",
        f"vacancies/vacancy/{pk}/change/",
        "vacancies/vacancy/deleted/",
        "forms_structure/form/",
        "vacancies/filter/",
        "vacancies/brand/add/",
        "vacancies/recruiter/",
        "applications/application/",
        "applications/token/",
        "auth/user/",
        "auth/user/add/",
        "password_change/",
        "jsi18n/",
        "texts.js",
        "nothing/",
    ):
        found = policy(admin_client.get(f"/admin/{path}"), page=True)
        assert found["default-src"] == found["base-uri"] == "'none'", path
        scripts = found["script-src"].split()
        assert scripts[:2] == ["'self'", "'unsafe-eval'"], path
        assert [script[:8] for script in scripts[2:]] == ["'sha256-"], path
        assert found["style-src"] == "'self' 'unsafe-inline'", path
        to_us = ("form-action", "connect-src", "frame-src", "frame-ancestors")
        assert {found[name] for name in to_us} == {"'self'"}, path
        assert found.pop("img-src") == "* data: blob:", path
        assert not {text for text in ("*", "https:") if text in str(found)}, path


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
NAMES = (
    "SESSION_COOKIE_NAME",
    "SESSION_COOKIE_SECURE",
    "SESSION_COOKIE_HTTPONLY",
    "SESSION_COOKIE_SAMESITE",
    "SESSION_COOKIE_PATH",
    "SESSION_COOKIE_DOMAIN",
    "SESSION_SAVE_EVERY_REQUEST",
    "CSRF_COOKIE_SECURE",
    "CSRF_COOKIE_SAMESITE",
    "SECURE_HSTS_SECONDS",
    "SECURE_SSL_REDIRECT",
    "SESSION_COOKIE_AGE",
    "LANGUAGE_COOKIE_SECURE",
    "SIGNED_COOKIE_LEGACY_SALT_FALLBACK",
)


@pytest.mark.slow("starts Django in a process")
def test_production_binds_cookies_to_the_host_and_to_tls(tmp_path):
    own = {"STATIC_ROOT": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / 'x.sqlite3'}"}
    run = subprocess.run(
        [sys.executable, "-c", SHOWN % (NAMES,)],
        cwd=ROOT,
        env=SYSTEM_ENV | {"DJANGO_SETTINGS_MODULE": "jobsite.settings"} | PRODUCTION | own,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.partition("told:")[2])

    cookie = found.pop("cookie")
    assert "__Host-csrftoken=" in cookie
    assert "Secure" in cookie
    assert found == {
        "SESSION_COOKIE_NAME": "__Host-sessionid",
        "SESSION_COOKIE_SECURE": True,
        "SESSION_COOKIE_HTTPONLY": True,
        "CSRF_COOKIE_SECURE": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "CSRF_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_PATH": "/",  # as __Host- asks
        "SESSION_COOKIE_DOMAIN": None,
        "SESSION_SAVE_EVERY_REQUEST": False,  # CVE-2026-35192
        "SESSION_COOKIE_AGE": 12 * 3600,
        "LANGUAGE_COOKIE_SECURE": True,
        "SIGNED_COOKIE_LEGACY_SALT_FALLBACK": False,
        "SECURE_SSL_REDIRECT": False,
        "SECURE_HSTS_SECONDS": 31536000,
        "forms": ["__Host-csrftoken", "__Host-sessionid"],  # a malformed one disturbs nothing
        "tls": "max-age=31536000",
        "plain": None,
        "said": None,
        "W": [],
    }
