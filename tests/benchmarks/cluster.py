#!/usr/bin/env python
"""Kills, freezes and delays each part of a cluster under load, and checks every answer.

    python tests/benchmarks/cluster.py --vacancies 1000 --seconds 12

nginx in front of two nodes of two workers, a PostgreSQL primary with two streaming replicas, Redis: on
loopback, in a folder of their own, ended at the end. Walkers read pages, singles, forms and filters. What
a writer does is remembered as versions, and a body is right if it is, to the last id, link and number, that
of one version that was not replaced too long ago. After each phase a sample is compared to what Django's
views make of the primary. Exit code 1 says that a body was wrong.
"""

import argparse
import contextlib
import gzip
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests import servers  # noqa: E402 - found by the line above

BASE = "http://jobs.test"  # so that all nodes give the same bodies
ENV = {
    "SECRET_KEY": "only-for-cluster-" * 4,
    "ALLOWED_HOSTS": "127.0.0.1",
    "PUBLIC_BASE_URL": BASE,
    "RATE_LIMIT": "off",
}
MAX_LAG = 2  # seconds, REPLICA_MAX_LAG
# A replica is asked each second, and its answer believed for three while the thread that asks is held up.
TOO_OLD = MAX_LAG + 4  # seconds
CLIENTS = 4
RATE = 10  # writes a second
POOL, OUT = 40, 25  # copies that the writer publishes and withdraws; of them published at most
RENAMED = 40  # vacancies that it renames
COUNTED = "1000000/min"  # a RATE_LIMIT that asks Redis every time and is never reached
NGINX = """
daemon off; pid {folder}/pid; error_log stderr warn; worker_processes 1;
events {{ worker_connections 512; }}
http {{
  access_log off; keepalive_requests 1000000;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  upstream nodes {{ {nodes} }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://nodes; proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr;
      proxy_next_upstream error timeout;  # for GET; what was posted is not posted again
      proxy_connect_timeout 1s; proxy_read_timeout 25s;
      proxy_buffers 16 64k; proxy_buffer_size 64k; proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;
    }}
  }}
}}
"""
# One worker that dies must not put its node aside: two within a moment would leave nobody.
UPSTREAM = "server 127.0.0.1:{} max_fails=5 fail_timeout=1s;"


# --- Servers ---------------------------------------------------------------------------------------------


class Database(servers.Postgres):
    """PostgreSQL as the tests have it, with more memory; `folder` may hold its data already."""

    database = "postgres"
    end = signal.SIGINT  # in order, so that the data can be used again

    def __init__(self, folder: Path, primary: "Database | None" = None) -> None:
        super().__init__(folder, primary)
        self.command += ["-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB", "-c", "max_connections=60"]

    def _run(self, program: str, *words: str) -> None:
        if program != "initdb" or not (self.folder / "PG_VERSION").exists():
            subprocess.run(  # without an end: a million vacancies are copied for minutes
                [f"{servers.POSTGRES}/{program}", *words], check=True, capture_output=True, cwd="/",
                user=self.user, group=self.user, extra_groups=[] if self.user else None,
            )  # fmt: skip

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/{self.database}"


class Web(servers.Server):
    """A server that is up once it answers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = servers.free_port()

    def is_up(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return get(self.port, "/v1/vacancies?page[size]=1", timeout=5)[0] == 200
        return False


class Node(Web):
    """gunicorn with two sync workers."""

    def configure(self, env: dict[str, str]) -> "Node":
        """Let it have these variables from its next start on."""
        self.env = env
        switches = [part for name, value in env.items() for part in ("--env", f"{name}={value}")]
        options = ["-w", "2", "-b", f"127.0.0.1:{self.port}", "--no-control-socket", "--chdir", str(ROOT)]
        self.command = [sys.executable, "-m", "gunicorn", *options, *switches, "jobsite.wsgi"]
        return self

    def kill_worker(self) -> None:
        os.kill(self._pids()[1], signal.SIGKILL)


class Nginx(Web):
    def __init__(self, folder: Path, nodes: list[Node]) -> None:
        super().__init__(folder)
        folder.mkdir()
        upstream = " ".join(UPSTREAM.format(node.port) for node in nodes)
        (folder / "conf").write_text(NGINX.format(folder=folder, port=self.port, nodes=upstream))
        self.command = ["nginx", "-p", str(folder), "-c", str(folder / "conf"), "-e", "stderr"]


def get(port: int, path: str, timeout: float = 30) -> tuple[int, bytes]:
    """Return status and body."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


