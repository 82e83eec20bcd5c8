"""import_vacancies from a running service: lists, time zones, addresses and failures."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from itertools import product
from typing import ClassVar

import pytest
import urllib3
from django.core.management import CommandError
from tqdm import tqdm

from jobsite.ops import commands
from tests.servers import Instance, stub_server
from tests.vacancies.commands import run as run_command
from tests.vacancies.exchange.test_import import all_filters, items, run, snapshot, write  # noqa: F401
from tests.vacancies.exchange.test_import_changes import one
from vacancies.exchange.service import Service
from vacancies.management import import_command
from vacancies.models import Vacancy

pytestmark = pytest.mark.django_db


# --- from a running service ---


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Another instance with vacancies of every audience, not in the order of creation. One was
    published later than it was created.
    """
    folder = tmp_path_factory.mktemp("source")
    instance = Instance(folder, TIME_ZONE="Europe/Brussels")
    rows = items(130)
    for number, row in enumerate(rows):
        row["created_at"] = f"2026-01-{1 + number % 28:02} 10:00:00"
    instance.manage("import_vacancies", str(write(folder, rows[:110], "public.json")))
    instance.manage(
        "import_vacancies", "--internal", str(write(folder, rows[100:], "internal.json"))
    )
    moved = "Vacancy.objects.filter(pk=1001).update(publish_from=datetime(2026, 2, 1, tzinfo=UTC))"
    imports = "from vacancies.models import *; from datetime import *;"
    instance.manage("shell", "-v0", "-c", imports + moved)
    return instance


def everything(
    get, paths=("/v1/vacancies", "/v1/vacancies/hot/internal", "/v0.1/vacancies/internal")
):
    """Return all items of the lists, in order."""
    return {
        path: [
            item
            for page in range(1, 4)
            for item in get(f"{path}?page[size]=100&page[number]={page}")
        ]
        for path in paths
    }


@pytest.mark.slow("imports from a running service")
@pytest.mark.each_database
def test_import_from_a_service_keeps_order_and_audience(client, source):
    with source.serve() as url:
        theirs = everything(lambda path: urllib3.request("GET", url + path).json()["data"])
        first, second = run(url), run(url)
        before = snapshot()
        run(url)

    assert first[:2] == (
        0,
        "130 vacancies: 130 created, 0 updated, 0 unchanged, 0 refused, 0 left as drafts. 4 "
        "brands and recruiters created or updated. 2 options received their employment type.",
    )
    assert second[:2] == (0, "Nothing changed: 130 vacancies are the same as in the source.")
    assert snapshot() == before
    assert everything(lambda path: client.get(path).json()["data"]) == theirs
    assert theirs["/v1/vacancies"][0]["id"] == 1001
    audiences = Vacancy.objects.order_by("pk").values_list("audience", flat=True)
    assert list(audiences) == ["public"] * 100 + ["both"] * 10 + ["internal"] * 20


@pytest.mark.slow("imports from a running service")
@pytest.mark.each_database
def test_interrupted_import_can_be_continued(source, monkeypatch):
    walk = Service.rows

    def cut(self):
        for number, row in enumerate(walk(self)):
            if number == 115:
                raise KeyboardInterrupt
            yield row

    with source.serve() as url:
        monkeypatch.setattr(Service, "rows", cut)
        interrupted = run(url)
        landed = Vacancy.objects.count()
        monkeypatch.setattr(Service, "rows", walk)
        _, summary, _ = run(url)

    assert interrupted[0] == 130
    assert interrupted[2][-1] == (
        "Interrupted. 100 vacancies were created and 0 updated; run the command again to continue."
    )
    assert landed == 100  # a batch is whole or not there
    assert summary == (
        "130 vacancies: 30 created, 0 updated, 100 unchanged, 0 refused, 0 left as drafts. 2 "
        "options received their employment type."
    )
    assert Vacancy.objects.count() == 130
    assert Vacancy.objects.external().newest_first().first().pk == 1001


