"""A whole site on loopback that can be broken, traffic to it, and what each answer has to be.

nginx in front of two nodes, a PostgreSQL primary with two streaming replicas, Redis: in a folder of their
own. Walkers read pages, singles, forms, filters and an applicant's own list. What a writer does is remembered
as versions, and a body is right if it is, to the last id, link and number, that of one version that was not
replaced too long ago. A recruiter saves vacancies in the admin and remembers what was acknowledged.
"""

import contextlib
import gzip
import http.client
import json
import os
import random
import re
import sys
import threading
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tests import servers
from tests.servers import ROOT

BASE = "http://jobs.test"  # so that all nodes give the same bodies
MAX_LAG = 2  # seconds, REPLICA_MAX_LAG
# A replica is asked each second, and its answer believed for three while the thread that asks is held up.
TOO_OLD = MAX_LAG + 4  # seconds
CLIENTS = 4
RATE = 10  # writes a second
POOL, OUT = 40, 25  # copies that the writer publishes and withdraws; of them published at most
RENAMED = 40  # vacancies that it renames
NAME, PASSWORD = "recruiter@jobs.test", "only-of-this-lab-9"
APPLICANT = "applicant@jobs.test"
OF_APPLICATION = ("status", "is_spontaneous", "history")  # keys of an application beside its vacancy's
ENV = {
    "SECRET_KEY": "only-for-this-laboratory-0123456789" * 2,
    "ALLOWED_HOSTS": "jobs.test,127.0.0.1",
    "PUBLIC_BASE_URL": BASE,
    "RATE_LIMIT": "1000000/min",  # asks Redis every time and is never reached
    "TRUSTED_PROXIES": "127.0.0.1/32",
    "REPLICA_MAX_LAG": str(MAX_LAG),
    "DJANGO_SETTINGS_MODULE": "jobsite.settings",
}


# --- Servers ---------------------------------------------------------------------------------------------


class Site:
    """All servers, one started after another; the database is filled before it is copied."""

    def __init__(
        self,
        folder: Path,
        stack: contextlib.ExitStack,
        count: int,
        data: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        def end(server: servers.Server) -> None:
            with contextlib.suppress(Exception):  # and go on with the others
                server.stop()

        def up(server: Any) -> Any:
            self.started.append(server)
            stack.callback(end, server)
            server.start()
            return server

        self.paused = threading.Event()  # nobody reads or writes
        self.started: list[servers.Server] = []
        memory = {"shared_buffers": "256MB", "max_wal_size": "4GB"} if count > 100_000 else {}
        more = {"max_connections": "80", "wal_log_hints": "on", **memory}
        self.primary = up(servers.Postgres(data or folder / "primary", **more))
        self.primary.end = servers.signal.SIGINT  # in order, so that the data can be used again
        self.primary.database = largest(self.primary) or "postgres"
        self.env = ENV | {"STATIC_ROOT": str(folder / "static")} | (env or {})
        self.token = fill(self.env | {"DATABASE_URL": self.primary.url}, count)
        copies = [servers.Postgres(folder / f"replica_{n}", self.primary, **more) for n in (1, 2)]
        self.replicas = [up(copy) for copy in copies]
        follow(self.addresses)
        self.redis = up(servers.Redis(folder / "redis"))
        self.env["CACHE_URL"] = self.redis.url
        self.nodes = [up(servers.Gunicorn(folder / f"node_{n}", self.whole)) for n in (1, 2)]
        self.nginx = up(servers.Nginx(folder / "nginx", self.nodes))

    @property
    def addresses(self) -> str:
        """The DATABASE_URL that finds whoever is the primary."""
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in (self.primary, *self.replicas))
        return f"postgres://postgres@{hosts}/{self.primary.database}?target_session_attrs=read-write"

    @property
    def whole(self) -> dict[str, str]:
        """The environment of nodes that know all databases."""
        replicas = ",".join(replica.url for replica in self.replicas)
        return self.env | {"DATABASE_URL": self.addresses, "REPLICA_URLS": replicas}

    @property
    def alone(self) -> dict[str, str]:
        """The environment of nodes that know the primary only."""
        return self.env | {"DATABASE_URL": self.primary.url}

    def fail_over(self) -> None:
        """Let the replica that has more become the primary."""
        order = "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')"
        self.replicas.sort(key=lambda replica: replica.sql(order))
        self.replicas[-1].promote()

    def rejoin(self) -> None:
        """Make the old primary, which was lost, and the other replica new copies of the primary that is."""
        new, *others = self.replicas.pop(), self.primary, *self.replicas
        for server in others:
            server.stop()
            server.copy(new)
            server.start()
        self.primary, self.replicas = new, others

    def configure(self, env: dict[str, str], *switches: str) -> None:
        """Let the nodes be started like this."""
        for node in self.nodes:
            before = node.env, node.command
            node.configure(env, *switches)
            if before != (node.env, node.command):
                node.stop()
                node.start()

    def heal(self) -> None:
        """Bring back whatever was broken."""
        for server in self.started:
            assert server.process
            server.thaw()
            if getattr(server, "renewed", 0):
                server.stop()
            if server.process.poll() is not None:
                server.start()
        for replica in self.replicas:
            replica.sql("SELECT pg_wal_replay_resume() WHERE pg_is_in_recovery()")


