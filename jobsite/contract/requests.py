"""Checks of HTTP: invalid parameters, methods, conditional requests, unknown paths."""

from functools import partial

from jobsite.contract.lists import NUMBER, SIZE, PagedList, expect_problem
from jobsite.contract.service import CheckedService

BAD_NUMBERS = ("abc", "0", "-1", "1.5", "1e3", "01", "+1", "1_0", "²", "", "1234567890")


def invalid_parameters(service: CheckedService, listing: PagedList, *, is_thorough: bool) -> None:
    """Check that invalid parameters are 400, and that foreign ones are ignored."""
    if listing.is_closed:
        return
    values = BAD_NUMBERS if is_thorough else BAD_NUMBERS[:2]
    queries: list[tuple[str, list[tuple[str, str]]]] = [
        (name, [(name, value)]) for name in (SIZE, NUMBER) for value in values
    ]
    queries += [
        (SIZE, [(SIZE, "1"), (SIZE, "2")]),
        (NUMBER, [(NUMBER, "1"), (NUMBER, "1")]),
        ("page[limit]", [("page[limit]", "5")]),
        ("page", [("page", "1")]),
        ("limit", [("limit", "5")]),
        ("q", [("q", "x")]),
        ("filter[nope]", [("filter[nope]", "x")]),
        ("sort", [("sort", "nope")]),
        ("fields", [("fields", "id,nope")]),
    ]
    for name, query in queries:
        response = listing.request(query)
        expect_problem(
            service.report, listing.path, response, 400, f"?{_plain(query)}", parameter=name
        )
    response = listing.request({"utm_source": "x", SIZE: 1})
    if service.report.expect(
        response.status == 200, listing.path, "200 for ?utm_source=x", response.status
    ):
        body = response.json()
        links = str(body.get("links") if isinstance(body, dict) else body)
        service.report.expect(
            "utm_source" not in links, listing.path, "no utm_source in links", links
        )


def _plain(query: list[tuple[str, str]]) -> str:
    return "&".join(f"{name}={value}" for name, value in query)


def methods(service: CheckedService, path: str, listing: PagedList | None = None) -> None:
    """Check HEAD, OPTIONS, other methods, conditional requests and content
    negotiation of a path.
    """
    if listing is not None and listing.is_closed:
        return
    report = service.report
    with_token = listing is not None and listing.is_internal
    request = partial(service.request, path, with_token=with_token)
    got, head = request(), request(method="HEAD")
    report.expect(
        head.status == got.status, path, f"HEAD to answer as GET does ({got.status})", head.status
    )
    report.expect(head.body == b"", path, "no body for HEAD", head.body[:50].decode("latin-1"))
    for name in ("Content-Type", "ETag", "Cache-Control"):
        report.expect(
            head.headers.get(name) == got.headers.get(name),
            path,
            f"HEAD to have the {name} of GET",
            f"{head.headers.get(name)} instead of {got.headers.get(name)}",
        )

    options = request(method="OPTIONS")
    allowed = {method.strip() for method in options.headers.get("Allow", "").split(",")}
    report.expect(200 <= options.status < 300, path, "2xx for OPTIONS", options.status)
    report.expect(
        {"GET", "HEAD", "OPTIONS"} <= allowed,
        path,
        "OPTIONS to allow GET, HEAD and OPTIONS",
        sorted(allowed),
    )
    for method in ("POST", "DELETE"):
        refused = request(method=method)
        expect_problem(report, path, refused, 405, method)
        report.expect(
            "GET" in refused.headers.get("Allow", ""),
            path,
            f"405 for {method} with Allow: GET",
            "none",
        )

    html = request(headers={"Accept": "text/html"})
    expect_problem(report, path, html, 406, "Accept: text/html")
    anything = request(headers={"Accept": "*/*"})
    report.expect(anything.status == 200, path, "200 for Accept: */*", anything.status)

    if "no-store" in got.headers.get("Cache-Control", ""):
        return
    etag = got.headers.get("ETag", "")
    report.expect(
        "max-age=" in got.headers.get("Cache-Control", ""),
        path,
        "Cache-Control with max-age",
        got.headers.get("Cache-Control"),
    )
    if report.expect(etag, path, "an ETag", "none"):
        same = request(headers={"If-None-Match": etag})
        # If the tag has changed, so has the response.
        if same.headers.get("ETag") == etag:
            report.expect(
                same.status == 304, path, "304 for If-None-Match with the current tag", same.status
            )
            report.expect(
                same.body == b"", path, "no body with 304", same.body[:50].decode("latin-1")
            )
            weak = request(headers={"If-None-Match": f'"x", {etag.removeprefix("W/")}'})
            if weak.headers.get("ETag") == etag:
                report.expect(
                    weak.status == 304, path, "304 for a list of tags, compared weakly", weak.status
                )
        other = request(headers={"If-None-Match": '"some-other-tag"'})
        report.expect(
            other.status == 200, path, "200 for If-None-Match with another tag", other.status
        )


def unknown_paths(service: CheckedService) -> None:
    """Check that unknown paths below the prefixes of the API are JSON problems."""
    for path in ("/v1/nothing-here", "/v0.1/nothing-here", "/v1/vacancies/", "/v1/"):
        expect_problem(service.report, path, service.request(path), 404, "no such path")
