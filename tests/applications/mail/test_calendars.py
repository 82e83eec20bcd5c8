"""Calendar entries, read by two other implementations."""

import json
import re
import subprocess
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from icalendar import Calendar

from applications.admin.interviews.meeting import ends_at
from applications.mail.calendars import (
    CANCEL,
    REQUEST,
    CalendarInvitation,
    FeedEvent,
    feed,
    invitation,
)
from applications.mail.outbox import as_body, one_line
from jobsite.admin.datetime_fields import ZonedDateTimeField
from tests import node

EARLIEST, LATEST = datetime(2000, 1, 1), datetime(2100, 1, 1)
# What breaks folding and quoting: characters of several bytes, separators, line breaks, quotes.
HARD = [
    "😀",
    "👩\u200d👧",
    "é",
    ";",
    ",",
    "\\",
    '"',
    ":",
    "\n",
    "\\n",
    "\u202e",
    "^",
    "BEGIN:VEVENT",
]
# Readers drop byte order marks.
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff")
texts = st.lists(st.sampled_from(HARD) | characters, max_size=50).map("".join)
invitations = st.builds(
    CalendarInvitation,
    method=st.sampled_from([REQUEST, CANCEL]),
    uid=st.just("0" * 32),
    sequence=st.integers(0, 10**6),
    starts_at=st.datetimes(EARLIEST, LATEST, timezones=st.just(UTC)),
    ends_at=st.just(datetime(2100, 1, 2, tzinfo=UTC)),
    summary=texts.map(one_line),
    description=texts.map(as_body),
    location=texts.map(one_line),
    sender=texts.map(
        lambda text: f'"{one_line(text).translate({34: 39, 92: 47})}" <jobs@acme.example>'
    ),
    attendee=st.just("mia+1@example.org"),
    is_answered=st.booleans(),
)


def expected(each):
    return {
        "method": each.method,
        "sequence": each.sequence,
        "summary": each.summary,
        "description": each.description,
        "location": each.location,
        "start": each.starts_at.replace(microsecond=0).isoformat(),
        "end": each.ends_at.isoformat(),
        "attendee": f"mailto:{each.attendee}",
        "organizer": "mailto:jobs@acme.example",
        "status": "CANCELLED" if each.method == CANCEL else "CONFIRMED",
    }


def check(each, text):
    """icalendar reads a backslash before N as a line break; ical.js does not."""
    check_lines(text)
    if "\\N" not in f"{each.summary} {each.description} {each.location}":
        assert read(text) == expected(each)


def check_lines(text):
    content = text.encode()
    assert content.endswith(b"\r\n")
    lines = content.split(b"\r\n")
    assert max(map(len, lines)) <= 75
    assert not any(b"\n" in line or b"\r" in line for line in lines)
    for line in lines:
        line.decode()  # not folded inside a character


def read(text):
    calendar = Calendar.from_ical(text)
    (event,) = calendar.events
    return {
        "method": str(calendar["METHOD"]),
        "sequence": event["SEQUENCE"],
        "summary": str(event["SUMMARY"]),
        "description": str(event.get("DESCRIPTION", "")),
        "location": str(event.get("LOCATION", "")),
        "start": event.start.isoformat(),
        "end": event.end.isoformat(),
        "attendee": str(event["ATTENDEE"]),
        "organizer": str(event["ORGANIZER"]),
        "status": str(event["STATUS"]),
    }


@settings(max_examples=30, deadline=None)
@given(invitations)
def test_entry_is_read_as_it_was_written(each):
    text = invitation(each, at=each.starts_at)
    check(each, text)


BRUSSELS, HOUR = ZoneInfo("Europe/Brussels"), timedelta(hours=1)
# The first instant and the hours of the days on which the clocks change in Brussels.
CHANGES = [
    (datetime(2027, 3, 27, 23, tzinfo=UTC), 23),
    (datetime(2026, 10, 24, 22, tzinfo=UTC), 25),
]


@pytest.mark.parametrize(("first", "hours"), CHANGES)
def test_every_hour_of_a_clock_change_is_the_right_instant(first, hours):
    """As the page reads it, in the entry of an email and in a feed, with an
    end three hours later.
    """
    wanted, found = [], []
    for start in (first + number * HOUR for number in range(hours)):
        end, local = start + 3 * HOUR, start.astimezone(BRUSSELS)
        wanted.append((f"{start:%Y%m%dT%H%M%SZ}", f"{end:%Y%m%dT%H%M%SZ}"))
        with timezone.override(BRUSSELS):
            typed = [f"{local:%Y-%m-%d}", f"{local:%H:%M}", str(local.fold)]
            read = ZonedDateTimeField().clean(typed)
        until = ends_at(read, 180)
        each = CalendarInvitation(
            REQUEST, "1", 0, read, until, "Talk", "", "", "jobs@acme.example", "a@example.org"
        )
        event = FeedEvent("1", 0, read, until, "Talk", "", "")
        for text in (invitation(each, at=first), feed([event], at=first)):
            found.append(tuple(re.findall(r"DT(?:START|END):(\w+)", text)))
    assert found == [pair for pair in wanted for _ in range(2)]
    assert first.astimezone(BRUSSELS).hour == (first + hours * HOUR).astimezone(BRUSSELS).hour == 0


@pytest.mark.slow("a thousand calendars, read by icalendar and in Node")
def test_other_implementations_read_the_same():
    node.require()
    written: list[tuple[dict, str]] = []

    @settings(
        max_examples=1_000,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(invitations)
    def collect(each):
        text = invitation(each, at=each.starts_at)
        check(each, text)
        written.append((expected(each), text))

    collect()
    lines = "".join(f"{json.dumps(text)}\n" for _, text in written)
    command = ["node", str(node.FOLDER / "calendar.mjs")]
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, check=True, timeout=120
    )
    found = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert len(found) == len(written) > 900
    assert [
        (each, text)
        for (each, text), events in zip(written, found, strict=True)
        if events != [each]
    ] == []
