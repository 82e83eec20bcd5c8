# ruff: noqa: E501 - tables
"""The leak matrix: what every route returns, by method and viewer (docs/operations/security.md, ASVS 8.2).

A new route fails here until it has a row. All texts of hidden content contain a marker word, and no response may
show it to a viewer without access. tests/vacancies/api/test_leaks.py checks that hidden and absent content get the
same bytes, tests/jobsite/admin/test_roles.py what each role may do in the admin, and
tests/vacancies/admin/test_brand_access*.py the separation of brands.
"""

import re
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import ContentFile
from django.test import Client, override_settings

from applications.models import Application
from jobsite.db.transactions import dry_run
from tests import admin_pages
from tests.applications.makers import make_token
from tests.hostile import content as hostile_content
from tests.hostile.content import ABSENT, HIDDEN, HIDDEN_WORD, INTERNAL
from vacancies.models import Attachment, Requisition, Vacancy

pytestmark = pytest.mark.django_db

NOBODY = ("anonymous", "wrong token", "expired session")
APPLICANTS = ("applicant A", "applicant B")
STAFF = ("other recruiter", "recruiter", "superuser")
VIEWERS = (*NOBODY, *APPLICANTS, *STAFF)
# One viewer of each kind sends every request. The others differ by credentials and only read.
EVERYTHING = ("anonymous", "applicant B", "other recruiter", "superuser")
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
NOTHING: frozenset[str] = frozenset()
MANY = pytest.mark.slow("requests every page as many viewers")

# --- Statuses of the routes -------------------------------------------------------------------

# by method: a status, or statuses of (nobody, applicant A with a token, applicant B with a session, staff)
Row = dict[str, Any]


def reads(get: Any = 200, options: Any = 204) -> Row:
    return dict.fromkeys(METHODS, 405) | {"GET": get, "HEAD": get, "OPTIONS": options}


def signed_in(get: Any = 200, post: Any = 405) -> Row:
    """A page that sends whoever has no session to the sign-in page."""
    get, post = (
        each if isinstance(each, tuple) else (302, 302, each, each) for each in (get, post)
    )
    return dict.fromkeys(METHODS, (302, 302, 405, 405)) | {"GET": get, "HEAD": get, "POST": post}


