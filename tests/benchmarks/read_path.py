"""Measures the CPU of one request in one process, of this version and of another one beside it:

    export DATABASE_URL=postgres://...
    python -m tests.benchmarks.content fill 1000
    python -m tests.benchmarks.read_path [FOLDER of another version]

Requests are WSGI calls without a server. Each version has a process; they take turns of a few
requests, because the speed of a shared machine varies. Prints the lower decile and the median over
the turns, in microseconds, of the application alone.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from typing import Any

CASES = {  # requests in a turn
    "warm list": 200,
    "304": 200,
    "cold list": 8,
    "cold single": 12,
    "filtered, cold body": 6,
    "/v1/filters": 2,
}
ENV = {
    "SECRET_KEY": "only-for-benchmark-" * 4,
    "ALLOWED_HOSTS": "testserver",
    "RATE_LIMIT": "off",
    "LOG_REQUESTS": "off",
    "DEBUG": "off",
    "DJANGO_SETTINGS_MODULE": "jobsite.settings",
}
LIST = "/v1/vacancies?page%5Bsize%5D=57"
FILTERED = "/v1/vacancies?filter%5Bregions%5D=antwerp"


class Site:
    """The site of the working directory, in this process. It imports nothing but the product."""

    def __init__(self) -> None:
        from jobsite import wsgi  # the working directory decides which one

        self.application, self.cache = wsgi.application, wsgi._django
        pages = json.loads(self.ask(LIST)[1])["data"]
        self.singles = cycle([f"/v1/vacancies/{item['id']}" for item in pages])
        self.etag = self.headers["ETag"]

    def ask(self, path: str, **headers: str) -> tuple[str, bytes]:
        path, _, query = path.partition("?")
        environ: dict[str, Any] = {"REQUEST_METHOD": "GET", "PATH_INFO": path} | headers
        environ |= {"QUERY_STRING": query, "REMOTE_ADDR": "127.0.0.1", "wsgi.url_scheme": "http"}
        environ |= {"SERVER_NAME": "testserver", "SERVER_PORT": "80", "HTTP_HOST": "testserver"}
        started: list[Any] = []
        result = self.application(
            environ | {"wsgi.input": BytesIO()}, lambda *args: started.extend(args)
        )
        body = b"".join(result)
        if hasattr(result, "close"):
            result.close()
        self.headers = dict(started[1])
        return started[0], body

    def cold(self, path: str) -> tuple[str, bytes]:
        self.cache.entries.clear()
        return self.ask(path)

    def request(self, case: str) -> Callable[[], tuple[str, bytes]]:
        return {
            "warm list": lambda: self.ask(LIST),
            "304": lambda: self.ask(LIST, HTTP_IF_NONE_MATCH=self.etag),
            "cold list": lambda: self.cold(LIST),
            "cold single": lambda: self.cold(next(self.singles)),
            "filtered, cold body": lambda: self.cold(FILTERED),
            "/v1/filters": lambda: self.cold("/v1/filters"),
        }[case]

    def measure(self, case: str) -> float:
        """Return the microseconds of one request."""
        request = self.request(case)
        status = request()[0]  # another case has taken its place in the caches of the processor
        assert status.startswith("304" if case == "304" else "200"), status
        before = time.process_time_ns()
        for _ in range(CASES[case]):
            request()
        return (time.process_time_ns() - before) / CASES[case] / 1000


def serve() -> None:
    """Measure the cases that are read from the input, on the processor of the other version."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    site = Site()
    for line in sys.stdin:
        print(site.measure(line.strip()), flush=True)


@contextmanager
def process(command: Sequence[str], **options: Any) -> Iterator[Callable[[str], float]]:
    """Run `command`, with `options` of Popen. Yield what measures a case in it."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, **options) as running:
        assert running.stdin
        assert running.stdout

        def measure(case: str) -> float:
            print(case, file=running.stdin, flush=True)
            assert running.stdout
            return float(running.stdout.readline())

        yield measure
        running.stdin.close()


def version(folder: Path) -> AbstractContextManager[Callable[[str], float]]:
    """Run the version in `folder`."""
    environment = os.environ | ENV | {"PYTHONPATH": str(folder)}
    return process([sys.executable, __file__, "--serve"], cwd=folder, env=environment)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("other", nargs="?", type=Path, help="folder of another version")
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--only", choices=CASES, nargs="*", default=list(CASES))
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    own = Path(__file__).parents[2]
    with version(own) as ours, version((options.other or own).resolve()) as other:
        print("| case | other: decile, median | this: decile, median |\n|---|--:|--:|")
        for case in options.only:
            taken: dict[Callable[[str], float], list[float]] = {other: [], ours: []}
            for number in range(options.turns):
                for measure in [other, ours][:: 1 if number % 2 else -1]:
                    taken[measure].append(measure(case))
            cells = (
                f"{quantiles(each, n=10)[0]:.0f}, {median(each):.0f}" for each in taken.values()
            )
            print(f"| {case} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
