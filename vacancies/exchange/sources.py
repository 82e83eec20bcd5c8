"""The rows of vacancies and forms that an import reads, and the files that contain them."""

from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo, available_timezones

from vacancies.exchange.json_files import InvalidLine, RepeatedKeys, SourceError, read_json


@dataclass
class SourceRow:
    """One item of a source. `name` is its place in the source, for reports. `zone` is the time zone
    of its times, the site's if None. A service states the whole audience of an item; a file may
    not, because the item may be in another file too.
    """

    name: str
    item: Any
    is_internal: bool = False
    is_external: bool = True
    zone: tzinfo | None = None
    is_from_service: bool = False
    is_part: bool = False  # nothing new is made of it


@dataclass
class FormRow:
    """The form of the vacancy `pk`: `data` is an array of sections, `translations` has one for each
    further language.
    """

    name: str
    pk: object
    data: object
    translations: object = None


def read_file(path: Path, *, internal: bool, zone: tzinfo | None = None) -> list[SourceRow]:
    """Return the rows of a file: `{"data": [...]}`, `{"data": {...}}`, a bare array, or NDJSON with
    an item per line. `zone` is the time zone of its times, the site's if None.

    Raise SourceError if the file cannot be read or contains something else.
    """
    content = read_json(path)
    if isinstance(content, RepeatedKeys) and "data" in content:
        raise SourceError(f"{path}: the key {content.key!r} occurs more than once.")
    data = (
        content.get("data", content if "id" in content else None)
        if isinstance(content, dict)
        else content
    )
    if isinstance(data, dict):
        data = [data]
    if not isinstance(data, list):
        raise SourceError(
            f'{path}: does not contain a list of vacancies; expected {{"data": [...]}}.'
        )
    return [
        SourceRow(
            f"{path.name} row {number}",
            item,
            is_internal=internal,
            is_external=not internal,
            zone=zone,
        )
        for number, item in enumerate(data, 1)
    ]


def read_forms(path: Path) -> list[FormRow]:
    """Return the forms of a JSON file: `{"<vacancy id>": {"data": [sections]}}`, or NDJSON of such
    objects.

    Raise SourceError if the file cannot be read or contains something else.
    """
    content = read_json(path)
    rows = []
    for part in content if isinstance(content, list) and content else [content]:
        if isinstance(part, InvalidLine):
            raise SourceError(f"{path}: a line is {part.reason}.")
        if not isinstance(part, dict):
            raise SourceError(
                f'{path}: does not contain forms; expected {{"<vacancy id>": {{"data": [...]}}}}.'
            )
        if isinstance(part, RepeatedKeys):
            raise SourceError(f"{path}: the vacancy {part.key} occurs more than once.")
        rows += [
            FormRow(f"{path.name} {pk}", pk, form.get("data"), form.get("translations"))
            if isinstance(form, dict)
            else FormRow(f"{path.name} {pk}", pk, form)
            for pk, form in part.items()
        ]
    return rows


def time_zone(name: str) -> tzinfo | None:
    """Return the time zone `name` of the IANA database, or None."""
    return ZoneInfo(name) if name in available_timezones() else None


def base_url(text: str) -> str:
    """Return `text` as the base URL of a service.
    Raise ValueError with the reason if it is not one.
    """
    parts = urlsplit(text)
    if parts.scheme.lower() not in ("http", "https"):
        raise ValueError(
            f"the scheme {parts.scheme!r} is not supported; pass a file, or an http or https URL."
        )
    try:
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        raise ValueError("not a complete URL; expected for example https://jobs.example.com")
    if parts.username is not None:
        raise ValueError("contains a user name; pass a bearer token with --token instead.")
    root, found, _ = parts.path.partition("/v1")
    if not found:
        root, found, _ = parts.path.partition("/v0.1")
    if found or parts.query or parts.fragment:
        wanted = urlunsplit((parts.scheme, parts.netloc, root.rstrip("/"), "", ""))
        raise ValueError(f"not the base URL of a service; pass {wanted}")
    return text.rstrip("/")
