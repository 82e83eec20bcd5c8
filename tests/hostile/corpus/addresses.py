# ruff: noqa: E501 - tables of requests
"""Paths, ids and query parameters."""

from collections.abc import Iterator

from tests.hostile.content import HIDDEN, Content
from tests.hostile.corpus.case import MINE, PAGE, Case, case

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
    "/account/receipt/%00", "/account/receipt/a:b:c/withdraw", "/account/receipt/é:1:x", "/account/receipt/" + ":" * 2000,
    "/account/applications/99999999999999999999999", "/account/applications/0/delete", "/account/applications/%00",
    "/account/login/", "/account/x.css", "/account/reset/sent/x", "/favicon.ico/", "/robots.txt%00", "/sitemap-%00.xml",
    "/sitemap-99999999999999999999999.xml", "/sitemap-x.xml", "/jobs.atom/", "/feeds/indeed.xml?brand=%00", "/feeds/x", "/server-status", "/metrics/x", "/debug",
    "/__debug__/", "/actuator/env", "/wp-login.php", "/cgi-bin/x", "/%2f%2fevil.example", "/%5cevil.example", "/;/v1/vacancies",
)  # fmt: skip


def paths(content: Content) -> Iterator[Case]:
    for path in PATHS:
        is_malformed = any(c in path for c in "%<\\") or not path.isascii()
        yield case("path", path, path, allowed={400, 404}, is_malformed=is_malformed)
    for path in ELSEWHERE:
        yield case("path", path[:60], path, allowed={200, 301, 302, 400, 401, 403, 404} if "account/" in path else
                   {400, 403, 404, 302}, is_malformed=True)  # fmt: skip
    for path in ("/v1%2fvacancies", "/%76%31/vacancies", "/v1/%76acancies", "/v1/./vacancies", "//v1/vacancies", "/v1/x/../vacancies",
                 "/v1/../v1/vacancies", "/./v1/vacancies", "///v1///vacancies", "/v1/vacancies/.", "/v1/vacancies/..", "/v1/vacancies/../filters"):  # fmt: skip
        yield case("path", path, path, allowed={200, 400, 404}, is_malformed=True)
    # Web cache deception: a cache may take the address for a file's.
    bearer = f"Authorization: Bearer {content.tokens['A']}"
    cookie = f"Cookie: sessionid={content.sessions['A']}"
    for suffix in ("/x.css", ";x.css", "%2fx.js", "/.css", "%00.css", "%0a.css", "/%2e%2e/x.css", ".json", "%3fx.css", "%23.css", "/", "//",
                   "%5cx.css", "/..%2fx.js", ".css", "!x.css", ",x.css", "%3bx.css", "/x/../y.css"):  # fmt: skip
        for credential in (bearer, cookie):
            name, how = f"{suffix} by {credential[:6]}", {"allowed": {400, 401, 404}}
            yield case("deception", name, MINE + suffix, credential, is_malformed="%" in suffix, **how)


IDS = (
    "0", "007", "-1", "+1", "1.0", "1e3", "1_0", "%C2%B2", "%D9%A1", "%EF%BC%91", "%E0%A5%A7", "9" * 19, "9" * 20, "9" * 400,
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "2147483648", "4294967297", "abc", "%00", "1%00", "%201", "1%20",
    "1%0a", "1%09", "true", "null", "None", "NaN", "Infinity", "[]", "{}", "[1]", "1'", "1%22", "1--", "1,2", "1%2c2", "1;x.css", "1.json",
    "0x1", "0b1", "1%C2%A0", "%E2%80%8B1", "1%EF%BB%BF", "hot%00", "undefined", "*", "%25", "%2525", "-0", "00", "1-1", "1|1", "(1)",
    "__class__", "pk", "%F0%9F%98%80", "me", "a" * 3000,
)  # fmt: skip


def ids() -> Iterator[Case]:
    for pk in IDS:
        for suffix in ("", "/form", "/form/schema"):
            yield case("id", f"{pk[:24]}{suffix}", f"/v1/vacancies/{pk}{suffix}", allowed={400, 404} if "%00" in pk else {404},
                       is_malformed="%00" in pk or len(pk) > 1000)  # fmt: skip


