"""Measures what HAProxy between the site and PostgreSQL costs: CPU and latency of a list.

    python -m tests.benchmarks.haproxy --vacancies 1000 --rounds 5

The same list on three connections: the Unix socket of a single machine, TCP on loopback, and
HAProxy on loopback with the settings of deploy/cluster/haproxy.cfg. Warm: the response is cached,
one row is read. Cold: without the cache, other pages each time. The order changes with each round;
figures are medians.
"""

import os
import shutil
import sys
from contextlib import ExitStack
from statistics import median

from tests.benchmarks.servers import (
    ENV,
    Program,
    cpu_seconds,
    gunicorn,
    options_of,
    postgresql,
    run_script,
    wrk,
)
from tests.chaos.program import table
from tests.servers import ROOT, Application, folder_with_logs, free_port

LIST = "/v1/vacancies"
HEAD = (
    "list",
    "connection",
    "site",
    "PostgreSQL",
    "HAProxy",
    "CPU, ms per request",
    "p50, ms",
    "p99, ms",
)


def configuration(port: int, server: int) -> str:
    """HAProxy with the defaults of the cluster, and one server without checks."""
    text = (ROOT / "deploy/cluster/haproxy.cfg").read_text()
    defaults = text[text.index("defaults\n") : text.index("# DATABASE_URL")].replace(
        "    log global\n", ""
    )
    return f"{defaults}listen one\n    bind 127.0.0.1:{port}\n    server one 127.0.0.1:{server}\n"


def main() -> None:
    options = options_of(__doc__, vacancies=1000, rounds=5, seconds=4, keeps=False).parse_args()
    program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin") or sys.exit(
        "haproxy is missing."
    )
    with ExitStack() as stack:
        folder = stack.enter_context(folder_with_logs())
        url, pid = stack.enter_context(postgresql(folder / "postgresql", "haproxy"))
        server, port = int(url.rpartition("=")[2]), free_port()
        (folder / "haproxy.cfg").write_text(configuration(port, server))
        haproxy = Program(folder / "haproxy", program, "-db", "-f", folder / "haproxy.cfg")
        haproxy_pid = stack.enter_context(haproxy).pids()[0]
        for words in (
            ["migrate", "-v0"],
            ["generate_vacancies", str(options.vacancies)],
            ["render_items"],
        ):
            run_script(ENV | {"DATABASE_URL": url}, "manage.py", *words)
        urls = {
            "Unix socket": url,
            "TCP on loopback": f"postgres://postgres@127.0.0.1:{server}/haproxy",
            "HAProxy on loopback": f"postgres://postgres@127.0.0.1:{port}/haproxy",
        }
        pages = [f"{LIST}?page[number]={n}" for n in range(1, max(2, options.vacancies // 40))]
        apps = {}
        for kind, lines, cache in (
            ("warm", [LIST], {}),
            ("cold", pages, {"RESPONSE_CACHE_MB": "0"}),
        ):
            (folder / kind).write_text("\n".join(lines) + "\n")
            for name, each in urls.items():
                env = ENV | cache | {"DATABASE_URL": each}
                app = Application(
                    folder / f"{kind} {name}", *gunicorn("jobsite.wsgi"), env=env, probe=LIST
                )
                apps[kind, name] = stack.enter_context(app)
        found: dict[tuple[str, str], list[list[float]]] = {key: [] for key in apps}
        for number in range(options.rounds + 1):
            keys = list(apps)
            for key in keys[number % len(keys) :] + keys[: number % len(keys)]:
                before = cpu_seconds(haproxy_pid)
                one = wrk(
                    apps[key], pid, options.seconds, folder / key[0], start=37 * number, status=200
                )
                if one["wrong"] or one["errors"]:
                    sys.exit(f"{key}: {one}")
                cpu = (one["cpu_app"], one["cpu_database"], cpu_seconds(haproxy_pid) - before)
                if number:  # the first round fills caches
                    per = [1000 * seconds / one["requests"] for seconds in cpu]
                    found[key].append([*per, sum(per), one["p50"], one["p99"]])
    middle = {
        key: [median(column) for column in zip(*rows, strict=True)] for key, rows in found.items()
    }
    cells = {
        key: [*(f"{each:.3f}" for each in row[:4]), f"{row[4]:.1f}", f"{row[5]:.1f}"]
        for key, row in middle.items()
    }
    print(table(HEAD, [[*key, *row] for key, row in cells.items()]))


if __name__ == "__main__":
    main()
