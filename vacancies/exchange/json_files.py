"""Strict JSON: repeated keys are detected, and files may be NDJSON and gzip."""

import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobsite.types import JsonObject

GZIP = b"\x1f\x8b"


class SourceError(Exception):
    """A source that cannot be read. The message states the reason."""


class RepeatedKeys(JsonObject):
    """A JSON object in which `key` occurs more than once, so that its value is ambiguous."""

    key: str


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    content = dict(pairs)
    if len(content) == len(pairs):
        return content
    repeated = RepeatedKeys(content)
    keys = [key for key, _ in pairs]
    repeated.key = next(key for key in keys if keys.count(key) > 1)
    return repeated


def repeated_key(value: object) -> str | None:
    """Return a key that occurs more than once in any object in `value`, or None."""
    rest = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, RepeatedKeys):
            return value.key
        if isinstance(value, (dict, list)):
            rest += value.values() if isinstance(value, dict) else value
    return None


def parse_json(content: str | bytes) -> Any:
    """Parse `content` as JSON. Objects with a repeated key become `RepeatedKeys`."""
    return json.loads(content, object_pairs_hook=_object)


@dataclass(frozen=True)
class InvalidLine:
    """A line of a file that is not JSON."""

    reason: str


def read_json(path: Path) -> Any:
    """Return the content of the JSON or NDJSON file at `path`, which may be compressed with gzip.
    NDJSON gives a list, in which a line that is not JSON is an `InvalidLine`. Raise SourceError.
    """
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise SourceError(f"{path}: not a complete gzip file ({error}).") from error
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}.") from error
    try:
        return parse_json(content)
    except (ValueError, RecursionError) as error:
        lines = _lines(content)
        if len(lines) < 2 or isinstance(lines[0], InvalidLine):
            raise SourceError(f"{path}: not JSON ({error}).") from error
        return lines


def _lines(content: bytes) -> list[object]:
    """Parse each line of NDJSON."""
    try:
        text = content.decode(json.detect_encoding(content))
    except ValueError:
        return []
    values: list[object] = []
    for line in filter(str.strip, text.split("\n")):
        try:
            values.append(parse_json(line))
        except (ValueError, RecursionError) as error:
            values.append(InvalidLine(f"not JSON ({error})"))
            if len(values) == 1:
                break
    return values
