"""The corpus, the twins and the product against servers as they are in production.

    python -m tests.hostile --requests 20000 --database postgresql --nginx

starts gunicorn with deploy/gunicorn.conf.py, nginx before it where asked for, on a database of its own, and
prints how it went; exit status 1 if anything was wrong.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests import servers
from tests.hostile.corpus import HOST, corpus, request, twins
from tests.hostile.judge import Door, Tally, compare, exchange, fire
from tests.hostile.product import fire_product
from tests.hostile.site import ENVIRON, Site


class Gunicorn(servers.Gunicorn):
    """The application, which knows itself by another name than its address."""

    def __init__(self, place: Path, env: dict[str, str], workers: int = 2) -> None:
        more = {"WEB_CONCURRENCY": str(workers), "PYTHONWARNINGS": "ignore"}
        super().__init__(place, ENVIRON | env | more)

    def is_up(self) -> bool:
        with suppress(OSError):
            return exchange(Door(self.port), request("/v1/filters")).status == 200
        return False


@contextmanager
def database(kind: str, place: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{place / 'hostile.sqlite3'}"
        return
    server = servers.Postgres(place / "postgres")
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@contextmanager
def front(place: Path, node: int) -> Iterator[Door]:
    """nginx with deploy/nginx.conf, but for where things are and how many requests a client may send."""
    from tests.deploy.conftest import Nginx

    changes = {"server_name jobs.example.com;": f"server_name {HOST};", "rate=50r/s": "rate=100000r/s"}
    nginx = Nginx(place / "nginx", node, changes)
    nginx.start()
    try:
        yield Door(nginx.port, is_tls=True)
    finally:
        nginx.stop()


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__.split("\n")[0])
    asked.add_argument("--requests", type=int, default=20_000, help="of the product")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    asked.add_argument("--nginx", action="store_true", help="with deploy/nginx.conf in front")
    asked.add_argument("--only", default="", help="lines whose name begins so")
    options = asked.parse_args()
    place = servers.folder()
    with database(options.database, place) as url:
        os.environ.update(ENVIRON, DATABASE_URL=url)
        import django

        django.setup()
        from django.core.management import call_command

        from tests.hostile import site as sites

        call_command("migrate", verbosity=0)
        site = sites.make()
        server = Gunicorn(place / "gunicorn", {"DATABASE_URL": url})
        server.start()
        try:
            if options.nginx:
                with front(place, server.port) as door:
                    site.origin = "https://localhost"
                    tallies = run(site, door, options)
            else:
                tallies = run(site, Door(server.port), options)
        finally:
            server.stop()
    where = f"{options.database}, {'through nginx' if options.nginx else 'direct'}"
    print(f"\n{where}\n\n| corpus | requests | failed | 5xx | slowest |\n|---|---|---|---|---|")
    for tally in tallies:
        slowest = f"{tally.slowest:.2f} s ({tally.slowest_name[:60]})"
        print(f"| {tally.name} | {tally.requests:,} | {len(tally.failed)} | {tally.failures} | {slowest} |")
    for tally in tallies:
        for failed in tally.failed[:2000]:
            print(failed[:500])
    if not any(tally.failed for tally in tallies):
        shutil.rmtree(place, ignore_errors=True)
        return 0
    print(f"logs: {place}")
    return 1


def run(site: Site, door: Door, options: Any) -> list[Tally]:
    lines = [line for line in corpus(site) if line.name.startswith(options.only) or " none " in line.name]
    found = [
        fire([line for line in lines if line.group != "workplace"], site, door, "single requests"),
        fire([line for line in lines if line.group == "workplace"], site, door, "the workplace, signed in"),
    ]
    if not options.only:
        found += [compare(twins(site), site, door), fire_product(options.requests, options.seed, site, door)]
    return found


if __name__ == "__main__":
    sys.exit(main())
