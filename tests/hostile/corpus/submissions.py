"""Submissions of application forms: bodies, files and keys."""

import json
import struct
from collections.abc import Iterator
from typing import Any

from tests.hostile.content import Content
from tests.hostile.corpus.case import CLOSED, MARK, REFUSED, Case, case
from tests.vacancies.sample_files import make_zip

PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n"
WORD = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
TYPES = "[Content_Types].xml"
INVALID = {400, 413, 422}
DEEP = 100_000


def submissions(content: Content) -> Iterator[Case]:
    yield from _json(content)
    yield from _keys(content)
    yield from _multipart(content)
    yield from _files(content)
    yield from _framing(content)


def _post(content: Content, name: str, body: bytes, *headers: str | bytes, **how: Any) -> Case:
    path = f"/v1/vacancies/{content.open_vacancy}/applications"
    how = {"method": "POST", "is_malformed": bool(how["allowed"] & REFUSED)} | how
    return case("submission", name, path, *headers, body=body, **how)


def _document(content: Content, number: str = "", **values: Any) -> dict[str, Any]:
    sent = {"first_name": MARK, "last_name": "Maes", "email": f"{MARK}{number}@example.org"}
    return {"version": content.form_version, "values": sent | {"privacy_consent": "1"} | values}


def _json(content: Content) -> Iterator[Case]:
    good = json.dumps(_document(content)).encode()
    values = good.replace(b'"Maes"', b"%s").replace(b"%s", b"@@")

    def post(
        name: str, body: bytes, allowed: set[int] = INVALID, kind: str = "application/json"
    ) -> Case:
        return _post(content, name, body, f"Content-Type: {kind}", allowed=allowed)

    yield post("valid", good, {201})
    for name, value, allowed in (
        ("deep lists", b"[" * DEEP, INVALID),
        ("deep lists, closed", b"[" * DEEP + b"]" * DEEP, INVALID),
        ("deep objects", b'{"a":' * DEEP + b"1" + b"}" * DEEP, INVALID),
        ("19 lists", b"[" * 15 + b"]" * 15, INVALID),
        ("1e999", b"1e999", INVALID),
        ("-1e999", b"-1e999", INVALID),
        ("an integer of 5,000 digits", b"9" * 5000, INVALID),
        ("a float of 5,000 digits", b"0." + b"9" * 5000, INVALID),
        ("1e-999", b"1e-999", INVALID),
        ("NaN", b"NaN", INVALID),
        ("Infinity", b"Infinity", INVALID),
        ("true", b"true", INVALID),
        ("null", b"null", INVALID),
        ("an object", b'{"$ref": "#"}', INVALID),
        ("__proto__", b'{"__proto__": {"a": 1}}', INVALID),
        ("half of a pair", b'"\\ud800"', INVALID),
        ("halves the wrong way", b'"\\udc00\\ud800"', INVALID),
        ("a pair", b'"\\ud83d\\ude42"', {201}),
        ("NUL", b'"\\u0000"', INVALID),
        ("raw NUL", b'"\0"', INVALID),
        ("raw newline", b'"\n"', INVALID),
        ("not UTF-8", b'"\xff"', INVALID),
        ("an encoded surrogate", b'"\xed\xa0\x80"', INVALID),
        ("overlong", b'"\xc0\xaf"', INVALID),
        ("200 characters", b'"%s"' % (b"x" * 200), {201}),
        ("201 characters", b'"%s"' % (b"x" * 201), INVALID),
        ("1 MB", b'"%s"' % (b"x" * 1_000_000), INVALID),
        ("other controls", b'"\\u0001\\u001b[31m\\u202e"', {201, 422}),
        ("a formula", b'"=HYPERLINK(\\"http://evil.example\\")"', {201}),
        ("markup", b'"<script>alert(1)</script>"', {201}),
        ("a template", b'"{{ 7*7 }}{% debug %}"', {201}),
        ("a format", b'"%(password)s %s %n {0.__class__}"', {201}),
        ("many members", b"[" + b"0," * 300_000 + b"0]", INVALID),
        ("too many members", b"[" + b"0," * 600_000 + b"0]", INVALID),
    ):
        yield post(f"last_name {name}", values.replace(b"@@", value), allowed)
    for name, address in (
        ("CRLF", "a@x.example\r\nBcc: b@x.example"),
        ("LF", "a@x.example\nBcc: b@x.example"),
        ("CR", "a@x.example\rb"),
        ("trailing LF", "a@x.example\n"),
        ("NUL", "a\0@x.example"),
        ("two", "a@x.example,b@x.example"),
        ("a name", "A <a@x.example>"),
        ("quoted", '"a\r\n b"@x.example'),
        ("254", "a" * 250 + "@x.example"),
        ("a line separator", "a@x.example\u2028Bcc: b"),
        ("Unicode", "a@\u202ex.example"),
        ("no domain", "a@"),
        ("a list", ["a@x.example"]),
        ("an object", {"a": 1}),
        ("many @", "@" * 250),
        ("dots", "a." * 120 + "@x.example"),
        ("an IPv6 literal", "a@[IPv6:::1]"),
        ("a comment", "a(x)@x.example"),
    ):
        yield post(
            f"email {name}",
            json.dumps(_document(content, email=address)).encode(),
            {201} | INVALID
            if name in ("quoted", "Unicode", "254", "an IPv6 literal", "a comment")
            else INVALID,
        )
    for name, body in (
        ("empty", b""),
        ("a list", b"[]"),
        ("a number", b"1"),
        ("null", b"null"),
        ("a member twice", good[:-1] + b',"values":{}}'),
        ("a value twice", good.replace(b'"last_name"', b'"email"')),
        ("BOM", b"\xef\xbb\xbf" + good),
        ("UTF-16", good.decode().encode("utf-16")),
        ("UTF-32", good.decode().encode("utf-32")),
        ("text after it", good + b"x"),
        ("two documents", good + good),
        ("cut off", good[:-1]),
        ("a comment", b"/**/" + good),
        ("single quotes", good.replace(b'"', b"'")),
        ("values a list", b'{"version": "x", "values": []}'),
        ("version a list", b'{"version": [], "values": {}}'),
        ("version of 1 MB", json.dumps(_document(content) | {"version": "v" * 1_000_000}).encode()),
        ("an unknown member", good[:-1] + b',"is_staff":true}'),
        (
            "25,000 unknown values",
            json.dumps(_document(content, **{f"k{n}": "v" for n in range(25_000)})).encode(),
        ),
        ("a name of 1 MB", json.dumps(_document(content, **{"k" * 1_000_000: "v"})).encode()),
        ("a name with a pointer", json.dumps(_document(content, **{"~1/~0/../": "v"})).encode()),
        ("an empty name", json.dumps(_document(content, **{"": "v"})).encode()),
        ("proof", json.dumps(_document(content) | {"proof": 1}).encode()),
        ("source of 1 MB", json.dumps(_document(content) | {"source": "s" * 1_000_000}).encode()),
        ("skills of lists", json.dumps(_document(content, skills=[["sql"]])).encode()),
        ("skills of 100,000", json.dumps(_document(content, skills=["sql"] * 100_000)).encode()),
        ("a date", json.dumps(_document(content, birthday="9999999-99-99")).encode()),
        (
            "a digit of another script",
            json.dumps(_document(content, birthday="٢٠٢٦-٠٢-٠١")).encode(),
        ),
        ("consent null", json.dumps(_document(content, privacy_consent=None)).encode()),
        ("a file by name", json.dumps(_document(content, cv="../../etc/passwd")).encode()),
    ):
        yield post(f"document {name}", body)
    for proof in ("x" * 100_000, "e30=", "bnVsbA==", "\ud83d\ude42", "W" * 4 * 20_000):
        body = json.dumps(_document(content) | {"proof": proof}).encode()
        yield post(f"proof {proof[:6]}", body, {201, 429} | INVALID)
    kinds = (
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json-seq",
        "image/png",
        MARK,
    )
    for kind in (*kinds, "*/*", "application/json\x00", "multipart/mixed; boundary=x", "x" * 5000):
        yield post(f"as {kind[:40]!r}", good, {400, 415, CLOSED}, kind)
    parameters = ("; charset=utf-16", "; charset=nosuch", "; x*=nosuch''y", ";;;=")
    for kind in ("APPLICATION/JSON", *(f"application/json{each}" for each in parameters)):
        yield post(f"as {kind}", good, {201, 400, 415}, kind)


