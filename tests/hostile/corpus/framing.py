"""The request itself: methods, sizes, and the framing of messages."""

from collections.abc import Iterator

from tests.hostile.content import Content
from tests.hostile.corpus.case import MARK, MINE, PAGE, REFUSED, TOKEN, Case, case, request


def methods() -> Iterator[Case]:
    for target in (
        PAGE,
        "/v1/vacancies/1",
        MINE,
        "/v1/filters",
        TOKEN,
        "/v1/nothing",
        "/openapi.json",
        "/docs",
        "/account/login",
        "/preview/x",
        "/",
    ):
        for method in (
            "POST",
            "PUT",
            "PATCH",
            "DELETE",
            "TRACE",
            "CONNECT",
            "OPTIONS",
            "PROPFIND",
            "QUERY",
            "LOCK",
            "SEARCH",
            "TRACK",
            "DEBUG",
            "PURGE",
            "BREW",
        ):
            others = {200, 204} if method == "OPTIONS" else {400, 403, 415, 501}
            body = b"" if method in ("POST", "PUT", "PATCH") else None
            yield case(
                "method",
                f"{method} {target}",
                target,
                method=method,
                body=body,
                allowed=others | {301, 302, 401, 404, 405},
                is_malformed=method != "POST",
            )
    for method in (
        "get",
        "Get",
        "gET",
        "",
        " ",
        "G ET",
        "GET\t",
        "\xff",
        "GET\0",
        "X" * 200,
        "GET/",
        "{}",
        "0",
        "-",
        "GET,POST",
        "G\x7fT",
        "ＧＥＴ",
    ):
        yield case(
            "method", f"as {method[:20]!r}", PAGE, method=method, allowed=REFUSED, is_malformed=True
        )


def sizes() -> Iterator[Case]:
    yield case("size", "header of 7 kB", PAGE, "X-Big: " + MARK * 1000, allowed={200})
    for name, headers in (
        ("header of 9 kB", ["X-Big: " + "x" * 9000]),
        ("header of 60 kB", ["X-Big: " + "x" * 60_000]),
        ("name of 9 kB", ["x" * 9000 + ": x"]),
        ("cookie of 20 kB", ["Cookie: a=" + "x" * 20_000]),
        ("150 headers", [f"X-{n}: x" for n in range(150)]),
        ("2,000 headers", [f"X-{n}: x" for n in range(2000)]),
        ("90 headers of 7 kB", [f"X-{n}: {'x' * 7000}" for n in range(90)]),
    ):
        yield case("size", name, PAGE, *headers, allowed={200} | REFUSED, is_malformed=True)
    for kb in (3, 5, 9, 70):
        path = f"/v1/vacancies?utm_source={'x' * kb * 1000}"
        yield case("size", f"query of {kb} kB", path, allowed={200} | REFUSED, is_malformed=True)
        yield case(
            "size", f"path of {kb} kB", f"/v1/{'x' * kb * 1000}", allowed=REFUSED, is_malformed=True
        )
    yield case("size", "1,100 parameters", "/v1/vacancies?" + "a=&" * 1100, allowed={200})
    yield case("size", "1,500 empty parameters", "/v1/vacancies?" + "&" * 1500, allowed={200})
    query = "&".join(f"page[{n}]" for n in range(200))
    yield case("size", "200 wrong parameters", f"/v1/vacancies?{query}", allowed={400})
    yield case("size", "deep name", "/v1/vacancies?page" + "[a]" * 1000 + "=1", allowed={400})


