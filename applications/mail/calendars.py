"""Calendar entries (iCalendar, RFC 5545 and 5546) of interviews, and emails that carry them.

Times are in UTC, without time zone definitions: an interview does not repeat, and clients disagree
about definitions. The only attendee is the recipient, so that nobody gets the address of another.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage as MimeMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.encoding import punycode
from icalendar import Calendar, Event, vCalAddress, vText

REQUEST, CANCEL = "REQUEST", "CANCEL"
PRODUCT = "-//Job site//Interviews//EN"


@dataclass(frozen=True)
class CalendarInvitation:
    """What the calendar entry of one recipient says. `sender` is the From line of the email."""

    method: str
    uid: str
    sequence: int
    starts_at: datetime
    ends_at: datetime
    summary: str
    description: str
    location: str
    sender: str
    attendee: str
    is_answered: bool = False  # whether replies to the sender are read


class Text(vText):
    """A text. icalendar 7.3 writes a backslash before N as a line break."""

    def to_ical(self) -> bytes:
        return escaped(self).encode()


def escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return text.replace("\n", "\\n")


def calendar_uid(uid: str) -> str:
    """Return the UID of the interview `uid`, which is unique in the world."""
    host = urlsplit(settings.PUBLIC_BASE_URL).hostname or "localhost"
    return f"{uid}@{host}"


def invitation(each: CalendarInvitation, *, at: datetime) -> str:
    """Return `each` as the text of a calendar, with lines that end in CRLF."""
    name, address = parseaddr(each.sender)
    is_cancelled = each.method == CANCEL
    event = _event(each.uid, each.starts_at, each.ends_at, at)
    event.add("sequence", each.sequence)
    event.add("status", "CANCELLED" if is_cancelled else "CONFIRMED")
    event.add("summary", Text(each.summary))
    event.add("organizer", _person(address, CN=name or address))
    answer = "TRUE" if each.is_answered and not is_cancelled else "FALSE"
    event.add(
        "attendee",
        _person(each.attendee, ROLE="REQ-PARTICIPANT", PARTSTAT="NEEDS-ACTION", RSVP=answer),
    )
    _add_texts(event, each.description, each.location)
    return _calendar([event], method=each.method)


def _event(uid: str, starts_at: datetime, ends_at: datetime, at: datetime) -> Event:
    event = Event()
    event.add("uid", calendar_uid(uid))
    for name, value in (("dtstamp", at), ("dtstart", starts_at), ("dtend", ends_at)):
        event.add(name, value.astimezone(UTC).replace(microsecond=0))
    return event


def _add_texts(event: Event, description: str, location: str) -> None:
    for name, text in (("description", description), ("location", location)):
        if text:
            event.add(name, Text(text))


def _person(address: str, **parameters: str) -> vCalAddress:
    person = vCalAddress(f"mailto:{address}")
    person.params.update(parameters)
    return person


def _calendar(events: Iterable[Event], *, method: str) -> str:
    calendar = Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", method)
    for event in events:
        calendar.add_component(event)
    return calendar.to_ical().decode()


@dataclass(frozen=True)
class FeedEvent:
    uid: str
    sequence: int
    starts_at: datetime
    ends_at: datetime
    summary: str
    description: str
    location: str


def feed(events: Iterable[FeedEvent], *, at: datetime) -> str:
    """Return a calendar that programs read again and again. It is made of lines, because icalendar
    needs 140 ms for 500 events.
    """
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", f"PRODID:{PRODUCT}", "METHOD:PUBLISH"]
    stamp = _utc(at)
    for each in events:
        lines += [
            "BEGIN:VEVENT",
            f"UID:{calendar_uid(each.uid)}",
            f"DTSTAMP:{stamp}",
            f"DTSTART:{_utc(each.starts_at)}",
            f"DTEND:{_utc(each.ends_at)}",
            f"SEQUENCE:{each.sequence}",
        ]
        for name in ("summary", "description", "location"):
            if text := getattr(each, name):
                lines.append(f"{name.upper()}:{escaped(text)}")
        lines.append("END:VEVENT")
    lines.append("END:VCALENDAR")
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _folded(line: str) -> str:
    """Return `line` in lines of at most 75 octets, none of which ends within a character."""
    octets = line.encode()
    if len(octets) <= 75:
        return line
    lines, start, end = [], 0, 75
    while end < len(octets):
        while octets[end] & 0xC0 == 0x80:
            end -= 1
        lines.append(octets[start:end])
        start, end = end, end + 74
    return b"\r\n ".join([*lines, octets[start:]]).decode()


def _utc(at: datetime) -> str:
    text = at.astimezone(UTC).isoformat()[:19]  # strftime needs eight times as long
    return f"{text.replace('-', '').replace(':', '')}Z"


class CalendarEmail(EmailMessage):
    """An email that mail programs show as an invitation, with `calendar` also as a file. It makes
    its parts itself, because the versions of Django make them in different ways.
    """

    calendar = ""
    html = ""

    def message(self, **options: Any) -> Any:  # Django 6 passes a policy
        mail = MimeMessage(policy=SMTP)
        mail["Subject"] = self.subject
        mail["From"] = _header(self.from_email)
        mail["To"] = [_header(address) for address in self.to]
        if self.reply_to:
            mail["Reply-To"] = [_header(address) for address in self.reply_to]
        for name, value in self.extra_headers.items():
            mail[name] = value
        if "Date" not in mail:
            mail["Date"] = format_datetime(datetime.now(UTC))
        content, method = self.calendar.encode(), method_of(self.calendar)
        mail.set_content(self.body, cte="quoted-printable")
        if self.html:
            mail.add_alternative(self.html, subtype="html", cte="quoted-printable")
        mail.add_alternative(
            content,
            maintype="text",
            subtype="calendar",
            cte="base64",
            params={"method": method, "charset": "utf-8"},
        )
        mail.add_attachment(content, maintype="application", subtype="ics", filename="invite.ics")
        return mail


def method_of(calendar: str) -> str:
    return CANCEL if f"\r\nMETHOD:{CANCEL}\r\n" in calendar else REQUEST


def _header(line: str) -> Address:
    """Return an address, with or without a name, as a header has it: its domain in ASCII."""
    name, address = parseaddr(line)
    local, _, domain = address.rpartition("@")
    return Address(name, local, punycode(domain))
