# ruff: noqa: E501 - tables of requests
"""Headers: content types, cookies, credentials, names of environment variables, hosts, accepted types, conditions."""

import base64
from collections.abc import Iterator

from tests.hostile.content import Content
from tests.hostile.corpus.case import HOST, INTERNAL, MARK, MINE, PAGE, REFUSED, TOKEN, Case, case

CHARSETS = (
    "rot13",
    "rot_13",
    "zlib",
    "hex",
    "base64",
    "bz2",
    "undefined",
    "idna",
    "punycode",
    "uu",
    "quopri",
    "unicode_escape",
    "raw_unicode_escape",
    "utf-7",
    "utf-16",
    "utf-32",
    "utf-8-sig",
    "cp037",
    "cp500",
    "cp1026",
    "shift_jis",
    "iso2022_jp",
    "hz",
    "mbcs",
    "oem",
    "latin-1",
    f"no-such-{MARK}",
    "",
    '""',
    '"',
    "\xff",
    "../../etc/passwd",
    "x" * 3000,
    "utf-8; charset=rot13",
    '"rot13"',
    "ROT13",
    "rot13 ",
)
PARAMETERS = (
    "x*=nosuch''abc",
    f"charset*=nosuch''{MARK}",
    "charset*0=rot; charset*1=13",
    "x*=utf-8'en'%ff",
    "x*='",
    "x*=rot13''a",
    "boundary*=nosuch''x",
    "boundary=x*=nosuch''y",
    "charset",
    ";;;=;",
    "boundary=x; charset=rot13",
    'boundary="a;b"; charset=zlib',
    "boundary=" + "y" * 3000,
    "=" * 2000,
    ";" * 3000,
    "boundary=\xff",
)


def content_types() -> Iterator[Case]:
    targets = {
        PAGE: 200,
        "/v1/filters": 200,
        MINE: 401,
        "/docs": 200,
        "/account/login?next=/x": 200,
    }
    of_all = (PAGE, "/v1/filters", "/docs")  # the others contain a masked CSRF token
    for target, status in targets.items():
        yield case("Content-Type", f"baseline {target}", target, allowed={status})
        for tail in [f"charset={name}" for name in CHARSETS] + list(PARAMETERS):
            is_few = target != PAGE and tail not in (
                "charset=rot13",
                "charset=undefined",
                "charset=cp037",
                "x*=nosuch''abc",
                "charset=zlib",
            )
            if not is_few:
                yield case(
                    "Content-Type",
                    f"{target} {tail[:40]}",
                    target,
                    f"Content-Type: text/plain; {tail}",
                    allowed={status},
                    same_as=f"Content-Type: baseline {target}" if target in of_all else "",
                )
    for kind in (
        "",
        ";",
        "/",
        "text",
        "\xff/\xfe",
        f"{MARK}/x",
        "multipart/form-data",
        "a" * 7000,
        "application/json",
        "application/x-www-form-urlencoded; charset=rot13",
        "multipart/form-data; boundary=x",
    ):
        yield case(
            "Content-Type",
            f"kind {kind[:40]}",
            PAGE,
            f"Content-Type: {kind}",
            allowed={200},
            same_as=f"Content-Type: baseline {PAGE}",
        )
    for method in ("HEAD", "OPTIONS", "POST", "DELETE"):
        allowed = {"HEAD": {200}, "OPTIONS": {204}}.get(method, {405})
        for name in ("rot13", "undefined", "cp037"):
            yield case(
                "Content-Type",
                f"{method} {name}",
                PAGE,
                f"Content-Type: a/b; charset={name}",
                method=method,
                body=None if method in ("HEAD", "OPTIONS") else b"",
                allowed=allowed,
            )


NULS = r'"' + r"\000" * 9 + '"'
COOKIES = (
    f"sessionid={NULS}",
    f"csrftoken={NULS}",
    f"messages={NULS}",
    f"django_language={NULS}",
    f"sessionid={MARK}",
    f"csrftoken={MARK}",
    f"sessionid={'a' * 32}",
    f"sessionid={'A' * 32}",
    f"sessionid={'é' * 16}",
    f"sessionid={'a' * 7000}",
    "sessionid=",
    "sessionid",
    "=",
    ";",
    ";;;;",
    "=;=;=",
    "\xff=\xfe",
    f'sessionid="{MARK}',
    f"sessionid={'a' * 32}; sessionid={'b' * 32}",
    "; ".join(f"c{n}=x" for n in range(500)),
    '$Version="1"; sessionid=x',
    f"messages={MARK}:x:y",
    "messages=W10:1abc:" + "x" * 43,
    f"__Host-sessionid={MARK}",
    "sessionid='; DROP TABLE x--",
    "django_language=../../nl",
    f"django_language={'n' * 600}",
    "django_language=xx-yy",
    r'sessionid="\141\142"',
    f"sessionid={'1' * 32}%00",
    "csrftoken=" + "c" * 64,
    "a" * 7500,
)