PAGE = {"OPTIONS": 200, "PUT": 405, "PATCH": 405, "DELETE": 405}
TO_SIGN_IN = 302
# By route, as the resolver spells it. `{pk}` is requested for each hidden vacancy, a shown and an absent one.
ROWS: dict[str, Row] = {
    "": dict.fromkeys(METHODS, 302),
    "jobs": reads(options=405),  # hidden vacancies: tests/jobsite/site/test_pages.py
    "<site_language:language>/jobs": reads(options=405),
    "<site_language:language>/jobs.atom": reads(404, options=405),  # without TEXT_LANGUAGES
    **{
        f"{prefix}alerts": reads(options=405) | {"POST": 422}
        for prefix in ("", "<site_language:language>/")
    },
    **{f"{prefix}alerts/sent": reads(options=405) for prefix in ("", "<site_language:language>/")},
    **{
        f"{prefix}alerts/{rest}": reads(404, options=405) | {"POST": 404}
        for prefix in ("", "<site_language:language>/")
        for rest in ("<str:token>", "<str:token>/unsubscribe", "confirm/<str:token>")
    },
    **{
        f"{prefix}{rest}": reads(404, options=405)
        for prefix in ("", "<site_language:language>/")
        for rest in ("jobs/<int:pk>", "jobs/<int:pk>-<slug:slug>", "brands/<slug:slug>")
    },
    "brands/<slug:slug>.css": reads(404, options=405),
    "site.css": reads(options=405),
    "embed.js": reads(options=405),
    "sitemap.xml": reads(options=405),
    "sitemap-<int:number>.xml": reads(options=405),
    "jobs.atom": reads(options=405),
    "feeds/indeed.xml": reads(options=405),
    "v1/vacancies": reads(),
    "v1/vacancies/hot": reads(),
    "v1/vacancies/internal": reads((401, 403, 403, 200), options=(401, 403, 403, 204)),
    "v1/vacancies/changes": reads(),
    "v1/vacancies/internal/changes": reads((401, 403, 403, 200), options=(401, 403, 403, 204)),
    "v1/vacancies/hot/internal": reads((401, 403, 403, 200), options=(401, 403, 403, 204)),
    "v0.1/vacancies": reads(),
    "v0.1/vacancies/internal": reads((401, 403, 403, 200), options=(401, 403, 403, 204)),
    "v1/filters": reads(),
    # for the tokens of integrations only; tests/vacancies/manage sends those
    **{
        f"v1/manage/<str:brand>/{rest}": dict.fromkeys(METHODS, 401)
        for rest in (
            "vacancies",
            "vacancies/<str:reference>",
            "values",
            "applications",
            "applications/<int:pk>",
            "applications/<int:pk>/files/<int:number>",
        )
    },
    "v1/manage/openapi.json": reads(options=405),
    "v1/vacancies/{pk}": reads(),
    "v1/vacancies/{pk}/form": reads(),
    "v1/vacancies/{pk}/form/schema": reads(),
    # without a submission; tests/applications/submissions sends some
    "v1/vacancies/{pk}/applications": dict.fromkeys(METHODS, 405) | {"POST": 415, "OPTIONS": 204},
    "v1/user/applications": reads((401, 200, 200, 200), options=(401, 204, 204, 204)),
    "v1/auth/token": {
        "GET": 405,
        "HEAD": 405,
        "PUT": 405,
        "PATCH": 405,
        "OPTIONS": 204,
        "POST": 400,
        "DELETE": 401,
    },
    "openapi.json": reads(options=405),
    "docs": reads(options=405),
    "docs/api.md": reads(options=405),
    "llms.txt": reads(options=405),
    "preview/<str:token>": reads(404, options=405),
    "vacancies/{pk}": reads(301, options=405),  # to the page of a public one
    "apply/{pk}": reads(options=405) | {"POST": 422},
    "apply/thanks/<str:token>": reads(404, options=405),
    "media/<path:name>": reads(404, options=405),
    "robots.txt": reads(options=405),
    "favicon.ico": reads(options=405),
    "account/": signed_in(),  # pages accept sessions, not tokens
    "account/export": signed_in(),
    "account/delete": signed_in(post=(302, 302, 200, 409)),  # without the password
    "account/deleted": reads(options=405),
    "account/applications/<int:pk>": signed_in(get=(302, 302, 200, 404))
    | dict.fromkeys(("OPTIONS", "POST", "PUT", "PATCH", "DELETE"), (302, 302, 405, 404)),
    **{
        f"account/applications/<int:pk>/{action}": dict.fromkeys(METHODS, (302, 302, 404, 404))
        for action in ("reply", "choose", "withdraw", "delete", "consent", "pool", "export")
    },
    **{
        f"account/receipt/<str:token>{action}": dict.fromkeys(METHODS, 404)
        for action in (
            "",
            "/reply",
            "/choose",
            "/withdraw",
            "/delete",
            "/consent",
            "/pool",
            "/leave",
            "/export",
            "/account",
            "/claim",
        )
    },
    "account/calendar": signed_in(get=(302, 302, 403, 200), post=(302, 302, 403, 200)),
    "account/calendar/<str:secret>.ics": reads(404, options=405),
    "account/invitation/<str:token>": dict.fromkeys(("GET", "HEAD", "POST"), 404)
    | dict.fromkeys(("OPTIONS", "PUT", "PATCH", "DELETE"), 405),
    "account/login": dict.fromkeys(("GET", "HEAD", "POST"), 200) | PAGE | {"PUT": 200},
    "account/logout": dict.fromkeys(("GET", "HEAD", "PUT", "PATCH", "DELETE"), 405)
    | {"OPTIONS": 200, "POST": 302},
    "account/password": dict.fromkeys(METHODS, (302, 302, 200, 200))
    | dict.fromkeys(("PATCH", "DELETE"), (302, 302, 405, 405)),
    "account/reset": dict.fromkeys(("GET", "HEAD", "POST"), 200) | PAGE | {"PUT": 200},
    "account/reset/sent": reads(options=200),
    "account/reset/<uidb64>/<token>": dict.fromkeys(METHODS, 200),
}
OWN_PAGES = ("account/", "account/export", "account/applications/<int:pk>")
# Pages of the admin that are open to everybody. All others redirect to the sign-in page.
OPEN = ("admin/login/", "admin/language", "admin/texts.js", "admin/jsi18n/", "admin")
# No hidden vacancy takes applications.
APPLYING = ("v1/vacancies/{pk}/applications", "apply/{pk}")
# The viewers who may read a hidden vacancy by its id.
INSIDE = {"internal": STAFF}


