"""Measures the public interface beside the floor (F) and a naive baseline, in one run.

    python -m tests.benchmarks.compare --database postgres --vacancies 100000 --json out.json

Each round runs every case on every application, one after another, with wrk. A ratio is the median
over the rounds of the ratio within a round. Cold cases use an instance without a response cache
(RESPONSE_CACHE_MB=0) and many pages; warm cases use one with the cache.

CPU is that of the workers and of PostgreSQL, in ms per request. Targets are judged by it: requests
per second also depend on wrk, which shares the cores, and on whatever else the machine does.
"""

import argparse
import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

from tests.benchmarks import servers
from tests.benchmarks.servers import Program, Sample, gunicorn, wrk
from tests.chaos.program import table
from tests.servers import Application, get

LIST = "/v1/vacancies"
LARGE = 164_000  # bytes of the page for which the targets were set; its vacancies had longer texts
OF_FLOOR = {  # targets by case: the minimum of F's CPU / ours
    "large-warm": 0.9,
    "large-gzip": 1,
    "large-conditional": 0.95,
    "large-writers": 0.8,
    "large-cold": 0.33,
    "filtered": 0.2,
    "sorted": 0.2,
    "sparse": 0.2,
    "searched": 0.2,
    "single": 0.65,
    "form": 0.5,
}
NEAR = 1000  # pages from the first on that cold lists walk
SPOTS = (0, 25, 50, 75, 100)  # where pages are compared by number, in percent of the last one
RATE = 10  # publications a second
MEMORY = 150  # MiB that a worker stays below
SAMPLES = 5
TITLE = {
    "naive": "naive baseline",
    "fastapi": "FastAPI, own count",
    "fastapi-stored": "FastAPI, kept total",
}
SHORT = {
    "page": "page[number]",
    "size": "page[size]",
    "regions": "filter[regions]",
    "search": "filter[search]",
}
HEAD = (
    "case",
    "CPU",
    "F's CPU",
    "of F",
    "naive's / ours",
    "requests/s",
    "F's",
    "of F",
    "p50/p99 ms",
    "target",
    "met",
)
WORDS = ("nurse", "driver", "engineer", "analyst", "officer", "teacher", "manager", "operator")
TOWNS = (
    "antwerp",
    "ghent",
    "bruges",
    "leuven",
    "hasselt",
    "mons",
    "namur",
    "arlon",
    "wavre",
    "dinant",
)