def cookies() -> Iterator[Case]:
    pages = {PAGE: 200, MINE: 401, INTERNAL: 401, "/account/login": 200, "/admin/login/": 200}
    for target, status in (pages | {"/v1/vacancies/x": 404}).items():
        yield case("Cookie", f"baseline {target}", target, allowed={status})
        for number, cookie in enumerate(COOKIES):
            if target in (PAGE, MINE) or number < 8:
                yield case(
                    "Cookie",
                    f"{target} {number} {cookie[:40]}",
                    target,
                    f"Cookie: {cookie}",
                    allowed={status},
                    same_as=f"Cookie: baseline {target}"
                    if target in (PAGE, "/v1/vacancies/x")
                    else "",
                )
    yield case("Cookie", "twice", PAGE, f"Cookie: sessionid={NULS}", "Cookie: a=b", allowed={200})


def credentials(content: Content) -> Iterator[Case]:
    def basic(text: bytes) -> str:
        return f"Basic {base64.b64encode(text).decode()}"

    values = [
        "Basic ADox",
        basic(b"\0:1"),
        basic(b"a:\0"),
        basic(b"\xff\xfe"),
        basic(f"{MARK}:{MARK}".encode()),
        "Basic",
        "Basic !!!",
        "Bearer",
        "Bearer ",
        f"Bearer {MARK}",
        "Bearer a b",
        f"Bearer {'t' * 7000}",
        f"bearer {MARK}",
        "Bearer \xff\xfe",
        "Bearer é",
        "Bearer %00",
        r"Bearer \u0000",
        "Bearer null",
        "Bearer undefined",
        "Bearer ''",
        f"Bearer {content.tokens['A'][:8]}",
        f"Bearer {content.tokens['A'][:-1]}",
        f"Bearer {content.tokens['A']}x",
        f"Bearer {content.tokens['A'].upper()}",
        f"Bearer {content.tokens['expired']}",
        f"Token {content.tokens['A']}",
        f"Digest username={MARK}",
        "Negotiate x",
        "",
        " ",
        ",",
        "Bearer\tx",
        f"JWT {MARK}",
        "Bearer ' OR 1=1--",
        f"Basic {content.tokens['A']}",
    ]
    for target in (MINE, INTERNAL, PAGE):
        for number, value in enumerate(values):
            yield case(
                "Authorization",
                f"{target} {number} {value[:24]}",
                target,
                f"Authorization: {value}",
                allowed={200} if target == PAGE else {401},
                same_as=f"Content-Type: baseline {PAGE}" if target == PAGE else "",
            )
    for number, value in enumerate(values[:12]):
        yield case(
            "Authorization",
            f"DELETE {number}",
            TOKEN,
            f"Authorization: {value}",
            method="DELETE",
            allowed={401},
        )
    good = f"Authorization: Bearer {content.tokens['B']}"
    yield case(
        "Authorization", "twice", MINE, good, f"Authorization: Bearer {MARK}", allowed={400, 401}
    )
    header = f"X-Auth-Token: {content.tokens['B']}"
    yield case("Authorization", "X-Auth-Token", MINE, header, allowed={401})
    for name in ("token", "access_token", "api_key"):
        query = f"{name}={content.tokens['B']}"
        yield case("Authorization", f"in the query {query[:12]}", f"{MINE}?{query}", allowed={401})
    for session in ("expired", "closed"):
        yield case(
            "Authorization",
            f"session {session}",
            MINE,
            f"Cookie: sessionid={content.sessions[session]}",
            allowed={401},
        )


FORGED = (
    "SCRIPT_NAME",
    "Script-Name",
    "script_name",
    "PATH_INFO",
    "Path-Info",
    "QUERY_STRING",
    "REQUEST_METHOD",
    "REMOTE_ADDR",
    "Remote-Addr",
    "REMOTE_USER",
    "Remote-User",
    "X_Forwarded_For",
    "X_Forwarded_Host",
    "X_Forwarded_Proto",
    "HTTP_HOST",
    "SERVER_NAME",
    "Server-Port",
    "wsgi.url_scheme",
    "Wsgi-Url-Scheme",
    "CONTENT_TYPE",
    "Content_Type",
    "jobsite.at",
    "Jobsite-At",
    "X-Script-Name",
    "X-Forwarded-Prefix",
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-HTTP-Method-Override",
    "X-Method-Override",
    "X-Forwarded-Server",
    "X-Real-IP",
    "X-Client-IP",
    "True-Client-IP",
    "Forwarded",
    "Via",
    "X-Forwarded-User",
    "X-Accel-Redirect",
    "X-Sendfile",
    "X-Accel-Internal",
    "Proxy",
    "X-Host",
    "X-Forwarded-Port",
    "X-Forwarded-Scheme",
    "X-Forwarded-Ssl",
    "X-Forwarded-Protocol",
    "Front-End-Https",
    "Origin",
    "Referer",
    "X-Wap-Profile",
    "X-Requested-With",
    "X-CSRFToken",
    "User-Agent",
    "From",
    "Pragma",
    "Cache-Control",
    "TE",
    "Date",
    "Max-Forwards",
    "Want-Digest",
    "Priority",
    "Save-Data",
    "X-Request-Id",
    "Traceparent",
)


