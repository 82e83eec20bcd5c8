"""deploy/nginx.conf: the shared cache, static files and uploaded files."""

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from tests import servers
from tests.deploy.conftest import HOST, Response, is_problem

pytestmark = pytest.mark.slow("starts nginx")

LISTS = ("/v1/vacancies", "/v1/vacancies/hot", "/v1/filters", "/v0.1/vacancies")
SINGLES = ("/v1/vacancies/{}", "/v1/vacancies/{}/form", "/v1/vacancies/{}/form/schema")


def cached_response(site, path, **headers) -> Response:
    """Repeat a request until its response comes from the cache."""
    deadline = time.monotonic() + servers.TIMEOUT
    with site.nginx.connect() as link:
        while True:
            response = site.nginx.request(path, link=link, **headers)
            if response.headers["X-Cache-Status"] == "HIT":
                return response
            assert response.headers["X-Cache-Status"] in ("MISS", "EXPIRED"), response
            assert time.monotonic() < deadline


# --- Cached responses -----------------------------------------------------------------------------


def test_public_responses_are_cached(site):
    for path in (*LISTS, *(single.format(3) for single in SINGLES)):
        plain = site.nginx.request(path)

        assert cached_response(site, path).body == plain.body
        head = site.nginx.request(path, "HEAD")
        assert (head.status, head.body, head.headers["Content-Length"]) == (
            200,
            b"",
            str(len(plain.body)),
        )
        assert cached_response(site, path, If_None_Match=plain.headers["ETag"]).status == 304
        assert cached_response(site, path, Range="bytes=0-9").body == plain.body


def test_requests_with_credentials_bypass_the_cache(site):
    for headers in (site.cookie, {"Authorization": "Bearer stale"}, {"Cookie": "anything=1"}):
        for path in (*LISTS, "/v1/vacancies/3"):
            cached_response(site, path)
            assert site.nginx.request(path, **headers).headers["X-Cache-Status"] == "BYPASS"
    path = f"/v1/filters?{time.time()}"  # their responses are not stored either
    for _ in range(5):
        site.nginx.request(path, **headers)
    assert site.nginx.request(path).headers["X-Cache-Status"] == "MISS"


def test_unacceptable_type_is_a_406_of_a_cached_path(site):
    path = f"/v1/filters?{time.time()}"
    for accept, status in (
        ("text/html", 406),
        ("text/html, */*;q=0.1", 200),
        ("*/*, application/json;q=0", 406),
    ):
        assert [site.nginx.request(path, Accept=accept).status for _ in range(4)] == [status] * 4


def test_internal_and_personal_responses_are_not_cached(site):
    lists = ("/v1/vacancies/internal", "/v1/vacancies/hot/internal", "/v0.1/vacancies/internal")
    statuses = dict.fromkeys((*lists, "/v1/user/applications"), 401)
    statuses |= dict.fromkeys(
        ("/v1/user/applications/x.css", "/v1/vacancies/1", "/v1/vacancies/1/form"), 404
    )
    for path, status in statuses.items():
        for _ in range(4):
            mine, other = site.nginx.request(path, **site.cookie), site.nginx.request(path)
            assert mine.status == (404 if path.endswith(".css") else 200), path
            assert mine.headers["X-Cache-Status"] in (None, "BYPASS"), path
            assert is_problem(other, status), path
            assert other.headers["X-Cache-Status"] in (None, "MISS"), path


def test_cache_separates_hosts_queries_encodings_and_origins(site):
    variants = [
        (f"/v1/vacancies?page[size]={size}", {"Host": host} | encoding | origin)
        for size in (1, 2)
        for host in (HOST, "example.org")
        for encoding in ({}, {"Accept_Encoding": "gzip"}, {"Accept_Encoding": "gzip;q=0, identity"})
        for origin in ({}, {"Origin": "https://a.example"})
    ]
    expected = {
        n: site.nginx.request(path, **headers) for n, (path, headers) in enumerate(variants)
    }
    # Sizes x hosts x compression.
    assert len({response.body for response in expected.values()}) == 8
    hits = set()

    def request_all(_):
        with site.nginx.connect() as link:
            for n, (path, headers) in enumerate(variants):
                response = site.nginx.request(path, link=link, **headers)
                assert response.body == expected[n].body
                for name in ("Content-Encoding", "Access-Control-Allow-Origin", "Vary", "ETag"):
                    assert response.headers[name] == expected[n].headers[name]
                if response.headers["X-Cache-Status"] == "HIT":
                    hits.add(n)

    with ThreadPoolExecutor(6) as pool:
        servers.until(lambda: list(pool.map(request_all, range(6))) and len(hits) == len(variants))


