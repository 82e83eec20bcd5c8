#!/usr/bin/env python
"""Measures what HAProxy between the site and PostgreSQL costs: CPU and latency of a list.

    python tests/benchmarks/haproxy.py --vacancies 1000 --rounds 5

The same list on three connections: the Unix socket of a single machine, TCP on loopback, and HAProxy on
loopback with the settings of deploy/cluster/haproxy.cfg. Warm: the response is cached, one row is read. Cold:
without the cache, other pages each time. The order changes with each round; figures are medians.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.benchmarks.servers import cpu_seconds, gunicorn, postgresql, running, wrk  # noqa: E402
from tests.servers import SYSTEM_ENV, Application, folder_with_logs, free_port  # noqa: E402

LIST = "/v1/vacancies"


def configuration(port: int, server: int) -> str:
    """HAProxy with the defaults of the cluster, and one server without checks."""
    text = (ROOT / "deploy/cluster/haproxy.cfg").read_text()
    defaults = text[text.index("defaults\n") : text.index("# DATABASE_URL")].replace("    log global\n", "")
    return f"{defaults}listen one\n    bind 127.0.0.1:{port}\n    server one 127.0.0.1:{server}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--vacancies", type=int, default=1000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--seconds", type=int, default=4, metavar="N", help="of each measurement")
    options = parser.parse_args()
    program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    if not program or not shutil.which("wrk"):
        sys.exit("haproxy or wrk is missing.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(folder_with_logs())
        url = stack.enter_context(postgresql(folder / "postgresql"))("postgres")
        server, port = int(url.rpartition("=")[2]), free_port()
        (folder / "haproxy.cfg").write_text(configuration(port, server))
        haproxy = stack.enter_context(
            running(program, "-db", "-f", folder / "haproxy.cfg", env={}, log=folder / "haproxy.log")
        )
        env = {
            "SECRET_KEY": "only-for-benchmarks-0123456789" * 2, "ALLOWED_HOSTS": "127.0.0.1",
            "RATE_LIMIT": "off", "LOG_REQUESTS": "off",
            "DJANGO_SETTINGS_MODULE": "jobsite.settings", "DATABASE_URL": url,
        }  # fmt: skip
        for words in (["migrate", "-v0"], ["generate_vacancies", str(options.vacancies)], ["render_items"]):
            command = [sys.executable, "manage.py", *words]
            subprocess.run(command, cwd=ROOT, env=SYSTEM_ENV | env, check=True, stdout=subprocess.DEVNULL)
        urls = {
            "Unix socket": url,
            "TCP on loopback": f"postgres://postgres@127.0.0.1:{server}/postgres",
            "HAProxy on loopback": f"postgres://postgres@127.0.0.1:{port}/postgres",
        }
        pages = max(1, options.vacancies // 40)
        paths = {"warm": [LIST], "cold": [f"{LIST}?page[number]={n}" for n in range(1, pages)]}
        apps = {}
        for kind, lines in paths.items():
            (folder / kind).write_text("\n".join(lines) + "\n")
            more = {"BODY_CACHE_MB": "0"} if kind == "cold" else {}
            for name, each in urls.items():
                app = Application(
                    folder / f"{kind} {name}", *gunicorn("jobsite.wsgi"),
                    env=env | more | {"DATABASE_URL": each}, probe=LIST,
                )  # fmt: skip
                apps[kind, name] = stack.enter_context(app)
        pid = int((folder / "postgresql/postmaster.pid").read_text().split()[0])
        found: dict[tuple[str, str], list[list[float]]] = {key: [] for key in apps}
        for number in range(options.rounds + 1):
            keys = list(apps)
            for key in keys[number % len(keys) :] + keys[: number % len(keys)]:
                before = cpu_seconds(haproxy.pid)
                one = wrk(apps[key], pid, options.seconds, folder / key[0], start=37 * number, status=200)
                if one["wrong"] or one["errors"]:
                    sys.exit(f"{key}: {one}")
                cpu = (one["cpu_app"], one["cpu_database"], cpu_seconds(haproxy.pid) - before)
                if number:  # the first round fills caches
                    per = [1000 * seconds / one["requests"] for seconds in cpu]
                    found[key].append([*per, sum(per), one["p50"], one["p99"]])
        print("| list | connection | site | PostgreSQL | HAProxy | CPU, ms per request | p50, ms | p99, ms |")
        print("|---|---|--:|--:|--:|--:|--:|--:|")
        for (kind, name), rows in found.items():
            middle = [median(column) for column in zip(*rows, strict=True)]
            cells = [f"{each:.3f}" for each in middle[:4]] + [f"{each:.1f}" for each in middle[4:]]
            print(f"| {kind} | {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