@pytest.mark.slow("imports from a running service")
def test_unauthorised_internal_list_is_reported(source, monkeypatch):
    monkeypatch.setitem(source.env, "INTERNAL_ACCESS", "authenticated")
    imports = (
        "from django.contrib.auth.models import User; from django.core.management import "
        "call_command; "
    )
    make = "User.objects.create_user('eve', is_staff=True); call_command('issue_token', 'eve')"
    token = source.manage("shell", "-v0", "-c", imports + make).stdout.strip()
    with source.serve() as url:
        code, summary, lines = run(url)
        with_token = run(url, "--token", token)

    assert (code, summary.startswith("110 vacancies: 110 created")) == (1, True)
    assert [line for line in lines if line.startswith("failed: ")] == [
        "failed: /v1/vacancies/internal: returned 401; internal vacancies were skipped. Pass "
        "--token to read them."
    ]
    assert with_token[1].startswith("130 vacancies: 20 created, 10 updated, 100 unchanged")


PUBLIC, INTERNAL = "/v1/vacancies", "/v1/vacancies/internal"


def rows_of(instance):
    names = (
        "vacancy",
        "place",
        "vacancyoption",
        "filteroption",
        "brand",
        "recruiter",
        "vacancyrecruiter",
    )
    with closing(sqlite3.connect(instance.folder / "db.sqlite3")) as database:
        database.row_factory = sqlite3.Row
        read = {
            name: database.execute(f"SELECT * FROM vacancies_{name} ORDER BY id") for name in names
        }
        return {name: [dict(row) for row in rows] for name, rows in read.items()}