PUBLIC_ROUTES = sorted(
    {
        re.sub(r"[\^$]", "", route.replace("(?P<pk>[^/]+)", "{pk}").replace("<str:pk>", "{pk}"))
        for route in admin_pages.every_route()
        if not route.startswith("admin")
    }
    | {path.name for path in settings.WHITENOISE_ROOT.iterdir()}  # served at the root of the site
)
ADMIN_ROUTES = sorted(set(admin_pages.routes()))


def test_every_route_has_a_row():
    assert set(PUBLIC_ROUTES) == set(ROWS)
    assert set(OPEN) <= set(ADMIN_ROUTES)


# --- Viewers ----------------------------------------------------------------------------------


class World:
    def __init__(self) -> None:
        self.site = hostile_content.create()
        recruiter = User.objects.create_user("of-the-hidden-brands", is_staff=True)
        recruiter.groups.add(Group.objects.get(name="Recruiter"))
        for vacancy in Vacancy.objects.filter(pk__in=HIDDEN.values()):
            vacancy.brand.members.add(recruiter)
        for vacancy in Vacancy.objects.filter(requisition=None):  # also of shown ones
            Requisition.objects.create(vacancy=vacancy, **INTERNAL)
        self.sessions = {
            "expired session": self.site.sessions["expired"],
            "applicant B": self.site.sessions["B"],
            "other recruiter": self.site.sessions["recruiter"],
            "recruiter": admin_pages.session_of(recruiter),
            "superuser": self.site.sessions["root"],
        }
        self.tokens = {
            "wrong token": "0" * 64,
            "applicant A": make_token(
                User.objects.get(pk=self.site.users["A"]), lifetime=timedelta(days=1)
            ),
        }
        for kind in HIDDEN.keys() - {"deleted"}:
            attachment = Attachment(vacancy_id=HIDDEN[kind], name=f"{HIDDEN_WORD}.txt")
            attachment.file.save("plan.txt", ContentFile(f"{HIDDEN_WORD} {kind}".encode()))

    def client(self, viewer: str) -> Client:
        client = Client()
        client.raise_request_exception = False
        if viewer in self.sessions:
            client.cookies["sessionid"] = self.sessions[viewer]
        if viewer in self.tokens:
            client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {self.tokens[viewer]}"
        return client


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("media")
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=folder), dry_run(True):
        made = World()
        made.folder = folder
        yield made


@pytest.fixture(autouse=True)
def world_settings(settings, world):
    settings.INTERNAL_ACCESS = "authenticated"
    settings.CAREER_SITE = settings.APPLY_PAGES = True
    settings.MEDIA_ROOT = world.folder


def request(client: Client, method: str, path: str, **headers: str) -> Any:
    """Return the response, with all its text in `text_and_headers`. The client keeps its credentials."""
    cookies = client.cookies.copy()
    response = client.generic(method, path, headers=headers, REMOTE_ADDR="203.0.113.9")
    client.cookies = SimpleCookie(cookies)
    body = b"".join(response.streaming_content) if response.streaming else response.content
    text = (
        f"{[*response.headers.items()]} {response.cookies.output()} {body.decode(errors='replace')}"
    )
    # The second may change between two.
    response.text_and_headers = re.sub(r"\d\d:\d\d:\d\d GMT", "", text)
    return response


def expected(row: Row, method: str, viewer: str) -> int:
    status = row[method]
    if isinstance(status, int):
        return status
    return status[
        0 if viewer in NOBODY else 1 + APPLICANTS.index(viewer) if viewer in APPLICANTS else 3
    ]


def addresses(world: World, route: str) -> list[tuple[str, str]]:
    """Return the paths of `route`, each with the kind of vacancy that it requests."""
    if "{pk}" in route:
        rows = {"shown": world.site.shown[0], "absent": ABSENT, **HIDDEN}
        return [(kind, route.replace("{pk}", str(pk))) for kind, pk in rows.items()]
    if route == "media/<path:name>":
        return [("absent", "media/attachments/nothing.txt"), ("absent", "media/../db.sqlite3")]
    if route == "account/applications/<int:pk>":
        owned = Application.objects.get(user=world.site.users["B"])
        return [("", route.replace("<int:pk>", str(owned.pk)))]
    route = route.replace("<str:token>", "a:b:c").replace("<int:pk>", str(ABSENT))
    route = route.replace("<slug:slug>", "absent").replace("<site_language:language>", "nl")
    route = route.replace("<int:number>", "0")
    return [("", route.replace("<uidb64>/<token>", "MQ/a-b"))]


