# ruff: noqa: E501 - tables of who gets what
"""Access control: every route x method x viewer (docs/operations.md, ASVS 8.2).

A new route fails here until it has a row. What is hidden has a word in all its texts that nothing else has;
no answer, no header and no page may say it to somebody who may not see it. That an answer is the same
to the byte whether something is hidden or not there: tests/vacancies/api/test_leaks.py. What each role may do inside
the workplace, page by page: tests/jobsite/admin/test_roles.py; between brands: tests/vacancies/admin/test_brand_access.py.
"""

import re
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from jobsite.ops.commands import dry_run
from tests import workplace
from tests.applications.makers import make_token
from tests.hostile import site as sites
from tests.hostile.site import ABSENT, HIDDEN, HIDDEN_WORD
from vacancies.models import Attachment, Vacancy

pytestmark = pytest.mark.django_db

NOBODY = ("anonymous", "wrong token", "expired session")
APPLICANTS = ("applicant A", "applicant B")
STAFF = ("other recruiter", "recruiter", "superuser")
VIEWERS = (*NOBODY, *APPLICANTS, *STAFF)
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
UNPUBLISHED = ("draft", "scheduled", "expired", "withdrawn", "deleted")
NOTHING: frozenset[str] = frozenset()

# --- Expected status of each route -------------------------------------------------------------

Row = dict[str, Any]  # a status by method, or by viewer: (nobody, with a token, with a session, staff)


def reads(get: Any = 200, others: int = 405, options: Any = 204) -> Row:
    return {"GET": get, "HEAD": get, "OPTIONS": options} | dict.fromkeys(
        ("POST", "PUT", "PATCH", "DELETE"), others
    )


PAGE = {"OPTIONS": 200, "PUT": 405, "PATCH": 405, "DELETE": 405}
TO_SIGN_IN = 302
# By route as the resolver has it. `{pk}` is asked for each hidden vacancy, and for one that shows.
ROWS: dict[str, Row] = {
    "": dict.fromkeys(METHODS, 302),
    "v1/vacancies": reads(),
    "v1/vacancies/hot": reads(),
    "v1/vacancies/internal": reads((401, 403, 403, 200), options=(401, 403, 403, 204)),
    "v1/vacancies/hot/internal": reads((401, 403, 403, 200), options=(401, 403, 403, 204)),
    "v0.1/vacancies": reads(),
    "v0.1/vacancies/internal": reads((401, 403, 403, 200), options=(401, 403, 403, 204)),
    "v1/filters": reads(),
    "v1/vacancies/{pk}": reads(),
    "v1/vacancies/{pk}/form": reads(),
    "v1/vacancies/{pk}/form/schema": reads(),
    "v1/user/applications": reads((401, 200, 200, 200), options=(401, 204, 204, 204)),
    "v1/auth/token": {"GET": 405, "HEAD": 405, "PUT": 405, "PATCH": 405, "OPTIONS": 204, "POST": 400, "DELETE": 401},
    "openapi.json": reads(options=405),
    "docs": reads(options=405),
    "preview/<str:token>": reads(404, options=405),
    "media/<path:name>": reads(404, options=405),
    "robots.txt": reads(options=405),
    "favicon.ico": reads(options=405),
    "account/": dict.fromkeys(METHODS, (302, 302, 200, 200)),  # pages know sessions only
    "account/login": dict.fromkeys(("GET", "HEAD", "POST"), 200) | PAGE | {"PUT": 200},
    "account/logout": dict.fromkeys(("GET", "HEAD", "PUT", "PATCH", "DELETE"), 405) | {"OPTIONS": 200, "POST": 302},
    "account/password": dict.fromkeys(METHODS, (302, 302, 200, 200)) | dict.fromkeys(("PATCH", "DELETE"), (302, 302, 405, 405)),
    "account/reset": dict.fromkeys(("GET", "HEAD", "POST"), 200) | PAGE | {"PUT": 200},
    "account/reset/sent": reads(options=200),
    "account/reset/<uidb64>/<token>": dict.fromkeys(METHODS, 200),
}  # fmt: skip
# Of the workplace; everything else in it sends those who are no colleagues to where they sign in.
OPEN = ("admin/login/", "admin/language", "admin/texts.js", "admin/jsi18n/", "admin")
# Whose hidden vacancy shows where it is asked for by its id.
INSIDE = {"internal": STAFF}