def _keys(content: Content) -> Iterator[Case]:
    body = json.dumps(_document(content, "key")).encode()
    for name, key, allowed in (
        ("of 255", "k" * 255, {201}),
        ("of 256", "k" * 256, {400}),
        ("empty", "", {400}),
        ("with a space", "a b", {400}),
        ("not ASCII", "\xe9", {400}),
        ("tab", "a\tb", {400}),
        ("quoted", '"a"', {201}),
        ("of 7,000", "k" * 7000, {400, 431}),
        ("SQL", "';--", {201}),
    ):
        headers = ("Content-Type: application/json", f"Idempotency-Key: {key}".encode("latin-1"))
        yield _post(content, f"key {name}", body, *headers, allowed=allowed)
    headers = ("Content-Type: application/json", "Idempotency-Key: a", "Idempotency-Key: b")
    yield _post(content, "two keys", body, *headers, allowed={201, 400}, is_malformed=True)
    headers = (
        "Content-Type: application/json",
        "Authorization: Bearer \xff\x00",
        "Cookie: sessionid=\xff",
    )
    yield _post(
        content, "bad credentials", body, *headers, allowed={201, 400, CLOSED}, is_malformed=True
    )


def part(head: bytes, content: bytes) -> bytes:
    return b"--B7\r\n" + head + b"\r\n\r\n" + content + b"\r\n"