def may_read(viewer: str, route: str) -> frozenset[str]:
    """The kinds of hidden content that a response to `viewer` may show."""
    api = "v1/user/applications"
    own = {"applicant A": (api,), "applicant B": (api, *OWN_PAGES)}
    if route in own.get(viewer, ()):
        # Whatever the status of the vacancy.
        return frozenset({"unpublished", f"step of {viewer[-1]}"})
    return frozenset({"internal"}) if viewer in STAFF and "internal" in route else NOTHING


def leaks(text: str, allowed: frozenset[str]) -> list[str]:
    """Return the kinds of hidden content in `text` that are not `allowed`."""
    kinds = "|".join([*HIDDEN, r"step of \w", "requisition"])
    found = re.findall(rf"{HIDDEN_WORD}(?:[ _%20+-]*({kinds})?)", text)
    return [
        kind or "a file or a link"
        for kind in found
        if kind not in allowed and (kind or not allowed)
    ]


VARIANTS: tuple[dict[str, str], ...] = (
    {},
    {"if-none-match": "*"},
    {"if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT"},
    {"range": "bytes=0-40"},
    {"accept-language": "nl", "accept-encoding": "gzip;q=0", "origin": "https://evil.example"},
)


# --- The API and the public pages -----------------------------------------------------


def methods_of(kind: str, viewer: str) -> tuple[str, ...]:
    if viewer not in EVERYTHING:
        return ("GET",) if kind in ("", "draft", "internal") else ()
    return METHODS if kind in ("", "shown", "draft") else ("GET", "HEAD")


def differences(world: World, route: str, viewers: tuple[str, ...]) -> list[Any]:
    """Request `route`. Return each response with another status than its row, or with hidden content."""
    row, found = ROWS[route], []
    cases = [(viewer, *each) for viewer in viewers for each in addresses(world, route)]
    for viewer, kind, path in cases:
        is_inside = viewer in INSIDE.get(kind, ())
        allowed = may_read(viewer, route) | ({kind} if is_inside else NOTHING)
        for method in methods_of(kind, viewer):
            status = expected(row, method, viewer)
            is_one = method in ("GET", "HEAD", "POST") and row[method] not in (404, 405)
            if "{pk}" in route and is_one and kind != "shown":
                status = 200 if is_inside and route not in APPLYING else 404
            for headers in (
                VARIANTS if method == "GET" and kind in ("", "internal") else VARIANTS[:1]
            ):
                response = request(world.client(viewer), method, f"/{path}", **headers)
                statuses = (200, 206, 304) if headers and status == 200 else (status,)
                leaked = leaks(response.text_and_headers, allowed)
                if response.status_code not in statuses or leaked:
                    found.append(
                        (viewer, method, path, headers, response.status_code, status, leaked)
                    )
    return found


@pytest.mark.parametrize("route", PUBLIC_ROUTES)
def test_route_returns_the_statuses_of_its_row(world, route):
    assert differences(world, route, ("anonymous",)) == []


@MANY
@pytest.mark.parametrize("route", PUBLIC_ROUTES)
def test_route_returns_the_statuses_of_its_row_to_other_viewers(world, route):
    assert differences(world, route, VIEWERS[1:]) == []


QUERIES = (
    f"filter[search]={HIDDEN_WORD}",
    f"filter[regions]={HIDDEN_WORD}-draft",
    f"filter[types]={HIDDEN_WORD}-internal",
    "sort=title",
    "sort=-title",
    "page[size]=100",
    "page[size]=1&page[number]=99",
    "fields=id",
    "fields=title,slug,attachments,head_recruiter",
)


