# ruff: noqa: E501 - tables of what is sent
"""Single requests that nobody means well with, each with what is allowed to come of it.

A request is bytes, written as they go over the wire, since half of these no HTTP client would send. What holds
for every answer (no failure of ours, a problem document below the interface, nothing repeated, nothing
kept) is in judge.py; a `Line` says only what is its own: the statuses that are right.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

from tests.hostile.site import ABSENT, HIDDEN, Site

HOST = "localhost"
MARK = "zqxmark"  # in what must never be said again: headers, cookies, credentials, bodies
LISTS = ("/v1/vacancies", "/v1/vacancies/hot", "/v0.1/vacancies")
MINE = "/v1/user/applications"
INTERNAL = "/v1/vacancies/hot/internal"
TOKEN = "/v1/auth/token"
PAGE = "/v1/vacancies?page[size]=2&page[number]=2"

OK, NO_CONTENT, BAD, UNAUTHORIZED, ABSENT_HERE, METHOD = {200}, {204}, {400}, {401}, {404}, {405}
CLOSED = 0  # the connection ends without an answer
# What a server in front says of bytes that are no request; 501 and 505 are its right words for codings of a
# transfer and versions of HTTP that it does not know.
REFUSED = {CLOSED, 400, 404, 405, 408, 411, 412, 413, 414, 415, 417, 421, 431, 494, 501, 505}


@dataclass(frozen=True)
class Line:
    group: str
    name: str
    raw: bytes
    allowed: frozenset[int]
    path: str = ""  # as a server decodes it, where it can be told
    is_wire: bool = False  # so broken that what answers may be a server in front, in its own words
    like: str = ""  # name of the line that this one's answer may not differ from


def request(
    target: str | bytes,
    *headers: str | bytes,
    method: str | bytes = "GET",
    body: bytes | None = None,
    host: str | bytes | None = HOST,
    version: str = "HTTP/1.1",
) -> bytes:
    def encoded(text: str | bytes) -> bytes:
        return text if isinstance(text, bytes) else text.encode("utf-8")

    head = [b" ".join((encoded(method), encoded(target), encoded(version)))]
    if host is not None:
        head.append(b"Host: " + encoded(host))
    head += [encoded(header) for header in headers]
    if body is not None and not any(
        line.lower().startswith((b"content-length", b"transfer")) for line in head
    ):
        head.append(b"Content-Length: %d" % len(body))
    head.append(b"Connection: close")
    return b"\r\n".join(head) + b"\r\n\r\n" + (body or b"")


def line(
    group: str,
    name: str,
    target: str,
    *headers: str | bytes,
    allowed: set[int],
    is_wire: bool = False,
    like: str = "",
    **how: object,
) -> Line:
    raw = request(target, *headers, **how)  # type: ignore[arg-type]
    return Line(group, f"{group}: {name}", raw, frozenset(allowed), target.partition("?")[0], is_wire, like)


# --- headers -----------------------------------------------------------------------------------

CHARSETS = (
    "rot13", "rot_13", "zlib", "hex", "base64", "bz2", "undefined", "idna", "punycode", "uu", "quopri",
    "unicode_escape", "raw_unicode_escape", "utf-7", "utf-16", "utf-32", "utf-8-sig", "cp037", "cp500", "cp1026",
    "shift_jis", "iso2022_jp", "hz", "mbcs", "oem", "latin-1", f"no-such-{MARK}", "", '""', '"', "\xff",
    "../../etc/passwd", "x" * 3000, "utf-8; charset=rot13", '"rot13"', "ROT13", "rot13 ",
)  # fmt: skip
PARAMETERS = (
    "x*=nosuch''abc", f"charset*=nosuch''{MARK}", "charset*0=rot; charset*1=13", "x*=utf-8'en'%ff", "x*='",
    "x*=rot13''a", "boundary*=nosuch''x", "boundary=x*=nosuch''y", "charset", ";;;=;", "boundary=x; charset=rot13",
    'boundary="a;b"; charset=zlib', "boundary=" + "y" * 3000, "=" * 2000, ";" * 3000, "boundary=\xff",
)  # fmt: skip


def content_types() -> Iterator[Line]:
    targets = {PAGE: 200, "/v1/filters": 200, MINE: 401, "/docs": 200, "/account/login?next=/x": 200}
    of_all = (PAGE, "/v1/filters", "/docs")  # the others have a mask of their own in each answer
    for target, status in targets.items():
        yield line("Content-Type", f"none {target}", target, allowed={status})
        for tail in [f"charset={name}" for name in CHARSETS] + list(PARAMETERS):
            is_few = target != PAGE and tail not in ("charset=rot13", "charset=undefined", "charset=cp037",
                                                     "x*=nosuch''abc", "charset=zlib")  # fmt: skip
            if not is_few:
                yield line(
                    "Content-Type", f"{target} {tail[:40]}", target, f"Content-Type: text/plain; {tail}",
                    allowed={status}, like=f"Content-Type: none {target}" if target in of_all else "",
                )  # fmt: skip
    for kind in ("", ";", "/", "text", "\xff/\xfe", f"{MARK}/x", "multipart/form-data", "a" * 7000, "application/json",
                 "application/x-www-form-urlencoded; charset=rot13", "multipart/form-data; boundary=x"):  # fmt: skip
        yield line("Content-Type", f"kind {kind[:40]}", PAGE, f"Content-Type: {kind}", allowed=OK,
                   like=f"Content-Type: none {PAGE}")  # fmt: skip
    for method in ("HEAD", "OPTIONS", "POST", "DELETE"):
        allowed = {"HEAD": OK, "OPTIONS": NO_CONTENT}.get(method, METHOD)
        for name in ("rot13", "undefined", "cp037"):
            yield line("Content-Type", f"{method} {name}", PAGE, f"Content-Type: a/b; charset={name}",
                       method=method, body=None if method in ("HEAD", "OPTIONS") else b"", allowed=allowed)  # fmt: skip


NULS = r'"' + r"\000" * 9 + '"'
COOKIES = (
    f"sessionid={NULS}", f"csrftoken={NULS}", f"messages={NULS}", f"django_language={NULS}", f"sessionid={MARK}",
    f"csrftoken={MARK}", f"sessionid={'a' * 32}", f"sessionid={'A' * 32}", f"sessionid={'é' * 16}",
    f"sessionid={'a' * 7000}", "sessionid=", "sessionid", "=", ";", ";;;;", "=;=;=", "\xff=\xfe", f"sessionid=\"{MARK}",
    f"sessionid={'a' * 32}; sessionid={'b' * 32}", "; ".join(f"c{n}=x" for n in range(500)), '$Version="1"; sessionid=x',
    f"messages={MARK}:x:y", "messages=W10:1abc:" + "x" * 43, f"__Host-sessionid={MARK}", "sessionid='; DROP TABLE x--",
    "django_language=../../nl", f"django_language={'n' * 600}", "django_language=xx-yy", r'sessionid="\141\142"',
    f"sessionid={'1' * 32}%00", "csrftoken=" + "c" * 64, "a" * 7500,
)  # fmt: skip


def cookies() -> Iterator[Line]:
    pages = {
        PAGE: 200,
        MINE: 401,
        INTERNAL: 401,
        "/account/login": 200,
        "/admin/login/": 200,
        "/v1/vacancies/x": 404,
    }
    for target, status in pages.items():
        yield line("Cookie", f"none {target}", target, allowed={status})
        for number, cookie in enumerate(COOKIES):
            if target in (PAGE, MINE) or number < 8:
                yield line("Cookie", f"{target} {number} {cookie[:40]}", target, f"Cookie: {cookie}", allowed={status},
                           like=f"Cookie: none {target}" if target in (PAGE, "/v1/vacancies/x") else "")  # fmt: skip
    yield line("Cookie", "twice", PAGE, f"Cookie: sessionid={NULS}", "Cookie: a=b", allowed=OK)


def credentials(site: Site) -> Iterator[Line]:
    def basic(text: bytes) -> str:
        return f"Basic {base64.b64encode(text).decode()}"

    values = [
        "Basic ADox", basic(b"\0:1"), basic(b"a:\0"), basic(b"\xff\xfe"), basic(f"{MARK}:{MARK}".encode()), "Basic",
        "Basic !!!", "Bearer", "Bearer ", f"Bearer {MARK}", "Bearer a b", f"Bearer {'t' * 7000}", f"bearer {MARK}",
        "Bearer \xff\xfe", "Bearer é", "Bearer %00", r"Bearer \u0000", "Bearer null", "Bearer undefined", "Bearer ''",
        f"Bearer {site.tokens['A'][:8]}", f"Bearer {site.tokens['A'][:-1]}", f"Bearer {site.tokens['A']}x",
        f"Bearer {site.tokens['A'].upper()}", f"Bearer {site.tokens['expired']}", f"Token {site.tokens['A']}",
        f"Digest username={MARK}", "Negotiate x", "", " ", ",", "Bearer\tx", f"JWT {MARK}", "Bearer ' OR 1=1--",
        f"Basic {site.tokens['A']}",
    ]  # fmt: skip
    for target in (MINE, INTERNAL, PAGE):
        for number, value in enumerate(values):
            yield line("Authorization", f"{target} {number} {value[:24]}", target, f"Authorization: {value}",
                       allowed=OK if target == PAGE else UNAUTHORIZED,
                       like=f"Content-Type: none {PAGE}" if target == PAGE else "")  # fmt: skip
    for number, value in enumerate(values[:12]):
        yield line("Authorization", f"DELETE {number}", TOKEN, f"Authorization: {value}", method="DELETE",
                   allowed=UNAUTHORIZED)  # fmt: skip
    good = f"Authorization: Bearer {site.tokens['B']}"
    yield line("Authorization", "twice", MINE, good, f"Authorization: Bearer {MARK}", allowed={400, 401})
    yield line(
        "Authorization", "X-Auth-Token", MINE, f"X-Auth-Token: {site.tokens['B']}", allowed=UNAUTHORIZED
    )
    for query in (
        f"token={site.tokens['B']}",
        f"access_token={site.tokens['B']}",
        f"api_key={site.tokens['B']}",
    ):
        yield line("Authorization", f"in the address {query[:12]}", f"{MINE}?{query}", allowed=UNAUTHORIZED)
    for session in ("expired", "closed"):
        yield line("Authorization", f"session {session}", MINE, f"Cookie: sessionid={site.sessions[session]}",
                   allowed=UNAUTHORIZED)  # fmt: skip


ENVIRON = (
    "SCRIPT_NAME", "Script-Name", "script_name", "PATH_INFO", "Path-Info", "QUERY_STRING", "REQUEST_METHOD", "REMOTE_ADDR",
    "Remote-Addr", "REMOTE_USER", "Remote-User", "X_Forwarded_For", "X_Forwarded_Host", "X_Forwarded_Proto", "HTTP_HOST",
    "SERVER_NAME", "Server-Port", "wsgi.url_scheme", "Wsgi-Url-Scheme", "CONTENT_TYPE", "Content_Type",
    "jobsite.at", "Jobsite-At", "X-Script-Name", "X-Forwarded-Prefix", "X-Original-URL", "X-Rewrite-URL",
    "X-HTTP-Method-Override", "X-Method-Override", "X-Forwarded-Server", "X-Real-IP", "X-Client-IP", "True-Client-IP",
    "Forwarded", "Via", "X-Forwarded-User", "X-Accel-Redirect", "X-Sendfile", "X-Accel-Internal", "Proxy", "X-Host",
    "X-Forwarded-Port", "X-Forwarded-Scheme", "X-Forwarded-Ssl", "X-Forwarded-Protocol", "Front-End-Https", "Origin", "Referer",
    "X-Wap-Profile", "X-Requested-With", "X-CSRFToken", "User-Agent", "From", "Pragma", "Cache-Control", "TE", "Date",
    "Max-Forwards", "Want-Digest", "Priority", "Save-Data", "X-Request-Id", "Traceparent",
)  # fmt: skip


def environment() -> Iterator[Line]:
    same = f"Content-Type: none {PAGE}"
    for name in ENVIRON:
        # what may be said again, in a header and in the log: of letters, digits and few marks
        word = "given" if name == "X-Request-Id" else MARK
        for value in (f"/{MARK}", f"{word}.example", "DELETE", '"><script>', "\xff\xfe"):
            # another origin, and another scheme, is another answer: CORS looks at one, links at the other
            may_differ = name in ("Origin", "X-Forwarded-Proto") or "_" in name or name.startswith("wsgi")
            yield line("header", f"{name}: {value[:12]}", PAGE, f"{name}: {value}", allowed=OK | BAD,
                       like="" if may_differ else same)  # fmt: skip
    for name in ("CONTENT_LENGTH", "Content_Length", "TRANSFER_ENCODING"):
        yield line("header", name, PAGE, f"{name}: 7", allowed=OK | REFUSED, is_wire=True)
    for name in ("X-Forwarded-For", "X_Forwarded_For", "Forwarded", "X-Real-IP"):
        for value in ("10.0.0.1", "127.0.0.1", "unknown", "[::1", "1.2.3.4:99999", ",,,,", "1, " * 2000, "::ffff:1.2.3.4",
                      "0x7f.1", "localhost", "%00", "1.2.3.4.5.6", "fe80::1%eth0", f"for={MARK};host={MARK}"):  # fmt: skip
            yield line(
                "header", f"{name}: {value[:14]}", INTERNAL, f"{name}: {value}", allowed=UNAUTHORIZED | BAD
            )
    for value in ("null", "https://evil.example", "https://evil.example\t", "*", "file://", "https://a, https://b", "\xff",
                  "https://[", "//", "https://evil.example:99999"):  # fmt: skip
        yield line("header", f"Origin: {value}", PAGE, f"Origin: {value}", allowed=OK | BAD)
        yield line("header", f"preflight of {value}", MINE, f"Origin: {value}", "Access-Control-Request-Method: X",
                   "Access-Control-Request-Headers: " + "x," * 500, method="OPTIONS", allowed={200, 204, 400})  # fmt: skip


def hosts() -> Iterator[Line]:
    same = f"Content-Type: none {PAGE}"
    for host in ("localhost:1337", "localhost:80", "localhost:443", "LOCALHOST", "localhost."):
        yield line("Host", host, PAGE, host=host, allowed=OK | BAD, like=same)
    for host in (
        f"{MARK}.example", f"{MARK}.example:80", "localhost.evil.example", "evil-localhost", "localhost@evil.example",
        "localhost:99999999", "localhost:abc", "localhost:-1", "localhost:", "localhost, evil", "localhost evil.example",
        "localhost/../x", "localhost?x", "localhost#x", "http://localhost", "[::1", "[::1]:80:80", "[::g]", "\xff", "é.example",
        "xn--", "a" * 300, "a." * 200, "%00", "localhost%00.evil", "localhost\\.evil", "_", "-", ".", "..", "*", "0", "''",
        "169.254.169.254", "localhost\tevil",
    ):  # fmt: skip
        yield line("Host", host[:40], PAGE, host=host, allowed=OK | BAD | {421}, is_wire=True)
    for host in (
        f"{MARK}.example",
        "localhost.evil.example",
        "localhost@evil.example",
        "evil-localhost",
        "a" * 300,
    ):
        yield line("Host", f"foreign {host[:30]}", PAGE, host=host, allowed={400, 421})
        yield line("Host", f"foreign at a page {host[:30]}", "/account/reset", host=host, allowed={400, 421})
    yield line("Host", "none", PAGE, host=None, allowed=BAD, is_wire=True)
    yield line("Host", "empty", PAGE, host="", allowed=BAD, is_wire=True)
    yield line("Host", "twice", PAGE, f"Host: {MARK}.example", allowed=BAD | {200, 421}, is_wire=True)
    yield line("Host", "twice the same", PAGE, f"Host: {HOST}", allowed=BAD | {200}, is_wire=True)
    yield line("Host", "none in 1.0", PAGE, host=None, version="HTTP/1.0", allowed=OK | BAD, is_wire=True)
    for name in ("X-Forwarded-Host", "X-Host", "X-Forwarded-Server", "X-HTTP-Host-Override", "Forwarded"):
        for value in (f"{MARK}.example", "localhost:1337", "", "\xff", "evil.example, localhost"):
            yield line("Host", f"{name}: {value}", PAGE, f"{name}: {value}", allowed=OK | BAD, like=same)
    for value in ("https", "http", "javascript", "https, http", "HTTPS", "", "x" * 3000):
        yield line(
            "Host", f"X-Forwarded-Proto: {value[:12]}", PAGE, f"X-Forwarded-Proto: {value}", allowed=OK | BAD
        )


def methods() -> Iterator[Line]:
    for target in (PAGE, "/v1/vacancies/1", MINE, "/v1/filters", TOKEN, "/v1/nothing", "/openapi.json", "/docs",
                   "/account/login", "/preview/x", "/"):  # fmt: skip
        for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "OPTIONS", "PROPFIND", "QUERY", "LOCK", "SEARCH",
                       "TRACK", "DEBUG", "PURGE", "BREW"):  # fmt: skip
            allowed = (
                {200, 204, 401, 404, 405} if method == "OPTIONS" else {400, 401, 403, 404, 405, 415, 501}
            )
            yield line("method", f"{method} {target}", target, method=method, allowed=allowed | {302, 301},
                       is_wire=method in ("TRACE", "CONNECT", "TRACK", "PURGE") or method not in ("POST",),
                       body=b"" if method in ("POST", "PUT", "PATCH") else None)  # fmt: skip
    for method in ("get", "Get", "gET", "", " ", "G ET", "GET\t", "\xff", "GET\0", "X" * 200, "GET/", "{}", "0", "-", "GET,POST",
                   "G\x7fT", "ＧＥＴ"):  # fmt: skip
        yield line("method", f"as {method[:20]!r}", PAGE, method=method, allowed=REFUSED, is_wire=True)


def accepts() -> Iterator[Line]:
    same = f"Content-Type: none {PAGE}"
    for value in ("*/*", "application/json", "application/*", "", "application/json; indent=8", "application/json;q=0.1, */*",
                  "text/html, */*;q=0.1", "a/b," * 1500 + "*/*", "application/json;" + "x=y;" * 1500):  # fmt: skip
        yield line("Accept", value[:40], PAGE, f"Accept: {value}", allowed=OK | BAD, like=same)
    for value in ("text/html", "text/*", "a/b", "a/b," * 1700, "image/webp", "application/xml", "*", "json", ";", ",", "/", "\xff",
                  "*/*;q=0", "application/json;q=0", "application/vnd.api+json", "*/json", f"{MARK}/x", "a" * 7000, '"', "*/",
                  "application/json; version=99", "text/html;level=1;q=x", "application/json;q=nan"):  # fmt: skip
        yield line("Accept", value[:40], PAGE, f"Accept: {value}", allowed={200, 400, 406})
    for name in ("Accept-Language", "Accept-Encoding", "Accept-Charset", "Accept-Datetime"):
        for value in ("", "*", "nl", "xx", "nl-" * 2000, "a" * 7000, "a," * 3500, "nl;q=" + "9" * 500, "\xff", "../../x", "-", "q=0",
                      "gzip;q=0", "identity;q=0", "gzip, " * 1000, "br;q=1e9", f"{MARK}", "en\tnl"):  # fmt: skip
            for target, status in ((PAGE, 200), ("/account/login", 200), (MINE, 401)):
                if target == PAGE or len(value) > 500 or value in ("", "\xff", "../../x"):
                    yield line(
                        "Accept",
                        f"{name}: {value[:20]} {target}",
                        target,
                        f"{name}: {value}",
                        allowed={status},
                    )


def conditions() -> Iterator[Line]:
    for name in (
        "Range",
        "If-None-Match",
        "If-Match",
        "If-Modified-Since",
        "If-Unmodified-Since",
        "If-Range",
    ):
        for value in ("", "*", '"', 'W/"', 'W/"x"', '"x"', "x", '"",' * 1500, "\xff", "bytes=0-0", "bytes=0-", "bytes=-1",
                      "bytes=5-1", "bytes=" + "0-0," * 1500, "bytes=99999999999999999999-", "items=0-1", "bytes=a-b",
                      "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 32 Foo -1 99:99:99", "0", "-1",
                      f'"{MARK}"', "Sun, 06 Nov 1994 08:49:37", "9" * 300):  # fmt: skip
            allowed = {200}
            if name == "If-None-Match" and value == "*":
                allowed = {304}
            if (name == "If-Match" and value != "*") or name == "If-Unmodified-Since":  # nginx looks at it
                allowed = {200, 412}
            if name == "If-Modified-Since":
                allowed = {200, 304}
            yield line("condition", f"{name}: {value[:24]}", PAGE, f"{name}: {value}", allowed=allowed)
        yield line(
            "condition", f"{name} of what is absent", "/v1/vacancies/1", f"{name}: *", allowed=ABSENT_HERE
        )
        yield line("condition", f"{name} of what is private", MINE, f"{name}: *", allowed=UNAUTHORIZED)


def sizes() -> Iterator[Line]:
    yield line("size", "header of 7 kB", PAGE, "X-Big: " + MARK * 1000, allowed=OK)
    for name, headers in (
        ("header of 9 kB", ["X-Big: " + "x" * 9000]), ("header of 60 kB", ["X-Big: " + "x" * 60_000]),
        ("name of 9 kB", ["x" * 9000 + ": x"]), ("cookie of 20 kB", ["Cookie: a=" + "x" * 20_000]),
        ("150 headers", [f"X-{n}: x" for n in range(150)]), ("2,000 headers", [f"X-{n}: x" for n in range(2000)]),
        ("90 headers of 7 kB", [f"X-{n}: {'x' * 7000}" for n in range(90)]),
    ):  # fmt: skip
        yield line("size", name, PAGE, *headers, allowed=OK | REFUSED, is_wire=True)
    for kb in (3, 5, 9, 70):
        yield line(
            "size",
            f"query of {kb} kB",
            f"/v1/vacancies?utm_source={'x' * kb * 1000}",
            allowed=OK | REFUSED,
            is_wire=True,
        )
        yield line("size", f"path of {kb} kB", f"/v1/{'x' * kb * 1000}", allowed=REFUSED, is_wire=True)
    yield line("size", "1,100 parameters", "/v1/vacancies?" + "a=&" * 1100, allowed=OK)
    yield line("size", "1,500 empty parameters", "/v1/vacancies?" + "&" * 1500, allowed=OK)
    yield line(
        "size",
        "200 wrong parameters",
        "/v1/vacancies?" + "&".join(f"page[{n}]" for n in range(200)),
        allowed=BAD,
    )
    yield line("size", "deep name", "/v1/vacancies?page" + "[a]" * 1000 + "=1", allowed=BAD)


# --- the request itself ------------------------------------------------------------------------


def framing(site: Site) -> Iterator[Line]:
    inner = request("/v1/filters?smuggled=1")

    def wire(name: str, raw: bytes, allowed: set[int] = REFUSED | OK) -> Line:
        return Line("framing", f"framing: {name}", raw, frozenset(allowed), "", True)

    def post(*headers: str, body: bytes, target: str = TOKEN, method: str = "POST") -> bytes:
        return request(target, "Content-Type: application/json", *headers, method=method, body=body)

    chunked = b'5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'
    yield wire(
        "length and chunks",
        post("Content-Length: 4", "Transfer-Encoding: chunked", body=b"0\r\n\r\n" + inner),
    )
    yield wire(
        "chunks and length",
        post("Transfer-Encoding: chunked", "Content-Length: 400", body=b"0\r\n\r\n" + inner),
    )
    for value in ("xchunked", "chunked, identity", "identity", "identity, chunked", "chunked, chunked", "Chunked", " chunked",
                  "\tchunked", "chunked\t", "chunked;q=1", "gzip, chunked", "gzip", "", "\x0bchunked", "chun ked", '"chunked"',
                  "deflate", "x"):  # fmt: skip
        yield wire(f"Transfer-Encoding: {value!r}", post(f"Transfer-Encoding: {value}", body=chunked))
        yield wire(f"GET with Transfer-Encoding: {value!r}",
                   post(f"Transfer-Encoding: {value}", body=b"0\r\n\r\n" + inner, method="GET", target=PAGE))  # fmt: skip
    yield wire(
        "chunked twice", post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=chunked)
    )
    yield wire(
        "chunked and identity",
        post("Transfer-Encoding: chunked", "Transfer-Encoding: identity", body=chunked),
    )
    yield wire(
        "space before the colon",
        post("Transfer-Encoding : chunked", "Content-Length: 4", body=b"0\r\n\r\n" + inner),
    )
    yield wire("underscored length", post("Content_Length: 0", f"Content-Length: {len(inner)}", body=inner))
    for value in (
        "5, 5",
        "5,6",
        "+5",
        "-1",
        "-5",
        "5 5",
        "0x5",
        "5.0",
        "1e1",
        "",
        " ",
        "９",
        "5;",
        "9" * 30,
        "05",
        "٥",
        "5_0",
        "5\t",
        "a",
    ):
        yield wire(f"Content-Length: {value[:12]!r}", post(f"Content-Length: {value}", body=b'{"a":'))
    yield wire("two lengths", post("Content-Length: 5", "Content-Length: 6", body=b'{"a":1'))
    yield wire("the same length twice", post("Content-Length: 2", "Content-Length: 2", body=b"{}"))
    for name, body in (
        ("size is negative", b"-5\r\n{}\r\n0\r\n\r\n"), ("size is huge", b"ffffffffffffffffff\r\n{}"),
        ("size is none", b"\r\n{}\r\n0\r\n\r\n"), ("size with 0x", b"0x2\r\n{}\r\n0\r\n\r\n"), ("size with +", b"+2\r\n{}\r\n0\r\n\r\n"),
        ("size with _", b"0_2\r\n{}\r\n0\r\n\r\n"), ("size with a space", b" 2\r\n{}\r\n0\r\n\r\n"), ("text", b"zz\r\n{}\r\n0\r\n\r\n"),
        ("bare LF", b"2\n{}\n0\n\n"), ("bare CR", b"2\r{}\r0\r\r"), ("no end", b"2\r\n{}\r\n"), ("end too early", b"2\r\n{}0\r\n\r\n"),
        ("extension", b"2;x=y\r\n{}\r\n0\r\n\r\n"), ("long extension", b"2;" + b"x" * 70_000 + b"\r\n{}\r\n0\r\n\r\n"),
        ("extension with LF", b"2;\n\r\n{}\r\n0\r\n\r\n"), ("trailers", b"2\r\n{}\r\n0\r\nHost: evil\r\nX-Injected: 1\r\n\r\n"),
        ("trailer without an end", b"2\r\n{}\r\n0\r\nX: 1"), ("1,000 chunks of 1", b"1\r\n \r\n" * 1000 + b"0\r\n\r\n"),
        ("leading zeros", b"0" * 5000 + b"2\r\n{}\r\n0\r\n\r\n"),
    ):  # fmt: skip
        yield wire(f"chunk: {name}", post("Transfer-Encoding: chunked", body=body))
    base = request(PAGE)
    yield wire("bare LF", base.replace(b"\r\n", b"\n"))
    yield wire("bare CR", base.replace(b"\r\n", b"\r"))
    yield wire("LF CR", base.replace(b"\r\n", b"\n\r"))
    yield wire("one bare LF", base.replace(b"\r\nConn", b"\nX-Injected: 1\r\nConn"))
    yield wire("one bare CR", base.replace(b"\r\nConn", b"\rX-Injected: 1\r\nConn"))
    for name, header in (
        ("space before the colon", b"X-A : b"), ("no colon", b"nonsense"), ("no name", b": x"), ("only a colon", b":"),
        ("space first", b" X-A: b"), ("tab first", b"\tX-A: b"), ("folded", b"X-A: b\r\n c"), ("NUL in a value", b"X-A: a\0b"),
        ("NUL in a name", b"X-\0: a"), ("control in a value", b"X-A: a\x01\x08b"), ("CR in a value", b"X-A: a\rb"),
        ("LF in a value", b"X-A: a\nX-Injected: 1"), ("raw bytes in a name", b"X-\xff\xfe: a"), ("brackets in a name", b"X-[]: a"),
        ("DEL", b"X-A: \x7f"), ("empty value", b"X-A:"), ("umlaut", "X-A: ü".encode("latin-1")), ("quote", b'X-"A": b'),
    ):  # fmt: skip
        yield wire(f"header: {name}", request(PAGE, header))
    for name, start in (
        ("HTTP/0.9", b"GET /v1/vacancies\r\n"), ("HTTP/2.0", b"GET / HTTP/2.0\r\n"), ("HTTP/9.9", b"GET / HTTP/9.9\r\n"),
        ("HTTP/1.10", b"GET / HTTP/1.10\r\n"), ("http/1.1", b"GET / http/1.1\r\n"), ("HTTP/1", b"GET / HTTP/1\r\n"),
        ("no target", b"GET  HTTP/1.1\r\n"), ("two spaces", b"GET  /  HTTP/1.1\r\n"), ("tabs", b"GET\t/\tHTTP/1.1\r\n"),
        ("space in the target", b"GET /v1 /x HTTP/1.1\r\n"), ("NUL in the target", b"GET /\0 HTTP/1.1\r\n"),
        ("raw bytes in the target", b"GET /v1/\xff\xfe HTTP/1.1\r\n"), ("raw bytes in a query", b"GET /v1/vacancies?\xff=\xfe HTTP/1.1\r\n"),
        ("CR in the target", b"GET /\rX: y HTTP/1.1\r\n"), ("control in the target", b"GET /\x01\x1b[31m HTTP/1.1\r\n"),
        ("fragment", b"GET /v1/vacancies#x HTTP/1.1\r\n"), ("backslash", b"GET \\v1\\vacancies HTTP/1.1\r\n"),
        ("relative", b"GET v1/vacancies HTTP/1.1\r\n"), ("question mark first", b"GET ?x HTTP/1.1\r\n"),
        ("authority", b"GET localhost:80 HTTP/1.1\r\n"), ("CONNECT", b"CONNECT localhost:80 HTTP/1.1\r\n"),
        ("star", b"GET * HTTP/1.1\r\n"), ("OPTIONS *", b"OPTIONS * HTTP/1.1\r\n"), ("empty lines first", b"\r\n\r\n\r\nGET / HTTP/1.1\r\n"),
        ("absolute", b"GET http://localhost/v1/vacancies HTTP/1.1\r\n"), ("absolute, foreign", b"GET http://evil.example/v1/vacancies HTTP/1.1\r\n"),
        ("absolute, https", b"GET https://localhost/v1/vacancies HTTP/1.1\r\n"), ("absolute, user", b"GET http://a:b@localhost/ HTTP/1.1\r\n"),
        ("absolute, broken", b"GET http://[/v1/vacancies HTTP/1.1\r\n"), ("absolute, file", b"GET file:///etc/passwd HTTP/1.1\r\n"),
        ("absolute, port", b"GET http://localhost:99999/ HTTP/1.1\r\n"), ("two slashes", b"GET //localhost/v1/vacancies HTTP/1.1\r\n"),
        ("brackets", b"GET //[ HTTP/1.1\r\n"), ("nothing", b"\r\n"), ("a word", b"hello\r\n"), ("JSON", b'{"a": 1}\r\n'),
        ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 40 + b"\r\n"), ("SSH", b"SSH-2.0-x\r\n"),
        ("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n"), ("PROXY", b"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET / HTTP/1.1\r\n"),
        ("PROXY 2", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + b"\0" * 12),
    ):  # fmt: skip
        yield wire(
            f"start: {name}",
            start + b"Host: localhost\r\nConnection: close\r\n\r\n",
            REFUSED | {200, 204, 301, 302, 307},
        )
    for value in ("100-continue", "200-ok", "", "100-continue, x", "\xff", "x" * 3000):
        yield wire(f"Expect: {value[:12]}", request(PAGE, f"Expect: {value}"))
        yield wire(f"Expect with a body: {value[:12]}", post(f"Expect: {value}", body=b"{}"))
    for value in ("h2c", "websocket", "TLS/1.0", "HTTP/2.0, x"):
        yield wire(
            f"Upgrade: {value}", request(PAGE, f"Upgrade: {value}", "HTTP2-Settings: AAMAAABkAAQAAP__")
        )
    # a body that a reader may take for the next request
    for target in (PAGE, "/v1/filters", MINE, "/docs", "/v1/nothing"):
        allowed = OK | BAD | UNAUTHORIZED | ABSENT_HERE
        yield wire(
            f"GET with a body {target}", request(target, f"Content-Length: {len(inner)}", body=inner), allowed
        )
        yield wire(f"HEAD with a body {target}", request(target, method="HEAD", body=inner), allowed)
    yield wire("body shorter than said", post("Content-Length: 5000", body=b"{}"))
    yield wire("body longer than said", post("Content-Length: 2", body=b"{}" + inner))
    yield wire("no body though said", post("Content-Length: 10", body=b""))
    yield wire(
        "body without a length", request(TOKEN, "Content-Type: application/json", method="POST") + b"{}"
    )


PATHS = (
    "/v1/%00", "/v1/vacancies%00", "/v1/vacancies/%00", "/v1/vacancies/1%00", "/v1/%0d%0aX-Injected:%201", "/v1/vacancies%0a",
    "/v1/vacancies%0d%0a", "/v1/vacancies/1%0a", "/v1/%c0%ae%c0%ae/", "/v1/%c0%af", "/v1/%ff", "/v1/vacancies/%ff", "/v1/%ed%a0%80",
    "/v1/%f4%90%80%80", "/v1/%", "/v1/%z", "/v1/%2", "/v1/%u0041", "/v1/..%2f..%2fetc%2fpasswd", "/v1/%2e%2e/%2e%2e/etc/passwd",
    "/v1/..;/admin/", "/v1/vacancies;x=1", "/v1/vacancies;x.css", "/v1/vacancies.json", "/v1/vacancies.xml", "/v1/vacancies.css",
    "/v1/vacancies/x.css", "/v1/vacancies/", "/v1/vacancies//", "/v1//vacancies", "/v1/./vacancies%2f", "/v1/vacancies%2f1",
    "/v1/vacancies%5c1", "/v1\\vacancies", "/v1/vacancies/1.json", "/v1/vacancies/1/form/schema/x", "/v1/vacancies/1/form.css",
    "/v1/vacancies/hot/", "/v1/vacancies/HOT", "/v1/vacancies/hot/internal/", "/v1/vacancies/internal/", "/v1/VACANCIES",
    "/v1/filters/", "/v1/filters/1", "/v1/user", "/v1/user/", "/v1/user/applications/", "/v1/users", "/v1/auth", "/v1/auth/token/",
    "/v1/auth/token/1", "/v0.1/vacancies/", "/v0.1/vacancies/1", "/v0.1/vacancies/1/form", "/v0.1/filters", "/v0.1/user/applications",
    "/v1/vacancies/internal.json", "/v0.1/vacancies/internal/", "/v0.1/%00", "/v0.1", "/v1", "/v1/", "/v0.1/", "/v1/{{7*7}}",
    "/v1/${jndi:ldap:x}", "/v1/%25s%25n%25x", "/v1/<script>", "/v1/%3Cscript%3Ealert(1)%3C/script%3E", "/v1/'%20OR%201=1--", "/v1/*",
    "/v1/vacancies/%E2%80%AE", "/v1/vacancies/%F0%9F%92%A9", "/v1/vacancies/１", "/v1/%EF%BC%8F", "/v1/metrics", "/v1/healthz",
    "/v1/.env", "/v1/.git/config", "/v1/admin/", "/v1/graphql", "/v1/swagger.json", "/v1/vacancies/1/attachments", "/v1/vacancies/1/edit",
    "/v1/vacancies/1/preview", "/v1/vacancies/%2e", "/v1/vacancies/%2e%2e%2f", "/v1/vacancies/a%2fb",
)  # fmt: skip
ELSEWHERE = (
    "/V1/vacancies", "/v2/vacancies", "/v0/vacancies", "/v1.0/vacancies", "/v01/vacancies", "/nothing", "/%00", "/%ff", "/%0d%0aX-Injected:%201",
    "/.env", "/.git/config", "/manage.py", "/db.sqlite3", "/settings.py", "/static/", "/static/%2e%2e/manage.py", "/static/..%2fmanage.py",
    "/static/%00", "/static/nothing.css", "/static/%c0%ae%c0%ae/x", "/media/../db.sqlite3", "/media/%2e%2e/db.sqlite3", "/media/x", "/media/%00",
    "/openapi.json/", "/openapi.json%00", "/openapi.yaml", "/docs/", "/docs/x", "/docs%00", "/admin/%00", "/admin/x.css", "/preview/",
    "/preview/%00", "/preview/x", "/preview/" + "a" * 3000, "/preview/%ff", "/preview/AAAA:BBBB:CCCC", "/preview/1:1:1", "/preview/é",
    "/account/reset/x/y", "/account/reset/AA/x-y", "/account/reset/OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5/set-password",
    "/account/reset/AAAA/set-password", "/account/reset/%00/x", "/account/reset/é/x", "/account/reset/MQ/%00", "/account/%00",
    "/account/login/", "/account/x.css", "/account/reset/sent/x", "/favicon.ico/", "/robots.txt%00", "/server-status", "/metrics/x", "/debug",
    "/__debug__/", "/actuator/env", "/wp-login.php", "/cgi-bin/x", "/%2f%2fevil.example", "/%5cevil.example", "/;/v1/vacancies",
)  # fmt: skip


def paths(site: Site) -> Iterator[Line]:
    for path in PATHS:
        yield line(
            "path",
            path,
            path,
            allowed={400, 404},
            is_wire=any(c in path for c in "%<\\") or not path.isascii(),
        )
    for path in ELSEWHERE:
        yield line("path", path[:60], path, allowed={200, 301, 302, 400, 401, 403, 404} if "account/" in path else
                   {400, 403, 404, 302}, is_wire=True)  # fmt: skip
    for path in ("/v1%2fvacancies", "/%76%31/vacancies", "/v1/%76acancies", "/v1/./vacancies", "//v1/vacancies", "/v1/x/../vacancies",
                 "/v1/../v1/vacancies", "/./v1/vacancies", "///v1///vacancies", "/v1/vacancies/.", "/v1/vacancies/..", "/v1/vacancies/../filters"):  # fmt: skip
        yield line("path", path, path, allowed=OK | BAD | ABSENT_HERE, is_wire=True)
    # what a cache between could take for a file, asked for with a credential
    bearer = f"Authorization: Bearer {site.tokens['A']}"
    cookie = f"Cookie: sessionid={site.sessions['A']}"
    for suffix in ("/x.css", ";x.css", "%2fx.js", "/.css", "%00.css", "%0a.css", "/%2e%2e/x.css", ".json", "%3fx.css", "%23.css", "/", "//",
                   "%5cx.css", "/..%2fx.js", ".css", "!x.css", ",x.css", "%3bx.css", "/x/../y.css"):  # fmt: skip
        for credential in (bearer, cookie):
            yield line(
                "deception",
                f"{suffix} by {credential[:6]}",
                MINE + suffix,
                credential,
                allowed={400, 401, 404},
                is_wire="%" in suffix,
            )


IDS = (
    "0", "007", "-1", "+1", "1.0", "1e3", "1_0", "%C2%B2", "%D9%A1", "%EF%BC%91", "%E0%A5%A7", "9" * 19, "9" * 20, "9" * 400,
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "2147483648", "4294967297", "abc", "%00", "1%00", "%201", "1%20",
    "1%0a", "1%09", "true", "null", "None", "NaN", "Infinity", "[]", "{}", "[1]", "1'", "1%22", "1--", "1,2", "1%2c2", "1;x.css", "1.json",
    "0x1", "0b1", "1%C2%A0", "%E2%80%8B1", "1%EF%BB%BF", "hot%00", "undefined", "*", "%25", "%2525", "-0", "00", "1-1", "1|1", "(1)",
    "__class__", "pk", "%F0%9F%98%80", "me", "a" * 3000,
)  # fmt: skip


def ids() -> Iterator[Line]:
    for pk in IDS:
        for suffix in ("", "/form", "/form/schema"):
            yield line("id", f"{pk[:24]}{suffix}", f"/v1/vacancies/{pk}{suffix}", allowed={400, 404} if "%00" in pk else ABSENT_HERE,
                       is_wire="%00" in pk or len(pk) > 1000)  # fmt: skip


NUMBERS = (
    "", "0", "-1", "-0", "+1", "1_0", "01", "1.5", "1e3", "1,2", "1;2", "abc", "NaN", "inf", "-inf", "Infinity", "null", "None", "true", "[]", "{}",
    "9" * 10, "9" * 20, "9" * 400, "2147483648", "9223372036854775808", "%00", "1%00", "%201", "1%20", "1%0a", "%2B1", "%D9%A1", "%EF%BC%91",
    "%C2%B2", "%E0%A5%A7", "last", "first", "0x10", "1'", "1--", "1%20OR%201=1", "%FF", "%C3%28", "%ED%A0%80", "1%C2%A0", "${1}", "{{1}}", "1%3B", "%25",
)  # fmt: skip
SHAPES = (
    "page=2", "page[]=2", "page[size][]=2", "page[size][0]=2", "page[size]]=2", "page[[size]=2", "page[size=2", "page%5Bsize%5D%5B%5D=2",
    "Page[size]=2", "PAGE[SIZE]=2", "page[Size]=2", "page[ size]=2", "page [size]=2", "page.size=2", "page%00[size]=2", "page[size%00]=2", "page[sise]=2",
    "page[offset]=2", "page[limit]=2", "page[cursor]=2", "page[size]=2&page[size]=3", "page[size]=2&page[size]=2", "page[number]=1&page%5Bnumber%5D=2",
    "filter=x", "filter[]=x", "filter[region]=x", "filter[id]=1", "filter[brand]=1", "filter[title__contains]=x", "filter[status]=draft",
    "filter[brand__members__password__startswith]=p", "filter[regions__value]=x", "filter[_connector]=OR", "filter[search]=", "filter[search]=%20",
    "filter[search]=%00", "filter[search]=%FF", "filter[search]=" + "a%20" * 21, "filter[search]=" + "x" * 201, "filter[search]=x&filter[search]=y",
    "filter[search][]=x", "filter[regions]=", "filter[regions]=,", "filter[regions]=a,", "filter[regions]=%20", "filter[regions]=a%00b", "filter[regions]=a'b",
    "filter[regions]=a%20b", "filter[regions]=" + "a," * 100 + "a", "filter[regions]=" + "a" * 201, "filter[regions]=%FF", "sort=", "sort=id", "sort=-id",
    "sort=brand__name", "sort=password", "sort=title,", "sort=title,-published_at", "sort=--title", "sort=+title", "sort=?", "sort=TITLE", "sort[]=title",
    "sort=title&sort=title", "sort=title%00", "sort[title]=asc", "fields=", "fields=,", "fields=password", "fields=__class__", "fields=id,", "fields=id,status",
    "fields=id,publish_from", "fields=*", "fields[vacancies]=id", "fields=id%00", "fields=ID", "fields=brand.members",
    "fields=head_recruiter.email", "sort=title;drop", "fields=%FF", "filter[regions][0]=x", "fields[0]=id",
    "pagesize]=2", "limit=100000", "offset=-1", "search=%00", "q=%00", "ordering=password", "order_by=password",
)  # fmt: skip
LISTS = ("fields=id&fields=id", "fields[]=id", "filter[regions]=x&filter[regions][]=x", "filter[regions][]=x")
IGNORED = (
    "utm_source=x", "_=1", "_=1&_=2", "format=api", "format=xml", "callback=alert", "jsonp=x", "_method=DELETE", "_connector=OR", "_negated=1",
    "id=abc", "ids=9223372036854775808", "=", "=x", "&&&", "%00=%00", "%FF=%FF", "a;b=c",
    "%5B%5D=x", "[size]=1", "%", "%zz", "x" * 500, "debug=1", "is_published=0", "status=draft", "at=2030-01-01", "now=0", "audience=internal", "lang=../../x",
    "preview=x", "indent=99", "encoding=rot13", "charset=rot13", "%F0%9F%98%80=1", "__proto__[x]=1", "constructor=1",
)  # fmt: skip


def parameters() -> Iterator[Line]:
    for name in ("page[size]", "page[number]"):
        for value in NUMBERS:
            yield line("parameter", f"{name}={value[:24]}", f"/v1/vacancies?{name}={value}", allowed=BAD)
    for shape in SHAPES:
        yield line("parameter", shape[:60], f"/v1/vacancies?{shape}", allowed=BAD, is_wire=" " in shape)
    for shape in LISTS:
        yield line("parameter", shape, f"/v1/vacancies?{shape}", allowed=OK)
    for shape in IGNORED:
        yield line("parameter", shape[:60], f"{PAGE}&{shape}", allowed=OK, like=f"Content-Type: none {PAGE}")
    for value in ("%25", "_", "%5C", "'%20OR%20'1'='1", "((a%2B)%2B)%2B", "%3Cscript%3E", "a*", "%22", "(", "NEAR(", "*:*", "%E2%80%AE", "%F0%9F%98%80",
                  "%CC%81" * 60, "%C4%B0", "%EF%AC%83" * 20, "%F0%9D%94%98", "\\", "--", "/*", "%7B%7B7*7%7D%7D", "AND", "OR"):  # fmt: skip
        for path in ("/v1/vacancies", "/v1/filters", "/v1/vacancies/hot"):
            yield line("search", f"{path} {value[:24]}", f"{path}?filter[search]={value}", allowed=OK | BAD)
    for path in ("/v0.1/vacancies",):
        for shape in ("filter[search]=x", "filter[regions]=x", "sort=title", "fields=id"):
            yield line("parameter", f"{path} {shape}", f"{path}?{shape}", allowed=BAD)
    for value in ("", "x", "%00", "%FF", "a" * 3000, "1:1:1", "null", "x&preview=y"):
        for suffix in ("", "/form", "/form/schema"):
            yield line(
                "parameter",
                f"preview{suffix} {value[:12]}",
                f"/v1/vacancies/{HIDDEN['draft']}{suffix}?preview={value}",
                allowed={400, 404},
            )


# --- bodies ------------------------------------------------------------------------------------


def bodies() -> Iterator[Line]:
    def token(
        name: str,
        body: bytes,
        *headers: str,
        allowed: set[int] = BAD,
        kind: str = "application/json",
        **how: object,
    ) -> Line:
        heads = [*([f"Content-Type: {kind}"] if kind else []), *headers]
        if len(body) > 60_000:  # nginx takes 64 kB
            allowed = allowed | {413}
        return line("body", name, TOKEN, *heads, method="POST", body=body, allowed=allowed, **how)  # type: ignore[arg-type]

    for name, body in (
        ("empty", b""), ("broken", b"{"), ("array", b"[]"), ("number", b"1"), ("text", b'"x"'), ("null", b"null"), ("NaN", b"NaN"), ("true", b"true"),
        ("deep arrays", b"[" * 100_000), ("deep objects", b'{"a":' * 100_000), ("deep and closed", b"[" * 5000 + b"]" * 5000),
        ("huge number", b'{"username": ' + b"9" * 100_000 + b"}"), ("exponent", b'{"username": {"a": 1e999999}, "password": 1}'), ("UTF-16", '{"a": 1}'.encode("utf-16")),
        ("not UTF-8", b'{"username": "\xff"}'), ("NUL", b'{"username": "\0"}'), ("zeros", b"\0" * 1000), ("two objects", b"{}{}"), ("comment", b"{} // x"),
        ("single quotes", b"{'username': 'x'}"), ("XML", b"<x/>"), ("trailing comma", b'{"username": "x",}'), ("BOM", b"\xef\xbb\xbf{}"), ("no members", b"{}"),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0"), ("pickle", b"\x80\x04\x95cos\nsystem\n."),
    ):  # fmt: skip
        yield token(name, body)
    for name, member in (
        ("NUL", "\0"), ("NULs within", f"{MARK}\0b"), ("nothing", ""), ("blank", " "), ("object", {"$ne": ""}), ("array", ["x"]), ("null", None), ("true", True),
        ("151 characters", "u" * 151), ("lone surrogate", "\ud800"), ("emoji", "\U0001f4a9" * 50), ("10 kB", MARK * 1500), ("newlines", "a\r\nX-Injected: 1"), ("number", 2**70),
    ):  # fmt: skip
        for member_name in ("username", "password"):
            value = json.dumps(
                {"username": f"hostile {name}", "password": MARK} | {member_name: member}
            ).encode()
            yield token(f"{member_name}: {name}", value, allowed={400, 401})
    good = json.dumps({"username": f"hostile {MARK}", "password": MARK}).encode()
    yield token("wrong password", good, allowed=UNAUTHORIZED)
    yield token("a member too many", good[:-1] + b', "is_staff": true, "__proto__": {}}', allowed={400, 401})
    yield token("a member twice", good[:-1] + b', "username": ["x"]}', allowed={400, 401})
    for kind in ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "multipart/form-data", "application/json-seq",
                 "application/yaml", "image/png", MARK, "*/*", "application/*"):  # fmt: skip
        # a type that is not said, or any, leaves JSON
        yield token(f"as {kind or 'nothing'}", good, kind=kind, allowed={400, 401, 415})
    for charset in (
        "rot13",
        "zlib",
        "utf-16",
        "cp037",
        "undefined",
        "idna",
        "nosuch",
        "",
        "utf-7",
        'utf-8"',
        "x" * 500,
    ):
        # each for another account, or it is locked
        other = json.dumps({"username": f"of {charset}"[:99], "password": MARK}).encode()
        yield token(
            f"charset {charset[:12]}", other, kind=f"application/json; charset={charset}", allowed={400, 401}
        )
    good = json.dumps({"username": "hostile too", "password": MARK}).encode()
    yield token("RFC 2231", good, kind="application/json; x*=nosuch''y", allowed={400, 401})
    yield token("Content-Encoding", good, "Content-Encoding: gzip", allowed={400, 401, 415})
    yield token(
        "3 MB", b'{"username": "' + b"x" * 3_000_000 + b'"}', allowed={400, 413, CLOSED}, is_wire=True
    )
    yield token(
        "20 MB", b'{"username": "' + b"x" * 20_000_000 + b'"}', allowed={400, 413, CLOSED}, is_wire=True
    )
    yield token("3 MB of blanks", b" " * 3_000_000, allowed={400, 413, CLOSED}, is_wire=True)
    yield token("many members", json.dumps({f"k{n}": n for n in range(20_000)}).encode())
    for target in (PAGE, "/v1/filters", MINE):
        yield line(
            "body",
            f"GET {target}",
            target,
            "Content-Type: application/json",
            body=b'{"page[size]": 1',
            allowed=OK | BAD | UNAUTHORIZED,
        )
        yield line(
            "body",
            f"GET form {target}",
            target,
            "Content-Type: application/x-www-form-urlencoded",
            body=b"page[size]=1",
            allowed=OK | BAD | UNAUTHORIZED,
        )
    for target in ("/v1/vacancies", "/v1/filters", MINE, "/v1/vacancies/1"):
        yield line(
            "body",
            f"POST {target}",
            target,
            "Content-Type: application/json",
            method="POST",
            body=b"[" * 10_000,
            allowed=METHOD | UNAUTHORIZED,
        )


def multipart(*parts: bytes, boundary: bytes = b"x") -> bytes:
    return (
        b"".join(b"--" + boundary + b"\r\n" + part + b"\r\n" for part in parts) + b"--" + boundary + b"--\r\n"
    )


def forms(site: Site) -> Iterator[Line]:
    csrf = "c" * 32
    seen = (200, 302, 400, 403, 413, 429, CLOSED)

    def field(name: str, value: bytes = b"x", *headers: bytes) -> bytes:
        return b"\r\n".join(
            (b'Content-Disposition: form-data; name="' + name.encode() + b'"', *headers, b"", value)
        )

    token = field("csrfmiddlewaretoken", csrf.encode())
    for page in ("/account/login", "/admin/login/", "/account/reset"):
        for name, kind, body in (
            ("no boundary", "multipart/form-data", b"x"), ("empty boundary", "multipart/form-data; boundary=", b"x"),
            ("boundary of 5 kB", "multipart/form-data; boundary=" + "b" * 5000, b"x"), ("raw boundary", "multipart/form-data; boundary=\xff", b"x"),
            ("quoted boundary", 'multipart/form-data; boundary="x;y"', multipart(token, boundary=b"x;y")),
            ("unended", "multipart/form-data; boundary=x", multipart(token)[:-20]), ("empty", "multipart/form-data; boundary=x", b""),
            ("no name", "multipart/form-data; boundary=x", multipart(token, b"Content-Disposition: form-data\r\n\r\nx")),
            ("no disposition", "multipart/form-data; boundary=x", multipart(token, b"\r\nx")),
            ("path in a file name", "multipart/form-data; boundary=x",
             multipart(token, b'Content-Disposition: form-data; name="f"; filename="../../../etc/' + MARK.encode() + b'"\r\n\r\nx')),
            ("NUL in a file name", "multipart/form-data; boundary=x", multipart(token, b'Content-Disposition: form-data; name="f"; filename="a\0.png"\r\n\r\nx')),
            ("file name of dots", "multipart/form-data; boundary=x", multipart(token, b'Content-Disposition: form-data; name="f"; filename=".."\r\n\r\nx')),
            ("name in RFC 2231", "multipart/form-data; boundary=x", multipart(token, b"Content-Disposition: form-data; name*=nosuch''f\r\n\r\nx")),
            ("file name in RFC 2231", "multipart/form-data; boundary=x", multipart(token, b"Content-Disposition: form-data; name=\"f\"; filename*=nosuch''f\r\n\r\nx")),
            ("base64", "multipart/form-data; boundary=x", multipart(token, field("username", b"!!!!", b"Content-Transfer-Encoding: base64"))),
            ("base64, half", "multipart/form-data; boundary=x", multipart(token, field("username", b"YWJ", b"Content-Transfer-Encoding: base64"))),
            ("base64, blanks", "multipart/form-data; boundary=x", multipart(token, field("username", b" " * 300_000 + b"YQ==", b"Content-Transfer-Encoding: base64"))),
            ("unknown coding", "multipart/form-data; boundary=x", multipart(token, field("username", b"x", b"Content-Transfer-Encoding: rot13"))),
            ("charset of a part", "multipart/form-data; boundary=x", multipart(token, field("username", b"x", b"Content-Type: text/plain; charset=rot13"))),
            ("_charset_", "multipart/form-data; boundary=x", multipart(token, field("_charset_", b"rot13"), field("username", b"\xff"))),
            ("many parts", "multipart/form-data; boundary=x", multipart(token, *(field(f"f{n}") for n in range(25_000)))),
            ("many files", "multipart/form-data; boundary=x",
             multipart(token, *(b'Content-Disposition: form-data; name="f"; filename="x"\r\n\r\nx' for n in range(150)))),
            ("long header", "multipart/form-data; boundary=x", multipart(token, field("u", b"x", b"X-A: " + b"x" * 100_000))),
            ("nested", "multipart/form-data; boundary=x", multipart(token, b"Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n\r\nx\r\n--y--")),
            ("NUL", "application/x-www-form-urlencoded", f"csrfmiddlewaretoken={csrf}&username=%00&password=%00&email=%00".encode()),
            ("not UTF-8", "application/x-www-form-urlencoded", f"csrfmiddlewaretoken={csrf}&username=%FF&password=%FF&email=%FF".encode()),
            ("charset", "application/x-www-form-urlencoded; charset=rot13", f"csrfmiddlewaretoken={csrf}&username=x&password=x&email=x".encode()),
            ("charset cp037", "application/x-www-form-urlencoded; charset=cp037", f"csrfmiddlewaretoken={csrf}&username=x&password=x&email=x".encode()),
            ("1 MB of a name", "application/x-www-form-urlencoded", f"csrfmiddlewaretoken={csrf}&username={'m' * 1_000_000}&password=x&email=x@x".encode()),
            ("25,000 fields", "application/x-www-form-urlencoded", f"csrfmiddlewaretoken={csrf}&".encode() + b"a=&" * 25_000),
            ("fields twice", "application/x-www-form-urlencoded", f"csrfmiddlewaretoken={csrf}&username=a&username=b&password=c&password=d&email=a&email=b".encode()),
            ("next elsewhere", "application/x-www-form-urlencoded", f"csrfmiddlewaretoken={csrf}&username=a&password=b&next=//evil.example".encode()),
            ("header in an address", "application/x-www-form-urlencoded", f"csrfmiddlewaretoken={csrf}&email=a%40x.example%0d%0aBcc:%20b%40x.example&username=a".encode()),
            ("JSON", "application/json", b"{"),
        ):  # fmt: skip
            yield line("form", f"{page} {name}", page, f"Content-Type: {kind}", f"Cookie: csrftoken={csrf}", f"Origin: {site.origin}", method="POST", body=body,
                       allowed=set(seen), is_wire=True)  # fmt: skip
        yield line("form", f"{page} without a token", page, method="POST", body=b"username=x", allowed={403})
        yield line("form", f"{page} from elsewhere", page, f"Cookie: csrftoken={csrf}", "Origin: https://evil.example", "Content-Type: application/x-www-form-urlencoded",
                   method="POST", body=f"csrfmiddlewaretoken={csrf}".encode(), allowed={403})  # fmt: skip
    for target in ("//evil.example", "https://evil.example", "javascript:alert(1)", "\\\\evil.example", "/\\evil.example", "%0d%0aX-Injected:1", "%00", "///evil.example",
                   "http:///evil.example", "%09//evil.example", "https:evil.example", "/%2f/evil.example"):  # fmt: skip
        for page in ("/account/login", "/admin/login/", "/account/logout"):
            yield line(
                "redirect",
                f"{page} {target}",
                f"{page}?next={target}",
                f"Cookie: sessionid={site.sessions['A']}",
                allowed={200, 302, 405},
                is_wire=True,
            )
        yield line("redirect", f"language {target}", "/admin/language", f"Cookie: csrftoken={csrf}", "Content-Type: application/x-www-form-urlencoded", f"Referer: {target}",
                   f"Origin: {site.origin}", method="POST", body=f"csrfmiddlewaretoken={csrf}&language=nl&next={target}".encode(), allowed={204, 302, 400, 403})  # fmt: skip
    for language in ("%00", "xx", "../../x", "n" * 600, "nl%0d%0aX-Injected:1", ""):
        yield line("form", f"language {language[:12]}", "/admin/language", f"Cookie: csrftoken={csrf}", "Content-Type: application/x-www-form-urlencoded",
                   f"Origin: {site.origin}", method="POST", body=f"csrfmiddlewaretoken={csrf}&language={language}".encode(), allowed={204, 302, 400, 403})  # fmt: skip


# --- the workplace, signed in as a recruiter ---------------------------------------------------

QUERIES = (
    "_facets", "_facets=1", "_facets=%00", "p=99999999999999999999", "p=-1", "p=0", "p=abc", "p=%00", "p=1e9", "p=٣", "all=", "all=1", "o=99", "o=-99.1", "o=abc", "o=..", "o=%00",
    "o=" + "1." * 500, "o=9" * 1 + "9" * 30, "q=%00", "q=%FF", "q='", "q=%22", "q=\\", "q=" + "a%20" * 300, "q=" + "x" * 3000, "e=1", "e=%00", "id__exact=abc", "id__exact=%00",
    "id__exact=" + "9" * 30, "id=99999999999999999999", "pk=1", "pk__in=1,2", "pk__in=a", "id__in=", "brand=abc", "brand__id__exact=abc", "brand__id__exact=%00",
    "brand__id__exact=" + "9" * 30, "brand__id__exact=-1", "brand__isnull=maybe", "brand__isnull=%00", "brand__members__password__startswith=p", "title__regex=(a%2B)%2B%24",
    "title__nosuch=x", "nosuch=x", "nosuch__x=y", "__=x", "=x", "status__exact=%00", "status__exact=nosuch", "audience__exact=nosuch", "is_hot__exact=maybe", "_connector=OR",
    "_negated=1", "_popup=1", "_popup=%00", "_to_field=id", "_to_field=password", "_to_field=%00", "_to_field=brand__members", "_changelist_filters=%00", "_preserved=%FF", "action=x",
    "_selected_action=x", "publish_from__gte=abc", "publish_from__gte=0000-00-00", "publish_from__year=99999999", "publish_from__date=x", "created_at__day=abc", "state=nosuch",
    "state=%00", "attention=nosuch", "attention=%00", "when=nosuch", "when=%00", "stage=abc", "stage=" + "9" * 30, "stage=%00", "stage__id__exact=x", "user=abc", "user__id__exact=x",
    "form=abc", "form__id__exact=%00", "vacancy=abc", "vacancy__id__exact=x", "head_recruiter__id__exact=x", "filter__id__exact=x", "filter=x", "groups__id__exact=x",
    "is_staff__exact=x", "language__exact=x", "language=%00", "extends__isnull=x", "drf__x=1", "show_result_count=1", "list_editable=1", "%00=%00", "%FF=1", "a" * 2000 + "=1",
    "brand__id__exact=1&brand__id__exact=2", "p=1&p=2", "created_at__range=1", "title=%00", "title__exact=x",
)  # fmt: skip
CHANGELISTS = (
    "vacancies/vacancy", "vacancies/brand", "vacancies/recruiter", "vacancies/filter", "vacancies/filteroption", "forms_structure/form", "forms_structure/consenttext",
    "applications/application", "applications/historyentry", "applications/stage", "applications/status", "applications/token", "applications/accesslog", "auth/user", "auth/group",
)  # fmt: skip
SEEN = {200, 302, 400, 403, 404, 405}
ROWS = (
    "abc",
    "0",
    "-1",
    "9" * 19,
    "9" * 30,
    "%00",
    "1%00",
    "_5F",
    "_00",
    "_5B",
    "%FF",
    "é",
    "1,2",
    "' OR 1=1",
    "None",
    "1%0a",
    "+1",
    "１",
    "x" * 2000,
    "..",
    "1_0",
    "1.0",
)


def workplace(site: Site) -> Iterator[Line]:
    csrf = "c" * 32
    signed = f"Cookie: sessionid={site.sessions['recruiter']}; csrftoken={csrf}"
    root = f"Cookie: sessionid={site.sessions['root']}; csrftoken={csrf}"

    def get(target: str, cookie: str = signed, **how: object) -> Line:
        who = "root" if cookie == root else "recruiter"
        return line("workplace", f"{who} {target[:90]}", target, cookie, allowed=SEEN, is_wire=True, **how)  # type: ignore[arg-type]

    def post(
        target: str, data: str, cookie: str = signed, kind: str = "application/x-www-form-urlencoded"
    ) -> Line:
        body = f"csrfmiddlewaretoken={csrf}&{data}".encode() if "urlencoded" in kind else data.encode()
        who = "root" if cookie == root else "recruiter"
        headers = [cookie, f"Content-Type: {kind}", f"Origin: {site.origin}", f"X-CSRFToken: {csrf}"]
        return line(
            "workplace",
            f"{who} POST {target} {data[:70]}",
            target,
            *headers,
            method="POST",
            body=body,
            allowed=SEEN | {409, 422},
            is_wire=True,
        )

    for query in QUERIES:
        yield get(f"/admin/vacancies/vacancy/?{query}")
    for n, name in enumerate(CHANGELISTS):
        for query in (
            "_facets",
            "p=99999999999999999999",
            "p=abc",
            "q=%00",
            "o=99.-98",
            "_to_field=password",
            "nosuch__x=y",
            "id__exact=abc",
            "e=1",
        ):
            yield get(f"/admin/{name}/?{query}", root)
        for query in QUERIES[n::15]:
            yield get(f"/admin/{name}/?{query}", root)
        for action in ("delete_selected", "nosuch", "", "publish", "archive", "%00"):
            for chosen in ("_selected_action=abc", "_selected_action=%00", "_selected_action=" + "9" * 30, "_selected_action=", "_selected_action=1&select_across=1&index=abc",
                           "select_across=%00&_selected_action=x&index=99", "_selected_action=-1&post=yes"):  # fmt: skip
                if action in ("delete_selected", "publish") or chosen.endswith("abc"):
                    yield post(f"/admin/{name}/", f"action={action}&{chosen}", root)
        for pk in ROWS if n % 5 == 0 else ROWS[:6]:
            for page in ("change", "history", "delete"):
                yield get(f"/admin/{name}/{pk}/{page}/", root)
            yield get(f"/admin/{name}/{pk}/", root)
        yield post(f"/admin/{name}/add/", "a=%00", root)
        yield post(
            f"/admin/{name}/add/",
            "name=%00&title=%00&username=%00&text=%00&label=%00&label_en=%00&language=%00&brand=%00&id=%00",
            root,
        )
        yield get(
            f"/admin/{name}/add/?brand=abc&vacancy=%00&form="
            + "9" * 30
            + "&user=x&permissions=a,b&publish_from=x&filter=%00&_to_field=x&_popup=%00",
            root,
        )
        yield get(
            f"/admin/{name}/add/?brand=%00&head_recruiter=%FF&stage=-1&groups=x&extends=abc&status=%00&is_hot=maybe&_changelist_filters=%FF",
            root,
        )
    for action in ("delete_selected", "publish", "schedule", "unpublish", "extend", "archive", "duplicate"):
        for chosen in ("abc", "%00", "9" * 30, "1&_selected_action=abc", "-1", "", "1_0", "１"):
            yield post("/admin/vacancies/vacancy/", f"action={action}&_selected_action={chosen}")
    for pk in ROWS:
        for page in (
            "publish",
            "schedule",
            "unpublish",
            "extend",
            "archive",
            "duplicate",
            "preview",
            "application-form",
            "versions/1",
        ):
            yield get(f"/admin/vacancies/vacancy/{pk}/{page}/")
        for page in ("sections", "export", "change"):
            yield get(f"/admin/forms_structure/form/{pk}/{page}/")
    for page in ("publish", "schedule", "unpublish", "extend", "archive", "duplicate"):
        for query in (
            "ids=abc",
            "ids=%00",
            "ids=" + "9" * 30,
            "ids=1,2,abc",
            "ids=" + "1," * 2000,
            "ids=",
            "pks=abc",
            "selected=x",
            "_selected_action=abc",
        ):
            yield get(f"/admin/vacancies/vacancy/{page}/?{query}")
            yield get(f"/admin/vacancies/vacancy/{site.own_draft}/{page}/?{query}")
        for data in ("publish_from_0=x&publish_from_1=%00", "publish_from_0=99999-01-01&publish_from_1=1", "day=%00", "day=0000-00-00", "day=9999-12-31", "publish_from_0=9999-12-31&publish_from_1=23:59:59", "seen=%00",
                     "publish_from_0=0001-01-01&publish_from_1=00:00:00", "version=%00&seen=abc"):  # fmt: skip
            yield post(f"/admin/vacancies/vacancy/{site.own_draft}/{page}/", data)
    change = f"/admin/vacancies/vacancy/{site.own_draft}/change/"
    for data in (
        "", "title=%00", "title=" + "x" * 300_000, "title=x&version=abc", "version=%00", "brand=abc", "brand=%00", "brand=" + "9" * 30, "head_recruiter=%00", "publish_from_0=x&publish_from_1=y",
        "attachments-TOTAL_FORMS=abc", "attachments-TOTAL_FORMS=%00", "attachments-TOTAL_FORMS=-1", "attachments-TOTAL_FORMS=99999999", "attachments-TOTAL_FORMS=" + "9" * 5000,
        "attachments-TOTAL_FORMS=1&attachments-INITIAL_FORMS=1&attachments-0-id=abc", "attachments-TOTAL_FORMS=1&attachments-INITIAL_FORMS=1&attachments-0-id=%00",
        "attachments-TOTAL_FORMS=1&attachments-INITIAL_FORMS=0&attachments-0-vacancy=999999", "recruiter_links-TOTAL_FORMS=1&recruiter_links-INITIAL_FORMS=1&recruiter_links-0-id=" + "9" * 30,
        "_to_field=x&_popup=%00", "_saveasnew=1", "regions=%00", "regions=abc", "regions=" + "9" * 30, "description=%00", "description=" + "<b>" * 30_000, "video=javascript:alert(1)", "status=nosuch",
    ):  # fmt: skip
        yield post(change, data)
        yield post("/admin/vacancies/vacancy/add/", data)
    for app, model, name in (
        ("vacancies", "vacancy", "brand"), ("vacancies", "vacancy", "nosuch"), ("vacancies", "vacancy", "title"), ("vacancies", "vacancy", "id"), ("vacancies", "vacancy", "%00"),
        ("vacancies", "nosuch", "brand"), ("nosuch", "vacancy", "brand"), ("%00", "%00", "%00"), ("auth", "user", "groups"), ("auth", "user", "password"), ("auth", "permission", "content_type"),
        ("admin", "logentry", "user"), ("applications", "application", "user"), ("applications", "application", "vacancy"), ("", "", ""), ("vacancies", "vacancy", "versions"),
        ("vacancies", "vacancyoption", "option"), ("vacancies", "vacancy", "head_recruiter"), ("vacancies", "vacancy", "pk"), ("vacancies", "vacancy", "brand__members"), ("%FF", "x", "y"),
        ("vacancies", "vacancy", "recruiter_links"), ("vacancies", "vacancy", "choices"), ("contenttypes", "contenttype", "permission"), ("vacancies", "brand", "members"),
        ("applications", "token", "user"), ("applications", "stagechange", "stage"), ("sessions", "session", "session_key"), ("vacancies", "vacancy", "form"),
    ):  # fmt: skip
        for tail in (
            "",
            "&term=%00",
            "&term=x&page=abc",
            "&page=-1",
            "&page=99999999999999999999",
            "&page=last",
            "&term=" + "x" * 2000,
        ):
            yield get(f"/admin/autocomplete/?app_label={app}&model_name={model}&field_name={name}{tail}")
        yield get(f"/admin/autocomplete/?app_label={app}&model_name={model}&field_name={name}&term=x", root)
        yield post("/admin/autocomplete/", f"app_label={app}&model_name={model}&field_name={name}")
    yield get("/admin/autocomplete/")
    yield get("/admin/autocomplete/?app_label=vacancies")
    for content_type in ("1", "7", "abc", "%00", "9" * 30, "-1", "0"):
        for pk in ("1", "abc", "%00", "9" * 30, "-1", "_5F"):
            yield get(f"/admin/r/{content_type}/{pk}/")
            yield get(f"/admin/r/{content_type}/{pk}/", root)
    for number in range(1, 25):  # every kind of row there is
        yield get(f"/admin/r/{number}/abc/", root)
    for query in (
        "s=%00",
        "s=%FF",
        "s=" + "x" * 3000,
        "s='&extended",
        "s=a&page=abc",
        "s=a&page=99999999999999999999",
        "s=a&extended=%00&page=-1",
        "s=\\",
        "s",
    ):
        yield get(f"/admin/search/?{query}")
        yield get(f"/admin/search/?{query}", root)
    for path in ("jsi18n/", "texts.js", "texts.js?packages=nosuch", "password_change/", "nosuch/", "vacancies/nosuch/", "nosuch/vacancy/", "vacancies/", "vacancies/%00/", "%FF/", "doc/", "vacancies/vacancy/deleted/?p=abc",
                 "vacancies/vacancy/deleted/?page=99999999999999999999", "vacancies/vacancy/deleted/?q=%00", "language", "?%00=%00", "vacancies/vacancy", "vacancies/vacancy//", "login/?next=//evil.example",
                 f"vacancies/vacancy/{site.own_draft}/history/?page=abc", f"vacancies/vacancy/{site.own_draft}/history/?p=%00", f"vacancies/vacancy/{site.own_draft}/versions/99999999999999999999/",
                 f"vacancies/vacancy/{site.own_draft}/versions/abc/", f"vacancies/vacancy/{site.own_draft}/versions/1/?with=abc", f"vacancies/vacancy/{site.own_draft}/versions/1/?against=%00",
                 f"forms_structure/form/{site.own_form}/export/?revision=abc", f"forms_structure/form/{site.own_form}/export/?revision=%00", f"forms_structure/form/{site.own_form}/history/?p=abc"):  # fmt: skip
        yield get(f"/admin/{path}")
        yield get(f"/admin/{path}", root)
    for data in ("", "{", "[]", "null", '{"structure": null}', '{"structure": 1}', '{"structure": "x"}', '{"structure": [1]}', '{"structure": [{}]}', '{"structure": [{"title": 1, "fields": 2}]}',
                 '{"structure": [{"title": "\\u0000", "fields": []}]}', '{"structure": [{"title": "x", "description": "", "fields": [{"name": {}, "type": [], "label": 1}]}]}',
                 '{"structure": [{"title": "x", "description": "", "fields": [null]}]}', '{"structure": [], "revision": "abc", "name": 1, "language": []}',
                 '{"structure": [], "revision": 1e999, "name": "x", "language": "en"}', '{"structure": [], "revision": ' + "9" * 5000 + "}", "[" * 100_000, '{"structure": ' + "[" * 900 + "]" * 900 + "}",
                 '{"structure": [{"title": "\\ud800", "description": "", "fields": []}], "revision": 1, "name": "\\ud800", "language": "en"}', "\xff", '{"structure": NaN}', "true", "1",
                 '{"structure": [{"title": "x", "description": "", "fields": [{"name": "a", "type": "select", "label": "a", "required": 1, "css": "x", "options": 5, "conditional": 5}]}]}'):  # fmt: skip
        for page in ("save", "check", "copy", "extend"):
            yield post(f"/admin/forms_structure/form/{site.own_form}/{page}/", data, kind="application/json")
    for data in ("revision=abc&seen=abc", "revision=%00", "revision=" + "9" * 30 + "&seen=1", ""):
        yield post(f"/admin/forms_structure/form/{site.own_form}/restore/", data)
    for data in ("", "a=%00", "title=%00", "TOTAL_FORMS=x"):
        yield post(f"/admin/vacancies/vacancy/{site.own_draft}/review/", data)
        yield post("/admin/vacancies/vacancy/review/", data)
    for data in ("label=%00", "label=", "label=" + "x" * 100_000, "label=%FF"):
        yield post(f"/admin/vacancies/filter/{site.filter}/option/", data, root)
    for pk in ("abc", "%00", "9" * 30):
        yield post(f"/admin/vacancies/filter/{pk}/option/", "label=x", root)
        yield get(f"/admin/vacancies/filter/{pk}/options/", root)
    for data in ("stage=abc&seen=abc", "stage=%00&seen=%00", "stage=" + "9" * 30 + "&seen=" + "9" * 30, "", "history-TOTAL_FORMS=abc", "history-TOTAL_FORMS=1&history-INITIAL_FORMS=1&history-0-id=abc",
                 "history-TOTAL_FORMS=1&history-INITIAL_FORMS=0&history-0-name=%00&history-0-planned_at_0=x"):  # fmt: skip
        yield post(f"/admin/applications/application/{site.own_application}/change/", data)
    for data in (
        "username=%00",
        "username=x&password1=%00&password2=%00",
        "is_superuser=maybe&groups=abc&user_permissions=%00",
        "date_joined_0=x",
        "groups=" + "9" * 30,
    ):
        yield post(f"/admin/auth/user/{site.users['A']}/change/", data, root)
        yield post("/admin/auth/user/add/", data, root)
        yield post(f"/admin/auth/user/{site.users['A']}/password/", data, root)
    for data in ("old_password=%00&new_password1=%00&new_password2=%00", "new_password1=" + "x" * 5000):
        yield post("/admin/password_change/", data)


# --- what is hidden is as if it were not there -------------------------------------------------

CONDITIONS = (
    "X-Nothing: x", "If-None-Match: *", "If-Match: *", 'If-Match: "x"', "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT", "Range: bytes=0-0",
    "Authorization: Bearer zqxmark", "Authorization: Bearer", f"Cookie: sessionid={'a' * 32}", "X-Forwarded-For: 10.0.0.1", "Accept: text/html", "Accept-Language: nl",
    "Origin: https://evil.example", "Content-Type: a/b; charset=rot13", "Cache-Control: no-cache", "Accept-Encoding: gzip",
)  # fmt: skip


@dataclass(frozen=True)
class Twin:
    """Two requests whose answers may differ in the id alone."""

    name: str
    hidden: Line
    absent: Line


def twins(site: Site) -> Iterator[Twin]:
    applicant = f"Authorization: Bearer {site.tokens['A']}"
    headers = [*CONDITIONS, applicant, f"Cookie: sessionid={site.sessions['A']}"]
    for kind, pk in HIDDEN.items():
        for suffix in (
            "",
            "/form",
            "/form/schema",
            "/x",
            "?preview=x",
            "?fields=id",
            "/form?preview=x",
            ".json",
        ):
            for method in ("GET", "HEAD", "OPTIONS", "POST"):
                for header in headers if method == "GET" and suffix in ("", "/form") else headers[:2]:
                    both = [line("twin", f"{kind} {method} {suffix} {header[:24]}", f"/v1/vacancies/{n}{suffix}", header, method=method,
                                 body=b"" if method == "POST" else None, allowed={200, 204, 304, 400, 404, 405, 406}) for n in (pk, ABSENT)]  # fmt: skip
                    yield Twin(both[0].name, *both)


def corpus(site: Site) -> list[Line]:
    """Every line, the plain ones that others are compared to first."""
    return [
        *content_types(), *cookies(), *credentials(site), *environment(), *hosts(), *methods(), *accepts(), *conditions(), *sizes(), *framing(site),
        *paths(site), *ids(), *parameters(), *bodies(), *forms(site), *workplace(site),
    ]  # fmt: skip