class Cluster:
    """All servers, one started after another; the database is filled before it is copied."""

    def __init__(self, options: argparse.Namespace, folder: Path, stack: contextlib.ExitStack) -> None:
        def end(server: servers.Server) -> None:
            with contextlib.suppress(Exception):  # and go on with the others
                server.stop()

        def up(server: Any) -> Any:
            self.started.append(server)
            stack.callback(end, server)
            server.start()
            return server

        self.started: list[servers.Server] = []
        self.primary = up(Database(options.primary_data or folder / "primary"))
        if options.database_dump:
            restore = [f"{servers.POSTGRES}/pg_restore", "--no-owner", "-d", self.primary.url]
            subprocess.run([*restore, options.database_dump], check=True)
        Database.database = self.find() or "postgres"
        fill(self.primary.url, options.vacancies)
        self.replicas = [up(Database(folder / f"replica_{n}", self.primary)) for n in (1, 2)]
        self.redis = up(servers.Redis(folder / "redis"))
        env = {
            **ENV,
            "DATABASE_URL": self.primary.url,
            "REPLICA_URLS": ",".join(replica.url for replica in self.replicas),
            "REPLICA_MAX_LAG": str(MAX_LAG),
            "CACHE_URL": self.redis.url,
            "TRUSTED_PROXIES": "127.0.0.1/32",
        }
        self.nodes = [up(Node(folder / f"node_{n}").configure(env)) for n in (1, 2)]
        self.nginx = up(Nginx(folder / "nginx", self.nodes))

    def find(self) -> str | None:
        """The name of the largest database with vacancies."""
        names = "SELECT datname FROM pg_database WHERE datallowconn ORDER BY pg_database_size(oid) DESC"
        with psycopg.connect(self.primary.url) as connection:
            rows = connection.execute(names).fetchall()
        for (name,) in rows:
            with psycopg.connect(self.primary.url, dbname=name) as connection:
                if connection.execute("SELECT FROM pg_tables WHERE tablename = 'vacancies_vacancy'").rowcount:
                    return name
        return None

    def limit(self, rate: str) -> None:
        """Let the nodes have this RATE_LIMIT."""
        for node in self.nodes:
            if node.env["RATE_LIMIT"] != rate:
                node.stop()
                node.configure(node.env | {"RATE_LIMIT": rate}).start()

    def heal(self) -> None:
        """Bring back whatever a phase broke."""
        for server in self.started:
            assert server.process
            server.thaw()
            if server.process.poll() is not None:
                server.start()
        for replica in self.replicas:
            replica.sql("SELECT pg_wal_replay_resume()")


# --- What is true ----------------------------------------------------------------------------------------


@dataclass
class Version:
    """What the public sees from a moment between `began` and `committed` on, monotonic seconds."""

    out: tuple[int, ...]  # copies that are published, newest first
    titles: dict[int, str]  # of all that the writer touches
    began: float = 0.0
    committed: float | None = 0.0  # None until it is known