def environment() -> Iterator[Case]:
    same = f"Content-Type: baseline {PAGE}"
    for name in FORGED:
        # This header is repeated in the response and in the log if it is valid.
        word = "given" if name == "X-Request-Id" else MARK
        for value in (f"/{MARK}", f"{word}.example", "DELETE", '"><script>', "\xff\xfe"):
            # The response depends on the origin (CORS) and on the scheme (links).
            may_differ = (
                name in ("Origin", "X-Forwarded-Proto") or "_" in name or name.startswith("wsgi")
            )
            yield case(
                "header",
                f"{name}: {value[:12]}",
                PAGE,
                f"{name}: {value}",
                allowed={200, 400},
                same_as="" if may_differ else same,
            )
    for name in ("CONTENT_LENGTH", "Content_Length", "TRANSFER_ENCODING"):
        yield case("header", name, PAGE, f"{name}: 7", allowed={200} | REFUSED, is_malformed=True)
    for name in ("X-Forwarded-For", "X_Forwarded_For", "Forwarded", "X-Real-IP"):
        for value in (
            "10.0.0.1",
            "127.0.0.1",
            "unknown",
            "[::1",
            "1.2.3.4:99999",
            ",,,,",
            "1, " * 2000,
            "::ffff:1.2.3.4",
            "0x7f.1",
            "localhost",
            "%00",
            "1.2.3.4.5.6",
            "fe80::1%eth0",
            f"for={MARK};host={MARK}",
        ):
            header, allowed = f"{name}: {value}", {400, 401}
            yield case("header", f"{name}: {value[:14]}", INTERNAL, header, allowed=allowed)
    for value in (
        "null",
        "https://evil.example",
        "https://evil.example\t",
        "*",
        "file://",
        "https://a, https://b",
        "\xff",
        "https://[",
        "//",
        "https://evil.example:99999",
    ):
        yield case("header", f"Origin: {value}", PAGE, f"Origin: {value}", allowed={200, 400})
        yield case(
            "header",
            f"preflight of {value}",
            MINE,
            f"Origin: {value}",
            "Access-Control-Request-Method: X",
            "Access-Control-Request-Headers: " + "x," * 500,
            method="OPTIONS",
            allowed={200, 204, 400},
        )


def hosts() -> Iterator[Case]:
    same = f"Content-Type: baseline {PAGE}"
    for host in ("localhost:1337", "localhost:80", "localhost:443", "LOCALHOST", "localhost."):
        yield case("Host", host, PAGE, host=host, allowed={200, 400}, same_as=same)
    for host in (
        f"{MARK}.example",
        f"{MARK}.example:80",
        "localhost.evil.example",
        "evil-localhost",
        "localhost@evil.example",
        "localhost:99999999",
        "localhost:abc",
        "localhost:-1",
        "localhost:",
        "localhost, evil",
        "localhost evil.example",
        "localhost/../x",
        "localhost?x",
        "localhost#x",
        "http://localhost",
        "[::1",
        "[::1]:80:80",
        "[::g]",
        "\xff",
        "é.example",
        "xn--",
        "a" * 300,
        "a." * 200,
        "%00",
        "localhost%00.evil",
        "localhost\\.evil",
        "_",
        "-",
        ".",
        "..",
        "*",
        "0",
        "''",
        "169.254.169.254",
        "localhost\tevil",
    ):
        yield case("Host", host[:40], PAGE, host=host, allowed={200, 400, 421}, is_malformed=True)
    foreign = ("localhost.evil.example", "localhost@evil.example", "evil-localhost")
    for host in (f"{MARK}.example", *foreign, "a" * 300):
        yield case("Host", f"foreign {host[:30]}", PAGE, host=host, allowed={400, 421})
        yield case(
            "Host",
            f"foreign, of a page {host[:30]}",
            "/account/reset",
            host=host,
            allowed={400, 421},
        )
    yield case("Host", "none", PAGE, host=None, allowed={400}, is_malformed=True)
    yield case("Host", "empty", PAGE, host="", allowed={400}, is_malformed=True)
    yield case(
        "Host", "twice", PAGE, f"Host: {MARK}.example", allowed={200, 400, 421}, is_malformed=True
    )
    yield case(
        "Host", "twice the same", PAGE, f"Host: {HOST}", allowed={200, 400}, is_malformed=True
    )
    old = {"version": "HTTP/1.0", "allowed": {200, 400}}
    yield case("Host", "none in 1.0", PAGE, host=None, is_malformed=True, **old)
    for name in (
        "X-Forwarded-Host",
        "X-Host",
        "X-Forwarded-Server",
        "X-HTTP-Host-Override",
        "Forwarded",
    ):
        for value in (f"{MARK}.example", "localhost:1337", "", "\xff", "evil.example, localhost"):
            yield case(
                "Host",
                f"{name}: {value}",
                PAGE,
                f"{name}: {value}",
                allowed={200, 400},
                same_as=same,
            )
    for value in ("https", "http", "javascript", "https, http", "HTTPS", "", "x" * 3000):
        header = f"X-Forwarded-Proto: {value}"
        yield case("Host", f"X-Forwarded-Proto: {value[:12]}", PAGE, header, allowed={200, 400})


