"""Applicants of `tests.chaos.submissions`: clients that submit, and repeat what they got no 201 for."""

import hashlib
import http.client
import itertools
import json
import random
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

AGAIN = {409, 429, 502, 503, 504}  # statuses after which a client repeats the request with the same key
REPEATED = 0.1  # of the requests that got a 201 are sent once more
PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n"


@dataclass(frozen=True)
class Application:
    """What applicant `number` sends. Every third one sends a file."""

    number: int
    vacancy: int
    version: str

    @property
    def email(self) -> str:
        return f"applicant-{self.number}@example.org"

    @property
    def values(self) -> dict[str, str]:
        values = {"first_name": f"Mia {self.number}", "last_name": "Maes", "email": self.email}
        values |= {"permit": "no", "permit_from": "2026-05-01", "permit_note": f"Ik ben nr. {self.number} 🙂"}
        if self.number % 3 == 0:
            values["cv"] = "cv.pdf"
        return values | {"privacy_consent": "1"}

    @property
    def content(self) -> bytes:
        """The content of the file, or b""."""
        dice = random.Random(self.number)
        return PDF + dice.randbytes(dice.randrange(60_000)) if self.number % 3 == 0 else b""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def body(self) -> tuple[bytes, str]:
        """Return the body and its content type."""
        document = json.dumps({"version": self.version, "values": self.values}).encode()
        if not self.content:
            return document, "application/json"
        parts = [(b'name="application"', document), (b'name="cv"; filename="cv.pdf"', self.content)]
        form = b"Content-Disposition: form-data; "
        body = b"".join(b"--B7\r\n%s%s\r\n\r\n%s\r\n" % (form, name, each) for name, each in parts)
        return body + b"--B7--\r\n", "multipart/form-data; boundary=B7"


@dataclass
class Applicants:
    """`count` submissions by `clients` threads to the server at `port`. `references` has those that got a
    201, by number; `statuses` counts the responses, 0 is a lost connection."""

    port: int
    count: int
    clients: int
    vacancies: list[int]
    version: str
    within: float  # seconds after which the run is given up
    references: dict[int, str] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    mistakes: list[str] = field(default_factory=list)

    def start(self) -> None:
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._end = time.monotonic() + self.within
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(self.clients)]
        for thread in self._threads:
            thread.start()

    @property
    def is_done(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def application(self, number: int) -> Application:
        return Application(number, self.vacancies[number % len(self.vacancies)], self.version)

    def _run(self) -> None:
        client = _Client(self.port)
        while (number := next(self._numbers)) < self.count:
            application = self.application(number)
            reference = self._apply(client, application)
            if reference is None:
                return  # the time is over
            self.references[number] = reference
            if random.Random(-number).random() < REPEATED:
                again = self._apply(client, application)
                if again not in (reference, None):
                    self.mistakes.append(f"{number}: the repeated request got another application")

    def _apply(self, client: "_Client", application: Application) -> str | None:
        """Submit until there is a 201; return its reference."""
        body, kind = application.body()
        headers = {"Content-Type": kind, "Idempotency-Key": f"key-{application.number}"}
        path = f"/v1/vacancies/{application.vacancy}/applications"
        while time.monotonic() < self._end:
            status, answer = client.post(path, body, headers)
            with self._lock:
                self.statuses[status] += 1
            if status == 201:
                return json.loads(answer)["data"]["reference"]
            if status and status not in AGAIN:
                self.mistakes.append(f"{application.number}: {status} {answer[:300]!r}")
            time.sleep(random.uniform(0.1, 0.5))
        return None


class _Client:
    """A client that keeps its connection open."""

    def __init__(self, port: int) -> None:
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        try:
            self.link.request("POST", path, body, headers)
            response = self.link.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            with suppress(OSError):
                self.link.close()
            return 0, b""
