"""Documents as long as the site is large, such as its sitemap: files that all processes of a node serve.

A document is made once for a revision and the time until which it is valid, in a thread of its own, while no
other process makes one of its kind. A request waits for it or gets a 503: it never makes one itself, which
takes seconds. The folder is below that of temporary files (TMPDIR), and of this user alone.
"""

import gzip
import json
import logging
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.db import connections
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from xxhash import xxh3_128

from jobsite.api import caching
from jobsite.db.locks import FileLock
from jobsite.serving.response_cache import accepts_gzip
from jobsite.serving.revision import read_state, snapshot

WAIT = 50.0  # seconds that a request waits, and a maker for another one; nginx waits for 60
RETRY_AFTER = "10"  # seconds
ROOT = Path(tempfile.gettempdir())
KEPT = 24 * 3600  # seconds, then an unchanged document is made again
SIZE_MAX = 2 * 2**30  # bytes of all files: a site may have many brands and hosts
LARGE = 2**20  # bytes; what is smaller fits into the buffers of a connection
TURN, PAUSE = 0.02, 0.01  # seconds that a maker works, and then lets other threads of the process work
SUFFIXES = PLAIN, ZIPPED = ".xml", ".gz"

logger = logging.getLogger(__name__)


class NotReadyError(Exception):
    """The document is not made yet, or cannot be: a client may try again after RETRY_AFTER seconds."""


@dataclass
class Stored:
    """The files of a document: the plain one and the compressed one, and what they show."""

    revision: int
    since: float
    until: float
    digest: str  # of the plain text
    sizes: dict[str, int]  # bytes, by suffix

    def is_valid(self, revision: int, at: float) -> bool:
        """Whether it shows what is public at the time `at`, or since then: another request that came a little
        later may have begun it."""
        return self.revision >= revision and self.since <= at + WAIT and at < self.until