OF_THE_INTERFACE = sorted(
    {
        re.sub(r"[\^$]", "", route.replace("(?P<pk>[^/]+)", "{pk}"))
        for route in workplace.every_route()
        if not route.startswith("admin")
    }
    | {path.name for path in settings.WHITENOISE_ROOT.iterdir()}  # served at the root of the site
)
OF_THE_WORKPLACE = sorted(set(workplace.routes()))


def test_every_route_has_a_row():
    assert set(OF_THE_INTERFACE) == set(ROWS)
    assert set(OPEN) <= set(OF_THE_WORKPLACE)


# --- Viewers -----------------------------------------------------------------------------------


class World:
    def __init__(self) -> None:
        self.site = sites.make()
        recruiter = User.objects.create_user("of-the-hidden-brands", is_staff=True)
        recruiter.groups.add(Group.objects.get(name="Recruiter"))
        for vacancy in Vacancy.objects.filter(pk__in=HIDDEN.values()):
            vacancy.brand.members.add(recruiter)
        self.sessions = {
            "expired session": self.site.sessions["expired"],
            "applicant B": self.site.sessions["B"],
            "other recruiter": self.site.sessions["recruiter"],
            "recruiter": workplace.session_of(recruiter),
            "superuser": self.site.sessions["root"],
        }
        self.tokens = {
            "wrong token": "0" * 64,
            "applicant A": make_token(User.objects.get(pk=self.site.users["A"]), lifetime=timedelta(days=1)),
        }
        self.files = self._files()

    def _files(self) -> dict[str, list[str]]:
        """Names of the files of what is hidden, by its kind."""
        found: dict[str, list[str]] = {}
        for kind, pk in HIDDEN.items():
            if kind == "deleted":
                continue
            vacancy = Vacancy.objects.get(pk=pk)
            attachment = Attachment(vacancy=vacancy, name=f"{HIDDEN_WORD}.txt")
            attachment.file.save("plan.txt", ContentFile(f"{HIDDEN_WORD} {kind}".encode()))
            found[kind] = [attachment.file.name]
        return found

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
    from django.test import override_settings

    folder = tmp_path_factory.mktemp("media")
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=folder), dry_run(True):
        made = World()
        made.folder = folder
        yield made


@pytest.fixture(autouse=True)
def walls(settings, world):
    settings.INTERNAL_ACCESS = "authenticated"
    settings.MEDIA_ROOT = world.folder


def ask(client: Client, method: str, path: str, **headers: str) -> Any:
    """Return the response. The client keeps its credentials, also if the response changes cookies."""
    cookies = client.cookies.copy()
    answer = client.generic(method, path, headers=headers, REMOTE_ADDR="203.0.113.9")
    client.cookies = SimpleCookie(cookies)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    told = f"{[*answer.headers.items()]} {answer.cookies.output()} {body.decode(errors='replace')}"
    answer.told = re.sub(r"\d\d:\d\d:\d\d GMT", "", told)  # two answers may lie on both sides of a second
    return answer


def expected(row: Row, method: str, viewer: str) -> int:
    status = row[method]
    if isinstance(status, int):
        return status
    return status[0 if viewer in NOBODY else 1 + APPLICANTS.index(viewer) if viewer in APPLICANTS else 3]


def addresses(world: World, route: str) -> list[tuple[str, str]]:
    """Return each URL of `route`, with the kind of object that it requests."""
    if "{pk}" in route:
        rows = {"shown": world.site.shown[0], "absent": ABSENT, **HIDDEN}
        return [(kind, route.replace("{pk}", str(pk))) for kind, pk in rows.items()]
    if route == "media/<path:name>":
        return [("absent", "media/attachments/nothing.txt"), ("absent", "media/../db.sqlite3")]
    return [("", route.replace("<str:token>", "a:b:c").replace("<uidb64>/<token>", "MQ/a-b"))]