def copies(folder, count=40):
    """Copy generated vacancies of instance A to B and back over HTTP, and to C by files. Return the
    items of each instance by list, the rows of A before and after, and the last lines of the
    imports.
    """
    a, b, c = (
        # In which no time occurs twice.
        Instance(folder / name, LANGUAGE_CODE=code, TIME_ZONE="UTC")
        for name, code in (("a", "en"), ("b", "nl"), ("c", "fr"))
    )
    a.manage("generate_vacancies", str(count))
    rows, found, told = [rows_of(a)], [], []

    def take(target, *words):
        done = target.manage("import_vacancies", *words)
        # Not the log.
        notes = [line for line in done.stderr.splitlines() if not line.startswith("{")]
        told.append((done.stdout.strip(), notes))

    def items_of(url):
        pages = range(1, count // 100 + 2)
        return {
            path: [
                item
                for page in pages
                for item in urllib3.request(
                    "GET", f"{url}{path}?page[size]=100&page[number]={page}"
                ).json()["data"]
            ]
            for path in (PUBLIC, INTERNAL)
        }

    with a.serve() as url_a, b.serve() as url_b, c.serve() as url_c:
        found.append(items_of(url_a))
        for target, source in ((b, url_a), (a, url_b), (b, url_a)):
            take(target, source)
        take(c, str(write(folder, found[0][PUBLIC], "public.json")))
        take(c, "--internal", str(write(folder, found[0][INTERNAL], "internal.json")))
        found += [items_of(url) for url in (url_a, url_b, url_c)]
    rows.append(rows_of(a))
    return found, rows, told


@pytest.mark.slow("copies between three instances")
def test_instances_copy_from_each_other_without_loss(tmp_path):
    (first, *others), (before, after), told = copies(tmp_path)

    assert [summary.startswith("Nothing changed") for summary, _ in told[1:3]] == [True, True], told
    assert [notes for _, notes in told] == [[]] * 5
    assert before == after  # also the pay that is not public, and fractions of seconds
    assert 0 in [row["is_pay_public"] for row in before["vacancy"]]
    assert others == [first] * 3


class Odd(Service):
    """A stub service: `lists` has one page of any size per path."""

    lists: ClassVar[dict] = {}

    def _get(self, path, query=None):
        return self.lists.get(path, (404, {}))


def page(*data, **meta):
    return 200, {"data": list(data), "meta": {"total": len(data), "last_page": 1} | meta}


def test_response_that_is_not_a_list_page_is_reported(monkeypatch):
    monkeypatch.setattr(import_command, "Service", Odd)
    for answer in (
        (200, {}),
        (200, {"data": 3}),
        (200, {"data": [], "meta": []}),
        (500, {}),
        (200, {"data": [], "meta": {"total": "abc", "last_page": 1}}),
        (200, {"data": [], "meta": {"total": 1, "last_page": None}}),
    ):
        monkeypatch.setattr(Odd, "lists", {"/v1/vacancies": answer})
        code, _, [line] = run("http://odd.example")
        assert (code, "/v1/vacancies: page 1 is not a list page" in line) == (1, True), answer


def test_invalid_items_of_a_service_are_refused_once(monkeypatch):
    odd = ("nothing", {}, {"id": [1]}, {"id": None}, None)
    monkeypatch.setattr(Odd, "lists", {"/v1/vacancies": page(*odd, *items(1))})
    monkeypatch.setattr(import_command, "Service", Odd)

    code, summary, lines = run("http://odd.example")

    assert (code, len(lines)) == (1, 6)  # and one about the time zone
    assert summary.startswith("6 vacancies: 1 created, 0 updated, 0 unchanged, 5 refused")


def test_progress_bar_loses_no_row(monkeypatch):
    class Bar(tqdm):
        def update(self, n=1):
            super().update(n)
            return True  # as it does whenever it has drawn itself anew

    monkeypatch.setattr(commands, "tqdm", Bar)
    monkeypatch.setattr(Odd, "lists", {"/v1/vacancies": page(*items(3))})
    monkeypatch.setattr(import_command, "Service", Odd)

    assert run("http://odd.example")[0] == 0
    assert Vacancy.objects.count() == 3


# --- time zones ---


def service(*rows, internal=None, headers=None):
    """Return the routes of a service with `rows`."""

    def page(data):
        return json.dumps({"data": data, "meta": {"total": len(data), "last_page": 1}}).encode()

    query = "page%5Bsize%5D=100&page%5Bnumber%5D=1"
    routes = {f"/v1/vacancies?{query}": (200, headers or {}, page(list(rows)))}
    if internal is not None:
        routes["/v0.1/vacancies/internal?page%5Bsize%5D=1"] = (200, headers or {}, page(internal))
        routes[f"/v0.1/vacancies/internal?{query}"] = (200, headers or {}, page(internal))
    return routes


def test_times_of_a_service_are_in_its_time_zone(client):
    rows = items(1, created_at="2026-02-01 10:00:00", updated_at="2026-07-01 10:00:00")
    with stub_server(service(*rows, headers={"Time-Zone": "Asia/Tokyo"})) as (url, _):
        assert run(url)[::2] == (0, [])
        assert run(url)[1].startswith("Nothing changed")

    shown = one(client)
    assert (shown["created_at"], shown["updated_at"]) == (
        "2026-02-01 02:00:00",
        "2026-07-01 03:00:00",
    )


def test_nonexistent_time_of_a_service_is_refused():
    rows = items(2, created_at="2025-03-09 02:30:00")
    rows[1]["created_at"] = "2025-03-30 02:30:00"  # which does not exist here, but there
    with stub_server(service(*rows, headers={"Time-Zone": "America/New_York"})) as (url, _):
        code, _, lines = run(url)

    reason = "created_at: Does not exist in America/New_York, the time zone of the source."
    assert (code, lines) == (1, [f"failed: /v1/vacancies item 1 (id 1001): {reason}"])
    assert Vacancy.objects.get().created_at == datetime(2025, 3, 30, 6, 30, tzinfo=UTC)


def test_service_without_a_time_zone_is_reported_once():
    with stub_server(service(*items(3))) as (url, _):
        note = (
            f"note: {url}: states no time zone; its times were read as Europe/Brussels. Pass "
            "another one with --source-time-zone"
        )
        assert run(url)[::2] == (0, [note])
        assert run(url, "--source-time-zone", "Europe/Brussels")[::2] == (0, [])


def test_unknown_or_contradictory_time_zone_is_refused():
    contradiction = "states the time zone Asia/Tokyo, but --source-time-zone is Europe/Paris."
    for stated, words, reason in (
        *(
            (zone, (), f'states the unknown time zone "{zone}".')
            for zone in ("Mars/Base", "../../x", "")
        ),
        ("Asia/Tokyo", ("--source-time-zone", "Europe/Paris"), contradiction),
    ):
        with stub_server(service(*items(1), headers={"Time-Zone": stated})) as (url, _):
            assert run(url, *words)[::2] == (1, [f"failed: {url}: {reason}"])
    assert not Vacancy.objects.exists()


# --- addresses ---


INVALID = (
    (
        "ftp://jobs.example/x",
        "the scheme 'ftp' is not supported; pass a file, or an http or https URL.",
    ),
    (
        "file:///etc/passwd",
        "the scheme 'file' is not supported; pass a file, or an http or https URL.",
    ),
    ("http://", "not a complete URL; expected for example https://jobs.example.com"),
    ("http://x:port", "not a complete URL; expected for example https://jobs.example.com"),
    ("http://a:b@jobs.example", "contains a user name; pass a bearer token with --token instead."),
    ("http://jobs.example/v1/vacancies", "not the base URL of a service; pass http://jobs.example"),
    (
        "http://jobs.example/a/v0.1/vacancies/1",
        "not the base URL of a service; pass http://jobs.example/a",
    ),
    ("http://jobs.example/?page=1", "not the base URL of a service; pass http://jobs.example"),
)


def test_invalid_url_is_reported_in_one_line():
    for command, (source, reason) in product(("import_vacancies", "import_forms"), INVALID):
        with pytest.raises(CommandError) as refused:
            run_command(command, source)

        assert (refused.value.returncode, str(refused.value)) == (2, f"{source}: {reason}")


def test_url_of_another_site_is_reported_in_one_line():
    unreachable = ["failed: http://127.0.0.1:1: it is not reachable (Connection refused)."]
    assert run("http://127.0.0.1:1")[::2] == (1, unreachable)
    page = (200, {"Content-Type": "text/html"}, b"<!doctype html>")
    query = "/v1/vacancies?page%5Bsize%5D=100&page%5Bnumber%5D=1"
    with stub_server({}) as (url, _):
        assert run(url)[2] == [
            (
                f"failed: {url}/v1/vacancies: returned 404; {url} is not the base URL of a service "
                "with this API."
            )
        ]
    with stub_server({query: page}) as (url, _):
        assert run(url)[2] == [
            (
                f"failed: {url}{query}: returned text/html, not JSON (Expecting value: line 1 column "
                "1 (char 0))."
            )
        ]


@pytest.mark.parametrize("command", ["import_vacancies", "import_forms"])
def test_redirect_to_another_origin_is_refused(command):
    with stub_server(service(*items(1), internal=[])) as (other, seen):
        away = (
            302,
            {"Location": f"{other}/v1/vacancies?page%5Bsize%5D=100&page%5Bnumber%5D=1"},
            b"",
        )
        routes = dict.fromkeys(service(internal=[]), away)
        with stub_server(routes) as (url, _):
            code, _, [line] = run_command(command, url, "--token", "secret")

    assert (code, seen, Vacancy.objects.count()) == (1, [], 0)
    assert line.startswith(f"failed: {url}: {url}/v")
    assert f"redirects to another origin, {other}/v1/vacancies" in line


@pytest.mark.parametrize("command", ["import_vacancies", "import_forms"])
def test_private_address_is_refused_unless_allowed(monkeypatch, command):
    with stub_server(service(*items(1))) as (url, seen):
        port = url.rpartition(":")[2]
        monkeypatch.setattr(
            "jobsite.http_client.socket.getaddrinfo",
            lambda host, port, *args, **kwargs: [(2, 1, 6, "", ("127.0.0.1", port))],
        )
        named = f"http://jobs.example:{port}"

        code, _, lines = run_command(command, named)
        assert (code, seen) == (1, [])
        assert lines == [
            f"failed: {named}: jobs.example is at 127.0.0.1, which is not a public address; "
            "pass --allow-address 127.0.0.1 to allow it."
        ]

        run_command(command, named, "--allow-address", "127.0.0.0/8")
        assert seen
        with pytest.raises(CommandError, match="is not an IP address or network"):
            run_command(command, named, "--allow-address", "jobs.example")
