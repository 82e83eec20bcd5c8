"""Files and folders that hold personal data: private, locked, and removed after a crash."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

PART = ".part"  # suffix of incomplete files
STAGING = f".jobsite-restore-*{PART}"  # temporary folders of `restore`
CHUNK = 1 << 20  # bytes

Add = Callable[[str, IO[bytes], float], None]  # adds a part: name, content, time of change
Progress = Callable  # shows a progress bar for an iterable


class BackupError(Exception):
    """The archive cannot be written or used; the message says why."""


def printable(value: object) -> str:
    """Return untrusted `value` as one line of ASCII for a terminal."""
    text = ascii(str(value))[1:-1]
    return text if len(text) <= 200 else f"{text[:200]}..."


def digest(file: Any) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock `folder`: two backups would remove each other's files.
    Raises BackupError if it is locked.
    """
    number = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"Another backup is being written to {folder}.") from None
        yield
    finally:
        os.close(number)


@contextmanager
def staging(parent: Path) -> Iterator[Path]:
    """Create a temporary folder in `parent`, and remove those of killed processes."""
    for leftover in parent.glob(STAGING):
        with suppress(OSError, BackupError), locked(leftover):  # a living process holds its lock
            shutil.rmtree(leftover)
    created, (prefix, suffix) = Path(tempfile.mkdtemp(dir=parent, prefix=".")), STAGING.split("*")
    with locked(created):
        # Only a locked folder gets the name by which other processes find leftovers.
        folder = created.rename(parent / f"{prefix}{created.name.removeprefix('.')}{suffix}")
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def create_folder(folder: Path, undo: ExitStack, mode: int = 0o777) -> None:
    """Create `folder` with `mode`, and its parents. `undo` removes the new ones, if they are
    empty."""
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode if missing == folder else 0o777, exist_ok=True)
        undo.callback(_remove_if_empty, missing)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