def may_read(viewer: str, route: str) -> frozenset[str]:
    """Return the hidden markers that `viewer` may see."""
    if route == "v1/user/applications" and viewer in APPLICANTS:  # whatever became of the vacancy
        return frozenset({"withdrawn", f"step of {viewer[-1]}"})
    if viewer in STAFF and "internal" in route:
        return frozenset({"internal"})
    return NOTHING


def leaks(text: str, allowed: frozenset[str]) -> list[str]:
    """Return the hidden markers in `text` that are not `allowed`."""
    kinds = "|".join([*HIDDEN, r"step of \w"])
    told = re.findall(rf"{HIDDEN_WORD}(?:[ _%20+-]*({kinds})?)", text)
    return [
        kind or "a file or an address"
        for kind in told
        if kind not in allowed and not (kind == "" and allowed)
    ]


VARIANTS: tuple[dict[str, str], ...] = (
    {},
    {"if-none-match": "*"},
    {"if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT"},
    {"range": "bytes=0-40"},
    {"accept-language": "nl", "accept-encoding": "gzip;q=0", "origin": "https://evil.example"},
)


# --- API and pages -----------------------------------------------------------------------------


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("route", OF_THE_INTERFACE)
def test_route_has_the_expected_status_and_leaks_nothing(world, route, viewer):
    row = ROWS[route]
    for kind, path in addresses(world, route):
        for method in METHODS if kind in ("", "shown", "draft") else ("GET", "HEAD"):
            status = expected(row, method, viewer)
            if "{pk}" in route and method in ("GET", "HEAD") and kind != "shown":
                status = 200 if viewer in INSIDE.get(kind, ()) else 404
            allowed = may_read(viewer, route) | ({kind} if viewer in INSIDE.get(kind, ()) else NOTHING)
            if route == "v1/auth/token" and method == "DELETE" and viewer == "applicant A":
                continue  # ends the token: tests/applications/test_auth.py
            answer = ask(world.client(viewer), method, f"/{path}")
            assert (method, path, answer.status_code) == (method, path, status)
            assert leaks(answer.told, allowed) == [], f"{method} {path}"
            if method == "GET" and kind in ("", "internal"):
                for headers in VARIANTS[1:]:
                    answer = ask(world.client(viewer), method, f"/{path}", **headers)
                    assert answer.status_code in ((200, 206, 304) if status == 200 else (status,))
                    assert leaks(answer.told, allowed) == [], f"{headers} {path}"


QUESTIONS = (
    f"filter[search]={HIDDEN_WORD}", f"filter[regions]={HIDDEN_WORD}-draft", f"filter[types]={HIDDEN_WORD}-internal", "sort=title", "sort=-title",
    "page[size]=100", "page[size]=1&page[number]=99", "fields=id", "fields=title,slug,attachments,head_recruiter",
)  # fmt: skip


@pytest.mark.parametrize("viewer", VIEWERS)
def test_parameters_do_not_reveal_hidden_vacancies(world, viewer):
    """Counts, pages, sort orders, keys, and filter options that only hidden vacancies have."""
    client, total = world.client(viewer), len(world.site.shown)
    for path in ("/v1/vacancies", "/v1/vacancies/hot", "/v1/filters", "/v0.1/vacancies"):
        for question in ("", *QUESTIONS):
            answer = ask(client, "GET", f"{path}?{question}")
            # what was asked for may be said again, in links
            text = answer.told.replace(question.replace("[", "%5B").replace("]", "%5D"), "")
            text = text.replace(f"{HIDDEN_WORD}&", "&") if HIDDEN_WORD in question else text
            assert not re.search(rf"{HIDDEN_WORD} \w|{HIDDEN_WORD}@|files\.test/{HIDDEN_WORD}", text), (
                f"{path}?{question}"
            )
            if answer.status_code == 200 and "meta" in answer.json():
                body = answer.json()
                assert body["meta"]["total"] <= (0 if HIDDEN_WORD in question else total)
                assert body["meta"]["last_page"] <= total
                assert not {item.get("id") for item in body["data"]} & set(HIDDEN.values())
    options = {option["value"] for f in client.get("/v1/filters").json()["data"] for option in f["options"]}
    assert not {value for value in options if HIDDEN_WORD in value}