@dataclass
class Document:
    """A document at the time `now`: what `texts` yields. Until the time that `until` returns, the clock
    changes nothing in it. Both read the database. `key` is what it depends on besides that and settings."""

    kind: str
    key: tuple[object, ...]
    now: datetime
    until: Callable[[], datetime | None]
    texts: Callable[[], Iterator[str]]
    content_type: str = "application/xml; charset=utf-8"

    def respond(self, request: HttpRequest) -> HttpResponseBase:
        """Return the document, or 304. Raises NotReadyError."""
        if connections["default"].in_atomic_block:  # what it has changed has no revision yet
            response = HttpResponse("".join(self.texts()), content_type=self.content_type)
            caching.public(response, now=self.now, until=self.until())
            return response
        revision = read_state().number
        stored = self.find(revision) or self.wait(revision)
        suffix = ZIPPED if accepts_gzip(request.META) else PLAIN
        response: HttpResponseBase = HttpResponse(content_type=self.content_type)
        response["ETag"] = f'W/"{stored.digest}"'
        response["Content-Length"] = str(stored.sizes[suffix])
        if suffix == ZIPPED:
            response["Content-Encoding"] = "gzip"
        until = datetime.fromtimestamp(stored.until, UTC) if stored.until < float("inf") else None
        caching.public(response, now=self.now, until=until)
        patch_vary_headers(response, ["Accept-Encoding"])
        request.META.pop("HTTP_IF_UNMODIFIED_SINCE", None)  # ignored without Last-Modified
        changed = get_conditional_response(request, etag=response["ETag"], response=response)
        if request.method == "HEAD" or changed is not response:
            return changed
        with ExitStack() as slot:  # a client that reads slowly keeps it
            if stored.sizes[suffix] > LARGE:
                slot.enter_context(_slot())
            try:
                streamed = FileResponse(self.path(stored, suffix).open("rb"))
            except OSError as error:  # it was replaced meanwhile
                raise NotReadyError from error
            streamed.headers = response.headers
            streamed._resource_closers.append(slot.pop_all().close)  # type: ignore[attr-defined]
            return streamed

    # --- Finding and making --------------------------------------------------------------------

    @property
    def stem(self) -> str:
        """The beginning of the names of its files."""
        database = connections["default"].settings_dict
        identity = server(), *(database[name] for name in ("HOST", "PORT", "NAME")), self.kind, *self.key
        return sha256(repr(identity).encode()).hexdigest()[:32]

    def find(self, revision: int) -> Stored | None:
        """Return what is stored, if it is valid at the time of this document and at the revision or later."""
        with suppress(OSError, ValueError, TypeError):
            stored = Stored(**json.loads((folder() / f"{self.stem}.json").read_bytes()))
            sizes = {suffix: self.path(stored, suffix).stat().st_size for suffix in SUFFIXES}
            is_complete = sizes == stored.sizes  # not after a crash, or a program that cleans /tmp
            return stored if is_complete and stored.is_valid(revision, self.now.timestamp()) else None
        return None

    def path(self, stored: Stored, suffix: str) -> Path:
        return folder() / f"{self.stem}-{stored.digest}{suffix}"

    def wait(self, revision: int) -> Stored:
        """Wait until it is made. Raises NotReadyError after WAIT."""
        with _slot():
            deadline = time.monotonic() + WAIT
            is_own = False
            while not is_own:  # another one may have been begun before a change that this request has to show
                with _lock:
                    is_own = self.stem not in _being_made
                    if is_own:
                        _being_made[self.stem] = threading.Event()
                        args = revision, _being_made[self.stem]
                        threading.Thread(target=self.make, args=args, daemon=True).start()
                    made = _being_made[self.stem]
                is_own |= not made.wait(deadline - time.monotonic())
                if stored := self.find(revision):
                    return stored
        raise NotReadyError

    def make(self, revision: int, made: threading.Event) -> None:
        """Make and store it, unless another process does. Sets `made` at the end, also after a failure."""
        try:
            lock, deadline = FileLock(folder() / f"{self.kind}.lock"), time.monotonic() + WAIT
            while not lock.acquire():  # the kernel releases that of a killed process
                if time.monotonic() > deadline:
                    return
                time.sleep(0.05)
            try:
                if not self.find(revision):
                    self.store()
            finally:
                lock.release()
        except Exception as error:
            logger.error("A %s document could not be made: %s", self.kind, error or type(error).__name__)
        finally:
            connections.close_all()
            with _lock:
                del _being_made[self.stem]
            made.set()

    def store(self) -> None:
        """Write the files, which others see when they are complete, and remove old ones. Raises OSError."""
        new = {suffix: folder() / f"{self.stem}-{os.getpid()}{suffix}.new" for suffix in (*SUFFIXES, ".json")}
        try:
            with snapshot() as state, new[PLAIN].open("wb") as plain, new[ZIPPED].open("wb") as raw:
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
            sizes = {suffix: new[suffix].stat().st_size for suffix in SUFFIXES}
            end = until.timestamp() if until else float("inf")
            stored = Stored(state.number, self.now.timestamp(), end, digest.hexdigest(), sizes)
            new[".json"].write_text(json.dumps(asdict(stored)))
            for suffix in SUFFIXES:
                new[suffix].replace(self.path(stored, suffix))
            new[".json"].replace(folder() / f"{self.stem}.json")
        finally:
            for path in new.values():  # of a failure, such as a full disk
                path.unlink(missing_ok=True)
        remove_old(self.stem, stored.digest)


# Of the threads of a process, half may wait for a document or send a large one: others go on with the site.
_slots = threading.BoundedSemaphore(max(1, settings.WEB_THREADS // 2))
_lock = threading.Lock()
_being_made: dict[str, threading.Event] = {}  # by stem


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
    """Return the folder of the files. Raises OSError if it cannot be written, or others can write to it."""
    path = ROOT / f"jobsite-{os.geteuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.geteuid() or found.st_mode & 0o777 != 0o700 or path.is_symlink():
        raise PermissionError(f"{path} has to be a folder of this user alone (0700).")
    return path


@cache
def server() -> str:
    """Return what all processes of a running server have in common: the process that started them. Another
    release, other settings and a restored database have another server."""
    parent = os.getppid()
    with suppress(OSError):  # Linux
        return f"{parent}.{Path(f'/proc/{parent}/stat').read_text().rpartition(')')[2].split()[19]}"
    return str(parent)


def remove_old(stem: str, digest: str) -> None:
    """Remove the earlier files of a document, what is older than KEPT, and the oldest above SIZE_MAX."""
    found: list[tuple[float, int, Path]] = []
    for path in folder().iterdir():
        with suppress(OSError):  # another process has removed it
            state = path.stat()
            found.append((state.st_mtime, state.st_size, path))
    total = 0
    for changed_at, size, path in sorted(found, reverse=True):
        total += size
        is_earlier = path.name.startswith(f"{stem}-") and digest not in path.name
        is_old = changed_at < time.time() - KEPT or total > SIZE_MAX
        if (is_earlier or is_old) and path.suffix != ".lock":
            path.unlink(missing_ok=True)