def test_unpublished_vacancy_disappears_within_a_second(site):
    paths = [f"{path}?page[size]=100" if "filters" not in path else path for path in LISTS]
    singles = [single.format(40) for single in SINGLES]
    before = {path: cached_response(site, path) for path in (*paths, *singles)}
    file = urlsplit(before[singles[0]].json["data"]["attachments"][0]["path"]).path
    assert site.nginx.request(file).body == b"%PDF-1.4 all of it"

    with sqlite3.connect(site.database, timeout=20) as database:
        database.execute("UPDATE vacancies_vacancy SET status = 'draft' WHERE id = 40")
    database.close()
    time.sleep(1)

    for path in paths:
        response = site.nginx.request(path)
        assert response.status == 200
        if "filters" not in path:
            ids = [{item["id"] for item in each.json["data"]} for each in (before[path], response)]
            assert ids[0] - ids[1] == {40}
    for path in singles:
        assert is_problem(site.nginx.request(path), 404)
    assert site.nginx.request(file).status == 404


# --- Files ----------------------------------------------------------------------------------------


def test_static_files_with_a_hashed_name_are_immutable(site):
    folder = site.nginx.folder / "static"
    folder.mkdir(exist_ok=True)
    for name in ("a.css", "a.0123456789ab.css"):
        (folder / name).write_text("a {}")
    (site.nginx.folder / "secret").write_text("secret")

    plain, digested = (
        site.nginx.request(f"/static/{name}") for name in ("a.css", "a.0123456789ab.css")
    )

    assert plain.body == digested.body == b"a {}"
    assert plain.headers["Cache-Control"] == "public, max-age=3600"
    assert digested.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert digested.headers["X-Content-Type-Options"] == "nosniff"
    assert digested.headers["Access-Control-Allow-Origin"] == "*"
    by_django = site.gunicorn.request("/static/nothing.css")  # a 404 with the same restrictions
    for name in ("Content-Security-Policy", "Cross-Origin-Resource-Policy"):
        by_nginx, expected = (
            set(response.headers[name].split("; ")) for response in (digested, by_django)
        )
        assert by_nginx == expected
    for path in (
        "/static../secret",
        "/static/../secret",
        "/static/%2e%2e/secret",
        "/static/nothing.css",
    ):
        assert site.nginx.request(path).status == 404


def test_uploaded_files_are_served_only_through_x_accel_redirect(edge):
    folder = edge.nginx.folder / "media"
    folder.mkdir(exist_ok=True)
    (folder / "x.pdf").write_bytes(b"%PDF")
    (edge.nginx.folder / "secret").write_text("secret")
    expected = {
        "Content-Type": "application/pdf",
        "Content-Disposition": 'attachment; filename="CV of zyx.pdf"',
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Access-Control-Allow-Origin": "https://a.example",
        "Access-Control-Expose-Headers": "Content-Disposition",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Vary": "origin",
        "Strict-Transport-Security": "max-age=1",
        "X-Robots-Tag": "noindex",
    }
    for node in edge.nodes:
        node.response_headers["/media/1"] = expected | {"X-Accel-Redirect": "/_media/x.pdf"}
        node.response_headers["/media/2"] = expected | {"X-Accel-Redirect": "/_media/../secret"}

    response = edge.nginx.request("/media/1")

    assert (response.status, response.body) == (200, b"%PDF")
    different = [name for name in expected if response.headers.get_all(name) != [expected[name]]]
    assert different == []
    assert "X-Accel-Redirect" not in response.headers
    assert edge.nginx.request("/media/2").status != 200
    for path in ("/_media/x.pdf", "/%5fmedia/x.pdf", "//_media/x.pdf", "/_problem", "/_page"):
        response = edge.nginx.request(path)
        assert (response.status, response.headers["Content-Type"]) == (404, "text/html")
    assert b"secret" not in edge.nginx.request("/_media../secret").body  # no parent directory


def test_unchanged_file_is_a_304(edge):
    for folder, name in (("static", "a.css"), ("media", "x.pdf")):
        (edge.nginx.folder / folder).mkdir(exist_ok=True)
        (edge.nginx.folder / folder / name).write_text("a {}")
    media = {"X-Accel-Redirect": "/_media/x.pdf", "Content-Type": "application/pdf"}
    for node in edge.nodes:
        node.response_headers["/media/1"] = media
    for path in ("/static/a.css", "/media/1"):
        tag = edge.nginx.request(path).headers["ETag"]
        statuses = {tag: 304, f"W/{tag}": 304, f'"x" , W/{tag}': 304, "*": 304, '"x"': 200}
        for condition, status in statuses.items():
            assert edge.nginx.request(path, If_None_Match=condition).status == status, condition
