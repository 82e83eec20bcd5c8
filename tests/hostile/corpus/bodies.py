"""Request bodies: JSON for the token endpoint, and forms of the sign-in pages."""

import json
from collections.abc import Iterator
from typing import Any

from tests.hostile.content import Content
from tests.hostile.corpus.case import CLOSED, MARK, MINE, PAGE, TOKEN, Case, case

JSON, FORM = (f"Content-Type: application/{kind}" for kind in ("json", "x-www-form-urlencoded"))


def bodies() -> Iterator[Case]:
    def token(
        name: str, body: bytes, *headers: str, kind: str = "application/json", **how: Any
    ) -> Case:
        heads = [*([f"Content-Type: {kind}"] if kind else []), *headers]
        how = {"allowed": {400}} | how
        if len(body) > 60_000:  # the limit of nginx is 64 kB
            how["allowed"] = how["allowed"] | {413}
        return case("body", name, TOKEN, *heads, method="POST", body=body, **how)

    for name, body in (
        ("empty", b""),
        ("broken", b"{"),
        ("array", b"[]"),
        ("number", b"1"),
        ("text", b'"x"'),
        ("null", b"null"),
        ("NaN", b"NaN"),
        ("true", b"true"),
        ("deep arrays", b"[" * 100_000),
        ("deep objects", b'{"a":' * 100_000),
        ("deep and closed", b"[" * 5000 + b"]" * 5000),
        ("huge number", b'{"username": ' + b"9" * 100_000 + b"}"),
        ("exponent", b'{"username": {"a": 1e999999}, "password": 1}'),
        ("UTF-16", '{"a": 1}'.encode("utf-16")),
        ("not UTF-8", b'{"username": "\xff"}'),
        ("NUL", b'{"username": "\0"}'),
        ("zeros", b"\0" * 1000),
        ("two objects", b"{}{}"),
        ("comment", b"{} // x"),
        ("single quotes", b"{'username': 'x'}"),
        ("XML", b"<x/>"),
        ("trailing comma", b'{"username": "x",}'),
        ("BOM", b"\xef\xbb\xbf{}"),
        ("no members", b"{}"),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0"),
        ("pickle", b"\x80\x04\x95cos\nsystem\n."),
    ):
        yield token(name, body)
    for name, member in (
        ("NUL", "\0"),
        ("NULs within", f"{MARK}\0b"),
        ("nothing", ""),
        ("blank", " "),
        ("object", {"$ne": ""}),
        ("array", ["x"]),
        ("null", None),
        ("true", True),
        ("151 characters", "u" * 151),
        ("lone surrogate", "\ud800"),
        ("emoji", "\U0001f4a9" * 50),
        ("10 kB", MARK * 1500),
        ("newlines", "a\r\nX-Injected: 1"),
        ("number", 2**70),
    ):
        for member_name in ("username", "password"):
            value = {"username": f"hostile {name}", "password": MARK} | {member_name: member}
            yield token(f"{member_name}: {name}", json.dumps(value).encode(), allowed={400, 401})
    good = json.dumps({"username": f"hostile {MARK}", "password": MARK}).encode()
    yield token("wrong password", good, allowed={401})
    yield token(
        "a member too many", good[:-1] + b', "is_staff": true, "__proto__": {}}', allowed={400, 401}
    )
    yield token("a member twice", good[:-1] + b', "username": ["x"]}', allowed={400, 401})
    for kind in (
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "multipart/form-data",
        "application/json-seq",
        "application/yaml",
        "image/png",
        MARK,
        "*/*",
        "application/*",
    ):
        # No content type, or */*, is read as JSON.
        yield token(f"as {kind or 'nothing'}", good, kind=kind, allowed={400, 401, 415})
    charsets = (
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
    )
    for charset in (*charsets, "x" * 500):
        # A new account each time: several failures lock one.
        other = json.dumps({"username": f"of {charset}"[:99], "password": MARK}).encode()
        kind = f"application/json; charset={charset}"
        yield token(f"charset {charset[:12]}", other, kind=kind, allowed={400, 401})
    good = json.dumps({"username": "hostile too", "password": MARK}).encode()
    yield token("RFC 2231", good, kind="application/json; x*=nosuch''y", allowed={400, 401})
    yield token("Content-Encoding", good, "Content-Encoding: gzip", allowed={400, 401, 415})
    for megabytes in (3, 20):
        body = b'{"username": "' + b"x" * megabytes * 1_000_000 + b'"}'
        yield token(f"{megabytes} MB", body, allowed={400, 413, CLOSED}, is_malformed=True)
    yield token("3 MB of blanks", b" " * 3_000_000, allowed={400, 413, CLOSED}, is_malformed=True)
    yield token("many members", json.dumps({f"k{n}": n for n in range(20_000)}).encode())
    for target in (PAGE, "/v1/filters", MINE):
        allowed = {200, 400, 401}
        yield case("body", f"GET {target}", target, JSON, body=b'{"page[size]": 1', allowed=allowed)
        yield case(
            "body", f"GET form {target}", target, FORM, body=b"page[size]=1", allowed=allowed
        )
    for target in ("/v1/vacancies", "/v1/filters", MINE, "/v1/vacancies/1"):
        how = {"method": "POST", "allowed": {401, 405}}
        yield case("body", f"POST {target}", target, JSON, body=b"[" * 10_000, **how)


