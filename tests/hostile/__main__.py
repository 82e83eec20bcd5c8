"""Sends hostile requests to servers as they are in production: the corpus and generated requests.

    python -m tests.hostile --requests 20000 --database postgresql --nginx

Exit code 1: something was wrong.
"""

import argparse
import os
import shutil
import sys
from contextlib import ExitStack
from typing import Any

from tests import servers
from tests.hostile.checker import Report, send_cases
from tests.hostile.client import Endpoint
from tests.hostile.content import ENV, Content, create
from tests.hostile.corpus import corpus
from tests.hostile.downloads import download_files
from tests.hostile.generated import send_generated
from tests.hostile.server import gunicorn, nginx


def main() -> int:
    text = (__doc__ or "").split("\n\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=text)
    parser.add_argument("--requests", type=int, default=20_000, help="number of generated requests")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--nginx", action="store_true", help="with deploy/nginx.conf in front")
    parser.add_argument("--only", default="", help="cases whose name begins like this")
    options = parser.parse_args()
    folder = servers.folder()
    with ExitStack() as stack:
        url = f"sqlite:///{folder / 'hostile.sqlite3'}"
        if options.database == "postgresql":
            url = stack.enter_context(servers.Postgres(folder / "postgres")).url
        os.environ.update(ENV, DATABASE_URL=url)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        content = create()
        server = stack.enter_context(gunicorn(folder, url))
        endpoint = Endpoint(server.port)
        if options.nginx:
            content.origin = "https://localhost"
            endpoint = Endpoint(stack.enter_context(nginx(folder, server.port)).port, is_tls=True)
        reports = run(content, endpoint, options)
    where = f"{options.database}, {'through nginx' if options.nginx else 'direct'}"
    print(f"\n{where}\n\n| corpus | requests | failed | 5xx | slowest |\n|---|---|---|---|---|")
    for report in reports:
        slowest = f"{report.slowest:.2f} s ({report.slowest_name[:60]})"
        failed = len(report.failed)
        print(
            f"| {report.name} | {report.requests:,} | {failed} | {report.server_errors} | "
            f"{slowest} |"
        )
    for report in reports:
        for detail in report.failed[:2000]:
            print(detail[:500])
    if not any(report.failed for report in reports):
        shutil.rmtree(folder, ignore_errors=True)
        return 0
    print(f"logs: {folder}")
    return 1


def run(content: Content, endpoint: Endpoint, options: Any) -> list[Report]:
    cases = [
        each for each in corpus(content) if each.name.startswith(options.only) or each.is_baseline
    ]
    public = [each for each in cases if each.group != "admin"]
    reports = [
        send_cases(public, content, endpoint, "single requests"),
        send_cases(
            [each for each in cases if each.group == "admin"], content, endpoint, "admin, signed in"
        ),
        download_files(content, endpoint),
    ]
    if not options.only:
        reports.append(send_generated(options.requests, options.seed, content, endpoint))
    return reports


if __name__ == "__main__":
    sys.exit(main())
