import ipaddress
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import CommandError, CommandParser

from jobsite.http_client import OriginClient
from jobsite.ops.commands import CHANGED, UsageError
from jobsite.ops.commands import Command as BaseCommand
from vacancies.feed.client import FeedError, RemoteFeed
from vacancies.feed.mirror import MirrorError, MirrorTarget, open_target, update

POLL_SECONDS = 10
CHECKS_MAX = 5  # of a list that changes while it is read


class Command(BaseCommand):
    help = (
        "Keep a copy of the vacancies of a running service: in a SQLite file (.sqlite3), or in a "
        "folder, with a JSON file for each vacancy and index.json. Exit codes: 0 nothing changed; "
        "3 something did; 1 failure; 2 usage error."
    )
    requires_system_checks: list[str] = []  # it copies another service
    needs_migrations = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("base_url", help="URL of the service: https://jobs.example.com")
        parser.add_argument("target", type=Path, help="a file or a folder")
        parser.add_argument("--internal", action="store_true", help="the internal vacancies")
        parser.add_argument("--brand", default="", help="only those of the brand with this slug")
        parser.add_argument("--follow", action="store_true", help="go on until interrupted")
        parser.add_argument("--check", action="store_true", help="then compare it with the list")
        parser.add_argument("--token", default="", help="bearer token, for internal vacancies")
        parser.add_argument(
            "--allow-address",
            action="append",
            default=[],
            type=ipaddress.ip_network,
            help="private address or network that the service may have; may be repeated",
        )

    def handle(self, *, target: Path, **options: Any) -> None:
        feed = self._feed(options)
        try:
            copy = open_target(target)
        except MirrorError as error:
            raise CommandError(str(error)) from None
        if copy.source not in ("", feed.address):
            raise UsageError(f"{target} is a copy of {copy.source}, not of {feed.address}.")
        try:
            changed = update(copy, feed)
            differences = self._differences(copy, feed) if options["check"] else []
        except FeedError as error:
            raise CommandError(str(error)) from None
        self._report(changed, copy, differences)
        while options["follow"]:
            time.sleep(POLL_SECONDS)
            try:
                if changed := update(copy, feed):
                    self._report(changed, copy, [])
            except FeedError as error:  # try again: the copy is as it was
                self.stderr.write(str(error))
                copy.reload()
        if changed:
            raise SystemExit(CHANGED)

    def _feed(self, options: dict[str, Any]) -> RemoteFeed:
        base = options["base_url"].rstrip("/")
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise UsageError(f"The base URL must be that of a service; received {base!r}.")
        headers = {"Accept": "application/json"}
        if options["token"]:
            headers["Authorization"] = f"Bearer {options['token']}"
        path = "/v1/vacancies/internal" if options["internal"] else "/v1/vacancies"
        http = OriginClient(base, headers=headers, allowed=options["allow_address"])
        return RemoteFeed(http, path, options["brand"])

    def _differences(self, copy: MirrorTarget, feed: RemoteFeed) -> list[str]:
        """Compare the copy with the list, again if the list changed meanwhile."""
        found: list[str] = []
        for _ in range(CHECKS_MAX):
            listed, copied = feed.items(), {item["id"]: item for item in copy.items()}
            pks = sorted(listed.keys() | copied.keys())
            found = [f"{pk} differs" for pk in pks if listed.get(pk) != copied.get(pk)]
            if not update(copy, feed):
                break
        return found

    def _report(self, changed: int, copy: MirrorTarget, differences: list[str]) -> None:
        self.finish(
            f"{changed or 'No'} vacancies changed; the copy has {len(copy.ids())}.",
            ok=not differences,
            lines=differences,
            changed=changed,
            differences=differences,
        )
