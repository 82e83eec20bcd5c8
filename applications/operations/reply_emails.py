"""The answer in an email of a calendar program (RFC 5546, 3.2.3).

Anybody can send anything, so all that is read is bounded, and costs time in proportion to its length.
Python's email parser is not used: it recurses into each part, looks for each boundary in each line, and
parses each header. Of the calendar, only the lines that say who answered what are parsed.
"""

import re
from collections.abc import Iterator
from email.message import Message
from typing import NamedTuple, cast

from icalendar.parser import Contentline

PARTS_MAX, HEADER_MAX = 50, 1000  # parts of an email; characters of a header that is read
CALENDAR_MAX, LINE_MAX = 64 * 1024, 2000  # bytes of a calendar; characters of a line of it
_HEADER = rb"(?im)^%b:((?:.*)(?:\r?\n[ \t].*)*)"
_WANTED = {("VCALENDAR",): {"METHOD"}, ("VCALENDAR", "VEVENT"): {"UID", "SEQUENCE", "ATTENDEE"}}
_UID = re.compile(r"([0-9a-f]{32})@")


class Answer(NamedTuple):
    uid: str
    sequence: int
    address: str
    status: str  # PARTSTAT in lower case


def answers(content: bytes) -> Iterator[Answer]:
    """Yield the answers in an email. Raise ValueError or another error if it cannot be read."""
    for calendar in _calendars(content):
        if found := _answer(calendar):
            yield found


def _calendars(content: bytes) -> Iterator[bytes]:
    """Yield the calendars among the first PARTS_MAX parts. An email within the email is no answer."""
    pending = [content]
    for _ in range(PARTS_MAX):
        if not pending:
            return
        head, *rest = re.split(rb"(?:\A|\r?\n)\r?\n", pending.pop(0), maxsplit=1)
        body = b"".join(rest)
        part = Message()
        for name in ("Content-Type", "Content-Transfer-Encoding"):
            found = re.search(_HEADER % name.encode(), head)
            if found and len(found[1]) <= HEADER_MAX:
                part[name] = " ".join(found[1].decode("ascii", "replace").split())
        boundary = part.get_boundary()
        if part.get_content_maintype() == "multipart" and boundary:
            line = rb"(?m)^--" + re.escape(boundary.encode()) + rb"(?:--)?[ \t]*\r?(?:\n|\Z)"
            pending += re.split(line, body, maxsplit=PARTS_MAX)[1:]
        elif part.get_content_type() == "text/calendar":
            part.set_payload(body.decode("ascii", "surrogateescape"))
            yield cast(bytes, part.get_payload(decode=True))


def _answer(calendar: bytes) -> Answer | None:
    """Return the answer in a calendar. None if it is about no interview of ours, or of several people."""
    found = {}
    for name, line in _lines(calendar):
        if name in found or len(line) > LINE_MAX:
            return None
        found[name] = Contentline(line).parts()
    values = {name: value.strip() for name, (_, _, value) in found.items()}
    uid, sequence = _UID.match(values.get("UID", "")), values.get("SEQUENCE", "0")
    if values.get("METHOD", "").upper() != "REPLY" or "ATTENDEE" not in found or not uid:
        return None
    if not re.fullmatch("[0-9]{1,9}", sequence):
        return None
    address = re.sub("(?i)^mailto:", "", values["ATTENDEE"])
    return Answer(uid[1], int(sequence), address, str(found["ATTENDEE"][1].get("PARTSTAT", "")).lower())


def _lines(calendar: bytes) -> Iterator[tuple[str, str]]:
    """Yield the lines that are read, each with its name."""
    if len(calendar) > CALENDAR_MAX:
        return
    path: list[str] = []
    for line in re.sub(r"\r?\n[ \t]", "", calendar.decode("utf-8-sig", "replace")).split("\n"):
        name = re.split("[:;]", line, maxsplit=1)[0].upper()
        if name == "BEGIN":
            path.append(line[6:].strip().upper())
        elif name == "END" and path:
            path.pop()
        elif len(path) <= 2 and name in _WANTED.get(tuple(path), ()):
            yield name, line.rstrip("\r")
