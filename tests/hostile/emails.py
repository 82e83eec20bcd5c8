"""Emails to REPLY_MAILBOX that parsers fail at, or are slow at."""

SIZE = 240_000  # bytes of the big ones: just below the limit


def calendar(*lines: bytes, header: bytes = b"") -> bytes:
    """Return an email that is a calendar with the `lines` of an event."""
    head = b"Content-Type: text/calendar; method=REPLY\r\n" + header
    start = (b"BEGIN:VCALENDAR", b"METHOD:REPLY", b"BEGIN:VEVENT", b"UID:" + b"ab" * 16 + b"@x")
    return b"\r\n".join((head, *start, *lines, b"END:VEVENT", b"END:VCALENDAR", b""))


def multipart(boundary: bytes, body: bytes) -> bytes:
    return b"Content-Type: multipart/mixed; boundary=" + boundary + b"\r\n\r\n" + body


def nested(count: int) -> bytes:
    return b"".join(multipart(b"b%d" % n, b"--b%d\r\n" % n) for n in range(count))


def encoded(name: bytes, line: bytes) -> bytes:
    head = b"Content-Type: text/calendar\r\nContent-Transfer-Encoding: " + name + b"\r\n\r\n"
    return (head + line * SIZE)[:SIZE]


def _type(value: bytes) -> bytes:
    return b"Content-Type: " + value + b"\r\n\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"


KINDS = {
    "a period of 100 million days": calendar(b"FREEBUSY:99990101T000000Z/P99999999D"),
    "a duration of 10^400 days": calendar(b"DURATION:P" + b"9" * 400 + b"D"),
    "a rule of repetition": calendar(
        b"DTSTART:00010101T000000Z", b"RRULE:FREQ=SECONDLY;COUNT=999999999"
    ),
    "a long name of a zone": calendar(b"DTSTART;TZID=" + b"x" * 100_000 + b":20260305T093000"),
    "a zone that is a file": calendar(b"DTSTART;TZID=../../../../dev/zero:20260305T093000"),
    "a long sequence": calendar(
        b"SEQUENCE:" + b"9" * 1900, b"ATTENDEE;PARTSTAT=ACCEPTED:mailto:x@y.org"
    ),
    "many attendees": calendar(*[b"ATTENDEE;PARTSTAT=ACCEPTED:mailto:x@example.org"] * 1000),
    "many parameters": calendar(b"ATTENDEE" + b";A=b" * 60_000 + b":mailto:x"),
    "quotes": calendar(b"ATTENDEE;A=" + b'"' * 1900 + b":mailto:x"),
    "backslashes": calendar(b"ATTENDEE;" + b"\\" * 1900 + b":mailto:x"),
    "nested components": calendar(*[b"BEGIN:VALARM"] * 4000),
    "many components": calendar(*[b"BEGIN:VALARM\r\nEND:VALARM"] * 2000),
    "many lines": calendar(*[b"X:y"] * 48_000),
    "a folded line": calendar(b"SUMMARY:" + b"\r\n " * 80_000),
    "no text": calendar(b"\x00\xff\xfe" * 20_000),
    "brackets": _type(b"(" * 2000),
    "many brackets": _type(b"text/calendar; " + b"(" * SIZE),
    "quotes in a header": _type(b"text/calendar; a=" + b'"' * SIZE),
    "a number of a continuation": _type(b"text/calendar; a*" + b"9" * 5000 + b"=x"),
    "a short number of a continuation": _type(b"text/calendar; a*" + b"9" * 900 + b"=x"),
    "continuations": _type(b"text/calendar" + b"".join(b";\r\n a*%d=x" % n for n in range(20_000))),
    "a name of a character set": _type(b"text/calendar; charset=" + b"x" * 900),
    "a character set of a continuation": _type(
        b"text/calendar; charset*=x'y'%ff%fe; boundary*=z''%00"
    ),
    "parameters": _type(b"text/calendar" + b";" * SIZE),
    "a folded header": b"Content-Type: text/calendar" + b"\r\n " * 80_000 + b"\r\n\r\n",
    "recipients": b"To: " + b"a@b.example, " * 18_000 + b"\r\n" + calendar(),
    "groups of recipients": b"To: " + b"a:" * 120_000 + b"\r\n" + calendar(),
    "encoded words": b"Subject: " + b"=?utf-8?q?=41?=" * 16_000 + b"\r\n" + calendar(),
    "headers": b"X: y\r\n" * 40_000 + calendar(),
    "types": b"Content-Type: text/calendar\r\n" * 8000,
    "nested messages": b"Content-Type: message/rfc822\r\n\r\n" * 2000,
    "nested parts": nested(3500),
    "parts": multipart(b"a", b"--a\r\n\r\n" * 34_000),
    "parts that are calendars": multipart(b"a", (b"--a\r\n" + calendar()) * 1000),
    "a boundary of hyphens": multipart(b"-" * 60, b"-" * SIZE),
    "lines like boundaries": multipart(b"a", b"--a" + (b" " * 1000 + b"x\n--a") * 239),
    "base64": encoded(b"base64", b"====\r\n"),
    "quoted-printable": encoded(b"quoted-printable", b"=\r\n"),
    "uuencode": encoded(b"x-uuencode", b"begin 644 a\r\n"),
    "an unknown encoding": encoded(b"x" * 900, b"a\r\n"),
    "nothing": b"",
    "zeros": b"\0" * SIZE,
    "line ends": b"\n" * SIZE,
    "carriage returns": b"\r" * SIZE,
}