def _parts(content: Content, *parts: bytes, **values: Any) -> bytes:
    document = json.dumps(_document(content, **values)).encode()
    head = b'Content-Disposition: form-data; name="application"'
    return b"".join((part(head, document), *parts)) + b"--B7--\r\n"


def _multipart(content: Content) -> Iterator[Case]:
    kind = "Content-Type: multipart/form-data; boundary=B7"
    cv = part(b'Content-Disposition: form-data; name="cv"; filename="cv.pdf"', PDF)
    whole = _parts(content, cv, cv="cv.pdf", number="cut")

    def post(name: str, body: bytes, allowed: set[int] = INVALID, kind: str = kind) -> Case:
        return _post(content, f"multipart {name}", body, kind, allowed=allowed)

    yield post("valid", whole, {201})
    for size in range(0, len(whole) - 2, 23):
        yield post(f"cut off after {size}", whole[:size])
    disposition = b"Content-Disposition: form-data; "
    for name, each in (
        ("a part twice", cv + cv),
        ("a document twice", part(disposition + b'name="application"', b"{}")),
        ("an unknown part", part(disposition + b'name="x"; filename="x.pdf"', PDF)),
        ("no name", part(b"Content-Disposition: form-data", PDF)),
        ("no header", part(b"", PDF)),
        ("attachment", part(b'Content-Disposition: attachment; name="cv"', PDF)),
        ("an empty name", part(disposition + b'name=""', PDF)),
        ("name NUL", part(disposition + b'name="cv\0"; filename="x.pdf"', PDF)),
        ("header not UTF-8", part(disposition + b'name="cv"; filename="\xff.pdf"', PDF)),
        ("file name NUL", part(disposition + b'name="cv"; filename="a\0.pdf"', PDF)),
        ("header of 100 kB", part(disposition + b'name="cv"\r\nX-A: ' + b"x" * 100_000, PDF)),
        (
            "base64",
            part(
                disposition + b'name="cv"; filename="x.pdf"\r\nContent-Transfer-Encoding: base64',
                b"JVBERi0=",
            ),
        ),
        (
            "nested",
            part(
                disposition + b'name="cv"\r\nContent-Type: multipart/mixed; boundary=C',
                b"--C\r\n\r\nx\r\n--C--",
            ),
        ),
        ("name in RFC 2231", part(disposition + b"name*=nosuch''cv", PDF)),
        ("a file for a text", part(disposition + b'name="last_name"; filename="x.pdf"', PDF)),
        ("2,000 parts", b"".join(part(disposition + b'name="f%d"' % n, b"x") for n in range(2000))),
        ("bare LF", cv.replace(b"\r\n", b"\n")),
        ("a header without colon", part(disposition + b'name="cv"\r\nnonsense', PDF)),
        ("a thousand semicolons", part(disposition + b";" * 5000 + b'name="cv"', PDF)),
    ):
        yield post(name, _parts(content, each, number="multipart"))
    yield post("no document", cv + b"--B7--\r\n")
    brackets = part(disposition + b'name="application"', b"[" * 1_000_000)
    yield post("a document of 1 MB of brackets", brackets + b"--B7--\r\n")
    yield post("text before it", b"preamble\r\n" + whole)
    yield post("text after it", whole + b"epilogue", {201, 400})
    yield post("boundary with blanks", whole.replace(b"--B7\r\n", b"--B7  \r\n"))
    boundaries = (
        "",
        "=",
        '="',
        "=" + "b" * 5000,
        "=\xff",
        "=\x00",
        "=B7 ",
        '="B7',
        "=B8",
        "*=utf-8''B7",
    )
    for boundary in (*boundaries, "=B7; boundary=B8"):
        kind = f"Content-Type: multipart/form-data; boundary{boundary}"
        yield post(f"boundary{boundary[:12]!r}", whole, {201, 400, 415, CLOSED}, kind)


