"""Copies of a list that follow its feed: in a SQLite file, or in a folder of JSON files.

A copy always is the list as it was at one moment: what a page changes is visible to readers when
the last page is applied, or not at all.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from jobsite.types import JsonObject
from vacancies.feed.client import RemoteFeed

INDEX = "index.json"
_FILE = re.compile(r"\.?[0-9]+\.json(\.new)?|\.index\.json\.new")
_TABLES = """CREATE TABLE IF NOT EXISTS vacancy (id INTEGER PRIMARY KEY, item TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS source (address TEXT NOT NULL, next TEXT NOT NULL);"""


class MirrorError(Exception):
    """The target is not a copy, or one of something else."""


def open_target(path: Path) -> "MirrorTarget":
    """A file with the ending .sqlite3 or .db, else a folder. Raises MirrorError."""
    is_file = path.is_file() or path.suffix in (".sqlite3", ".sqlite", ".db")
    try:
        return SqliteTarget(path) if is_file and not path.is_dir() else FolderTarget(path)
    except (OSError, ValueError, KeyError, sqlite3.Error) as error:
        raise MirrorError(f"{path}: cannot be read as a copy ({error}).") from error


def update(target: "MirrorTarget", feed: RemoteFeed) -> int:
    """Apply what changed. Return the number of vacancies that did. Raises FeedError."""
    start, before = target.following or feed.start, target.ids()
    kept = set(before) if start != feed.start else set()
    changed: set[int] = set()
    following = start
    for page, following in feed.follow(start, kept.clear):  # noqa: B007 - the last one is used
        for change in page["data"]:
            if change["change"] == "remove":
                kept.discard(change["id"])
                continue
            kept.add(change["id"])
            if target.put(change["vacancy"]):
                changed.add(change["id"])
    for pk in (before | changed) - kept:
        target.remove(pk)
    if following != target.following or before != kept:
        target.commit(feed.address, following)
    return len((changed & kept) | (before - kept))


class SqliteTarget:
    """Rows and cursor, in one transaction. `source` is the address of the list, "" for a new copy,
    `following` where to read on.
    """

    source: str
    following: str

    def __init__(self, path: Path) -> None:
        self.rows = sqlite3.connect(path, isolation_level="IMMEDIATE")
        self.rows.executescript(_TABLES)
        self.reload()

    def reload(self) -> None:
        """Forget what is not committed."""
        self.rows.rollback()
        found = self.rows.execute("SELECT address, next FROM source").fetchone()
        self.source, self.following = found or ("", "")

    def ids(self) -> set[int]:
        return {pk for (pk,) in self.rows.execute("SELECT id FROM vacancy")}

    def put(self, item: JsonObject) -> bool:
        """Return whether it is new or another one."""
        written = self.rows.execute(
            "INSERT INTO vacancy (id, item) VALUES (?, ?) "
            "ON CONFLICT (id) DO UPDATE SET item = excluded.item WHERE item <> excluded.item",
            (item["id"], _text(item)),
        )
        return written.rowcount > 0

    def remove(self, pk: int) -> None:
        self.rows.execute("DELETE FROM vacancy WHERE id = ?", (pk,))

    def commit(self, source: str, following: str) -> None:
        self.rows.execute("DELETE FROM source")
        self.rows.execute("INSERT INTO source VALUES (?, ?)", (source, following))
        self.rows.commit()
        self.source, self.following = source, following

    def items(self) -> Iterator[JsonObject]:
        return (json.loads(item) for (item,) in self.rows.execute("SELECT item FROM vacancy"))


class FolderTarget:
    """A file for each vacancy, and an index of them in the order of the list. A file is complete
    before the index names it, and deleted after the index names it no more.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.reload()

    def reload(self) -> None:
        self.order: dict[int, str] = {}  # the time of publication, by id
        self.source = self.following = ""
        self.written_at = 0
        if (path := self.folder / INDEX).exists():
            self.written_at = path.stat().st_mtime_ns
            index = json.loads(path.read_text())
            self.source, self.following = index["source"], index["next"]
            self.order = {pk: self._read(pk)["published_at"] for pk in index["ids"]}

    def ids(self) -> set[int]:
        return set(self.order)

    def put(self, item: JsonObject) -> bool:
        pk, text = item["id"], _text(item)
        path = self.folder / f"{pk}.json"
        self.order[pk] = item["published_at"]
        is_same = path.exists() and path.read_text() == text
        # One that is newer than the index is of a run that was killed, and told nobody.
        if is_same and path.stat().st_mtime_ns <= self.written_at:
            return False
        self._write(path.name, text)
        return True

    def remove(self, pk: int) -> None:
        self.order.pop(pk, None)

    def commit(self, source: str, following: str) -> None:
        ids = sorted(self.order, key=lambda pk: (self.order[pk], pk), reverse=True)
        cursor = parse_qs(urlsplit(following).query).get("since", [None])[0]
        index = {"source": source, "next": following, "cursor": cursor, "ids": ids}
        self._write(INDEX, json.dumps(index))
        self.source, self.following = source, following
        self.written_at = (self.folder / INDEX).stat().st_mtime_ns
        named = {INDEX, *(f"{pk}.json" for pk in ids)}
        for entry in os.scandir(self.folder):
            if entry.name not in named and _FILE.fullmatch(entry.name):
                with suppress(FileNotFoundError):
                    os.unlink(entry)

    def items(self) -> Iterator[JsonObject]:
        return (self._read(pk) for pk in self.order)

    def _read(self, pk: int) -> JsonObject:
        item: JsonObject = json.loads((self.folder / f"{pk}.json").read_text())
        return item

    def _write(self, name: str, text: str) -> None:
        """Replace the file at once. Its content is on the disk before its name is."""
        new = self.folder / f".{name}.new"
        with new.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.folder / name)


MirrorTarget = SqliteTarget | FolderTarget


def _text(item: JsonObject) -> str:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))