@pytest.mark.parametrize("viewer", VIEWERS)
def test_applications_are_those_of_the_viewer(world, viewer):
    for suffix in (
        "",
        "?user=1",
        "?page[size]=1" if viewer in NOBODY else "",
        "?filter=x" if viewer in NOBODY else "",
    ):
        text = ask(world.client(viewer), "GET", f"/v1/user/applications{suffix}").told
        names = {f"{HIDDEN_WORD} step of {name}" for name in "AB" if f"step of {name}" in text}
        assert names == ({f"{HIDDEN_WORD} step of {viewer[-1]}"} if viewer in APPLICANTS else set())


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize(
    "suffix", ["/x.css", ";x.css", "%2fx.js", ".json", "%00.css", "%3fx.css", "/", "/..%2fx.js", "%0a.css"]
)
def test_paths_like_static_files_contain_no_private_data(world, viewer, suffix):
    """A cache may store a response because its path looks like that of a file."""
    answer = ask(world.client(viewer), "GET", f"/v1/user/applications{suffix}")

    assert answer.status_code == 404
    assert answer["Cache-Control"] == "no-store"
    assert HIDDEN_WORD not in answer.told


@pytest.mark.parametrize("viewer", VIEWERS)
def test_private_responses_are_never_cached(world, viewer):
    internal = HIDDEN["internal"]
    for path in ("/v1/user/applications", "/v1/vacancies/internal", "/v1/vacancies/hot/internal", "/v0.1/vacancies/internal",
                 f"/v1/vacancies/{internal}", f"/v1/vacancies/{internal}/form", f"/v1/vacancies/{internal}/form/schema"):  # fmt: skip
        answer = ask(world.client(viewer), "GET", path)
        assert "no-store" in answer["Cache-Control"], path
        assert "ETag" not in answer, path


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("kind", [kind for kind in HIDDEN if kind != "deleted"])
def test_file_is_visible_with_its_vacancy_only(world, viewer, kind):
    inside = viewer in ("recruiter", "superuser") or viewer in INSIDE.get(kind, ())
    for name in world.files[kind]:
        answer, absent = (
            ask(world.client(viewer), "GET", f"/media/{n}") for n in (name, "attachments/none.txt")
        )
        assert answer.status_code == (200 if inside else 404)
        if not inside:
            assert answer.told.replace(name, "") == absent.told.replace("attachments/none.txt", "")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("viewer", VIEWERS)
def test_hidden_vacancy_equals_an_absent_one(world, viewer, variant):
    """Status, headers and body, for every viewer and kind of request."""
    client = world.client(viewer)
    for kind, pk in HIDDEN.items():
        if viewer in INSIDE.get(kind, ()) or (variant and kind not in ("draft", "internal")):
            continue
        for suffix in ("",) if variant else ("", "/form", "/form/schema"):
            for method in ("GET",) if variant else ("GET", "HEAD"):
                hidden, absent = (
                    ask(client, method, f"/v1/vacancies/{n}{suffix}", **variant) for n in (pk, ABSENT)
                )
                assert hidden.told.replace(str(pk), str(ABSENT)) == absent.told


def test_unpublished_vacancy_is_404_with_known_etag_and_file_url(world):
    """An ETag or the URL of a file do not help after the vacancy is unpublished."""
    client, pk = world.client("anonymous"), world.site.shown[0]
    tag = client.get(f"/v1/vacancies/{pk}")["ETag"]

    assert ask(client, "GET", f"/v1/vacancies/{pk}", **{"if-none-match": tag}).status_code == 304
    Vacancy.objects.filter(pk=pk).update(status="withdrawn")

    for suffix in ("", "/form", "/form/schema"):
        assert ask(client, "GET", f"/v1/vacancies/{pk}{suffix}", **{"if-none-match": tag}).status_code == 404


# --- Admin -------------------------------------------------------------------------------------