def _files(content: Content) -> Iterator[Case]:
    types = b'<Types><Override ContentType="%s"/></Types>' % WORD
    document = make_zip({TYPES: types, "word/document.xml": b"<w:p/>"})
    start = document.index(b"PK\x01\x02")
    encrypted, unknown = bytearray(document), bytearray(document)
    encrypted[start + 8] |= 1
    encrypted[6] |= 1
    struct.pack_into("<H", unknown, start + 10, 99)
    struct.pack_into("<H", unknown, 8, 99)
    wrong_size = bytearray(document)
    struct.pack_into("<I", wrong_size, start + 24, 0xFFFFFFFE)
    html = b"<html><script>alert(1)</script></html>"
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    bomb = b"\0" * 80_000_000
    ok, refused, either = {201}, {415}, {201, 415}
    tables: list[tuple[str, bytes, bytes, set[int]]] = [
        ("PDF and HTML", b"cv.pdf", PDF + html, ok),
        ("PDF and ZIP", b"cv.pdf", PDF + document, ok),
        ("ZIP and PDF", b"cv.pdf", b"MZ" + document + PDF, either),
        ("PNG and HTML", b"cv.png", b"\x89PNG\r\n\x1a\n" + html, either),
        ("JPEG and HTML", b"cv.jpg", b"\xff\xd8\xff\xe0" + html, either),
        ("RTF and HTML", b"cv.rtf", b"{\\rtf1 " + html + b"}", either),
        ("HTML", b"cv.pdf", html, refused),
        ("HTML as text", b"cv.txt", html, refused),
        ("SVG", b"cv.png", svg, refused),
        ("SVG as text", b"cv.txt", b"\n\n" + svg, either),
        (
            "XML as text",
            b"cv.txt",
            b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
            either,
        ),
        ("GIF", b"cv.pdf", b"GIF89a;", refused),
        ("EXE", b"cv.pdf", b"MZ\x90\0" * 50, refused),
        ("HTML in UTF-7", b"cv.txt", b"+ADw-script+AD4-alert(1)+ADw-/script+AD4-", either),
        ("HTML in UTF-16", b"cv.txt", html.decode().encode("utf-16"), either),
        ("empty", b"cv.pdf", b"", {415, 422}),
        ("one byte", b"cv.pdf", b"%", refused),
        ("NUL text", b"cv.txt", b"a\0b", refused),
        ("DOCX", b"cv.docx", document, ok),
        ("DOCX bomb", b"cv.docx", make_zip({TYPES: types, "word/document.xml": bomb}), refused),
        ("DOCX bomb in its types", b"cv.docx", make_zip({TYPES: types + bomb}), refused),
        (
            "DOCX bomb of bombs",
            b"cv.docx",
            make_zip({TYPES: types, "word/a.zip": make_zip({"a": bomb[:20_000_000]})}),
            either,
        ),
        (
            "ODT bomb in its type",
            b"cv.odt",
            make_zip({"mimetype": b"application/vnd.oasis.opendocument.text" + b" " * 80_000_000}),
            either,
        ),
        (
            "DOCX of 70,000 parts",
            b"cv.docx",
            make_zip({TYPES: types} | {f"{n}": b"" for n in range(70_000)}),
            refused,
        ),
        ("DOCX encrypted", b"cv.docx", bytes(encrypted), either),
        ("DOCX of an unknown method", b"cv.docx", bytes(unknown), either),
        ("DOCX of a wrong size", b"cv.docx", bytes(wrong_size), refused),
        ("DOCX with paths", b"cv.docx", make_zip({TYPES: types, "../../etc/x": b"x"}), either),
        (
            "DOCX with macros",
            b"cv.docx",
            make_zip({TYPES: types, "word/vbaProject.bin": b"x"}),
            refused,
        ),
        *(
            (f"DOCX cut off after {size}", b"cv.docx", document[:size], refused)
            for size in range(4, len(document), 60)
        ),
        *(
            (
                f"DOCX with byte {at} flipped",
                b"cv.docx",
                document[:at] + bytes([document[at] ^ 0xFF]) + document[at + 1 :],
                either,
            )
            for at in range(2, len(document), 11)
        ),
        ("10 MB and a byte", b"cv.pdf", PDF.ljust(10 * 1024 * 1024 + 1), {413}),
        ("name ../", b"../../../../etc/passwd", PDF, ok),
        ("name of 4 kB", b"n" * 4000 + b".pdf", PDF, ok),
        ("name RTL", "cv\u202efdp.exe".encode(), PDF, ok),
        ("name of dots", b"..", PDF, ok),
        ("name with a pipe", b"| rm -rf /.pdf", PDF, ok),
        ("name with markup", b"<script>alert(1)</script>.pdf", PDF, ok),
        ("name with a header", b"a.pdf%0d%0aX-Injected: 1", PDF, ok),
        ("name of a formula", b"=HYPERLINK(1).pdf", PDF, ok),
        ("name of a device", b"CON", PDF, ok),
        ("name of Windows", b"C:\\\\windows\\\\x.pdf", PDF, ok),
    ]
    kind = "Content-Type: multipart/form-data; boundary=B7"
    for number, (name, file_name, each, allowed) in enumerate(tables):
        head = b'Content-Disposition: form-data; name="cv"; filename="' + file_name + b'"'
        body = _parts(content, part(head, each), cv="cv.pdf", number=f"file{number}")
        yield _post(content, f"file {name}", body, kind, allowed=allowed)


