"""The answer in an email of a calendar program (RFC 5546, 3.2.3).

Anybody can send anything, so all that is read is bounded, and costs time in proportion to its
length. Python's email parser is not used: it recurses into each part, looks for each boundary in
each line, and parses each header. Of the calendar, only the lines that say who answered what are
parsed.
"""

import re
from collections.abc import Iterator
from email.message import Message
from typing import NamedTuple, cast

from icalendar.parser import Contentline

BOUNDARIES_MAX, LINE_MAX = 20, 2000  # boundaries of an email; characters of a line of a calendar
_BOUNDARY = re.compile(rb'(?i)boundary\s*=\s*(?:"([^"]{1,70})"|([^\s";]{1,70}))')
_CALENDAR = re.compile(rb"(?im)^content-type:\s*text/calendar\b")
_ENCODING = re.compile(rb"(?im)^content-transfer-encoding:\s*([\w-]{1,20})")
_LINE = re.compile(r"(?im)^(BEGIN|END|METHOD|UID|SEQUENCE|ATTENDEE)[:;].*")
_UID = re.compile(r"([0-9a-f]{32})@")


class CalendarReply(NamedTuple):
    uid: str
    sequence: int
    address: str
    status: str  # PARTSTAT in lower case


def answers(content: bytes) -> Iterator[CalendarReply]:
    """Yield the answers in an email. Raise ValueError or another error if it cannot be read."""
    for calendar in _calendars(content):
        if found := _answer(calendar):
            yield found


def _calendars(content: bytes) -> Iterator[bytes]:
    """Yield the calendars, in whichever part of a part they are."""
    names = [
        re.escape(quoted or plain) for quoted, plain in _BOUNDARY.findall(content)[:BOUNDARIES_MAX]
    ]
    for part in re.split(rb"(?m)^--(?:%b)(?:--)?[ \t]*+\r?$" % b"|".join(names), content):
        head, *body = re.split(rb"\r?\n\r?\n", part.lstrip(), maxsplit=1)
        if body and _CALENDAR.search(head):
            encoding, message = _ENCODING.search(head), Message()
            message["Content-Transfer-Encoding"] = encoding[1].decode() if encoding else ""
            message.set_payload(body[0].decode("ascii", "surrogateescape"))
            yield cast(bytes, message.get_payload(decode=True))


def _answer(calendar: bytes) -> CalendarReply | None:
    """Return the answer in a calendar.
    None if it is about no interview of ours, or of several people.
    """
    found, depth = {}, 0
    for line in _LINE.finditer(re.sub(r"\r?\n[ \t]", "", calendar.decode("utf-8-sig", "replace"))):
        name = line[1].upper()
        depth += (name == "BEGIN") - (name == "END")
        if name in ("BEGIN", "END") or depth > 2:  # of an alarm
            continue
        if name in found or len(line[0]) > LINE_MAX:
            return None
        found[name] = Contentline(line[0].rstrip("\r")).parts()
    values = {name: value.strip() for name, (_, _, value) in found.items()}
    uid, sequence = _UID.match(values.get("UID", "")), values.get("SEQUENCE", "0")
    if values.get("METHOD", "").upper() != "REPLY" or "ATTENDEE" not in found or not uid:
        return None
    if not re.fullmatch("[0-9]{1,9}", sequence):
        return None
    address = re.sub("(?i)^mailto:", "", values["ATTENDEE"])
    return CalendarReply(
        uid[1], int(sequence), address, str(found["ATTENDEE"][1].get("PARTSTAT", "")).lower()
    )