def multipart(*parts: bytes, boundary: bytes = b"x") -> bytes:
    opened = b"--" + boundary
    return b"".join(opened + b"\r\n" + part + b"\r\n" for part in parts) + opened + b"--\r\n"


def forms(content: Content) -> Iterator[Case]:
    csrf = "c" * 32
    seen = (200, 302, 400, 403, 413, 429, CLOSED)

    def field(name: str, value: bytes = b"x", *headers: bytes) -> bytes:
        disposition = b'Content-Disposition: form-data; name="' + name.encode() + b'"'
        return b"\r\n".join((disposition, *headers, b"", value))

    token = field("csrfmiddlewaretoken", csrf.encode())
    for page in ("/account/login", "/admin/login/", "/account/reset"):
        for name, kind, body in (
            ("no boundary", "multipart/form-data", b"x"),
            ("empty boundary", "multipart/form-data; boundary=", b"x"),
            ("boundary of 5 kB", "multipart/form-data; boundary=" + "b" * 5000, b"x"),
            ("raw boundary", "multipart/form-data; boundary=\xff", b"x"),
            (
                "quoted boundary",
                'multipart/form-data; boundary="x;y"',
                multipart(token, boundary=b"x;y"),
            ),
            ("unended", "multipart/form-data; boundary=x", multipart(token)[:-20]),
            ("empty", "multipart/form-data; boundary=x", b""),
            (
                "no name",
                "multipart/form-data; boundary=x",
                multipart(token, b"Content-Disposition: form-data\r\n\r\nx"),
            ),
            ("no disposition", "multipart/form-data; boundary=x", multipart(token, b"\r\nx")),
            (
                "path in a file name",
                "multipart/form-data; boundary=x",
                multipart(
                    token,
                    b'Content-Disposition: form-data; name="f"; filename="../../../etc/'
                    + MARK.encode()
                    + b'"\r\n\r\nx',
                ),
            ),
            (
                "NUL in a file name",
                "multipart/form-data; boundary=x",
                multipart(
                    token, b'Content-Disposition: form-data; name="f"; filename="a\0.png"\r\n\r\nx'
                ),
            ),
            (
                "file name of dots",
                "multipart/form-data; boundary=x",
                multipart(
                    token, b'Content-Disposition: form-data; name="f"; filename=".."\r\n\r\nx'
                ),
            ),
            (
                "name in RFC 2231",
                "multipart/form-data; boundary=x",
                multipart(token, b"Content-Disposition: form-data; name*=nosuch''f\r\n\r\nx"),
            ),
            (
                "file name in RFC 2231",
                "multipart/form-data; boundary=x",
                multipart(
                    token,
                    b"Content-Disposition: form-data; name=\"f\"; filename*=nosuch''f\r\n\r\nx",
                ),
            ),
            (
                "base64",
                "multipart/form-data; boundary=x",
                multipart(token, field("username", b"!!!!", b"Content-Transfer-Encoding: base64")),
            ),
            (
                "base64, half",
                "multipart/form-data; boundary=x",
                multipart(token, field("username", b"YWJ", b"Content-Transfer-Encoding: base64")),
            ),
            (
                "base64, blanks",
                "multipart/form-data; boundary=x",
                multipart(
                    token,
                    field(
                        "username", b" " * 300_000 + b"YQ==", b"Content-Transfer-Encoding: base64"
                    ),
                ),
            ),
            (
                "unknown coding",
                "multipart/form-data; boundary=x",
                multipart(token, field("username", b"x", b"Content-Transfer-Encoding: rot13")),
            ),
            (
                "charset of a part",
                "multipart/form-data; boundary=x",
                multipart(
                    token, field("username", b"x", b"Content-Type: text/plain; charset=rot13")
                ),
            ),
            (
                "_charset_",
                "multipart/form-data; boundary=x",
                multipart(token, field("_charset_", b"rot13"), field("username", b"\xff")),
            ),
            (
                "many parts",
                "multipart/form-data; boundary=x",
                multipart(token, *(field(f"f{n}") for n in range(25_000))),
            ),
            (
                "many files",
                "multipart/form-data; boundary=x",
                multipart(
                    token,
                    *(
                        b'Content-Disposition: form-data; name="f"; filename="x"\r\n\r\nx'
                        for n in range(150)
                    ),
                ),
            ),
            (
                "long header",
                "multipart/form-data; boundary=x",
                multipart(token, field("u", b"x", b"X-A: " + b"x" * 100_000)),
            ),
            (
                "nested",
                "multipart/form-data; boundary=x",
                multipart(
                    token, b"Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n\r\nx\r\n--y--"
                ),
            ),
            (
                "NUL",
                "application/x-www-form-urlencoded",
                f"csrfmiddlewaretoken={csrf}&username=%00&password=%00&email=%00".encode(),
            ),
            (
                "not UTF-8",
                "application/x-www-form-urlencoded",
                f"csrfmiddlewaretoken={csrf}&username=%FF&password=%FF&email=%FF".encode(),
            ),
            (
                "charset",
                "application/x-www-form-urlencoded; charset=rot13",
                f"csrfmiddlewaretoken={csrf}&username=x&password=x&email=x".encode(),
            ),
            (
                "charset cp037",
                "application/x-www-form-urlencoded; charset=cp037",
                f"csrfmiddlewaretoken={csrf}&username=x&password=x&email=x".encode(),
            ),
            (
                "1 MB of a name",
                "application/x-www-form-urlencoded",
                f"csrfmiddlewaretoken={csrf}&username={'m' * 1_000_000}&password=x&email=x@x".encode(),
            ),
            (
                "25,000 fields",
                "application/x-www-form-urlencoded",
                f"csrfmiddlewaretoken={csrf}&".encode() + b"a=&" * 25_000,
            ),
            (
                "fields twice",
                "application/x-www-form-urlencoded",
                f"csrfmiddlewaretoken={csrf}&username=a&username=b&password=c&password=d&email=a&email=b".encode(),
            ),
            (
                "next elsewhere",
                "application/x-www-form-urlencoded",
                f"csrfmiddlewaretoken={csrf}&username=a&password=b&next=//evil.example".encode(),
            ),
            (
                "header in an address",
                "application/x-www-form-urlencoded",
                f"csrfmiddlewaretoken={csrf}&email=a%40x.example%0d%0aBcc:%20b%40x.example&username=a".encode(),
            ),
            ("JSON", "application/json", b"{"),
        ):
            yield case(
                "form",
                f"{page} {name}",
                page,
                f"Content-Type: {kind}",
                f"Cookie: csrftoken={csrf}",
                f"Origin: {content.origin}",
                method="POST",
                body=body,
                allowed=set(seen),
                is_malformed=True,
            )
        yield case(
            "form",
            f"{page} without a token",
            page,
            method="POST",
            body=b"username=x",
            allowed={403},
        )
        yield case(
            "form",
            f"{page} from another origin",
            page,
            f"Cookie: csrftoken={csrf}",
            "Origin: https://evil.example",
            "Content-Type: application/x-www-form-urlencoded",
            method="POST",
            body=f"csrfmiddlewaretoken={csrf}".encode(),
            allowed={403},
        )
    for target in (
        "//evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "\\\\evil.example",
        "/\\evil.example",
        "%0d%0aX-Injected:1",
        "%00",
        "///evil.example",
        "http:///evil.example",
        "%09//evil.example",
        "https:evil.example",
        "/%2f/evil.example",
    ):
        for page in ("/account/login", "/admin/login/", "/account/logout"):
            cookie = f"Cookie: sessionid={content.sessions['A']}"
            how = {"allowed": {200, 302, 405}, "is_malformed": True}
            yield case("redirect", f"{page} {target}", f"{page}?next={target}", cookie, **how)
        yield case(
            "redirect",
            f"language {target}",
            "/admin/language",
            f"Cookie: csrftoken={csrf}",
            "Content-Type: application/x-www-form-urlencoded",
            f"Referer: {target}",
            f"Origin: {content.origin}",
            method="POST",
            body=f"csrfmiddlewaretoken={csrf}&language=nl&next={target}".encode(),
            allowed={204, 302, 400, 403},
        )
    for language in ("%00", "xx", "../../x", "n" * 600, "nl%0d%0aX-Injected:1", ""):
        yield case(
            "form",
            f"language {language[:12]}",
            "/admin/language",
            f"Cookie: csrftoken={csrf}",
            "Content-Type: application/x-www-form-urlencoded",
            f"Origin: {content.origin}",
            method="POST",
            body=f"csrfmiddlewaretoken={csrf}&language={language}".encode(),
            allowed={204, 302, 400, 403},
        )