NUMBERS = (
    "", "0", "-1", "-0", "+1", "1_0", "01", "1.5", "1e3", "1,2", "1;2", "abc", "NaN", "inf", "-inf", "Infinity", "null", "None", "true", "[]", "{}",
    "9" * 10, "9" * 20, "9" * 400, "2147483648", "9223372036854775808", "%00", "1%00", "%201", "1%20", "1%0a", "%2B1", "%D9%A1", "%EF%BC%91",
    "%C2%B2", "%E0%A5%A7", "last", "first", "0x10", "1'", "1--", "1%20OR%201=1", "%FF", "%C3%28", "%ED%A0%80", "1%C2%A0", "${1}", "{{1}}", "1%3B", "%25",
)  # fmt: skip
SHAPES = (
    "page=2", "page[]=2", "page[size][]=2", "page[size][0]=2", "page[size]]=2", "page[[size]=2", "page[size=2", "page%5Bsize%5D%5B%5D=2",
    "Page[size]=2", "PAGE[SIZE]=2", "page[Size]=2", "page[ size]=2", "page [size]=2", "page.size=2", "page%00[size]=2", "page[size%00]=2", "page[sise]=2",
    "page[offset]=2", "page[limit]=2", "page[cursor]=2", "page[size]=2&page[size]=3", "page[size]=2&page[size]=2", "page[number]=1&page%5Bnumber%5D=2",
    "filter=x", "filter[]=x", "filter[region]=x", "filter[id]=1", "filter[brand]=", "filter[title__contains]=x", "filter[status]=draft",
    "filter[brand__members__password__startswith]=p", "filter[regions__value]=x", "filter[_connector]=OR", "filter[search]=", "filter[search]=%20",
    "filter[search]=%00", "filter[search]=%FF", "filter[search]=" + "a%20" * 21, "filter[search]=" + "x" * 201, "filter[search]=x&filter[search]=y",
    "filter[search][]=x", "filter[regions]=", "filter[regions]=,", "filter[regions]=a,", "filter[regions]=%20", "filter[regions]=a%00b", "filter[regions]=a'b",
    "filter[regions]=a%20b", "filter[regions]=" + "a," * 100 + "a", "filter[regions]=" + "a" * 201, "filter[regions]=%FF", "sort=", "sort=id", "sort=-id",
    "sort=brand__name", "sort=password", "sort=title,", "sort=title,-published_at", "sort=--title", "sort=+title", "sort=?", "sort=TITLE", "sort[]=title",
    "sort=title&sort=title", "sort=title%00", "sort[title]=asc", "fields=", "fields=,", "fields=password", "fields=__class__", "fields=id,", "fields=id,status",
    "fields=id,publish_from", "fields=*", "fields[vacancies]=id", "fields=id%00", "fields=ID", "fields=brand.members",
    "fields=head_recruiter.email", "sort=title;drop", "fields=%FF", "filter[regions][0]=x", "fields[0]=id",
    "pagesize]=2", "[size]=1", "limit=100000", "offset=-1", "search=%00", "q=%00", "ordering=password", "order_by=password",
)  # fmt: skip
LISTS = (
    "filter[brand]=1",
    "fields=id&fields=id",
    "fields[]=id",
    "filter[regions]=x&filter[regions][]=x",
    "filter[regions][]=x",
)
IGNORED = (
    "utm_source=x", "_=1", "_=1&_=2", "jsonp=x", "_method=DELETE", "_connector=OR", "_negated=1",
    "=", "=x", "&&&", "%00=%00", "%FF=%FF", "a;b=c",
    "%5B%5D=x", "%", "%zz", "x" * 500, "debug=1", "at=2030-01-01", "now=0",
    "preview=x", "indent=99", "encoding=rot13", "charset=rot13", "%F0%9F%98%80=1", "__proto__[x]=1", "constructor=1",
)  # fmt: skip
# Likely mistakes (docs/api.md).
REFUSED = (
    "callback=alert", "format=api", "format=xml", "id=abc", "ids=9223372036854775808", "is_published=0", "status=draft",
    "audience=internal", "lang=../../x",
)  # fmt: skip


def parameters() -> Iterator[Case]:
    for name in ("page[size]", "page[number]"):
        for value in NUMBERS:
            yield case("parameter", f"{name}={value[:24]}", f"/v1/vacancies?{name}={value}", allowed={400})
    for shape in SHAPES:
        path, is_malformed = f"/v1/vacancies?{shape}", " " in shape
        yield case("parameter", shape[:60], path, allowed={400}, is_malformed=is_malformed)
    for shape in LISTS:
        yield case("parameter", shape, f"/v1/vacancies?{shape}", allowed={200})
    baseline = f"Content-Type: baseline {PAGE}"
    for shape in IGNORED:
        yield case("parameter", shape[:60], f"{PAGE}&{shape}", allowed={200}, same_as=baseline)
    for shape in REFUSED:
        yield case("parameter", shape[:60], f"{PAGE}&{shape}", allowed={400})
    for value in ("%25", "_", "%5C", "'%20OR%20'1'='1", "((a%2B)%2B)%2B", "%3Cscript%3E", "a*", "%22", "(", "NEAR(", "*:*", "%E2%80%AE", "%F0%9F%98%80",
                  "%CC%81" * 60, "%C4%B0", "%EF%AC%83" * 20, "%F0%9D%94%98", "\\", "--", "/*", "%7B%7B7*7%7D%7D", "AND", "OR"):  # fmt: skip
        for path in ("/v1/vacancies", "/v1/filters", "/v1/vacancies/hot"):
            yield case("search", f"{path} {value[:24]}", f"{path}?filter[search]={value}", allowed={200, 400})
    for shape in ("filter[search]=x", "filter[regions]=x", "sort=title", "fields=id"):
        yield case("parameter", f"/v0.1/vacancies {shape}", f"/v0.1/vacancies?{shape}", allowed={400})
    for value in ("", "x", "%00", "%FF", "a" * 3000, "1:1:1", "null", "x&preview=y"):
        for suffix in ("", "/form", "/form/schema"):
            path = f"/v1/vacancies/{HIDDEN['draft']}{suffix}?preview={value}"
            yield case("parameter", f"preview{suffix} {value[:12]}", path, allowed={400, 404})
