"""Applicants who send files and load an image while the object store fails. It has what was acknowledged."""

import hashlib
import http.client
import itertools
import threading
import time
from collections import Counter
from contextlib import closing
from typing import Any

from tests.chaos.applicants import Application
from tests.chaos.traffic import is_unavailable

COUNT = 16  # as many as the nodes have threads


class Applicants:
    """COUNT threads. `stored` has the hashes of the files that got a 201, by email."""

    numbers = itertools.count(step=3)  # of applications with a file

    def __init__(self, port: int, target: tuple[int, str, str], ended: threading.Event) -> None:
        self.port, self.target, self.ended = port, target, ended
        self.stored: dict[str, str] = {}
        self.statuses: Counter[int] = Counter()
        self.wrong: list[str] = []
        self.took: list[float] = []  # seconds
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(COUNT)]

    def run(self) -> None:
        vacancy, version, image = self.target
        while not self.ended.wait(0.2):
            number = next(self.numbers)
            sent = Application(number, vacancy, version)
            body, kind = sent.body()
            self.request(number, image, 200)
            if self.request(number, sent.path, 201, body, {"Content-Type": kind}):
                self.stored[sent.email] = sent.sha256

    def request(self, number: int, path: str, expected: int, body: Any = None, headers: Any = None) -> bool:
        """Send a request, each from another address, because applications are limited for each."""
        start, source = time.monotonic(), f"127.1.{number // 250 % 250}.{number % 250 + 1}"
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=60, source_address=(source, 0)
        )
        try:
            with closing(connection):
                connection.request(
                    "POST" if body else "GET", path, body, {"Host": "jobs.test", **(headers or {})}
                )
                response = connection.getresponse()
                status, found, text = response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException) as error:
            status, found, text = 0, {}, repr(error).encode()
        self.took.append(time.monotonic() - start)
        self.statuses[status] += 1
        if is_unavailable(status, found):
            self.ended.wait(1)  # half of Retry-After, to find more
        elif status != expected:
            self.wrong.append(f"{path}: {status} {text[:200].decode(errors='replace')}")
        return status == expected

    def lost(self) -> list[str]:
        """Read every file that was acknowledged, and compare its content."""
        from applications.models import SubmissionFile
        from applications.submissions.files import open_file

        rows = SubmissionFile.objects.filter(submission__application__email__in=self.stored)
        found = {}
        for row in rows.select_related("submission__application"):
            with open_file(row) as file:
                found[row.submission.application.email] = hashlib.sha256(file.read()).hexdigest()
        return [
            f"{email}: lost after its 201" for email in self.stored if found.get(email) != self.stored[email]
        ]

    def cell(self) -> str:
        refused = self.statuses[503]
        return f"{len(self.stored)} ({refused} refused, {max(self.took, default=0):.1f} s)"