@dataclass
class Case:
    """Paths to request, and the minimum of the CPU of other applications / ours, by their names."""

    key: str
    title: str
    paths: list[str]
    least: dict[str, float] = field(default_factory=dict)
    server: str = "cold"  # or "warm"
    others: tuple[str, ...] = ("naive",)
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200
    is_written: bool = False
    page: int = 0  # the number of the page in the middle of the walk, where that is the point
    rounds: list[dict[str, Sample]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def main() -> None:
    parser = servers.options_of(__doc__, vacancies=1000, rounds=3, seconds=3)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument(
        "--peer-venv", type=Path, help="a venv with fastapi, asyncpg, orjson and uvicorn"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="for plot.py")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        report = Benchmark(options, work, stack).run()
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


class Benchmark:
    def __init__(self, options: argparse.Namespace, work: Path, stack: ExitStack) -> None:
        self.options, self.work = options, work
        self.database_pid: int | None = None
        name = f"jobsite_{options.vacancies}"
        url = f"sqlite:///{options.folder}/{name}.sqlite3"
        if options.database == "postgres":
            url, self.database_pid = stack.enter_context(
                servers.postgresql(options.folder / "pg", name)
            )
        self.env = servers.ENV | {"DATABASE_URL": url}
        servers.run_script(
            self.env, "-m", "tests.benchmarks.content", "fill", str(options.vacancies)
        )

        def serve(name: str, *command: str, path: str = LIST, **env: str) -> Application:
            return stack.enter_context(
                Application(work / name, *command, env=self.env | env, probe=path)
            )

        (work / "ready").write_bytes(b"{}")
        floor = gunicorn("tests.benchmarks.floor")
        self.apps = {
            "floor": serve("floor", *floor, path="/ready", FLOOR_FOLDER=str(work)),
            "naive": serve(
                "naive",
                *gunicorn("tests.benchmarks.naive"),
                DJANGO_SETTINGS_MODULE="tests.benchmarks.naive_settings",
            ),
            "warm": serve("warm", *gunicorn("jobsite.wsgi")),
            "cold": serve("cold", *gunicorn("jobsite.wsgi"), RESPONSE_CACHE_MB="0"),
        }
        if options.peer_venv and self.database_pid:
            folder = str(Path(__file__).parent)
            peer = [
                f"{options.peer_venv}/bin/python",
                "-m",
                "uvicorn",
                "--workers",
                "2",
                "--port",
                "PORT",
                "--no-access-log",
                "--app-dir",
                folder,
                "peer:app",
            ]
            self.apps["fastapi"] = serve("fastapi", *peer)
            self.apps["fastapi-stored"] = serve("fastapi-stored", *peer, STORED_TOTAL="1")
        self.cases = list(self.all_cases())
        self.position: dict[tuple[str, str], int] = {}

    # --- Cases ---------------------------------------------------------------------------------

    def get(
        self, app: str, target: str, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, bytes]:
        return get(self.apps[app].port, target, headers, timeout=60)

    def ask(self, target: str = LIST, **query: Any) -> dict[str, Any]:
        return json.loads(self.get("warm", path(target, **query))[2])

    def all_cases(self) -> Iterator[Case]:
        last = self.ask()["meta"]["last_page"]
        near = range(1, min(last, NEAR) + 1)
        body = self.get("warm", LIST)[2]
        size = min(100, LARGE * len(json.loads(body)["data"]) // len(body))
        for prefix, name, first in (
            ("", "", path(LIST)),
            ("large-", ", 164 kB", path(LIST, size=size)),
        ):
            warm: dict[str, Any] = {"paths": [first], "server": "warm"}
            etag = self.get("warm", first)[1]["etag"]
            yield Case(f"{prefix}warm", f"warm list{name}", **warm)
            yield Case(
                f"{prefix}gzip",
                f"warm list{name}, gzip",
                headers={"Accept-Encoding": "gzip"},
                **warm,
            )
            yield Case(
                f"{prefix}conditional",
                f"warm list{name}, 304",
                headers={"If-None-Match": etag},
                status=304,
                others=(),
                **warm,
            )
            title = f"warm list{name}, {RATE} publications/s"
            yield Case(f"{prefix}writers", title, is_written=True, **warm)
        peers = tuple(name for name in TITLE if name in self.apps)
        ahead: dict[str, float] = {"naive": 18, "fastapi": 5, "fastapi-stored": 1.6}
        targets: dict[str, float] = {"naive": 10}
        yield Case(
            "cold", "cold list", shuffled(path(LIST, page=n) for n in near), ahead, others=peers
        )
        pages = min(NEAR, self.ask(size=size)["meta"]["last_page"])
        walk = shuffled(path(LIST, page=n, size=size) for n in range(1, pages + 1))
        yield Case("large-cold", "cold list, 164 kB", walk)
        filters = self.ask("/v1/filters")["data"]
        regions = next(each["options"] for each in filters if each["keyword"] == "regions")
        filtered = [each for option in regions for each in self.pages(100, regions=option["value"])]
        yield Case("filtered", "cold list, filter[regions]", shuffled(filtered), targets)
        for key, query in (("sorted", {"sort": "title"}), ("sparse", {"fields": "id,title,slug"})):
            name, value = next(iter(query.items()))
            walk = shuffled(path(LIST, page=n, **query) for n in near)
            yield Case(key, f"cold list, {name}={value}", walk, targets)
        searched = [each for word in (*WORDS, *TOWNS) for each in self.pages(5, search=word)]
        yield Case("searched", "cold list, filter[search]", shuffled(searched), targets)
        numbers = range(1, last // 5 + 1, max(1, last // 200))
        found = [self.ask(page=n, size=100, fields="id")["data"] for n in numbers]
        ids = [item["id"] for items in found for item in items]
        yield Case("single", "cold single", shuffled(f"{LIST}/{pk}" for pk in ids))
        yield Case("form", "cold form", shuffled(f"{LIST}/{pk}/form" for pk in ids), others=())
        width = max(1, min(50, last // 10))
        for spot in SPOTS:
            start = 1 + (last - width) * spot // 100
            walk = shuffled(path(LIST, page=n) for n in range(start, start + width))
            yield Case(
                f"pages-{spot}",
                f"cold pages from {start} on ({spot} %)",
                walk,
                {"pages-0": 1 / 1.25} if spot else {},
                page=start + width // 2,
            )
        yield Case(
            "crawl",
            "crawler, from page 1 on, answers kept",
            [path(LIST, page=n) for n in range(1, last + 1)],
            server="warm",
            others=(),
        )

    def pages(self, most: int, **query: str) -> list[str]:
        """The first pages of a list, `most` at most."""
        last = self.ask(**query)["meta"]["last_page"]
        return [path(LIST, page=n, **query) for n in range(1, min(most, last) + 1)]

    # --- Measuring -----------------------------------------------------------------------------

    def run(self) -> dict[str, Any]:
        for case in self.cases:
            (self.work / f"{case.key}.paths").write_text("\n".join(case.paths))
            if case.server == "cold":  # it keeps no answers; items have been asked for before
                for each in case.paths:
                    self.get("cold", each)
            # Bytes of F: the answer of middle size of some of the walk.
            requested = case.paths[:: max(1, len(case.paths) // 9)]
            bodies = [self.get(case.server, each)[2] for each in requested]
            (self.work / case.key).write_bytes(sorted(bodies, key=len)[len(bodies) // 2])
            self.compare_items(case)
        for number in range(self.options.rounds):
            for case in self.cases:
                print(f"round {number + 1}: {case.title}", file=sys.stderr)
                words = ("-m", "tests.benchmarks.content", "publish", str(RATE))
                writer = Program(
                    self.work / f"writer-{number}", sys.executable, *words, env=self.env
                )
                with writer if case.is_written else nullcontext():
                    taken = {
                        name: self.measure(case, name) for name in ("floor", *case.others, "ours")
                    }
                if case.is_written:
                    done = json.loads(writer.log.read_text().splitlines()[-1])
                    taken["ours"]["writes"] = done["published"] / done["seconds"]
                case.rounds.append(taken)
        for case in self.cases:
            self.compare_items(case)
        return self.report()

    def compare_items(self, case: Case) -> None:
        """Record where the naive baseline and the others have other items than ours."""
        for each in case.paths[:: max(1, len(case.paths) // SAMPLES)]:
            for name in case.others:
                # Twice, since a vacancy may expire between two requests.
                if all(self.items(name, each) != self.items(case.server, each) for _ in range(2)):
                    case.faults.append(f"items differ from the {TITLE[name]}'s: {each}")

    def items(self, app: str, target: str) -> str:
        """Return the items of an answer in one form whatever the order of keys."""
        status, _, body = self.get(app, target)
        return (
            json.dumps(json.loads(body)["data"], sort_keys=True)
            if status == 200
            else f"{app}: {status}"
        )

    def measure(self, case: Case, name: str) -> Sample:
        server = case.server if name == "ours" else name
        app = self.apps[server]
        paths, expected, status = (
            self.work / f"{case.key}.paths",
            self.work / "expected",
            case.status,
        )
        expected.write_bytes(b'{"data":')
        if name == "floor":
            paths = self.work / "floor.paths"
            paths.write_text(f"/{case.key}")
            expected.write_bytes((self.work / case.key).read_bytes())
            status = 200
        elif case.status == 304:
            expected.write_bytes(b"")
            # The one that is current after what was written in other cases.
            case.headers = {"If-None-Match": self.get(server, case.paths[0])[1]["etag"]}
        elif len(case.paths) == 1 and not case.is_written and "Accept-Encoding" not in case.headers:
            expected.write_bytes(unlinked(self.get(server, case.paths[0])[2]))
        elif "Accept-Encoding" in case.headers:
            expected.write_bytes(self.get(server, case.paths[0], case.headers)[2][:2])
        key = (case.key, name)
        about, start = (app, self.database_pid), self.position.get(key, 0)
        first = wrk(*about, 1, paths, start, status, expected, case.headers)
        start += int(first["requests"]) + 50
        found = wrk(*about, self.options.seconds, paths, start, headers=case.headers)
        self.position[key] = start + int(found["requests"]) + 50
        size, checked = (one["bytes"] / one["requests"] for one in (found, first))
        is_fixed = len(case.paths) == 1 and not case.is_written and first["requests"] > 100
        if first["wrong"] or first["errors"] or found["errors"]:
            case.faults.append(
                f"{name}: {first['wrong']} wrong, {first['errors'] + found['errors']} errors"
            )
        elif is_fixed and abs(size / checked - 1) > 0.1:
            case.faults.append(f"{name}: {size:.0f} bytes an answer, {checked:.0f} when checked")
        return {
            **servers.per_request(found),
            "p50": found["p50"],
            "p99": found["p99"],
            "bytes": size,
        }

    # --- Telling -------------------------------------------------------------------------------

    def report(self) -> dict[str, Any]:
        rows = [self.row(case) for case in self.cases]
        about = {"database": self.options.database, "vacancies": self.options.vacancies}
        print(
            f"\n{about['vacancies']} vacancies, {about['database']}, medians of "
            f"{self.options.rounds} rounds of {self.options.seconds} s, {os.cpu_count()} cores\n"
            "CPU: ms per request, application + database. of F: F's CPU / ours, requests/s / F's"
        )
        print(f"\n{table(HEAD, [self.cells(row) for row in rows])}")
        peaks = {name: self.apps[name].peak_mib() for name in ("warm", "cold")}
        print(
            f"\nPeak memory of a worker: {peaks['warm']:.0f} MiB with kept answers, "
            f"{peaks['cold']:.0f} without (target {MEMORY})."
        )
        for row in rows:
            for name in ("fastapi", "fastapi-stored"):
                if name in row["ratios"]:
                    print(
                        f"{row['title']}: 1/{row['cpu_ratios'][name]:.1f} of the CPU and "
                        f"{row['ratios'][name]:.1f} times the requests/s of {TITLE[name]}."
                    )
            if "writes" in row["ours"]:
                print(f"{row['title']}: {row['ours']['writes']:.1f} publications/s took place.")
            for fault in row["faults"]:
                print(f"FAILED {row['title']}: {fault}")
        return {**about, "peak_mib": peaks, "cases": rows}

    @staticmethod
    def cells(row: dict[str, Any]) -> list[str]:
        ours, floor, cpu = row["ours"], row["floor"], row["cpu_ratios"]
        rate = ours["requests"]
        return [
            row["title"],
            f"{ours['cpu_app']:.2f} + {ours['cpu_database']:.2f}",
            f"{floor['cpu']:.2f}",
            f"{cpu['floor']:.2f}",
            f"{cpu['naive']:.1f}" if "naive" in cpu else "-",
            f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}",
            f"{floor['requests']:.0f}",
            f"{row['ratios']['floor']:.2f}",
            f"{ours['p50']:.1f}/{ours['p99']:.1f}",
            row["target"],
            row["met"],
        ]

    def row(self, case: Case) -> dict[str, Any]:
        """Return a case as JSON has it:
        medians by application, ratios, the target and whether it is met.
        """
        names = [name for name in case.rounds[0] if name != "ours"]
        middle: dict[str, Any] = {
            name: {
                what: median(taken[name][what] for taken in case.rounds)
                for what in case.rounds[0][name]
            }
            for name in case.rounds[0]
        }
        pairs = {name: [(taken["ours"], taken[name]) for taken in case.rounds] for name in names}
        first = next((each for each in self.cases if each.key == "pages-0"), None)
        if case.page and first:
            both = zip(case.rounds, first.rounds, strict=True)
            pairs["pages-0"] = [(taken["ours"], of_first["ours"]) for taken, of_first in both]
        ratios, cpu_ratios = {}, {}
        for name, samples in pairs.items():
            ratios[name] = median(ours["requests"] / other["requests"] for ours, other in samples)
            cpu_ratios[name] = median(other["cpu"] / ours["cpu"] for ours, other in samples)
        least = {"floor": OF_FLOOR[case.key]} if case.key in OF_FLOOR else {}
        least |= {name: value for name, value in case.least.items() if name in ratios}
        target = [
            f"{value:.2f} F"
            if name == "floor"
            else f"{1 / value:.2f} x page 1 at most"
            if name == "pages-0"
            else f"{value:.1f} x {TITLE[name]}"
            for name, value in least.items()
        ]
        met = "yes" if all(cpu_ratios[name] >= value for name, value in least.items()) else "no"
        return {
            "key": case.key,
            "title": case.title,
            "page": case.page,
            **middle,
            "ratios": ratios,
            "cpu_ratios": cpu_ratios,
            "target": ", ".join(target) or "-",
            "met": "failed" if case.faults else met if least else "-",
            "faults": case.faults,
            "rounds": case.rounds,
        }


def path(base: str, **query: Any) -> str:
    """Return a path with the parameters, by their short names, as the interface calls them."""
    return base + ("?" + urlencode({SHORT.get(k, k): v for k, v in query.items()}) if query else "")


def shuffled(paths: Any) -> list[str]:
    """Return them in an order that is the same in every run."""
    paths = list(paths)
    random.Random(1).shuffle(paths)
    return paths


def unlinked(body: bytes) -> bytes:
    """Return what precedes the links, which count what the clock may change meanwhile."""
    return re.split(rb',"(?:links|meta)":\{', body, maxsplit=1)[0]


if __name__ == "__main__":
    main()