@pytest.mark.parametrize("viewer", [*NOBODY, *APPLICANTS])
def test_admin_is_closed_to_users_who_are_not_staff(world, viewer):
    client = world.client(viewer)
    pk = HIDDEN["draft"]
    for route in OF_THE_WORKPLACE:
        path = re.sub(r"<(path:object_id|id|int:pk|int:number|path:content_type_id)>", str(pk), route)
        path = re.sub(r"\(\?P<app_label>(\w+).*", r"\1/", path.replace("^", "")).replace("(?P<url>.*)$", "x")
        for method in METHODS if viewer == "anonymous" else ("GET", "POST"):
            answer = ask(client, method, f"/{path}")
            if route in OPEN:
                assert answer.status_code < 500
            else:
                assert (route, method, answer.status_code) in (
                    (route, method, TO_SIGN_IN),
                    (route, method, 405),
                    (route, method, 404),
                )
                if answer.status_code == 302:
                    assert answer["Location"].startswith(("/admin/login/", "/admin/"))
            assert leaks(answer.told, NOTHING) == [], path


HIDDEN_ROWS = ("change", "history", "delete", "preview", "application-form", "publish", "schedule", "withdraw", "extend",
               "archive", "duplicate", "versions/1")  # fmt: skip


@pytest.mark.parametrize("kind", HIDDEN)
def test_recruiter_of_another_brand_sees_no_page_of_it(world, kind):
    client = world.client("other recruiter")
    for page in HIDDEN_ROWS:
        for method in ("GET", "POST"):
            answer = ask(client, method, f"/admin/vacancies/vacancy/{HIDDEN[kind]}/{page}/")
            assert answer.status_code in (302, 403, 404)
            assert leaks(answer.told, NOTHING) == [], page


@pytest.mark.parametrize(
    "path",
    [
        *("", "?state=all", "?state=draft", f"?q={HIDDEN_WORD}", "?o=1", "?e=1", "?_facets=1", "deleted/"),
        f"?id__exact={HIDDEN['draft']}",
    ],
)
def test_admin_lists_contain_own_brands_only(world, path):
    found = {v: ask(world.client(v), "GET", f"/admin/vacancies/vacancy/{path}").told for v in STAFF}

    # the search box says what was searched for
    assert not re.search(rf"{HIDDEN_WORD} \w", found["other recruiter"])
    if path in ("?state=all", f"?q={HIDDEN_WORD}"):
        assert re.search(rf"{HIDDEN_WORD} draft", found["recruiter"])
        assert re.search(rf"{HIDDEN_WORD} draft", found["superuser"])


@pytest.mark.parametrize("viewer", VIEWERS)
def test_view_on_site_does_not_reveal_hidden_rows(world, viewer):
    """Django's view would redirect for hidden rows, and not for absent ones."""
    from django.contrib.contenttypes.models import ContentType

    client, kind = world.client(viewer), ContentType.objects.get_for_model(Vacancy).pk
    for name, pk in HIDDEN.items():
        hidden, absent = (ask(client, "GET", f"/admin/r/{kind}/{n}/") for n in (pk, ABSENT))
        may_see = viewer in ("recruiter", "superuser") and name != "deleted"
        if may_see:
            assert hidden.status_code == 302
        else:
            assert hidden.told.replace(str(pk), "") == absent.told.replace(str(ABSENT), "")
    for n in range(1, 30):  # no other kind of row leads anywhere
        if n != kind and viewer == "superuser":
            assert ask(client, "GET", f"/admin/r/{n}/1/").status_code == 404


def test_expiry_and_publication_follow_the_clock(world):
    """Lists, single vacancies, forms and filters agree."""
    client, pk = world.client("anonymous"), HIDDEN["scheduled"]
    Vacancy.objects.filter(pk=pk).update(publish_from=timezone.now() - timedelta(minutes=1))
    shown = [
        ask(client, "GET", f"/v1/vacancies/{pk}{suffix}").status_code
        for suffix in ("", "/form", "/form/schema")
    ]
    Vacancy.objects.filter(pk=pk).update(publish_until=timezone.now())
    gone = [
        ask(client, "GET", f"/v1/vacancies/{pk}{suffix}").status_code
        for suffix in ("", "/form", "/form/schema")
    ]

    assert (shown, gone) == ([200] * 3, [404] * 3)
