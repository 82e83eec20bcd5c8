"""Applicants: clients that submit, and repeat what they got no 201 for. And the site that takes
their applications.
"""

import hashlib
import http.client
import itertools
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import Postgres, copy_template

# Statuses after which a client repeats the request with the same key.
AGAIN = {409, 429, 502, 503, 504}
REPEATED = 0.1  # of the requests that got a 201 are sent once more
VACANCIES = 100
TITLE = "Takes applications"
PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n"


@dataclass(frozen=True)
class Application:
    """What applicant `number` sends. Every third one sends a file."""

    number: int
    vacancy: int
    version: str

    @property
    def path(self) -> str:
        return f"/v1/vacancies/{self.vacancy}/applications"

    @property
    def email(self) -> str:
        return f"applicant-{self.number}@example.org"

    @property
    def values(self) -> dict[str, str]:
        values = {"first_name": f"Mia {self.number}", "last_name": "Maes", "email": self.email}
        values |= {
            "permit": "no",
            "permit_from": "2026-05-01",
            "permit_note": f"Ik ben nr. {self.number} 🙂",
        }
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
class Site:
    """The ids of the vacancies that take applications, and the version of their form."""

    vacancies: list[int]
    version: str

    def application(self, number: int) -> Application:
        return Application(number, self.vacancies[number % len(self.vacancies)], self.version)


def environment(path: Path, postgres: Postgres | None) -> dict[str, str]:
    """The variables of a site with its files in `path`."""
    return {
        "DATABASE_URL": postgres.url if postgres else f"sqlite:///{path}/submissions.sqlite3",
        "PRIVATE_ROOT": str(path / "private"),
        "MEDIA_ROOT": str(path / "media"),
        "STATIC_ROOT": str(path / "static"),
        "SECRET_KEY": "only-for-this-test-" * 4,
        "ALLOWED_HOSTS": "127.0.0.1,testserver",
        "RATE_LIMIT": "off",
        "APPLY_PROOF": "off",
        "LOG_REQUESTS": "off",
        "DJANGO_SETTINGS_MODULE": "jobsite.settings",
    }


def create() -> Site:
    """Set Django up, and create VACANCIES in an empty database."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    if connection.vendor == "sqlite":
        copy_template(Path(connection.settings_dict["NAME"]))
    call_command("migrate", verbosity=0)
    site = open_vacancies(VACANCIES)
    connection.close()
    return site


def open_vacancies(count: int) -> Site:
    """Return `count` vacancies that take applications; create them unless they exist."""
    from tests.applications.submissions import sending
    from vacancies.models import Vacancy

    pks = list(Vacancy.objects.filter(title=TITLE).order_by("pk").values_list("pk", flat=True))
    if not pks:
        form = sending.make_form()
        pks = [sending.make_open_vacancy(form, title=TITLE).pk for _ in range(count)]
    return Site(pks, sending.served_version(Vacancy.objects.with_form().get(pk=pks[0])))


@dataclass
class Applicants:
    """`count` submissions by `clients` threads to the server at `port`. `references` has those that
    got a 201, by number; `statuses` counts the responses, 0 is a lost connection.
    """

    port: int
    count: int
    clients: int
    site: Site
    within: float  # seconds after which the run is given up
    first: int = 0  # number of the first applicant
    pause: float = 0.0  # seconds between two submissions of a client
    references: dict[int, str] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    mistakes: list[str] = field(default_factory=list)

    def start(self) -> None:
        self._numbers = itertools.count(self.first)
        self._lock = threading.Lock()
        self._end = time.monotonic() + self.within
        self._threads = [
            threading.Thread(target=self._run, daemon=True) for _ in range(self.clients)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Send no more. What got no 201 is not repeated."""
        self._end = 0.0
        for thread in self._threads:
            thread.join(120)
            assert not thread.is_alive(), "an applicant still waits 120 s after the end"

    @property
    def is_done(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        # Applications are limited for each address. The connection stays open.
        source = ".".join(["127", *(str(random.randrange(1, 255)) for _ in range(3))])
        client = http.client.HTTPConnection("127.0.0.1", self.port, 60, (source, 0))
        while (number := next(self._numbers)) < self.first + self.count:
            time.sleep(self.pause)
            application = self.site.application(number)
            reference = self._apply(client, application)
            if reference is None:
                return  # the time is over
            self.references[number] = reference
            if random.Random(-number).random() < REPEATED:
                again = self._apply(client, application)
                if again not in (reference, None):
                    self.mistakes.append(f"{number}: the repeated request got another application")

    def _apply(self, client: http.client.HTTPConnection, application: Application) -> str | None:
        """Submit until there is a 201; return its reference."""
        body, kind = application.body()
        headers = {"Content-Type": kind, "Idempotency-Key": f"key-{application.number}"}
        while time.monotonic() < self._end:
            try:
                client.request("POST", application.path, body, headers)
                response = client.getresponse()
                status, answer = response.status, response.read()
            except (OSError, http.client.HTTPException):
                client.close()
                status, answer = 0, b""
            with self._lock:
                self.statuses[status] += 1
            if status == 201:
                return json.loads(answer)["data"]["reference"]
            if status and status not in AGAIN:
                self.mistakes.append(f"{application.number}: {status} {answer[:300]!r}")
            time.sleep(random.uniform(0.1, 0.5))
        return None