def _framing(content: Content) -> Iterator[Case]:
    body = json.dumps(_document(content, "framing")).encode()
    kind = "Content-Type: application/json"
    lengths = {
        "short": len(body) - 5,
        "zero": 0,
        "negative": -1,
        "long": len(body) + 9,
        "26 MB": 26 << 20,
    }
    for name, length in (lengths | {"huge": 10**30, "hexadecimal": "0x10", "empty": ""}).items():
        head = (kind, f"Content-Length: {length}")
        allowed = {*REFUSED} - {404, 405}
        yield _post(content, f"length {name}", body, *head, allowed=allowed, is_malformed=True)
    chunked = (kind, "Transfer-Encoding: chunked")
    for name, chunks, allowed in (
        ("valid", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), {201}),
        ("unended", b"%x\r\n%s\r\n" % (len(body), body), {400, 408, CLOSED}),
        ("of a wrong size", b"%x\r\n%s\r\n0\r\n\r\n" % (len(body) + 7, body), {400, 408, CLOSED}),
        ("of a negative size", b"-1\r\nx\r\n0\r\n\r\n", {400, CLOSED}),
        ("of a huge size", b"f" * 30 + b"\r\nx\r\n0\r\n\r\n", {400, 413, CLOSED}),
        ("empty", b"0\r\n\r\n", {400}),
        (
            "with a trailer",
            b"%x\r\n%s\r\n0\r\nX-Injected: 1\r\n\r\n" % (len(body), body),
            {201, 400},
        ),
    ):
        yield _post(content, f"chunks {name}", chunks, *chunked, allowed=allowed, is_malformed=True)
    yield _post(
        content, "compressed", body, kind, "Content-Encoding: gzip", allowed={201, 400, 415}
    )
    yield _post(content, "Expect", body, kind, "Expect: 100-continue", allowed={201})
    for method in ("GET", "PUT", "PATCH", "DELETE", "TRACE", "HEAD"):
        yield _post(content, method, body, kind, allowed={405}, method=method, is_malformed=True)
    pk = content.open_vacancy
    for vacancy in (
        "0",
        "-1",
        "9" * 400,
        "1e9",
        "%00",
        "..",
        "१",
        "a" * 3000,
        f"{pk}.json",
        f"%20{pk}",
    ):
        path = f"/v1/vacancies/{vacancy}/applications"
        how = {"method": "POST", "allowed": {400, 404, 405}, "is_malformed": True}
        yield case("submission", f"vacancy {vacancy[:12]}", path, kind, body=body, **how)
