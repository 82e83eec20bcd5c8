"""gunicorn with deploy/gunicorn.conf.py, without nginx."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.deploy.conftest import MAKE, Gunicorn
from tests.servers import ROOT, SYSTEM_ENV, Instance, free_port

pytestmark = pytest.mark.slow("starts gunicorn")

LIST, HOST = b"GET /v1/vacancies HTTP/1.1\r\n", b"Host: jobs.example.com\r\n"
LIST += HOST
MALFORMED = {
    b"NONSENSE\r\n\r\n": 400,
    b"get" + LIST[3:] + b"\r\n": 400,
    LIST.replace(b"1.1", b"3.9", 1) + b"\r\n": 400,
    LIST + b"no colon, but zyxsecret\r\n\r\n": 400,
    LIST + b"X: a\r\n zyxsecret\r\n\r\n": 400,
    LIST + b"Content-Length: -1\r\n\r\n": 400,
    LIST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n": 400,
    LIST + b"X: " + b"x" * 9000 + b"\r\n\r\n": 431,
    LIST + b"X: x\r\n" * 200 + b"\r\n": 431,
    b"GET /v1/" + b"x" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n": 414,
    LIST + b"Transfer-Encoding: zyxsecret\r\n\r\n": 501,
    LIST + b"Expect: zyxsecret\r\n\r\n": 417,
}


def test_malformed_request_is_a_problem_document(site):
    for request, status in MALFORMED.items():
        answer = site.gunicorn.send_raw(request)

        assert (request[:99], answer.status, answer.json["status"]) == (
            request[:99],
            status,
            status,
        )
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json.keys() == {"type", "title", "status", "detail", "instance"}
        assert answer.headers["Cache-Control"] == "no-store"
        assert b"zyx" not in answer.body


def test_wrong_setting_ends_in_a_line_that_names_the_variable(tmp_path, site):
    used = f"127.0.0.1:{site.gunicorn.port}"
    free = {"BIND": f"127.0.0.1:{free_port()}"}
    for variables, line in (
        ({"WEB_THREADS": "two"}, "WEB_THREADS is 'two', not a whole number of 1 or more."),
        (
            {"BIND": "127.0.0.1:http"},
            "BIND is '127.0.0.1:http': 'http' is not a valid port number.",
        ),
        ({"BIND": "127.0.0.1:99999"}, "BIND: the port 99999 is not from 0 to 65535."),
        ({"BIND": used}, f"BIND: cannot listen on {used}: Address already in use."),
        (
            free | {"DATABASE_URL": "mysql://u:hunter2@h/x"},
            "DATABASE_URL begins with mysql://; it must be like postgres://user:password@host/name.",
        ),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py"],
            cwd=ROOT,
            env=SYSTEM_ENV | variables | {"LOG_FORMAT": "json"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode > 0, line in done.stderr.splitlines()) == (True, True), (
            line,
            done.stderr,
        )
        assert "ImproperlyConfigured" not in done.stderr


def test_headers_cannot_set_server_variables(site):
    for name in (b"SCRIPT_NAME", b"SCRIPT-NAME", b"PATH_INFO", b"REMOTE_USER", b"REMOTE_ADDR"):
        request = b"GET /v1/filters HTTP/1.1\r\n%b%b: /zyx\r\nConnection: close\r\n\r\n" % (
            HOST,
            name,
        )
        answer = site.gunicorn.send_raw(request)

        assert (name, answer.status, b"zyx" in answer.body) == (name, 200, False)


def test_scheme_is_that_of_the_proxy(site):
    answers = [
        site.gunicorn.request(
            "/v1/vacancies?fields=id", address="127.0.0.1", X_Forwarded_Proto=scheme
        )
        for scheme in ("https", "http")
    ]
    links = [answer.json["links"]["first"] for answer in answers]

    assert [link.partition(":")[0] for link in links] == ["https", "http"]


def test_two_workers_with_threads_and_one_listening_port(site):
    # Each of them waits for a header in a thread.
    held = [site.gunicorn.connect() for _ in range(3)]
    try:
        assert len(site.gunicorn.workers()) == 2
        assert site.gunicorn.request("/v1/filters").status == 200
    finally:
        for link in held:
            link.close()
    links = []
    for link in (
        link for pid in site.gunicorn.pids() for link in Path(f"/proc/{pid}/fd").iterdir()
    ):
        with suppress(FileNotFoundError):  # closed meanwhile
            links.append(link.readlink())
    rows = [row.split() for row in Path("/proc/net/unix").read_text().splitlines()[1:]]
    assert not {f"socket:[{row[6]}]" for row in rows if row[3] == "00010000"} & set(map(str, links))


def test_frozen_worker_is_replaced_and_holds_no_request_for_long(node):
    [frozen] = node.workers()
    os.kill(frozen, signal.SIGSTOP)

    # The client waits for 30 s at most.
    assert node.request("/v1/filters", Host="127.0.0.1").status == 200
    assert node.workers() != [frozen]


@pytest.fixture
def node(tmp_path):
    static = {"STATIC_ROOT": str(tmp_path / "static"), "MEDIA_ROOT": str(tmp_path / "media")}
    instance = Instance(tmp_path / "site", WEB_CONCURRENCY="1", **static)
    instance.manage("shell", "-v0", "-c", MAKE)
    with Gunicorn(tmp_path / "gunicorn", instance.env) as node:
        yield node


def test_public_reads_work_on_a_full_disk(node):
    """SQLite cannot create its -shm file on a full disk, and without it nobody can read."""
    paths = [
        "/v1/vacancies",
        "/v1/vacancies?sort=title&page[size]=2",
        "/v1/vacancies?filter[search]=job",
        "/v1/vacancies/hot",
        "/v1/vacancies/3",
        "/v1/vacancies/3/form",
        "/v1/filters",
        "/v0.1/vacancies",
    ]
    before = {path: node.request(path, Host="127.0.0.1") for path in [*paths, "/readyz"]}
    for pid in node.workers():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))

    for _ in range(3):
        for path in paths:
            answer = node.request(f"{path}", Host="127.0.0.1")
            assert (path, answer.status, answer.body) == (path, 200, before[path].body)
        answer = node.request("/v1/vacancies?page[size]=7&sort=title", Host="127.0.0.1")
        assert answer.json["meta"]["total"] == 39
    body = b'{"username": "anna", "password": "anna\'s long password"}'
    refused = node.request(
        "/v1/auth/token", "POST", body, Host="127.0.0.1", Content_Type="application/json"
    )
    assert (refused.status, refused.json["status"]) == (503, 503)