def largest(server: servers.Postgres) -> str | None:
    """The name of the largest database with vacancies."""
    names = "SELECT string_agg(datname, ' ' ORDER BY pg_database_size(oid) DESC) FROM pg_database"
    for name in server.sql(f"{names} WHERE datallowconn").split():
        server.database = name
        if server.sql("SELECT 1 FROM pg_tables WHERE tablename = 'vacancies_vacancy'"):
            return server.database
    server.database = "postgres"
    return None


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

        from applications.models import Application
        from vacancies.models import Vacancy, VacancyOption
        from vacancies.querysets import VacancyList

        self.pool = pool()
        published = Vacancy.objects.published(at=timezone.now())
        mine = Vacancy.objects.filter(pk__in=self.pool)
        self.lists = []
        for path, vacancy_list, query in (
            ("/v1/vacancies", VacancyList.EXTERNAL, {}),
            ("/v1/vacancies/hot", VacancyList.HOT, {}),
            ("/v1/vacancies/internal", VacancyList.INTERNAL, {}),
            ("/v1/vacancies/hot/internal", VacancyList.HOT_INTERNAL, {}),
            ("/v0.1/vacancies", VacancyList.EXTERNAL, {}),
            ("/v0.1/vacancies/internal", VacancyList.INTERNAL, {}),
            ("/v1/vacancies", VacancyList.EXTERNAL, {"filter[regions]": "antwerp,liege"}),
            ("/v1/vacancies/hot", VacancyList.HOT, {"filter[search]": "ghent"}),
            ("/v1/vacancies", VacancyList.EXTERNAL, {"sort": "published_at", "fields": "id,title,slug"}),
        ):
            rows, own = (each.in_list(vacancy_list) for each in (published, mine))
            if "filter[regions]" in query:
                rows, own = (each.with_option("regions", ["antwerp", "liege"]) for each in (rows, own))
            if "filter[search]" in query:
                rows, own = (each.search("ghent") for each in (rows, own))
            base = array("q", rows.newest_first().values_list("pk", flat=True).iterator())
            self.lists.append(List(path, query, base, set(own.values_list("pk", flat=True))))
        self.singles = ids = self.lists[0].base
        half = RENAMED // 2
        mine = Application.objects.filter(user__username=APPLICANT).newest_first()
        self.applied = list(mine.values_list("vacancy", flat=True))
        applied = set(self.applied).intersection(ids)
        self.renamed = list(dict.fromkeys([*applied, *ids[:half], *ids[:: max(1, len(ids) // half)]]))
        self.saved = [pk for pk in ids[half : 4 * half] if pk not in self.renamed][:5]  # for a recruiter
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
        self.applications: list[tuple[Any, ...]] = []  # what an applicant's own list adds to its vacancies

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
        if kind == "form":  # which nobody changes, but for the title
            body = re.sub(rb" [#*][0-9]+", b"", body)
            assert self.forms.setdefault(about[0], body) == body, "the form changed"
            return 0.0
        found = json.loads(body)
        items: list[dict[str, Any]] = [found["data"]] if kind == "single" else found["data"]
        items = [] if kind == "filters" else items
        api = "/v1/"
        if kind == "mine":
            # The vacancies are judged as those of the other lists are: as they are now (interface 2.7).
            assert [item["id"] for item in items] == self.applied, "other applications"
            own = [tuple(item.pop(key, None) for key in OF_APPLICATION) for item in items]
            self.applications = self.applications or own
            assert self.applications == own, f"the applications changed: {own}"
        elif kind == "page":
            each, size, number = about
            api = "" if "fields" in each.query else each.path[:4]
            shown = [item["id"] for item in items], found["links"], found["meta"]
        elif kind == "filters":
            counted = {(f["keyword"], o["value"]): o["count"] for f in found["data"] for o in f["options"]}
        elif kind == "single":
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


def set_up(env: dict[str, str]) -> None:
    """Let this process be Django with these variables, and none of those that name other servers."""
    os.chdir(ROOT)
    for name in ("REPLICA_URLS", "CACHE_URL", "DATABASE_POOL", "DEBUG", "JOBSITE_SERVES"):
        os.environ.pop(name, None)
    os.environ.update(env)
    import django

    django.setup()


def fill(env: dict[str, str], count: int) -> str:
    """Set up Django here, on the primary alone; let the database hold vacancies, a form, a colleague and an
    applicant, whose token is returned."""
    set_up(env)
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from applications.operations import receive
    from applications.tokens import issue
    from forms_structure.models import Form
    from forms_structure.operations import create
    from forms_structure.presets import presets
    from vacancies.models import Vacancy

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    if not Vacancy.objects.exists():
        call_command("generate_vacancies", str(count), stdout=sys.stderr)
    if not Form.objects.default().exists():
        sections = [preset["section"] for preset in presets("en")]
        create(name="Application", structure=sections, language="en", is_default=True)
    pool()
    User.objects.filter(username=NAME).delete()
    User.objects.create_superuser(NAME, password=PASSWORD)
    applicant = User.objects.get_or_create(username=APPLICANT)[0]
    for vacancy in Vacancy.objects.published(at=timezone.now()).external().order_by("pk")[:3]:
        if not vacancy.applications.filter(user=applicant).exists():
            receive(user=applicant, vacancy=vacancy, at=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    change = Vacancy.objects.next_change(after=timezone.now())
    if change and (change - timezone.now()).total_seconds() < 1800:
        sys.exit(f"At {change} vacancies appear or vanish by themselves: start after that.")
    return issue(user=applicant, lifetime=timedelta(days=1))[1]


def follow(addresses: str) -> None:
    """Let Django, here too, find whoever is the primary."""
    import environ
    from django.db import connections

    connections.close_all()
    for name, value in environ.Env.db_url_config(addresses).items():
        known = connections.settings["default"]
        known[name] = known[name] | value if name == "OPTIONS" else value
        connections["default"].settings_dict[name] = known[name]


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

    def __init__(self, truth: Truth, port: int, numbers: Iterator[int], paused: threading.Event) -> None:
        super().__init__(daemon=True)
        self.truth, self.port, self.numbers, self.paused = truth, port, numbers, paused
        self.ended = threading.Event()
        self.failed = 0
        self.shown: list[float] = []
        self.wrong: list[str] = []

    def run(self) -> None:
        due = time.monotonic()
        while not self.ended.wait(max(0, due - time.monotonic())):
            due = max(due + 1 / RATE, time.monotonic() - 1)  # what was missed is not caught up with
            if not self.paused.is_set():
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
        while not self.ended.is_set():
            asked = time.monotonic()
            with contextlib.suppress(OSError, http.client.HTTPException):  # which the walkers count
                status, _, body = servers.get(self.port, path)
                if status == 200 and (sign.encode() in body) == is_there:
                    self.shown.append(time.monotonic() - committed)
                    return
                if status == 200 and asked > committed + TOO_OLD:
                    self.wrong.append(f"{path}: a change was not shown after {asked - committed:.1f} s")
                    return
            self.ended.wait(0.01)


# --- Readers ---------------------------------------------------------------------------------------------


class Walker(threading.Thread):
    """A client that reads this and that, sometimes compressed or with a condition; `is_brief` uses each
    connection once."""

    def __init__(self, truth: Truth, site: Site, port: int, ended: threading.Event, is_brief: bool) -> None:
        super().__init__(daemon=True)
        self.truth, self.port, self.ended, self.is_brief = truth, port, ended, is_brief
        self.paused, self.mine = site.paused, {"Authorization": f"Bearer {site.token}"}
        self.random = random.Random(random.randrange(2**32))
        self.took: list[float] = []  # seconds
        self.ages: list[float] = []  # seconds
        self.refused: list[tuple[float, str]] = []  # when, and what was not to be had just then
        self.failed: list[tuple[float, str]] = []
        self.wrong: list[str] = []
        self.paths: deque[str] = deque(maxlen=60)
        self.kept: dict[str, tuple[str, bytes]] = {}  # ETag and body of some paths
        self.connection: http.client.HTTPConnection | None = None

    def run(self) -> None:
        while not self.ended.is_set():
            if self.paused.is_set():
                time.sleep(0.01)
                continue
            path, *what = self.choose()
            asked = time.monotonic()
            try:
                status, headers, body = self.ask(path)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                status, headers, body = 0, {}, repr(error).encode()
            answered = time.monotonic()
            self.took.append(answered - asked)
            if self.is_brief:
                self.close()
            if status == 200:
                try:
                    self.ages.append(self.truth.judge(tuple(what), body, asked, answered))
                    if what[0] != "mine":
                        self.paths.append(path)
                except Exception as error:  # what cannot be read is as wrong
                    self.wrong.append(f"{path}: {type(error).__name__} {error}")
            elif is_refusal(status, headers):
                self.refused.append((answered, path))
                time.sleep(0.05)  # Retry-After says more, and would find less
            else:
                self.failed.append((answered, f"{path}: {status} {body[:200].decode(errors='replace')}"))
                time.sleep(0.05)
        self.close()

    def choose(self) -> tuple:
        """Return a path and what it is."""
        die, pick = self.random.random(), self.random.choice
        if die < 0.62:
            each, size = pick(self.truth.lists), pick((20, 20, 20, 5, 100))
            last = max(1, -(-each.total(self.truth.versions[-1]) // size))
            number = pick([1, 1, last, last // 2 + 1, last + 1, self.random.randint(1, last)])
            return each.address(size, number), "page", each, size, number
        if die > 0.97:
            return "/v1/filters", "filters"
        if die > 0.94:
            return "/v1/user/applications", "mine"
        pk = pick(self.truth.renamed if self.random.random() < 0.3 else self.truth.singles)
        path = f"/v1/vacancies/{pk}"
        if die < 0.82:
            return path, "single", pk
        path += pick(["/form", "/form/schema"])
        return path, "form", path

    def ask(self, path: str) -> tuple[int, Any, bytes]:
        """Return status, headers and body, for a 304 those that it stands for. On a connection that was
        used before and has been closed meanwhile it is asked again, as every client does."""
        headers = {"Accept-Encoding": "gzip"} if self.random.random() < 0.3 else {}
        if path.startswith("/v1/user/"):
            headers |= self.mine
        elif path in self.kept and self.random.random() < 0.6:
            headers["If-None-Match"] = self.kept[path][0]
        is_fresh = self.connection is None
        self.connection = self.connection or self.connect()
        try:
            self.connection.request("GET", path, headers=headers)
            answer = self.connection.getresponse()
        except ConnectionError:
            if is_fresh:
                raise
            self.close()
            self.connection = self.connect()
            self.connection.request("GET", path, headers=headers)
            answer = self.connection.getresponse()
        body = answer.read()
        if answer.status == 304 and "If-None-Match" in headers:
            return 200, answer.headers, self.kept[path][1]
        if answer.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if answer.status == 200 and "ETag" in answer.headers:
            if len(self.kept) > 100:
                self.kept.clear()
            self.kept[path] = (answer.headers["ETag"], body)
        return answer.status, answer.headers, body

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def close(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None


def is_refusal(status: int, headers: Any) -> bool:
    """Whether it is said, in the house's way, that the same can be asked again in a moment."""
    kind = headers.get("Content-Type", "")
    return (
        status == 503
        and "Retry-After" in headers
        and kind.startswith(("application/problem+json", "text/html"))
    )


# --- The admin -------------------------------------------------------------------------------------------


class Form(HTMLParser):
    """What the form with the id `name` posts as it stands."""

    def __init__(self, name: str, page: str) -> None:
        super().__init__()
        self.name, self.is_in, self.values = name, False, list[tuple[str, str]]()
        self.select, self.area = "", ""
        self.feed(page)
        if not self.values:
            raise ValueError(f"no form {name}: {page[:200]}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = {name: value or "" for name, value in attrs}
        name = about.get("name", "")
        if tag == "form":
            self.is_in = about.get("id") == self.name
        if not self.is_in:
            return
        if tag == "select":
            self.select = name
        elif tag == "textarea":
            self.area = name
            self.values.append((name, ""))
        elif tag == "option" and "selected" in about:
            self.values.append((self.select, about.get("value", "")))
        elif tag == "input" and name:
            kind = about.get("type", "text")
            if kind in ("submit", "button", "image", "file", "reset"):
                return
            if kind not in ("checkbox", "radio") or "checked" in about:
                self.values.append((name, about.get("value", "on" if kind == "checkbox" else "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.is_in = False
        elif tag == "textarea":
            self.area = ""

    def handle_data(self, data: str) -> None:
        if self.area and self.is_in:
            self.values[-1] = (self.area, self.values[-1][1] + data)


class Recruiter(threading.Thread):
    """Renames vacancies in the admin, one after the other."""

    def __init__(self, port: int, pks: list[int], ended: threading.Event) -> None:
        super().__init__(daemon=True)
        self.port, self.pks, self.ended = port, pks, ended
        self.cookies: dict[str, str] = {}
        self.said: dict[int, list[str]] = {
            pk: [] for pk in pks
        }  # the title that was saved, those tried since
        self.saved = 0
        self.refused: list[tuple[float, str]] = []
        self.failed: list[tuple[float, str]] = []
        self.sign_in()

    def sign_in(self) -> None:
        status, _, page = self.ask("/admin/login/")
        if status == 302:  # that was another node's answer: this one knows who asks
            return
        fields = dict(Form("login-form", page).values) | {"username": NAME, "password": PASSWORD}
        status, _, page = self.ask("/admin/login/", list(fields.items()))
        assert status == 302, f"not signed in: {status} {page[-400:]}"

    def ask(self, path: str, form: list[tuple[str, str]] | None = None) -> tuple[int, Any, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        with contextlib.closing(connection):
            body = None if form is None else urlencode(form)
            connection.request("GET" if form is None else "POST", path, body, headers)
            answer = connection.getresponse()
            for cookie in answer.headers.get_all("Set-Cookie") or ():
                name, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[name] = value
            return answer.status, answer.headers, answer.read().decode()

    def run(self) -> None:
        number = 0
        while not self.ended.wait(0.2):
            number += 1
            pk = self.pks[number % len(self.pks)]
            path = f"/admin/vacancies/vacancy/{pk}/change/"
            try:
                status, headers, page = self.ask(path)
                if status == 302:  # another release names its cookies otherwise
                    self.sign_in()
                    continue
                if status == 200:
                    form = Form("vacancy_form", page).values
                    before = dict(form)["title"]
                    title = f"{before.partition(' *')[0]} *{number}"
                    self.said[pk] = [*(self.said[pk] or [before]), title]
                    form = [*((name, value) for name, value in form if name != "title"), ("title", title)]
                    status, headers, page = self.ask(path, [*form, ("_save", "Save")])
                    if status == 302:
                        self.saved += 1
                        self.said[pk] = [title]
                        continue
            except (OSError, http.client.HTTPException, ValueError) as error:
                status, headers, page = 0, {}, repr(error)
            if is_refusal(status, headers):
                self.refused.append((time.monotonic(), path))
            else:
                errors = re.findall(r'class="errorlist[^>]*>.{,200}', page)
                self.failed.append((time.monotonic(), f"{path}: {status} {errors or page[-300:]}"))

    def lost(self) -> list[str]:
        """What was acknowledged, and is not in the database."""
        from vacancies.models import Vacancy

        titles = dict(Vacancy.objects.filter(pk__in=self.pks).values_list("pk", "title"))
        return [
            f"saved {said[0]!r}, found {titles[pk]!r}"
            for pk, said in self.said.items()
            if said and titles[pk] not in said
        ]


# --- What is measured ------------------------------------------------------------------------------------


@dataclass
class Scenario:
    """What is done to a site under traffic, and what may come of it."""

    title: str
    goal: str
    acts: list[tuple[float, str, Callable[[], Any]]]  # when in seconds, called what, what
    seconds: float
    is_alone: bool = (
        False  # one node without replicas, asked directly, half of the clients without keep-alive
    )
    switches: tuple[str, ...] = ()  # of gunicorn's
    env: dict[str, str] = field(default_factory=dict)  # of the nodes, beside their own
    writes: bool = True
    saves: bool = False  # a recruiter works in the admin
    least: int = 0  # requests; it goes on until then, for three times as long at most
    may_fail: int = 0  # requests whose connection may break
    saves_may_fail: int = 0
    refuses: str = ""  # whose requests may meet 503 and Retry-After: "", "private" ones or "all"
    longest: float = 30.0  # seconds that an answer may take; far more than on a quiet machine
    healed_by: str = ""  # the act after which it is well again,
    healed_within: float = 10.0  # in these seconds


@dataclass
class Result:
    scenario: Scenario
    seconds: float
    readers: list[Walker]
    writer: Writer | None
    recruiter: Recruiter | None
    moments: dict[str, float]  # of the acts, when they were over
    strange: list[str]  # found after it

    def all(self, name: str) -> list[Any]:
        return [each for reader in self.readers for each in getattr(reader, name)]

    @property
    def wrong(self) -> list[str]:
        return self.all("wrong") + (self.writer.wrong if self.writer else []) + self.strange

    @property
    def healed_after(self) -> float | None:
        """Seconds from the act that heals until the last request that was refused or failed."""
        since = self.moments.get(self.scenario.healed_by)
        if since is None:
            return None
        return max([0.0, *(at - since for at, _ in self.all("refused") + self.all("failed"))])

    def faults(self, is_timed: bool = True) -> list[str]:
        """Where the goal is not met; only what can be counted unless `is_timed`."""
        goal, failed, recruiter = self.scenario, self.all("failed"), self.recruiter
        found = []
        if len(failed) > goal.may_fail or any(": 0 " not in text for _, text in failed):
            found += [f"failed: {text}" for _, text in failed]
        # Replicas that are starved for seconds are left out, and rightly.
        if goal.refuses != "all" and (is_timed or not goal.refuses):
            private = "/v1/user/" if goal.refuses else "nothing"
            found += [f"503: {path}" for _, path in self.all("refused") if not path.startswith(private)]
        longest, healed = max([0.0, *self.all("took")]), self.healed_after or 0.0
        if is_timed and longest > goal.longest:
            found.append(f"an answer took {longest:.1f} s")
        if is_timed and healed > goal.healed_within:
            found.append(f"well again after {healed:.1f} s")
        if recruiter:
            if len(recruiter.failed) > goal.saves_may_fail:
                found += [f"save failed: {text}" for _, text in recruiter.failed]
            if recruiter.refused and not goal.refuses:
                found.append(f"save refused: {recruiter.refused[0][1]}")
            if is_timed and not recruiter.saved:
                found.append("nothing was saved")
        return [*found, *(f"wrong: {each}" for each in self.wrong)]

    HEAD = ("fault", "requests", "failed", "503", "wrong bodies", "longest answer, ms", "well again after, s",
            "saves", "writes shown", "goal")  # fmt: skip

    def cells(self) -> list[Any]:
        healed, recruiter, writer = self.healed_after, self.recruiter, self.writer
        saves = f"{recruiter.saved} ({len(recruiter.failed + recruiter.refused)} not)" if recruiter else "-"
        took, failed, refused = self.all("took"), len(self.all("failed")), len(self.all("refused"))
        return [
            self.scenario.title, len(took), failed, refused, len(self.wrong),
            f"{1000 * max([0.0, *took]):.0f}", "-" if healed is None else f"{healed:.1f}", saves,
            len(writer.shown) if writer else "-", self.scenario.goal,
        ]  # fmt: skip


def run(scenario: Scenario, site: Site, truth: Truth, numbers: Iterator[int], pace: float = 1) -> Result:
    """Let it happen under traffic, bring everything back, and compare what is shown then."""
    env = site.alone if scenario.is_alone else site.whole
    site.configure(env | scenario.env, *scenario.switches)
    ended, port = threading.Event(), (site.nodes[0] if scenario.is_alone else site.nginx).port
    walkers = [Walker(truth, site, port, ended, scenario.is_alone and n % 2 == 0) for n in range(CLIENTS)]
    writer = Writer(truth, port, numbers, site.paused) if scenario.writes else None
    recruiter = Recruiter(port, truth.saved, ended) if scenario.saves else None
    threads: list[threading.Thread] = [*walkers, *filter(None, (writer, recruiter))]
    start, moments = time.monotonic(), dict[str, float]()
    for thread in threads:
        thread.start()
    try:
        for at, name, act in scenario.acts:
            time.sleep(max(0, start + pace * at - time.monotonic()))
            act()
            moments[name] = time.monotonic()
        end = start + pace * scenario.seconds
        while time.monotonic() < end or (
            time.monotonic() < end + 2 * pace * scenario.seconds
            and sum(len(walker.took) for walker in walkers) < scenario.least
        ):
            time.sleep(0.1)
    finally:
        ended.set()
        if writer:
            writer.ended.set()
    for thread in threads:
        thread.join()
    result = Result(scenario, time.monotonic() - start, walkers, writer, recruiter, moments, [])
    site.heal()
    Writer.disconnect()
    if writer:
        servers.until(writer.resolve)
    result.strange = compare(port, truth, sorted(set(result.all("paths"))))
    if recruiter:
        result.strange += recruiter.lost()
    return result


def compare(port: int, truth: Truth, paths: list[str]) -> list[str]:
    """Wait until the newest version is all there is; return where bodies are not what the views say."""
    from django.test import Client

    first, client = truth.lists[0], Client(headers={"host": "jobs.test"})

    def is_current() -> bool:
        asked = time.monotonic()
        status, _, body = servers.get(port, first.address(20, 1))
        return status == 200 and not truth.judge(("page", first, 20, 1), body, asked, time.monotonic())

    try:
        servers.until(lambda: all(is_current() for _ in range(12)), within=60)
    except AssertionError as error:
        return [f"{first.path}: not as it ought to be after the phase: {error}"]
    strange = []
    for path in random.sample(paths, min(len(paths), 12 if len(truth.singles) < 200_000 else 3)):
        plain = json.loads(client.get(path).content)
        if any(json.loads(servers.get(port, path)[2]) != plain for _ in range(2)):
            strange.append(f"{path}: not what the views say")
    return strange


def quantiles(values: list[float]) -> str:
    """The median, the 99th of a hundred and the largest, in ms."""
    ordered = sorted(values) or [0.0]
    return " / ".join(f"{1000 * ordered[int((len(ordered) - 1) * q)]:.0f}" for q in (0.5, 0.99, 1))


def table(head: tuple[str, ...], rows: list[list[Any]]) -> str:
    """In Markdown, as the documents have it."""
    lines = [head, ["---", *("--:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