def framing(content: Content) -> Iterator[Case]:
    inner = request("/v1/filters?smuggled=1")

    def wire(name: str, raw: bytes, allowed: set[int] = REFUSED | {200}) -> Case:
        return Case("framing", f"framing: {name}", raw, frozenset(allowed), "", True)

    def post(*headers: str, body: bytes, target: str = TOKEN, method: str = "POST") -> bytes:
        return request(target, "Content-Type: application/json", *headers, method=method, body=body)

    chunked = b'5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'
    hidden, is_chunked = b"0\r\n\r\n" + inner, "Transfer-Encoding: chunked"
    yield wire("length and chunks", post("Content-Length: 4", is_chunked, body=hidden))
    yield wire("chunks and length", post(is_chunked, "Content-Length: 400", body=hidden))
    for value in (
        "xchunked",
        "chunked, identity",
        "identity",
        "identity, chunked",
        "chunked, chunked",
        "Chunked",
        " chunked",
        "\tchunked",
        "chunked\t",
        "chunked;q=1",
        "gzip, chunked",
        "gzip",
        "",
        "\x0bchunked",
        "chun ked",
        '"chunked"',
        "deflate",
        "x",
    ):
        yield wire(
            f"Transfer-Encoding: {value!r}", post(f"Transfer-Encoding: {value}", body=chunked)
        )
        yield wire(
            f"GET with Transfer-Encoding: {value!r}",
            post(
                f"Transfer-Encoding: {value}", body=b"0\r\n\r\n" + inner, method="GET", target=PAGE
            ),
        )
    yield wire("chunked twice", post(is_chunked, is_chunked, body=chunked))
    yield wire(
        "chunked and identity", post(is_chunked, "Transfer-Encoding: identity", body=chunked)
    )
    spaced = post("Transfer-Encoding : chunked", "Content-Length: 4", body=hidden)
    yield wire("space before the colon", spaced)
    yield wire(
        "underscored length", post("Content_Length: 0", f"Content-Length: {len(inner)}", body=inner)
    )
    numbers = (
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
        "05",
    )
    for value in (*numbers, "9" * 30, "٥", "5_0", "5\t", "a"):
        yield wire(
            f"Content-Length: {value[:12]!r}", post(f"Content-Length: {value}", body=b'{"a":')
        )
    yield wire("two lengths", post("Content-Length: 5", "Content-Length: 6", body=b'{"a":1'))
    yield wire("the same length twice", post("Content-Length: 2", "Content-Length: 2", body=b"{}"))
    for name, body in (
        ("size is negative", b"-5\r\n{}\r\n0\r\n\r\n"),
        ("size is huge", b"ffffffffffffffffff\r\n{}"),
        ("size is none", b"\r\n{}\r\n0\r\n\r\n"),
        ("size with 0x", b"0x2\r\n{}\r\n0\r\n\r\n"),
        ("size with +", b"+2\r\n{}\r\n0\r\n\r\n"),
        ("size with _", b"0_2\r\n{}\r\n0\r\n\r\n"),
        ("size with a space", b" 2\r\n{}\r\n0\r\n\r\n"),
        ("text", b"zz\r\n{}\r\n0\r\n\r\n"),
        ("bare LF", b"2\n{}\n0\n\n"),
        ("bare CR", b"2\r{}\r0\r\r"),
        ("no end", b"2\r\n{}\r\n"),
        ("end too early", b"2\r\n{}0\r\n\r\n"),
        ("extension", b"2;x=y\r\n{}\r\n0\r\n\r\n"),
        ("long extension", b"2;" + b"x" * 70_000 + b"\r\n{}\r\n0\r\n\r\n"),
        ("extension with LF", b"2;\n\r\n{}\r\n0\r\n\r\n"),
        ("trailers", b"2\r\n{}\r\n0\r\nHost: evil\r\nX-Injected: 1\r\n\r\n"),
        ("trailer without an end", b"2\r\n{}\r\n0\r\nX: 1"),
        ("1,000 chunks of 1", b"1\r\n \r\n" * 1000 + b"0\r\n\r\n"),
        ("leading zeros", b"0" * 5000 + b"2\r\n{}\r\n0\r\n\r\n"),
    ):
        yield wire(f"chunk: {name}", post("Transfer-Encoding: chunked", body=body))
    base = request(PAGE)
    yield wire("bare LF", base.replace(b"\r\n", b"\n"))
    yield wire("bare CR", base.replace(b"\r\n", b"\r"))
    yield wire("LF CR", base.replace(b"\r\n", b"\n\r"))
    yield wire("one bare LF", base.replace(b"\r\nConn", b"\nX-Injected: 1\r\nConn"))
    yield wire("one bare CR", base.replace(b"\r\nConn", b"\rX-Injected: 1\r\nConn"))
    for name, header in (
        ("space before the colon", b"X-A : b"),
        ("no colon", b"nonsense"),
        ("no name", b": x"),
        ("only a colon", b":"),
        ("space first", b" X-A: b"),
        ("tab first", b"\tX-A: b"),
        ("folded", b"X-A: b\r\n c"),
        ("NUL in a value", b"X-A: a\0b"),
        ("NUL in a name", b"X-\0: a"),
        ("control in a value", b"X-A: a\x01\x08b"),
        ("CR in a value", b"X-A: a\rb"),
        ("LF in a value", b"X-A: a\nX-Injected: 1"),
        ("raw bytes in a name", b"X-\xff\xfe: a"),
        ("brackets in a name", b"X-[]: a"),
        ("DEL", b"X-A: \x7f"),
        ("empty value", b"X-A:"),
        ("umlaut", "X-A: ü".encode("latin-1")),
        ("quote", b'X-"A": b'),
    ):
        yield wire(f"header: {name}", request(PAGE, header))
    for name, start in (
        ("HTTP/0.9", b"GET /v1/vacancies\r\n"),
        ("HTTP/2.0", b"GET / HTTP/2.0\r\n"),
        ("HTTP/9.9", b"GET / HTTP/9.9\r\n"),
        ("HTTP/1.10", b"GET / HTTP/1.10\r\n"),
        ("http/1.1", b"GET / http/1.1\r\n"),
        ("HTTP/1", b"GET / HTTP/1\r\n"),
        ("no target", b"GET  HTTP/1.1\r\n"),
        ("two spaces", b"GET  /  HTTP/1.1\r\n"),
        ("tabs", b"GET\t/\tHTTP/1.1\r\n"),
        ("space in the target", b"GET /v1 /x HTTP/1.1\r\n"),
        ("NUL in the target", b"GET /\0 HTTP/1.1\r\n"),
        ("raw bytes in the target", b"GET /v1/\xff\xfe HTTP/1.1\r\n"),
        ("raw bytes in a query", b"GET /v1/vacancies?\xff=\xfe HTTP/1.1\r\n"),
        ("CR in the target", b"GET /\rX: y HTTP/1.1\r\n"),
        ("control in the target", b"GET /\x01\x1b[31m HTTP/1.1\r\n"),
        ("fragment", b"GET /v1/vacancies#x HTTP/1.1\r\n"),
        ("backslash", b"GET \\v1\\vacancies HTTP/1.1\r\n"),
        ("relative", b"GET v1/vacancies HTTP/1.1\r\n"),
        ("question mark first", b"GET ?x HTTP/1.1\r\n"),
        ("authority", b"GET localhost:80 HTTP/1.1\r\n"),
        ("CONNECT", b"CONNECT localhost:80 HTTP/1.1\r\n"),
        ("star", b"GET * HTTP/1.1\r\n"),
        ("OPTIONS *", b"OPTIONS * HTTP/1.1\r\n"),
        ("empty lines first", b"\r\n\r\n\r\nGET / HTTP/1.1\r\n"),
        ("absolute", b"GET http://localhost/v1/vacancies HTTP/1.1\r\n"),
        ("absolute, foreign", b"GET http://evil.example/v1/vacancies HTTP/1.1\r\n"),
        ("absolute, https", b"GET https://localhost/v1/vacancies HTTP/1.1\r\n"),
        ("absolute, user", b"GET http://a:b@localhost/ HTTP/1.1\r\n"),
        ("absolute, broken", b"GET http://[/v1/vacancies HTTP/1.1\r\n"),
        ("absolute, file", b"GET file:///etc/passwd HTTP/1.1\r\n"),
        ("absolute, port", b"GET http://localhost:99999/ HTTP/1.1\r\n"),
        ("two slashes", b"GET //localhost/v1/vacancies HTTP/1.1\r\n"),
        ("brackets", b"GET //[ HTTP/1.1\r\n"),
        ("nothing", b"\r\n"),
        ("a word", b"hello\r\n"),
        ("JSON", b'{"a": 1}\r\n'),
        ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 40 + b"\r\n"),
        ("SSH", b"SSH-2.0-x\r\n"),
        ("HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n"),
        ("PROXY", b"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET / HTTP/1.1\r\n"),
        ("PROXY 2", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + b"\0" * 12),
    ):
        raw = start + b"Host: localhost\r\nConnection: close\r\n\r\n"
        yield wire(f"start: {name}", raw, REFUSED | {200, 204, 301, 302, 307})
    for value in ("100-continue", "200-ok", "", "100-continue, x", "\xff", "x" * 3000):
        yield wire(f"Expect: {value[:12]}", request(PAGE, f"Expect: {value}"))
        yield wire(f"Expect with a body: {value[:12]}", post(f"Expect: {value}", body=b"{}"))
    for value in ("h2c", "websocket", "TLS/1.0", "HTTP/2.0, x"):
        raw = request(PAGE, f"Upgrade: {value}", "HTTP2-Settings: AAMAAABkAAQAAP__")
        yield wire(f"Upgrade: {value}", raw)
    # Request smuggling: a server may take the body for the next request.
    for target in (PAGE, "/v1/filters", MINE, "/docs", "/v1/nothing"):
        allowed = {200, 400, 401, 404}
        raw = request(target, f"Content-Length: {len(inner)}", body=inner)
        yield wire(f"GET with a body {target}", raw, allowed)
        yield wire(
            f"HEAD with a body {target}", request(target, method="HEAD", body=inner), allowed
        )
    yield wire("body shorter than said", post("Content-Length: 5000", body=b"{}"))
    yield wire("body longer than said", post("Content-Length: 2", body=b"{}" + inner))
    yield wire("no body though said", post("Content-Length: 10", body=b""))
    raw = request(TOKEN, "Content-Type: application/json", method="POST") + b"{}"
    yield wire("body without a length", raw)