@dataclass
class List:
    """A list of the interface: `query` is what comes before the page in its links."""

    path: str
    query: dict[str, str]
    base: "array[int]"  # ids that stay, newest first
    pool: set[int]  # copies that are in it while they are published, before all of `base`

    def total(self, version: Version) -> int:
        return len(self.base) + sum(pk in self.pool for pk in version.out)

    def address(self, size: int, number: int) -> str:
        query = {**self.query, "page[size]": size, "page[number]": number}
        return f"{self.path}?{urlencode(query, quote_via=quote, safe='')}"

    def page(self, version: Version, size: int, number: int) -> tuple[list[int], dict, dict]:
        """Return the ids, links and meta of a page."""
        out = [pk for pk in version.out if pk in self.pool]
        total = len(self.base) + len(out)
        at = range((number - 1) * size, min(number * size, total))
        places = [total - 1 - place if "sort" in self.query else place for place in at]
        ids = [out[place] if place < len(out) else self.base[place - len(out)] for place in places]
        last = max(1, -(-total // size))
        turns = {"first": 1, "last": last, "prev": min(number - 1, last), "next": number + 1}
        turns["next"] *= number < last
        links = {name: BASE + self.address(size, to) if to else None for name, to in turns.items()}
        ends = (at[0] + 1, at[-1] + 1) if at else (None, None)
        meta = {"current_page": number, "from": ends[0], "last_page": last, "path": BASE + self.path,
                "per_page": size, "to": ends[1], "total": total}  # fmt: skip
        return ids, links, meta


class Truth:
    """All versions, and what was seen of items: each is the same wherever it is shown."""

    def __init__(self) -> None:
        from django.utils import timezone

        from vacancies.models import Vacancy, VacancyOption

        self.pool = pool()
        published = Vacancy.objects.published(at=timezone.now())
        mine = Vacancy.objects.filter(pk__in=self.pool)
        self.lists = []
        for path, verbs, query in (
            ("/v1/vacancies", "external", {}),
            ("/v1/vacancies/hot", "external hot", {}),
            ("/v1/vacancies/hot/internal", "internal hot", {}),
            ("/v0.1/vacancies", "external", {}),
            ("/v0.1/vacancies/internal", "internal", {}),
            ("/v1/vacancies", "external", {"filter[regions]": "antwerp,liege"}),
            ("/v1/vacancies/hot", "external hot", {"filter[search]": "ghent"}),
            ("/v1/vacancies", "external", {"sort": "published_at", "fields": "id,title,slug"}),
        ):
            rows, own = (each.that_are(*verbs.split()) for each in (published, mine))
            if "filter[regions]" in query:
                rows, own = (each.with_option("regions", ["antwerp", "liege"]) for each in (rows, own))
            if "filter[search]" in query:
                rows, own = (each.search("ghent") for each in (rows, own))
            base = array("q", rows.newest_first().values_list("pk", flat=True).iterator())
            self.lists.append(List(path, query, base, set(own.values_list("pk", flat=True))))
        self.singles = ids = self.lists[0].base
        half = RENAMED // 2
        self.renamed = list(dict.fromkeys([*ids[:half], *ids[:: max(1, len(ids) // half)]]))
        touched = Vacancy.objects.filter(pk__in=[*self.pool, *self.renamed])
        self.versions = [Version((), dict(touched.values_list("pk", "title")))]
        names = ("option__filter__keyword", "option__value")
        offered = VacancyOption.objects.filter(option__filter__is_active=True)
        shown = offered.filter(vacancy__in=published.external().order_by()).values_list(*names)
        self.counts = Counter(shown.iterator())
        own_options = offered.filter(vacancy__in=self.pool).values_list("vacancy", *names)
        self.options = [(row[0], row[1:]) for row in own_options]
        self.items: dict[tuple, int] = {}
        self.forms: dict[str, bytes] = {}

    def age(self, fits: Callable[[Version], bool], asked: float, answered: float) -> float | None:
        """Seconds for which the newest version that `fits` had been replaced when it was asked for; None
        if none fits."""
        replaced = None
        for version in reversed(list(self.versions)):
            if version.began <= answered and fits(version):
                return max(0.0, asked - replaced) if replaced else 0.0
            replaced = replaced if version.committed is None else version.committed
        return None

    def judge(self, what: tuple, body: bytes, asked: float, answered: float) -> float:
        """Return how old the body is, in seconds; raises AssertionError with what is wrong about it."""
        kind, *about = what
        if kind == "form":  # which nobody changes
            assert self.forms.setdefault(about[0], body) == body, "the form changed"
            return 0.0
        found = json.loads(body)
        items: list[dict[str, Any]] = {"single": [found["data"]], "page": found["data"]}.get(kind, [])
        api = "/v1/"
        if kind == "page":
            each, size, number = about
            api = "" if "fields" in each.query else each.path[:4]
            shown = [item["id"] for item in items], found["links"], found["meta"]
        elif kind == "filters":
            counted = {(f["keyword"], o["value"]): o["count"] for f in found["data"] for o in f["options"]}
        else:
            assert items[0]["id"] == about[0], f"another id: {items[0]['id']}"

        def fits(version: Version) -> bool:
            if kind == "filters":
                return self.counts + Counter(o for pk, o in self.options if pk in version.out) == counted
            if kind == "page" and each.page(version, size, number) != shown:
                return False
            return all(version.titles.get(item["id"], item["title"]) == item["title"] for item in items)

        for item in items:
            assert item["slug"].endswith(f"({item['id']})"), f"slug {item['slug']} of {item['id']}"
            if api:
                key, seen = (api, item["id"], item["title"], item["updated_at"]), hash(repr(item))
                assert self.items.setdefault(key, seen) == seen, f"{key} differs from what was shown before"
        age = self.age(fits, asked, answered)
        about_it = f"{found.get('meta')} {[(item['id'], item['title']) for item in items[:6]]}"
        assert age is not None, f"of no version: {about_it}"
        assert age < TOO_OLD, f"{age:.1f} s late: {about_it}"
        return age


# --- The database, by way of Django ----------------------------------------------------------------------


def fill(url: str, count: int) -> None:
    """Set up Django here, on the primary alone; let the database hold vacancies and a form."""
    os.chdir(ROOT)
    for name in ("REPLICA_URLS", "CACHE_URL", "DATABASE_POOL"):
        os.environ.pop(name, None)
    os.environ.update(ENV, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="jobsite.settings")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from forms_structure.models import Form
    from forms_structure.operations import create
    from forms_structure.presets import presets
    from vacancies.models import Vacancy

    call_command("migrate", verbosity=0)
    if not Vacancy.objects.exists():
        call_command("generate_vacancies", str(count), stdout=sys.stderr)
    if not Form.objects.default().exists():
        sections = [preset["section"] for preset in presets("en")]
        create(name="Application", structure=sections, language="en", is_default=True)
    pool()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    change = Vacancy.objects.next_change(after=timezone.now())
    if change and (change - timezone.now()).total_seconds() < 1800:
        sys.exit(f"At {change} vacancies appear or vanish by themselves: start after that.")


def pool() -> list[int]:
    """The ids of POOL public vacancies that are offline and have no dates, made if need be."""
    from django.utils import timezone

    from vacancies import operations
    from vacancies.models import Vacancy

    external = Vacancy.objects.external().exclude(description="")
    offline = external.filter(status__in=["draft", "withdrawn"], publish_until=None, head_recruiter__gt=0)
    pks = list(offline.filter(brand__gt=0).order_by("pk").values_list("pk", flat=True)[:POOL])
    now = timezone.now()
    for vacancy in external.published(at=now).newest_first()[: POOL - len(pks)]:
        pks.append(operations.duplicate(vacancy=vacancy, at=now).pk)
    Vacancy.objects.filter(pk__in=pks, publish_from__isnull=False).update(publish_from=None)
    return pks


class Writer(threading.Thread):
    """Publishes, withdraws and renames, and waits after each until the public sees it.

    `shown`: seconds from the commit until the first answer with it.
    """

    def __init__(self, truth: Truth, port: int, numbers: Iterator[int]) -> None:
        super().__init__(daemon=True)
        self.truth, self.port, self.numbers = truth, port, numbers
        self.ended = threading.Event()
        self.failed = 0
        self.shown: list[float] = []
        self.wrong: list[str] = []

    def run(self) -> None:
        due = time.monotonic()
        while not self.ended.wait(max(0, due - time.monotonic())):
            due = max(due + 1 / RATE, time.monotonic() - 1)  # what was missed is not caught up with
            self.write(next(self.numbers))
        self.disconnect()

    @staticmethod
    def disconnect() -> None:
        from django.db import connection

        connection.close()

    def write(self, number: int) -> None:
        from django.db import DatabaseError
        from django.utils import timezone

        from vacancies import operations
        from vacancies.models import Vacancy

        out, titles, now = self.truth.versions[-1].out, self.truth.versions[-1].titles, timezone.now()
        version = None
        try:
            if number % 2:
                one = Vacancy.objects.get(pk=random.choice(self.truth.renamed))
                one.title, one.updated_at = f"{one.title.partition(' #')[0]} #{number}", now
                version = self.begin(out, titles | {one.pk: one.title})
                one.save()
                path, sign = f"/v1/vacancies/{one.pk}", json.dumps(one.title, ensure_ascii=False)
                is_there = True
            else:
                is_there = not out or (len(out) < OUT and random.random() < 0.7)
                pk = random.choice([pk for pk in self.truth.pool if pk not in out] if is_there else out)
                mine = Vacancy.objects.filter(pk__in=self.truth.pool)
                moments = dict(mine.values_list("pk", "publish_from"))
                moments[pk] = moments[pk] or now.replace(microsecond=0)  # its first moment stays
                after = {*out, pk} if is_there else {*out} - {pk}
                order = sorted(after, key=lambda each: (moments[each], each), reverse=True)
                version = self.begin(tuple(order), titles)
                decide = operations.publish if is_there else operations.withdraw
                decide(vacancies=mine.filter(pk=pk), at=now)
                path, sign = f"/v1/vacancies?page[size]={2 * OUT}&fields=id", f'{{"id":{pk}}}'
        except DatabaseError:
            self.failed += 1
            self.disconnect()
            while version and not self.resolve() and not self.ended.wait(0.2):
                pass
            return
        version.committed = time.monotonic()
        self.wait_until(path, sign, is_there, version.committed)

    def begin(self, out: tuple[int, ...], titles: dict[int, str]) -> Version:
        self.truth.versions.append(Version(out, titles, time.monotonic(), None))
        return self.truth.versions[-1]

    def resolve(self) -> bool:
        """Find out whether what failed was committed all the same; return whether that is known."""
        from django.db import DatabaseError

        from vacancies.models import Vacancy

        version = self.truth.versions[-1]
        if version.committed is not None:
            return True
        try:
            touched = Vacancy.objects.filter(pk__in=list(version.titles))
            rows = list(touched.values_list("pk", "title", "status"))
        except DatabaseError:
            self.disconnect()
            return False
        out = {pk for pk, _, status in rows if pk in self.truth.pool and status == "published"}
        if out == set(version.out) and {pk: title for pk, title, _ in rows} == version.titles:
            version.committed = time.monotonic()
        else:
            self.truth.versions.pop()
        return True

    def wait_until(self, path: str, sign: str, is_there: bool, committed: float) -> None:
        while time.monotonic() < committed + 2 * TOO_OLD:
            with contextlib.suppress(OSError, http.client.HTTPException):  # which the walkers count
                status, body = get(self.port, path)
                if status == 200 and (sign.encode() in body) == is_there:
                    self.shown.append(time.monotonic() - committed)
                    return
            if self.ended.wait(0.002):
                return
        self.wrong.append(f"{path}: a change was not shown within {2 * TOO_OLD} s")


# --- Readers ---------------------------------------------------------------------------------------------


class Walker(threading.Thread):
    """A client that reads this and that over one connection, sometimes compressed or with a condition."""

    def __init__(self, truth: Truth, port: int, seed: int, ended: threading.Event) -> None:
        super().__init__(daemon=True)
        self.truth, self.ended, self.random = truth, ended, random.Random(seed)
        self.took: list[float] = []  # seconds
        self.ages: list[float] = []  # seconds
        self.failed: list[str] = []
        self.wrong: list[str] = []
        self.paths: deque[str] = deque(maxlen=60)
        self.kept: dict[str, tuple[str, bytes]] = {}  # ETag and body of some paths
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def run(self) -> None:
        while not self.ended.is_set():
            path, *what = self.choose()
            asked = time.monotonic()
            try:
                status, body = self.ask(path)
            except (OSError, http.client.HTTPException) as error:
                self.connection.close()
                status, body = repr(error), b""
            answered = time.monotonic()
            self.took.append(answered - asked)
            if status != 200:
                self.failed.append(f"{path}: {status} {body[:200].decode(errors='replace')}")
                time.sleep(0.02)
                continue
            try:
                self.ages.append(self.truth.judge(tuple(what), body, asked, answered))
                self.paths.append(path)
            except Exception as error:  # what cannot be read is as wrong
                self.wrong.append(f"{path}: {type(error).__name__} {error}")
        self.connection.close()

    def choose(self) -> tuple:
        """Return a path and what it is."""
        die, pick = self.random.random(), self.random.choice
        if die < 0.65:
            each, size = pick(self.truth.lists), pick((20, 20, 20, 5, 100))
            last = max(1, -(-each.total(self.truth.versions[-1]) // size))
            number = pick([1, 1, last, last // 2 + 1, last + 1, self.random.randint(1, last)])
            return each.address(size, number), "page", each, size, number
        if die > 0.97:
            return "/v1/filters", "filters"
        pk = pick(self.truth.renamed if self.random.random() < 0.3 else self.truth.singles)
        path = f"/v1/vacancies/{pk}"
        if die < 0.85:
            return path, "single", pk
        path += pick(["/form", "/form/schema"])
        return path, "form", path

    def ask(self, path: str) -> tuple[Any, bytes]:
        """Return status and body, for a 304 those that it stands for."""
        headers = {"Accept-Encoding": "gzip"} if self.random.random() < 0.3 else {}
        if path in self.kept and self.random.random() < 0.6:
            headers["If-None-Match"] = self.kept[path][0]
        self.connection.request("GET", path, headers=headers)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status == 304 and "If-None-Match" in headers:
            return 200, self.kept[path][1]
        if answer.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if answer.status == 200:
            if len(self.kept) > 100:
                self.kept.clear()
            self.kept[path] = (answer.headers["ETag"], body)
        return answer.status, body


# --- Phases ----------------------------------------------------------------------------------------------

Acts = list[tuple[float, Callable[[], Any]]]  # what is done at which part of the time


def phases(c: Cluster) -> dict[str, tuple[str, Acts]]:
    """By key, what to call it and what is done. Nobody writes while it is quiet."""
    (one, two), (node, other) = c.replicas, c.nodes
    pause, resume = (partial(two.sql, f"SELECT pg_wal_replay_{verb}()") for verb in ("pause", "resume"))
    kills: Acts = [(0.2, node.kill_worker), (0.4, other.kill_worker), (0.6, node.kill_worker)]
    return {
        "quiet": ("quiet", []),
        "writes": (f"a writer, {RATE} a second", []),
        "replica-killed": ("replica 1 killed", [(0.2, one.crash)]),
        "replica-back": ("replica 1 back after a while", [(0, one.crash), (0.3, one.start)]),
        "replica-frozen": ("replica 2 frozen, then thawed", [(0.15, two.freeze), (0.65, two.thaw)]),
        "replica-late": ("replica 2 late, then not", [(0.05, pause), (0.8, resume)]),
        "replicas-killed": ("both replicas killed, one back",
                            [(0.2, one.crash), (0.2, two.crash), (0.6, one.start)]),
        "redis-killed": ("Redis killed, then back", [(0.2, c.redis.crash), (0.6, c.redis.start)]),
        "redis-frozen": ("Redis frozen, then thawed", [(0.2, c.redis.freeze), (0.6, c.redis.thaw)]),
        "node-killed": ("node 1 killed, then back", [(0.2, node.crash), (0.5, node.start)]),
        "worker-killed": ("a worker killed, three times", kills),
        "primary-killed": ("primary killed, then back", [(0.2, c.primary.crash), (0.6, c.primary.start)]),
        "primary-restarted": ("primary restarted (fast)", [(0.3, c.primary.stop), (0.3, c.primary.start)]),
        "quiet-after": ("quiet again", []),
    }  # fmt: skip


@dataclass
class Result:
    title: str
    seconds: float
    readers: list[Walker]
    writer: Writer | None
    strange: list[str]  # found after the phase

    def all(self, name: str) -> list[Any]:
        return [each for reader in self.readers for each in getattr(reader, name)]

    @property
    def wrong(self) -> list[str]:
        return self.all("wrong") + (self.writer.wrong if self.writer else []) + self.strange

    def row(self) -> str:
        took, ages = self.all("took"), self.all("ages")
        written = ["-", "-"]
        if self.writer:
            lost = f" ({self.writer.failed} failed)" if self.writer.failed else ""
            written = [f"{len(self.writer.shown)}{lost}", quantiles(self.writer.shown)]
        rate, failed, oldest = len(took) / self.seconds, len(self.all("failed")), 1000 * max(ages, default=0)
        cells = [f"{rate:.0f}", failed, len(self.wrong), quantiles(took), *written, f"{oldest:.0f}"]
        return f"| {self.title} | {len(took)} | {' | '.join(map(str, cells))} |"


def quantiles(values: list[float]) -> str:
    """The median, the 99th of a hundred and the largest, in ms."""
    ordered = sorted(values) or [0.0]
    return " / ".join(f"{1000 * ordered[int((len(ordered) - 1) * q)]:.0f}" for q in (0.5, 0.99, 1))


def run(key: str, cluster: Cluster, truth: Truth, seconds: float, numbers: Iterator[int]) -> Result:
    title, acts = phases(cluster)[key]
    cluster.limit(COUNTED if "redis" in key else "off")
    port, ended = cluster.nginx.port, threading.Event()
    walkers = [Walker(truth, port, random.randrange(2**32), ended) for _ in range(CLIENTS)]
    writer = None if "quiet" in key else Writer(truth, port, numbers)
    threads = [*walkers, *([writer] if writer else [])]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for share, act in [*acts, (1, ended.set)]:
        time.sleep(max(0, start + share * seconds - time.monotonic()))
        act()
    if writer:
        writer.ended.set()
    for thread in threads:
        thread.join()
    result = Result(title, time.monotonic() - start, walkers, writer, [])
    cluster.heal()
    Writer.disconnect()
    if writer:
        servers.until(writer.resolve)
    result.strange = compare(port, truth, sorted(set(result.all("paths"))))
    return result


def compare(port: int, truth: Truth, paths: list[str]) -> list[str]:
    """Wait until the newest version is all there is; return where bodies are not what the views say."""
    from django.test import Client

    first = truth.lists[0]

    def is_current() -> bool:
        asked = time.monotonic()
        status, body = get(port, first.address(20, 1))
        return status == 200 and not truth.judge(("page", first, 20, 1), body, asked, time.monotonic())

    try:
        servers.until(lambda: all(is_current() for _ in range(12)), within=60)
    except AssertionError as error:
        return [f"{first.path}: not as it ought to be after the phase: {error}"]
    strange = []
    for path in random.sample(paths, min(len(paths), 12 if len(truth.singles) < 200_000 else 3)):
        plain = json.loads(Client().get(path).content)
        if any(json.loads(get(port, path)[1]) != plain for _ in range(2)):
            strange.append(f"{path}: not what the views say")
    return strange


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--vacancies", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--primary-data", type=Path, metavar="FOLDER", help="a copy, stopped; it is changed")
    parser.add_argument("--database-dump", metavar="FILE", help="of pg_dump -Fc")
    parser.add_argument("--seconds", type=float, default=12, help="of each phase")
    parser.add_argument("--phases", nargs="*", metavar="KEY", help="all of them if not given")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="to leave the logs of the servers in")
    options = parser.parse_args()
    if not (shutil.which("nginx") and servers.REDIS and servers.POSTGRES):
        sys.exit("nginx, redis-server or PostgreSQL is missing.")
    servers.PATIENCE = 120  # for what a million vacancies make slow
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results, numbers = [], count()
    with contextlib.ExitStack() as stack:
        folder = servers.folder()
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if options.logs:
            stack.callback(lambda: [shutil.copy(log, options.logs) for log in folder.glob("*.log")])
            options.logs.mkdir(exist_ok=True)
        cluster = Cluster(options, folder, stack)
        truth = Truth()
        for key in options.phases or phases(cluster):
            results.append(result := run(key, cluster, truth, options.seconds, numbers))
            faults = [f"  failed {each}" for each in result.all("failed")[:4]]
            faults += [f"  WRONG {each}" for each in result.wrong[:4]]
            print(result.row(), *(each[:600] for each in faults), sep="\n", file=sys.stderr, flush=True)
    print(f"\n{len(truth.singles)} public vacancies, {options.seconds:.0f} s a phase, {CLIENTS} clients, "
          f"REPLICA_MAX_LAG={MAX_LAG}, {os.cpu_count()} cores; times in ms, p50 / p99 / max\n")  # fmt: skip
    print(
        "| phase | requests | a second | failed | wrong | answered in | writes shown | shown after | oldest |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    print(*(result.row() for result in results), sep="\n")
    sys.exit(any(result.wrong for result in results))


if __name__ == "__main__":
    main()
