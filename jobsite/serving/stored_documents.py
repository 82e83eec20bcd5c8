"""Documents as long as the site is large, such as its sitemap: files that all processes of a node
serve.

A document is made once for a revision and the time until which it is valid, by one request at a
time for each kind. The others wait for it, or get a 503. The folder is below that of temporary
files (TMPDIR), and of this user alone.
"""

import gzip
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connections
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from xxhash import xxh3_128

from jobsite.api import caching
from jobsite.db.locks import FileLock
from jobsite.serving.response_cache import accepts_gzip
from jobsite.serving.revision import read_state, snapshot

# Seconds that a request waits for another one that makes a document; nginx waits for 60.
WAIT = 50.0
RETRY_AFTER = "10"  # seconds
ROOT = Path(tempfile.gettempdir())
KEPT = 24 * 3600  # seconds, then an unchanged document is made again
LARGE = 2**20  # bytes; what is smaller fits into the buffers of a connection
# Seconds that a maker works, and then lets other threads of the process work.
TURN, PAUSE = 0.02, 0.01
PLAIN, ZIPPED = ".xml", ".gz"
CONTENT_TYPE = "application/xml; charset=utf-8"

logger = logging.getLogger(__name__)
# Of the threads of a process, half may wait for a document or send a large one: others go on with
# the site.
_slots = threading.BoundedSemaphore(max(1, settings.WEB_THREADS // 2))


class NotReadyError(Exception):
    """The document is not made yet, or cannot be:
    a client may try again after RETRY_AFTER seconds.
    """


class StoredDocument(NamedTuple):
    """A stored document. The name of its files, one of them compressed,
    consists of these values.
    """

    stem: str
    revision: int
    since: float
    until: float
    digest: str  # of the plain text

    def path(self, suffix: str) -> Path:
        return folder() / ("_".join(map(str, self)) + suffix)

    def respond(self, request: HttpRequest) -> HttpResponseBase:
        """Raises OSError if it was replaced meanwhile, and NotReadyError."""
        path = self.path(ZIPPED if (is_zipped := accepts_gzip(request.META)) else PLAIN)
        size = path.stat().st_size
        headers = {
            "ETag": f'W/"{self.digest}"',
            "Vary": "Accept-Encoding",
            "Content-Length": str(size),
        }
        if is_zipped:
            headers["Content-Encoding"] = "gzip"
        else:  # GZipMiddleware would compress it for "gzip;q=0", each time
            request.META.pop("HTTP_ACCEPT_ENCODING", None)
        if request.method == "HEAD" or caching.is_unchanged(request.META, headers["ETag"]):
            # A middleware makes the 304.
            return HttpResponse(headers=headers, content_type=CONTENT_TYPE)
        with ExitStack() as opened:
            if size > LARGE:  # a client that reads slowly keeps a thread
                opened.enter_context(_slot())
            response = FileResponse(path.open("rb"), headers=headers, content_type=CONTENT_TYPE)
            response._resource_closers.append(opened.pop_all().close)  # type: ignore[attr-defined]
        del response["Content-Disposition"]
        return response


@dataclass
class Document:
    """A document at the time `now`: what `texts` yields. Until the time that `until` returns, the
    clock changes nothing in it. Both read the database. `key` is what it depends on besides that
    and settings.
    """

    kind: str
    key: tuple[object, ...]
    now: datetime
    until: Callable[[], datetime | None]
    texts: Callable[[], Iterator[str]]

    def respond(self, request: HttpRequest) -> HttpResponseBase:
        """Return the document. Raises NotReadyError."""
        response: HttpResponseBase
        if connections["default"].in_atomic_block:  # what it has changed has no revision yet
            response, until = (
                HttpResponse("".join(self.texts()), content_type=CONTENT_TYPE),
                self.until(),
            )
        else:
            try:
                revision = read_state().number
                stored = self.find(revision) or self.make(revision)
                response = stored.respond(request)
            except OSError as error:  # such as a full disk
                logger.error("A %s document could not be made or read: %s", self.kind, error)
                raise NotReadyError from error
            until = (
                datetime.fromtimestamp(stored.until, UTC) if stored.until < float("inf") else None
            )
        caching.public(response, now=self.now, until=until)
        return response

    @property
    def stem(self) -> str:
        """The beginning of the names of its files."""
        database = connections["default"].settings_dict
        identity = (
            server(),
            *(database[name] for name in ("HOST", "PORT", "NAME")),
            self.kind,
            *self.key,
        )
        return sha256(repr(identity).encode()).hexdigest()[:32]

    def find(self, revision: int) -> StoredDocument | None:
        """Return what is stored, if it shows what is public at `now` or since then: another request
        that came a little later may have begun it.
        """
        at = self.now.timestamp()
        for path in folder().glob(f"{self.stem}_*{ZIPPED}"):
            stem, its_revision, since, until, digest = path.name.removesuffix(ZIPPED).split("_")
            found = StoredDocument(stem, int(its_revision), float(since), float(until), digest)
            is_valid = found.revision >= revision and found.since <= at + WAIT and at < found.until
            if is_valid and found.path(PLAIN).exists():
                return found
        return None

    def make(self, revision: int) -> StoredDocument:
        """Make and store it, unless another request does meanwhile.
        Raises NotReadyError after WAIT.
        """
        lock, deadline = FileLock(folder() / f"{self.kind}.lock"), time.monotonic() + WAIT
        with _slot():
            while not lock.try_lock():  # the kernel releases that of a killed process
                if time.monotonic() > deadline:
                    raise NotReadyError
                time.sleep(0.05)
            try:
                return self.find(revision) or self.store()
            finally:
                lock.release()

    def store(self) -> StoredDocument:
        """Write the files, which others see when they are complete, and remove old ones."""
        new = [folder() / f"{self.stem}-{os.getpid()}{suffix}.new" for suffix in (PLAIN, ZIPPED)]
        try:
            with snapshot() as state, new[0].open("wb") as plain, new[1].open("wb") as raw:
                assert state
                until, digest, turn = self.until(), xxh3_128(), time.monotonic()
                with gzip.GzipFile("", "wb", 1, raw, mtime=0) as zipped:
                    for text in self.texts():
                        content = text.encode()
                        digest.update(content)
                        plain.write(content)
                        zipped.write(content)
                        if time.monotonic() > turn + TURN:
                            time.sleep(PAUSE)
                            turn = time.monotonic()
            end = until.timestamp() if until else float("inf")
            stored = StoredDocument(
                self.stem, state.number, self.now.timestamp(), end, digest.hexdigest()
            )
            new[0].replace(stored.path(PLAIN))
            new[1].replace(stored.path(ZIPPED))
        finally:
            for path in new:
                path.unlink(missing_ok=True)
        with suppress(FileNotFoundError):  # another process has removed it
            remove_old(stored)
        return stored


@contextmanager
def _slot() -> Iterator[None]:
    """Raise NotReadyError if none is free."""
    if not _slots.acquire(blocking=False):
        raise NotReadyError
    try:
        yield
    finally:
        _slots.release()


def folder() -> Path:
    """Return the folder of the files.
    Raises OSError if it cannot be written, or others can write to it.
    """
    path = ROOT / f"jobsite-{os.geteuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o777 != 0o700 or path.is_symlink():
        raise PermissionError(f"{path} has to be a folder of this user alone (0700).")
    return path


@cache
def server() -> tuple[int, str]:
    """Return what the processes of a running server have in common: the process that started them.
    Another release, other settings and a restored database have another server.
    """
    parent = os.getppid()
    status = Path(f"/proc/{parent}/stat")  # on Linux; it contains the time of the start
    return parent, status.read_text().rpartition(")")[2].split()[19] if status.exists() else ""


def remove_old(stored: StoredDocument) -> None:
    """Remove earlier files of a document, and what is older than KEPT."""
    for path in folder().iterdir():
        is_earlier = path.name.startswith(f"{stored.stem}_") and path.stem != stored.path("").name
        is_old = path.stat().st_mtime < time.time() - KEPT
        if (is_earlier or is_old) and path.suffix != ".lock":
            path.unlink(missing_ok=True)