def accepts() -> Iterator[Case]:
    same = f"Content-Type: baseline {PAGE}"
    for value in (
        "*/*",
        "application/json",
        "application/*",
        "",
        "application/json; indent=8",
        "application/json;q=0.1, */*",
        "text/html, */*;q=0.1",
        "a/b," * 1500 + "*/*",
        "application/json;" + "x=y;" * 1500,
    ):
        yield case("Accept", value[:40], PAGE, f"Accept: {value}", allowed={200, 400}, same_as=same)
    for value in (
        "text/html",
        "text/*",
        "a/b",
        "a/b," * 1700,
        "image/webp",
        "application/xml",
        "*",
        "json",
        ";",
        ",",
        "/",
        "\xff",
        "*/*;q=0",
        "application/json;q=0",
        "application/vnd.api+json",
        "*/json",
        f"{MARK}/x",
        "a" * 7000,
        '"',
        "*/",
        "application/json; version=99",
        "text/html;level=1;q=x",
        "application/json;q=nan",
    ):
        yield case("Accept", value[:40], PAGE, f"Accept: {value}", allowed={200, 400, 406})
    for name in ("Accept-Language", "Accept-Encoding", "Accept-Charset", "Accept-Datetime"):
        for value in (
            "",
            "*",
            "nl",
            "xx",
            "nl-" * 2000,
            "a" * 7000,
            "a," * 3500,
            "nl;q=" + "9" * 500,
            "\xff",
            "../../x",
            "-",
            "q=0",
            "gzip;q=0",
            "identity;q=0",
            "gzip, " * 1000,
            "br;q=1e9",
            f"{MARK}",
            "en\tnl",
        ):
            for target, status in ((PAGE, 200), ("/account/login", 200), (MINE, 401)):
                if target == PAGE or len(value) > 500 or value in ("", "\xff", "../../x"):
                    title, header = f"{name}: {value[:20]} {target}", f"{name}: {value}"
                    yield case("Accept", title, target, header, allowed={status})


def conditions() -> Iterator[Case]:
    times = ("If-Modified-Since", "If-Unmodified-Since")
    for name in ("Range", "If-None-Match", "If-Match", *times, "If-Range"):
        for value in (
            "",
            "*",
            '"',
            'W/"',
            'W/"x"',
            '"x"',
            "x",
            '"",' * 1500,
            "\xff",
            "bytes=0-0",
            "bytes=0-",
            "bytes=-1",
            "bytes=5-1",
            "bytes=" + "0-0," * 1500,
            "bytes=99999999999999999999-",
            "items=0-1",
            "bytes=a-b",
            "Thu, 01 Jan 1970 00:00:00 GMT",
            "Fri, 31 Dec 9999 23:59:59 GMT",
            "Thu, 32 Foo -1 99:99:99",
            "0",
            "-1",
            f'"{MARK}"',
            "Sun, 06 Nov 1994 08:49:37",
            "9" * 300,
        ):
            allowed = {200}
            if name == "If-None-Match" and value == "*":
                allowed = {304}
            # Nginx evaluates it.
            if (name == "If-Match" and value != "*") or name == "If-Unmodified-Since":
                allowed = {200, 412}
            if name == "If-Modified-Since":
                allowed = {200, 304}
            yield case(
                "condition", f"{name}: {value[:24]}", PAGE, f"{name}: {value}", allowed=allowed
            )
        of_absent, any_one = f"{name} of an absent vacancy", f"{name}: *"
        yield case("condition", of_absent, "/v1/vacancies/1", any_one, allowed={404})
        yield case("condition", f"{name} of a private list", MINE, any_one, allowed={401})