@pytest.mark.slow("many cases")
@pytest.mark.parametrize(
    "viewer", ["anonymous", *(pytest.param(v, marks=MANY) for v in EVERYTHING[1:])]
)
def test_no_query_finds_hidden_vacancies(world, viewer):
    """Counts, pages, orders, keys, and options of filters that only hidden vacancies have."""
    client, total, found = world.client(viewer), len(world.site.shown), []
    for path in ("/v1/vacancies", "/v1/vacancies/hot", "/v1/filters", "/v0.1/vacancies"):
        for query in ("", *QUERIES):
            response = request(client, "GET", f"{path}?{query}")
            # links repeat the query
            text = response.text_and_headers.replace(
                query.replace("[", "%5B").replace("]", "%5D"), ""
            )
            text = text.replace(f"{HIDDEN_WORD}&", "&") if HIDDEN_WORD in query else text
            leaked = re.findall(rf"{HIDDEN_WORD} \w|{HIDDEN_WORD}@|files\.test/{HIDDEN_WORD}", text)
            found += [(path, query, leak) for leak in leaked]
            body = response.json()
            if response.status_code == 200 and "meta" in body:
                highest = 0 if HIDDEN_WORD in query else total
                ids = {item.get("id") for item in body["data"]}
                if body["meta"]["total"] > highest or body["meta"]["last_page"] > total:
                    found.append((path, query, body["meta"]))
                if ids & set(HIDDEN.values()):
                    found.append((path, query, ids))
    options = {
        option["value"] for f in client.get("/v1/filters").json()["data"] for option in f["options"]
    }
    assert (found, {value for value in options if HIDDEN_WORD in value}) == ([], set())


def test_cache_deception_is_not_possible(world):
    """A path that a cache may take for a file's shows no private data."""
    suffixes = (
        "/x.css",
        ";x.css",
        "%2fx.js",
        ".json",
        "%00.css",
        "%3fx.css",
        "/",
        "/..%2fx.js",
        "%0a.css",
    )
    answers = {}
    for viewer in ("anonymous", *APPLICANTS, "superuser"):
        for suffix in suffixes:
            response = request(world.client(viewer), "GET", f"/v1/user/applications{suffix}")
            is_hidden = HIDDEN_WORD not in response.text_and_headers
            answers[viewer, suffix] = (response.status_code, response["Cache-Control"], is_hidden)

    assert answers == dict.fromkeys(answers, (404, "no-store", True))


# --- The admin -----------------------------------------------------------------------------


@pytest.mark.slow("many cases")
@pytest.mark.parametrize(
    "viewer",
    ["applicant B", *(pytest.param(v, marks=MANY) for v in ("anonymous", "expired session"))],
)
def test_admin_is_closed_to_those_who_are_not_staff(world, viewer):
    client, found = world.client(viewer), []
    for route in ADMIN_ROUTES:
        ids = r"<(path:object_id|id|int:pk|int:number|path:content_type_id)>"
        path = re.sub(ids, str(HIDDEN["draft"]), route)
        path = re.sub(r"\(\?P<app_label>(\w+).*", r"\1/", path.replace("^", "")).replace(
            "(?P<url>.*)$", "x"
        )
        for method in METHODS if viewer == "anonymous" else ("GET", "POST"):
            response = request(client, method, f"/{path}")
            is_closed = response.status_code < 500 if route in OPEN else is_refused(response)
            if not is_closed or leaks(response.text_and_headers, NOTHING):
                found.append((method, path, response.status_code, response.get("Location")))
    assert found == []


def is_refused(response: Any) -> bool:
    if response.status_code == TO_SIGN_IN:
        return response["Location"].startswith(("/admin/login/", "/admin/"))
    return response.status_code in (404, 405)


@pytest.mark.slow("many cases")
def test_view_on_site_does_not_reveal_that_a_row_exists(world):
    """Django's own view redirects for hidden rows and not for absent ones."""
    kind, found = ContentType.objects.get_for_model(Vacancy).pk, []
    for viewer in ("anonymous", *STAFF):
        client = world.client(viewer)
        absent = request(client, "GET", f"/admin/r/{kind}/{ABSENT}/").text_and_headers
        for name, pk in HIDDEN.items():
            hidden = request(client, "GET", f"/admin/r/{kind}/{pk}/")
            may_see = viewer in ("recruiter", "superuser") and name != "deleted"
            is_absent = hidden.text_and_headers.replace(str(pk), str(ABSENT)) == absent
            if hidden.status_code != 302 if may_see else not is_absent:
                found.append((viewer, name, hidden.status_code))
    assert found == []

    client = world.client("superuser")
    others = [n for n in range(1, 30) if n != kind]
    assert {request(client, "GET", f"/admin/r/{n}/1/").status_code for n in others} == {404}
